# frozen_string_literal: true

# Runs the program `manypack` as a user does: in a process of its own, with files and pipes. What a shell starts is the
# program itself; the others are forks, which need not start Ruby anew.
require "open3"
require "rbconfig"
require "socket"
require "tmpdir"
require "support/program"

module TerminalHelper
  ROOT = File.expand_path("../..", __dir__)

  # Finds the gem csv of the bundle without loading the bundle: Ruby 3.4 and later do not include csv.
  CSV_PATHS = Gem::Specification.find_all_by_name("csv").first.full_require_paths.flat_map { |path| ["-I", path] }.freeze
  PROGRAM = [RbConfig.ruby, "-w", "-W:no-experimental", *CSV_PATHS, "-I", "#{ROOT}/lib", "#{ROOT}/exe/manypack"].freeze

  # Calls the program as a shell does: without Bundler, which would take longer to load than the program.
  SHELL = PROGRAM.join(" ").freeze
  OUTSIDE = defined?(Bundler) ? ENV.to_h { |name, _| [name, nil] }.merge(Bundler.unbundled_env) : {}
  ENVIRONMENT = OUTSIDE.merge("RUBYOPT" => nil, "NO_COLOR" => nil).freeze

  # The socket of a process that forks for each call. A shell starts it and ends, so that it is no child of this process:
  # tests wait for all children.
  def self.server
    @server ||= UNIXSocket.pair.then do |ours, theirs|
      start = ["sh", "-c", 'exec 3<&0; "$@" <&3 3<&- &', "sh", RbConfig.ruby, "-w", "-W:no-experimental", *CSV_PATHS]
      Process.wait(spawn(*start, "-I", "#{ROOT}/lib", "#{__dir__}/terminal_server.rb", in: theirs))
      theirs.close
      ours
    end
  end

  # Runs the program, and returns its output, its messages and its exit code.
  def manypack(*arguments, input: "")
    pipes = Array.new(3) { IO.pipe(binmode: true) }
    (reader, writer), (out, to_out), (err, to_err) = pipes
    [reader, to_out, to_err].each { |io| TerminalHelper.server.send_io(io) }.each(&:close)
    Marshal.dump(arguments, TerminalHelper.server)
    feeder = Thread.new { feed(writer, input) }
    outputs = [out, err].map { |io| Thread.new { io.read } }.map(&:value)
    feeder.join
    [outputs[0], outputs[1].gsub(ProgramHelper::SANITIZERS_NOTE, ""), Marshal.load(TerminalHelper.server)] # rubocop:disable Security/MarshalLoad
  ensure
    pipes.flatten.each(&:close)
  end

  def feed(writer, input)
    writer.write(input)
  rescue Errno::EPIPE
    nil
  ensure
    writer.close
  end

  # The output of a call that has no complaints.
  def output_of(*arguments, input: "")
    out, err, status = manypack(*arguments, input: input)
    assert_equal ["", 0], [err, status]
    out
  end

  # A line of a shell, in which manypack is the program.
  def shell(line)
    out, err, status = Open3.capture3(ENVIRONMENT, "bash", "-c", "manypack() { #{SHELL} \"$@\"; }\n#{line}", binmode: true)
    [out, err.gsub(ProgramHelper::SANITIZERS_NOTE, ""), status.exitstatus]
  end

  # The names of files with such bytes.
  def files(*contents, suffix: "msgpack")
    Dir.mktmpdir do |folder|
      names = contents.each_with_index.map { |bytes, i| "#{folder}/#{i}.#{suffix}".tap { |name| File.binwrite(name, bytes) } }
      yield(*names)
    end
  end

  def stream(*objects)
    objects.map { |object| Manypack.pack(object, timestamp: true) }.join
  end
end

# frozen_string_literal: true

# Runs the program `manypack` as a user does: in a process of its own, with files and pipes. What a shell starts is the
# program itself; the others are forks, which need not start Ruby anew.
require "rbconfig"
require "tmpdir"

module TerminalHelper
  ROOT = File.expand_path("../..", __dir__)

  # Finds the gem csv of the bundle without loading the bundle: Ruby 3.4 and later do not include csv.
  CSV_PATHS = Gem::Specification.find_all_by_name("csv").first.full_require_paths.flat_map { |path| ["-I", path] }.freeze
  PROGRAM = [RbConfig.ruby, "-w", "-W:no-experimental", *CSV_PATHS, "-I", "#{ROOT}/lib", "#{ROOT}/exe/manypack"].freeze

  # Calls the program as a shell does: without Bundler, which would take longer to load than the program.
  SHELL = PROGRAM.join(" ").freeze
  OUTSIDE = defined?(Bundler) ? ENV.to_h { |name, _| [name, nil] }.merge(Bundler.unbundled_env) : {}
  ENVIRONMENT = OUTSIDE.merge("RUBYOPT" => nil, "NO_COLOR" => nil).freeze

  # What AddressSanitizer may say of an exception that unwinds another stack.
  SANITIZERS_NOTE = /^==\d+==WARNING: ASan is ignoring requested.*?^For details[^\n]*\n/mn

  # Runs the program, and returns its output, its messages and its exit code.
  def manypack(*arguments, input: "")
    with_pipes(input) { |*ends, others| fork { run_program(arguments, *ends, others) } }
  end

  # Yields the ends of a program that the block starts, and the other ends. There is no Thread: AddressSanitizer may hold
  # the lock of its allocator for one that ends, and what is forked then waits for it forever.
  def with_pipes(input)
    pipes = Array.new(3) { IO.pipe(binmode: true) }
    (reader, writer), (out, to_out), (err, to_err) = pipes
    pid = yield reader, to_out, to_err, [writer, out, err]
    [reader, to_out, to_err].each(&:close)
    output, messages = exchange(writer, input, out, err)
    Process.wait(pid)
    [output, messages.gsub(SANITIZERS_NOTE, ""), $?.exitstatus]
  ensure
    pipes.flatten.each(&:close)
  end

  # Writes the input for as long as the program takes it, and returns all that it writes.
  def exchange(writer, input, *outputs)
    texts = outputs.to_h { |io| [io, "".b] }
    until outputs.empty?
      readable, writable = IO.select(outputs, writer.closed? ? nil : [writer])
      input = feed(writer, input) unless writable.empty?
      readable.each do |io|
        piece = io.read_nonblock(1 << 16, exception: false)
        piece ? texts[io] << piece : outputs.delete(io)
      end
    end
    texts.values
  end

  # Returns what is left.
  def feed(writer, input)
    rest = input.byteslice(writer.write_nonblock(input)..)
    writer.close if rest.empty?
    rest
  rescue Errno::EPIPE # the program does not want it
    writer.close
  end

  def run_program(arguments, input, output, messages, others)
    others.each(&:close)
    $stdin.reopen(input)
    $stdout.reopen(output)
    $stderr.reopen(messages)
    require "manypack/terminal"
    exit!(Manypack::Terminal.run(arguments))
  rescue Exception => e
    $stderr.print(e.full_message)
    exit!(70)
  end

  # The output of a call that has no complaints.
  def output_of(*arguments, input: "")
    out, err, status = manypack(*arguments, input: input)
    assert_equal ["", 0], [err, status]
    out
  end

  # A line of a shell, in which manypack is the program.
  def shell(line)
    with_pipes("") do |reader, to_out, to_err, _|
      spawn(ENVIRONMENT, "bash", "-c", "manypack() { #{SHELL} \"$@\"; }\n#{line}", in: reader, out: to_out, err: to_err)
    end
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

# frozen_string_literal: true

# The program `manypack` beside programs of one line that do the same by json and the msgpack gem. Whole processes are
# timed, in turns, and what they write is compared where it has one spelling.

require "digest"
require "json"
require "optparse"
require "rbconfig"
require "terminal-table"
require "tmpdir"
require "manypack"
require_relative "support/results"
require_relative "support/workload"

# What a task can be done by: a name and a command, whose output is that of the task's first one, if its outputs are
# alike.
Contender = Struct.new(:name, :command)

# bytes:: of the input
# alike:: whether contenders write the same bytes: some have another spelling of the same JSON
Task = Struct.new(:title, :bytes, :alike, :contenders)

class TerminalBenchmark
  ROOT = File.expand_path("..", __dir__)
  RUBY = [RbConfig.ruby, *("--yjit" if defined?(RubyVM::YJIT)), "-I#{ROOT}/lib"].freeze
  MANYPACK = [*RUBY, "#{ROOT}/exe/manypack"].freeze
  TO_JSON = 'MessagePack::Unpacker.new($stdin).each { |object| $stdout.write(JSON.generate(object), "\n") }'
  FROM_JSON = "$stdin.each_line { |line| $stdout.write(MessagePack.pack(JSON.parse(line))) }"

  # Without Bundler, which takes longer to start than what is measured.
  ENVIRONMENT = { "RUBYOPT" => nil, "RUBYLIB" => nil, "BUNDLER_SETUP" => nil, "GEM_PATH" => Gem.path.join(":") }.freeze

  WORK = 'it["id"] if Array.new(3) { |_| JSON.generate(it) }.last.bytesize > 4_000'

  def initialize(options)
    @options = options
  end

  def run
    puts "#{RUBY_DESCRIPTION}, #{Stamp.cpu}, #{Etc.nprocessors} processors; msgpack #{version("msgpack")}, " \
         "json #{version("json")}"
    Dir.mktmpdir do |folder|
      files(folder)
      tasks.each { |task| puts table(task) if task.title.match?(@options[:only]) }
    end
  end

  private

  def version(gem) = Gem.loaded_specs.fetch(gem) { Gem::Specification.find_by_name(gem) }.version

  # A stream as MessagePack and as JSON Lines, and half of it.
  def files(folder)
    documents = Workload.new(data: @options[:data], stream: 1, largest: 1).cases.values
    statuses = documents.find { |one| one.id.match?(/twitter/i) }.payload.fetch("statuses")
    @messages, @lines, @half = %w[all.msgpack all.jsonl half.msgpack].map { |name| "#{folder}/#{name}" }
    packed = statuses.map { |status| Manypack.pack(status) }.join
    times = [@options[:megabytes] * 1_000_000 / packed.bytesize / 2, 1].max
    File.binwrite(@half, packed * times)
    File.binwrite(@messages, packed * (times * 2))
    File.binwrite(@lines, statuses.map { |status| "#{JSON.generate(status)}\n" }.join * (times * 2))
  end

  def tasks
    [start, validate, cat, pack, filter]
  end

  def start
    Task.new("start", 0, false, [Contender.new("manypack --version", [*MANYPACK, "--version"]),
                                 Contender.new("ruby -r manypack -e 0", [*RUBY, "-r", "manypack", "-e", "0"])])
  end

  # Returns the GB/s of passing over messages that are in memory.
  def bare_skip
    bytes = File.binread(@messages)
    check = Manypack.const_get(:StreamCheck).new(Manypack::Codec.new)
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    check.pass(bytes)
    bytes.bytesize / (Process.clock_gettime(Process::CLOCK_MONOTONIC) - start) / 1e9
  end

  def validate
    Task.new(format("validate (a bare skip in memory: %.1f GB/s)", bare_skip), File.size(@messages), false,
             [Contender.new("manypack validate", [*MANYPACK, "validate", @messages]),
              Contender.new("cat > /dev/null", ["cat", @messages])])
  end

  def cat
    Task.new("messages to JSON Lines", File.size(@messages), false,
             [Contender.new("manypack cat", [*MANYPACK, "cat", @messages]),
              Contender.new("msgpack + json", shell([*RUBY, "-r", "msgpack", "-r", "json", "-e", TO_JSON], @messages))])
  end

  def pack
    Task.new("JSON Lines to messages", File.size(@lines), true,
             [Contender.new("manypack pack", [*MANYPACK, "pack", @lines]),
              Contender.new("msgpack + json", shell([*RUBY, "-r", "msgpack", "-r", "json", "-e", FROM_JSON], @lines))])
  end

  def filter
    one = [*MANYPACK, "filter", "-r", "json", "-e", WORK]
    half = shell([*one, "-j", "1"], @half)[-1]
    Task.new("filter -e with work", File.size(@messages), false,
             [Contender.new("manypack filter -j 2", [*one, "-j", "2", @messages]),
              Contender.new("manypack filter -j 1", [*one, "-j", "1", @messages]),
              Contender.new("each half at once", ["sh", "-c", "#{half} & #{half} & wait"])])
  end

  # The command with a file as its input.
  def shell(command, input)
    ["sh", "-c", "#{command.map { |word| "'#{word}'" }.join(" ")} < '#{input}'"]
  end

  # Seconds, and how often the first contender's time goes into them.
  def table(task)
    check(task)
    seconds = Hash.new { |hash, name| hash[name] = [] }
    @options[:rounds].times do |round|
      task.contenders.rotate(round).each { |contender| seconds[contender.name] << time(contender.command) }
    end
    first = seconds.fetch(task.contenders.first.name)
    rows = task.contenders.map do |contender|
      own = seconds.fetch(contender.name)
      ratio = Statistics.median(own.zip(first).map { |its, mine| its / mine })
      own = Statistics.median(own)
      [contender.name, format("%.3f", own), format("%.0f", task.bytes / own / 1e6), format("%.2f", ratio)]
    end
    Terminal::Table.new(title: task.title, rows: rows, headings: ["", "s", "MB/s", "times the first"])
  end

  def time(command)
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    system(ENVIRONMENT, *command, out: File::NULL, err: File::NULL) || raise("#{command.join(" ")} failed")
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
  end

  # Those of MessagePack byte by byte; JSON has more than one spelling of a float or of a character.
  def check(task)
    return unless task.alike

    sums = task.contenders.map { |contender| IO.popen([ENVIRONMENT, *contender.command], "rb") { |io| digest(io) } }
    raise "different results of #{task.title}" unless sums.uniq.size == 1
  end

  def digest(io)
    sum = Digest::SHA256.new
    while (piece = io.read(1 << 20))
      sum << piece
    end
    sum.hexdigest
  end
end

options = { rounds: 5, megabytes: 300, only: //, data: Workload::REAL }
OptionParser.new do |parser|
  parser.banner = "Usage: bundle exec ruby -Ilib benchmark/terminal.rb [options]"
  parser.on("--data DIR", "a folder with twitter.json") { |dir| options[:data] = dir }
  parser.on("--only REGEXP", Regexp, "start, validate, JSON, filter") { |only| options[:only] = only }
  parser.on("--megabytes N", Integer, "of the stream (#{options[:megabytes]})") { |n| options[:megabytes] = n }
  parser.on("--rounds N", Integer, "rounds (#{options[:rounds]})") { |rounds| options[:rounds] = rounds }
end.parse!
TerminalBenchmark.new(options).run

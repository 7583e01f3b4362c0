# frozen_string_literal: true

# The program `manypack` beside programs of one line that do the same by json and the msgpack gem, beside jq, and one
# command beside another. Whole processes are timed, in turns, and what they write is compared where it has one
# spelling.

require "digest"
require "json"
require "open3"
require "optparse"
require "rbconfig"
require "terminal-table"
require "tmpdir"
require "manypack/terminal" # which makes StreamCheck
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

  # Runs the program, and says at its end how many kB it held at most.
  PEAK = 'at_exit { warn File.read("/proc/self/status")[/VmHWM:\s+(\d+)/, 1] }; load ARGV.shift'

  WORK = 'tweet = it; tweet["id"] if Array.new(3) { JSON.generate(tweet) }.last.bytesize > 4_000'

  def initialize(options)
    @options = options
  end

  def run
    puts "#{RUBY_DESCRIPTION}, #{Stamp.cpu}, #{Etc.nprocessors} processors; msgpack #{version("msgpack")}, " \
         "json #{version("json")}"
    Dir.mktmpdir do |folder|
      files(folder)
      tasks.each { |task| puts table(task) if task.title.match?(@options[:only]) }
      puts peaks(folder) if "peak".match?(@options[:only])
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
    [start, cat, pack, commands, question, field, any_depth, filter]
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

  def cat
    Task.new("messages to JSON Lines", File.size(@messages), false,
             [command(%w[cat]),
              Contender.new("msgpack + json", shell([*RUBY, "-r", "msgpack", "-r", "json", "-e", TO_JSON], @messages))])
  end

  def pack
    Task.new("JSON Lines to messages", File.size(@lines), true,
             [Contender.new("manypack pack", [*MANYPACK, "pack", @lines]),
              Contender.new("msgpack + json", shell([*RUBY, "-r", "msgpack", "-r", "json", "-e", FROM_JSON], @lines))])
  end

  def commands
    all = [%w[cat], %w[validate], %w[count], %w[stat], %w[cat --path .user.name], %w[inspect]]
    title = format("commands (a bare skip in memory: %.1f GB/s)", bare_skip)
    Task.new(title, File.size(@messages), false,
             [*all.map { |words| command(words) }, Contender.new("cat > /dev/null", ["cat", @messages])])
  end

  def command(words) = Contender.new("manypack #{words.join(" ")}", [*MANYPACK, *words, @messages])

  # Which tweets are by someone with many followers?
  def question
    Task.new("one question", File.size(@messages), true,
             [command(["filter", "-e", 'it["user"]["followers_count"] > 1000']),
              command(["filter", "--where", "@.user.followers_count > 1000"])])
  end

  def field
    beside_jq("one field", ".user.name", ".user.name", true)
  end

  def any_depth
    beside_jq("a field at any depth", "$..name", ".. | .name? | select(.)", false)
  end

  # jq reads the same messages as JSON.
  def beside_jq(title, path, filter, alike)
    jq = ["jq", "-c", filter]
    piped = "#{quoted([*MANYPACK, "cat", @messages])} | #{quoted(jq)}"
    peers = [Contender.new(jq.join(" "), [*jq, @lines]),
             Contender.new("manypack cat | #{jq.join(" ")}", ["sh", "-c", piped])]
    peers.clear unless system("jq", "--version", out: File::NULL)
    Task.new(title, File.size(@messages), alike, [command(["query", path]), *peers])
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
    ["sh", "-c", "#{quoted(command)} < '#{input}'"]
  end

  def quoted(command) = command.map { |word| "'#{word}'" }.join(" ")

  # Seconds, those of all processors together, and how often the first contender's time goes into the seconds.
  def table(task)
    check(task)
    measured = Hash.new { |hash, name| hash[name] = [] }
    @options[:rounds].times do |round|
      task.contenders.rotate(round).each { |contender| measured[contender.name] << time(contender.command) }
    end
    first = measured.fetch(task.contenders.first.name)
    rows = task.contenders.map do |contender|
      own = measured.fetch(contender.name)
      ratio = Statistics.median(own.zip(first).map { |its, mine| its[0] / mine[0] })
      seconds, processors = own.transpose.map { |values| Statistics.median(values) }
      [contender.name, format("%.3f", seconds), format("%.3f", processors), format("%.0f", task.bytes / seconds / 1e6),
       format("%.2f", ratio)]
    end
    Terminal::Table.new(title: task.title, rows: rows, headings: ["", "s", "processor s", "MB/s", "times the first"])
  end

  def time(command)
    start = times
    system(ENVIRONMENT, *command, out: File::NULL, err: File::NULL) || raise("#{command.join(" ")} failed")
    times.zip(start).map { |after, before| after - before }
  end

  # Of the clock, and of all processes that have ended.
  def times
    [Process.clock_gettime(Process::CLOCK_MONOTONIC), Process.times.then { |spent| spent.cutime + spent.cstime }]
  end

  # What the commands hold of one message of 20 MB at most.
  def peaks(folder)
    one = "#{folder}/one.msgpack"
    list = Array.new(400_000) { |i| {"id" => i, "name" => "user #{i}", "tags" => %w[a b], "ok" => true, "x" => 1.5} }
    File.binwrite(one, Manypack.pack(list))
    File.binwrite("#{folder}/other.msgpack", Manypack.pack(list.each { |map| map["x"] = 2.5 if map["id"] == 7 }))
    commands = [%w[validate], %w[stat], %w[schema], ["query", "$[*].id"], %w[cat], %w[inspect], %w[canon],
                %w[filter -e true], %w[cat --to yaml], %w[cat --to ruby], ["diff", "#{folder}/other.msgpack"]]
    rows = commands.map { |words| [words.grep_v(/other/).join(" "), format("%.0f", peak([*words, one]) / 1e3)] }
    title = format("peak, with one message of %.0f MB", File.size(one) / 1e6)
    Terminal::Table.new(title: title, rows: rows, headings: ["", "MB"])
  end

  # In kB.
  def peak(arguments)
    _, messages, = Open3.capture3(ENVIRONMENT, *RUBY, "-e", PEAK, MANYPACK.last, *arguments)
    Integer(messages.lines.last)
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

options = { rounds: 5, megabytes: 240, only: //, data: Workload::REAL }
OptionParser.new do |parser|
  parser.banner = "Usage: bundle exec ruby -Ilib benchmark/terminal.rb [options]"
  parser.on("--data DIR", "a folder with twitter.json") { |dir| options[:data] = dir }
  parser.on("--only REGEXP", Regexp, "start, JSON, commands, question, field, filter, peak") do |only|
    options[:only] = only
  end
  parser.on("--megabytes N", Integer, "of the stream (#{options[:megabytes]})") { |n| options[:megabytes] = n }
  parser.on("--rounds N", Integer, "rounds (#{options[:rounds]})") { |rounds| options[:rounds] = rounds }
end.parse!
TerminalBenchmark.new(options).run

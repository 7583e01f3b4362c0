# frozen_string_literal: true

# Measures pack and unpack of Manypack and its peers, each contender in a process of its own: what comes back
# is compared first, then rounds are interleaved so that drift of the machine hits all alike, and medians of ratios are printed.

require "etc"
require "fileutils"
require "json"
require "open3"
require "optparse"
require "rbconfig"
require "ruby-progressbar"
require "terminal-table"
require "time"
require_relative "support/contenders"
require_relative "support/workload"

# A contender's process, asked line by line.
class Contestant
  attr_reader :label, :version

  # @param contender [Module] of Contenders
  # @param flags [Array<String>] for Ruby
  # @param data [String, nil] a folder of JSON files
  def initialize(contender, flags, data)
    @label = contender.label
    command = [RbConfig.ruby, "-W0", *flags, "-I#{File.expand_path("../lib", __dir__)}",
               File.expand_path("support/child.rb", __dir__), contender.name.split("::").last, *data]
    @stdin, @stdout, @thread = Open3.popen2(*command)
    hello = JSON.parse(@stdout.gets || raise("#{label} did not start"))
    @version = hello["version"]
  end

  def missing?
    @version.nil?
  end

  def ask(*request)
    @stdin.puts JSON.generate(request)
    JSON.parse(@stdout.gets || raise("#{label} died of #{request.inspect}")).first
  end

  def stop
    @stdin.close
    @thread.value
  end
end

# All rounds over all payloads, and what came of them.
class Bench
  OPERATIONS = %w[unpack pack].freeze

  def initialize(options)
    @options = options
    @flags = yjit_flags
  end

  def run
    start
    @payloads = Workload.payloads(@options[:data]).keys
    check
    measure
    print_tables
    save
  ensure
    @contestants&.each(&:stop)
  end

  private

  def yjit_flags
    _, status = Open3.capture2e(RbConfig.ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?")
    status.success? ? ["--yjit"] : []
  end

  def start
    all = Contenders::BENCH.map { |contender| Contestant.new(contender, @flags, @options[:data]) }
    absent, @contestants = all.partition(&:missing?)
    absent.each(&:stop)
    puts "#{RUBY_DESCRIPTION}#{" with YJIT" unless @flags.empty?}, #{cpu}, #{Time.now.utc.iso8601}, commit #{commit}"
    puts @contestants.map { |contestant| "#{contestant.label} #{contestant.version}" }.join(", ")
    puts "not installed: #{absent.map(&:label).join(", ")}" unless absent.empty?
  end

  def cpu
    File.foreach("/proc/cpuinfo").grep(/model name/).first.to_s.split(": ").last.to_s.strip
  rescue SystemCallError
    Etc.uname[:machine]
  end

  def commit
    Open3.capture2("git", "describe", "--always", "--dirty", chdir: __dir__).first.strip
  rescue SystemCallError
    "unknown"
  end

  # A contender that does not give a payload back as it was, such as JSON a binary, is left out of it.
  def check
    @able = @payloads.to_h do |payload|
      able = @contestants.select { |contestant| contestant.ask("faithful?", payload) }
      raise "Manypack changes #{payload}" unless able.any? { |contestant| contestant.label == "Manypack" }

      [payload, able]
    end
  end

  def measure
    @samples = Hash.new { |hash, key| hash[key] = [] }
    bar = ProgressBar.create(total: @options[:rounds] * OPERATIONS.size * @able.sum { |_, able| able.size },
                             format: "%t |%B| %p%% %e", title: "measuring", output: $stderr)
    @options[:rounds].times do
      OPERATIONS.product(@payloads).each do |operation, payload|
        @able[payload].each do |contestant|
          ns = contestant.ask("time", payload, operation, @options[:seconds])
          @samples[[operation, payload, contestant.label]] << ns
          bar.increment
        end
      end
    end
  end

  def median(numbers)
    sorted = numbers.sort
    (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2.0
  end

  # How many times Manypack's time the contender took, round by round.
  def ratios(operation, payload, name)
    ours = @samples[[operation, payload, "Manypack"]]
    theirs = @samples[[operation, payload, name]]
    theirs.zip(ours).map { |their, our| their / our }
  end

  def geometric_mean(numbers)
    Math.exp(numbers.sum { |number| Math.log(number) } / numbers.size)
  end

  def peers
    @contestants.map(&:label) - ["Manypack"]
  end

  def cell(operation, payload, name)
    return "-" unless @able[payload].any? { |contestant| contestant.label == name }

    low, high = ratios(operation, payload, name).minmax
    format("%<median>.2f (%<low>.2f-%<high>.2f)", median: median(ratios(operation, payload, name)), low: low, high: high)
  end

  def mean_cell(operation, name)
    able = @payloads.select { |payload| @able[payload].any? { |contestant| contestant.label == name } }
    format("%.2f", geometric_mean(able.map { |payload| median(ratios(operation, payload, name)) }))
  end

  def nanoseconds(number)
    number < 10_000 ? format("%.0f ns", number) : format("%.1f us", number / 1000)
  end

  def print_tables
    OPERATIONS.each do |operation|
      rows = @payloads.map do |payload|
        ours = nanoseconds(median(@samples[[operation, payload, "Manypack"]]))
        [payload, ours, *peers.map { |name| cell(operation, payload, name) }]
      end
      rows << :separator << ["geometric mean", "", *peers.map { |name| mean_cell(operation, name) }]
      puts Terminal::Table.new(title: "#{operation}: times Manypack's time (lowest-highest round)",
                               headings: ["payload", "Manypack", *peers], rows: rows)
    end
  end

  def save
    results = File.join(__dir__, "results")
    FileUtils.mkdir_p(results)
    path = File.join(results, "#{RUBY_ENGINE}-#{RUBY_VERSION}#{"-yjit" unless @flags.empty?}.json")
    samples = @samples.map { |(operation, payload, name), ns| { operation:, payload:, contender: name, ns: } }
    stamp = { ruby: RUBY_DESCRIPTION, yjit: !@flags.empty?, cpu: cpu, commit: commit, time: Time.now.utc.iso8601,
              contenders: @contestants.to_h { |contestant| [contestant.label, contestant.version] } }
    File.write(path, JSON.pretty_generate(stamp.merge(samples: samples)))
    puts "samples: #{path}"
  end
end

# Real documents, where a checkout has them beside it.
beside = File.expand_path("../../shared/data", __dir__)
options = { rounds: 9, seconds: 0.1, data: (beside if File.directory?(beside)) }
OptionParser.new do |parser|
  parser.banner = "Usage: bin/bench [options]"
  parser.on("--data DIR", "measure the JSON files of a folder") { |dir| options[:data] = dir }
  parser.on("--look-alikes", "measure made-up documents, the default without ../shared/data") { options[:data] = nil }
  parser.on("--rounds N", Integer, "rounds (default #{options[:rounds]})") { |rounds| options[:rounds] = rounds }
  parser.on("--quick", "three short rounds") { options.update(rounds: 3, seconds: 0.03) }
end.parse!
Bench.new(options).run

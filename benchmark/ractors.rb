# frozen_string_literal: true

# What it costs to decode trees that every Ractor may have, to hand them over, and how much more two Ractors do than
# one. Each decoder is a process of its own; rounds are interleaved.

require "open3"
require "optparse"
require "rbconfig"
require "terminal-table"
require_relative "support/contestant"
require_relative "support/results"
require_relative "support/stamp"
require_relative "support/workload"

require "manypack"

class RactorsBenchmark
  FROZEN = %w[Shareable Manypack JsonFrozen MsgpackFrozen].freeze
  TOGETHER = %w[Manypack Shareable Json Floor Skip Split Pack PackSymbols].freeze
  HANDED = %w[Shareable Manypack].freeze

  # @param options [Hash]
  def initialize(options)
    @options = options
    @workload = { data: options[:data], stream: 1, largest: 1 }
    _, yjit = Open3.capture2e(RbConfig.ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?")
    @flags = yjit.success? ? ["--yjit"] : []
    @measurements = []
  end

  def run
    puts "#{RUBY_DESCRIPTION} #{@flags.join}, #{Stamp.cpu}"
    decode if "shareable".match?(@options[:only])
    hand_over if "handing over".match?(@options[:only])
    together if "together".match?(@options[:only])
    Results.new(stamp, @measurements).write(path)
    puts "measurements: #{path}"
  ensure
    @contestants&.each_value(&:stop)
  end

  private

  # How many times the time of a shareable tree the others take: JSON and msgpack make frozen ones.
  def decode
    names = documents + cases("messages")
    samples = rounds(names.product(FROZEN)) { |name, decoder| ask(decoder, "alone", name, @options[:seconds]) }
    present = FROZEN.select { |decoder| contestant(decoder) }
    rows = names.map do |name|
      ratios = (present - ["Shareable"]).map { |decoder| ratio(samples[[name, decoder]], samples[[name, "Shareable"]]) }
      [name, format("%.2f", 1 / ratios.first), *ratios.drop(1).map { |one| format("%.2f", one) }]
    end
    means = present.drop(1).map do |decoder|
      mean(names.map { |name| ratio(samples[[name, decoder]], samples[[name, "Shareable"]]) })
    end
    rows << :separator
    rows << ["geometric mean", format("%.2f", 1 / means.first), *means.drop(1).map { |one| format("%.2f", one) }]
    rows << ["goal", "1.00, none above 1.15", "1.90", "2.20"].first(present.size)
    keep("shareable", "decode", samples)
    headings = ["", "/ mutable", "JSON.parse(freeze: true) /", "msgpack freeze: true /"].first(present.size)
    puts Terminal::Table.new(title: "shareable: true", headings: headings, rows: rows)
  end

  def hand_over
    name = document
    pairs = rounds([name].product(HANDED)) { |id, decoder| ask(decoder, "hand", id) }
    samples = pairs.transform_values { |times| times.map(&:first) }
    samples[[name, "Integer"]] = pairs.values.first.map(&:last)
    keep("handing over", "there and back", samples)
    rows = samples.map do |(_, what), times|
      [what, format("%.1f", Statistics.median(times) / 1e3), ("20.0" if what == "Shareable")]
    end
    puts Terminal::Table.new(title: "#{name} decoded, to another Ractor and an answer back",
                             headings: ["", "us", "goal"], rows: rows)
  end

  def together
    name = document
    counts = [1, @options[:ractors]]
    samples = rounds(TOGETHER.product(counts)) do |decoder, count|
      ask(decoder, "together", name, count, @options[:together])
    end
    rows = TOGETHER.map do |decoder|
      one, many = counts.map { |count| samples[[decoder, count]] }
      ratios = Statistics.spread(many.zip(one).map { |more, less| more / less })
      [decoder, format("%.0f", Statistics.median(one)), format("%.0f", Statistics.median(many)),
       format("%.2f", ratios.median), format("%.2f-%.2f", ratios.low, ratios.high),
       { "Skip" => "1.90", "Split" => "1.90", "Manypack" => "1.60" }[decoder]]
    end
    times = samples.to_h do |(decoder, count), rates|
      [["#{count} Ractors", decoder], rates.map { |rate| 1e9 / rate }]
    end
    keep("together", name, times)
    puts Terminal::Table.new(title: "#{name}: documents a second of #{@options[:ractors]} Ractors and of one",
                             headings: ["", "one", "all", "times", "lowest-highest round", "goal"], rows: rows)
  end

  # Rounds in which everybody has a turn; another one begins each time.
  def rounds(turns)
    samples = Hash.new { |hash, key| hash[key] = [] }
    turns = turns.select { |turn| turn.grep(String).all? { |name| !FROZEN.include?(name) || contestant(name) } }
    @options[:rounds].times do |round|
      turns.rotate(round).each { |turn| samples[turn] << yield(*turn) }
      $stderr.print "."
    end
    samples
  end

  def ask(decoder, *request)
    contestant(decoder).ask(*request)
  end

  # nil when what it needs is not installed.
  def contestant(decoder)
    @contestants ||= Hash.new do |all, name|
      lib = File.expand_path("../lib", __dir__)
      child = File.expand_path("support/ractors_child.rb", __dir__)
      command = [RbConfig.ruby, "-W0", *@flags, "-I#{lib}", child, name, JSON.generate(@workload)]
      all[name] = Contestant.new(name, command, [])
    end
    @contestants[decoder] unless @contestants[decoder].missing
  end

  # Real ones where there are some; JSON cannot carry the Images among the others.
  def documents
    cases("documents").then { |real| real.empty? ? cases("classics").grep_v(/Image/) : real }
  end

  def cases(group)
    all = Workload.new(**@workload).cases.values
    all.select { |one| one.group == group && one.operations == Workload::PLAIN }.map(&:id)
  end

  def document
    documents.find { |id| id.match?(/twitter/i) }
  end

  def ratio(one, other)
    Statistics.median(one.zip(other).map { |mine, its| mine / its })
  end

  def mean(numbers)
    Statistics.geometric_mean(numbers)
  end

  def keep(group, operation, samples)
    samples.each do |(name, decoder), ns|
      @measurements << Measurement.new(group: group, name: name, operation: operation, contender: decoder,
                                       bytes: nil, objects: nil, wall: ns, cpu: ns, gc: [])
    end
  end

  def stamp
    { ruby: [RUBY_DESCRIPTION, *@flags].join(" "), cpu: Stamp.cpu, cores: Etc.nprocessors, commit: Stamp.commit,
      time: Time.now.utc.iso8601, contenders: { Manypack: Manypack::VERSION } }
  end

  def path
    File.join(__dir__, "results", "ractors-#{RUBY_VERSION}.json")
  end
end

beside = File.expand_path("../../shared/data", __dir__)
options = { rounds: 9, seconds: 0.05, together: 0.5, ractors: 2, only: //, data: (beside if File.directory?(beside)) }
OptionParser.new do |parser|
  parser.banner = "Usage: bundle exec ruby -Ilib benchmark/ractors.rb [options]"
  parser.on("--data DIR", "measure the JSON files of a folder too") { |dir| options[:data] = dir }
  parser.on("--only REGEXP", Regexp, "shareable, handing over, together") { |only| options[:only] = only }
  parser.on("--ractors N", Integer, "together (#{options[:ractors]})") { |count| options[:ractors] = count }
  parser.on("--rounds N", Integer, "rounds (#{options[:rounds]})") { |rounds| options[:rounds] = rounds }
end.parse!
RactorsBenchmark.new(options).run

# frozen_string_literal: true

# Measures Manypack and its peers, each contender in a process of its own: what comes back is compared first, then
# rounds are interleaved, and medians of ratios are printed.

require "open3"
require "optparse"
require "rbconfig"
require_relative "support/contenders"
require_relative "support/contestant"
require_relative "support/languages"
require_relative "support/race"
require_relative "support/results"
require_relative "support/stamp"
require_relative "support/tables"
require_relative "support/workload"

# One run from options to a table and a file of results.
class Bench
  # @param options [Hash]
  def initialize(options)
    @options = options
    @flags = options[:yjit] && yjit? ? ["--yjit"] : []
    @workload = options.slice(:data, :stream, :largest)
  end

  def run
    cases = chosen
    measurements = heat(cases)
    measurements = measurements.zip(heat(cases)).map { |one, other| one + other } if @options[:heats] == 2
    results = Results.new(@stamp, measurements)
    puts Tables.new(results)
    results.write(@options[:output] || path)
    puts "measurements: #{@options[:output] || path}"
  end

  private

  # All cases by new processes: what one process has of luck or bad luck, such as where its heap lies, another has not.
  def heat(cases)
    contestants = start(cases.map(&:group).uniq)
    announce(contestants) unless @stamp
    Race.new(contestants, @options[:rounds], @options[:seconds], @options[:lock]).run(cases)
  ensure
    contestants&.each(&:stop)
  end

  def announce(contestants)
    @stamp = Stamp.now(contestants)
    puts @stamp.map { |key, value| "#{key}: #{value}" }
    puts @absent.map { |contestant| "without #{contestant.label}: #{contestant.missing.lines.first}" }
  end

  def yjit?
    Open3.capture2e(RbConfig.ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?").last.success?
  end

  def chosen
    cases = Workload.new(**@workload).cases.values.select { |one| one.id.match?(@options[:only]) }
    unless Languages.available?
      puts "without other languages: rake bench:languages installs them"
      cases.reject! { |one| one.group == Workload::LANGUAGES }
    end
    cases.empty? ? raise(ArgumentError, "no case matches #{@options[:only].source}") : cases
  end

  def start(groups)
    contestants = on_this_ruby(groups) + (groups.include?(Workload::LANGUAGES) ? Languages.contestants : [])
    @absent, present = contestants.partition(&:missing)
    @absent.each(&:stop)
    present
  end

  # Among languages, Manypack stands for Ruby.
  def on_this_ruby(groups)
    manypack, *peers = Contenders::BENCH
    peers = peers.select { |contender| contender.label.match?(@options[:contenders]) }
    peers = [] if groups == [Workload::LANGUAGES]
    [contestant(manypack, groups), *peers.map { |peer| contestant(peer, groups - groups_without(peer)) }]
  end

  def groups_without(peer)
    [Workload::LANGUAGES, *(Workload::GROWTH unless Contenders::GROWTH.include?(peer))]
  end

  def contestant(contender, groups)
    Contestant.on_this_ruby(contender, @flags, @workload, groups)
  end

  def path
    File.join(__dir__, "results", ["ruby", RUBY_VERSION, *@flags].join("-").squeeze("-") << ".json")
  end
end

# Real documents, where a checkout has them beside it.
beside = File.expand_path("../../shared/data", __dir__)
options = { heats: 2, rounds: 3, seconds: 0.035, stream: 1_000_000, largest: 100_000_000, yjit: true, only: //,
            contenders: //, data: (beside if File.directory?(beside)) }
OptionParser.new do |parser|
  parser.banner = "Usage: bin/bench [options]"
  parser.on("--data DIR", "measure the JSON files of a folder too") { |dir| options[:data] = dir }
  parser.on("--look-alikes", "made-up documents only, the default without ../shared/data") { options[:data] = nil }
  parser.on("--only REGEXP", Regexp, "cases by name, such as 'streams' or 'twitter'") { |only| options[:only] = only }
  parser.on("--contenders REGEXP", Regexp, "beside Manypack, such as 'floor|msgpack'") do |regexp|
    options[:contenders] = regexp
  end
  parser.on("--rounds N", Integer, "rounds in each of two heats (#{options[:rounds]})") { |n| options[:rounds] = n }
  parser.on("--output FILE", "where the measurements go (benchmark/results/...)") { |file| options[:output] = file }
  parser.on("--lock FILE", "take turns, case by case, with other runs that lock it") { |file| options[:lock] = file }
  parser.on("--[no-]yjit", "with YJIT, where this Ruby has it (yes)") { |yjit| options[:yjit] = yjit }
  parser.on("--quick", "a minute: short rounds, in one heat, of the nearest contenders") do
    options.update(heats: 1, rounds: 3, seconds: 0.02, stream: 100_000, largest: 1_000_000,
                   contenders: /floor|msgpack|JSON|read/)
  end
end.parse!
Bench.new(options).run

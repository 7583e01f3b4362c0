# frozen_string_literal: true

# Measures the time of Manypack and of other contenders, each in a process of its own: compares what comes back, then
# interleaves rounds, and prints medians of ratios.

require "optparse"
require "terminal-table"
require_relative "support/contender_process"
require_relative "support/contenders"
require_relative "support/race"
require_relative "support/results"
require_relative "support/workload"

# A table for each group and operation: rows for the cases, columns for the contenders.
class Tables
  def initialize(results)
    @results = results
  end

  def to_s
    @results.tables.map { |group, operation| table(group, operation) }.join("\n")
  end

  private

  def table(group, operation)
    others = @results.others(group, operation)
    names = @results.cases(group, operation)
    rows = names.map do |name|
      [name, *own_cells(group, operation, name), *others.map { |other| cell(group, operation, name, other) }]
    end
    rows << :separator << means(group, operation, others) if names.size > 1
    Terminal::Table.new(title: "#{group}: #{operation}, times Manypack's time (lowest-highest round)",
                        headings: ["case", Results::BASE, "MB/s", *others], rows: rows)
  end

  def own_cells(group, operation, name)
    own = @results.find(group, operation, name)
    [Figures.time(own.median), own.bytes.zero? ? "-" : format("%.0f", own.bytes / own.median * 1e3)]
  end

  def means(group, operation, others)
    ["geometric mean", "", "", *others.map { |other| format("%.2f", @results.mean_ratio(group, operation, other)) }]
  end

  def cell(group, operation, name, other)
    ratio = @results.ratio(group, operation, name, other) or return "-"
    format("%<median>.2f (%<low>.2f-%<high>.2f)", **ratio.to_h)
  end
end

# One run from options to a table and a file of results.
class Bench
  def initialize(options)
    @options = options
    @flags = options[:yjit] ? ContenderProcess.yjit : []
    @workload = options.slice(:data, :stream)
    @thrown_away = 0
  end

  def run
    cases = chosen
    measurements = heat(cases)
    measurements = measurements.zip(heat(cases)).map { |one, other| one + other } if @options[:heats] == 2
    results = Results.new({ **@stamp, thrown_away: @thrown_away }, measurements)
    puts Tables.new(results)
    results.write(@options[:output] || path)
    puts "measurements: #{@options[:output] || path}"
  end

  private

  # Each group by new processes: luck, such as where a heap lies, differs, and what groups leave in memory costs others.
  def heat(cases) = cases.chunk(&:group).flat_map { |_, group| race(group) }

  def race(cases)
    processes = start
    announce(processes) unless @stamp
    race = Race.new(processes, @options[:rounds], @options[:seconds])
    race.run(cases).tap { @thrown_away += race.thrown_away }
  ensure
    processes&.each(&:stop)
  end

  def announce(processes)
    @stamp = Stamp.of(processes)
    puts @stamp.map { |key, value| "#{key}: #{value}" }
    puts @absent.map { |process| "without #{process.label}: #{process.missing.lines.first}" }
  end

  def chosen
    cases = Workload.new(**@workload).cases.values.select { |one| one.id.match?(@options[:only]) }
    cases.empty? ? raise(ArgumentError, "no case matches #{@options[:only].source}") : cases
  end

  # Returns the processes.
  def start
    @absent, present = contenders.map { |contender| process(contender) }.partition(&:missing)
    @absent.each(&:stop)
    present
  end

  def contenders
    manypack, *others = Contenders::BENCH
    [manypack, *others.select { |contender| contender.label.match?(@options[:contenders]) }]
  end

  def process(contender)
    ContenderProcess.of(contender, Race::Work, flags: @flags, environment: ContenderProcess::SETTLED_MALLOC,
                                               workload: @workload)
  end

  def path = File.join(__dir__, "results", ["ruby", RUBY_VERSION, *@flags].join("-").squeeze("-") << ".json")
end

options = { heats: 2, rounds: 3, seconds: 0.035, stream: 1_000_000, yjit: true, only: //, contenders: //,
            data: Workload::REAL }
OptionParser.new do |parser|
  parser.banner = "Usage: bin/bench [options]"
  parser.on("--data DIR", "measure the JSON files of a folder too") { |dir| options[:data] = dir }
  parser.on("--look-alikes", "made-up documents only, the default without ../shared/data") { options[:data] = nil }
  parser.on("--only REGEXP", Regexp, "cases by name, such as 'streams' or 'twitter'") { |only| options[:only] = only }
  parser.on("--contenders REGEXP", Regexp, "beside Manypack, such as 'JSON|msgpack'") do |regexp|
    options[:contenders] = regexp
  end
  parser.on("--rounds N", Integer, "rounds in each of two heats (#{options[:rounds]})") { |n| options[:rounds] = n }
  parser.on("--output FILE", "where the measurements go (benchmark/results/...)") { |file| options[:output] = file }
  parser.on("--[no-]yjit", "with YJIT, where this Ruby has it (yes)") { |yjit| options[:yjit] = yjit }
  parser.on("--quick", "a minute: short rounds, in one heat, of the nearest contenders") do
    options.update(heats: 1, rounds: 3, seconds: 0.02, stream: 100_000, contenders: /msgpack|JSON|read/)
  end
end.parse!
Bench.new(options).run

# frozen_string_literal: true

# Measures the memory of Manypack beside its peers, each in a process of its own: bin/bench-memory --help.

require "fileutils"
require "optparse"
require "rbconfig"
require_relative "../lib/manypack"
require_relative "memory/day"
require_relative "memory/inputs"
require_relative "memory/mallocs"
require_relative "memory/peers"
require_relative "memory/plot"
require_relative "memory/ractors"
require_relative "memory/figures"
require_relative "memory/slots"
require_relative "memory/sustained"

# One run from options to tables, results and plots.
class MemoryBenchmark
  MEASUREMENTS = %w[sustained mallocs slots ractors day].freeze

  # @param options [Hash]
  # @param names [Array<String>] of MEASUREMENTS
  def initialize(options, names)
    @options = options
    @names = names.empty? ? MEASUREMENTS : names
  end

  def run
    Peers::ALL.each(&:load)
    puts Figures.stamp.map { |key, value| "#{key}: #{value}" }, "" unless @options[:report]
    @names.each { |name| @options[:report] ? show(name, Figures.read(name)) : measure(name) }
    Figures.write_docs(MEASUREMENTS.to_h { |name| [name, measurement(name)] }) if @options[:docs]
  end

  private

  def measure(name)
    result = measurement(name).measure
    Figures.save(name, result)
    show(name, result)
  end

  def show(name, result)
    puts measurement(name).tables(result), ""
  end

  def measurement(name)
    quick = @options[:quick]
    case name
    when "sustained" then Sustained.new(inputs, quick: quick)
    when "mallocs" then Mallocs.new(quick: quick)
    when "slots" then Slots.new(inputs)
    when "ractors" then Ractors.new(quick: quick)
    when "day" then Day.new(minutes: @options[:minutes])
    end
  end

  def inputs
    @inputs ||= Inputs.new(@options[:data])
  end
end

beside = File.expand_path("../../shared/data", __dir__)
options = { data: (beside if File.directory?(beside)), minutes: 10.0, quick: false }
names = OptionParser.new do |parser|
  parser.banner = "Usage: bin/bench-memory [options] [#{MemoryBenchmark::MEASUREMENTS.join(" | ")}] ...\n" \
                  "Without names: all of them."
  parser.on("--data DIR", "JSON files to decode (default ../shared/data, or look-alikes)") do |folder|
    options[:data] = folder
  end
  parser.on("--minutes N", Float, "length of the day (default 10)") { |minutes| options[:minutes] = minutes }
  parser.on("--quick", "less of everything, and a day of one minute") { options.update(quick: true, minutes: 1.0) }
  parser.on("--report", "measure nothing, show the results that are there") { options[:report] = true }
  parser.on("--docs", "write tables and plots of the results into docs/") { options[:docs] = true }
end.parse!
unknown = names - MemoryBenchmark::MEASUREMENTS
abort "bin/bench-memory: there is no measurement #{unknown.first}" unless unknown.empty?
MemoryBenchmark.new(options, names).run

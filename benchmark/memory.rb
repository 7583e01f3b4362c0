# frozen_string_literal: true

# Measures the memory of Manypack and of other contenders, each in a process of its own: bin/bench-memory --help.

require "fileutils"
require "json"
require "optparse"
require "terminal-table"
require "time"
require_relative "../lib/manypack"
require_relative "memory/day"
require_relative "memory/inputs"
require_relative "memory/mallocs"
require_relative "memory/ractors"
require_relative "memory/slots"
require_relative "memory/sustained"
require_relative "support/contender_process"
require_relative "support/contenders"
require_relative "support/plot"
require_relative "support/results"
require_relative "support/workload"

# Results in files, and what docs/memory.md shows of them.
module Figures
  FOLDER = File.expand_path("results/memory-#{RUBY_VERSION}", __dir__)
  DOCS = File.expand_path("../docs", __dir__)

  module_function

  # @return [Hash{Symbol => Object}] where and when
  def stamp
    { ruby: RUBY_DESCRIPTION, yjit: !ContenderProcess.yjit.empty?, cpu: Stamp.cpu, commit: Stamp.commit,
      time: Time.now.utc.iso8601, contenders: Contenders::MEMORY.to_h { |one| [one.label, one.version] } }
  end

  # @param name [String] of a measurement
  # @param result [Hash]
  def save(name, result)
    FileUtils.mkdir_p(FOLDER)
    File.write(file(name), JSON.pretty_generate(stamp: stamp, result: result))
  end

  # @return [Hash] as it was saved
  def read(name)
    JSON.parse(File.read(file(name)), symbolize_names: true).fetch(:result)
  end

  # Replaces what lies between the marks of each measurement that there is a result of, and draws its plot.
  #
  # @param measurements [Hash{String => Object}] by name
  def write_docs(measurements)
    path = File.join(DOCS, "memory.md")
    text = File.read(path)
    measurements.select { |name, _| File.exist?(file(name)) }.each do |name, measurement|
      result = read(name)
      text = text.sub(/(<!-- #{name} -->\n).*?(<!-- end -->)/m) { "#{$1}#{block(name, measurement, result)}#{$2}" }
      measurement.plot(result, File.join(DOCS, "memory")) if measurement.respond_to?(:plot) && Plot.possible?
    end
    File.write(path, text)
  end

  # @api private
  def block(name, measurement, result)
    taken = JSON.parse(File.read(file(name)), symbolize_names: true).fetch(:stamp)
    tables = measurement.tables(result).map(&:to_s).join("\n")
    contenders = taken[:contenders].map { |contender| contender.join(" ") }.join(", ")
    "```\n#{tables}\n```\n" \
      "#{taken[:ruby]}, #{taken[:cpu]}, #{contenders}; commit #{taken[:commit]}, #{taken[:time][0, 10]}\n"
  end

  # @api private
  def file(name)
    File.join(FOLDER, "#{name}.json")
  end
end

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
    Contenders::MEMORY.each(&:load)
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
    when "ractors" then RactorMemory.new(quick: quick)
    when "day" then Day.new(minutes: @options[:minutes])
    end
  end

  def inputs
    @inputs ||= Inputs.new(@options[:data])
  end
end

options = { data: Workload::REAL, minutes: 10.0, quick: false }
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

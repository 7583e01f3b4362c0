# frozen_string_literal: true

# A run's measurements, their medians and ratios, and the stamp of where they were taken; kept in a file, read by the
# tables and by the report.

require "etc"
require "fileutils"
require "json"
require "open3"
require "time"

# Medians and means.
module Statistics
  # Median, lowest and highest of several rounds.
  Spread = Struct.new(:median, :low, :high)

  module_function

  # @param numbers [Array<Float>]
  # @return [Float]
  def median(numbers)
    sorted = numbers.sort
    (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2.0
  end

  # @param numbers [Array<Float>]
  # @return [Spread]
  def spread(numbers)
    Spread.new(median(numbers), *numbers.minmax)
  end

  # @param numbers [Array<Float>]
  # @return [Float]
  def geometric_mean(numbers)
    Math.exp(numbers.sum { |number| Math.log(number) } / numbers.size)
  end
end

# What one contender took for one operation of one case, in nanoseconds by every clock, round by round.
Measurement = Struct.new(:group, :name, :operation, :contender, :bytes, :objects, :wall, :cpu, :gc,
                         keyword_init: true) do
  # What counts: the processor's time, which a busy machine does not spoil.
  #
  # @return [Array<Float>]
  def times
    cpu
  end

  # @param other [Measurement] the same in another process
  # @return [Measurement] of both
  def +(other)
    dup.tap { |both| %i[wall cpu gc].each { |clock| both[clock] = self[clock] + other[clock] } }
  end

  # @return [Float]
  def median
    Statistics.median(times)
  end

  # @return [Hash{Symbol => Object}] for a file
  def rounded
    to_h.merge(%i[wall cpu gc].to_h { |clock| [clock, self[clock].map { |ns| ns.round(ns < 1000 ? 2 : 0) }] })
  end

  # @param base [Measurement]
  # @return [Statistics::Spread] how many times the base's time
  def ratio(base)
    Statistics.spread(times.zip(base.times).map { |mine, other| mine.fdiv(other) })
  end

  # @return [Array<Float>] without the collector's share
  def work
    cpu.zip(gc).map { |all, collecting| all - collecting }
  end
end

# Where and when figures were taken.
module Stamp
  # @param processes [Array<ContenderProcess>] who ran
  # @param more [Hash{Symbol => Object}] such as settings
  # @return [Hash{Symbol => Object}]
  def self.of(processes, **more)
    { ruby: processes.first.language, cpu: cpu, cores: Etc.nprocessors, commit: commit, time: Time.now.utc.iso8601,
      **more, contenders: processes.to_h { |process| [process.label, process.version] } }
  end

  # @return [String]
  def self.cpu
    File.foreach("/proc/cpuinfo").grep(/model name/).first.to_s.split(": ").last.to_s.strip
  rescue SystemCallError
    Etc.uname[:machine]
  end

  # @return [String]
  def self.commit
    Open3.capture2("git", "describe", "--always", "--dirty", chdir: __dir__).first.strip
  rescue SystemCallError
    "unknown"
  end
end

# All measurements of a run.
class Results
  BASE = "Manypack"

  # @return [Hash{Symbol => Object}] see Stamp
  attr_reader :stamp

  # @return [Array<Measurement>]
  attr_reader :measurements

  # @param path [String]
  # @return [Results]
  def self.read(path)
    data = JSON.parse(File.read(path), symbolize_names: true)
    new(data.fetch(:stamp), data.fetch(:measurements).map { |fields| Measurement.new(**fields) })
  end

  # @param stamp [Hash]
  # @param measurements [Array<Measurement>]
  def initialize(stamp, measurements)
    @stamp = stamp
    @measurements = measurements
  end

  # @param path [String]
  def write(path)
    FileUtils.mkdir_p(File.dirname(path))
    rows = measurements.map { |measurement| "    #{JSON.generate(measurement.rounded)}" }
    File.write(path, <<~JSON)
      {
        "stamp": #{JSON.generate(stamp)},
        "measurements": [
      #{rows.join(",\n")}
        ]
      }
    JSON
  end

  # @return [Array<Array(String, String)>] groups with operations
  def tables
    measurements.map { |one| [one.group, one.operation] }.uniq
  end

  # @return [Array<String>] names of cases
  def cases(group, operation)
    in_table(group, operation).map(&:name).uniq
  end

  # @return [Array<String>] contenders beside Manypack
  def others(group, operation)
    in_table(group, operation).map(&:contender).uniq - [BASE]
  end

  # @return [Measurement, nil]
  def find(group, operation, name, contender = BASE)
    index[[group, operation, name, contender]]
  end

  # @return [Statistics::Spread, nil] how many times Manypack's time
  def ratio(group, operation, name, contender)
    find(group, operation, name, contender)&.ratio(find(group, operation, name))
  end

  # @return [Float] of the medians over all cases that the contender can do
  def mean_ratio(group, operation, contender)
    ratios = cases(group, operation).map { |name| ratio(group, operation, name, contender) }.compact
    Statistics.geometric_mean(ratios.map(&:median))
  end

  private

  def in_table(group, operation)
    measurements.select { |one| one.group == group && one.operation == operation }
  end

  def index
    @index ||= measurements.to_h { |one| [[one.group, one.operation, one.name, one.contender], one] }
  end
end

# frozen_string_literal: true

# A run's measurements, their medians and ratios, and the stamp of where they were taken; kept in a file, read by the
# tables and by the report.

require "etc"
require "fileutils"
require "json"
require "open3"
require "time"

# Figures as people read them.
module Figures
  module_function

  def time(nanoseconds)
    return format("%.3g ns", nanoseconds) if nanoseconds < 1_000
    return format("%.3g µs", nanoseconds / 1e3) if nanoseconds < 1e6

    format("%.3g ms", nanoseconds / 1e6)
  end

  def count(number)
    number.to_s.gsub(/(?<=\d)(?=(?:\d{3})+\z)/, ",")
  end
end

# Medians and means.
module Statistics
  # Median, lowest and highest of several rounds.
  Spread = Struct.new(:median, :low, :high) do
    # Whether all rounds agree which of the two is faster.
    def clear?
      low > 1 || high < 1
    end
  end

  module_function

  def median(numbers)
    sorted = numbers.sort
    (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2.0
  end

  def spread(numbers)
    Spread.new(median(numbers), *numbers.minmax)
  end

  def geometric_mean(numbers)
    Math.exp(numbers.sum { |number| Math.log(number) } / numbers.size)
  end
end

# What one contender took for one operation of one case, in nanoseconds by every clock, round by round.
Measurement = Struct.new(:group, :name, :operation, :contender, :bytes, :objects, :wall, :cpu, :gc,
                         keyword_init: true) do
  # What counts: the processor's time, which a busy machine does not spoil.
  def times
    cpu
  end

  # Returns this measurement together with that of another process.
  def +(other)
    dup.tap { |both| %i[wall cpu gc].each { |clock| both[clock] = self[clock] + other[clock] } }
  end

  def median
    Statistics.median(times)
  end

  # Returns what goes into the file.
  def rounded
    to_h.merge(%i[wall cpu gc].to_h { |clock| [clock, self[clock].map { |ns| ns.round(ns < 1000 ? 2 : 0) }] })
  end

  # Returns how many times the time of base this takes, as a Spread.
  def ratio(base)
    Statistics.spread(times.zip(base.times).map { |mine, other| mine.fdiv(other) })
  end

  # Returns the times without the collector's share.
  def work
    cpu.zip(gc).map { |all, collecting| all - collecting }
  end
end

# Where and when figures were taken.
module Stamp
  # processes:: the ContenderProcesses that ran
  def self.of(processes, **more)
    { ruby: processes.first.language, cpu: cpu, cores: Etc.nprocessors, commit: commit, time: Time.now.utc.iso8601,
      **more, contenders: processes.to_h { |process| [process.label, process.version] } }
  end

  def self.cpu
    File.foreach("/proc/cpuinfo").grep(/model name/).first.to_s.split(": ").last.to_s.strip
  rescue SystemCallError
    Etc.uname[:machine]
  end

  def self.commit
    Open3.capture2("git", "describe", "--always", "--dirty", chdir: __dir__).first.strip
  rescue SystemCallError
    "unknown"
  end
end

# All measurements of a run.
class Results
  BASE = "Manypack"

  # See Stamp.
  attr_reader :stamp

  attr_reader :measurements

  def self.read(path)
    data = JSON.parse(File.read(path), symbolize_names: true)
    new(data.fetch(:stamp), data.fetch(:measurements).map { |fields| Measurement.new(**fields) })
  end

  def initialize(stamp, measurements)
    @stamp = stamp
    @measurements = measurements
  end

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

  # Returns pairs of a group and an operation.
  def tables
    measurements.map { |one| [one.group, one.operation] }.uniq
  end

  # Returns the names of the cases.
  def cases(group, operation)
    in_table(group, operation).map(&:name).uniq
  end

  # Returns the contenders beside Manypack.
  def others(group, operation)
    in_table(group, operation).map(&:contender).uniq - [BASE]
  end

  def find(group, operation, name, contender = BASE)
    index[[group, operation, name, contender]]
  end

  # Returns how many times Manypack's time the contender takes, as a Spread, or nil if it cannot do the case.
  def ratio(group, operation, name, contender)
    find(group, operation, name, contender)&.ratio(find(group, operation, name))
  end

  # Returns the geometric mean of the medians over all cases that the contender can do.
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

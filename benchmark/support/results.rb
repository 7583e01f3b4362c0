# frozen_string_literal: true

# A run's measurements with the stamp of where they were taken; kept in a file, read by the tables and by the report.
require "fileutils"
require "json"
require_relative "measurement"

class Results
  BASE = "Manypack"
  FLOOR = "floor"

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
  def peers(group, operation)
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

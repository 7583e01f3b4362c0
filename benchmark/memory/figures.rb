# frozen_string_literal: true

# Results in files, and what docs/memory.md shows of them.

require "fileutils"
require "json"
require "time"
require_relative "../support/stamp"
require_relative "children"
require_relative "plot"

module Figures
  FOLDER = File.expand_path("../results/memory-#{RUBY_VERSION}", __dir__)
  DOCS = File.expand_path("../../docs", __dir__)

  module_function

  # @return [Hash{Symbol => Object}] where and when
  def stamp
    { ruby: RUBY_DESCRIPTION, yjit: !Children.yjit.empty?, cpu: Stamp.cpu, commit: Stamp.commit,
      time: Time.now.utc.iso8601, peers: Peers::ALL.to_h { |peer| [peer.label, peer.version] } }
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
    peers = taken[:peers].map { |peer| peer.join(" ") }.join(", ")
    "```\n#{tables}\n```\n" \
      "#{taken[:ruby]}, #{taken[:cpu]}, #{peers}; commit #{taken[:commit]}, #{taken[:time][0, 10]}\n"
  end

  # @api private
  def file(name)
    File.join(FOLDER, "#{name}.json")
  end
end

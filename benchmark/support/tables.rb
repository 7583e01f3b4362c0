# frozen_string_literal: true

# What bench.rb prints: a table for each group and operation, rows for the cases, columns for the contenders.
require "terminal-table"
require_relative "results"

class Tables
  # @param results [Results]
  def initialize(results)
    @results = results
  end

  # @return [String]
  def to_s
    @results.tables.map { |group, operation| table(group, operation) }.join("\n")
  end

  private

  def table(group, operation)
    floor, peers = @results.peers(group, operation).partition { |peer| peer == Results::FLOOR }
    names = @results.cases(group, operation)
    rows = names.map do |name|
      [name, *own_cells(group, operation, name), *floor.map { over_floor(group, operation, name) },
       *peers.map { |peer| cell(group, operation, name, peer) }]
    end
    rows << :separator << means(group, operation, floor, peers) if names.size > 1
    Terminal::Table.new(title: "#{group}: #{operation}, times Manypack's time (lowest-highest round)",
                        headings: ["case", Results::BASE, "MB/s", *floor.map { "/ floor" }, *peers], rows: rows)
  end

  def own_cells(group, operation, name)
    own = @results.find(group, operation, name)
    [nanoseconds(own.median), own.bytes.zero? ? "-" : format("%.0f", own.bytes / own.median * 1e3)]
  end

  def over_floor(group, operation, name)
    ratio = @results.ratio(group, operation, name, Results::FLOOR) or return "-"
    format("%.2f", 1 / ratio.median)
  end

  def means(group, operation, floor, peers)
    ["geometric mean", "", "", *floor.map { |name| format("%.2f", 1 / @results.mean_ratio(group, operation, name)) },
     *peers.map { |peer| format("%.2f", @results.mean_ratio(group, operation, peer)) }]
  end

  def nanoseconds(number)
    number < 10_000 ? format("%.0f ns", number) : format("%.1f us", number / 1000)
  end

  def cell(group, operation, name, peer)
    ratio = @results.ratio(group, operation, name, peer) or return "-"
    format("%<median>.2f (%<low>.2f-%<high>.2f)", **ratio.to_h)
  end
end

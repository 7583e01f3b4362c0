# frozen_string_literal: true

# Memory of each Ractor, of many that have packed and unpacked.

require "terminal-table"
require_relative "children"
require_relative "malloc_count"
require_relative "plot"

class Ractors
  TITLE = "Memory of a Ractor"
  COUNTS = [1, 100, 1_000, 10_000].freeze
  PEERS = [Peers::Manypack, Peers::Json].freeze # msgpack raises in Ractors

  # @param quick [Boolean]
  def initialize(quick:)
    @counts = quick ? COUNTS.first(3) : COUNTS
  end

  # @return [Hash] rows of bytes for each Ractor, and what the extension holds for each
  def measure
    rows = @counts.flat_map do |count|
      works.map { |work, peer| { ractors: count, work: work, peer: peer.label, **each(count, peer, work) } }
    end
    { rows: rows, own: own }
  end

  # @param result [Hash] of measure
  # @return [Array<Terminal::Table>]
  def tables(result)
    rows = result[:rows].group_by { |row| row[:ractors] }.map do |count, of_count|
      kilobytes = of_count.map { |row| format("%.1f", row[:each] / 1e3) }
      megabytes = of_count.last(2).map { |row| format("%.0f", row[:with] / 1e6) }
      [count, *kilobytes, *megabytes]
    end
    headings = ["Ractors", *heads, *PEERS.map { |peer| "all MB, #{peer.label}" }]
    [Terminal::Table.new(title: "#{TITLE}, resident KB", headings: headings, rows: rows),
     "Of Manypack's, malloc'ed by its extension: #{result[:own] ? "#{result[:own]} bytes" : "not counted here"}."]
  end

  # @param result [Hash] of measure
  # @param folder [String] where plots go
  def plot(result, folder)
    groups = result[:rows].reject { |row| row[:ractors] == 1 }.group_by { |row| row[:ractors] }
                          .to_h { |count, rows| ["#{count} Ractors", rows.map { |row| row[:each] / 1e3 }] }
    Plot.bars(File.join(folder, "ractors.svg"), { title: TITLE, y: "resident KB" }, groups, heads)
  end

  private

  def heads
    works.map { |work, peer| work == "unpack, pack" ? "#{peer.label}: #{work}" : work }
  end

  def works
    [["nothing", Peers::Manypack], ["by hand", Peers::Manypack], *PEERS.map { |peer| ["unpack, pack", peer] }]
  end

  def each(count, peer, work)
    result = Children.run("ractors", peer, ractors: count, work: work)
    with, before, after = result.values_at(:with, :before, :after)
    { with: with, each: (with - before) / count, each_collected: (after - before) / count }
  end

  # Counted, not taken from resident memory: blocks of the extension that are there while the Ractors wait.
  def own
    return unless MallocCounter.possible?

    result = Children.run("ractors", Peers::Manypack, environment: MallocCounter.environment,
                                                      ractors: 100, work: "unpack, pack")
    result[:own] / 100
  end
end

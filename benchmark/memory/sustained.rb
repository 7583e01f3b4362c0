# frozen_string_literal: true

# Resident memory of sustained decoding, under each malloc.

require "terminal-table"
require_relative "allocators"
require_relative "children"

class Sustained
  TITLE = "Sustained decoding"
  HOWS = { "unpack" => Peers::ALL, "stream" => Peers::STREAMING }.freeze

  # @param inputs [Inputs]
  # @param quick [Boolean]
  def initialize(inputs, quick:)
    @inputs = inputs
    @passes = quick ? 15 : 200
    @rounds = quick ? 1 : 3
  end

  # @return [Hash] rows of resident bytes, medians of the rounds
  def measure
    check
    rows = combinations.map do |how, allocator, peer|
      { how: how, malloc: allocator, peer: peer.label, **medians(rounds(how, allocator, peer)) }
    end
    { passes: @passes, held: 24, rows: rows }
  end

  # @param result [Hash] of measure
  # @return [Array<Terminal::Table>]
  def tables(result)
    result[:rows].group_by { |row| row[:how] }.map do |how, rows|
      title = "#{TITLE} (#{how}), resident MB"
      headings = ["malloc", "", "live set", "end", "peak", "peak/live", "after GC", "of msgpack's"]
      Terminal::Table.new(title: title, headings: headings, rows: rows.map { |row| cells(row, rows) })
    end
  end

  private

  def check
    HOWS["unpack"].each do |peer|
      digests = Children.run("check", peer, input: @inputs.file(peer), streamed: Peers::STREAMING.include?(peer))
      raise "#{peer.label} decodes something else" unless digests.uniq == [@inputs.digest]
    end
  end

  def combinations
    HOWS.flat_map { |how, peers| Allocators.all.keys.product(peers).map { |allocator, peer| [how, allocator, peer] } }
  end

  def rounds(how, allocator, peer)
    Array.new(@rounds) do
      Children.run("sustained", peer, environment: Allocators.all[allocator], input: @inputs.file(peer),
                                      passes: @passes, how: how)
    end
  end

  def medians(results)
    ends = results.map { |result| median(result[:passes].last(@passes / 4 + 1)) }
    { live: median(results.map { |result| result[:live] }), end: median(ends),
      peak: median(results.map { |result| result[:peak] }), after: median(results.map { |result| result[:after] }) }
  end

  def median(numbers)
    numbers.sort[numbers.size / 2]
  end

  def cells(row, rows)
    msgpack = rows.find { |other| other[:malloc] == row[:malloc] && other[:peer] == "msgpack" }
    [row[:malloc], row[:peer], *row.values_at(:live, :end, :peak).map { |bytes| megabytes(bytes) },
     format("%.2f", row[:peak].fdiv(row[:live])), megabytes(row[:after]),
     %i[end peak after].map { |what| format("%.2f", row[what].fdiv(msgpack[what])) }.join(" ")]
  end

  def megabytes(bytes)
    format("%.1f", bytes / 1e6)
  end
end

# frozen_string_literal: true

# Mallocs of one pack and one unpack, by size of message.

require "terminal-table"
require_relative "children"
require_relative "malloc_count"

class Mallocs
  TITLE = "Mallocs of one call"
  SIZES = [10, 50, 100, 300, 600, 1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000].freeze

  # One String, one Array of records, one Array of numbers: what the format has of about so many bytes.
  SHAPES = {
    "string" => ->(size) { "s" * (size - 3) },
    "records" => lambda { |size|
      Array.new([size / 30, 1].max) { |i| { "id" => i, "name" => "name #{i}"[0, size], "tags" => ["t"] * 3 } }
    },
    "floats" => ->(size) { Array.new([size / 9, 1].max) { |i| i + 0.5 } }
  }.freeze

  # @param quick [Boolean]
  def initialize(quick:)
    @sizes = quick ? SIZES.first(8) : SIZES
  end

  # @return [Hash] rows
  def measure
    return { rows: [] } unless MallocCounter.possible?

    { rows: SHAPES.flat_map { |shape, build| Peers::ALL.flat_map { |peer| rows(shape, build, peer) } } }
  end

  # @param result [Hash] of measure
  # @return [Array<Terminal::Table>]
  def tables(result)
    result[:rows].group_by { |row| row[:shape] }.map do |shape, rows|
      headings = ["bytes about", *%w[pack unpack].product(Peers::ALL.map(&:label)).map { |both| both.join(" ") }]
      Terminal::Table.new(title: "#{TITLE}: #{shape}; calls, bytes (of them the extension's own)", headings: headings,
                          rows: @sizes.map { |size| [size, *cells(rows.select { |row| row[:about] == size })] })
    end
  end

  private

  def rows(shape, build, peer)
    measured = Children.run("mallocs", peer, environment: MallocCounter.environment, objects: @sizes.map(&build))
    @sizes.zip(measured).map { |size, row| { shape: shape, about: size, peer: peer.label, **row } }
  end

  def cells(rows)
    %i[pack unpack].product(Peers::ALL.map(&:label)).map do |call, label|
      calls, bytes, own = rows.find { |row| row[:peer] == label }[call]
      next "0" if calls.zero?

      "#{calls}, #{bytes}#{" (#{own})" if label != "json"}"
    end
  end
end

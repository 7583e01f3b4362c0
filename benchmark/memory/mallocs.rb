# frozen_string_literal: true

# Mallocs of one pack and one unpack, by size of message.

require_relative "../support/contender_process"
require_relative "../support/contenders"
require_relative "process"

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

    { rows: SHAPES.flat_map { |shape, build| Contenders::MEMORY.flat_map { |one| rows(shape, build, one) } } }
  end

  # @param result [Hash] of measure
  # @return [Array<Terminal::Table>]
  def tables(result)
    result[:rows].group_by { |row| row[:shape] }.map do |shape, rows|
      calls = %w[pack unpack].product(Contenders::MEMORY.map(&:label)).map { |both| both.join(" ") }
      Terminal::Table.new(title: "#{TITLE}: #{shape}; calls, bytes (of them the extension's own)",
                          headings: ["bytes about", *calls],
                          rows: rows.group_by { |row| row[:about] }.map { |size, of_size| [size, *cells(of_size)] })
    end
  end

  private

  def rows(shape, build, contender)
    measured = ContenderProcess.once(contender, Work, ["count", @sizes.map(&build)],
                                     environment: MallocCounter.environment)
    @sizes.zip(measured).map { |size, row| { shape: shape, about: size, contender: contender.label, **row } }
  end

  def cells(rows)
    %i[pack unpack].product(Contenders::MEMORY.map(&:label)).map do |call, label|
      calls, bytes, own = rows.find { |row| row[:contender] == label }[call]
      next "0" if calls.zero?

      "#{calls}, #{bytes}#{" (#{own})" if label != "JSON"}"
    end
  end

  # What the process of a contender answers. It runs under the malloc counter.
  class Work
    ROUNDS = 7

    # @param contender [Module] of Contenders
    def initialize(contender)
      @contender = contender
      MallocCounter.watch(%r{/(?:manypack|msgpack)\.so\z})
    end

    # @param objects [Array<Object>]
    # @return [Array<Hash>] for each object its packed size, and calls, bytes, own calls and own bytes of each direction
    def count(objects)
      GC.start
      GC.disable
      objects.map do |object|
        bytes = @contender.pack(object)
        { size: bytes.bytesize, pack: least { @contender.pack(object) }, unpack: least { @contender.unpack(bytes) } }
      end
    end

    private

    # Of some rounds: in one of them Ruby may have needed a page for its heap, or warmed up.
    def least(&block)
      Array.new(ROUNDS) { MallocCount.count(&block) }.min
    end
  end
end

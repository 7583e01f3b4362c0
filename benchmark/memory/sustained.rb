# frozen_string_literal: true

# Resident memory of sustained decoding, under each malloc.

require_relative "../support/contender_process"
require_relative "../support/contenders"
require_relative "inputs"
require_relative "process"

class Sustained
  TITLE = "Sustained decoding"
  HOWS = { "unpack" => Contenders::MEMORY, "stream" => Contenders::MEMORY.first(2) }.freeze

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
    rows = combinations.map do |how, allocator, contender|
      { how: how, malloc: allocator, contender: contender.label, **medians(rounds(how, allocator, contender)) }
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
    HOWS.each do |how, contenders|
      contenders.each do |contender|
        digest = ContenderProcess.once(contender, Work, ["digest"], input: @inputs.file(contender), how: how)
        raise "#{contender.label} decodes something else" unless digest == @inputs.digest
      end
    end
  end

  def combinations
    HOWS.flat_map { |how, contenders| [how].product(Allocators.all.keys, contenders) }
  end

  def rounds(how, allocator, contender)
    Array.new(@rounds) do
      ContenderProcess.once(contender, Work, ["measure", @passes], environment: Allocators.all[allocator],
                                                              input: @inputs.file(contender), how: how)
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
    msgpack = rows.find { |other| other[:malloc] == row[:malloc] && other[:contender] == "msgpack" }
    [row[:malloc], row[:contender], *row.values_at(:live, :end, :peak).map { |bytes| megabytes(bytes) },
     format("%.2f", row[:peak].fdiv(row[:live])), megabytes(row[:after]),
     %i[end peak after].map { |what| format("%.2f", row[what].fdiv(msgpack[what])) }.join(" ")]
  end

  def megabytes(bytes)
    format("%.1f", bytes / 1e6)
  end

  # What the process of a contender answers. It always holds the last few results.
  class Work
    HELD = 24 # results; a server has so many requests at work
    PIECE = 4096

    # @param contender [Module] of Contenders
    # @param input [String] path
    # @param how [String] "unpack", or "stream" to feed the bytes in pieces to an Unpacker for each message
    def initialize(contender, input:, how:)
      @contender = contender
      @messages = MessagesFile.read(input)
      @how = how
      @held = []
      @at = 0
    end

    # @return [String] a digest of what the messages decode to
    def digest
      MessagesFile.digest(@messages.lazy.map { |message| decode(message) })
    end

    # @param passes [Integer] over all messages
    # @return [Hash{Symbol => Integer, Array<Integer>}] resident bytes: before, of the live set alone, at the end of
    #   each pass, the peak, and after a collection and a second's rest
    def measure(passes)
      before = settle
      live = live_set
      residents = Array.new(passes) do
        pass
        ProcessMemory.resident
      end
      { before: before, live: live, passes: residents, peak: ProcessMemory.peak, after: settle }
    end

    private

    def pass
      @messages.each { |message| hold(decode(message)) }
    end

    # The first results, of which none was thrown away yet.
    def live_set
      HELD.times { |i| hold(decode(@messages[i % @messages.size])) }
      settle
    end

    def hold(object)
      @held[@at] = object
      @at = (@at + 1) % HELD
    end

    def decode(message)
      @how == "unpack" ? @contender.unpack(message) : stream(message)
    end

    def stream(message)
      unpacker = @contender.unpacker
      result = nil
      0.step(message.bytesize - 1, PIECE) do |at|
        unpacker.feed_each(message.byteslice(at, PIECE)) { |object| result = object }
      end
      result
    end

    # Collected, and given the time that an allocator takes to return pages.
    def settle
      3.times { GC.start }
      sleep 1
      100.times { +"x" * 1_000 } # jemalloc looks at its clock when it is called
      GC.start
      ProcessMemory.resident
    end
  end
end

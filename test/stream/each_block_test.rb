# frozen_string_literal: true

# The block of each and feed_each may call anything on the same Unpacker and its Buffer: the objects that it gets are
# those that a plain loop of read would get.
require "test_helper"
require "stringio"
require "timeout"

class EachBlockTest < Minitest::Test
  # Every public method, with what it does to the stream that it is called on in the middle of it.
  UNPACKER_CALLS = {
    buffer: ->(u) { u.buffer.class }, "<<": ->(u) { (u << "\x07\xA1f").class }, feed: ->(u) { u.feed("\x07\xA1f").class }, read: ->(u) { u.read },
    feed_reference: ->(u) { u.feed_reference("\xDA\x02\x00".b + ("r" * 512)).class }, unpack: ->(u) { u.unpack },
    full_unpack: ->(u) { u.full_unpack }, each: ->(u) { u.each.to_a }, feed_each: ->(u) { u.feed_each("\xC3\x08").to_a },
    skip: ->(u) { u.skip }, skip_nil: ->(u) { u.skip_nil }, read_array_header: ->(u) { u.read_array_header },
    read_map_header: ->(u) { u.read_map_header }, reset: ->(u) { u.reset }, symbolize_keys?: ->(u) { u.symbolize_keys? },
    freeze?: ->(u) { u.freeze? }, allow_unknown_ext?: ->(u) { u.allow_unknown_ext? },
    register_type: ->(u) { u.register_type(1, &:upcase) }, registered_types: ->(u) { u.registered_types.size },
    type_registered?: ->(u) { u.type_registered?(1) }, pending?: ->(u) { u.pending? }, position: ->(u) { u.position }
  }.freeze
  BUFFER_CALLS = {
    clear: ->(b) { b.clear }, size: ->(b) { b.size }, empty?: ->(b) { b.empty? }, write: ->(b) { b.write("\x09\xA1w") },
    "<<": ->(b) { (b << "\xA2ap").size }, read: ->(b) { b.read(1) }, read_all: ->(b) { b.read_all(3) }, skip: ->(b) { b.skip(1) },
    skip_all: ->(b) { b.skip_all(2) && nil }, io: ->(b) { b.io.class }, flush: ->(b) { b.flush.class }, close: ->(b) { b.close },
    write_to: ->(b) { b.write_to(StringIO.new) }, to_s: ->(b) { b.to_s }, to_str: ->(b) { b.to_str }, to_a: ->(b) { b.to_a }
  }.freeze
  CALLS = UNPACKER_CALLS.merge(BUFFER_CALLS.to_h { |name, call| [:"buffer_#{name}", ->(u) { call.call(u.buffer) }] }).freeze

  # Bytes of the str that the first piece breaks off in: the piece is copied into a block of the Buffer's, kept by
  # reference, or longer than a block that a Buffer keeps when it is used up.
  TEXT_SIZES = [120, 2_000, 40_000].freeze

  # Answers the pieces one by one; an io with read is asked for no more than the Unpacker needs.
  class Pieces
    def initialize(pieces)
      @pieces = pieces.map(&:dup)
    end

    def close = @pieces.clear
  end

  class Partial < Pieces
    def readpartial(_size) = @pieces.shift || raise(EOFError)
  end

  class Whole < Pieces
    def read(size)
      return if @pieces.empty?

      bytes = @pieces.first.slice!(0, size)
      @pieces.shift if @pieces.first.empty?
      bytes
    end
  end

  def test_every_public_method_is_called
    { Manypack::Unpacker => UNPACKER_CALLS, Manypack::Buffer => BUFFER_CALLS }.each do |klass, calls|
      assert_equal klass.superclass.public_instance_methods(false).sort, calls.keys.sort
      assert_empty klass.public_instance_methods(false)
    end
  end

  SOURCES = {
    "what was fed" => ->(pieces) { pieces.inject(Manypack::Unpacker.new) { |unpacker, piece| unpacker.feed(piece) } },
    "an io with readpartial" => ->(pieces) { Manypack::Unpacker.new(Partial.new(pieces)) },
    "an io with read" => ->(pieces) { Manypack::Unpacker.new(Whole.new(pieces)) }
  }.freeze

  SOURCES.each do |source, unpacker_of|
    CALLS.each do |name, call|
      define_method("test_#{name}_in_the_block_of_each_over_#{source.tr(" ", "_")}") do
        TEXT_SIZES.each do |size|
          expected = outcomes_of_reads(unpacker_of.call(pieces(size)), call)
          assert_equal expected, outcomes_of_each(unpacker_of.call(pieces(size)), call), "a str of #{size} bytes"
        end
      end
    end
  end

  CALLS.each do |name, call|
    define_method("test_#{name}_in_the_block_of_feed_each") do
      TEXT_SIZES.each do |size|
        expected, actual = Manypack::Unpacker.new, Manypack::Unpacker.new
        pieces(size).each do |piece|
          assert_equal outcomes_of_reads(expected.feed(piece), call), outcomes_of_each(actual, call, piece), "a str of #{size} bytes"
        rescue RuntimeError => e # a stream that is broken takes no more
          assert_equal e.class, assert_refused { actual.feed_each(piece) { nil } }.class
        end
      end
    end
  end

  # Each leaves a message whole and the next one at its start.
  %i[read unpack skip feed].each do |name|
    define_method("test_#{name}_in_the_block_of_each_waits_for_no_byte_that_is_not_needed") do
      TEXT_SIZES.each do |size|
        [:readpartial, :read].each do |method|
          over_an_open_pipe(method, pieces(size)) do |unpacker|
            seen = []
            unpacker.each do |object|
              seen << object
              seen << CALLS[name].call(unpacker) if object == 1 || object == 2
              break if seen.include?("last")
            end
            assert_equal "last", seen.last
          end
        end
      end
    end
  end

  def test_a_reset_in_the_block_of_each_leaves_nothing_of_the_bytes_before
    unpacker = Manypack::Unpacker.new
    100.times { unpacker.feed("\x01".b + "\xD9\xC8".b + ("s" * 200)) }
    seen = []
    unpacker.each { |object| seen << object && unpacker.reset }
    assert_equal [1], seen
    assert_equal [2, "y"], unpacker.feed("\x02\xA1y").each.to_a
  end

  private

  # A number, a str that the first piece breaks off in, then small messages.
  def pieces(size)
    text = Manypack.pack("t" * size)
    ["\x01".b + text[0, size / 2], text[(size / 2)..], "\x02\xA1y".b, "\x03\x92\xC0\xA1z".b, "\x81\xA1k\x04\xA4last".b]
  end

  def outcomes_of_reads(unpacker, call)
    outcomes(unpacker, call) { |take| loop { take.call(unpacker.read) } }
  end

  def outcomes_of_each(unpacker, call, piece = nil)
    outcomes(unpacker, call) { |take| piece ? unpacker.feed_each(piece, &take) : unpacker.each(&take) }
  end

  # The objects, what the call answers after each of the first three, how it ends, and what is there afterwards.
  def outcomes(unpacker, call)
    seen = []
    taken = 0
    yield(lambda do |object|
      seen << object
      seen << outcome { call.call(unpacker) } if (taken += 1) <= 3
    end)
  rescue EOFError
    seen << left_in(unpacker)
  rescue StandardError => e
    seen << e.class
  else
    seen << left_in(unpacker)
  end

  def left_in(unpacker)
    outcome { unpacker.buffer.to_s }
  end

  def outcome
    yield
  rescue StandardError => e
    e.class
  end

  def over_an_open_pipe(method, pieces)
    IO.pipe(binmode: true) do |reader, writer|
      reader.singleton_class.undef_method(:readpartial) if method == :read
      feeding = Thread.new { pieces.each { |piece| writer.write(piece) } }
      Timeout.timeout(20) { yield Manypack::Unpacker.new(reader) }
      feeding.join
    end
  end
end

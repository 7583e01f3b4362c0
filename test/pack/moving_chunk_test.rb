# frozen_string_literal: true

# A chunk of 256 to 600 bytes is a String that lies in its slot, which compaction moves: no method may go on in the old
# slot after an allocation of its own.
require "test_helper"
require "support/program"

class MovingChunkTest < Minitest::Test
  include ProgramHelper

  # In a process of its own, whose heap is so small that a collection at every allocation takes no time.
  PROGRAM = <<~'RUBY'
    require "stringio"

    # Objects that make a method allocate with bytes of them still to come, from which a stale slot would show.
    NESTED = (("\x91".b * 60) + "\xC0".b + ("\x91".b * 60) + "\xDA\x00\xC8".b + ("z" * 200)).freeze
    MAP = Manypack.pack({ "k" * 40 => ["v" * 50, 2**64 - 1, 1.5e300], "l" => { "m" * 60 => "n" * 90 }, "e" => 1 }).freeze
    WIDE = Manypack.pack(Array.new(60) { |i| "s#{i}" }).freeze
    REFUSED = ("\x93".b + ("\x91".b * 60) + "\xD4\x05".b + ("x" * 250) + "\x01".b).freeze # an ext type nobody registered

    # In one chunk, and in several that break inside of an object.
    STREAMS = [
      [NESTED, NESTED + "\x07".b], [MAP + MAP, WIDE], [WIDE + MAP], [REFUSED, "\x07\xA1a".b + ("\x08" * 300)],
      [NESTED[0, 256], NESTED[256..] + NESTED, "\x07".b * 256], [MAP + MAP[0, 150], MAP[150..] + MAP, WIDE],
      [MAP + WIDE[0, 99], WIDE[99..] + MAP + MAP]
    ]

    CALLS = {
      read: ->(u) { u.read }, unpack: ->(u) { u.unpack }, full_unpack: ->(u) { u.full_unpack }, skip: ->(u) { u.skip },
      skip_nil: ->(u) { u.skip_nil }, read_array_header: ->(u) { u.read_array_header }, read_map_header: ->(u) { u.read_map_header },
      each: ->(u) { u.each.to_a }, feed: ->(u) { u.feed("\x05\xA1f").read }, feed_each: ->(u) { u.feed_each("\xC3\x01").to_a },
      feed_reference: ->(u) { u.feed_reference("r" * 300).read }, reset: ->(u) { u.reset },
      buffer_read: ->(u) { u.buffer.read(130) }, buffer_read_all: ->(u) { u.buffer.read_all(130) },
      buffer_skip: ->(u) { u.buffer.skip(20) }, buffer_skip_all: ->(u) { u.buffer.skip_all(20) && u.read },
      buffer_to_s: ->(u) { u.buffer.to_s }, buffer_to_a: ->(u) { u.buffer.to_a }, buffer_write: ->(u) { u.buffer.write("w" * 300) },
      buffer_write_to: ->(u) { u.buffer.write_to(out = StringIO.new("".b)) && out.string }
    }

    def outcome
      yield
    rescue StandardError => e
      [e.class, e.message]
    end

    # One call, what the next two find, and the bytes that are left.
    def outcomes(unpacker)
      [outcome { yield unpacker }, outcome { unpacker.read }, outcome { unpacker.skip }, outcome { unpacker.buffer.to_s }]
    end

    def fed(pieces)
      pieces.inject(Manypack::Unpacker.new) { |unpacker, piece| unpacker.feed(piece.dup) }
    end

    # An Unpacker behind pages of slots that are free, so that the next compaction moves its chunks there. In a Fiber,
    # whose machine stack is gone afterwards and pins nothing.
    def fed_where_chunks_move(pieces)
      Fiber.new do
        [280, 500].each { |size| Array.new(400) { "h".b * size } }
        fed(pieces)
      end.resume
    end

    # Compaction by itself only here: with Ruby 3.1 it now and then moves a String that a core method has in hand, with no
    # extension loaded, and the thousands of Strings above are where it met one.
    def stressed
      GC.auto_compact = true if GC.respond_to?(:auto_compact=)
      GC.stress = true
      yield
    ensure
      GC.stress = false
      GC.auto_compact = false if GC.respond_to?(:auto_compact=)
    end
  RUBY

  SMALL_HEAP = { "RUBYOPT" => "--disable-gems" }.freeze

  def test_every_method_on_chunks_that_move_does_what_it_does_on_others
    assert_program <<~RUBY, "140 calls", SMALL_HEAP
      #{PROGRAM}
      calls = STREAMS.product(CALLS.to_a).each_with_index do |(pieces, (name, call)), i|
        expected = outcomes(fed(pieces), &call)
        actual = outcomes(fed_where_chunks_move(pieces)) { |unpacker| stressed { call.call(unpacker) } }
        puts "\#{name} of stream \#{i / CALLS.size}: \#{actual.inspect}" if actual != expected
      end
      puts "\#{calls.size} calls"
    RUBY
  end

  def test_skips_that_deepen_their_walk_end_where_the_object_does
    assert_program <<~RUBY, "263", SMALL_HEAP
      #{PROGRAM}
      left = Array.new(50) do
        unpacker = fed_where_chunks_move([NESTED])
        stressed { unpacker.skip }
        unpacker.buffer.size
      end
      puts left.uniq
    RUBY
  end
end

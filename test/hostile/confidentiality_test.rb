# frozen_string_literal: true

# Confidentiality: no byte of one message, buffer or freed String reaches another.
require_relative "attacks"
require "objspace"
require "stringio"

module Hostile
  class ConfidentialityTest < Minitest::Test
    include Attacks

    # What must never come out; and sizes on both sides of every window, slot and chunk.
    CANARY = "CANARY"
    SIZES = [0, 1, 7, 8, 23, 24, 31, 32, 255, 256, 639, 640, 1_023, 1_024, 4_095, 4_096, 4_097, 16_383, 16_384, 65_535, 65_536, 262_144, 524_289].freeze

    def test_22_no_byte_of_one_buffer_reaches_another_and_results_are_exactly_sized
      SIZES.each do |size|
        poison
        text = "x" * size
        packed = Manypack.pack([text, { text => text.b }, 2**64 - 1, 1.5])
        assert_operator packed.bytesize, :<=, (size * 3) + 40
        streamed = Manypack::Packer.new.write([text, { text => text.b }, 2**64 - 1, 1.5])
        assert_equal packed, streamed.to_s
        poison
        [packed, streamed.to_s, streamed.to_a.join, streamed.buffer.read, io_of(text)].each { |output| refute_includes output, CANARY }
        objects = [Manypack.unpack(packed), Manypack::Unpacker.new.feed(packed).read, fed_in_pieces(packed)]
        objects.each { |object| assert_equal [text, { text => text.b }, 2**64 - 1, 1.5], object }
        assert_equal size + head_size(size), Manypack.pack(text).bytesize
      end
    end

    def test_22_streams_that_take_turns_mix_no_bytes
      streams = Array.new(8) { |i| [Manypack::Unpacker.new, (65 + i).chr, Manypack.pack([(65 + i).chr * 5_000, { (65 + i).chr * 40 => (65 + i).chr * 100 }])] }
      20.times do |round|
        streams.each { |unpacker, _, message| unpacker.feed(message.byteslice(0, 100 + (round * 250))) }
        streams.each { |unpacker, _, _| assert_raises(EOFError) { unpacker.read } }
        GC.start if round % 5 == 0
        streams.each do |unpacker, letter, message|
          assert_equal [letter], unpacker.feed(message.byteslice((100 + (round * 250))..)).read.flatten.map { |part| part.is_a?(Hash) ? part.to_a : part }.flatten.join.chars.uniq
        end
      end
    end

    # What gave away other buffers in the msgpack gem: a Buffer that was cleared in the middle, and pages shared by chunks.
    def test_22_a_buffer_that_is_cleared_read_in_part_or_closed_shows_nothing_of_what_it_had_or_of_another
      [10, 4_096, 100_000].each do |size|
        buffer = Manypack::Buffer.new
        buffer << (CANARY * size)
        buffer.read(5)
        buffer.clear
        other = Manypack::Buffer.new << ("o" * size)
        assert_nil buffer.read(1)
        assert_equal "", buffer.to_s
        buffer << "new"
        assert_equal "new", buffer.read_all
        assert_equal "o" * size, other.to_s
        io = StringIO.new("i" * size)
        reading = Manypack::Buffer.new(io)
        assert_equal "i" * (size / 2), reading.read_all(size / 2)
        into = +CANARY * 10
        reading.read_all(size / 4, into)
        assert_equal "i" * (size / 4), into
      end
      packer = Manypack::Packer.new.write(CANARY * 1_000)
      packer.reset
      refute_includes packer.write("a" * 7_000).to_s, CANARY
    end

    def test_23_slices_never_alias_a_string_that_can_change
      [10, 1_023, 1_024, 5_000, 1_000_000].each do |size|
        { "not frozen" => ->(message) { message }, "frozen" => ->(message) { message.freeze } }.each_value do |prepare|
          message = prepare.call(Manypack.pack(["head", "t" * size]))
          before = message.dup
          [Manypack.unpack(message), Manypack::Unpacker.new.feed(message).read, Manypack::Unpacker.new(StringIO.new(message)).read].each do |list|
            list.last.replace("changed" * 3)
            list.last.setbyte(0, 0)
            assert_equal before, message
          end
          kept = [Manypack.unpack(message), Manypack::Unpacker.new.feed(message).read]
          next if message.frozen?

          message.bytesize.times { |i| message.setbyte(i, 0x21) } if size < 10_000
          message.setbyte(message.bytesize - 1, 0x21)
          kept.each { |list| assert_equal "t" * size, list.last }
        end
      end
    end

    def test_23_a_slice_of_8_bytes_does_not_keep_a_message_of_100_mb_alive
      held = Integer(run_ruby(<<~'RUBY'))
        message = Manypack.pack([("x" * 100_000_000).b, "8 bytes!", "s" * 2_000])
        slices = [Manypack.unpack(message), Manypack::Unpacker.new.feed(message).read, Manypack::Unpacker.new.feed(message.freeze).read].flat_map { |list| list.last(2) }
        abort "wrong" unless slices.uniq.size == 2
        message = nil
        message.inspect * 2
        5.times { GC.start }
        GC.compact
        print kilobytes("VmRSS")
      RUBY
      figure("resident after 100 MB messages of which slices are kept", "KB", held)
      assert_operator held, :<, 300_000
    end

    private

    # Frees Strings of many sizes that are full of canaries.
    def poison
      SIZES.first(20).each { |size| Array.new(5) { CANARY * (size / CANARY.size) } }
      GC.start
    end

    def fed_in_pieces(packed)
      unpacker = Manypack::Unpacker.new
      object = nil
      0.step(packed.bytesize - 1, 1_000) { |at| unpacker.feed_each(packed.byteslice(at, 1_000)) { |found| object = found } }
      object
    end

    def io_of(text)
      StringIO.new("".b).tap { |io| Manypack.pack([text, { text => 1 }], io) }.string
    end

    def head_size(size)
      case size
      when 0..31 then 1
      when 32..255 then 2
      when 256..65_535 then 3
      else 5
      end
    end
  end
end

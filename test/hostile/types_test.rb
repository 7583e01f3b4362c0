# frozen_string_literal: true

# Types and values: every one has a result or an error that is specified.
#
# HOSTILE_HUGE=1   also packs a String of 2^32 bytes, which takes 4 GB
require_relative "attacks"

module Hostile
  class TypesTest < Minitest::Test
    include Attacks

    def test_24_a_recursive_ext_reads_no_byte_beyond_its_body_and_all_of_it
      { "92 d4 01 01 02 03" => 2, "93 d5 01 01 02 03 04" => 2 }.each do |message, reads|
        [1, 2, 3].each do |count|
          factory = Manypack::Factory.new
          factory.register_type(1, Wrapped, packer: nil, unpacker: ->(body) { Array.new(count) { body.read } }, recursive: true)
          size = bytes(message).getbyte(1) == 0xD4 ? 1 : 2
          unpacker = factory.unpacker.feed(bytes("#{message} 06"))
          if count == size
            assert_equal (1..size).to_a, unpacker.read.first
          else
            assert_raises(Manypack::MalformedFormatError, "#{reads} #{count}") { unpacker.read }
          end
          3.times { outcome { unpacker.read } }
          unpacker.reset
          assert_equal 5, unpacker.feed("\x05").read
        end
      end
      [2, 3].each do |skips|
        greedy = Manypack::Factory.new
        greedy.register_type(1, Wrapped, packer: nil, unpacker: ->(body) { Array.new(skips) { body.skip } }, recursive: true)
        got = outcome { greedy.load("\x92\xD5\x01\x01\x02\x06".b) }
        assert_equal skips == 2 ? [[nil, nil], 6] : Manypack::MalformedFormatError, got
      end
      assert_raises(Manypack::MalformedFormatError) { recursive_factory.load("\x92\xC7\x02\x01\xA5a\x06".b) }
    end

    def test_25_exts_of_every_type_and_length_and_timestamps_of_every_layout_have_defined_results
      (-128..127).each do |type|
        [0, 1, 2, 3, 4, 8, 12, 16, 255, 256].each do |length|
          message = "\xC8".b + [length, type].pack("nc") + ("e" * length)
          assert_raises(Manypack::UnknownExtTypeError) { Manypack.unpack(message) }
          assert_equal Manypack::ExtensionValue.new(type, "e" * length), Manypack.unpack(message, allow_unknown_ext: true)
        end
      end
      (0..20).each do |length|
        message = "\xC7".b + [length, -1].pack("Cc") + ("\0" * length)
        if [4, 8, 12].include?(length)
          assert_equal Time.at(0), Manypack.unpack(message, timestamp: true)
        else
          assert_raises(Manypack::MalformedFormatError) { Manypack.unpack(message, timestamp: true) }
        end
      end
      nsec = { 0 => true, 999_999_999 => true, 1_000_000_000 => false, (2**30) - 1 => false, (2**32) - 1 => false }
      nsec.each do |value, valid|
        long = "\xC7\x0C\xFF".b + [value, 1].pack("Nq>")
        result = outcome { Manypack.unpack(long, timestamp: true) }
        valid ? assert_equal(value, result.nsec) : assert_equal(Manypack::MalformedFormatError, result)
        short = "\xD7\xFF".b + [(value << 34) | 1].pack("Q>") if value < 2**30
        result = outcome { Manypack.unpack(short, timestamp: true) } if short
        valid ? assert_equal(value, result.nsec) : assert_equal(Manypack::MalformedFormatError, result) if short
      end
      [-(2**63), (2**63) - 1].each do |seconds|
        message = "\xC7\x0C\xFF".b + [0, seconds].pack("Nq>")
        result = outcome { Manypack.unpack(message, timestamp: true) }
        assert result == RangeError || result.to_i == seconds, result.inspect
        assert_equal Manypack::MalformedFormatError, outcome { Manypack.unpack(message, timestamp: true, untrusted: true) }
      end
    end

    def test_26_invalid_utf8_nul_bytes_surrogates_and_strings_of_2_to_the_32_bytes_have_defined_results
      ["\xFF", "\xC3\x28", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xC0\x80", "a\0b", "\0", "\xE2\x82"].each do |text|
        text = text.dup.force_encoding("UTF-8")
        [Manypack.pack(text), Manypack.pack({ text => text }), Manypack.pack([text])].each do |message|
          assert_equal message, Manypack.pack(Manypack.unpack(message))
          strict = outcome { Manypack.unpack(message, utf8: :strict) }
          text.valid_encoding? ? refute_kind_of(Class, strict) : assert_equal(Manypack::MalformedFormatError, strict)
        end
        symbolized = outcome { Manypack.unpack(Manypack.pack({ text => 1 }), symbolize_keys: true) }
        text.valid_encoding? ? assert_equal({ text.to_sym => 1 }, symbolized) : assert_equal(Manypack::MalformedFormatError, symbolized)
      end
      [-> { Manypack::Packer.new.write_bin_header(2**32) }, -> { Manypack::Packer.new.write_array_header(2**32) },
       -> { Manypack::Packer.new.write_map_header(2**32) }].each { |work| assert_raises(RangeError) { work.call } }
      assert_equal "ArgumentError", run_ruby(HUGE) if ENV["HOSTILE_HUGE"]
    end

    # Takes 4 GB of memory, which not every machine has to spare.
    HUGE = 'print outcome { Manypack.pack("\0" * (2**32)) }'

    def test_27_integers_at_every_edge_bignums_nan_payloads_negative_zero_and_subnormals_round_trip
      edges = [5, 7, 8, 15, 16, 31, 32, 61, 62, 63, 64].flat_map { |bits| [-2, -1, 0, 1].flat_map { |off| [(2**bits) + off, -(2**bits) + off] } }
      edges.select { |integer| integer.between?(-(2**63), (2**64) - 1) }.each { |integer| assert_equal integer, Manypack.unpack(Manypack.pack(integer)) }
      [2**64, -(2**63) - 1, 2**100].each { |integer| assert_raises(RangeError) { Manypack.pack(integer) } }
      assert_equal "05", hex(Manypack.pack((2**70) >> 70 | 5 & 7))
      assert_equal "cf 00 00 00 01 00 00 00 00", hex(Manypack.pack((2**96) >> 64))
      floats = [0.0, -0.0, Float::INFINITY, -Float::INFINITY, Float::MIN, Float::MAX, Float::DIG.to_f, 5e-324, -5e-324, 1.0 / 3]
      floats.each { |float| assert_equal [float].pack("G"), [Manypack.unpack(Manypack.pack(float))].pack("G") }
      [0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000123, 0xFFFFFFFFFFFFFFFF].each do |bits|
        message = "\xCB".b + [bits].pack("Q>")
        assert_equal message, Manypack.pack(Manypack.unpack(message))
      end
      [0x00000001, 0x80000001, 0x007FFFFF, 0x80000000, 0x7F800000, 0x7F7FFFFF].each do |bits|
        float = Manypack.unpack("\xCA".b + [bits].pack("N"))
        assert_equal [bits].pack("N"), [float].pack("g")
        assert_equal "\xCA".b + [bits].pack("N"), Manypack::Packer.new.write_float32(float).to_s
      end
    end

    # No id in a message means another object of it: what is there twice is built twice.
    def test_28_there_are_no_references_or_records_to_abuse
      first, second = Manypack.unpack("\x92\x91\x01\x91\x01".b)
      refute_same first, second
      (-128..127).each { |type| assert_raises(Manypack::UnknownExtTypeError) { Manypack.unpack("\x92\x91\x01\xD4".b + [type, 0].pack("cC")) } }
      ["\xD4\x72\x40".b, "\xC7\x05\x69\0\0\0\0\0".b, "\xD6\x70\0\0\0\x01".b].each do |records| # those of msgpackr
        assert_raises(Manypack::UnknownExtTypeError) { Manypack.unpack(records) }
        assert_kind_of Manypack::ExtensionValue, Manypack.unpack(records, allow_unknown_ext: true)
      end
    end

    def test_29_only_registered_types_are_instantiated_and_never_a_class_that_the_data_names
      plain = [NilClass, TrueClass, FalseClass, Integer, Float, String, Array, Hash, Symbol, Time, Manypack::ExtensionValue]
      names = ["Hostile::TypesTest", "Object", "Kernel", "json_class", "^o", "Marshal", "\x04\bo:\vObject\0", "--- !ruby/object:Object {}"]
      message = Manypack.pack(names.to_h { |name| [name, [name, name.to_sym, Manypack::ExtensionValue.new(1, name), { "json_class" => name, "$type" => name, "^o" => name }]] })
      [{}, { symbolize_keys: true }, { freeze: true }, { shareable: true }].each do |options|
        assert_empty classes_of(Manypack.unpack(message, allow_unknown_ext: true, **options)) - plain
      end
      random = Random.new(29)
      5_000.times do
        object = outcome { Manypack.unpack(random.bytes(40), allow_unknown_ext: true, timestamp: true) }
        assert_empty classes_of(object) - plain unless object.is_a?(Class)
      end
    end

    private

    def classes_of(object)
      inner = case object
              when Array then object
              when Hash then object.to_a
              else []
              end
      [object.class, *inner.flat_map { |child| classes_of(child) }].uniq
    end
  end
end

# frozen_string_literal: true

# Memory and time: bounded by what arrived, for every input.
require_relative "attacks"
require "objspace"
require "tmpdir"
require "zlib"

module Hostile
  class MemoryAndTimeTest < Minitest::Test
    include Attacks

    # Bytes of memory for each byte of a flood, at most, as SECURITY.md says, and the limits that end one.
    FLOODS = { "\x80" => 230, "\x90" => 80, "\xA0" => 80, "\xC0" => 40 }.freeze
    FLOOD_LIMITS = { max_objects: 1_000, max_array_size: 1_000, max_bytes: 1_000, untrusted: true }.freeze

    def test_09_floods_of_empty_objects_amplify_as_documented_and_limits_stop_them_with_an_error
      FLOODS.each do |byte, ratio|
        grown = memory("Manypack.unpack(array_of(#{byte.b.inspect}.b, 1 << 20))").fdiv(1 << 20)
        figure("flood of #{byte.b.inspect}, 1 MB", "bytes of memory per byte", grown)
        assert_operator grown, :<, ratio
        assert_includes File.read(File.join(ROOT, "SECURITY.md")), "at most #{ratio}"
        flood = array_of(byte, 1 << 20)
        FLOOD_LIMITS.each do |option, value|
          assert_raises(Manypack::LimitError) { Manypack::Unpacker.new(option => value).feed(flood).read }
          before = GC.stat(:total_allocated_objects)
          assert_raises(Manypack::LimitError) { Manypack.unpack(flood, option => value) }
          assert_operator GC.stat(:total_allocated_objects) - before, :<, 1_000
        end
      end
    end

    # A key with its number, packed: the attack's by name, and an honest one of the same size and shape, which collides with none.
    FLOAT = ->(i) { "\xCB".b + [i + 0.1].pack("G") }
    EXT = ->(type) { ->(i) { "\xD6".b + type.chr.b + [i].pack("N") } }
    IN = ->(head, key, tail = "") { ->(i) { head.b + key.call(i) + tail.b } }
    SAME = ->(key) { ->(_i) { key.b } }
    FOUR = ->(i) { NAN + NUMBER.call(i / 4) }
    NUMBER = ->(i) { "\xCE".b + [i].pack("N") }
    FLOAT_AND_NUMBER = ->(i) { FLOAT.call(0) + NUMBER.call(i) }

    KEYS = {
      "NaN" => [SAME.call(NAN), FLOAT, 320_000], "[NaN]" => [SAME.call("\x91".b + NAN), IN.call("\x91", FLOAT), 352_000],
      "[[NaN]]" => [SAME.call("\x91\x91".b + NAN), IN.call("\x91\x91", FLOAT), 384_000],
      "{NaN => nil}" => [SAME.call("\x81".b + NAN + "\xC0".b), IN.call("\x81", FLOAT, "\xC0"), 384_000],
      "[NaN, n], 4 of each" => [IN.call("\x92", FOUR), IN.call("\x92", FLOAT_AND_NUMBER), 480_000],
      "30 arrays around NaN and n, 4 of each" => [IN.call("#{"\x91" * 29}\x92", FOUR), IN.call("#{"\x91" * 29}\x92", FLOAT_AND_NUMBER), 480_000],
      "[1] again and again" => [SAME.call("\x91\xCE\0\0\0\x01".b), IN.call("\x91", NUMBER), 200_000],
      "a str again and again" => [SAME.call("\xA8key 0000"), ->(i) { format("\xA8key %04d".b, i % 10_000) }, 200_000],
      "0.0 and -0.0" => [->(i) { "\xCB".b + [i.even? ? 0.0 : -0.0].pack("G") }, FLOAT, 200_000],
      "Integers 2^32 apart" => [->(i) { "\xCF".b + [i << 32].pack("Q>") }, ->(i) { "\xCF".b + [i].pack("Q>") }, 200_000],
      "exts of a class with #hash 1" => [EXT.call(2), EXT.call(4), 200_000], "the same in arrays" => [IN.call("\x91", EXT.call(2)), IN.call("\x91", EXT.call(4)), 200_000],
      "exts with #hash 1 that are all eql?" => [EXT.call(3), EXT.call(4), 200_000],
      "30 arrays around each" => [IN.call("\x91" * 30, NUMBER), IN.call("", NUMBER, "\x91" * 30), 200_000],
      "120 arrays around each" => [IN.call("\x91" * 120, NUMBER), IN.call("", NUMBER, "\x91" * 120), 200_000],
      "wide arrays in keys of keys of keys" => [IN.call("#{"\x81" * 3}\xDC\x01\0", NUMBER, "\x01" * 258),
                                                IN.call("\xDC\x01\x08", NUMBER, "\x01" * 263), 200_000]
    }.freeze

    # What users may have for keys.
    Good = Struct.new(:body) do
      def hash = body.hash
    end
    Bad = Struct.new(:body) do
      def hash = 1
    end
    Same = Struct.new(:body) do
      def hash = 1

      def eql?(_other) = true
    end

    def test_10_keys_that_collide_decode_in_time_linear_in_the_input_or_stop_at_a_limit
      factory = Manypack::Factory.new
      factory.register_type(2, Bad, packer: nil, unpacker: ->(body) { Bad.new(body) })
      factory.register_type(3, Same, packer: nil, unpacker: ->(body) { Same.new(body) })
      factory.register_type(4, Good, packer: nil, unpacker: ->(body) { Good.new(body) })
      KEYS.each do |name, (attacking, usual, bytesize)|
        count = bytesize / (attacking.call(0).bytesize + 1)
        attack, honest = [attacking, usual].map { |key| map_of(Array.new(count, &key)) }
        assert_time("keys: #{name}, #{attack.bytesize} bytes", attack: -> { outcome { factory.load(attack) } }, honest: -> { factory.load(honest) })
      end
      quadratic = map_of(Array.new(32_000) { |_i| NAN })
      assert_equal :max_same_hash, assert_raises(Manypack::LimitError) { Manypack.unpack(quadratic) }.limit
    end

    def test_10_the_key_cache_is_bounded_and_cannot_be_degraded
      flood = array_of("", 0)
      attack = Manypack.pack(Array.new(20_000) { |i| { format("k%07d", i) => 1 } })
      usual = Manypack.pack(Array.new(20_000) { { "k0000000" => 1 } })
      assert_time("keys: 20,000 distinct ones in maps of one", attack: -> { Manypack.unpack(attack) }, honest: -> { Manypack.unpack(usual) })
      assert_time("keys: one, after a flood of others", attack: -> { Manypack.unpack(usual) }, honest: -> { Manypack.unpack(usual.dup) }, max: 3)
      assert_empty Manypack.unpack(flood)
      grown = memory('10.times { |n| Manypack.unpack(Manypack.pack(Array.new(20_000) { |i| { "#{n} #{i}" => 1 } })); GC.start }; nil')
      assert_operator grown, :<, 60_000_000
    end

    def test_10_the_value_cache_is_bounded_and_cannot_be_degraded
      usual = Manypack.pack(Array.new(20_000) { "v0000000" })
      [{ shareable: true }, { freeze: true }].each do |options|
        attack = Manypack.pack(Array.new(20_000) { |i| format("v%07d", i) })
        twice = Manypack.pack(Array.new(20_000) { |i| format("v%07d", i / 2 % 10_000) })
        assert_time("values: 20,000 distinct ones, #{options}", attack: -> { Manypack.unpack(attack, options) }, honest: -> { Manypack.unpack(attack, freeze: true) })
        assert_time("values: each twice, #{options}", attack: -> { Manypack.unpack(twice, options) }, honest: -> { Manypack.unpack(attack, freeze: true) })
        assert_time("values: one, after a flood, #{options}", attack: -> { Manypack.unpack(usual, options) }, honest: -> { Manypack.unpack(usual.dup, options) }, max: 3)
        grown = memory("10.times { |n| Manypack.unpack(Manypack.pack(Array.new(20_000) { |i| n.to_s + i.to_s * 9 }), #{options}); GC.start }; nil")
        assert_operator grown, :<, 60_000_000
      end
    end

    # Beside maps that are too large for a template, pair by pair.
    def test_10_hash_templates_are_bounded_and_cannot_be_degraded
      row = ->(i, size) { (0...size).to_h { |key| [format("k%06d %03d", i, key), 1] } }
      large = Manypack.pack(Array.new(120) { |i| row.call(i, 300) })
      attack, twice = [1, 2].map { |times| Manypack.pack(Array.new(3_000) { |i| row.call(i / times, 12) }) }
      turns = Manypack.pack(Array.new(3_000) { |i| row.call(i % 50, 12) })
      assert_time("rows: each with other keys", attack: -> { Manypack.unpack(attack) }, honest: -> { Manypack.unpack(large) })
      assert_time("rows: the same keys twice", attack: -> { Manypack.unpack(twice) }, honest: -> { Manypack.unpack(large) })
      assert_time("rows: more lists of keys than there are templates", attack: -> { Manypack.unpack(turns) }, honest: -> { Manypack.unpack(large) })
      grown = memory('10.times { |n| 2.times { Manypack.unpack(Manypack.pack(Array.new(1_000) { |i| (0...20).to_h { |key| ["#{n} #{i} #{key}", 1] } })) }; GC.start }; nil')
      assert_operator grown, :<, 60_000_000
    end

    # Floods of names, round after round, none of which is used again; prints by how many KB memory grew after the first.
    NAMES = <<~'RUBY'
      flood = ->(round) { map_of(Array.new(50_000) { |i| Manypack.pack("r#{round} n#{i}") }) }
      rounds = Array.new(8) do |round|
        Manypack.unpack(flood.call(round), OPTIONS)
        GC.start
        [kilobytes("VmRSS"), Symbol.all_symbols.size]
      end
      symbols = rounds.map(&:last)
      abort "symbols stay: #{symbols}" if symbols.last - symbols.first > 50_000
      print rounds.last.first - rounds[2].first
    RUBY

    def test_11_symbol_floods_and_interned_string_floods_have_bounded_cost_and_leave_nothing_behind
      ["{ symbolize_keys: true }", "{ freeze: true }"].each do |options|
        grown = Integer(run_ruby("OPTIONS = #{options}\n#{NAMES}"))
        figure("flood of 50,000 names, 5 more rounds, #{options}", "KB more", grown)
        assert_operator grown, :<, 30_000
      end
      names = map_of(Array.new(50_000) { |i| Manypack.pack("name #{i}") })
      usual = honest(names.bytesize)
      [{ symbolize_keys: true }, { freeze: true }].each_with_index do |options, i|
        round = 0
        fresh = lambda do
          round += 1
          map_of(Array.new(10_000) { |n| Manypack.pack("#{i} #{round} #{n}") })
        end
        messages = Array.new(9) { fresh.call }
        assert_time("10,000 names that are new, #{options.keys.first}", attack: -> { Manypack.unpack(messages.pop || messages.first || names, options) },
                                                                        honest: -> { Manypack.unpack(usual, options) })
      end
    end

    # By kind, the most that it has of bytes.
    SLOW = {
      "str" => ->(size) { Manypack.pack("s" * size) }, "array" => ->(size) { Manypack.pack([1] * size) },
      "ext" => ->(size) { HostileMessages.ext("e" * size) }, "map key" => ->(size) { Manypack.pack({ "k" * size => 1 }) },
      "depth" => ->(size) { ("\x91".b * size) + "\x01" }
    }.freeze

    # What is in a key is hashed once for each key around it, and once more for the outermost one where hashes may collide.
    def test_10_an_object_in_nested_keys_is_hashed_at_most_so_many_times_as_documented
      hashed = 0
      counted = Class.new { define_method(:hash) { hashed += 1 } }
      factory = Manypack::Factory.new
      factory.register_type(1, counted, packer: nil, unpacker: ->(_body) { counted.new })
      key = "\x81".b + ("\x81".b * 3) + ("\x91".b * 28) + "\xD4\x01x".b + ("\x01".b * 4)
      factory.load("\xDC\0\x64".b + (key * 100))
      assert_equal 4, hashed / 100
      hashed = 0
      factory.load("\xDE\0\x64".b + (key.byteslice(1..) * 100))
      assert_operator hashed / 100, :<=, 5
    end

    def test_10_containers_in_keys_of_keys_cost_no_more_than_documented
      key = ("\x81".b * 3) + ("\x91".b * 27) + ("\x01".b * 4)
      attack = map_of([key] * 10_000)
      assert_time("27 arrays in keys of keys of keys, all equal", attack: -> { Manypack.unpack(attack) },
                                                                  honest: -> { Manypack.unpack(honest(attack.bytesize)) }, max: 600)
      assert_includes File.read(File.join(ROOT, "SECURITY.md")), "300 times"
      assert_raises(Manypack::LimitError) { Manypack.unpack(attack, untrusted: true, max_map_size: 10_000) }
    end

    def test_12_slow_feed_of_single_bytes_is_linear_for_str_array_ext_and_map_key
      usual = "\x01" * 100_000
      SLOW.each do |name, message|
        slow = message.call(100_000)
        assert_time("100,000 feeds of 1 byte: #{name}", attack: -> { feed_bytes(slow) }, honest: -> { feed_bytes(usual) }, runs: 1)
      end
      million = Manypack.pack("s" * 1_000_000)
      assert_time("1,000,000 feeds of 1 byte: str", attack: -> { feed_bytes(million) }, honest: -> { 10.times { feed_bytes(usual) } }, runs: 1)
    end

    # Answers read with one byte, however many it is asked for.
    OneByteReads = Struct.new(:bytes, :at) do
      def read(_size)
        byte = bytes.byteslice(at, 1)
        self.at += 1
        byte unless byte.empty?
      end
    end

    def test_12_an_io_that_answers_one_byte_at_a_time_costs_no_more_in_a_deep_object
      deep = ("\x91".b * 90_000) + "\xC0".b
      flat = ("\x91\xC0".b * 45_000) + "\xC0".b
      { "read" => ->(unpacker) { unpacker.read }, "skip" => ->(unpacker) { unpacker.skip } }.each do |name, call|
        attack = -> { call.call(Manypack::Unpacker.new(OneByteReads.new(deep, 0), max_depth: 100_000)) }
        honest = lambda do
          unpacker = Manypack::Unpacker.new(OneByteReads.new(flat, 0))
          45_001.times { call.call(unpacker) }
        end
        assert_time("90,000 reads of 1 byte, 90,000 deep: #{name}", attack: attack, honest: honest, runs: 1)
      end
    end

    def test_13_a_bigint_ext_of_a_megabyte_is_linear
      factory = Manypack::Factory.new
      factory.register_type(1, Integer, packer: Manypack::Bigint.method(:to_msgpack_ext), unpacker: Manypack::Bigint.method(:from_msgpack_ext),
                                        oversized_integer_extension: true)
      attack = ext("\x00#{"\xFE\xDC\xBA\x98" * 262_144}".b)
      assert_equal 8_388_608, factory.load(attack).bit_length
      usual = honest(attack.bytesize)
      assert_time("a bigint of 1 MB", attack: -> { factory.load(attack) }, honest: -> { factory.load(usual) })
      assert_raises(Manypack::LimitError) { factory.load(attack, untrusted: true) }
    end

    # A file is decompressed piece by piece, so a limit ends it long before a bomb has all of its size.
    def test_14_a_compressed_file_has_the_limits_of_any_other
      Dir.mktmpdir do |dir|
        path = File.join(dir, "bomb.gz")
        File.binwrite(path, Zlib.gzip("\xDC\x03\xE8".b + (("\xC5\x80\x00".b + ("\0" * 0x8000)) * 1_000))) # 32 MB in 50 KB
        [-> { Manypack.load_file(path, untrusted: true) }, -> { Manypack.foreach(path, max_bytes: 1_048_576).first }].each do |read|
          error = assert_raises(Manypack::LimitError) { read.call }
          assert_equal :max_bytes, error.limit
          assert_operator error.value, :<, 2_000_000
        end
      end
    end

    # Nothing else in Manypack makes bytes longer.
    def test_14_there_is_no_other_compression_to_bomb_with
      name_of = Module.instance_method(:name) # a class of another test may have a name of its own
      names = ObjectSpace.each_object(Module).flat_map do |mod|
        name = name_of.bind_call(mod)
        next [] unless name&.match?(/\AManypack\b(?!::(?:Files|Terminal)\b)/)

        [name, *mod.instance_methods(false), *mod.singleton_methods(false)]
      end
      assert_operator names.size, :>, 100
      assert_empty names.grep(/compress|inflate|deflate|gzip|zlib|lz4|zstd|snappy/i)
      [98, 99].each { |type| assert_raises(Manypack::UnknownExtTypeError) { Manypack.unpack("\xC7\x05".b + type.chr + "\xD2\x7F\xFF\xFF\xFF".b) } }
    end

    private

    def feed_bytes(message)
      unpacker = Manypack::Unpacker.new(max_depth: 100_000, allow_unknown_ext: true)
      count = 0
      message.each_char { |byte| unpacker.feed_each(byte) { count += 1 } }
    rescue Manypack::StackError
      count
    end
  end
end

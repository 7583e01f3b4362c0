# frozen_string_literal: true

# Where Manypack and the msgpack gem 1.8.7 part on purpose, or do the same since 1.8.5 or 1.8.6: a test for each of them.
require "test_helper"
require_relative "../interop/msgpack_gem"

class DifferencesTest < Minitest::Test
  Opaque = Class.new
  Point = Struct.new(:x)

  # What a block returns or the class of what it raises.
  def outcome
    yield
  rescue StandardError => e
    e.class
  end

  # Objects, or classes of errors, until the input ends; no more than some.
  def stream(unpacker, count = 6)
    Array.new(count) { outcome { unpacker.read } }.take_while { |object| !(object.is_a?(Class) && object <= EOFError) }
  end

  def unpackers(binary, **options)
    [Manypack::Unpacker.new(options).feed(binary), MessagePack::Unpacker.new(options).feed(binary)]
  end

  def test_01_skip_nil_consumes_the_nil
    ours, theirs = unpackers("\xC0\x01".b).map { |unpacker| [unpacker.skip_nil, unpacker.skip_nil, unpacker.read] }
    assert_equal [true, false, 1], ours
    assert_equal theirs, ours
    unpackers("").each { |unpacker| assert_raises(EOFError) { unpacker.skip_nil } }
  end

  def test_02_skip_passes_over_an_unknown_ext
    ours, theirs = unpackers("\xD4\x05a\x01".b).map { |unpacker| [outcome { unpacker.skip }, outcome { unpacker.read }] }
    assert_equal [nil, 1], ours
    assert_equal MessagePack::UnknownExtTypeError, theirs[0]
  end

  def test_02_skip_calls_no_handler
    called = [Manypack::Unpacker.new, MessagePack::Unpacker.new].map do |unpacker|
      calls = 0
      unpacker.register_type(1) { calls += 1 }
      unpacker.feed("\x91\xD4\x01a".b).skip
      calls
    end
    assert_equal [0, 1], called
  end

  def test_02_skip_goes_on_where_it_stopped
    unpacker = Manypack::Unpacker.new.feed("\x92\x01")
    assert_raises(EOFError) { unpacker.skip }
    assert_nil unpacker.feed("\x02\x03").skip
    assert_equal 3, unpacker.read
  end

  def test_03_an_unknown_ext_is_a_type_error_too
    assert_operator Manypack::UnknownExtTypeError, :<, Manypack::TypeError
    assert_equal Manypack::UnpackError, Manypack::UnknownExtTypeError.superclass
    refute_operator MessagePack::UnknownExtTypeError, :<=, MessagePack::TypeError
  end

  def test_04_types_are_128_below_and_127_above_zero
    [Manypack::Factory.new, MessagePack::Factory.new].each do |factory|
      [-128, 127].each { |type| assert_nil factory.register_type(type, Point, packer: ->(_) { "" }, unpacker: ->(_) { nil }) }
      [-129, 128].each { |type| assert_raises(RangeError) { factory.register_type(type, Point, packer: ->(_) { "" }) } }
    end
  end

  def test_05_small_sizes_of_a_buffer_are_raised_to_a_minimum
    [Manypack::Buffer, MessagePack::Buffer].each do |klass|
      assert_equal "", klass.new(io_buffer_size: 1, read_reference_threshold: 0, write_reference_threshold: 0).to_s
      assert_raises(TypeError) { klass.new(io_buffer_size: "1") }
    end
    assert_raises(RangeError) { Manypack::Buffer.new(io_buffer_size: -1) }
  end

  def test_06_a_callable_is_a_handler
    callable = Class.new { def call(*) = "called" }.new
    packed = [Manypack::Factory.new, MessagePack::Factory.new].map do |factory|
      factory.register_type(1, Point, packer: callable, unpacker: callable)
      [factory.dump(Point.new(1)), factory.load("\xD4\x01a".b)]
    end
    assert_equal packed[1], packed[0]
  end

  def test_07_a_misspelt_option_is_ignored_with_a_warning
    warnings = [Manypack::Factory.new, MessagePack::Factory.new].map do |factory|
      _, warning = capture_io { factory.register_type(1, Integer, { packer: :to_s, oversized_integer_extension_type: true }) }
      assert_raises(RangeError) { factory.dump(2**70) }
      warning
    end
    assert_match(/oversized_integer_extension_type/, warnings[0])
    assert_empty warnings[1]
  end

  def test_08_register_type_internal_is_private
    refute_respond_to Manypack::Packer.new, :register_type_internal
    assert_respond_to MessagePack::Packer.new, :register_type_internal
  end

  def test_09_bigint_is_there_without_a_require
    assert defined?(Manypack::Bigint)
  end

  def test_10_equal_timestamps_are_equal_keys
    ours, theirs = [Manypack::Timestamp, MessagePack::Timestamp].map { |klass| { klass.new(1, 2) => :found }[klass.new(1, 2)] }
    assert_equal :found, ours
    assert_nil theirs
  end

  def test_10_too_many_nanoseconds_are_refused_in_both_directions
    body = [10**9, 0].pack("L>q>")
    assert_raises(Manypack::MalformedFormatError) { Manypack::Timestamp.from_msgpack_ext(body) }
    assert_equal 10**9, MessagePack::Timestamp.from_msgpack_ext(body).nsec
    [-1, 10**9].each do |nsec|
      assert_raises(RangeError) { Manypack::Timestamp.to_msgpack_ext(-1, nsec) }
      assert_equal 12, MessagePack::Timestamp.to_msgpack_ext(-1, nsec).bytesize
    end
  end

  def test_11_negative_counts_are_refused
    %i[write_array_header write_map_header write_bin_header].each do |method|
      [-1, 2**32].each { |count| assert_raises(RangeError) { Manypack::Packer.new.public_send(method, count) } }
    end
    assert_equal "dd ff ff ff ff", hex(MessagePack::Packer.new.write_array_header(-1).to_s)
  end

  def test_12_the_body_of_an_unknown_ext_is_consumed
    ours, theirs = unpackers("\xD4\x01a\x05\x06\x07".b).map { |unpacker| stream(unpacker) }
    assert_equal [Manypack::UnknownExtTypeError, 5, 6, 7], ours
    assert_equal [MessagePack::UnknownExtTypeError] * 2, theirs.first(2)
  end

  def test_12_so_is_the_whole_object_that_it_is_in
    assert_equal [Manypack::UnknownExtTypeError, 5], stream(Manypack::Unpacker.new.feed("\x93\x01\xD4\x01a\x02\x05".b))
  end

  def test_12_so_is_it_after_an_exception_of_a_handler
    unpacker = Manypack::Unpacker.new
    unpacker.register_type(1) { raise IOError }
    assert_equal [IOError, 5], stream(unpacker.feed("\x93\x01\xD4\x01a\x02\x05".b))
  end

  def test_13_a_key_that_cannot_be_a_symbol_is_malformed
    ours, theirs = unpackers("\x81\xA1\xFF\x01".b, symbolize_keys: true).map { |unpacker| outcome { unpacker.read } }
    assert_equal Manypack::MalformedFormatError, ours
    assert_equal EncodingError, theirs
    assert_equal([{ a: 1 }] * 2, unpackers("\x81\xC4\x01a\x01".b, symbolize_keys: true).map(&:read))
  end

  def test_14_a_recursive_body_is_read_to_its_end_and_no_further
    { 1 => "left", 3 => "read past" }.each do |reads, message|
      factory = Manypack::Factory.new
      factory.register_type(1, Point, packer: nil, unpacker: ->(unpacker) { Array.new(reads) { unpacker.read } }, recursive: true)
      error = assert_raises(Manypack::MalformedFormatError) { factory.load("\x92\xD5\x01\x01\x02\x09".b) }
      assert_match(/ext type 1 #{message}/, error.message)
    end
  end

  def test_14_a_recursive_handler_runs_once_when_its_body_is_all_there
    calls = 0
    factory = Manypack::Factory.new
    factory.register_type(1, Point, packer: nil, unpacker: ->(unpacker) { (calls += 1) && unpacker.read }, recursive: true)
    unpacker = factory.unpacker
    objects = []
    "\x92\xD5\x01\x91\x02\x09".b.each_char { |byte| unpacker.feed_each(byte) { |object| objects << object } }
    assert_equal [[[2], 9]], objects
    assert_equal 1, calls
  end

  def test_15_reset_over_a_recursive_body_is_refused
    factory = Manypack::Factory.new
    refused = nil
    factory.register_type(1, Point, packer: nil, recursive: true, unpacker: lambda do |unpacker|
      refused = outcome { unpacker.reset }
      unpacker.read
    end)
    unpacker = factory.unpacker.feed("\x92\xD4\x01\x05\x06\x07".b)
    assert_equal [[5, 6], 7], stream(unpacker)
    assert_equal RuntimeError, refused
  end

  def test_16_nil_is_no_data
    assert_raises(EOFError) { MessagePack.unpack(nil) }
    assert_raises(TypeError) { Manypack.unpack(nil) }
  end

  def test_16_what_converts_to_a_string_is_one
    source = Class.new { def to_str = "\x01" }.new
    assert_equal 1, Manypack.unpack(source)
    assert_raises(NoMethodError) { MessagePack.unpack(source) }
    assert_raises(TypeError) { Manypack.unpack(Object.new) }
  end

  def test_17_a_pool_is_frozen_and_on_a_copy
    pools = [Manypack::Factory.new, MessagePack::Factory.new].map do |factory|
      factory.pool(1).tap { factory.register_type(1, Point, packer: ->(_) { "" }, unpacker: ->(_) { :point }) }
    end
    pools.each { |pool| assert_raises(NoMethodError) { pool.dump(Opaque.new) } }
    assert_equal [true, false], pools.map(&:frozen?)
    assert Ractor.shareable?(pools[0])
  end

  def test_18_read_goes_on_with_open_containers
    ours, theirs = unpackers("\x92\x01".b).map do |unpacker|
      [outcome { unpacker.read } <= EOFError, unpacker.feed("\x02").read]
    end
    assert_equal [true, [1, 2]], ours
    assert_equal [true, 2], theirs
  end

  def test_18_reset_discards_them_and_so_does_a_pool
    unpacker = Manypack::Unpacker.new.feed("\x92\x01")
    assert_raises(EOFError) { unpacker.read }
    unpacker.reset
    assert_equal 2, unpacker.feed("\x02").read
    pool = Manypack::Factory.new.pool
    assert_raises(EOFError) { pool.load("\x92\x01") }
    assert_equal 2, pool.load("\x02")
  end

  def test_19_flags_are_kept_by_copies_and_pools_and_bound_to_their_type
    factories = { Manypack::Factory => Manypack::Bigint, MessagePack::Factory => nil }.map do |klass, bigint|
      factory = klass.new
      packer = bigint ? bigint.method(:to_msgpack_ext) : ->(n) { Manypack::Bigint.to_msgpack_ext(n) }
      unpacker = bigint ? bigint.method(:from_msgpack_ext) : ->(b) { Manypack::Bigint.from_msgpack_ext(b) }
      factory.register_type(1, Integer, packer: packer, unpacker: unpacker, oversized_integer_extension: true)
      factory.register_type(2, Symbol, packer: :to_msgpack_ext, unpacker: :from_msgpack_ext, optimized_symbols_parsing: true)
      factory.register_type(0, Point, packer: ->(_) { "p" }, unpacker: ->(_) { :point })
      factory
    end
    results = factories.flat_map { |factory| [factory, factory.dup, factory.dup.freeze, factory.pool(1)] }.map do |way|
      packed = way.dump([2**70, :symbol, Point.new(1)])
      [packed, way.load(packed)]
    end
    assert_equal [2**70, :symbol, :point], results[0][1]
    assert_equal 1, results.uniq.size
  end

  def test_20_recursive_types_count_as_depth
    factory = Manypack::Factory.new
    factory.register_type(1, Point, packer: nil, unpacker: ->(unpacker) { [unpacker.read] }, recursive: true)
    nest = ->(levels) { levels.times.inject("\xC0".b) { |inner, _| Manypack.pack(Manypack::ExtensionValue.new(1, inner)) } }
    assert_equal 128, factory.load(nest[128]).flatten(127).size + 127
    assert_raises(Manypack::StackError) { factory.load(nest[129]) }
    assert_raises(Manypack::StackError) { factory.load(nest[10_000]) }
    assert_raises(Manypack::StackError) { factory.load(nest[3], max_depth: 2) }
  end

  def test_20_packing_what_contains_itself_is_a_standard_error
    cycle = [].tap { |array| array << array }
    assert_raises(Manypack::NestingError) { Manypack.pack(cycle) }
    assert_operator Manypack::NestingError, :<, StandardError
  end

  def test_21_registered_types_have_procs_whatever_the_handlers_were
    [Manypack::Factory.new, MessagePack::Factory.new].each do |factory|
      factory.register_type(1, Point, packer: Kernel.method(:String), unpacker: "new")
      factory.registered_types.each { |entry| assert_equal [Proc, Proc], entry.values_at(:packer, :unpacker).map(&:class) }
    end
  end

  def test_21_methods_by_receiver_and_name_are_shareable
    factory = Manypack::Factory.new
    factory.register_type(1, Point, packer: Kernel.method(:String), unpacker: "new")
    factory.register_type(2, Integer, packer: Manypack::Bigint.method(:to_msgpack_ext), unpacker: nil, oversized_integer_extension: true)
    assert Ractor.shareable?(factory.freeze)
  end

  def test_22_seconds_beyond_int64_are_refused
    [2**63, 2**70, -(2**63) - 1].each do |sec|
      assert_raises(RangeError) { Manypack::Timestamp.to_msgpack_ext(sec, 0) }
      assert_raises(RangeError) { Manypack.pack(Time.at(sec), timestamp: true) }
    end
    assert_equal 12, MessagePack::Timestamp.to_msgpack_ext(2**63, 0).bytesize
    [-(2**63), 2**63 - 1].each { |sec| assert_equal sec, Manypack::Timestamp.from_msgpack_ext(Manypack::Timestamp.to_msgpack_ext(sec, 0)).sec }
  end

  def test_23_skip_over_a_recursive_body_skips_one_object_of_it
    [Manypack::Factory.new, MessagePack::Factory.new].each do |factory|
      factory.register_type(1, Point, packer: nil, recursive: true, unpacker: ->(unpacker) { unpacker.skip || unpacker.read })
      assert_equal [[2], 9], factory.load("\x92\xC7\x04\x01\x91\x01\x91\x02\x09".b)
    end
  end

  def test_23_a_handler_that_rescues_an_error_of_its_body_gets_no_byte_behind_it
    ours, theirs = [Manypack::Factory.new, MessagePack::Factory.new].map do |factory|
      factory.register_type(1, Point, packer: nil, recursive: true, unpacker: ->(unpacker) { Array.new(2) { outcome { unpacker.read } } })
      stream(factory.unpacker.feed("\x93\x01\xD4\x01\xC1\x02\x09\x08".b))
    end
    assert_equal [Manypack::MalformedFormatError, 9, 8], ours
    assert_equal [[1, [MessagePack::MalformedFormatError, 2], 9], 8], theirs
  end

  def test_24_a_failed_write_leaves_nothing
    ours, theirs = [Manypack::Packer.new, MessagePack::Packer.new].map do |packer|
      outcome { packer.write([1, Opaque.new]) }
      hex(packer.to_s)
    end
    assert_equal "", ours
    assert_equal "92 01", theirs
  end

  def test_25_after_a_malformed_byte_every_read_raises_until_reset
    unpacker = Manypack::Unpacker.new.feed("\x92\xC1\x05\x06".b)
    assert_equal [Manypack::MalformedFormatError] * 6, stream(unpacker)
    unpacker.reset
    assert_equal 7, unpacker.feed("\x07").read
  end

  def test_25_the_rest_of_what_was_nested_too_deep_does_not_come_back
    ours, theirs = unpackers(("\x91" * 200 + "\xC0").b).map { |unpacker| stream(unpacker, 2) }
    assert_equal [Manypack::StackError] * 2, ours
    assert_instance_of Array, theirs.last
  end

  # Changes the Array that it is in while it is packed.
  class Changing
    def initialize(&change) = @change = change
    def to_msgpack(packer) = @change.call && packer.write(1)
  end

  def test_26_an_array_that_changes_while_it_is_packed_is_an_error
    { Manypack => Manypack::EncodeError::RuntimeError, MessagePack => "93 01 c0 c0" }.each do |gem, expected|
      array = [nil, 2, 3]
      array[0] = Changing.new { array.pop(2) }
      assert_equal expected, outcome { hex(gem.pack(array)) }
    end
  end

  def test_27_the_least_integer_of_64_bits_is_none_that_is_oversized
    require "msgpack/bigint"
    packed = [Manypack, MessagePack].map do |gem|
      factory = gem::Factory.new
      factory.register_type(1, Integer, packer: gem::Bigint.method(:to_msgpack_ext), oversized_integer_extension: true)
      hex(factory.dump(-2**63))
    end
    assert_equal ["d3 80 00 00 00 00 00 00 00", "c7 09 01 01 00 00 00 00 80 00 00 00"], packed
  end

  def test_28_integers_too_big_are_range_errors_with_words_in_common
    [2**64, -2**63 - 1, 2**200].product([Manypack, MessagePack]) do |integer, gem|
      error = assert_raises(RangeError) { gem.pack([integer]) }
      assert_operator error.message, :start_with?, "bignum too big to convert into "
    end
  end

  Base = Class.new
  Middle = Class.new(Base)
  Leaf = Class.new(Middle)

  def test_29_the_nearest_ancestor_with_a_type_counts
    packed = [Manypack, MessagePack].map do |gem|
      factory = gem::Factory.new
      [Base, Middle].each_with_index { |klass, type| factory.register_type(type, klass, packer: ->(_) { "" }) }
      hex(factory.dump(Leaf.new))
    end
    assert_equal ["c7 00 01", "c7 00 00"], packed
  end

  def test_29_the_class_itself_goes_before_modules_that_extend_an_object
    extension = Module.new
    packed = [Manypack, MessagePack].map do |gem|
      factory = gem::Factory.new
      [Base, extension].each_with_index { |klass, type| factory.register_type(type, klass, packer: ->(_) { "" }) }
      [Base.new.extend(extension), Leaf.new.extend(extension)].map { |object| hex(factory.dump(object)) }
    end
    assert_equal [["c7 00 00", "c7 00 01"], ["c7 00 00", "c7 00 00"]], packed
  end

  def test_30_a_type_is_an_integer
    ours, theirs = [Manypack, MessagePack].map do |gem|
      packer = gem::Packer.new
      [outcome { gem::Factory.new.register_type(5.7, Point, packer: ->(_) { "" }) },
       outcome { packer.register_type(5.7, Point) { "" } },
       outcome { gem::Unpacker.new.register_type(5.7) { nil } },
       outcome { hex(packer.write_ext(5.7, "").to_s) }]
    end
    assert_equal [TypeError] * 4, ours
    assert_equal [TypeError, nil, nil, "c7 00 05"], theirs
  end

  def test_31_a_class_that_is_loaded_anew_takes_the_place_of_the_old_one
    counts = [Manypack, MessagePack].map do |gem|
      factory = gem::Factory.new
      2.times do
        self.class.__send__(:remove_const, :Reloaded) if self.class.const_defined?(:Reloaded)
        factory.register_type(1, self.class.const_set(:Reloaded, Class.new), packer: ->(_) { "" })
      end
      factory.registered_types(:packer).size
    end
    assert_equal [1, 2], counts
  end

  def test_32_a_symbol_with_an_ext_type_comes_back_as_itself_or_is_refused
    symbol = "\xE9".dup.force_encoding("ISO-8859-1").to_sym
    back = [Manypack, MessagePack].map do |gem|
      factory = gem::Factory.new
      factory.register_type(0, Symbol)
      outcome { factory.load(factory.dump(symbol)).encoding }
    end
    assert_equal [EncodingError, Encoding::BINARY], back
  end

  def test_33_what_follows_an_object_stays_in_the_io
    [[Manypack, [1, "\x02"]], [MessagePack, MessagePack::MalformedFormatError]].each do |gem, expected|
      io = StringIO.new("\x01\x02")
      assert_equal expected, outcome { [gem.load(io), io.read] }
    end
  end
end

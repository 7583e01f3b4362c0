# frozen_string_literal: true

# Limits where there is more than one call: streams, skip, headers, bodies of recursive exts, options on top of options.
require "test_helper"
require "objspace"

class StreamLimitsTest < Minitest::Test
  include CorePart

  # Options and a message that exceeds them; skip finds each as read does.
  EXCEEDING = {
    { max_objects: 3 } => "93 01 02 03", { max_map_size: 1 } => "91 82 01 02 03 04", { max_array_size: 1 } => "92 01 02",
    { max_string_bytes: 2 } => "91 a3 61 62 63", { max_ext_bytes: 2 } => "91 c7 03 05 61 62 63", { untrusted: true } => "db ff ff ff ff"
  }.freeze

  EXCEEDING.each do |options, message|
    %i[read skip].each do |method|
      define_method("test_#{method}_above_#{options.keys.first}_raises_the_same_error_until_reset") do
        unpacker = Manypack::Unpacker.new(options)
        errors = Array.new(3) { assert_raises(Manypack::LimitError) { exercise { unpacker.feed(bytes(message)).public_send(method) } } }
        assert_equal 1, errors.uniq.size
        unpacker.reset
        assert_equal 1, unpacker.feed("\x01").read
      end
    end

    define_method("test_skip_says_the_same_of_#{options.keys.first}_as_read") do
      whole, single = Array.new(2) { Manypack::Unpacker.new(options) }
      read = assert_raises(Manypack::LimitError) { Manypack::Unpacker.new(options).feed(bytes(message)).read }
      skipped = [assert_raises(Manypack::LimitError) { whole.feed(bytes(message)).skip },
                 assert_raises(Manypack::LimitError) { bytes(message).each_char { |byte| skip_what_is_there(single.feed(byte)) } }]
      skipped.each { |error| assert_equal [read.message, read.limit, read.value, read.offset], [error.message, error.limit, error.value, error.offset] }
    end
  end

  # On 32 bits an Unpacker of many gigabytes needs all bits of an offset, including the highest.
  def test_the_error_for_a_repeated_key_has_an_offset_of_any_size
    unpacker = Manypack::Unpacker.new(duplicate_keys: :error)
    Manypack.const_get(:Internal).start_at(unpacker, 2**(0.size * 8 - 1) + 5, "", 0, 0)
    error = assert_raises(Manypack::MalformedFormatError) { unpacker.feed("\x91\x82\x01\x02\x01\x03".b).read }
    assert_equal 2**(0.size * 8 - 1) + 6, error.offset
  end

  def test_what_was_read_in_part_counts_when_the_rest_is_skipped
    unpacker = Manypack::Unpacker.new(max_objects: 6).feed("\x93\x92\x01\x02\x03".b)
    assert_raises(EOFError) { unpacker.read }
    assert_nil unpacker.feed("\x04").skip
    unpacker.feed("\x93\x92\x01\x02\x03".b)
    assert_raises(EOFError) { unpacker.read }
    error = assert_raises(Manypack::LimitError) { unpacker.feed("\x91".b).skip }
    assert_equal [:max_objects, 7], [error.limit, error.value]
  end

  def test_every_message_of_a_stream_has_the_limits_to_itself
    unpacker = Manypack::Unpacker.new(max_objects: 4)
    assert_equal [[1, 2, 3]] * 100, unpacker.feed_each("\x93\x01\x02\x03".b * 100).to_a
    100.times { assert_nil unpacker.feed("\x93\x01\x02\x03".b).skip }
  end

  def test_headers_have_limits
    unpacker = Manypack::Unpacker.new(max_array_size: 2, max_map_size: 1)
    assert_equal [2, 1], [unpacker.feed("\x92".b).read_array_header, unpacker.feed("\x81".b).read_map_header]
    { "\x93" => :read_array_header, "\x82" => :read_map_header }.each do |head, method|
      2.times { assert_raises(Manypack::LimitError) { exercise { unpacker.feed(head.b).public_send(method) } } }
      unpacker.reset
    end
  end

  def test_what_an_unpacker_refuses_it_passes_over
    unpacker = Manypack::Unpacker.new(untrusted: true, timestamp: true)
    ["92 a1 ff 01", "92 82 01 01 01 02 03", "92 81 91 cb 7f f8 00 00 00 00 00 00 01 02", "92 c7 0c ff 00 00 00 00 7f ff ff ff ff ff ff ff 01"].each do |message|
      assert_raises(Manypack::MalformedFormatError, message) { exercise { unpacker.feed(bytes("#{message} 06")).read } }
      assert_equal 6, unpacker.read
    end
    nan = "cb 7f f8 00 00 00 00 00 00"
    unpacker = Manypack::Unpacker.new.feed(bytes("92 de 00 11 #{"#{nan} c0" * 17} 01 06"))
    assert_raises(Manypack::LimitError) { unpacker.read }
    assert_equal 6, unpacker.read
  end

  # How a message of many Hashes comes, with an object behind it; and whether that can be read after the error.
  FLOOD = ("\xDD\0\0\x20\0".b + ("\x80".b * 0x2000)).freeze
  COMING = {
    "at once" => [->(unpacker) { unpacker.feed("#{FLOOD}\x06") }, true],
    "in two pieces" => [->(unpacker) { unpacker.feed(FLOOD.byteslice(0, 60)).feed("#{FLOOD.byteslice(60..)}\x06") }, true],
    "with a part that was read" => [->(unpacker) { unpacker.feed(FLOOD.byteslice(0, 60)).tap { unpacker.read rescue nil }.feed("#{FLOOD.byteslice(60..)}\x06") }, true],
    "without its end" => [->(unpacker) { unpacker.feed(FLOOD.byteslice(0, 5_000)) }, false]
  }.freeze

  COMING.each do |how, (feed, goes_on)|
    define_method("test_nothing_is_built_beyond_max_bytes_of_an_object_that_comes_#{how.tr(" ", "_")}") do
      [99, 100, 105, 300].each do |max|
        unpacker = feed.call(Manypack::Unpacker.new(max_bytes: max))
        before = GC.stat(:total_allocated_objects)
        error = assert_raises(Manypack::LimitError) { exercise { unpacker.read } }
        assert_operator GC.stat(:total_allocated_objects) - before, :<, max + 100
        assert_equal [:max_bytes, goes_on ? FLOOD.bytesize : 5_000, max], [error.limit, error.value, error.offset]
        goes_on ? assert_equal(6, unpacker.read) : assert_same(error, assert_raises(Manypack::LimitError) { unpacker.read })
      end
    end
  end

  def test_an_object_of_max_bytes_is_read_and_one_byte_more_is_not
    ["93 01 02 03", "a3 61 62 63", "81 a1 61 01", "ce 00 01 02 03"].each do |message|
      binary = bytes(message)
      assert_equal [unpack(binary)] * 3, exercise { Manypack::Unpacker.new(max_bytes: binary.bytesize).feed_each(binary * 3).to_a }
      unpacker = Manypack::Unpacker.new(max_bytes: binary.bytesize - 1).feed(binary * 2)
      2.times { |i| assert_equal (binary.bytesize * (i + 1)) - 1, assert_raises(Manypack::LimitError) { exercise { unpacker.read } }.offset }
    end
  end

  # Its body says how many objects follow in it.
  Wrapped = Struct.new(:content)
  FACTORY = Manypack::Factory.new.tap do |factory|
    factory.register_type(1, Wrapped, packer: nil, unpacker: ->(body) { Wrapped.new(Array.new(body.read) { body.read }) }, recursive: true)
    factory.register_type(2, Wrapped, packer: nil, unpacker: ->(body) { [body.skip, body.read_array_header, body.skip] }, recursive: true)
  end.freeze

  # The ext is one, and each object in its body.
  def test_objects_in_bodies_of_exts_count
    { "d6 01 03 05 05 05" => 5, "92 d5 01 01 02 05" => 5, "c7 05 01 01 93 01 02 03" => 6, "92 c7 07 01 03 d5 01 01 02 04 05 c0" => 9,
      "92 d6 02 91 c0 91 c0 05" => 7 }.each do |message, count|
      FACTORY.load(bytes(message), max_objects: count)
      error = assert_raises(Manypack::LimitError, message) { FACTORY.load(bytes(message), max_objects: count - 1) }
      assert_equal [:max_objects, count], [error.limit, error.value], message
    end
  end

  def test_key_nesting_goes_through_bodies_of_exts
    nested = ->(levels) { levels.zero? ? "\x05".b : pack(Manypack::ExtensionValue.new(1, "\x01\x81".b + nested.call(levels - 1) + "\x01".b)) }
    assert_kind_of Wrapped, FACTORY.load(nested.call(5))
    assert_raises(Manypack::StackError) { FACTORY.load(nested.call(6)) }
  end

  def test_limits_hold_inside_of_bodies
    { { max_array_size: 2 } => "c7 05 01 01 93 01 02 03", { max_string_bytes: 2 } => "c7 05 01 01 a3 61 62 63",
      { duplicate_keys: :error } => "c7 06 01 01 82 01 02 01 03", { utf8: :strict } => "c7 03 01 01 a1 ff" }.each do |options, message|
      FACTORY.load(bytes(message))
      assert_kind_of Manypack::UnpackError, assert_raises(StandardError) { FACTORY.load(bytes(message), options) }
    end
  end

  def test_options_on_top_of_options
    codec = Manypack::Codec.new(untrusted: true, max_string_bytes: 10)
    assert_raises(Manypack::LimitError) { codec.unpack(pack("x" * 11)) }
    assert_equal "x" * 11, codec.unpacker(max_string_bytes: 11).feed(pack("x" * 11)).read
    assert_raises(Manypack::MalformedFormatError) { codec.unpacker(max_string_bytes: 11).feed("\xA1\xFF".b).read }
    assert_equal "\xFF", codec.unpacker(untrusted: false).feed("\xA1\xFF".b).read
    assert_raises(Manypack::LimitError) { codec.unpacker(untrusted: false).feed(pack("x" * 11)).read }
    assert_raises(Manypack::LimitError) { Manypack::Codec.new(max_string_bytes: 10).unpacker(untrusted: true).feed(pack("x" * 11)).read }
    assert_raises(Manypack::MalformedFormatError) { Manypack::Factory.new.pool(1, untrusted: true).load("\xA1\xFF".b) }
  end

  def test_untrusted_is_about_unpacking
    deep = 100.times.inject(nil) { |inner, _| [inner] }
    assert_equal pack(deep), Manypack::Codec.new(untrusted: true).pack(deep)
  end

  def test_skip_has_memory_for_the_levels_that_came_and_no_more
    unpacker = Manypack::Unpacker.new(max_depth: 100_000)
    before = ObjectSpace.memsize_of(unpacker)
    skip_what_is_there(unpacker.feed("\x91".b * 1_000))
    assert_operator ObjectSpace.memsize_of(unpacker) - before, :<=, 16 * 1_024
    assert_raises(Manypack::StackError) { unpacker.feed("\x91".b * 100_000).skip }
    assert_nil Manypack::Unpacker.new(max_depth: 5).feed("\x91\x91\x91\x91\x91\x01".b).skip
    assert_raises(Manypack::StackError) { Manypack::Unpacker.new(max_depth: 4).feed("\x91\x91\x91\x91\x91\x01".b).skip }
  end

  private

  def skip_what_is_there(unpacker)
    unpacker.skip
  rescue EOFError
    nil
  end
end

# frozen_string_literal: true

# The messages of a batch: where each is, what is wrong with one, and when to stop.
require "test_helper"

class BatchTest < Minitest::Test
  include CorePart

  Batch = Manypack::Parallel.const_get(:Batch)
  Stop = Manypack::Parallel.const_get(:Stop)
  OBJECTS = [1, { "k" => ["v" * 30, nil] }, "l" * 3_000, [[[]]], 2**64 - 1].freeze

  def test_each_message_with_its_place
    packed = OBJECTS.map { |object| pack(object) }
    batch = exercise { batch(packed.join, offset: 1_000) }
    seen = []
    exercise { batch.each { |object| seen << [object, batch.passed, batch.offset] } }
    assert_equal OBJECTS.each_with_index.map { |object, i| [object, i, 1_000 + packed.first(i).sum(&:bytesize)] }, seen
    assert_equal OBJECTS.size, batch.passed
  end

  def test_options_and_types_of_the_codec
    factory = Manypack::Factory.new
    factory.register_type(1, Range, packer: nil, unpacker: ->(body) { body.bytes })
    batch = batch(bytes("81 a1 61 d4 01 05"), codec: factory.codec(symbolize_keys: true, shareable: true))
    seen = []
    exercise { batch.each { |object| seen << object } }
    assert_equal [{ a: [5] }], seen
    assert Ractor.shareable?(seen.first)
  end

  def test_errors_have_their_offset_in_the_whole_input
    { "01 92 02" => [Manypack::TruncatedError, 103, "unexpected end of input"], "01 91 c1" => [Manypack::MalformedFormatError, 102, "0xc1 is not a MessagePack head byte"],
      "01 91 91 91 01" => [Manypack::StackError, 103, "containers are nested too deeply for max_depth"], "01 a5 61 62" => [Manypack::TruncatedError, 101, "incomplete str: got 2 of 5 bytes"],
      "01 a9 61 61 61 61 61 61 61 61 61 02" => [Manypack::LimitError, 109, "max_bytes is 8, but the input has at least 10 bytes"],
      "01 92 02 d4 05 00" => [Manypack::UnknownExtTypeError, 103, "ext type 5 is not registered; allow_unknown_ext: true keeps its bytes"] }.each do |input, (error_class, offset, message)|
      batch = batch(bytes(input), offset: 100, codec: Manypack::Codec.new(max_depth: 2, max_bytes: 8))
      seen = []
      error = assert_raises(error_class) { exercise { batch.each { |object| seen << object } } }
      assert_equal ["#{message}, at byte #{offset}", offset, [1], 1, 101], [error.message, error.offset, seen, batch.passed, batch.offset]
    end
  end

  def test_a_part_of_the_bytes
    packed = OBJECTS.map { |object| pack(object) }
    packed.each_index do |i|
      start = packed.first(i).sum(&:bytesize)
      batch = exercise { Batch.new(packed.join.freeze, start, packed[i].bytesize, 50 + start, Manypack::Codec.new, Stop.new) }
      seen = []
      exercise { batch.each { |object| seen << [object, batch.offset] } }
      assert_equal [[OBJECTS[i], 50 + start]], seen
    end
    cut = Batch.new("\x01\xA3abc\x02".b, 1, 3, 7, Manypack::Codec.new, Stop.new)
    error = assert_raises(Manypack::TruncatedError) { exercise { cut.each { flunk } } }
    assert_equal ["incomplete str: got 2 of 3 bytes, at byte 7", 7], [error.message, error.offset]
  end

  def test_no_part_of_the_bytes
    [[0, 4], [4, 0], [3, 1], [1, 2**63]].each { |start, size| assert_raises(RangeError) { Batch.new("abc", start, size, 0, Manypack::Codec.new, Stop.new) } }
    assert_nil(Batch.new("abc", 3, 0, 0, Manypack::Codec.new, Stop.new).each { flunk })
  end

  def test_it_stops_where_it_is_told_to
    stop = exercise { Stop.new }
    assert Ractor.shareable?(stop)
    refute_predicate stop, :set?
    seen = []
    batch = batch("\x01" * 10, stop: stop)
    batch.each { |object| seen << object && seen.size == 3 && in_ractor(stop) { |shared| shared.set && nil } }
    assert_equal [3, 3, true], [seen.size, batch.passed, stop.set?]
    batch.each { flunk }
  end

  def test_leaving_it
    batch = batch("\x01\x02\x03")
    assert_equal(2, batch.each { |object| break object if object == 2 })
    assert_equal 1, batch.passed
    assert_raises(KeyError) { batch.each { |object| raise KeyError if object == 1 } }
  end

  def test_what_it_takes
    assert_raises(::TypeError) { batch(5) }
    assert_raises(::TypeError) { batch("", codec: 5) }
    assert_raises(::TypeError) { batch("", stop: 5) }
    assert_nil(batch("").each { flunk })
  end

  private

  def batch(bytes, offset: 0, codec: Manypack::Codec.new, stop: Stop.new)
    Batch.new(bytes, 0, bytes.to_s.bytesize, offset, codec, stop)
  end
end

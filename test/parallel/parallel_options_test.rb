# frozen_string_literal: true

# Options of Parallel: those of unpacking, codecs and factories, and counts of workers.
require "test_helper"
require "parallel/workers"

class ParallelOptionsTest < Minitest::Test
  include Workers

  Point = Struct.new(:x) do
    def to_msgpack_ext = [x].pack("c")
    def self.from_msgpack_ext(body) = new(body.unpack1("c"))
  end

  FACTORY = Manypack::Factory.new.tap { |factory| factory.register_type(1, Point) }

  def test_options_of_unpack
    each_way do |workers|
      assert_equal [{ a: 1 }], Parallel.map(bytes("81 a1 61 01"), **workers, symbolize_keys: true) { |object| object }
      assert_equal [5], Parallel.map(bytes("d4 05 00"), **workers, allow_unknown_ext: true) { |ext| ext.type }
      assert_equal [true], Parallel.map(bytes("91 a1 61"), **workers, shareable: true) { |object| Ractor.shareable?(object) }
      assert_raises(RangeError) { Parallel.map("", **workers, max_depth: 0) { nil } }
    end
  end

  def test_limits_hold_for_each_message
    stream = pack([1, 2, 3]) * 100
    each_way do |workers|
      assert_equal [3] * 100, Parallel.map(stream, **workers, max_objects: 4, max_array_size: 3) { |list| list.size }
      error = assert_raises(Manypack::LimitError) { Parallel.map(stream + pack([1] * 4), **workers, max_array_size: 3) { |list| list } }
      assert_equal [:max_array_size, 100, stream.bytesize], [error.limit, error.index, error.offset]
      assert_equal [3] * 100, Parallel.map(stream, **workers, untrusted: true) { |list| list.size }
    end
  end

  def test_a_codec_or_a_factory
    message = FACTORY.dump([Point.new(5)])
    [{ factory: FACTORY }, { codec: FACTORY.codec }, { factory: FACTORY.dup.freeze }].each do |by|
      each_way do |workers|
        assert_equal [[Point.new(5)]], Parallel.map(message, **workers, **by) { |object| object }
        assert_equal [true], Parallel.each(message, **workers, **by).map { |object| Ractor.shareable?(object) }
        output = StringIO.new("".b)
        Parallel.filter(message, output, **workers, **by) { |list| list.first }
        assert_equal "d4 01 05", hex(output.string)
      end
    end
    assert_raises(ArgumentError) { Parallel.map(message, factory: FACTORY, codec: FACTORY.codec) { nil } }
  end

  def test_handlers_that_cannot_cross
    seen = []
    factory = Manypack::Factory.new
    factory.register_type(7, Range, packer: ->(range) { seen << range && "r" }, unpacker: nil)
    error = assert_raises(Ractor::IsolationError) { Parallel.map("\x01", factory: factory, ractors: 1) { |n| n } }
    assert_match(/ext type 7 for Range .*Ractor.make_shareable/, error.message)
    assert_equal [1], Parallel.map("\x01", factory: factory, ractors: 0) { |n| n }
  end

  def test_bad_counts_of_workers
    %i[ractors processes].product([-1, 1.5, nil, "2"]) do |kind, count|
      error = assert_raises(ArgumentError) { Parallel.map("", kind => count) { nil } }
      assert_equal "#{kind} must be an Integer of 0 or more, got #{count.inspect}", error.message
    end
    error = assert_raises(ArgumentError) { Parallel.map("", ractors: 1, processes: 1) { nil } }
    assert_equal "give ractors or processes, not both", error.message
  end

  # So a test with ractors: 0 gets the objects that the run with Ractors or processes does.
  def test_objects_of_each_are_shareable_if_the_call_says_how_many_workers
    message = pack([{ "a" => "b" }])
    each_way do |workers|
      assert_equal [true], Parallel.each(message, **workers).map { |object| Ractor.shareable?(object) }, workers.inspect
      assert_equal [true], Parallel.each(message, **workers, codec: Manypack::Codec.new).map(&:frozen?), workers.inspect
      assert_equal [false], Parallel.each(message, **workers, shareable: false).map(&:frozen?), workers.inspect
    end
    assert_equal [false], Parallel.each(message).map(&:frozen?)
    assert_equal [true], Parallel.each(message, shareable: true).map(&:frozen?)
  end

  def test_shareable_objects_are_not_copied
    shared = nil
    Parallel.each(pack({ "a" => ["b" * 100, 2**64 - 1] }), ractors: 1) { |object| shared = object }
    assert Ractor.shareable?(shared)
    copied, = Parallel.each(pack({ "a" => "b" }), ractors: 1, shareable: false).to_a
    refute_predicate copied, :frozen?
    copied["a"] << "c"
    assert_equal({ "a" => "bc" }, copied)
    assert_nil GC.verify_internal_consistency
  end
end

# frozen_string_literal: true

# Messages as their bytes: what an Unpacker hands to a View, or to whatever loads them, is the same however they come.
require "test_helper"
require "stringio"
require "support/forks"

class StreamAsTest < Minitest::Test
  include CorePart

  OBJECTS = [5, nil, "text", "l" * 700, [], [1, ["two", nil]], { "k" => { "list" => [1, 2] } }, 2**64 - 1, Manypack::ExtensionValue.new(5, "x" * 3)].freeze
  MESSAGES = OBJECTS.map { |object| Manypack.pack(object) }.freeze
  STREAM = MESSAGES.join.freeze

  # Loads a message as its bytes.
  module Bytes
    def self.load(bytes) = bytes
  end

  # Loads it by a Codec.
  class Loader
    def initialize(**options)
      @codec = Manypack::Codec.new(**options)
    end

    def load(bytes) = @codec.load(bytes)
  end

  def test_the_bytes_of_each_message_in_pieces_of_every_size
    (FEW_CASES ? [100, 300] : (1..STREAM.bytesize).step(5)).each do |size|
      unpacker = Manypack::Unpacker.new(as: Bytes)
      pieces = 0.step(STREAM.bytesize - 1, size).map { |at| STREAM.byteslice(at, size) }
      taken = exercise { pieces.flat_map { |piece| unpacker.feed_each(piece).to_a } }
      assert_equal MESSAGES, taken
      assert(taken.all? { |bytes| bytes.frozen? && bytes.encoding == Encoding::BINARY })
      assert_equal STREAM.bytesize, unpacker.position
    end
  end

  def test_from_an_io_by_every_method
    [StringIO.new(STREAM), STREAM.scan(/.{1,40}/mn)].each do |io|
      io = Struct.new(:left) { def read(_size) = left.shift }.new(io) if io.is_a?(Array)
      unpacker = Manypack::Unpacker.new(io, as: Bytes)
      assert_equal MESSAGES.first(2), exercise { [unpacker.read, unpacker.unpack] }
      unpacker.skip
      assert_equal MESSAGES.drop(3), exercise { unpacker.to_a }
    end
    assert_equal MESSAGES[6], Manypack::Unpacker.new(as: Bytes).feed(MESSAGES[6]).full_unpack
  end

  def test_views
    unpacker = Manypack::Unpacker.new(StringIO.new(STREAM), as: :view, allow_unknown_ext: true)
    views = exercise { unpacker.to_a }
    assert_equal OBJECTS, views.map(&:value)
    assert_equal 2, views[6].dig("k", "list", 1)
  end

  def test_options_mean_what_they_mean_to_a_view
    bytes = Manypack.pack({ "k" => [1] })
    view = Manypack::Unpacker.new(as: :view, symbolize_keys: true, shareable: true, io_buffer_size: 2_000).feed(bytes).read
    assert_equal 1, view.dig(:k, 0)
    assert Ractor.shareable?(view)
    assert_equal 1, Manypack::Codec.new(symbolize_keys: true).unpacker(as: :view).feed(bytes).read.dig(:k, 0)
    factory = Manypack::Factory.new
    factory.register_type(5, Rational, unpacker: ->(body) { body.upcase })
    assert_equal "A", factory.unpacker(as: :view).feed("\x91\xD4\x05a".b).read[0]
    unpacker = Manypack::Unpacker.new(as: :view, freeze: true)
    unpacker.register_type(5) { |body| body * 2 }
    view = unpacker.feed("\x91\xD4\x05a".b).read
    assert_equal ["aa", true], [view[0], view.frozen?]
    assert_equal [[1]], Manypack::Unpacker.new(as: nil).feed("\x91\x01".b).to_a
  end

  def test_limits_are_those_of_each_message
    unpacker = Manypack::Unpacker.new(as: Bytes, max_objects: 3, max_bytes: 9)
    assert_equal ["\x92\x01\x02".b] * 3, unpacker.feed("\x92\x01\x02".b * 3).to_a
    error = assert_raises(Manypack::LimitError) { unpacker.feed("\x93\x01\x02\x03".b).read }
    assert_equal [:max_objects, 9], [error.limit, error.offset]
    long = Manypack::Unpacker.new(as: Bytes, max_bytes: 9)
    assert_equal :max_bytes, assert_raises(Manypack::LimitError) { "\x01\xD9\x20#{"l" * 32}".b.each_char { |byte| long.feed_each(byte) { nil } } }.limit
    assert_equal 1, long.position
  end

  def test_errors_have_the_offset_in_the_stream
    [STREAM, *STREAM.each_char].slice_before { |piece| piece == STREAM }.each do |(whole)|
      unpacker = Manypack::Unpacker.new(as: :view).feed(whole)
      MESSAGES.each { unpacker.skip }
      error = assert_raises(Manypack::MalformedFormatError) { unpacker.feed("\x92\x01\xC1".b).read }
      assert_equal STREAM.bytesize + 2, error.offset
    end
  end

  def test_errors_of_load_have_the_offset_in_the_stream
    unpacker = Manypack::Unpacker.new(as: Loader.new(utf8: :strict)).feed("\x01\x92\xC0\xA1\xFF\x02".b)
    assert_equal 1, unpacker.read
    error = assert_raises(Manypack::MalformedFormatError) { exercise { unpacker.read } }
    assert_equal [3, "a str is not valid UTF-8, at byte 2, in the message at byte 1"], [error.offset, error.message]
    assert_equal 2, unpacker.read
    error = assert_raises(Manypack::MalformedFormatError) { Manypack::Unpacker.new(as: :view, utf8: :strict).feed("\x01\xA1\xFF".b).to_a }
    assert_equal 1, error.offset
  end

  # A program takes it for the end of the stream.
  def test_a_truncated_error_of_load_is_no_end_of_the_stream
    unpacker = Manypack::Unpacker.new(as: Class.new { def load(_bytes) = Manypack.unpack("\x92") }.new).feed("\x01".b)
    error = assert_raises(Manypack::MalformedFormatError) { unpacker.each { nil } }
    assert_instance_of Manypack::TruncatedError, error.cause
  end

  def test_other_errors_of_load_are_raised_as_they_are
    failing = Class.new { def load(bytes) = bytes == "\x02" ? raise(IOError, "no") : bytes }.new
    unpacker = Manypack::Unpacker.new(as: failing).feed("\x01\x02\x03".b)
    seen = []
    assert_equal "no", assert_raises(IOError) { unpacker.each { |bytes| seen << bytes } }.message
    assert_equal ["\x01", "\x03"], seen + unpacker.to_a
  end

  def test_load_may_use_the_unpacker
    loader = Class.new { attr_accessor :unpacker; def load(bytes) = bytes == "\x01" ? [bytes, unpacker.position, unpacker.read] : bytes }.new
    loader.unpacker = Manypack::Unpacker.new(as: loader).feed("\x01\x02\x01\x03\x04".b)
    assert_equal [["\x01", 1, "\x02"], ["\x01", 3, "\x03"], "\x04"], exercise { loader.unpacker.to_a }
  end

  def test_a_message_that_was_sliced_in_part_can_be_skipped_but_has_no_header
    [2, 3].each do |cut|
      unpacker = Manypack::Unpacker.new(as: Bytes)
      unpacker.feed_each("\x92\x01\xA2ab\x05".b.byteslice(0, cut)) { flunk }
      assert_refused(/an object was partly read/) { unpacker.read_array_header }
      unpacker.feed("\x92\x01\xA2ab\x05".b.byteslice(cut..)).skip
      assert_equal "\x05", unpacker.read
    end
  end

  def test_headers_and_elements
    unpacker = Manypack::Unpacker.new(as: Bytes).feed("\x92\x91\x01\x02".b)
    assert_equal [2, "\x91\x01".b, "\x02"], [unpacker.read_array_header, unpacker.read, unpacker.read]
    assert unpacker.feed("\xC0".b).skip_nil
  end

  def test_what_cannot_load
    [true, 5, :views, "view", Object.new, Class.new { private def load(_) = nil }.new].each do |as|
      fronts = [-> { Manypack::Unpacker.new(as: as) }, -> { Manypack::Codec.new.unpacker(as: as) },
                -> { Manypack.unpack("\x01", as: as) }, -> { Manypack::Codec.new.load(StringIO.new("\x01"), as: as) }]
      fronts.each do |front|
        assert_match(/\Aas must be :view or an object that responds to load, got /, assert_raises(::TypeError, &front).message)
      end
    end
    assert_raises(ArgumentError) { Manypack::Packer.new(as: :view) }
    assert_raises(ArgumentError) { Manypack::Unpacker.new(as: :view, max_byte: 5) }
  end

  def test_one_object_of_an_io_leaves_what_follows_it_there
    r, w = IO.pipe
    w.write("\x91\x01\x92\x02\x03rest".b)
    w.close
    assert_equal ["\x91\x01".b, 3], [Manypack.unpack(r, as: Bytes), Manypack::Codec.new.unpack(r, as: :view)[1]]
    assert_equal "rest", r.read
    assert_raises(EOFError) { Manypack.unpack(r, as: :view) }
  end

  def test_one_object_is_all_that_a_string_has
    [:view, Bytes, Manypack::Type[[Integer]]].each do |as|
      ["\x91\x01\x02", "\x92\x01"].each { |bytes| assert_raises(Manypack::DecodeError) { Manypack.unpack(bytes.b, as: as) } }
    end
    error = assert_raises(Manypack::DecodeError) { Manypack.unpack('{"a": 1}', as: :view) }
    assert_match(/looks like JSON/, error.message)
    assert_raises(::TypeError) { Manypack.unpack(3, as: :view) }
    assert_equal [1], Manypack.unpack("\x91\x01", as: nil)
  end

  def test_one_long_message_in_small_pieces_takes_linear_time
    allocated = lambda do |size|
      unpacker = Manypack::Unpacker.new(as: Bytes)
      message = Manypack.pack([1] * size)
      unpacker.feed_each(message.byteslice(0, size)) { flunk }
      before = GC.stat(:total_allocated_objects)
      message.byteslice(size..).each_char { |byte| unpacker.feed(byte).skip rescue nil }
      GC.stat(:total_allocated_objects) - before
    end
    assert_in_delta allocated.call(100), allocated.call(5_000), 20
  end

  def test_parallel_hands_out_views_and_what_load_returns
    bytes = Manypack.pack({ "id" => 1, "tags" => [2] }) + Manypack.pack({ "id" => 3, "tags" => [4] })
    workers.each do |options|
      assert_equal [[1, 2], [3, 4]], Manypack::Parallel.map(bytes, as: :view, **options) { |view| [view["id"], view.dig("tags", 0)] }
      output = StringIO.new("".b)
      assert_equal 1, Manypack::Parallel.filter(bytes, output, as: :view, **options) { |view| view if view["id"] > 1 }
      assert_equal({ "id" => 3, "tags" => [4] }, Manypack.unpack(output.string))
      assert_equal [12, 12], Manypack::Parallel.map(bytes, as: SIZE, **options) { |size| size }
      assert_equal [1, 3], Manypack::Parallel.each(bytes, as: :view, map: ->(view) { view["id"] }, **options).to_a unless options[:ractors]&.positive?
    end
    assert_equal [1, 3], Manypack::Parallel.each(bytes, as: :view, ractors: 1).map { |view| view["id"] }
  end

  SIZE = Ractor.make_shareable(Class.new { def load(bytes) = bytes.bytesize }.new)

  def test_parallel_tells_index_and_offset_of_a_message_that_load_refuses
    workers.each do |options|
      error = assert_raises(Manypack::MalformedFormatError) { Manypack::Parallel.map("\x01\x92\xC0\xA1\xFF\x02".b, as: :view, utf8: :strict, **options) { |view| view.type.to_s } }
      assert_equal [1, 3], [error.index, error.offset], options.inspect
    end
  end

  def test_parallel_in_ractors_needs_a_loader_that_they_can_share
    error = assert_raises(Ractor::IsolationError) { Manypack::Parallel.map("\x01", as: Loader.new, ractors: 1) { |object| object } }
    assert_match(/Loader.* cannot be shared between Ractors/, error.message)
    assert_equal [1], Manypack::Parallel.map("\x01", as: Loader.new, ractors: 0) { |object| object }
    assert_raises(::TypeError) { Manypack::Parallel.map("\x01", as: 5, ractors: 0) { |object| object } }
  end

  private

  def workers
    Forks.without_impossible([{ ractors: 0 }, { ractors: 1 }, { processes: 1 }])
  end
end

# frozen_string_literal: true

# What an Unpacker is after each kind of error: at the next object where that can be known, else refusing until reset.
require "test_helper"

class StreamErrorsTest < Minitest::Test
  include CorePart

  # Raises, throws or returns, as a payload says.
  class Boom < StandardError; end

  def setup
    @unpacker = Manypack::Unpacker.new
    @unpacker.register_type(1) { |body| body == "x" ? raise(Boom, "by the handler") : body }
    @unpacker.register_type(2) { throw :out, :thrown }
  end

  # Ext 5 is unknown, ext 1 with "x" raises; and what comes behind them is 6.
  FAILING = { "d4 05 61" => Manypack::UnknownExtTypeError, "d4 01 78" => Boom }.freeze

  def test_after_an_ext_that_fails_the_next_object_follows
    FAILING.each do |ext, error|
      @unpacker.feed(bytes("#{ext} 06 07"))
      assert_raises(error) { exercise { @unpacker.read } }
      assert_equal 6, @unpacker.read
      assert_equal 7, @unpacker.read
    end
  end

  # A container declares more than there is: its elements are looked at as they come, not when all are there.
  def test_a_chunk_that_starts_with_a_large_head_is_decoded_as_far_as_it_goes
    pieces = ["\xDE\x01\x00".b + ("\x01" * 399), "\xDE\x80\x00".b + ("\x02" * 300) + "\xC1".b]
    fed = pieces.inject(Manypack::Unpacker.new) { |unpacker, piece| unpacker.feed(piece) }
    over_read = Manypack::Unpacker.new(Class.new { define_method(:read) { |_size| pieces.shift } }.new)
    [fed, over_read].each { |unpacker| assert_equal 705, assert_raises(Manypack::MalformedFormatError) { unpacker.read }.offset }
  end

  def test_after_a_failing_ext_inside_containers_the_object_behind_the_outermost_follows
    FAILING.each do |ext, error|
      ["92 #{ext} 02", "92 02 #{ext}", "93 01 82 a1 61 #{ext} a1 62 02 03", "81 #{ext} 01", "81 01 #{ext}", "91 91 91 #{ext}",
       "93 81 #{ext} 91 01 c0 92 90 80", "dc 00 10 #{ext} #{"c0" * 15}", "92 a2 61 62 81 c4 01 61 #{ext}"].each do |message|
        @unpacker.feed(bytes("#{message} 06"))
        assert_raises(error) { exercise { @unpacker.read } }
        assert_equal 6, exercise { @unpacker.read }, message
        assert_predicate @unpacker.buffer, :empty?
      end
    end
  end

  def test_the_rest_of_the_message_may_come_later
    FAILING.each do |ext, error|
      whole = bytes("93 #{ext} 82 a1 61 01 a1 62 93 01 02 03 dc 00 10 #{"c0" * 15} a3 61 62 63")
      (4..whole.bytesize).each do |cut|
        @unpacker.feed(whole.byteslice(0, cut))
        assert_raises(error) { @unpacker.read }
        assert_raises(EOFError) { @unpacker.read }
        assert_equal 6, @unpacker.feed(whole.byteslice(cut..)).feed("\x06").read
      end
    end
  end

  def test_the_rest_of_the_message_may_come_byte_by_byte
    @unpacker.feed(bytes("92 d4 05 61"))
    assert_raises(Manypack::UnknownExtTypeError) { @unpacker.read }
    bytes("82 a1 61 d9 03 62 62 62 c0 c7 02 05 61 61").each_char { |byte| assert_raises(EOFError) { @unpacker.feed(byte).read } }
    assert_equal 6, @unpacker.feed("\x06").read
  end

  def test_skip_drops_the_rest_of_what_failed_and_the_next_object
    @unpacker.feed(bytes("93 d4 05 61 02 03 06 07"))
    assert_raises(Manypack::UnknownExtTypeError) { @unpacker.read }
    assert_equal 6, @unpacker.read
    assert_equal 7, @unpacker.read
  end

  def test_each_goes_on_behind_what_failed
    @unpacker.feed(bytes("01 92 d4 05 61 02 03 d4 01 78 04"))
    objects = []
    errors = Array.new(2) { assert_raises(StandardError) { @unpacker.each { |object| objects << object } } }
    assert_equal [Manypack::UnknownExtTypeError, Boom], errors.map(&:class)
    assert_nil(@unpacker.each { |object| objects << object })
    assert_equal [1, 3, 4], objects
  end

  def test_a_throw_out_of_a_handler_passes_over_the_object
    @unpacker.feed(bytes("92 d4 02 61 05 06"))
    assert_equal :thrown, catch(:out) { exercise { @unpacker.read } }
    assert_equal 6, @unpacker.read
  end

  def test_an_error_of_the_block_leaves_the_other_objects
    @unpacker.feed("\x01\x02\x03")
    assert_raises(Boom) { @unpacker.each { |object| raise Boom if object == 2 } }
    assert_equal 3, @unpacker.read
  end

  # A key whose hash raises as often as it is asked for.
  class Unhashable
    def hash = raise(Boom, "by hash")
  end

  def test_an_error_of_a_hash_method_passes_over_the_object
    @unpacker.register_type(3) { Unhashable.new }
    ["81 d4 03 61 01", "92 81 d4 03 61 01 02", "92 01 82 01 02 d4 03 61 80"].each do |message|
      @unpacker.feed(bytes("#{message} 06"))
      assert_raises(Boom) { exercise { @unpacker.read } }
      assert_equal 6, exercise { @unpacker.read }, message
    end
  end

  def test_an_error_of_a_hash_method_of_a_map_that_came_in_pieces
    @unpacker.register_type(3) { Unhashable.new }
    @unpacker.feed(bytes("92 82 d4 03 61 a1"))
    assert_raises(EOFError) { @unpacker.read }
    assert_raises(Boom) { exercise { @unpacker.feed(bytes("61 01 02")).read } }
    assert_raises(EOFError) { @unpacker.read }
    assert_equal 6, @unpacker.feed(bytes("05 06")).read
  end

  def test_a_key_that_cannot_be_a_symbol_is_passed_over_with_its_object
    unpacker = Manypack::Unpacker.new(symbolize_keys: true)
    unpacker.feed(bytes("92 81 a1 ff 01 02 06"))
    error = assert_raises(Manypack::MalformedFormatError) { exercise { unpacker.read } }
    assert_kind_of EncodingError, error.cause
    assert_equal 6, unpacker.read
  end

  def test_a_malformed_timestamp_is_passed_over_with_its_object
    unpacker = Manypack::Unpacker.new(timestamp: true).feed(bytes("92 d5 ff 00 00 02 06"))
    assert_raises(Manypack::MalformedFormatError) { exercise { unpacker.read } }
    assert_equal 6, unpacker.read
  end

  # What takes the next object out of sight, and the error that it gives.
  LOST = {
    "c1" => [Manypack::MalformedFormatError, {}], "92 01 c1" => [Manypack::MalformedFormatError, {}],
    "91" * 200 => [Manypack::StackError, {}], "91 91 91" => [Manypack::StackError, { max_depth: 2 }],
    "94 01 02 03" => [Manypack::LimitError, { max_bytes: 3 }], "a5 61 62 63" => [Manypack::LimitError, { max_bytes: 3 }]
  }.freeze

  def test_where_the_next_object_is_not_known_every_read_raises_the_same_until_reset
    LOST.each do |message, (error_class, options)|
      unpacker = Manypack::Unpacker.new(options).feed(bytes(message))
      first = assert_raises(error_class) { unpacker.read }
      unpacker.feed("\x01" * 300)
      %i[read unpack full_unpack skip skip_nil read_array_header read_map_header].each do |method|
        again = assert_raises(error_class) { unpacker.public_send(method) }
        assert_equal [first.message, first.offset], [again.message, again.offset]
      end
      assert_raises(error_class) { unpacker.each { flunk } }
      assert_raises(error_class) { unpacker.feed_each("\x01") { flunk } }
      assert_nil unpacker.reset
      assert_equal 5, unpacker.feed("\x05").read
    end
  end

  def test_after_reset_an_error_of_the_io_is_forgotten_as_before
    LOST.each do |message, (error_class, options)|
      { read: [[7], 8], skip: [nil, nil] }.each do |method, expected|
        answers = [bytes(message), "\x91".b, IOError, "\x07\x08"]
        io = Class.new { define_method(:readpartial) { |_| answers.shift.then { |answer| answer.is_a?(String) ? answer : raise(answer) } } }
        unpacker = Manypack::Unpacker.new(io.new, **options)
        2.times { assert_raises(error_class) { unpacker.public_send(method) } }
        unpacker.reset
        assert_raises(IOError) { unpacker.public_send(method) }
        assert_equal expected, Array.new(2) { unpacker.public_send(method) }, "#{method} #{message}"
      end
    end
  end

  def test_an_object_that_is_whole_and_above_the_limit_is_passed_over
    %i[read skip].each do |method|
      unpacker = Manypack::Unpacker.new(max_bytes: 3).feed(bytes("01 93 01 02 03 02"))
      unpacker.public_send(method)
      error = assert_raises(Manypack::LimitError) { exercise { unpacker.public_send(method) } }
      assert_equal [4, :max_bytes, 4], [error.offset, error.limit, error.value]
      assert_equal 2, unpacker.read
    end
  end

  def test_skip_finds_the_same_errors_as_read
    LOST.each do |message, (error_class, options)|
      unpacker = Manypack::Unpacker.new(options).feed(bytes(message))
      expected = assert_raises(error_class) { Manypack::Unpacker.new(options).feed(bytes(message)).read }
      2.times do
        error = assert_raises(error_class) { unpacker.skip }
        assert_equal expected.offset, error.offset, message
      end
      unpacker.reset
      assert_nil unpacker.feed("\x05").skip
    end
  end

  def test_a_malformed_header_is_lost_too
    @unpacker.feed("\xC1\x90".b)
    2.times { assert_raises(Manypack::MalformedFormatError) { exercise { @unpacker.read_array_header } } }
    assert_raises(Manypack::MalformedFormatError) { @unpacker.read }
  end

  def test_max_bytes_holds_for_each_object_of_a_stream
    unpacker = Manypack::Unpacker.new(max_bytes: 4)
    100.times { assert_equal [1, 2, 3], unpacker.feed("\x93\x01\x02\x03").read }
    100.times { assert_nil unpacker.feed("\x93\x01\x02\x03").skip }
    stream = "\x93\x01\x02\x03" * 10
    assert_equal [[1, 2, 3]] * 10, unpacker.feed_each(stream).to_a
    error = assert_raises(Manypack::LimitError) { unpacker.feed("\x94\x01\x02\x03\x04").read }
    assert_equal [:max_bytes, 5], [error.limit, error.value]
  end

  def test_max_bytes_ends_an_object_that_never_does
    unpacker = Manypack::Unpacker.new(max_bytes: 1_000)
    unpacker.feed(bytes("dd ff ff ff ff"))
    fed = (1..).find do
      unpacker.feed("\x01" * 100)
      unpacker.read
    rescue EOFError
      false
    rescue Manypack::LimitError
      true
    end
    assert_equal 10, fed
  end

  def test_max_bytes_holds_for_a_string_that_never_ends_and_for_skip
    [:read, :skip].each do |method|
      unpacker = Manypack::Unpacker.new(max_bytes: 1_000).feed(bytes("db ff ff ff ff"))
      9.times { assert_raises(EOFError) { unpacker.feed("x" * 100).public_send(method) } }
      assert_raises(Manypack::LimitError) { unpacker.feed("x" * 100).public_send(method) }
    end
  end

  def test_max_depth_holds_across_feeds
    unpacker = Manypack::Unpacker.new(max_depth: 5)
    5.times { assert_raises(EOFError) { unpacker.feed("\x91".b).read } }
    assert_raises(Manypack::StackError) { unpacker.feed("\x91".b).read }
    unpacker.reset
    5.times { assert_raises(EOFError) { unpacker.feed("\x91".b).skip } }
    assert_raises(Manypack::StackError) { unpacker.feed("\x91".b).skip }
    unpacker.reset
    assert_equal [[[[[1]]]]], unpacker.feed(bytes("91 91 91 91 91 01")).read
  end

  def test_truncation_is_no_loss
    @unpacker.feed("\x92\x01")
    10.times { assert_raises(Manypack::TruncatedError) { exercise { @unpacker.read } } }
    assert_equal [1, 2], @unpacker.feed("\x02").read
  end
end

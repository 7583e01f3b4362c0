# frozen_string_literal: true

# Where a stream is: the end of the last whole object, whether one has been begun, and where an unfinished one starts.
require "test_helper"
require "stringio"
require "support/forks"

class StreamPositionTest < Minitest::Test
  include CorePart

  # A message of every kind.
  MESSAGES = [5, 200, 2**40, -3, 1.5, nil, true, "", "text", "l" * 300, "bin".b, [], [1, "two", [nil, [3]]], {}, { "k" => { [1] => "v" } },
              Manypack::ExtensionValue.new(5, "w"), Manypack::ExtensionValue.new(6, "e" * 20)].map { |object| Manypack.pack(object) }.freeze
  BEFORE = Manypack.pack(["before"])

  # An io whose read waits for all that it is asked for.
  class Exact
    def initialize(bytes)
      @io = StringIO.new(bytes)
    end

    def read(size) = @io.read(size)
  end

  # Unpackers over bytes, by how those come.
  FRONTS = {
    "feed" => ->(bytes) { Manypack::Unpacker.new(allow_unknown_ext: true).feed(bytes) },
    "feed by byte" => ->(bytes) { bytes.each_char.inject(Manypack::Unpacker.new(allow_unknown_ext: true)) { |unpacker, byte| unpacker.feed(byte) } },
    "io" => ->(bytes) { Manypack::Unpacker.new(StringIO.new(bytes), allow_unknown_ext: true) },
    "io that reads exactly" => ->(bytes) { Manypack::Unpacker.new(Exact.new(bytes), allow_unknown_ext: true) },
    "limits" => ->(bytes) { Manypack::Unpacker.new(StringIO.new(bytes), allow_unknown_ext: true, max_objects: 100) },
    "codec" => ->(bytes) { Manypack::Codec.new(allow_unknown_ext: true).unpacker(StringIO.new(bytes)) },
    "factory" => ->(bytes) { Manypack::Factory.new.unpacker(allow_unknown_ext: true).feed(bytes) },
    "bytes" => ->(bytes) { Manypack::Unpacker.new(StringIO.new(bytes), as: Manypack::Codec.new(allow_unknown_ext: true)) },
    "views" => ->(bytes) { Manypack::Unpacker.new(as: :view, allow_unknown_ext: true).feed(bytes) }
  }.freeze

  # The ways to come to the end of the bytes, and whether they raise there.
  WAYS = {
    "read" => [true, ->(unpacker) { loop { unpacker.read } }], "skip" => [true, ->(unpacker) { loop { unpacker.skip } }],
    "each" => [false, ->(unpacker) { unpacker.each { nil } }], "strict" => [true, ->(unpacker) { unpacker.each(strict: true) { nil } }],
    "feed_each" => [false, ->(unpacker) { unpacker.feed_each("") { nil } }]
  }.freeze

  FRONTS.each do |front, unpacker_of|
    WAYS.each do |way, (raises, run)|
      define_method("test_every_cut_by_#{front}_and_#{way}".tr(" ", "_")) do
        each_cut do |message, cut|
          unpacker = unpacker_of.call(BEFORE + message.byteslice(0, cut))
          error = exercise { ended { run.call(unpacker) } }
          assert_equal [BEFORE.bytesize, cut > 0], [unpacker.position, unpacker.pending?], [message, cut].inspect
          assert_equal raises && !(way == "strict" && cut.zero?), !error.nil?
          assert_instance_of cut.zero? ? EOFError : Manypack::TruncatedError, error if error
          assert_equal BEFORE.bytesize, error.start if error && cut > 0
        end
      end
    end
  end

  def test_the_rest_may_come_later
    each_cut do |message, cut|
      [{}, { as: :view }].each do |options|
        unpacker = Manypack::Unpacker.new(allow_unknown_ext: true, **options).feed(BEFORE + message.byteslice(0, cut))
        2.times { truncated { unpacker.each(strict: true) { nil } } }
        exercise { unpacker.feed(message.byteslice(cut..)).read }
        assert_equal [BEFORE.bytesize + message.bytesize, false], [unpacker.position, unpacker.pending?]
      end
    end
  end

  def test_bytes_that_nothing_has_tried_to_read_are_not_pending
    unpacker = Manypack::Unpacker.new.feed("\x91\x01\x02\x92".b)
    assert_equal [0, false], [unpacker.position, unpacker.pending?]
    unpacker.each { break }
    assert_equal [2, false], [unpacker.position, unpacker.pending?]
    unpacker.each { nil }
    assert_equal [3, true], [unpacker.position, unpacker.pending?]
    unpacker.reset
    assert_equal [0, false], [unpacker.position, unpacker.pending?]
  end

  def test_inside_the_block_it_is_after_the_object
    unpacker = Manypack::Unpacker.new.feed(MESSAGES.first(5).join)
    assert_equal (1..5).map { |count| MESSAGES.first(count).sum(&:bytesize) }, [].tap { |seen| unpacker.each { seen << unpacker.position } }
  end

  def test_headers_make_objects_of_the_elements
    unpacker = Manypack::Unpacker.new.feed("\x92\x01\xA5a".b)
    unpacker.read_array_header
    unpacker.read
    assert_equal 2, truncated { unpacker.read }.start
    assert_equal [2, true], [unpacker.position, unpacker.pending?]
  end

  def test_an_object_that_failed
    unpacker = Manypack::Unpacker.new.feed("\x01\x92\xD4\x05a\x02\x03".b)
    assert_equal 1, unpacker.read
    assert_raises(Manypack::UnknownExtTypeError) { unpacker.read }
    assert_equal 3, unpacker.read
    assert_equal [7, false], [unpacker.position, unpacker.pending?]
    unpacker.feed("\x04\x92\xC0\xC1".b).read
    2.times do
      assert_raises(Manypack::MalformedFormatError) { unpacker.read }
      assert_equal [8, true], [unpacker.position, unpacker.pending?]
    end
    unpacker = Manypack::Unpacker.new.feed("\x01\x92\xD4\x05a".b)
    assert_raises(Manypack::UnknownExtTypeError) { [unpacker.read, unpacker.read] }
    assert_equal 1, truncated { unpacker.read }.start
    assert_equal [1, true], [unpacker.position, unpacker.pending?]
  end

  def test_a_handler_sees_where_the_whole_object_starts
    seen = []
    unpacker = Manypack::Unpacker.new
    unpacker.register_type(1) { |body| seen << [unpacker.position, unpacker.pending?] && body }
    "\x01\x93\xC0\xD4\x01a\x02".b.each_char { |byte| unpacker.feed_each(byte) { nil } }
    assert_equal [[1, true]], seen
    assert_equal 7, unpacker.position
  end

  def test_the_body_of_an_ext_has_positions_of_the_stream
    seen = []
    factory = Manypack::Factory.new
    factory.register_type(1, Range, unpacker: ->(body) { Array.new(2) { body.read.tap { seen << body.position } } }, recursive: true)
    assert_equal [5, [[6], 7]], factory.unpacker.feed("\x05\xC7\x03\x01\x91\x06\x07".b).each.to_a
    assert_equal [6, 7], seen
  end

  # Not a truncated input, so it has no start.
  def test_a_body_that_is_too_short_is_no_truncated_input
    factory = Manypack::Factory.new
    factory.register_type(1, Range, unpacker: ->(body) { [body.read, body.read] }, recursive: true)
    assert_raises(Manypack::MalformedFormatError) { factory.load("\xD4\x01\x05".b) }
  end

  def test_one_object_starts_at_0_by_every_front
    cut = "\x92\x01\xA5te".b
    factory = Manypack::Factory.new
    [-> { Manypack.unpack(cut) }, -> { Manypack.unpack("") }, -> { Manypack.unpack(StringIO.new(cut)) },
     -> { Manypack::Codec.new.unpack(cut) }, -> { Manypack::Codec.new(max_objects: 9).unpack(StringIO.new(cut)) }, -> { factory.load(cut) },
     -> { factory.pool.load(cut) }, -> { factory.pool.unpacker { |unpacker| unpacker.feed(cut).full_unpack } },
     -> { Manypack::View.new(cut, check: true) }, -> { Manypack::View.new(cut)[1] }, -> { Manypack.canonicalize(cut) }].each do |front|
      assert_equal 0, truncated { exercise(&front) }.start
    end
    assert_equal 0, Manypack::TruncatedError.new.start
  end

  def test_parallel_tells_where_the_unfinished_message_starts
    stream = MESSAGES.first(4).join
    Forks.without_impossible([{ ractors: 0 }, { ractors: 1 }, { processes: 1 }]).product([{}, { as: :view }]) do |workers, as|
      [stream + "\x93\x01".b, StringIO.new(stream + "\x93\x01".b), [stream, "\x93\x01".b]].each do |source|
        error = truncated { Manypack::Parallel.map(source, **workers, **as) { |object| object && nil } }
        assert_equal [stream.bytesize, stream.bytesize + 2], [error.start, error.offset], [workers, as, source.class].inspect
      end
    end
  end

  def test_a_fiber_that_has_left_each
    unpacker = Manypack::Unpacker.new.feed("\x01\x91\x02\x92".b)
    objects = unpacker.each
    assert_equal [1, 1, [2], 3], [objects.next, unpacker.position, objects.next, unpacker.position]
    assert_raises(StopIteration) { objects.next }
    assert_predicate unpacker, :pending?
  end

  def test_enumerable
    assert_empty(Enumerable.instance_methods.reject { |name| Manypack::Unpacker.instance_method(name).owner == Enumerable })
    unpacker = Manypack::Unpacker.new.feed("\x01\x02\x03\x04\x05\x06".b)
    assert_equal 1, unpacker.first
    assert_equal [20, 30], unpacker.lazy.map { |n| n * 10 }.first(2)
    assert_equal [4, 5], unpacker.each.take(2)
    assert_equal [6], unpacker.to_a
    assert_equal [], unpacker.each(strict: true).to_a
    truncated { unpacker.feed("\x91".b).each(strict: true).to_a }.then { |error| assert_equal 6, error.start }
  end

  def test_each_refuses_other_options
    assert_raises(ArgumentError) { Manypack::Unpacker.new.each(strickt: true) { nil } }
    assert_raises(ArgumentError) { Manypack::Unpacker.new.each(true) { nil } }
  end

  private

  def ended
    yield
    nil
  rescue EOFError => error
    error
  end

  def each_cut
    return MESSAGES.values_at(9, 12, 16).each { |message| yield message, message.bytesize / 2 } if FEW_CASES

    MESSAGES.each { |message| message.bytesize.times { |cut| yield message, cut unless (20..message.bytesize - 20).cover?(cut) } }
  end
end

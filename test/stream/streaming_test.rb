# frozen_string_literal: true

# An Unpacker stops at every byte and goes on, whichever of its methods reads, and whatever it stops in.
require "test_helper"
require_relative "../contract/decoding_contract"

class StreamingTest < Minitest::Test
  Box = Struct.new(:content)

  BOXES = Manypack::Factory.new.tap do |factory|
    factory.register_type(1, Box, packer: ->(box, packer) { packer.write(box.content) },
                                  unpacker: ->(unpacker) { Box.new(unpacker.read) }, recursive: true)
  end.freeze

  # Each of them is cut at every byte: inside heads, strings, keys, ext bodies, and recursive ones.
  OBJECTS = [
    nil, true, 7, -7, 200, 70_000, 2**40, 2**64 - 1, -200, -(2**40), 1.5, "", "short", "s" * 300, "\xFF".b * 20, [], {},
    [1, [2, ["three", nil]], 4], { "key" => { "inner key" => [1, 2] }, 1 => 2 }, [{ [1, "a"] => "array key" }, { nil => {} }],
    Box.new(1), Box.new([1, { "in" => Box.new("deep" * 20) }]), [Box.new(nil), Box.new("x" * 40)], { Box.new(1) => Box.new(2) },
    Array.new(20) { |i| "element #{i}" }, (0...20).to_h { |i| ["key #{i}", i] }
  ].freeze

  def setup
    @unpacker = Manypack::Unpacker.new
  end

  def test_read_goes_on_at_every_byte
    OBJECTS.each do |object|
      whole = BOXES.dump(object)
      (0..whole.bytesize).each do |cut|
        unpacker = BOXES.unpacker.feed(whole.byteslice(0, cut))
        if cut < whole.bytesize
          2.times { assert_raises(cut.zero? ? EOFError : Manypack::TruncatedError) { unpacker.read } }
          unpacker.feed(whole.byteslice(cut..))
        end
        assert_object object, unpacker.read
        assert_predicate unpacker.buffer, :empty?
      end
    end
  end

  def test_read_goes_on_after_every_single_byte
    unpacker = BOXES.unpacker
    OBJECTS.each do |object|
      *bytes, last = BOXES.dump(object).each_char.to_a
      bytes.each { |byte| assert_raises(EOFError) { unpacker.feed(byte).read } }
      assert_object object, unpacker.feed(last).read
    end
  end

  def test_what_waits_in_the_middle_outlives_collections
    object = { "key" => [1, Box.new(["inner", 2.5e300]), "s" * 300], [1] => nil }
    whole = BOXES.dump(object)
    whole.bytesize.fdiv(4).ceil.step(whole.bytesize - 1, 67) do |cut|
      unpacker = BOXES.unpacker.feed(whole.byteslice(0, cut))
      assert_raises(EOFError) { exercise { unpacker.read } }
      exercise { unpacker.feed(whole.byteslice(cut..)) }
      assert_equal object, exercise { unpacker.read }
    end
  end

  def test_each_goes_on_at_every_byte
    stream = OBJECTS.map { |object| BOXES.dump(object) }.join
    [1, 2, 3, 7, 100, 255, 256, 300, 5_000].each do |step|
      unpacker = BOXES.unpacker
      objects = []
      0.step(stream.bytesize - 1, step) do |at|
        unpacker.feed(stream.byteslice(at, step))
        assert_nil(unpacker.each { |object| objects << object })
      end
      assert_equal OBJECTS, objects
    end
  end

  def test_feed_each_goes_on_at_every_byte
    stream = OBJECTS.map { |object| BOXES.dump(object) }.join
    unpacker = BOXES.unpacker
    objects = []
    stream.each_char { |byte| assert_nil(unpacker.feed_each(byte) { |object| objects << object }) }
    assert_equal OBJECTS, objects
  end

  def test_skip_goes_on_at_every_byte
    OBJECTS.each do |object|
      whole = BOXES.dump(object)
      (0..whole.bytesize).each do |cut|
        unpacker = Manypack::Unpacker.new.feed(whole.byteslice(0, cut))
        if cut < whole.bytesize
          2.times { assert_raises(cut.zero? ? EOFError : Manypack::TruncatedError) { unpacker.skip } }
          unpacker.feed(whole.byteslice(cut..))
        end
        unpacker.feed("\x2A")
        assert_nil unpacker.skip
        assert_equal 42, unpacker.read
      end
    end
  end

  def test_skip_drops_the_rest_of_what_read_began
    OBJECTS.each do |object|
      whole = BOXES.dump([object, object])
      (1...whole.bytesize).each do |cut|
        unpacker = BOXES.unpacker.feed(whole.byteslice(0, cut))
        assert_raises(EOFError) { unpacker.read }
        unpacker.feed(whole.byteslice(cut..)).feed("\x2A")
        assert_nil unpacker.skip
        assert_equal 42, unpacker.read
      end
    end
  end

  def test_read_after_a_skip_that_did_not_end_passes_over_the_rest
    whole = BOXES.dump([1, { "a" => Box.new("b") }])
    (1...whole.bytesize).each do |cut|
      unpacker = BOXES.unpacker.feed(whole.byteslice(0, cut))
      assert_raises(EOFError) { unpacker.skip }
      unpacker.feed(whole.byteslice(cut..)).feed("\x2A")
      assert_equal 42, unpacker.read
    end
  end

  def test_headers_go_on_at_every_byte
    { read_array_header: %w[90 93 dc0010 dd00010000], read_map_header: %w[80 83 de0010 df00010000] }.each do |method, heads|
      heads.zip([0, 3, 16, 65_536]) do |head, count|
        *bytes, last = bytes(head).each_char.to_a
        unpacker = Manypack::Unpacker.new
        bytes.each { |byte| assert_raises(EOFError) { unpacker.feed(byte).public_send(method) } }
        assert_equal count, unpacker.feed(last).public_send(method)
      end
      assert_raises(EOFError) { @unpacker.public_send(method) }
    end
  end

  def test_a_header_of_another_kind_stays
    @unpacker.feed("\x91\x05")
    error = assert_raises(Manypack::UnexpectedTypeError) { exercise { @unpacker.read_map_header } }
    assert_equal "expected map, got array, at byte 0", error.message
    assert_kind_of Manypack::TypeError, error
    assert_equal 1, @unpacker.read_array_header
    error = assert_raises(Manypack::UnexpectedTypeError) { @unpacker.read_array_header }
    assert_equal "expected array, got fixint, at byte 1", error.message
    assert_equal 5, @unpacker.read
  end

  def test_a_read_without_a_byte_begins_no_object
    { skip_nil: "\xC0", read_array_header: "\x90", read_map_header: "\x80", read: "\x91\x01" }.each do |method, bytes|
      assert_raises(EOFError) { @unpacker.read }
      refute_nil exercise { @unpacker.feed(bytes.b).public_send(method) }
    end
  end

  def test_elements_are_read_one_by_one_behind_a_header
    @unpacker.feed(pack({ "a" => [1, 2], "b" => nil, "c" => "d" }))
    assert_equal 3, @unpacker.read_map_header
    assert_equal "a", @unpacker.read
    assert_equal 2, @unpacker.read_array_header
    assert_equal [1, 2, "b"], Array.new(3) { @unpacker.read }
    assert @unpacker.skip_nil
    @unpacker.skip
    assert_equal "d", @unpacker.read
    assert_raises(EOFError) { @unpacker.read }
  end

  def test_skip_nil_consumes_a_nil_and_nothing_else
    @unpacker.feed("\xC0\xC0\x01\x90".b)
    assert_same true, exercise { @unpacker.skip_nil }
    assert_same true, @unpacker.skip_nil
    2.times { assert_same false, exercise { @unpacker.skip_nil } }
    assert_equal 1, @unpacker.read
    assert_same false, @unpacker.skip_nil
    assert_equal [], @unpacker.read
    assert_instance_of EOFError, assert_raises(EOFError) { @unpacker.skip_nil }
    @unpacker.feed("\xCF".b)
    assert_raises(Manypack::TruncatedError, "whose head is not all there") { @unpacker.skip_nil }
  end

  def test_headers_and_skip_nil_are_refused_in_the_middle_of_an_object
    @unpacker.feed("\x92\x01")
    assert_raises(EOFError) { @unpacker.read }
    @unpacker.feed("\xC0".b)
    %i[skip_nil read_array_header read_map_header].each do |method|
      error = assert_raises(RuntimeError) { exercise { @unpacker.public_send(method) } }
      assert_match(/partly read/, error.message)
    end
    assert_equal [1, nil], @unpacker.read
  end

  def test_every_truncation_point_of_everything_is_a_truncated_error_and_then_the_object
    whole = bytes(DecodingContract::EVERYTHING)
    expected = unpack(whole, allow_unknown_ext: true)
    one_by_one = Manypack::Unpacker.new(allow_unknown_ext: true)
    one_by_one.feed(whole.byteslice(0))
    (1...whole.bytesize).each do |size|
      at_once = Manypack::Unpacker.new(allow_unknown_ext: true).feed(whole.byteslice(0, size))
      [at_once, one_by_one].each do |unpacker|
        error = assert_raises(Manypack::TruncatedError) { unpacker.read }
        assert_includes 0..size, error.offset
      end
      assert_equal expected, at_once.feed(whole.byteslice(size..)).read
      one_by_one.feed(whole.byteslice(size))
    end
    assert_equal expected, one_by_one.read
  end

  def test_objects_of_a_chunk_and_a_part_of_the_next_one
    stream = [1, "two", { "three" => [4] }].map { |object| pack(object) }.join * 3
    (0..stream.bytesize).each do |cut|
      objects = []
      @unpacker.feed_each(stream.byteslice(0, cut)) { |object| objects << object }
      @unpacker.feed_each(stream.byteslice(cut..)) { |object| objects << object }
      assert_equal [1, "two", { "three" => [4] }] * 3, objects
    end
  end

  def test_feed_each_destructures_as_blocks_do
    pairs = []
    @unpacker.feed_each(pack(["a", 1]) + pack(["b", 2])) { |key, value| pairs << [key, value] }
    assert_equal [["a", 1], ["b", 2]], pairs
  end

  def test_each_without_a_block_is_an_enumerator
    @unpacker.feed("\x01\x02")
    enumerator = @unpacker.each
    assert_instance_of Enumerator, enumerator
    assert_equal [1, 2], enumerator.to_a
    assert_equal [], @unpacker.each.to_a
  end

  def test_feed_each_without_a_block_feeds_when_it_is_enumerated
    enumerator = @unpacker.feed_each("\x01\x02")
    assert_raises(EOFError) { @unpacker.read }
    assert_equal [1, 2], enumerator.to_a
  end

  def test_an_external_enumerator
    enumerator = @unpacker.feed("\x01\x02\x03").each
    assert_equal [1, 2, 3], Array.new(3) { enumerator.next }
    assert_raises(StopIteration) { enumerator.next }
  end

  def test_break_leaves_the_other_objects
    @unpacker.feed("\x01\x02\x03")
    assert_equal :out, @unpacker.each { |object| break :out if object == 2 }
    assert_equal 3, @unpacker.read
    assert_equal(:out, @unpacker.feed_each("\x04\x05") { break :out })
    assert_equal 5, @unpacker.read
  end

  def test_unpack_is_read
    assert_equal [1], @unpacker.feed("\x91\x01").unpack
  end

  def test_full_unpack_wants_the_object_and_nothing_behind_it
    assert_equal [1], @unpacker.feed("\x91\x01").full_unpack
    error = assert_raises(Manypack::MalformedFormatError) { @unpacker.feed("\x01\x02\x03").full_unpack }
    assert_equal "2 extra bytes after the deserialized object, at byte 3; Manypack.split reads many messages, Manypack.foreach a file of them", error.message
    assert_raises(EOFError) { Manypack::Unpacker.new.full_unpack }
  end

  def test_offsets_count_from_the_start_of_the_stream
    @unpacker.feed(pack("x" * 1_000)).read
    @unpacker.feed("\x01\x92\x01\xC1".b).read
    error = assert_raises(Manypack::MalformedFormatError) { @unpacker.read }
    assert_equal 1_003 + 3, error.offset
    @unpacker.reset
    error = assert_raises(Manypack::MalformedFormatError) { @unpacker.feed("\xC1".b).read }
    assert_equal 0, error.offset
  end

  # As at the end of an IO. What is cut is a TruncatedError.
  def test_a_clean_end_is_an_eof_error_and_no_truncated_error
    calls = %i[read unpack skip skip_nil read_array_header read_map_header]
    sources = { "nothing" => -> { Manypack::Unpacker.new }, "bytes" => -> { Manypack::Unpacker.new.feed("\x01").tap(&:read) },
                "an io" => -> { Manypack::Unpacker.new(StringIO.new("\x01")).tap(&:skip) }, "a Codec" => -> { Manypack::Codec.new(untrusted: true).unpacker.feed("\x01").tap(&:read) },
                "a pipe" => -> { Manypack::Unpacker.new(IO.pipe.tap { |_, writer| writer.write("\x01").then { writer.close } }[0]).tap(&:read) },
                "Views" => -> { Manypack::Unpacker.new(as: :view).feed("\x01").tap(&:read) } }
    sources.each do |name, make|
      calls.each do |call|
        at_end = make.call
        2.times { assert_instance_of EOFError, assert_raises(EOFError, "#{call} of #{name}") { at_end.public_send(call) } }
        refute_predicate at_end, :pending?
        cut = Manypack::Unpacker.new.feed("\xDC\x00")
        2.times { assert_raises(Manypack::TruncatedError) { cut.public_send(call) } }
      end
      assert_raises(Manypack::TruncatedError, name) { make.call.full_unpack }
    end
    [-> { Manypack.unpack("") }, -> { Manypack.unpack(StringIO.new("")) }, -> { Manypack::Factory.new.load("") }].each { |call| assert_raises(Manypack::TruncatedError, &call) }
    factory = Manypack::Factory.new.tap { |made| made.register_type(1, Object, packer: ->(_) { "" }, unpacker: ->(body) { Manypack::Unpacker.new.feed(body).read }) }
    assert_raises(Manypack::MalformedFormatError, "no end of the outer stream") { factory.unpacker.feed("\xC7\x00\x01").read }
  end

  def test_offsets_count_what_was_skipped
    @unpacker.feed(pack([1] * 100)).skip
    @unpacker.feed("\xC0\x91\xD4\x05a".b).skip_nil
    error = assert_raises(Manypack::UnknownExtTypeError) { @unpacker.read }
    assert_equal 103 + 1 + 1, error.offset
    error = assert_raises(EOFError) { @unpacker.read }
    assert_equal "no more objects, at byte #{103 + 5}", error.message
  end

  def test_offsets_inside_a_recursive_body
    factory = BOXES.dup
    error = assert_raises(Manypack::MalformedFormatError) { factory.unpacker.feed("\x2A\x91\xC7\x03\x01\x92\x01\xC1".b).each.to_a }
    assert_equal "0xc1 is not a MessagePack head byte, at byte 7", error.message
  end

  def test_an_empty_feed_changes_nothing
    assert_same @unpacker, @unpacker.feed("")
    assert_raises(EOFError) { @unpacker.read }
    @unpacker.feed("\x92\x01").feed("")
    assert_raises(EOFError) { @unpacker.read }
    assert_equal [1, 2], @unpacker.feed("").feed("\x02").feed("").read
  end

  def test_a_later_change_of_what_was_fed_is_not_seen
    [10, 255, 256, 1_000, 100_000].each do |size|
      input = +pack(["a" * size, "b"])
      expected = unpack(input)
      @unpacker.feed_reference(input)
      input.replace("\xC1".b * input.bytesize)
      input.clear
      assert_equal expected, @unpacker.read
    end
  end

  def test_what_was_fed_stays_as_it_was
    input = +pack(["a" * 1_000])
    before = input.dup
    @unpacker.feed(input).read << "more"
    assert_equal before, input
    refute_predicate input, :frozen?
    input << "x"
  end

  def test_feed_takes_what_converts_to_a_string_and_nothing_else
    assert_equal 1, @unpacker.feed(Class.new { def to_str = "\x01" }.new).read
    [nil, 1, :a, ["\x01"]].each { |input| assert_raises(TypeError) { @unpacker.feed(input) } }
  end

  def test_a_buffer_shows_and_takes_what_is_not_yet_read
    @unpacker.feed("\x01\x92\x02")
    assert_equal 1, @unpacker.read
    assert_equal "92 02", hex(@unpacker.buffer.to_s)
    @unpacker.buffer << "\x03\x04"
    assert_equal [2, 3], @unpacker.read
    assert_equal "\x04", @unpacker.buffer.read
    assert_raises(EOFError) { @unpacker.read }
  end

  def test_reset_forgets_an_unfinished_object
    @unpacker.feed("\x92\x01")
    assert_raises(EOFError) { @unpacker.read }
    assert_nil @unpacker.reset
    assert_equal 2, @unpacker.feed("\x02").read
    @unpacker.feed("\x92\x01")
    assert_raises(EOFError) { @unpacker.skip }
    @unpacker.reset
    assert_equal 2, @unpacker.feed("\x02").read
  end

  def test_freeze_is_true_of_an_unpacker_whose_objects_are_frozen
    [{}, { freeze: true }, { shareable: true }, { freeze: true, shareable: true }, { freeze: false, shareable: true }, { shareable: false }].each do |options|
      codec = Manypack::Codec.new(options)
      [Manypack::Unpacker.new(options), codec.unpacker, Manypack::Factory.new.unpacker(options), Manypack::Unpacker.new(codec: codec)].each do |unpacker|
        assert_equal unpacker.feed("\x91\xA1a".b).read.frozen?, unpacker.freeze?, options.inspect
      end
    end
  end

  def test_options_and_their_predicates
    predicates = %i[symbolize_keys? freeze? allow_unknown_ext?]
    assert_equal([false] * 3, predicates.map { |predicate| @unpacker.public_send(predicate) })
    unpacker = Manypack::Unpacker.new({ symbolize_keys: true, freeze: true, allow_unknown_ext: true })
    assert_equal([true] * 3, predicates.map { |predicate| unpacker.public_send(predicate) })
    assert_equal({ a: 1 }, unpacker.feed("\x81\xA1a\x01".b).read)
    assert_equal 1, Manypack::Unpacker.new(nil).feed("\x01").read
    assert_equal 1, Manypack::Unpacker.new(nil, nil).feed("\x01").read
    assert_equal({ a: 1 }, Manypack::Unpacker.new(nil, symbolize_keys: true).feed("\x81\xA1a\x01".b).read)
    assert_raises(TypeError) { Manypack::Unpacker.new(nil, 5) }
    assert_raises(ArgumentError) { Manypack::Unpacker.new(nil, nil, nil) }
  end

  def test_an_unpacker_is_not_copied_and_is_initialized_once
    assert_raises(NoMethodError) { @unpacker.dup }
    assert_raises(NoMethodError) { @unpacker.clone }
    %i[dup clone].each { |method| assert_match(/; create another one, with the same options/, assert_raises(NoMethodError) { @unpacker.public_send(method) }.message) }
    assert_raises(TypeError) { Marshal.dump(@unpacker) }
    assert_refused { @unpacker.send(:initialize) }
    %i[read skip each reset buffer].each do |method|
      assert_refused { Manypack::Unpacker.allocate.public_send(method) { nil } }
    end
  end

  def test_a_subclass_is_an_unpacker
    klass = Class.new(Manypack::Unpacker) { def initialize(*) = super(symbolize_keys: true) }
    assert_equal({ a: 1 }, klass.new(:ignored).feed("\x81\xA1a\x01".b).read)
  end

  def test_a_frozen_unpacker_reads_but_takes_no_types
    assert_equal [1], @unpacker.freeze.feed("\x91\x01").read
    assert_raises(FrozenError) { @unpacker.register_type(1) { nil } }
  end

  private

  def assert_object(expected, actual)
    expected.nil? ? assert_nil(actual) : assert_equal(expected, actual)
  end
end

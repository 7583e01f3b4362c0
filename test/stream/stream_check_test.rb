# frozen_string_literal: true

# The check of a stream in pieces: the same answer wherever they are cut.
require "test_helper"
require "support/terminal_classes"

class StreamCheckTest < Minitest::Test
  include CorePart

  INTERNAL = Manypack.const_get(:Internal)
  MESSAGES = [1, "a" * 40, "b" * 300, [1, [2**40, {"k" => -1.5}]], Manypack::ExtensionValue.new(3, "e" * 20), "", {}, 2**64 - 1]
             .map { |object| Manypack.pack(object) }.freeze
  STREAM = (MESSAGES + ["\xdb\x00\x00\x00\x02hi".b, "\xdd\x00\x00\x00\x01\xdf\x00\x00\x00\x00".b]).join.b.freeze

  # Pieces that hold the longest head, or more.
  SIZES = (9..40).freeze

  def test_pieces_of_every_size_give_the_same
    SIZES.each { |size| assert_equal [MESSAGES.size + 2, STREAM.bytesize, STREAM.bytesize, true], check(STREAM, size), size }
  end

  def test_the_end_may_be_anywhere
    whole = MESSAGES.map(&:bytesize).inject([0]) { |ends, bytes| [*ends, ends.last + bytes] }
    (0..whole.last).each do |cut|
      messages, last, _, fine = check(STREAM.byteslice(0, cut), 10)
      expected = whole.select { |at| at <= cut }.max
      assert_equal [whole.index(expected), expected, expected == cut], [messages, last, fine], cut
    end
  end

  def test_half_a_head_is_no_end
    assert_equal [1, 1, 1, false], check("\x01\xcd\x01".b, 9)
    assert_equal [1, 1, 1, false], check("\x01\xc1".b, 9)
  end

  def test_a_fault_is_found_at_its_byte
    bytes = STREAM + "\x92\x01\xc1\x01".b
    SIZES.each { |size| assert_equal [STREAM.bytesize, STREAM.bytesize + 2, false], check(bytes, size).last(3), size }
  end

  def test_nesting_is_limited
    assert_equal [0, 0, 3, false], check("\x91\x91\x91\x91\x01", 9, max_depth: 3)
    assert_equal [1, 5, 5, true], check("\x91\x91\x91\x91\x01", 9, max_depth: 4)
    assert_raises(TypeError) { INTERNAL.check_stream(Manypack::Codec.new) { 1 } }
  end

  private

  def check(bytes, size, **options)
    codec = Manypack::Codec.new(**options)
    exercise { INTERNAL.check_stream(codec) { |at| bytes.byteslice(at, size) if at < bytes.bytesize } }
  end
end

# frozen_string_literal: true

# The check of a stream in pieces: the same answer wherever they are cut.
require "test_helper"
require "support/terminal_classes"

class StreamCheckTest < Minitest::Test
  include CorePart

  StreamCheck = Manypack.const_get(:StreamCheck)
  MESSAGES = [1, "a" * 40, "b" * 300, [1, [2**40, {"k" => -1.5}]], Manypack::ExtensionValue.new(3, "e" * 20), "", {}, 2**64 - 1]
             .map { |object| Manypack.pack(object) }.freeze
  STREAM = (MESSAGES + ["\xdb\x00\x00\x00\x02hi".b, "\xdd\x00\x00\x00\x01\xdf\x00\x00\x00\x00".b]).join.b.freeze

  def test_pieces_of_every_size_give_the_same
    (1..40).each do |size|
      check = passed(STREAM, size)
      assert_equal [MESSAGES.size + 2, STREAM.bytesize, STREAM.bytesize, true], answers(check), size
    end
  end

  def test_the_end_may_be_anywhere
    whole = MESSAGES.map(&:bytesize).inject([0]) { |ends, bytes| [*ends, ends.last + bytes] }
    (0..whole.last).each do |cut|
      check = passed(STREAM.byteslice(0, cut), 7)
      last = whole.select { |at| at <= cut }.max
      assert_equal [whole.index(last), last, last == cut], [check.messages, check.whole, check.between?], cut
    end
  end

  def test_a_fault_is_found_at_its_byte
    bytes = STREAM + "\x92\x01\xc1\x01".b
    (1..40).each do |size|
      check = StreamCheck.new(Manypack::Codec.new)
      assert(pieces(bytes, size).find { |piece| !exercise { check.pass(piece) } })
      assert_equal [STREAM.bytesize, STREAM.bytesize + 2], [check.whole, check.passed], size
    end
  end

  # Also if its head came in two pieces.
  def test_a_fault_stays_one
    bytes = "\x91\xdd\x00\x00\x00\x01\x01\x02\x03\x04\x05\x06\x07\x08\x09".b
    (1..15).each do |cut|
      check = StreamCheck.new(Manypack::Codec.new(max_depth: 1))
      pieces = [bytes.byteslice(0, cut), bytes.byteslice(cut..)] + ["\x00" * 9] * 50
      fine = pieces.map { |piece| check.pass(piece) }
      assert_equal [[false] * 50, 0, 1, false], [fine.last(50), check.whole, check.passed, check.between?], cut
    end
  end

  def test_nesting_is_limited
    refute StreamCheck.new(Manypack::Codec.new(max_depth: 3)).pass("\x91\x91\x91\x91\x01")
    assert StreamCheck.new(Manypack::Codec.new(max_depth: 4)).pass("\x91\x91\x91\x91\x01")
    assert_raises(TypeError) { StreamCheck.new(Manypack::Codec.new).pass(1) }
  end

  private

  def pieces(bytes, size)
    (0...bytes.bytesize).step(size).map { |at| bytes.byteslice(at, size) }
  end

  def passed(bytes, size)
    check = exercise { StreamCheck.new(Manypack::Codec.new) }
    pieces(bytes, size).each { |piece| assert exercise { check.pass(piece) } }
    check
  end

  def answers(check)
    [check.messages, check.whole, check.passed, check.between?]
  end
end

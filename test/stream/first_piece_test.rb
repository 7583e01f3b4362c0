# frozen_string_literal: true

# An Unpacker makes its Buffer when the first fed String is not all that it needs. Nobody can tell when that was.
require "test_helper"
require "support/costs"

class FirstPieceTest < Minitest::Test
  include Costs

  BYTES = "\x92\x01\xA3two\x03\x04".b.freeze

  # Ways to make the Buffer, each of which leaves the bytes as they are.
  MAKING = {
    "feed" => ->(unpacker) { unpacker.feed("") },
    "feed_reference" => ->(unpacker) { unpacker.feed_reference("") },
    "buffer" => ->(unpacker) { unpacker.buffer },
    "nothing" => ->(unpacker) {}
  }.freeze

  def test_the_buffer_comes_at_any_byte_and_between_any_two_reads
    MAKING.each do |name, make|
      BYTES.bytesize.times do |cut|
        unpacker = Manypack::Unpacker.new.feed(BYTES.byteslice(0, cut))
        first = unpacker.each.to_a
        make.call(unpacker)
        rest = unpacker.feed(BYTES.byteslice(cut..)).each.to_a
        assert_equal [[1, "two"], 3, 4], first + rest, "#{name} at byte #{cut}"
        assert_equal [BYTES.bytesize, false, true], [unpacker.position, unpacker.pending?, unpacker.buffer.empty?]
      end
    end
  end

  def test_the_buffer_has_what_is_not_read_yet
    unpacker = Manypack::Unpacker.new.feed(BYTES)
    assert_equal [1, "two"], unpacker.read
    assert_equal "\x03\x04".b, unpacker.buffer.to_s
    assert_equal 3, unpacker.read
    assert_equal "\x04".b, unpacker.buffer.read
    assert_raises(EOFError) { unpacker.read }
  end

  def test_a_buffer_that_a_handler_asks_for_in_the_middle_is_in_use_until_the_read_ends
    buffer = nil
    unpacker = Manypack::Unpacker.new
    unpacker.register_type(1) do |body|
      buffer = unpacker.buffer
      %i[to_s clear size].each { |method| assert_raises(RuntimeError, method.to_s) { buffer.public_send(method) } }
      assert_raises(RuntimeError) { unpacker.feed("\x05") }
      body
    end
    assert_equal ["a", 2], unpacker.feed("\x92\xD4\x01a\x02\x03".b).read
    assert_same buffer, unpacker.buffer
    assert_equal "\x03".b, buffer.to_s
    assert_equal 3, unpacker.read
  end

  def test_a_buffer_that_a_handler_asks_for_before_it_raises_continues_after_the_object
    unpacker = Manypack::Unpacker.new
    unpacker.register_type(1) { |_body| unpacker.buffer && raise("no") }
    assert_raises(RuntimeError) { unpacker.feed("\x92\xD4\x01a\x02\x03".b).read }
    assert_equal 3, unpacker.read
    assert_predicate unpacker.buffer, :empty?
  end

  def test_a_fed_string_is_taken_with_its_current_content
    [+"\x01\x02", +("\x01\x02" * 200)].each do |string|
      unpacker = Manypack::Unpacker.new.feed(string)
      string.replace("\xC1")
      assert_equal [1, 2], [unpacker.read, unpacker.read]
    end
  end

  def test_a_short_part_does_not_keep_its_long_string_alive
    long = "\x01".b * 1_000_000
    unpacker = Manypack::Unpacker.new.feed(long.byteslice(-100, 100))
    assert_operator reachable_size(unpacker), :<, 100_000
    assert_equal 1, unpacker.read
  end

  def test_what_was_read_of_the_first_string_is_not_kept
    string = "\xDA\x01\x00".b << ("x" * 256)
    unpacker = Manypack::Unpacker.new.feed(string)
    before = reachable_size(unpacker)
    unpacker.read
    assert_operator reachable_size(unpacker), :<, before
  end

  def test_reset_drops_the_first_string
    unpacker = Manypack::Unpacker.new.feed("\x92\x01")
    assert_raises(EOFError) { unpacker.read }
    assert_nil unpacker.reset
    assert_equal [2, 1, 0], [unpacker.feed("\x02").read, unpacker.position, unpacker.buffer.size]
  end

  def test_sizes_of_a_buffer_are_those_that_were_asked_for
    unpacker = Manypack::Unpacker.new(read_reference_threshold: 1_000).feed("\x01" * 500).feed("\x01" * 500)
    assert_equal 1, unpacker.buffer.to_a.size
    assert_equal 2, Manypack::Unpacker.new.feed("\x01" * 500).feed("\x01" * 500).buffer.to_a.size
  end

  def test_an_unpacker_is_initialized_once
    unpacker = Manypack::Unpacker.new
    assert_raises(RuntimeError) { unpacker.send(:initialize) }
    assert_equal 1, unpacker.feed("\x01").read
  end
end

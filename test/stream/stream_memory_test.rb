# frozen_string_literal: true

# Memory of a stream: nothing kept of what was read, long payloads shared where it pays.
require "test_helper"
require "support/costs"

class StreamMemoryTest < Minitest::Test
  include Costs

  def test_a_stream_of_many_messages_keeps_nothing_of_them
    unpacker = Manypack::Unpacker.new
    message = Manypack.pack({ "id" => 1, "tags" => %w[a b], "text" => "t" * 40 })
    stream = message * 100
    sizes = Array.new(10) do
      100.times { 101.times { |i| unpacker.feed_each(stream.byteslice(i * stream.bytesize / 101...(i + 1) * stream.bytesize / 101)) { nil } } }
      reachable_size(unpacker)
    end
    assert_operator sizes.max, :<, 10_000
  end

  def test_a_stream_of_many_long_messages_keeps_nothing_of_them
    unpacker = Manypack::Unpacker.new
    message = Manypack.pack("x" * 50_000)
    200.times { assert_equal 50_000, unpacker.feed(message).read.bytesize }
    assert_operator reachable_size(unpacker), :<, 10_000
    100.times { unpacker.feed(message).skip }
    assert_operator reachable_size(unpacker), :<, 10_000
  end

  def test_a_stream_with_always_a_bit_left_keeps_nothing_of_what_was_read
    unpacker = Manypack::Unpacker.new.feed("\x92\x01")
    20_000.times { assert_equal [1, 2], unpacker.feed("\x02\x92\x01").each.first }
    assert_operator reachable_size(unpacker), :<, 10_000
  end

  def test_a_packer_of_many_messages_keeps_nothing_of_them
    packer = Manypack::Packer.new
    20_000.times { packer.write("x" * 30).full_pack }
    packer.write("y" * 1_000_000).full_pack
    assert_operator reachable_size(packer), :<, 10_000
    20_000.times { packer.write("x" * 30).reset }
    assert_operator reachable_size(packer), :<, 10_000
  end

  def test_skip_builds_nothing
    stream = Manypack.pack([{ "key" => ["v" * 100, 2**64 - 1, 1.5e300] }] * 100) * 4
    unpacker = Manypack::Unpacker.new.feed(stream)
    unpacker.skip
    GC.disable
    before = GC.stat(:total_allocated_objects)
    unpacker.skip
    unpacker.skip
    assert_operator GC.stat(:total_allocated_objects) - before, :<=, 1
    unpacker.skip
    assert_raises(EOFError) { unpacker.skip }
  ensure
    GC.enable
  end

  def test_skip_calls_nothing_and_knows_every_ext
    unpacker = Manypack::Unpacker.new
    unpacker.register_type(1) { flunk }
    ["d4 01 61", "d4 05 61", "92 c7 03 7f 61 62 63 81 d4 01 61 c9 00 00 00 01 80 61"].each { |ext| unpacker.feed(bytes(ext)) }
    3.times { unpacker.skip }
    assert_predicate unpacker.buffer, :empty?
  end

  def test_a_short_str_does_not_keep_a_long_message_alive
    unpacker = Manypack::Unpacker.new
    message = Manypack.pack(["x" * 1_000_000, "s" * 2_000])
    [unpacker.feed(message).read.last, Manypack.unpack(message).last, Manypack.unpack(message.dup.freeze).last].each do |slice|
      assert_equal "s" * 2_000, slice
      assert_operator reachable_size(slice), :<, 10_000
    end
  end

  def test_a_long_payload_at_the_tail_is_shared_with_what_was_fed
    ["x" * 1_000_000, "\xFF".b * 1_000_000].each do |payload|
      message = Manypack.pack(["head", payload]).freeze
      shared = Manypack::Unpacker.new.feed(message).read.last
      assert_equal payload, shared
      assert_equal payload.encoding, shared.encoding
      assert_operator ObjectSpace.memsize_of(shared), :<, 10_000
      shared << "changed"
      assert_equal ["head", payload], Manypack.unpack(message)
    end
  end

  def test_what_is_fed_by_reference_is_not_copied
    message = ("\x01".b * 1_000_000).freeze
    before = GC.stat.fetch(:malloc_increase_bytes, 0) # counted by Ruby's default collector only
    unpacker = Manypack::Unpacker.new.feed(message)
    assert_operator GC.stat.fetch(:malloc_increase_bytes, 0) - before, :<, 500_000
    assert_operator ObjectSpace.memsize_of(unpacker.buffer), :<, 10_000
    assert_equal 1, unpacker.read
  end

  def test_an_unpacker_tells_its_size
    unpacker = Manypack::Unpacker.new(max_depth: 10_000)
    before = ObjectSpace.memsize_of(unpacker)
    assert_raises(EOFError) { unpacker.feed("\x91".b * 5_000).read }
    assert_operator ObjectSpace.memsize_of(unpacker) - before, :>, 5_000 * 8
  end
end

# frozen_string_literal: true

# Cutting a stream at message boundaries: the same messages however it comes, shareable.
require "test_helper"

class SplitterTest < Minitest::Test
  include CorePart

  Splitter = Manypack::Parallel.const_get(:Splitter)
  MESSAGES = [1, [2, { "k" => [nil] }], "hello", {}, Manypack::ExtensionValue.new(5, "wxyz"), [], "l" * 700, 2**64 - 1].map { |object| Manypack.pack(object) }.freeze
  STREAM = MESSAGES.join.freeze
  MANY = 1_000_000

  def test_pieces_of_every_size_give_the_same_messages
    (1..STREAM.bytesize).step(FEW_CASES ? 97 : 1) do |step|
      splitter = exercise { Splitter.new(Manypack::Codec.new) }
      batches = 0.step(STREAM.bytesize - 1, step).flat_map do |at|
        exercise { splitter.feed(STREAM.byteslice(at, step)) }
        take_all(splitter, 1, MANY)
      end
      assert_equal MESSAGES, batches.map(&:first)
      assert_equal (0...MESSAGES.size).to_a, batches.map { |batch| batch[1] }
      assert_equal MESSAGES.size.times.map { |i| MESSAGES.first(i).sum(&:bytesize) }, batches.map(&:last)
      assert_predicate splitter, :between?
    end
  end

  def test_batches_of_every_size
    (1..MESSAGES.size + 1).each do |count|
      assert_equal MESSAGES.each_slice(count).map(&:join), take_all(exercise { splitter(STREAM) }, count, MANY).map(&:first)
    end
    (1..STREAM.bytesize).step(50) do |size|
      batches = take_all(splitter(STREAM), MANY, size).map(&:first)
      assert_equal STREAM, batches.join
      assert(batches[..-2].all? { |batch| batch.bytesize >= size })
    end
  end

  def test_a_batch_that_is_not_full_waits_unless_it_is_welcome
    splitter = splitter("\x01\x02\x92")
    assert_nil splitter.take(3, MANY, false)
    refute_predicate splitter, :between?
    assert_equal ["\x01\x02", 0, 0], take(splitter, 3, MANY)
    assert_nil splitter.take(3, MANY, true)
    assert_equal ["\x92\x03\x04".b, 2, 2], take(splitter.feed("\x03\x04"), 1, MANY, false)
    assert_predicate splitter, :between?
  end

  def test_batches_are_for_every_ractor
    [STREAM, STREAM.dup, Class.new(String).new(STREAM).freeze, with_an_instance_variable].each do |stream|
      splitter = exercise { splitter(stream) }
      batches = [exercise { splitter.take(2, MANY, true) }, splitter.take(1, MANY, true), splitter.feed("\x01").take(MANY, MANY, true)]
      batches.each do |batch|
        assert [batch, *batch].all? { |object| Ractor.shareable?(object) }
        assert_equal batch.object_id, in_ractor(batch, &:object_id)
      end
      assert_equal STREAM + "\x01".b, batches.map { |batch| cut(batch).first }.join
      assert_nil GC.verify_internal_consistency
    end
  end

  # A large input would be there twice, and the copying takes longer than the splitting.
  def test_what_is_fed_at_once_is_not_copied
    stream = STREAM.dup
    batches = [splitter(STREAM), splitter(stream), splitter(STREAM.byteslice(20..))].map do |splitter|
      Array.new(3) { splitter.take(1, MANY, true) }
    end
    batches.each { |taken| assert_equal 1, taken.map { |bytes,| bytes.object_id }.uniq.size }
    assert_same STREAM, batches.first.first.first
    pieces = splitter(STREAM.byteslice(0, 3)).feed(STREAM.byteslice(3..))
    assert_same pieces.take(1, MANY, true).first, pieces.take(1, MANY, true).first
  end

  def test_a_to_str_that_uses_the_same_splitter
    splitter = splitter("\x01".b * 100_000)
    string = Object.new
    string.define_singleton_method(:to_str) { splitter.take(99_999, MANY, true) && "\x02" }
    splitter.feed(string)
    assert_equal "\x01\x02".b, take(splitter, MANY, MANY).first
  end

  def test_what_was_fed_may_change_afterwards
    bytes = "\x93\x01\x02".b
    splitter = splitter(bytes)
    bytes.replace("\xC1" * 100)
    assert_equal "\x93\x01\x02\x03".b, take(splitter.feed("\x03"), 1, MANY).first
    stream = STREAM.dup
    splitter = splitter(stream)
    batch = splitter.take(1, MANY, true)
    stream.replace("\xC1" * 100)
    assert_equal MESSAGES, [cut(batch), *take_all(splitter, 1, MANY)].map(&:first)
  end

  # As far as the error goes, for whoever decodes it.
  def test_an_error_is_in_the_last_batch
    { "01 91 c1 c0 c0 c0 c0 c0 c0 c0 c0 c0 c0" => "01 91 c1 c0 c0 c0 c0 c0 c0 c0 c0",
      "01 91 91 91 91 02" => "01 91 91 91 91 02", "01 a9 61 61 61 61 61 61 61 61 61 61 02" => "01 a9 61 61 61 61 61" }.each do |input, last|
      splitter = exercise { splitter(bytes(input), max_depth: 3, max_bytes: 5) }
      assert_equal last, hex(take(splitter, MANY, MANY, false).first)
      assert_predicate splitter, :ended?
      assert_nil splitter.take(MANY, MANY, true)
      assert_nil splitter.rest
    end
  end

  def test_a_message_above_max_bytes_is_not_waited_for
    splitter = splitter("\x01\xDB\x00\x10\x00\x00".b, max_bytes: 1_000)
    assert_equal "\x01", take(splitter, MANY, MANY).first
    900.times { assert_nil splitter.feed("a").take(1, MANY, true) }
    200.times { splitter.feed("a") }
    assert_equal 1_001, take(splitter, 1, MANY).first.bytesize
    assert_predicate splitter, :ended?
  end

  def test_messages_of_just_max_bytes
    message = pack("s" * 98)
    assert_equal [message] * 100, take_all(splitter(message * 100, max_bytes: 100), 1, MANY).map(&:first)
  end

  def test_the_rest_is_what_is_not_whole
    splitter = splitter("\x01\x92\x02".b)
    assert_equal ["\x01\x92\x02".b, 0, 0], cut(splitter.rest)
    assert_nil splitter.rest
    assert_nil splitter("").rest
  end

  def test_missing_is_never_more_than_the_message_has
    message = pack([1, "four", { "k" => [2] * 20 }])
    (0...message.bytesize).each do |size|
      splitter = splitter(message.byteslice(0, size))
      splitter.take(1, MANY, true)
      assert_includes 1..message.bytesize - size, splitter.missing
    end
  end

  def test_a_frozen_string_of_the_same_bytes
    [STREAM, STREAM.dup, Struct.new(:to_str).new(STREAM.dup)].each do |stream|
      frozen = exercise { Splitter.frozen(stream) }
      assert_predicate frozen, :frozen?
      assert_equal STREAM, frozen
    end
  end

  if File.exist?("/proc/self/status")
    # Nor when it becomes shareable: Ruby 4.0 copies a String then that shares the bytes of another one.
    def test_a_large_string_is_there_once
      large = "\x01" * 20_000_000
      before = memory
      taken = splitter(Splitter.frozen(large)).take(1, MANY, true)
      assert Ractor.shareable?(taken)
      assert_operator memory - before, :<, 10_000
      large << "\x02"
      assert_equal 20_000_000, taken.first.bytesize
    end
  end

  def test_other_objects
    assert_raises(::TypeError) { Splitter.new(nil) }
    assert_raises(::TypeError) { splitter(5) }
    assert_equal "\x01", cut(splitter(Struct.new(:to_str).new("\x01")).rest).first
  end

  private

  def splitter(bytes, **options)
    Splitter.new(Manypack::Codec.new(**options)).feed(bytes)
  end

  # The bytes of a batch, its index and its offset.
  def take(splitter, messages, size, all = true)
    batch = exercise { splitter.take(messages, size, all) }
    batch && cut(batch)
  end

  def cut(batch)
    bytes, start, size, *place = batch
    [bytes.byteslice(start, size), *place]
  end

  def with_an_instance_variable
    STREAM.dup.tap { |stream| stream.instance_variable_set(:@own, []) }.freeze
  end

  def take_all(splitter, messages, size)
    batches = []
    while (batch = take(splitter, messages, size))
      batches << batch
    end
    batches
  end

  # Kilobytes of the process.
  def memory
    File.foreach("/proc/self/status").find { |line| line.start_with?("VmRSS:") }.split[1].to_i
  end
end

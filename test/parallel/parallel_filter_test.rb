# frozen_string_literal: true

# Parallel.filter: what it writes of what the block returns.
require "test_helper"
require "parallel/workers"

class ParallelFilterTest < Minitest::Test
  include Workers

  def test_filter_packs_what_the_block_returns_and_drops_nil_and_false
    expected = (0...500).select(&:even?).map { |i| Manypack.pack([i, nil, false]) }.join
    each_way do |workers|
      [StringIO.new("".b), []].each do |output|
        stream = NUMBERS + "\xC2".b
        count = Parallel.filter(piped(stream, 50), output, **workers) { |n| n && (n.even? ? [n, nil, false] : nil) }
        assert_equal 250, count
        assert_equal expected, output.is_a?(Array) ? output.join : output.string
      end
      output = StringIO.new("".b)
      assert_equal 0, Parallel.filter("\xC2\xC0".b, output, **workers) { |object| object }
      assert_empty output.string
    end
  end

  Event = Struct.new(:id)
  EVENT = Manypack::Record.new(Event, id: Integer)
  # Bytes that packing would not write: integers and a str with long heads, a float32, an ext.
  LONG = ["\x81\xA2id\xCD\x00\x05", "\x82\xD9\x02id\x01\xA1x\xCA\x3F\x80\x00\x00", "\x82\xA2id\x07\xA1x\xD4\x07a"].map(&:b).freeze

  # As a condition, which a filter has in most other programs.
  def test_what_the_block_says_true_to_stays_as_it_is
    [{ allow_unknown_ext: true }, { as: :view, allow_unknown_ext: true }, { as: EVENT, allow_unknown_ext: true }].each do |options|
      each_way do |workers|
        output = StringIO.new("".b)
        count = Parallel.filter(LONG.join * 3, output, **options, **workers) { |event| (event.is_a?(Event) ? event.id : event["id"]) > 1 }
        assert_equal [6, LONG.values_at(0, 2).join * 3], [count, output.string], options.inspect
      end
    end
    output = StringIO.new("".b)
    assert_equal 1, Parallel.filter(LONG[0] + LONG[1], output, ractors: 0, canonical: true) { |event| event["id"] == 5 }
    assert_equal "\x81\xA2id\x05".b, output.string
  end

  def test_filter_writes_what_came_before_an_error
    each_way do |workers|
      output = StringIO.new("".b)
      error = assert_raises(NoMethodError) { Parallel.filter("\x01\x02\x03", output, **workers) { |n| n == 3 ? Object.new : n } }
      assert_equal ["\x01\x02", 2, 2], [output.string, error.index, error.offset]
    end
  end

  def test_filter_answers_before_more_is_asked
    Forks.without_impossible([{ ractors: 0 }, { ractors: 2 }, { processes: 2 }]).each do |workers|
      (questions, asker), (answers, answerer) = IO.pipe, IO.pipe
      thread = Thread.new { Parallel.filter(questions, answerer, **workers) { |n| n + 1 } }
      Timeout.timeout(10) { 5.times { |i| asker.write([i].pack("C")) && assert_equal(i + 1, answers.readpartial(10).ord) } }
      asker.close
      assert_equal 5, thread.value
    ensure
      [questions, asker, answers, answerer].each(&:close)
    end
  end

  def test_filter_into_a_closed_pipe
    each_way do |workers|
      reader, writer = IO.pipe
      reader.close
      assert_raises(Errno::EPIPE) { Parallel.filter(NUMBERS, writer, **workers) { |n| n } }
    ensure
      writer.close
    end
  end
end

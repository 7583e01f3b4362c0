# frozen_string_literal: true

# Parallel.filter: what it writes of what the block returns.
require "test_helper"
require "parallel/workers"

class ParallelFilterTest < Minitest::Test
  include Workers

  def test_filter_packs_what_the_block_returns_and_drops_nil
    expected = (0...500).select(&:even?).map { |i| Manypack.pack([i, nil, false]) }.join + "\xC2".b
    each_way do |workers|
      [StringIO.new("".b), []].each do |output|
        stream = NUMBERS + "\xC2".b
        count = Parallel.filter(piped(stream, 50), output, **workers) { |n| n && (n.even? ? [n, nil, false] : nil) }
        assert_equal 251, count
        assert_equal expected, output.is_a?(Array) ? output.join : output.string
      end
      output = StringIO.new("".b)
      assert_equal 1, Parallel.filter("\xC2\xC0".b, output, **workers) { |object| object }
      assert_equal "\xC2".b, output.string
    end
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

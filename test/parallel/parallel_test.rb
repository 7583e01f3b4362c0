# frozen_string_literal: true

# One stream, many workers, and the same by each kind of them: the results in order, and what may run in Ractors.
require "test_helper"
require "parallel/workers"
require "tmpdir"

class ParallelTest < Minitest::Test
  include Workers

  # Without map: workers would have nothing to do but to unpack.
  def test_each_without_work_is_a_plain_loop_in_the_caller
    main, thread = Ractor.current, Thread.current
    seen = []
    assert_nil(Parallel.each(pack(%w[a b]) + pack([1])) { |list| seen << [list, list.frozen?, Ractor.current == main, Thread.current == thread] })
    assert_equal [[%w[a b], false, true, true], [[1], false, true, true]], seen
    assert_equal [true], Parallel.each(pack(["a"]), shareable: true).map { |list| Ractor.shareable?(list) }
    assert_equal [[1, 2]], Parallel.each(pack([1, 2])).map { |a, b| [a, b] }
    assert_equal :out, Parallel.each(NUMBERS) { |n| break :out if n == 3 }
    error = assert_raises(Manypack::TruncatedError) { Parallel.each("\x01\x92\x02".b) { |n| seen << n } }
    assert_equal [1, 1, 3], [seen.last, error.index, error.offset]
    refused = Refused.new(5)
    assert_same refused, assert_raises(Refused) { Parallel.each("\x01".b) { raise refused } }
    refute_kind_of Parallel::Error, refused
    assert_no_ractors
  end

  def test_results_in_order
    each_way { |workers| assert_equal Array.new(500) { |i| i * 2 }, Parallel.map(NUMBERS, **workers) { |n| n * 2 } }
  end

  def test_results_as_they_come
    each_way { |workers| assert_equal [*0...500], Parallel.map(NUMBERS, **workers, ordered: false) { |n| n }.sort }
  end

  def test_as_many_ractors_as_processors
    assert_equal [*0...500], Parallel.map(NUMBERS) { |n| n }
    assert_equal 500, Parallel.filter(NUMBERS, StringIO.new("".b)) { |n| n }
  end

  def test_each_yields_the_objects_here
    each_way do |workers|
      seen = []
      assert_nil(Parallel.each(NUMBERS, **workers) { |n| seen << n })
      assert_equal [*0...500], seen
    end
  end

  def test_each_yields_what_map_makes_of_them_elsewhere
    each_way do |workers|
      seen = []
      ids = {}
      Parallel.each(NUMBERS, map: ->(n) { [n, Process.pid, Ractor.current.equal?(Ractor.main)] }, **workers) { |n, *id| seen << n && ids[id] = n }
      assert_equal [*0...500], seen
      here = [Process.pid, true]
      assert_equal workers.values == [0], ids.key?(here), [workers, ids]
    end
  end

  def test_each_without_a_block_is_an_enumerator
    each_way do |workers|
      results = Parallel.each(NUMBERS, map: :succ.to_proc, **workers)
      assert_equal [1, 2, 3], results.first(3)
      assert_equal [10, 20], results.lazy.map { |n| n * 10 }.first(2)
      assert_equal [*1..500], results.to_a
    end
  end

  def test_without_a_block
    assert_raises(ArgumentError) { Parallel.map(NUMBERS) }
    assert_raises(ArgumentError) { Parallel.filter(NUMBERS, StringIO.new) }
  end

  # Each waits until all six have begun, which they can only if they work at the same time.
  def test_work_is_done_by_so_many_workers_at_once
    each_kind(6) do |workers|
      Dir.mktmpdir do |dir|
        stream = (1..6).map { |i| pack([dir, i]) }.join
        begun = Parallel.map(stream, **workers) do |place, i|
          File.write(File.join(place, i.to_s), "")
          6_000.times { Dir.children(place).size == 6 ? break : sleep(0.01) }
          Dir.children(place).size
        end
        assert_equal [6] * 6, begun
      end
    end
  end

  def test_a_slow_message_holds_up_results_only_where_there_is_an_order
    stream = pack(0.2) + (pack(0) * 5)
    each_kind(2) do |workers|
      assert_equal 0.2, Parallel.map(stream, **workers) { |s| sleep(s) && s }.first
      refute_equal 0.2, Parallel.map(stream, **workers, ordered: false) { |s| sleep(s) && s }.first
    end
  end

  def test_a_hundred_thousand_messages
    stream = Array.new(100_000) { |i| pack({ "id" => i, "text" => "t" * (i % 40) }) }.join
    each_kind(2) do |workers|
      assert_equal [*0...100_000], Parallel.map(stream, **workers) { |object| object["id"] }
      assert_equal 100_000, Parallel.each(piped(stream, 60_000), **workers, map: ->(object) { object["text"].size }, ordered: false).count
    end
  end

  # Ruby 3.3 and 3.4 wait for ever where a Ractor wakes another one that has several Threads while a collection begins.
  def test_collections_hold_nobody_up
    20.times do
      threads = Array.new(2) { Thread.new { Parallel.map(pack(1) * 20_000, ractors: 2) { |n| [n, n.to_s] }.size } }
      assert_equal [20_000] * 2, threads.map(&:value)
    end
  end

  LIMIT = 5

  class Scale
    def initialize(factor) = @factor = factor
    def call(number) = number * @factor
    def self.double(number) = number * 2
  end

  # Ruby 4.0 makes a Proc of it that cannot be shared, nor asked for the Method.
  def test_a_method_as_the_block_works_or_the_error_says_what_does
    calls = { "map" => -> { Parallel.map("\x01\x02", ractors: 1, &Scale.method(:double)) },
              "filter" => -> { StringIO.new("".b).tap { |io| Parallel.filter("\x01\x02", io, ractors: 1, &Scale.method(:double)) }.string.bytes } }
    calls.each_value do |call|
      next assert_equal([2, 4], call.call) unless Ractor.respond_to?(:shareable_proc)

      assert_match(/cannot run in other Ractors: Ruby cannot share a Proc made of a Method.*map: Prices\.method\(:of\)/, assert_raises(Ractor::IsolationError, &call).message)
    end
    assert_equal [2, 4], Parallel.each("\x01\x02", map: Scale.method(:double), ractors: 1).to_a
  end

  def test_what_can_be_done_in_ractors
    scale = Ractor.make_shareable(Scale.new(3))
    { Scale.method(:double) => [2, 4], scale => [3, 6], scale.method(:call) => [3, 6], :succ.to_proc => [2, 3], ->(n) { n + LIMIT } => [6, 7],
      nil => [1, 2], proc { |n, m| [n, m] } => [[1, nil], [2, nil]], Math.method(:sqrt) => [1, Math.sqrt(2)] }.each do |work, expected|
      each_way { |workers| assert_equal expected, Parallel.each("\x01\x02", map: work, **workers).to_a, work }
    end
    assert_raises(::TypeError) { Parallel.each("\x01", map: 5).to_a }
  end

  def test_work_that_depends_on_what_cannot_be_shared
    seen = []
    works = [->(n) { seen << n }, Scale.new(3), Scale.new(3).method(:call), seen.method(:push)]
    works.each do |work|
      error = assert_raises(Ractor::IsolationError) { Parallel.each("\x01\x02", map: work, ractors: 1).to_a }
      assert_match(/Ractor/, error.message)
      assert_equal 2, Parallel.each("\x01\x02", map: work, ractors: 0).to_a.size
    end
    assert_equal [1, 2, 1, 2], seen
  end

  def test_self_is_nil_unless_it_can_be_shared
    each_way { |workers| assert_equal [workers[:ractors].to_i > 0 ? "NilClass" : self.class.name], Parallel.map("\x01", **workers) { self.class.name } }
    work = Scale.class_eval { ->(n) { double(n) } }
    each_way { |workers| assert_equal [2], Parallel.each("\x01", map: work, **workers).to_a }
  end

  def test_the_block_of_the_user_stays_as_it_is
    seen = []
    block = Ractor.respond_to?(:shareable_proc) ? ->(n) { n } : Scale.class_eval { ->(n) { n } }
    Parallel.each("\x01", map: block, ractors: 1).to_a
    refute_predicate block, :frozen?
    refute Ractor.shareable?(block)
    assert_empty seen
  end
end

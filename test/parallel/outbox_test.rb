# frozen_string_literal: true

# What one Ractor of Ruby 3 has for another one.
require "test_helper"

# Where there are Ractor::Ports nobody needs it.
unless defined?(Ractor::Port)
  class OutboxTest < Minitest::Test
    include CorePart

    Outbox = Manypack::Parallel.const_get(:Outbox)

    def test_objects_come_out_as_they_went_in
      outbox = exercise { Outbox.new }
      assert_nil outbox.take
      objects = Array.new(10) { |i| ["s" * (i * 50)] }
      objects.each_slice(3) do |some|
        some.each { |object| exercise { outbox.put(object) } }
        some.each { |object| assert_same object, exercise { outbox.take } }
        assert_nil outbox.take
      end
    end

    def test_it_is_shareable_and_what_is_in_it_crosses
      outbox = Outbox.new
      assert Ractor.shareable?(outbox)
      in_ractor(outbox) { |shared| shared.put(["mutable".dup]) && nil }
      assert_equal ["mutable"], outbox.take.each { |string| refute_predicate string, :frozen? }
    end

    # Who cannot go on sleeps: under Valgrind one that spins would keep the other from ever coming to it.
    def test_two_ractors_at_once
      outbox = Outbox.new
      ractor = Ractor.new(outbox) do |shared|
        1_000.times do |i|
          shared.put([i])
        rescue ThreadError
          sleep(0.0001)
          redo
        end
      end
      seen = []
      while seen.size < 1_000
        object = outbox.take
        object ? seen.concat(object) : sleep(0.0001)
      end
      ractor.take
      assert_equal [*0...1_000], seen
    end

    def test_it_holds_four
      outbox = Outbox.new
      4.times { |i| outbox.put(i) }
      assert_raises(ThreadError) { outbox.put(4) }
      assert_equal [*0...4, nil], Array.new(5) { outbox.take }
    end
  end
end

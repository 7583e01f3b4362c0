# frozen_string_literal: true

# The one object in which Manypack keeps for a Ractor what it needs again: how the collector sees it.
require "test_helper"
require "objspace"
require "support/program"

class RactorStateTest < Minitest::Test
  include ProgramHelper

  # Fills everything that is kept: keys of both kinds, frozen values, rows, Symbols, long results, spares.
  FILL = <<~'RUBY'
    def fill(n = 300)
      rows = Manypack.pack(Array.new(5) { (0...20).to_h { |i| ["column #{i}", "value #{i}"] } })
      2.times { Manypack.unpack(rows) && Manypack.unpack(rows, symbolize_keys: true) && Manypack.unpack(rows, shareable: true) }
      keys = Manypack.pack((0...n).to_h { |i| ["key #{i} and the rest of a longer key"[0, 8 + i % 30], i] })
      Manypack.unpack(keys) && Manypack.unpack(keys, symbolize_keys: true)
      Manypack.unpack(Manypack.pack(Array.new(n) { |i| "value #{i % 100}" } * 2), shareable: true)
      Manypack.pack(eval("[#{Array.new(n) { |i| ":of_program_#{i}" }.join(",")}]"))
      2.times { Manypack.pack(["x" * 9_000]) }
    end
  RUBY
  class_eval(FILL)

  # In a process without a second Ractor, where ObjectSpace shows objects that are not shareable.
  def test_it_is_one_object_of_a_ractor_that_nobody_can_make_copy_or_share
    assert_program <<~RUBY, "[1, 1, [TypeError, NoMethodError], false, false]"
      #{FILL}
      state = Manypack.const_get(:RactorState)
      states = -> { ObjectSpace.each_object(state).to_a }
      before = states.call.size
      fill
      errors = [-> { state.new }, -> { states.call.first.dup }].map { |make| (make.call rescue $!.class) }
      errors = [TypeError, NoMethodError] if errors - [TypeError, NoMethodError] == [] # by the Ruby
      p [before, states.call.size, errors, Ractor.shareable?(states.call.first), Manypack.constants.include?(:RactorState)]
    RUBY
  end

  # Of what it is said to hold all is counted by MallocTest.
  def test_it_tells_the_collector_how_much_it_holds
    assert_program <<~RUBY, "true true true"
      require "objspace"
      #{FILL}
      size = -> { ObjectSpace.memsize_of(ObjectSpace.each_object(Manypack.const_get(:RactorState)).first) }
      empty = size.call
      fill(4)
      small = size.call
      fill(3_000)
      large = size.call
      print [empty <= 240, small.between?(empty + 1_000, empty + 20_000), large.between?(empty + 60_000, empty + 90_000)].join(" ")
    RUBY
  end

  def test_each_kind_that_it_holds_counts
    assert_program <<~'RUBY', "[true, true, true, true, true]"
      require "objspace"
      size = -> { ObjectSpace.memsize_of(ObjectSpace.each_object(Manypack.const_get(:RactorState)).first) }
      grows = ->(least, &work) { (before = size.call) && work.call && size.call.between?(before + least, before + 4 * least) }
      rows = Manypack.pack(Array.new(5) { (0...20).to_h { |i| ["column #{i}", i] } })
      keys = Manypack.pack((0...300).to_h { |i| ["key #{i} and", i] })
      values = Manypack.pack(Array.new(300) { |i| "value #{i % 100}" } * 2)
      symbols = eval("[#{Array.new(300) { |i| ":of_program_#{i}" }.join(",")}]")
      message = Manypack.pack([[1] * 100] * 1_000)
      p [grows.call(4_000) { 2.times { Manypack.unpack(rows) } }, grows.call(16_000) { Manypack.unpack(keys) },
         grows.call(8_000) { Manypack.unpack(values, shareable: true) }, grows.call(10_000) { Manypack.pack(symbols) },
         grows.call(80) { 2.times { Manypack::View.new(message)[999] } }]
    RUBY
  end

  # Since Ruby 3.3 structs can.
  def test_empty_it_lies_in_its_slot
    assert_program <<~RUBY, (RUBY_VERSION >= "3.3").to_s
      require "objspace"
      state = ObjectSpace.each_object(Manypack.const_get(:RactorState)).first
      print ObjectSpace.memsize_of(state) == ObjectSpace.dump(state)[/"slot_size":(\\d+)/, 1].to_i
    RUBY
  end

  def test_it_keeps_what_is_young_when_it_is_old
    4.times { GC.start }
    packed = pack((0...200).to_h { |i| ["young #{i}", i] })
    first = unpack(packed).keys.map(&:object_id)
    10.times { GC.start(full_mark: false) && Array.new(5_000) { |i| "other #{i}" } }
    assert_operator first.zip(unpack(packed).keys.map(&:object_id)).count { |one, other| one == other }, :>, 150
    assert_equal (0...200).map { |i| "young #{i}" }, unpack(packed).keys
  end

  if GC.respond_to?(:verify_compaction_references)
    # Were one pinned, or an old address left, the objects of one of these would be wrong.
    def test_what_it_keeps_moves_and_stays_right
      texts = Array.new(200) { |i| "moved #{i}#{" and long" * (i % 9)}" }
      packed = pack(texts.to_h { |text| [text, text] })
      options = [{}, { symbolize_keys: true }, { shareable: true }, { freeze: true }]
      before = options.map { |option| unpack(packed, **option) }
      GC.verify_compaction_references(toward: :empty, **(RUBY_VERSION < "3.2" ? { double_heap: true } : { expand_heap: true }))
      assert_equal before, (options.map { |option| unpack(packed, **option) })
      assert_equal texts, unpack(packed).keys
      assert_same before[2].keys[3], unpack(packed, shareable: true).keys[3]
    end

    # Some lie where compaction would put them, and Symbols that have an ID stay; of pinned ones none would move.
    def test_nothing_is_pinned_by_it
      assert_program <<~RUBY, "true"
        #{FILL}
        require "objspace"
        require "json"
        # On a stack that is gone afterwards: the collector pins what it finds on one.
        Thread.new { fill(2_000) && nil }.join
        state = ObjectSpace.each_object(Manypack.const_get(:RactorState)).first
        kept = -> { JSON.parse(ObjectSpace.dump(state)).fetch("references", []) }
        before = kept.call
        #{RUBY_VERSION < "3.2" ? "GC.verify_compaction_references(toward: :empty, double_heap: true)" : "GC.verify_compaction_references(toward: :empty, expand_heap: true)"}
        after = kept.call
        print before.size > 1_000 && before.size == after.size && before.zip(after).count { |one, other| one != other } > 50
      RUBY
    end
  end

  # Ruby may keep the Ractors of the Thread that ended last.
  def test_it_goes_with_its_ractor
    assert_program <<~RUBY, "true"
      require "objspace"
      Thread.new { 10.times { value(Ractor.new { Manypack.unpack(Manypack.pack({ a: 1 })) }) } }.join
      20.times { break if ObjectSpace.each_object(Ractor).count == 1; GC.start; sleep 0.05 }
      3.times { GC.start }
      left = ObjectSpace.count_tdata_objects[Manypack.const_get(:RactorState)]
      print left.between?(1, [ObjectSpace.each_object(Ractor).count, 5].min)
    RUBY
  end
end

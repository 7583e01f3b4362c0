# frozen_string_literal: true

# Arrays that are frozen as they are made are as frozen as those that Ruby freezes.
require "test_helper"

class FrozenArraysTest < Minitest::Test
  LENGTHS = [*0..20, 38, 77, 78, 79, 100, 1_000, 70_000].freeze

  def arrays(**options)
    LENGTHS.map { |length| Manypack.unpack(Manypack.pack([length] * length), **options) }
  end

  def test_they_refuse_every_change
    [{ freeze: true }, { shareable: true }].flat_map { |options| arrays(**options) }.each do |array|
      assert_predicate array, :frozen?
      [-> { array << 1 }, -> { array.replace([]) }, -> { array.instance_variable_set(:@a, 1) },
       -> { array.define_singleton_method(:a) { 1 } }, -> { array.sort! }].each { |change| assert_raises(FrozenError, &change) }
    end
  end

  def test_ractors_can_share_them_and_what_is_in_them
    arrays(shareable: true).zip(arrays) do |array, mutable|
      assert Ractor.shareable?(array)
      assert_same array, Ractor.make_shareable(array)
      refute_predicate mutable, :frozen?
    end
  end

  def test_copies_can_be_changed_and_have_what_the_original_has
    arrays(shareable: true).zip(LENGTHS) do |array, length|
      [array.dup, array.clone(freeze: false), array + []].each do |copy|
        copy << 1
        copy.instance_variable_set(:@a, 2)

        assert_equal [*[length] * length, 1], copy
        assert_equal 2, copy.instance_variable_get(:@a)
      end
      assert_predicate array.clone, :frozen?
      assert_equal array.object_id, array.object_id
      assert_equal [], array.instance_variables
    end
  end

  def test_they_survive_collections_and_compaction
    kept = arrays(shareable: true)
    ids = kept.map(&:object_id)
    3.times { GC.start }
    GC.compact if GC.respond_to?(:compact)

    assert_equal arrays, kept
    assert_equal ids, kept.map(&:object_id)
    assert kept.all?(&:frozen?)
  end
end

# frozen_string_literal: true

# Views that are frozen, and shared by Ractors.
require "test_helper"
require "view/views"

class ViewShareableTest < Minitest::Test
  include CorePart
  include Views

  def test_a_frozen_view_is_shareable
    [DOCUMENT, LARGE].each do |obj|
      v = view(obj)
      part = v[obj.is_a?(Hash) ? "a" : 1]
      refute Ractor.shareable?(v)
      part.freeze
      assert Ractor.shareable?(v)
      assert Ractor.shareable?(part)
      assert_equal obj, v.value
      assert Ractor.shareable?(view(obj, shareable: true))
      assert_predicate view(obj, freeze: true), :frozen?
      assert_predicate view(obj, freeze: true).first, :frozen? if obj.is_a?(Array)
    end
    assert_raises(Manypack::TruncatedError) { raw("92 01").freeze }
  end

  def test_ractors_share_a_view
    v = View.new(pack(LARGE), shareable: true)
    ractors = Array.new(2) { Ractor.new(v) { |mine| [mine.sum { |row| row["id"] }, mine[-1].dig("tags", 0), mine[3].value] } }
    ractors.each do |ractor|
      assert_equal [LARGE.sum { |row| row["id"] }, "a" * 39, LARGE[3]], ractor.respond_to?(:value) ? ractor.value : ractor.take
    end
    assert_equal 7, in_ractor(pack(LARGE)) { |binary| Manypack::View.new(binary)[7]["id"] }
  end

  # Of the sizes below which a container has no entry in the Index, and of those above. That looks in any order came
  # before makes the Index as different as it can be.
  def test_looks_into_a_frozen_view_find_what_looks_before_found
    random = Random.new(1)
    [*30..70, 200].each do |n|
      array = (0...n).to_a
      names = array.map { |i| "k#{i}" }
      [[view(array), array], [view([array, 1])[0], array], [view(names.zip(array).to_h), names]].each do |shown, keys|
        20.times { shown[keys[[0, n - 1, random.rand(n)].sample(random: random)]] }
        shown.freeze
        looks = Array.new(20) { random.rand(n) } + [n - 1, 0]
        assert_equal looks, in_ractor(shown, keys.values_at(*looks)) { |mine, all| all.map { |key| mine[key] } }, n
        assert_equal looks, keys.values_at(*looks).map { |key| shown[key] }, n
      end
    end
  end

  def test_a_path_is_shared_by_ractors
    path = Path.new("$[*].id")
    assert Ractor.shareable?(path)
    assert_equal [1, 2], in_ractor(path, pack([{ "id" => 1 }, { "id" => 2 }])) { |mine, binary| mine.to_a(binary) }
  end

  def test_a_view_is_frozen_in_the_middle_of_each
    v = view(LARGE)
    ids = v.map { |row| v.freeze && row["id"] }
    assert_equal LARGE.map { |row| row["id"] }, ids
  end

  def test_a_string_with_variables_is_copied
    bytes = +"\x91\x01".b
    bytes.instance_variable_set(:@x, [+"mutable"])
    assert Ractor.shareable?(View.new(bytes.freeze, shareable: true))
    GC.start
    assert_equal 1, View.new(bytes, shareable: true)[0]
  end
end

# frozen_string_literal: true

# What Views cost grows with the bytes they look at, not with their square.
require "test_helper"
require "support/costs"

class ViewTimeTest < Minitest::Test
  include Costs

  View = Manypack::View
  Path = Manypack::Path

  # A frozen Index keeps no place of the last look: it has marks.
  def test_looks_into_a_frozen_view_are_short_in_any_order
    mixed = Array.new(70_000) { |i| i % 7 == 0 ? ["x" * (i % 90), [i]] : i }
    frozen = View.new(pack([mixed, "text", mixed]), freeze: true)
    [0, 2].each do |part|
      array = frozen[part]
      [0, 1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 30_000, 69_999, -1, -128, -70_000].each do |i|
        assert_equal mixed[i], value(array[i])
      end
    end
    assert_linear(8_000) do |size|
      view = View.new(pack(mixed.first(size)), freeze: true)
      -> { (0...size).step(3) { |i| view[-1 - i] } }
    end
  end

  def test_iterating_and_searching_are_linear
    ways = [->(view) { view.count { |row| row[0] } }, ->(view) { Path.new("$[*][0]").to_a(view).size },
            ->(view) { (0...view.size).count { |i| view[i][0] } }]
    ways.each do |way|
      assert_linear(6_000) do |size|
        rows = pack(Array.new(size) { |i| [i] })
        -> { assert_equal size, way.call(View.new(rows)) }
      end
    end
  end

  def test_looks_into_arrays_in_arrays_are_linear
    assert_linear(5_000) do |size|
      view = View.new(pack(Array.new(size / 200) { Array.new(200) { |i| [i] } }), check: true)
      -> { assert_equal size * 199 / 2, (0...size / 200).sum { |i| (0...200).sum { |j| view[i][j][0] } } }
    end
  end

  private

  def value(found) = found.is_a?(View) ? found.value : found
end

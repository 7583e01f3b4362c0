# frozen_string_literal: true

# What Views cost grows with the bytes they look at, not with their square: seconds would be minutes.
require "test_helper"

class ViewTimeTest < Minitest::Test
  View = Manypack::View
  Path = Manypack::Path

  # A frozen Index keeps no place of the last look: it has marks.
  def test_looks_into_a_frozen_view_are_short_in_any_order
    mixed = Array.new(70_000) { |i| i % 7 == 0 ? ["x" * (i % 90), [i]] : i }
    frozen = View.new(pack([mixed, "text", mixed]), freeze: true)
    start = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    [0, 2].each do |part|
      array = frozen[part]
      (0...mixed.size).step(3) { |i| assert_equal mixed[i], value(array[i]) if i % 1000 < 3 || array[-1 - i].nil? }
      [0, 1, 31, 32, 33, 127, 128, 129, 255, 256, 69_999, -1, -128, -70_000].each { |i| assert_equal mixed[i], value(array[i]) }
    end
    assert_operator Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - start, :<, 5
  end

  def value(found) = found.is_a?(View) ? found.value : found

  def test_iterating_and_searching_are_linear
    rows = pack(Array.new(50_000) { |i| [i] })
    start = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    v = View.new(rows)
    assert_equal 50_000, v.count { |row| row[0] }
    assert_equal 50_000, Path.new("$[*][0]").to_a(v).size
    assert_equal 50_000, (0...50_000).count { |i| v[i][0] }
    nested = View.new(pack(Array.new(200) { Array.new(200) { |i| [i] } }), check: true)
    assert_equal 200 * 199 * 100, (0...200).sum { |i| (0...200).sum { |j| nested[i][j][0] } }
    assert_operator Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - start, :<, 5
  end
end

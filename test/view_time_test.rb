# frozen_string_literal: true

# What Views cost grows with the bytes they look at, not with their square: seconds would be minutes.
require "test_helper"

class ViewTimeTest < Minitest::Test
  View = Manypack::View
  Path = Manypack::Path

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

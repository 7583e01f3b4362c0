# frozen_string_literal: true

# The benchmark from its command line to its file of measurements, on the smallest case, and what it makes of figures.
require "minitest/autorun"
require "open3"
require "rbconfig"
require "tempfile"
require_relative "../support/results"

class BenchTest < Minitest::Test
  BENCH = File.expand_path("../bench.rb", __dir__)

  def test_a_case_is_measured_beside_a_peer_and_the_floor
    Tempfile.create("results") do |file|
      output, status = Open3.capture2e(RbConfig.ruby, BENCH, "--quick", "--look-alikes",
                                       "--only", "messages/structured", "--contenders", "floor|Marshal",
                                       "--rounds", "2", "--output", file.path)
      assert_predicate status, :success?, output
      results = Results.read(file.path)
      assert_equal [%w[messages unpack], %w[messages pack]], results.tables
      assert_equal %w[floor Marshal], results.peers("messages", "unpack")
      assert_operator results.ratio("messages", "unpack", "structured", "Marshal").median, :>, 1
    end
  end

  def test_ratios_are_taken_round_by_round
    results = Results.new({}, [measurement("Manypack", [1.0, 2.0, 4.0]), measurement("other", [2.0, 4.0, 4.0])])
    assert_equal [2.0, 1.0, 2.0], results.ratio("group", "pack", "case", "other").to_a
    assert_nil results.ratio("group", "pack", "case", "third")
  end

  def test_means_are_geometric_and_leave_out_what_a_peer_cannot_do
    measurements = [["one", 1.0, 2.0], ["two", 1.0, 8.0]].flat_map do |name, ours, theirs|
      [measurement("Manypack", [ours], name), measurement("other", [theirs], name)]
    end
    results = Results.new({}, [*measurements, measurement("Manypack", [1.0], "three")])
    assert_in_delta 4.0, results.mean_ratio("group", "pack", "other")
  end

  private

  def measurement(contender, times, name = "case")
    Measurement.new(group: "group", name: name, operation: "pack", contender: contender, bytes: 1, objects: 1,
                    wall: times, cpu: times, gc: times.map { 0.0 })
  end
end

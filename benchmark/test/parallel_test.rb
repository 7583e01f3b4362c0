# frozen_string_literal: true

# The comparison of Parallel from its command line to its tables, on the smallest stream.
require "minitest/autorun"
require "open3"
require "rbconfig"

class ParallelBenchmarkTest < Minitest::Test
  BENCHMARK = File.expand_path("../parallel.rb", __dir__)

  def test_each_way_is_measured_beside_the_ceiling_and_the_costs_of_a_run
    output, status = Open3.capture2e(RbConfig.ruby, "-Ilib", BENCHMARK, "--megabytes", "1", "--rounds", "1",
                                     "--workers", "2", "--only", "result|start")
    assert_predicate status, :success?, output
    ["Inline     | 1", "Ceiling    | 2", "Ractors    | 2", "Processes  | 2"].each do |row|
      assert_match(/^\| #{Regexp.escape(row).gsub(/(\\ )+/, " +")} +\| \d+ +\| \d+\.\d\d/, output)
    end
    assert_match(/^a run of 2 processes .*: \d+\.\d ms; memory that only one worker has: \d+\.\d MB/, output)
  end
end

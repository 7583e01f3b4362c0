# frozen_string_literal: true

# Packing and unpacking do not grow by more than 3 % unnoticed: counts of instructions against the recorded ones.
require "minitest/autorun"
require_relative "../instructions"

class InstructionsTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)

  def test_no_operation_takes_more_instructions_than_recorded
    recorded = RecordedInstructions.new(Instructions.build)
    skip "Valgrind with its headers is not installed (Debian: valgrind)" unless Instructions.available?
    skip "nothing is recorded for #{recorded.build}" unless recorded.exist?

    instructions = Instructions.new(data: nil, stream: 1_000)
    least = RecordedInstructions.least(instructions) { |counts| recorded.grown(counts).empty? }
    assert_empty recorded.counts.keys - least.keys
    assert_empty recorded.grown(least),
                 "find out why, or record it: " \
                 "ruby benchmark/instructions.rb --record 'a line of CHANGELOG.md that says why'"
  end

  def test_what_grew_is_in_the_changelog
    assert_operator RecordedInstructions.all.size, :>, 0
    changelog = File.read(File.join(ROOT, "CHANGELOG.md")).split.join(" ")
    RecordedInstructions.all.map(&:reason).compact.each { |reason| assert_includes changelog, reason.split.join(" ") }
  end
end

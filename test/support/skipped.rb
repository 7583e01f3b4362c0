# frozen_string_literal: true

# Says after minitest's summary which tests were skipped and why; minitest itself does so only with --verbose.
require "minitest"

class SkippedReporter < Minitest::AbstractReporter
  def initialize(io)
    super()
    @io = io
    @skipped = Hash.new { |tests, reason| tests[reason] = [] }
  end

  def record(result)
    @skipped[result.failure.message] << "#{result.klass}##{result.name}" if result.skipped?
  end

  def report
    @skipped.sort.each { |reason, tests| @io.puts "", "Skipped, #{reason}:", tests.sort.map { |test| "  #{test}" } }
  end
end

def Minitest.plugin_skipped_init(options)
  reporter << SkippedReporter.new(options[:io])
end

Minitest.extensions << "skipped"

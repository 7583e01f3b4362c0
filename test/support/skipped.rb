# frozen_string_literal: true

# Says after minitest's summary which tests were skipped and why; minitest itself does so only with --verbose.
require "minitest"

class SkippedReporter < Minitest::StatisticsReporter
  def report
    skipped = results.select(&:skipped?).group_by { |result| result.failure.message }
    skipped.sort.each do |reason, tests|
      io.puts "", "Skipped, #{reason}:", tests.map { |test| "  #{test.class_name}##{test.name}" }.sort
    end
  end
end

def Minitest.plugin_skipped_init(options)
  reporter << SkippedReporter.new(options[:io], options)
end

Minitest.extensions << "skipped"

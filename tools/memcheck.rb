# frozen_string_literal: true

# Runs test files under Valgrind's memcheck and says what it has against Manypack:
#   ruby tools/memcheck.rb TEST...
# Ruby itself, which looks for objects where nobody wrote and frees little at its end, is not what this is about: an access
# counts when it is made by our code, and lost memory when our code asked for it. `rake test:memcheck` runs it.
require "rbconfig"
require "tmpdir"

# The records of a log of memcheck: an access or a block each, with the stack where it happened.
class MemcheckLog
  OURS = Dir[File.expand_path("../{ext/manypack,core}/**/*.{c,h}", __dir__)].map { |path| File.basename(path) }.freeze
  OUR_FRAME = /\((?:#{Regexp.union(OURS)}):\d+\)$/

  # Between malloc and us when we ask for memory; there are more frames when Ruby asks, for an object that we make.
  ALLOCATORS = 1

  # What the collector has marked, Ruby notes in memory of its own; our mark functions ask for none.
  MARKING = /_mark \(/

  def initialize(text)
    @records = text.gsub(/^==\d+== ?/, "").split(/\n\s*\n/)
  end

  # @return [Array<String>] those that are about us
  def ours
    @records.select { |record| ours?(record) }
  end

  # @return [Boolean] whether memcheck came to its end
  def complete? = @records.any? { |record| record.include?("ERROR SUMMARY") }

  private

  def ours?(record)
    frames = record.lines.map(&:chomp).grep(/^\s+(at|by) 0x/)
    return ours_first?(frames) unless record.include?("definitely lost in loss record")

    ours_first?(frames.drop(1), ALLOCATORS) && frames.grep(OUR_FRAME).first !~ MARKING
  end

  # Whether our code comes before more than so many frames that are not.
  def ours_first?(frames, others = 0)
    at = frames.index { |frame| frame.match?(OUR_FRAME) }
    at && at <= others
  end
end

# memcheck finds no undefined values here: every conservative look at a stack would be one.
VALGRIND = %w[valgrind --undef-value-errors=no --leak-check=full --show-leak-kinds=definite --num-callers=25
              --max-stackframe=8400000].freeze

if $PROGRAM_NAME == __FILE__
  Dir.mktmpdir do |dir|
    ok = system({ "MANYPACK_MEMCHECK" => "yes" }, *VALGRIND, "--log-file=#{dir}/%p", RbConfig.ruby, "-Ilib", "-Itest",
                "-e", "ARGV.each { |test| require File.expand_path(test) }.clear", *ARGV)
    logs = Dir["#{dir}/*"].map { |path| MemcheckLog.new(File.read(path)) }
    found = logs.flat_map(&:ours)
    puts found
    puts "memcheck: #{logs.size} processes, #{found.size} faults"
    exit ok && found.empty? && logs.any?(&:complete?)
  end
end

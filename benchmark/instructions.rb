# frozen_string_literal: true

# Counts the instructions of Manypack beside those of the floor, or records them: what rake bench:instructions runs.
require "optparse"
require "terminal-table"
require_relative "support/contenders"
require_relative "support/instructions"
require_relative "support/recorded_instructions"
require_relative "support/workload"

beside = File.expand_path("../../shared/data", __dir__)
options = { data: (beside if File.directory?(beside)), only: nil, record: false }
OptionParser.new do |parser|
  parser.banner = "Usage: ruby benchmark/instructions.rb [options]\n" \
                  "Without --only: the cases that are recorded. " \
                  "Details of the last run: callgrind_annotate tmp/instructions/..."
  parser.on("--only REGEXP", Regexp, "cases by name") { |only| options[:only] = only }
  parser.on("--data DIR", "a folder of JSON files") { |dir| options[:data] = dir }
  parser.on("--record [REASON]", "record them; with the CHANGELOG's line when they grew") do |reason|
    options[:record] = reason || true
  end
end.parse!
abort "Valgrind with its headers is not installed (Debian: valgrind)" unless Instructions.available?

workload = { data: options[:data], stream: 1_000, largest: 100_000 }
ids = options[:only] ? Workload.new(**workload).cases.keys.grep(options[:only]) : RecordedInstructions::CASES
instructions = Instructions.new(workload)
counts = instructions.count(Contenders::WithManypack, ids)
floor = instructions.count(Contenders::WithFloor, ids)

rows = counts.map do |key, dump|
  bare = floor[key]&.per_object
  numbers = [dump.per_object, dump.per_object_in("manypack.so"), bare]
  [*key, *numbers.map { |number| number ? format("%.1f", number) : "-" },
   bare ? format("%.2f", dump.per_object / bare) : "-", dump.path.delete_prefix("#{Instructions::FOLDER}/")]
end
headings = ["case", "operation", "all", "in manypack.so", "floor", "/ floor", "details"]
puts Terminal::Table.new(title: "#{Instructions.build}: instructions per object", headings: headings, rows: rows)

recorded = RecordedInstructions.new(Instructions.build)
if options[:record]
  least = RecordedInstructions.least(instructions) { false }
  reason = options[:record] if options[:record].is_a?(String)
  grown = recorded.exist? ? recorded.grown(least) : []
  abort "give the CHANGELOG's line with --record, because of\n#{grown.join("\n")}" if grown.any? && !reason

  recorded.write(least, reason)
end

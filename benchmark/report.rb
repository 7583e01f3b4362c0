# frozen_string_literal: true

# Writes docs/performance.md with its pictures from the results of the newest Ruby, the other Rubies' beside it.
require_relative "support/report"

paths = Dir[File.join(__dir__, "results", "ruby-*.json")]
paths = paths.sort_by { |path| Gem::Version.new(path[/ruby-([\d.]+\d)/, 1]) }.reverse
abort "there are no results: rake bench" if paths.empty?

docs = File.expand_path("../docs", __dir__)
Report.new(paths.map { |path| Results.read(path) }, docs).write
FileUtils.cp(paths.first, File.join(docs, Report::PICTURES, "results.json"))
puts "docs/performance.md, from #{paths.map { |path| File.basename(path) }.join(", ")}"

# frozen_string_literal: true

# rake release:check      what must hold before a tag is pushed; stops at the first thing that does not, and says why
# rake release:contents   prints which files the gem has gained or lost since the last tag

namespace :release do
  desc "Check tag, versions, signatures, docs, contents, that two builds have the same bytes, and try the gem on RUBIES"
  task check: %w[release:agree release:listed rbs release:docs release:reproducible gem:try] do
    puts "This can be released."
  end

  desc "Print which files the gem has gained (+) or lost (-) since the last tag; all of them if there is no tag"
  task(:contents) do
    require_relative "../tools/release/contents"
    tag = `git describe --tags --abbrev=0 HEAD^ 2> #{File::NULL}`.chomp
    before = tag.empty? ? [] : Release::Contents.listed(tag)
    now = Release::Contents.listed
    puts (now - before).map { |name| "+ #{name}" }, (before - now).map { |name| "- #{name}" }
  end

  task(:agree) do
    require_relative "../tools/release/agreement"
    require_relative "../lib/manypack/version"
    agreement = Release::Agreement.new(
      version: Manypack::VERSION, changelog: File.read("CHANGELOG.md", encoding: "UTF-8"),
      manual: File.read("man/manypack.1", encoding: "UTF-8"), tags: `git tag --points-at HEAD`.split,
      changes: `git status --porcelain`.lines.map { |line| line[3..].chomp }, today: Time.now.utc.to_date
    )
    stop_if agreement.complaints
  end

  task(listed: "gem:source") do
    require_relative "../tools/release/contents"
    stop_if Dir["pkg/manypack-#{Manypack::VERSION}*.gem"].flat_map { |gem| Release::Contents.new(gem).complaints }
  end

  # In ri, in sig/, in the examples and links of the pages, and in the manual.
  task(docs: :compile) do
    Rake::Task["man"].invoke
    stop_if ["The manual was not what rake man writes."] unless `git status --porcelain man`.empty?
    tests = Dir["./test/*/{docs,gem,style,terminal_docs}_test.rb"]
    ruby "-w", "-Ilib", "-Itest", "-e", "ARGV.each { |test| require test }.clear", *tests
  end

  task(:reproducible) do
    require_relative "../tools/release/reproducible"
    stop_if Release::Reproducible.complaints
  end
end

# Ends rake with a status that is not 0, unless there is nothing to complain about.
def stop_if(complaints)
  abort "Not to be released:\n#{complaints.map { |one| "  #{one}" }.join("\n")}" if complaints.any?
end

# frozen_string_literal: true

# Runs the specs of the msgpack gem on the drop-in: rake peer SOURCE=... . It fails unless those that fail are the ones
# below, each of which docs/migrating.md explains.
require "json"
require "open3"
require "tmpdir"

source = File.expand_path(ARGV.fetch(0))
lib = File.expand_path("../../lib", __dir__)
EXPECTED = [
  "MessagePack::Factory the special treatment of symbols with ext type if an ext type is registered for symbols if " \
  "using the default serializer does not handle symbols in other encodings",
  "MessagePack::Buffer defines a function for ObjectSpace.memsize_of"
].freeze

Dir.mktmpdir do |dir|
  report = File.join(dir, "report.json")
  specs = Dir[File.join(source, "spec/*_spec.rb"), File.join(source, "spec/cruby/*_spec.rb")]
  command = ["rspec", "-I", lib, "-I", File.join(source, "spec"), "-r", "manypack/drop_in", "-f", "json", "-o", report, *specs]
  env = { "RUBYOPT" => nil, "RUBYLIB" => nil, "BUNDLE_GEMFILE" => nil, "GEM_HOME" => nil, "GEM_PATH" => nil }
  Open3.capture2e(env, *command, chdir: source)
  examples = JSON.parse(File.read(report)).fetch("examples")
  failed = examples.select { |example| example["status"] == "failed" }
  failed.each { |example| puts "#{example["full_description"]}: #{example.dig("exception", "message").lines.first(3).join(" ").strip}" }
  puts "#{examples.size} examples, #{failed.size} differ"
  exit((failed.map { |example| example["full_description"] } - EXPECTED).empty? ? 0 : 1)
end

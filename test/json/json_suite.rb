# frozen_string_literal: true

# Runs the public test suite of JSON (github.com/nst/JSONTestSuite): `rake json:suite SUITE=path`. A file whose name
# starts with y_ must be taken, one with n_ refused; of those with i_ it prints what from_json does.
require "json"
require "manypack"

taken, refused = Dir["#{ARGV.fetch(0)}/test_parsing/*.json"].sort.partition do |path|
  text = File.binread(path)
  bytes = Manypack.from_json(text)
  expected = Manypack.pack(JSON.parse(text, max_nesting: 200, **(JSON::VERSION >= "2.13" ? { allow_duplicate_key: true } : {})))
  abort "#{path}: other bytes than those of the parsed objects" unless bytes == expected
  true
rescue Manypack::DecodeError => e
  puts "#{File.basename(path)}: #{e.message}" if File.basename(path).start_with?("i_")
  false
end
# json refuses keys that come twice, and so does from_json, though the suite takes them.
twice = %w[y_object_duplicated_key.json y_object_duplicated_key_and_value.json]
wrong = taken.map { |path| File.basename(path) }.grep(/\An_/) + refused.map { |path| File.basename(path) }.grep(/\Ay_/) - twice
puts "#{taken.size + refused.size} files, #{taken.size} taken, #{refused.size} refused; keys that come twice: #{twice.size}"
abort "there are no files" if taken.empty?
abort "wrong: #{wrong.join(", ")}" unless wrong.empty?

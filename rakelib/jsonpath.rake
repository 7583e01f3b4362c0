# frozen_string_literal: true

desc "Run the compliance suite of JSONPath: SUITE is the path of its cts.json"
task(jsonpath: :compile) do
  suite = ENV.fetch("SUITE") { abort "SUITE is missing: the path of cts.json" }
  ruby "-w", "-Ilib", "tools/jsonpath_suite.rb", suite
end

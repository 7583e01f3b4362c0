# frozen_string_literal: true

# Runs under callgrind, started by Instructions: ruby instructions_child.rb CONTENDER WORKLOAD < names of cases.
# Writes a file of counts for each operation of each case, described by both names and by how often it was done.

require "json"
require_relative "contenders"
require_relative "side_extension"
require_relative "workload"

WARM_UP = 20 # so that inline caches and the key cache are filled
BYTES = 1_000_000 # to go through: a few repetitions of small things would count what malloc does once in a while

SideExtension.new("instructions", "callgrind").load
contender = Contenders.const_get(ARGV.fetch(0))
contender.load
workload = Workload.new(**JSON.parse(ARGV.fetch(1), symbolize_names: true))
cases = workload.cases.fetch_values(*$stdin.readlines(chomp: true))
work = cases.flat_map do |one|
  payload = one.payload
  one.operations.map do |operation|
    check = operation.check(contender, payload) if operation.supported?(contender)
    next unless check

    times = (BYTES / check[:bytes]).clamp(3, 5_000)
    [operation, operation.argument(contender, payload), times,
     JSON.generate([one.id, operation.name, times, Payloads.count(payload)])]
  end.compact
end

Callgrind.start
work.each do |operation, argument, times, description|
  operation.repeat(contender, argument, WARM_UP)
  GC.start
  GC.disable
  Callgrind.zero
  operation.repeat(contender, argument, times)
  Callgrind.dump(description)
  GC.enable
end

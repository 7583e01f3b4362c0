# frozen_string_literal: true

# One contender in a process of its own, for bench.rb. Reads a request a line from standard input, answers with a line of
# JSON:
#   ["faithful?", payload]             whether packing and unpacking gives back the same
#   ["time", payload, operation, sec]  nanoseconds of one operation, over a sample of about so many seconds

require "json"
require_relative "contenders"
require_relative "workload"

# Answers the requests for one contender.
class Child
  WARM_UP_NS = 30_000_000

  # @param contender [Module] of Contenders, loaded
  # @param data [String, nil] a folder of JSON files
  def initialize(contender, data)
    @contender = contender
    @payloads = Workload.payloads(data)
    @warm = {}
  end

  # By what it shows: a BigDecimal for an Integer, or another encoding, would be equal and not the same.
  def faithful?(payload)
    object = @payloads.fetch(payload)
    @contender.unpack(@contender.pack(object)).inspect == object.inspect
  rescue EncodingError, JSON::GeneratorError
    false
  end

  def time(payload, operation, seconds)
    argument, expected = (@warm[[payload, operation]] ||= warm_up(payload, operation))
    GC.start
    ns = measure([(seconds * 1e9 / expected).to_i, 1].max, operation, argument)
    @warm[[payload, operation]][1] = ns
  end

  private

  # What the operation is given, and about how long it takes.
  def warm_up(payload, operation)
    object = @payloads.fetch(payload)
    argument = operation == "pack" ? object : @contender.pack(object)
    once = [measure(1, operation, argument), 1.0].max
    [argument, measure([(WARM_UP_NS / once).to_i, 1].max, operation, argument)]
  end

  # Two loops, so that each has one call that the JIT can see through.
  def measure(times, operation, argument)
    contender = @contender
    i = 0
    start = now
    if operation == "pack"
      while i < times
        contender.pack(argument)
        i += 1
      end
    else
      while i < times
        contender.unpack(argument)
        i += 1
      end
    end
    (now - start) / times * 1e9
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

contender = Contenders.const_get(ARGV.fetch(0))
unless Contenders.loads?(contender)
  puts JSON.generate("missing" => true)
  exit
end
$stdout.sync = true
puts JSON.generate("version" => contender.version)
child = Child.new(contender, ARGV[1])
while (line = $stdin.gets)
  puts JSON.generate([child.public_send(*JSON.parse(line))])
end

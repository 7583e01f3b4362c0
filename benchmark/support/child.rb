# frozen_string_literal: true

# One contender in a process of its own. Reads a request a line from standard input, answers with a line of JSON:
#   ["check", payload]          => digest of what came back from packing and unpacking, and the packed size
#   ["time", payload, op, sec]  => nanoseconds for each operation of one sample of about so many seconds
#   ["about"]                   => the contender's version

require "digest"
require "json"
require_relative "contenders"
require_relative "payloads"

# Answers the requests for one contender.
class Child
  def initialize(name, data)
    @contender = Contenders.make(name)
    @payloads = Payloads.all(data)
    @times = {}
  end

  def about
    @contender.about
  end

  # Only what every contender can carry is compared; what this one cannot is nil.
  def check(payload)
    object = @payloads.fetch(payload)
    packed = @contender.pack.call(object)
    back = @contender.unpack.call(packed)
    raise "#{@contender.name} changes #{payload}" unless back == object

    { "digest" => Digest::SHA256.hexdigest(Marshal.dump(back)), "bytes" => packed.bytesize }
  rescue EncodingError, JSON::GeneratorError
    nil
  end

  def time(payload, operation, seconds)
    work = (@times[[payload, operation]] ||= prepare(payload, operation))
    times = [(seconds * 1e9 / work[:ns]).to_i, 1].max
    GC.start
    work[:ns] = measure(times, work[:call], work[:argument])
  end

  private

  # Warm-up is part of it: a first sample of 30 ms, and a second whose time is taken.
  def prepare(payload, operation)
    object = @payloads.fetch(payload)
    argument = operation == "pack" ? object : @contender.pack.call(object)
    call = @contender.public_send(operation)
    work = { call: call, argument: argument }
    once = [measure(1, call, argument), 1.0].max
    work[:ns] = measure([(3e7 / once).to_i, 1].max, call, argument)
    work
  end

  def measure(times, call, argument)
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    i = 0
    while i < times
      call.call(argument)
      i += 1
    end
    (Process.clock_gettime(Process::CLOCK_MONOTONIC) - start) / times * 1e9
  end
end

if $PROGRAM_NAME == __FILE__
  begin
    child = Child.new(ARGV.fetch(0), ARGV[1])
  rescue LoadError => error
    puts JSON.generate("missing" => error.message)
    exit
  end
  $stdout.sync = true
  puts JSON.generate("about" => child.about)
  while (line = $stdin.gets)
    request = JSON.parse(line)
    puts JSON.generate([child.public_send(*request)])
  end
end

# frozen_string_literal: true

# One contender in a process of its own, for bench.rb: ruby child.rb CONTENDER OPTIONS. Reads a request a line from
# standard input and answers each with a line of JSON:
#   ["check", case, operation]      what Operation#check says, null also when the contender does not offer the operation
#   ["time", case, operation, sec]  nanoseconds of one operation, over about so many seconds: by the clock on the wall,
#                                   of the CPU, and of the CPU in the collector
#   ["write", case, path]           writes the payload packed, for a child of another language
#   ["same?", case, path]           whether what that child packed is the payload

require "json"
require_relative "contenders"
require_relative "workload"

# Answers the requests for one contender. It has one case at a time, so that none is measured in the other's heap.
class Child
  WARM_UP_NS = 30_000_000

  # @param contender [Module] of Contenders, loaded
  # @param workload [Workload]
  def initialize(contender, workload)
    @contender = contender
    @cases = workload.cases
  end

  def check(id, name)
    operation = Workload::ALL.fetch(name)
    check = operation.check(@contender, payload(id)) if operation.supported?(@contender)
    check&.merge(objects: Payloads.count(payload(id)))
  end

  def time(id, name, seconds)
    operation = Workload::ALL.fetch(name)
    units = operation.units(payload(id))
    warm = (@warm[name] ||= warm_up(operation))
    GC.start
    repetitions = [(seconds * 1e9 / warm.expected).to_i, 1].max
    times = measure(repetitions, operation, warm.argument)
    warm.expected = times.first / repetitions
    times.map { |ns| ns / repetitions / units }
  end

  def write(id, path)
    File.binwrite(path, @contender.pack(payload(id)))
  end

  def same?(id, path)
    @contender.unpack(File.binread(path)) == payload(id)
  end

  private

  # What an operation is called with, and about how many nanoseconds it takes.
  Warm = Struct.new(:argument, :expected)
  private_constant :Warm

  def payload(id)
    return @payload if @current == id

    @current = id
    @warm = {}
    @contender.renew if @contender.respond_to?(:renew)
    @payload = @cases.fetch(id).payload
  end

  def warm_up(operation)
    argument = operation.argument(@contender, @payload)
    once = [measure(1, operation, argument).first, 1.0].max
    repetitions = [(WARM_UP_NS / once).to_i, 1].max
    Warm.new(argument, measure(repetitions, operation, argument).first / repetitions)
  end

  def measure(times, operation, argument)
    start = clocks(operation)
    operation.repeat(@contender, argument, times)
    clocks(operation).zip(start).map { |after, before| (after - before).to_f }
  end

  def clocks(operation)
    [Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond), operation.cpu_time, GC.total_time]
  end
end

contender = Contenders.const_get(ARGV.fetch(0))
begin
  contender.load
rescue LoadError => error
  puts JSON.generate("missing" => error.message)
  exit
end
$stdout.sync = true
puts JSON.generate("version" => contender.version, "on" => RUBY_DESCRIPTION)
child = Child.new(contender, Workload.new(**JSON.parse(ARGV.fetch(1), symbolize_names: true)))
while (line = $stdin.gets)
  puts JSON.generate([child.public_send(*JSON.parse(line))])
end

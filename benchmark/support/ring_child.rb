# frozen_string_literal: true

# One ring in a process of its own, for ring.rb: ruby ring_child.rb OF MESSAGE NODES TIMES. Each node hands on what it
# gets, changed. Answers with a line of JSON: seconds to start, to pass the message around, of the CPU meanwhile, of the
# collector meanwhile, to end; kilobytes that the ring took; hops.

require "json"
require "manypack"

Warning[:experimental] = false

# Nodes of a ring; the last one hands to the Ractor, or the Thread, that made it.
module Ring
  # What a node does with a message. An Integer is no object that anybody has to make.
  module Integers
    def self.first = 0
    def self.pass(number) = number + 1
    def self.hops(number) = number
  end

  # The least that a message of bytes costs: one new String.
  module Strings
    def self.first = "0"
    def self.pass(string) = string.succ.freeze
    def self.hops(string) = string.to_i
  end

  # The smallest message: nothing is made but its bytes.
  module PackedIntegers
    def self.first = Manypack.pack(0).freeze
    def self.pass(bytes) = Manypack.pack(Manypack.unpack(bytes) + 1).freeze
    def self.hops(bytes) = Manypack.unpack(bytes)
  end

  # A map: unpacked, changed and packed.
  module PackedMaps
    def self.first = Manypack.pack({ "hops" => 0, "from" => "ring" }).freeze

    def self.pass(bytes)
      message = Manypack.unpack(bytes)
      message["hops"] += 1
      Manypack.pack(message).freeze
    end

    def self.hops(bytes) = Manypack.unpack(bytes)["hops"]
  end

  # By Ractors.
  class OfRactors
    def initialize(nodes, message)
      @first = nodes.times.inject(Ractor.current) do |following, _|
        Ractor.new(following, message) do |to, how|
          while (received = Ractor.receive)
            to.send(how.pass(received))
          end
          to.send(nil)
        end
      end
    end

    def around(message)
      @first.send(message)
      Ractor.receive
    end
  end

  # By Threads.
  class OfThreads
    def initialize(nodes, message)
      @last = Thread::Queue.new
      @first = nodes.times.inject(@last) do |following, _|
        Thread::Queue.new.tap { |mine| Thread.new { work(mine, following, message) } }
      end
    end

    def around(message)
      @first << message
      @last.pop
    end

    private

    def work(mine, following, message)
      while (received = mine.pop)
        following << message.pass(received)
      end
      following << nil
    end
  end
end

def clock(which = Process::CLOCK_MONOTONIC)
  Process.clock_gettime(which)
end

def resident
  File.read("/proc/self/status")[/^VmRSS:\s+(\d+)/, 1].to_i
rescue SystemCallError
  0
end

of, message, nodes, times = ARGV
message = Ring.const_get(message)
before = resident
start = clock
ring = Ring.const_get(of).new(nodes.to_i, message)
passing = ring.around(message.first)
started = clock
GC.measure_total_time = true
cpu = clock(Process::CLOCK_PROCESS_CPUTIME_ID)
collected = GC.total_time
(times.to_i - 1).times { passing = ring.around(passing) }
passed = clock
collected = (GC.total_time - collected) / 1e9
cpu = clock(Process::CLOCK_PROCESS_CPUTIME_ID) - cpu
kilobytes = resident - before
ring.around(nil)
abort "#{message.hops(passing)} hops" unless message.hops(passing) == nodes.to_i * times.to_i
puts JSON.generate(start: started - start, pass: passed - started, cpu: cpu, gc: collected, end: clock - passed,
                   kilobytes: kilobytes, hops: nodes.to_i * (times.to_i - 1))

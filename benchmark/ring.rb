# frozen_string_literal: true

# A ring of Ractors that pass messages around, each unpacking, changing and packing what it gets; beside it the same
# with Integers and with Strings that are not packed, and the same of Threads. Each ring is a process of its own.
# An Integer is no object; a message of bytes is one at least, as the Strings are, and Ruby 4.0 collects for all Ractors
# at once: no packed message can get further than the Strings do.

require "optparse"
require "terminal-table"
require_relative "memory/process"
require_relative "support/contender_process"
require_relative "support/results"

# Nodes of a ring; the last one hands to the Ractor, or the Thread, that made it.
module Ring
  # As a contender: a message has nothing to load but Manypack.
  module Message
    def label = name
    def load = require("manypack")
    def version = ::Manypack::VERSION
  end

  # What a node does with a message. An Integer is no object that anybody has to make.
  module Integers
    extend Message

    def self.first = 0
    def self.pass(number) = number + 1
    def self.hops(number) = number
  end

  # The least that a message of bytes costs: one new String.
  module Strings
    extend Message

    def self.first = "0"
    def self.pass(string) = string.succ.freeze
    def self.hops(string) = string.to_i
  end

  # The smallest message: nothing is made but its bytes.
  module PackedIntegers
    extend Message

    def self.first = Manypack.pack(0).freeze
    def self.pass(bytes) = Manypack.pack(Manypack.unpack(bytes) + 1).freeze
    def self.hops(bytes) = Manypack.unpack(bytes)
  end

  # A map: unpacked, changed and packed.
  module PackedMaps
    extend Message

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

class RingBenchmark
  # Native threads of the Ractors, and a main Ractor whose Threads share theirs. Ruby 4.0 gives each Ractor that makes
  # objects a page of 64 KB, and collects garbage when these run out: the large heap has enough of them.
  SETTINGS = {
    "RUBY_MAX_CPU=1" => { "RUBY_MAX_CPU" => "1" }, "RUBY_MAX_CPU=2" => { "RUBY_MAX_CPU" => "2" },
    "RUBY_MAX_CPU=8" => { "RUBY_MAX_CPU" => "8" }, "RUBY_MN_THREADS=1" => { "RUBY_MN_THREADS" => "1" },
    "large heap" => (0..2).to_h { |pool| ["RUBY_GC_HEAP_#{pool}_INIT_SLOTS", "4000000"] }
  }.freeze
  RINGS = %w[OfRactors OfThreads].product(%w[Integers Strings PackedIntegers PackedMaps]).freeze

  # @param options [Hash]
  def initialize(options)
    @options = options
    @settings = SETTINGS.select { |name, _| name.match?(options[:only]) }
    @samples = Hash.new { |samples, key| samples[key] = [] }
  end

  def run
    ruby = [RUBY_DESCRIPTION, *ContenderProcess.yjit].join(" ")
    puts "#{ruby}, #{Stamp.cpu}, #{nodes} nodes, #{@options[:times]} times around"
    @options[:rounds].times do |round|
      @settings.each_key do |setting|
        RINGS.rotate(round).each { |ring| @samples[[setting, ring]] << measure(setting, ring) }
      end
    end
    puts table
    Results.new(@stamp, measurements).write(path)
    puts "measurements: #{path}"
  end

  private

  def measure(setting, ring)
    nodes, message = ring
    process = ContenderProcess.of(Ring.const_get(message), Work, environment: SETTINGS[setting], of: nodes)
    @stamp ||= Stamp.of([process], nodes: @options[:nodes], times: @options[:times])
    process.ask("pass_around", @options[:nodes], @options[:times]).tap { $stderr.print "." }
  ensure
    process&.stop
  end

  def table
    rows = @samples.keys.map do |setting, ring|
      time = median(setting, ring, :pass)
      [setting, name(ring), format("%.2f", time / hops * 1e6), format("%.0f", hops / time),
       format("%.0f %%", 100 * median(setting, [ring.first, "Integers"], :pass) / time),
       format("%.0f %%", 100 * median(setting, ring, :gc) / time),
       format("%.2f", median(setting, ring, :start)), format("%.2f", median(setting, ring, :end)),
       format("%.1f", median(setting, ring, :kilobytes) / nodes)]
    end
    headings = ["", "ring", "us a hop", "hops/s", "of Integers", "collecting", "s to start", "s to end", "KB a node"]
    Terminal::Table.new(headings: headings, rows: rows)
  end

  def name(ring)
    "#{ring.last.sub("Packed", "packed ")} #{ring.first.sub("Of", "of ")}"
  end

  def median(setting, ring, field)
    Statistics.median(@samples[[setting, ring]].map { |sample| sample[field] })
  end

  def hops
    @samples.values.first.first[:hops].to_f
  end

  def nodes
    @options[:nodes]
  end

  # Nanoseconds of a hop.
  def measurements
    @samples.map do |(setting, ring), samples|
      times = { wall: :pass, cpu: :cpu, gc: :gc }.transform_values do |field|
        samples.map { |sample| sample[field] / hops * 1e9 }
      end
      Measurement.new(group: "ring", name: setting, operation: "hop", contender: name(ring),
                      bytes: nil, objects: nil, **times)
    end
  end

  def path
    File.join(__dir__, "results", ["ring", RUBY_VERSION, nodes].join("-") << ".json")
  end

  # What the process of a ring answers.
  class Work
    # @param message [Module] of Ring
    # @param of [String] OfRactors or OfThreads
    def initialize(message, of:)
      @message = message
      @of = Ring.const_get(of)
    end

    # @return [Hash{Symbol => Numeric}] seconds to start, to pass the message around, of the CPU meanwhile, of the
    #   collector meanwhile, to end; kilobytes that the ring took; hops
    def pass_around(nodes, times)
      before = ProcessMemory.resident
      start = clock
      ring = @of.new(nodes, @message)
      passing = ring.around(@message.first)
      started = clock
      GC.measure_total_time = true
      taken = taken_by { (times - 1).times { passing = ring.around(passing) } }
      kilobytes = (ProcessMemory.resident - before) / 1024
      ending = clock
      ring.around(nil)
      raise "#{@message.hops(passing)} hops" unless @message.hops(passing) == nodes * times

      { start: started - start, **taken, end: clock - ending, kilobytes: kilobytes, hops: nodes * (times - 1) }
    end

    private

    def taken_by
      before = clocks
      yield
      %i[pass cpu gc].zip(clocks.zip(before).map { |now, earlier| now - earlier }).to_h
    end

    def clocks
      [clock, clock(Process::CLOCK_PROCESS_CPUTIME_ID), collecting]
    end

    # Of the collections that stop all Ractors. Before Ruby 4.1 that is every one; since then GC.total_time is that of
    # the calling Ractor alone.
    def collecting
      GC.stat.key?(:global_gc_time_taken) ? GC.stat(:global_gc_time_taken) / 1e3 : GC.total_time / 1e9
    end

    def clock(which = Process::CLOCK_MONOTONIC)
      Process.clock_gettime(which)
    end
  end
end

if $PROGRAM_NAME == __FILE__
  options = { nodes: 1_000, times: 100, rounds: 3, only: // }
  OptionParser.new do |parser|
    parser.banner = "Usage: bundle exec ruby -Ilib benchmark/ring.rb [options]"
    parser.on("--nodes N", Integer, "of the ring (#{options[:nodes]})") { |nodes| options[:nodes] = nodes }
    parser.on("--times N", Integer, "around it (#{options[:times]})") { |times| options[:times] = times }
    parser.on("--rounds N", Integer, "median of so many (#{options[:rounds]})") { |rounds| options[:rounds] = rounds }
    parser.on("--only REGEXP", Regexp, "settings by name, such as 'MAX_CPU'") { |only| options[:only] = only }
  end.parse!
  RingBenchmark.new(options).run
end

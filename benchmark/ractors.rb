# frozen_string_literal: true

# What it costs to decode trees that every Ractor may have, to hand them over, and how much more two Ractors do than
# one, with two processes beside them: what they do not gain either, the machine does not give. Each contender is a
# process of its own; rounds are interleaved.

require "json"
require "optparse"
require "terminal-table"
require_relative "support/contender_process"
require_relative "support/contenders/other_formats"
require_relative "support/results"
require_relative "support/workload"

module Contenders
  # Ways to decode a document, to pass over it, or to pack it, as modules that every Ractor has. Each says what it needs
  # of a document (bytes) and what it does with that (decode).
  module InRactors
    # All go by their names in tables.
    module Named
      def label = name.split("::").last
      def version = RUBY_VERSION
    end

    module Manypack
      extend Named

      def self.load = require("manypack") && const_set(:CODEC, ::Manypack::Codec.new)
      def self.bytes(object) = ::Manypack.pack(object)
      def self.decode(bytes) = CODEC.unpack(bytes)
    end

    # By a Codec: an option in a call costs a Hash, which is all that a small message costs otherwise.
    module Shareable
      extend Named

      def self.load = require("manypack") && const_set(:CODEC, ::Manypack::Codec.new(shareable: true))
      def self.bytes(object) = ::Manypack.pack(object)
      def self.decode(bytes) = CODEC.unpack(bytes)
    end

    # A document is passed over without anything being made of it.
    module Skip
      extend Named

      def self.load = require("manypack")
      def self.bytes(object) = ::Manypack.pack(object)
      def self.decode(bytes) = ::Manypack::Unpacker.new.feed(bytes).skip
    end

    # The same as Parallel does it, but for the batch.
    module Split
      extend Named

      def self.load = require("manypack") && const_set(:SPLITTER, ::Manypack::Parallel.const_get(:Splitter))
      def self.bytes(object) = ::Manypack.pack(object)
      def self.decode(bytes) = SPLITTER.new(::Manypack::Codec.new).feed(bytes).take(2, 1 << 40, false)
    end

    module Pack
      extend Named

      def self.load = require("manypack")
      def self.bytes(object) = Ractor.make_shareable(object)
      def self.decode(object) = ::Manypack.pack(object)
    end

    # The same with Symbols for keys, as if they stood in the program: others are objects that can be collected.
    module PackSymbols
      extend Named

      LITERALS = Hash.new { |literals, name| literals[name] = eval(":#{name.inspect}") }

      def self.load = require("manypack")
      def self.bytes(object) = Ractor.make_shareable(symbolic(object))
      def self.decode(object) = ::Manypack.pack(object)

      def self.symbolic(object)
        case object
        when Hash then object.to_h { |key, value| [LITERALS[key], symbolic(value)] }
        when Array then object.map { |element| symbolic(element) }
        else object
        end
      end
    end

    # The objects alone, made by whoever knows them beforehand: what Ruby lets several Ractors do at a time.
    module Floor
      extend Named

      def self.load = WithFloor::EXTENSION.load
      def self.bytes(object) = Ractor.make_shareable(object)
      def self.decode(object) = (Ractor.current[:plan] ||= ::Floor::Plan.new(object)).run
    end

    module Json
      extend Named

      def self.load = true
      def self.bytes(object) = JSON.generate(object)
      def self.decode(bytes) = JSON.parse(bytes)
    end

    module JsonFrozen
      extend Named

      def self.load = true
      def self.bytes(object) = JSON.generate(object)
      def self.decode(bytes) = JSON.parse(bytes, freeze: true)
    end

    # The fastest that the msgpack gem offers, which raises in Ractors.
    module MsgpackFrozen
      extend Named

      def self.load
        require("msgpack")
        const_set(:POOL, MessagePack::Factory.new.freeze.pool(1, freeze: true, key_cache: true))
      end

      def self.bytes(object) = MessagePack.pack(object)
      def self.decode(bytes) = POOL.load(bytes)
    end
  end
end

class RactorsBenchmark
  FROZEN = %w[Shareable Manypack JsonFrozen MsgpackFrozen].freeze
  TOGETHER = %w[Manypack Shareable Json Floor Skip Split Pack PackSymbols].freeze
  HANDED = %w[Shareable Manypack].freeze
  GAIN = ["one", "all", "times (lowest-highest round)"].freeze

  # @param options [Hash]
  def initialize(options)
    @options = options
    @workload = { data: options[:data], stream: 1, largest: 1 }
    @processes = {}
    @measurements = []
  end

  def run
    puts "#{RUBY_DESCRIPTION} #{ContenderProcess.yjit.join}, #{Stamp.cpu}"
    decode if "shareable".match?(@options[:only])
    hand_over if "handing over".match?(@options[:only])
    together if "together".match?(@options[:only])
    Results.new(Stamp.of(@processes.values), @measurements).write(path)
    puts "measurements: #{path}"
  ensure
    @processes.each_value(&:stop)
  end

  private

  # How many times the time of a shareable tree the others take: JSON and msgpack make frozen ones.
  def decode
    names = documents + cases("messages")
    samples = rounds(names.product(FROZEN)) { |name, contender| ask(contender, "alone", name, @options[:seconds]) }
    present = FROZEN.select { |contender| process(contender) }
    rows = names.map do |name|
      ratios = (present - ["Shareable"]).map { |one| ratio(samples[[name, one]], samples[[name, "Shareable"]]) }
      [name, format("%.2f", 1 / ratios.first), *ratios.drop(1).map { |one| format("%.2f", one) }]
    end
    means = present.drop(1).map do |contender|
      mean(names.map { |name| ratio(samples[[name, contender]], samples[[name, "Shareable"]]) })
    end
    rows << :separator
    rows << ["geometric mean", format("%.2f", 1 / means.first), *means.drop(1).map { |one| format("%.2f", one) }]
    rows << ["goal", "1.00, none above 1.15", "1.90", "2.20"].first(present.size)
    keep("shareable", "decode", samples)
    headings = ["", "/ mutable", "JSON.parse(freeze: true) /", "msgpack freeze: true /"].first(present.size)
    puts Terminal::Table.new(title: "shareable: true", headings: headings, rows: rows)
  end

  def hand_over
    name = document
    pairs = rounds([name].product(HANDED)) { |id, contender| ask(contender, "hand", id) }
    samples = pairs.transform_values { |times| times.map(&:first) }
    samples[[name, "Integer"]] = pairs.values.first.map(&:last)
    keep("handing over", "there and back", samples)
    rows = samples.map do |(_, what), times|
      [what, format("%.1f", Statistics.median(times) / 1e3), ("20.0" if what == "Shareable")]
    end
    puts Terminal::Table.new(title: "#{name} decoded, to another Ractor and an answer back",
                             headings: ["", "us", "goal"], rows: rows)
  end

  def together
    name = document
    counts = [1, @options[:ractors]]
    samples = rounds(TOGETHER.product(%w[together apart], counts)) do |contender, way, count|
      ask(contender, way, name, count, @options[:together])
    end
    rows = TOGETHER.map do |contender|
      [contender, *%w[together apart].flat_map { |way| gain(*counts.map { |count| samples[[contender, way, count]] }) }]
    end
    times = samples.to_h do |(contender, way, count), rates|
      [["#{count} #{way}", contender], rates.map { |rate| 1e9 / rate }]
    end
    keep("together", name, times)
    puts Terminal::Table.new(title: "#{name}: documents a second of #{@options[:ractors]} at once and of one",
                             headings: ["", *GAIN.map { |what| "Ractors: #{what}" },
                                        *GAIN.map { |what| "processes: #{what}" }], rows: rows)
  end

  # What the columns named in GAIN say, of the rates of one and of many.
  def gain(one, many)
    ratios = Statistics.spread(many.zip(one).map { |more, less| more / less })
    [format("%.0f", Statistics.median(one)), format("%.0f", Statistics.median(many)),
     format("%.2f (%.2f-%.2f)", ratios.median, ratios.low, ratios.high)]
  end

  # Rounds in which everybody has a turn; another one begins each time.
  def rounds(turns)
    samples = Hash.new { |hash, key| hash[key] = [] }
    turns = turns.select { |turn| turn.grep(String).all? { |name| !FROZEN.include?(name) || process(name) } }
    @options[:rounds].times do |round|
      turns.rotate(round).each { |turn| samples[turn] << yield(*turn) }
      $stderr.print "."
    end
    samples
  end

  def ask(contender, *request)
    process(contender).ask(*request)
  end

  # nil when what it needs is not installed.
  def process(contender)
    process = @processes[contender] ||=
      ContenderProcess.of(Contenders::InRactors.const_get(contender), Work,
                          environment: ContenderProcess::SETTLED_MALLOC, workload: @workload)
    process unless process.missing
  end

  # Real ones where there are some; JSON cannot carry the Images among the others.
  def documents
    cases("documents").then { |real| real.empty? ? cases("classics").grep_v(/Image/) : real }
  end

  def cases(group)
    all = Workload.new(**@workload).cases.values
    all.select { |one| one.group == group && one.operations == Workload::PLAIN }.map(&:id)
  end

  def document
    documents.find { |id| id.match?(/twitter/i) }
  end

  def ratio(one, other)
    Statistics.median(one.zip(other).map { |mine, its| mine / its })
  end

  def mean(numbers)
    Statistics.geometric_mean(numbers)
  end

  def keep(group, operation, samples)
    samples.each do |(name, contender), ns|
      @measurements << Measurement.new(group: group, name: name, operation: operation, contender: contender,
                                       bytes: nil, objects: nil, wall: ns, cpu: ns, gc: [])
    end
  end

  def path
    File.join(__dir__, "results", "ractors-#{RUBY_VERSION}.json")
  end

  # What the process of a contender answers.
  class Work
    WARM_UP = 0.05

    # @param decoder [Module] of Contenders::InRactors, loaded
    # @param workload [Hash] the arguments of Workload.new
    def initialize(decoder, workload:)
      @decoder = decoder
      @cases = Workload.new(**workload).cases
      @expected = {}
    end

    # @return [Float] nanoseconds of the CPU for one document, over about so many seconds
    def alone(name, seconds)
      bytes = bytes_of(name)
      @expected[name] ||= repeat(bytes, 1) && repeat(bytes, [(WARM_UP / repeat(bytes, 1)).to_i, 1].max)
      GC.start
      @expected[name] = repeat(bytes, [(seconds / @expected[name]).to_i, 1].max)
      @expected[name] * 1e9
    end

    # From the first Ractor's start to the last one's end, which take about so many seconds.
    #
    # @return [Float] documents a second that so many Ractors decode at once
    def together(name, ractors, seconds)
      rate(name, ractors, seconds) do |bytes, times|
        started = Array.new(ractors) { start(bytes, times) }.each { |ractor| ractor.send(nil) }
        started.map { |ractor| value_of(ractor) }
      end
    end

    # The same with processes, which share neither locks nor a collector: what this machine lets so many do at once.
    def apart(name, processes, seconds)
      rate(name, processes, seconds) do |bytes, times|
        started = Array.new(processes) { fork(bytes, times) }.each(&:puts)
        started.map { |process| Marshal.load(process.read).tap { process.close } }
      end
    end

    # The other Ractor looks at what it is given and tells that it has it.
    #
    # @return [Array(Float, Float)] nanoseconds until it has a decoded document and has answered; and an Integer instead
    def hand(name)
      document = @decoder.decode(bytes_of(name))
      other = Ractor.new(Ractor.current) do |main|
        while (given = Ractor.receive)
          main.send(given.size)
        end
      end
      times = Array.new(200) { [document, 1].map { |given| clock { other.send(given) && Ractor.receive } * 1e9 } }
      other.send(nil)
      value_of(other)
      times.transpose.map(&:min)
    end

    private

    # The block lets so many decode the bytes so many times each, and returns when each of them began and ended.
    def rate(name, workers, seconds)
      bytes = bytes_of(name)
      @expected[name] ||= alone(name, WARM_UP) / 1e9
      times = [(seconds / @expected[name]).to_i, 1].max
      spans = yield(bytes, times)
      workers * times / (spans.map(&:last).max - spans.map(&:first).min)
    end

    def bytes_of(name)
      @current, @bytes = name, Ractor.make_shareable(@decoder.bytes(@cases.fetch(name).payload)) unless @current == name
      @bytes
    end

    def repeat(bytes, times)
      decoder = @decoder
      i = 0
      clock(Process::CLOCK_PROCESS_CPUTIME_ID) do
        while i < times
          decoder.decode(bytes)
          i += 1
        end
      end / times
    end

    def clock(which = Process::CLOCK_MONOTONIC)
      start = Process.clock_gettime(which)
      yield
      Process.clock_gettime(which) - start
    end

    # Warm when it is told to begin.
    def start(bytes, times)
      Ractor.new(@decoder, bytes, times) { |decoder, *work| Work.span(decoder, *work) { Ractor.receive } }
    end

    # The same as a process, which is told by its standard input and answers in its standard output.
    def fork(bytes, times)
      IO.popen("-", "r+b") || begin
        $stdout.write(Marshal.dump(self.class.span(@decoder, bytes, times) { $stdin.gets }))
        $stdout.flush
        exit!(0) # what was buffered before the fork is the parent's to write
      end
    end

    def self.span(decoder, bytes, times)
      [times / 10, 1].max.times { decoder.decode(bytes) }
      yield
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      i = 0
      while i < times
        decoder.decode(bytes)
        i += 1
      end
      [started, Process.clock_gettime(Process::CLOCK_MONOTONIC)]
    end

    def value_of(ractor)
      ractor.respond_to?(:value) ? ractor.value : ractor.take
    end
  end
end

if $PROGRAM_NAME == __FILE__
  options = { rounds: 9, seconds: 0.05, together: 0.5, ractors: 2, only: //, data: Workload::REAL }
  OptionParser.new do |parser|
    parser.banner = "Usage: bundle exec ruby -Ilib benchmark/ractors.rb [options]"
    parser.on("--data DIR", "measure the JSON files of a folder too") { |dir| options[:data] = dir }
    parser.on("--only REGEXP", Regexp, "shareable, handing over, together") { |only| options[:only] = only }
    parser.on("--ractors N", Integer, "together (#{options[:ractors]})") { |count| options[:ractors] = count }
    parser.on("--rounds N", Integer, "rounds (#{options[:rounds]})") { |rounds| options[:rounds] = rounds }
  end.parse!
  RactorsBenchmark.new(options).run
end

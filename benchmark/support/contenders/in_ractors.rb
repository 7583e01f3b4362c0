# frozen_string_literal: true

# One decoder in a process of its own, for ractors.rb: ruby ractors_child.rb DECODER OPTIONS. Reads a request a line
# from standard input and answers each with a line of JSON:
#   ["alone", payload, seconds]         nanoseconds of the CPU for one document, over about so many seconds
#   ["together", payload, ractors, sec] documents a second that so many Ractors decode at once, for about so long
#   ["hand", payload]                   nanoseconds until another Ractor has a decoded document and has answered; and
#                                       until it has an Integer instead

require "json"
require_relative "side_extension"
require_relative "workload"

Warning[:experimental] = false

# What can be decoded by, as modules that every Ractor has.
module Decoders
  module Manypack
    def self.load = require("manypack") && const_set(:CODEC, ::Manypack::Codec.new)
    def self.bytes(object) = ::Manypack.pack(object)
    def self.decode(bytes) = CODEC.unpack(bytes)
  end

  # By a Codec: an option in a call costs a Hash, which is all that a small message costs otherwise.
  module Shareable
    def self.load = require("manypack") && const_set(:CODEC, ::Manypack::Codec.new(shareable: true))
    def self.bytes(object) = ::Manypack.pack(object)
    def self.decode(bytes) = CODEC.unpack(bytes)
  end

  # A document is passed over without anything being made of it.
  module Skip
    def self.load = require("manypack")
    def self.bytes(object) = ::Manypack.pack(object)
    def self.decode(bytes) = ::Manypack::Unpacker.new.feed(bytes).skip
  end

  # The same as Parallel does it, but for the batch.
  module Split
    def self.load = require("manypack") && const_set(:SPLITTER, ::Manypack::Parallel.const_get(:Splitter))
    def self.bytes(object) = ::Manypack.pack(object)
    def self.decode(bytes) = SPLITTER.new(::Manypack::Codec.new).feed(bytes).take(2, 1 << 40, false)
  end

  module Pack
    def self.load = require("manypack")
    def self.bytes(object) = Ractor.make_shareable(object)
    def self.decode(object) = ::Manypack.pack(object)
  end

  # The same with Symbols for keys, as if they stood in the program: others are objects that can be collected.
  module PackSymbols
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
    def self.load = SideExtension.new("floor", "floor").load
    def self.bytes(object) = Ractor.make_shareable(object)
    def self.decode(object) = (Ractor.current[:plan] ||= ::Floor::Plan.new(object)).run
  end

  module Json
    def self.load = true
    def self.bytes(object) = JSON.generate(object)
    def self.decode(bytes) = JSON.parse(bytes)
  end

  module JsonFrozen
    def self.load = true
    def self.bytes(object) = JSON.generate(object)
    def self.decode(bytes) = JSON.parse(bytes, freeze: true)
  end

  # The fastest that the msgpack gem offers, which raises in Ractors.
  module MsgpackFrozen
    def self.load
      require("msgpack")
      const_set(:POOL, MessagePack::Factory.new.freeze.pool(1, freeze: true, key_cache: true))
    end

    def self.bytes(object) = MessagePack.pack(object)
    def self.decode(bytes) = POOL.load(bytes)
  end
end

class RactorsChild
  WARM_UP = 0.05

  # @param decoder [Module] of Decoders, loaded
  # @param cases [Hash{String => Workload::Case}] by name
  def initialize(decoder, cases)
    @decoder = decoder
    @cases = cases
    @expected = {}
  end

  def alone(name, seconds)
    bytes = bytes_of(name)
    @expected[name] ||= repeat(bytes, 1) && repeat(bytes, [(WARM_UP / repeat(bytes, 1)).to_i, 1].max)
    GC.start
    @expected[name] = repeat(bytes, [(seconds / @expected[name]).to_i, 1].max)
    @expected[name] * 1e9
  end

  # From the first Ractor's start to the last one's end.
  def together(name, ractors, seconds)
    bytes = bytes_of(name)
    @expected[name] ||= alone(name, WARM_UP) / 1e9
    times = [(seconds / @expected[name]).to_i, 1].max
    started = Array.new(ractors) { start(bytes, times) }.each { |ractor| ractor.send(nil) }
    spans = started.map { |ractor| value_of(ractor) }
    ractors * times / (spans.map(&:last).max - spans.map(&:first).min)
  end

  # The other Ractor looks at what it is given and tells that it has it.
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
    Ractor.new(@decoder, bytes, times) do |decoder, input, count|
      [count / 10, 1].max.times { decoder.decode(input) }
      Ractor.receive
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      i = 0
      while i < count
        decoder.decode(input)
        i += 1
      end
      [started, Process.clock_gettime(Process::CLOCK_MONOTONIC)]
    end
  end

  def value_of(ractor)
    ractor.respond_to?(:value) ? ractor.value : ractor.take
  end
end

decoder = Decoders.const_get(ARGV.fetch(0))
begin
  decoder.load
rescue LoadError => error
  puts JSON.generate("missing" => error.message)
  exit
end
$stdout.sync = true
puts JSON.generate("version" => RUBY_VERSION, "on" => RUBY_DESCRIPTION)
workload = Workload.new(**JSON.parse(ARGV.fetch(1), symbolize_names: true))
plain = workload.cases.values.select { |one| one.operations == Workload::PLAIN }
child = RactorsChild.new(decoder, plain.to_h { |one| [one.id, one] })
while (line = $stdin.gets)
  puts JSON.generate([child.public_send(*JSON.parse(line))])
end

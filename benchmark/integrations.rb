# frozen_string_literal: true

# Manypack in the caches of Rails and as Karafka's deserializer, beside the msgpack gem and JSON. Each contender is a
# process of its own, and they take turns. `rake bench:integrations` runs all of it, with ONLY=caches or ONLY=karafka
# one part.

# The process of a contender has loaded it before this file, and only answers.
MEASURES = !defined?(ContenderProcess)

require "tmpdir"
require_relative "support/contender_process"
require_relative "support/payloads"
require_relative "support/results"

ROUNDS = Integer(ENV.fetch("ROUNDS", 7))

# Ways to have MessagePack in a cache of ActiveSupport.
module CacheContenders
  module MsgpackGem
    def self.label = "msgpack gem"
    def self.load = require("msgpack")
    def self.version = MessagePack::VERSION
    def self.options = { serializer: :message_pack }
  end

  module DropIn
    def self.label = "drop-in"
    def self.load = require("manypack/drop_in")
    def self.version = Manypack::VERSION
    def self.options = { serializer: :message_pack }
  end

  module CacheCoder
    def self.label = "CacheCoder"
    def self.load = require("manypack/active_support")
    def self.version = Manypack::VERSION
    def self.options = { coder: Manypack::ActiveSupport::CacheCoder.new }
  end
end

# How long a cache takes to write and to read an entry.
class CacheBenchmark
  CONTENDERS = [CacheContenders::MsgpackGem, CacheContenders::DropIn, CacheContenders::CacheCoder].freeze
  STORES = %w[MemoryStore FileStore].freeze
  VALUES = Payloads.cached.slice("three keys", "200 rows").freeze
  CASES = STORES.product(VALUES.keys, %w[write read]).freeze

  def run
    Dir.mktmpdir do |folder|
      @processes = CONTENDERS.map { |contender| ContenderProcess.of(contender, Work, folder: folder) }
      STORES.product(VALUES.keys) { |store, value| @processes.each { |process| check(process, store, value) } }
      puts "", "Ruby #{RUBY_VERSION}, medians of #{ROUNDS} rounds, us of processor time for an entry"
      puts row("", *@processes.map(&:label), *@processes.drop(1).map { |process| "gem / #{process.label}" })
      CASES.each { |one| puts figures(one) }
    ensure
      @processes&.each(&:stop)
    end
  end

  private

  def check(process, store, value)
    raise "#{process.label}: #{process.missing}" if process.missing

    process.ask("same?", store, value) or raise "#{process.label} changed #{value} in #{store}"
  end

  # Those of the msgpack gem come first; others are told by how many times they are faster.
  def figures(one)
    samples = Array.new(ROUNDS) do |round|
      @processes.rotate(round).to_h { |process| [process, process.ask("time", *one)] }
    end
    medians = @processes.map { |process| Statistics.median(samples.map { |sample| sample[process] }) }
    row(one.join(", "), *medians.map { |median| format("%.1f", median) },
        *medians.drop(1).map { |median| format("%.2f", medians.first / median) })
  end

  def row(name, *columns)
    format("%-32s#{" %16s" * columns.size}", name, *columns)
  end

  # What the process of a contender answers.
  class Work
    SECONDS = 0.1 # of a sample

    def initialize(contender, folder:)
      require "active_support"
      require "active_support/cache"
      @caches = {
        "MemoryStore" => ActiveSupport::Cache::MemoryStore.new(**contender.options),
        # Without the compression, which takes longer than all the rest.
        "FileStore" => ActiveSupport::Cache::FileStore.new(File.join(folder, contender.label), compress: false,
                                                           **contender.options)
      }
    end

    # Writes the value, and says if it comes back.
    def same?(store, value)
      @caches.fetch(store).write(value, VALUES.fetch(value))
      @caches.fetch(store).read(value) == VALUES.fetch(value)
    end

    # Microseconds of processor time for an entry.
    def time(store, name, operation)
      cache = @caches.fetch(store)
      value = VALUES.fetch(name)
      call = operation == "write" ? proc { cache.write(name, value) } : proc { cache.read(name) }
      GC.start
      start = now
      tens = 1.step.find do
        10.times(&call)
        now - start > SECONDS
      end
      (now - start) / tens * 1e5
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  end
end

# What unpacks the payload of a message.
module KarafkaContenders
  module Json
    def self.label = "JSON"
    def self.load = require("karafka")
    def self.version = JSON::VERSION
    def self.pack(object) = JSON.generate(object)
    def self.deserializer = Karafka::Deserializers::Payload.new
  end

  module MsgpackGem
    def self.label = "msgpack"
    def self.load = %w[karafka msgpack].each { |library| require(library) }
    def self.version = MessagePack::VERSION
    def self.pack(object) = MessagePack.pack(object)
    def self.deserializer = ->(message) { MessagePack.unpack(message.raw_payload) }
  end

  module WithManypack
    def self.label = "Manypack"
    def self.load = require("manypack/karafka")
    def self.version = Manypack::VERSION
    def self.pack(object) = Manypack.pack(object)
    def self.deserializer = Manypack::Karafka::Deserializer.new
  end

  module Packed
    def load = WithManypack.load
    def version = WithManypack.version
    def pack(object) = WithManypack.pack(object)
  end

  # One field is read.
  module AsView
    extend Packed

    def self.label = "View"

    def self.deserializer
      views = Manypack::Karafka::Deserializer.new(as: :view)
      ->(message) { views.call(message)[-1]["id"] }
    end
  end

  # What Karafka itself takes: nobody unpacks these.
  module NotUnpacked
    extend Packed

    def self.label = "unread"
    def self.deserializer = ->(message) { message.raw_payload }
  end
end

# How many messages a second Karafka consumes from a mock broker; it unpacks the payload of every message.
class KarafkaBenchmark
  CONTENDERS = [KarafkaContenders::Json, KarafkaContenders::MsgpackGem, KarafkaContenders::WithManypack,
                KarafkaContenders::AsView, KarafkaContenders::NotUnpacked].freeze
  BROKER = File.expand_path("../examples/karafka/broker.rb", __dir__)
  PARTITIONS = 12
  MESSAGES = PARTITIONS * 900 # of 4 KB: the mock broker keeps no more than 5 MB of a partition
  DIFFERENT = 50

  def run
    topics = CONTENDERS.map { |contender| "#{contender.label}:#{PARTITIONS}" }
    IO.popen([RbConfig.ruby, "-W0", BROKER, *topics], "r+") do |broker|
      @address = broker.gets.chomp
      CONTENDERS.each { |contender| produce(contender) }
      report(Array.new(ROUNDS) { |round| CONTENDERS.to_h { |contender| [contender.label, consume(contender, round)] } })
    end
  end

  private

  def payloads
    @payloads ||= Array.new(DIFFERENT) { |n| Payloads.rows(4_000, seed: n) }
  end

  def produce(contender)
    contender.load
    packed = payloads.map { |payload| contender.pack(payload) }
    puts format("%-10s %d bytes a message", contender.label, packed.sum(&:bytesize) / DIFFERENT)
    producer = Rdkafka::Config.new("bootstrap.servers": @address).producer
    sent = Array.new(MESSAGES) do |n|
      producer.produce(topic: contender.label, payload: packed[n % DIFFERENT], partition: n % PARTITIONS)
    end
    sent.each(&:wait)
    producer.close
  end

  # Messages a second, and microseconds of processor time for a message.
  def consume(contender, round)
    wall, processor = ContenderProcess.once(contender, Work, ["consume"], flags: [], address: @address, round: round)
    [MESSAGES / wall, processor / MESSAGES * 1_000_000]
  end

  # Medians, which a round that another program disturbed does not move.
  def report(results)
    medians = CONTENDERS.map(&:label).to_h do |name|
      [name, results.map { |round| round[name] }.transpose.map { |figures| Statistics.median(figures) }]
    end
    puts "", "Ruby #{RUBY_VERSION}, medians of #{ROUNDS} rounds"
    puts format("%-10s %12s %18s %16s", "", "messages/s", "relative to JSON", "CPU us/message")
    medians.each do |name, (speed, processor)|
      puts format("%-10s %12d %18.2f %16.1f", name, speed, speed / medians["JSON"].first, processor)
    end
  end

  # What the process of a contender answers.
  class Work
    def initialize(contender, address:, round:)
      @stopwatch = stopwatch = Stopwatch.new(MESSAGES)
      consumer = consumer(stopwatch)
      Karafka::App.setup { |config| configure(config, address, "#{contender.label}-#{round}") }
      Karafka::App.routes.draw do
        topic contender.label do
          consumer consumer
          deserializers(payload: contender.deserializer)
        end
      end
    end

    # Seconds that it took, and seconds of processor time.
    def consume
      Karafka::Embedded.start
      @stopwatch.wait.tap { Karafka::Embedded.stop }
    end

    private

    def consumer(stopwatch)
      Class.new(Karafka::BaseConsumer) do
        define_method(:consume) do
          stopwatch.start
          messages.each(&:payload)
          stopwatch.count(messages.size)
        end
      end
    end

    def configure(config, address, group)
      config.client_id = "benchmark"
      config.group_id = group
      config.logger = Logger.new(IO::NULL)
      config.max_wait_time = 50
      config.max_messages = 200
      config.kafka = { "bootstrap.servers": address, "auto.offset.reset": "earliest",
                       "queued.max.messages.kbytes": 200_000 }
    end
  end

  # The time from the first message to the last.
  class Stopwatch
    CLOCKS = [Process::CLOCK_MONOTONIC, Process::CLOCK_PROCESS_CPUTIME_ID].freeze
    FETCHING = 3 # seconds

    def initialize(count)
      @count = count
      @mutex = Mutex.new
      @finished = Thread::Queue.new
    end

    # Gives librdkafka the time to fetch all messages first: what is measured is Karafka and the deserializer, not the
    # broker.
    def start
      @mutex.synchronize do
        sleep(FETCHING) unless @start
        @start ||= now
      end
    end

    def count(messages)
      @mutex.synchronize do
        @count -= messages
        @finished << now.zip(@start).map { |finish, start| finish - start } unless @count.positive?
      end
    end

    def wait = @finished.pop

    private

    def now = CLOCKS.map { |clock| Process.clock_gettime(clock) }
  end
end

if MEASURES
  parts = { "caches" => CacheBenchmark, "karafka" => KarafkaBenchmark }
  parts.values_at(*ENV.fetch("ONLY", parts.keys.join(" ")).split).each { |part| part.new.run }
end

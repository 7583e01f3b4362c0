# frozen_string_literal: true

# How many messages a second Karafka consumes with Manypack, the msgpack gem and JSON as its deserializer; each unpacks
# the payload of every message. `rake bench:karafka` runs it, with a mock broker and each consumer in a process of its
# own: this file, with the arguments "consume", the broker's address, the topic, which names the library, the round, and
# how many messages. That is a Karafka server, which prints how long it took: in seconds, and in seconds of processor
# time.
require "json"
require "manypack"
require "msgpack"
require "rbconfig"
require "rdkafka"
require_relative "support/payloads"

module KarafkaBenchmark
  PACKERS = {
    "JSON" => JSON.method(:generate), "msgpack" => MessagePack.method(:pack), "Manypack" => Manypack.method(:pack)
  }.freeze
  PARTITIONS = 12
  MESSAGES = PARTITIONS * 900 # of 4 KB: the mock broker keeps no more than 5 MB of a partition
  ROUNDS = Integer(ENV.fetch("ROUNDS", 7))
  DIFFERENT = 50

  module_function

  def run
    with_broker do |address|
      PACKERS.each { |name, packer| produce(address, name, packer) }
      results = Array.new(ROUNDS) { |round| PACKERS.to_h { |name, _| [name, consume(address, name, round)] } }
      report(results)
    end
  end

  def ruby(path, *arguments)
    options = ["-W0", "-I", File.expand_path("../lib", __dir__)]
    [RbConfig.ruby, *options, File.expand_path(path, __dir__), *arguments.map(&:to_s)]
  end

  def with_broker
    topics = PACKERS.keys.map { |name| "#{name}:#{PARTITIONS}" }
    IO.popen(ruby("../examples/karafka/broker.rb", *topics), "r+") do |broker|
      yield broker.gets.chomp
    end
  end

  def payloads
    @payloads ||= Array.new(DIFFERENT) { |n| Payloads.rows(4_000, seed: n) }
  end

  def produce(address, topic, packer)
    packed = payloads.map { |payload| packer.call(payload) }
    puts format("%-10s %d bytes a message", topic, packed.sum(&:bytesize) / DIFFERENT)
    producer = Rdkafka::Config.new("bootstrap.servers": address).producer
    sent = Array.new(MESSAGES) do |n|
      producer.produce(topic: topic, payload: packed[n % DIFFERENT], partition: n % PARTITIONS)
    end
    sent.each(&:wait)
    producer.close
  end

  # Messages a second, and microseconds of processor time for a message.
  def consume(address, topic, round)
    line = IO.popen(ruby("karafka.rb", "consume", address, topic, round, MESSAGES), &:read)
    wall, processor = line.split.map { |seconds| Float(seconds) }
    [MESSAGES / wall, processor / MESSAGES * 1_000_000]
  end

  # Medians, which a round that another program disturbed does not move.
  def report(results)
    medians = PACKERS.keys.to_h do |name|
      [name, results.map { |round| round[name] }.transpose.map { |figures| figures.sort[figures.size / 2] }]
    end
    puts "", "Ruby #{RUBY_VERSION}, medians of #{ROUNDS} rounds"
    puts format("%-10s %12s %18s %16s", "", "messages/s", "relative to JSON", "CPU us/message")
    medians.each do |name, (speed, processor)|
      puts format("%-10s %12d %18.2f %16.1f", name, speed, speed / medians["JSON"].first, processor)
    end
  end
end

unless ARGV.first == "consume"
  KarafkaBenchmark.run
  return
end

require "manypack/karafka"

ADDRESS, TOPIC, ROUND, COUNT = ARGV.drop(1)

FETCHING = 3 # seconds

DESERIALIZERS = {
  "JSON" => Karafka::Deserializers::Payload.new,
  "msgpack" => ->(message) { MessagePack.unpack(message.raw_payload) },
  "Manypack" => Manypack::Karafka::Deserializer.new
}.freeze

class Stopwatch
  CLOCKS = [Process::CLOCK_MONOTONIC, Process::CLOCK_PROCESS_CPUTIME_ID].freeze

  def initialize(count)
    @count = count
    @mutex = Mutex.new
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
      return if @count.positive?

      puts now.zip(@start).map { |finish, start| finish - start }.join(" ")
      $stdout.flush
      exit!(0)
    end
  end

  def now
    CLOCKS.map { |clock| Process.clock_gettime(clock) }
  end
end

STOPWATCH = Stopwatch.new(Integer(COUNT))

class MessagesConsumer < Karafka::BaseConsumer
  def consume
    STOPWATCH.start
    messages.each(&:payload)
    STOPWATCH.count(messages.size)
  end
end

class App < Karafka::App
  setup do |config|
    config.client_id = "benchmark"
    config.group_id = "#{TOPIC}-#{ROUND}"
    config.logger = Logger.new(IO::NULL)
    config.max_wait_time = 50
    config.max_messages = 200
    config.kafka = { "bootstrap.servers": ADDRESS, "auto.offset.reset": "earliest",
                     "queued.max.messages.kbytes": 200_000 }
  end

  routes.draw do
    topic TOPIC do
      consumer MessagesConsumer
      deserializers(payload: DESERIALIZERS.fetch(TOPIC))
    end
  end
end

Karafka::Server.run

# frozen_string_literal: true

# A Karafka server that consumes a number of messages and prints how long that took: in seconds, and in seconds of
# processor time. Arguments: the broker's address, the topic, which names the library, the round, and how many messages.
require "json"
require "msgpack"
require "manypack/karafka"

ADDRESS, TOPIC, ROUND, COUNT = ARGV

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

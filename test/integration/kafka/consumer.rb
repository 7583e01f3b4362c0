# frozen_string_literal: true

# A Karafka server. Arguments: the broker's address, the file that gets the id of each event that was consumed, and
# milliseconds of work for each.
require "manypack/karafka"

ADDRESS, SEEN, WORK = ARGV

class EventsConsumer < Karafka::BaseConsumer
  def consume
    messages.each do |message|
      event = message.payload
      raise "a wrong event: #{event}" unless event[:at] == Time.at(event[:id]) && event[:tags] == ["a", nil]
      raise "no header" unless message.headers == { "content-type" => "application/vnd.msgpack" }

      sleep(Float(WORK) / 1000)
      File.write(SEEN, "#{event[:id]}\n", mode: "a")
      mark_as_consumed(message)
    end
  end
end

class App < Karafka::App
  setup do |config|
    config.client_id = "events"
    config.logger = Logger.new($stdout, level: :info)
    config.max_wait_time = 100
    config.max_messages = 50
    config.shutdown_timeout = 5_000
    config.kafka = {
      "bootstrap.servers": ADDRESS, "auto.offset.reset": "earliest", "partition.assignment.strategy": "cooperative-sticky",
      "session.timeout.ms": 2_000, "heartbeat.interval.ms": 200, "topic.metadata.refresh.interval.ms": 1_000
    }
  end

  routes.draw do
    topic :events do
      consumer EventsConsumer
      deserializers(payload: Manypack::Karafka::Deserializer.new(untrusted: true, symbolize_keys: true, timestamp: true))
      dead_letter_queue(topic: "dead", max_retries: 0)
    end
  end
end

App.monitor.subscribe(Karafka::Instrumentation::LoggerListener.new)
$stdout.sync = true
Karafka::Server.run

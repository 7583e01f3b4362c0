# frozen_string_literal: true

# Karafka and WaterDrop over TCP: a broker, a producer and two consumers in processes of their own, one of them killed.
require "test_helper"
require "integration/processes"
require "rdkafka"

class KafkaClusterTest < Minitest::Test
  include Processes

  COUNT = 600
  POISON = Array.new(4) { |n| "\x92#{n.chr}\xC1".b }.freeze

  def test_nothing_is_lost_when_a_consumer_is_killed
    @address = first_line(start("../../examples/karafka/broker.rb", "events:4", "dead:1"))
    killed, other = start_consumers(20, 2)
    produce
    wait_until { seen(killed).size > 20 }
    killed.kill
    assert_operator seen(killed).size, :<, COUNT / 2, "it was killed too late to leave work to the other one"

    wait_until { (seen(killed) | seen(other)).size >= COUNT }
    assert_equal (0...COUNT).to_a, (seen(killed) | seen(other)).sort
    assert_poison_is_in_the_dead_letter_queue
    finish(other.stop)
    assert_equal seen(other).uniq, seen(other), "only what the killed one had not committed may come again"
    assert_errors_say_where(killed.output + other.output)
  end

  private

  # One that takes so many milliseconds for an event, each; both have two partitions.
  def start_consumers(*work)
    consumers = work.each_with_index.map { |milliseconds, n| start("kafka/consumer.rb", @address, seen_file(n), milliseconds) }
    wait_until { consumers.all? { |consumer| partitions(consumer).size == 2 } }
    consumers
  end

  def produce
    finish(start("kafka/producer.rb", @address, COUNT, *POISON.map { |payload| payload.unpack1("H*") }))
  end

  # The partitions that a consumer has according to its log.
  def partitions(consumer)
    consumer.output.scan(/events-\[([\d,]+)\] (assigned|revoked)/).inject([]) do |held, (numbers, what)|
      what == "assigned" ? held | numbers.split(",") : held - numbers.split(",")
    end
  end

  def seen_file(number)
    File.join(folder, "seen#{number}")
  end

  # The ids of the events that a consumer has consumed.
  def seen(consumer)
    file = seen_file(programs.index(consumer) - 1)
    File.exist?(file) ? File.readlines(file).map(&:to_i) : []
  end

  def assert_poison_is_in_the_dead_letter_queue
    consumer = Rdkafka::Config.new("bootstrap.servers": @address, "group.id": "test", "auto.offset.reset": "earliest").consumer
    consumer.subscribe("dead")
    letters = []
    wait_until { (letters |= [consumer.poll(100)&.payload].compact).size == POISON.size }
    assert_equal POISON, letters.sort
  ensure
    consumer&.close
  end

  def assert_errors_say_where(log)
    errors = log.scan(/ ERROR -- : (Consumer .*)/).flatten
    assert_empty errors.grep_v(/\AConsumer consuming error: 0xc1 is not a MessagePack head byte, at byte 2\b/)
    assert_operator errors.size, :>=, POISON.size
  end
end

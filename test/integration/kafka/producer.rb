# frozen_string_literal: true

# Sends as many events to each partition, and poison messages among them. Arguments: the broker's address, how many
# events, and each poison message in hex.
require "manypack/waterdrop"

PARTITIONS = 4

address, count, *poison = ARGV
poison.map! { |hex| [hex].pack("H*") }
messages = Array.new(Integer(count)) do |id|
  { topic: "events", partition: id % PARTITIONS, payload: { id: id, at: Time.at(id), tags: ["a", nil] } }
end

producer = WaterDrop::Producer.new do |config|
  config.logger = Logger.new(IO::NULL)
  config.kafka = { "bootstrap.servers": address }
end
producer.middleware.append(Manypack::WaterDrop::Middleware.new(timestamp: true))

messages.each_slice(messages.size / poison.size).with_index do |slice, n|
  producer.produce_many_sync([*slice, { topic: "events", partition: n % PARTITIONS, payload: poison.fetch(n) }])
end
producer.close

# frozen_string_literal: true

# Sends events over all partitions, and poison messages among them. Arguments: the broker's address, how many events,
# and each poison message in hex.
require "manypack/waterdrop"

address, count, *poison = ARGV
poison.map! { |hex| [hex].pack("H*") }
events = Array.new(Integer(count)) { |id| { id: id, at: Time.at(id), tags: ["a", nil] } }

producer = WaterDrop::Producer.new do |config|
  config.logger = Logger.new(IO::NULL)
  config.kafka = { "bootstrap.servers": address }
end
producer.middleware.append(Manypack::WaterDrop::Middleware.new(timestamp: true))

events.each_slice(events.size / poison.size) do |slice|
  producer.produce_many_sync([*slice, poison.shift].compact.map { |payload| { topic: "events", payload: payload } })
end
producer.close

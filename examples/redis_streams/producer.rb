# frozen_string_literal: true

# Adds orders to the stream "orders", each as MessagePack in the field "body":
#
#   ruby producer.rb 1000

require "manypack"
require "redis-client"

redis = RedisClient.config(url: ENV.fetch("REDIS_URL", "redis://127.0.0.1:6379")).new_client
codec = Manypack::Codec.new(timestamp: true)

Integer(ARGV.fetch(0, "1000")).times.each_slice(100) do |ids|
  redis.pipelined do |pipeline|
    ids.each do |id|
      order = { id: id, at: Time.now, items: [{ sku: "A-#{id % 7}", count: 1 + (id % 3) }] }
      pipeline.call("XADD", "orders", "*", "body", codec.pack(order))
    end
  end
end

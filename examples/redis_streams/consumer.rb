# frozen_string_literal: true

# Consumes the stream "orders". The consumers of the group share its entries, and take over those of a crashed consumer.
# Start as many as you like, each with its own name, and end them with Ctrl-C:
#
#   ruby consumer.rb alice
#   ruby consumer.rb bob

require "manypack"
require "redis-client"

class Consumer
  STREAM = "orders"
  GROUP = "billing"
  DEAD = "orders:dead" # entries that cannot be unpacked, with the error
  BATCH = 100

  # In milliseconds. It has to be longer than a batch takes; otherwise another consumer takes over orders in progress.
  ABANDONED_AFTER = 60_000

  def initialize(name, redis)
    @name = name
    @redis = redis
    @codec = Manypack::Codec.new(untrusted: true, symbolize_keys: true, timestamp: true)
    @stopping = false
  end

  def run
    create_group
    puts "#{@name} is waiting for orders"
    until @stopping
      consume(abandoned)
      consume(fresh)
    end
  end

  def stop
    @stopping = true
  end

  private

  # "0" begins at the first entry; "$" would begin at the next new one.
  def create_group
    @redis.call("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
  rescue RedisClient::CommandError => e
    raise unless e.message.start_with?("BUSYGROUP")
  end

  # Entries that a consumer received but never acknowledged.
  def abandoned
    _, entries = @redis.call("XAUTOCLAIM", STREAM, GROUP, @name, ABANDONED_AFTER, "0", "COUNT", BATCH)
    entries.compact # Redis 6 returns nil for deleted entries
  end

  # Entries that no consumer of the group has received yet. Waits up to a second for one.
  def fresh
    streams = @redis.blocking_call(5, "XREADGROUP", "GROUP", GROUP, @name, "COUNT", BATCH, "BLOCK", 1_000,
                                   "STREAMS", STREAM, ">")
    streams ? streams.to_h.fetch(STREAM) : []
  end

  # Acknowledges each entry after the work: an acknowledged entry never comes again.
  def consume(entries)
    entries.each do |id, fields|
      work(id, fields.each_slice(2).to_h["body"])
      @redis.call("XACK", STREAM, GROUP, id)
    end
  end

  def work(id, body)
    order = @codec.unpack(body)
    puts "order #{order[:id]}"
  rescue Manypack::DecodeError => e
    @redis.call("XADD", DEAD, "*", "id", id, "body", body, "error", e.message)
  end
end

if $PROGRAM_NAME == __FILE__
  $stdout.sync = true
  redis = RedisClient.config(url: ENV.fetch("REDIS_URL", "redis://127.0.0.1:6379")).new_client
  consumer = Consumer.new(ARGV.fetch(0), redis)
  %i[INT TERM].each { |signal| trap(signal) { consumer.stop } }
  consumer.run
end

# frozen_string_literal: true

# examples/redis_streams with a redis-server of its own: a consumer is killed, and others take over what it had.
require "test_helper"
require "integration/redis_server"
require "redis-client"

class RedisStreamsTest < Minitest::Test
  include RedisServer

  COUNT = 1_000
  POISON = ["\xC1", "\x92\x01", "\x91" * 40].map(&:b).freeze
  ERRORS = ["0xc1 is not a MessagePack head byte, at byte 0", "unexpected end of input, at byte 2",
            "containers are nested too deeply for max_depth, at byte 32"].freeze

  def test_nothing_is_lost_when_a_consumer_is_killed
    @url = start_redis
    finish(example("producer", COUNT))
    POISON.each { |body| redis.call("XADD", "orders", "*", "body", body) }
    killed = example("consumer", "killed", slow: true)
    wait_until { orders(killed).size > 20 }
    killed.kill
    assert_operator redis.call("XPENDING", "orders", "billing").first, :>, 0, "it had entries that it did not acknowledge"
    abandon("killed")

    others = %w[alice bob].map { |name| example("consumer", name) }
    others.each { |consumer| first_line(consumer) }
    wait_until { (orders(killed) | others.flat_map { |one| orders(one) }).size >= COUNT && all_acknowledged? }
    others.each { |consumer| finish(consumer.stop) }
    assert_consumed killed, others
    assert_dead_letters_say_where
  end

  private

  def redis
    @redis ||= RedisClient.config(url: @url).new_client
  end

  def example(name, argument, slow: false)
    options = slow ? ["-r", File.join(__dir__, "redis/slow.rb")] : []
    path = File.join(ROOT, "examples/redis_streams/#{name}.rb")
    start_command([{ "REDIS_URL" => @url }, *ruby, *options, path, argument.to_s])
  end

  # Makes the entries of a consumer as old as others wait for. To wait less would let them take over from one that works
  # on a busy machine.
  def abandon(name)
    ids = redis.call("XPENDING", "orders", "billing", "-", "+", COUNT, name).map(&:first)
    redis.call("XCLAIM", "orders", "billing", name, 0, *ids, "IDLE", 60_000, "JUSTID")
  end

  def orders(consumer)
    consumer.output.scan(/^order (\d+)$/).flatten.map(&:to_i)
  end

  def all_acknowledged?
    group = redis.call("XINFO", "GROUPS", "orders").first.to_h
    group.values_at("pending", "lag") == [0, 0]
  end

  def assert_consumed(killed, others)
    by_others = others.flat_map { |one| orders(one) }
    assert_equal (0...COUNT).to_a, (orders(killed) | by_others).sort
    assert_equal by_others.uniq, by_others, "only what the killed one had not acknowledged may come again"
    assert_operator (orders(killed) & by_others).size, :<=, 1, "it acknowledges each order after its work"
  end

  def assert_dead_letters_say_where
    letters = redis.call("XRANGE", "orders:dead", "-", "+").map { |_, fields| fields.each_slice(2).to_h }
    assert_equal POISON.zip(ERRORS), letters.map { |letter| [letter["body"].b, letter["error"]] }
  end
end

# frozen_string_literal: true

# ActiveSupport's cache in Redis: on the drop-in and on the msgpack gem, and with Manypack's coder.
require "test_helper"
require "active_support"
require "active_support/cache"
require "integration/rails/programs"
require "integration/redis_server"
require "manypack/active_support"

class RedisCacheTest < Minitest::Test
  include RailsPrograms
  include RedisServer

  def test_each_library_reads_what_the_other_one_wrote
    url = start_redis
    LIBRARIES.keys.permutation(2) do |writer, reader|
      rails(writer, "messages", "write", { "REDIS_URL" => url })
      rails(reader, "messages", "read", { "REDIS_URL" => url })
    end
  end

  def test_the_coder
    url = start_redis
    cache = store(url, coder: Manypack::ActiveSupport::CacheCoder.new)
    values = { "short" => { id: 1, at: Time.utc(2026) }, "long" => Array.new(500) { |id| { id: id } }, "text" => "a" * 5_000, "nil" => nil }
    cache.write_multi(values, expires_in: 60, version: "v")
    assert_equal values, cache.read_multi(*values.keys, version: "v")
    assert_empty cache.read_multi(*values.keys, version: "w").compact
    cache.write("count", 1, raw: true)
    assert_equal 3, cache.increment("count", 2)
    assert_raises(NoMethodError) { cache.write("short", Object.new) }
    store(url).write("long", values)
    assert_nil cache.read("long"), "what Marshal has written"
  end

  def test_a_full_cache_has_lost_old_entries_and_reads_the_others
    cache = store(start_redis("--maxmemory", "4mb", "--maxmemory-policy", "allkeys-lru"), coder: Manypack::ActiveSupport::CacheCoder.new)
    entries = Array.new(500) { |i| ["key #{i}", { "id" => i, "bytes" => Random.new(i).bytes(10_000) }] }
    entries.each { |key, value| cache.write(key, value, expires_in: 3_600) }
    found = cache.read_multi(*entries.map(&:first))
    assert_includes 1..499, found.size
    assert_equal entries.to_h.slice(*found.keys), found
    assert_equal entries.last[1], cache.read(entries.last[0])
  end

  private

  # Errors of Redis are the test's.
  def store(url, **options)
    handler = ->(method:, returning:, exception:) { raise exception }
    ActiveSupport::Cache::RedisCacheStore.new(url: url, error_handler: handler, **options)
  end
end

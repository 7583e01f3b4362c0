# frozen_string_literal: true

# What the demo and the benchmarks pack: look-alikes of the data sets that serializers are commonly measured with. Their
# shape is that of the originals, their content is made up; the same seed gives the same objects on every Ruby.
#
#   Payloads.documents(seed: 1)["Twitter"]  #=> {"statuses" => [...], "search_metadata" => {...}}

require_relative "payloads/calls"
require_relative "payloads/documents"
require_relative "payloads/ext_types"
require_relative "payloads/messages"
require_relative "payloads/middle"
require_relative "payloads/twitter"

module Payloads
  DEFAULT_SEED = 20_120_615

  module_function

  # What serializers go through.
  def count(payload)
    case payload
    when Hash then payload.sum(1) { |key, value| count(key) + count(value) }
    when Array then payload.sum(1) { |value| count(value) }
    when Struct then payload.to_a.sum(1) { |value| count(value) }
    when Calls::Way then payload.times
    when Stream then payload.sum { |message| count(message) } / payload.count
    else 1
    end
  end

  # The five classic data sets, Image in both its sizes. The numbers are bytes of the picture, integers in each array,
  # districts, and rings of the surface.
  def documents(seed: DEFAULT_SEED)
    random = -> { Random.new(seed) }
    {
      "Twitter" => twitter(seed: seed),
      "Image 6 KB" => Image.build(random.call, 6_000),
      "Image 600 KB" => Image.build(random.call, 600_000),
      "Integers" => Integers.build(random.call, 2_000),
      "Geo" => Geo.new(random.call).collection(200),
      "3D model" => Model.new(random.call, 50).build
    }
  end

  # The messages of msgpack-ruby's own benchmark, as small as a service sends them.
  def messages(seed: DEFAULT_SEED)
    random = Random.new(seed)
    {
      "plain" => Messages.plain(random),
      "structured" => Messages.structured(random),
      "integer" => Messages.integer(random)
    }
  end

  # What a cache or a cookie holds, from the smallest on.
  def cached(seed: DEFAULT_SEED)
    { "1" => 1, '"abc"' => "abc", "three keys" => { "id" => 1_000, "name" => "abc", "ok" => true },
      "200 rows" => rows(200 * Rows::BYTES, seed: seed) }
  end

  # Objects that need ext types, see ExtTypes.
  def typed(seed: DEFAULT_SEED)
    ExtTypes.build(Random.new(seed))
  end

  # The same kind of rows at any size.
  #
  # bytes:: about as many as the packed document has
  def rows(bytes, seed: DEFAULT_SEED)
    Rows.build(Random.new(seed), bytes)
  end

  # Messages in a row.
  def stream(kind, count, seed: DEFAULT_SEED)
    Stream.build(Random.new(seed), kind, count)
  end

  # A page of tweets as the search API answers it: nested maps, many repeated keys, Unicode text, ids beyond 32 bits.
  def twitter(count = 100, seed: DEFAULT_SEED)
    Twitter.new(Random.new(seed)).page(count)
  end
end

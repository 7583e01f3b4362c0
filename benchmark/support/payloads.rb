# frozen_string_literal: true

# What the demo and the benchmarks pack: look-alikes of the data sets that serializers are commonly measured with. Their
# shape is that of the originals, their content is made up; the same seed gives the same objects on every Ruby.
#
# @example
#   Payloads.documents(seed: 1)["Twitter"]  #=> {"statuses" => [...], "search_metadata" => {...}}

require_relative "payloads/documents"
require_relative "payloads/ext_types"
require_relative "payloads/messages"
require_relative "payloads/twitter"

module Payloads
  DEFAULT_SEED = 20_120_615

  module_function

  # What serializers go through.
  #
  # @param payload [Object]
  # @return [Integer] values and keys
  def count(payload)
    case payload
    when Hash then payload.sum(1) { |key, value| count(key) + count(value) }
    when Array then payload.sum(1) { |value| count(value) }
    when Struct then payload.to_a.sum(1) { |value| count(value) }
    when Stream then payload.sum { |message| count(message) } / payload.count
    else 1
    end
  end

  # The five classic data sets, Image in both its sizes.
  #
  # @param seed [Integer]
  # @return [Hash{String => Object}] name to document
  def documents(seed: DEFAULT_SEED)
    {
      "Twitter" => twitter(seed: seed),
      "Image 6 KB" => image(6_000, seed: seed),
      "Image 600 KB" => image(600_000, seed: seed),
      "Integers" => integers(seed: seed),
      "Geo" => geo(seed: seed),
      "3D model" => model(seed: seed)
    }
  end

  # The messages of msgpack-ruby's own benchmark, as small as a service sends them.
  #
  # @param seed [Integer]
  # @return [Hash{String => Object}] name to message
  def messages(seed: DEFAULT_SEED)
    random = Random.new(seed)
    {
      "plain" => Messages.plain(random),
      "structured" => Messages.structured(random),
      "integer" => Messages.integer(random)
    }
  end

  # What a cache or a cookie holds, from the smallest on.
  #
  # @param seed [Integer]
  # @return [Hash{String => Object}] name to value
  def cached(seed: DEFAULT_SEED)
    { "1" => 1, '"abc"' => "abc", "three keys" => { "id" => 1_000, "name" => "abc", "ok" => true },
      "200 rows" => rows(200 * Rows::BYTES, seed: seed) }
  end

  # Objects that need ext types, see ExtTypes.
  #
  # @param seed [Integer]
  # @return [Hash{String => Object}] name to object
  def typed(seed: DEFAULT_SEED)
    ExtTypes.build(Random.new(seed))
  end

  # A page of tweets with one in a hundred of its parts changed, see Mutation.
  #
  # @param kind [String] of Mutation::KINDS
  # @param seed [Integer]
  # @return [Hash]
  def mutated_twitter(kind, seed: DEFAULT_SEED)
    Mutation.new(Random.new(seed), kind).of(twitter(seed: seed))
  end

  # The same kind of rows at any size.
  #
  # @param bytes [Integer] of the packed document, about
  # @param seed [Integer]
  # @return [Hash, Array<Hash>]
  def rows(bytes, seed: DEFAULT_SEED)
    Rows.build(Random.new(seed), bytes)
  end

  # Messages in a row.
  #
  # @param kind [String] of Stream::KINDS
  # @param count [Integer] of messages
  # @param seed [Integer]
  # @return [Stream]
  def stream(kind, count, seed: DEFAULT_SEED)
    Stream.build(Random.new(seed), kind, count)
  end

  # A page of tweets as the search API answers it: nested maps, many repeated keys, Unicode text, ids beyond 32 bits.
  #
  # @param count [Integer] of tweets
  # @param seed [Integer]
  # @return [Hash]
  def twitter(count = 100, seed: DEFAULT_SEED)
    Twitter.new(Random.new(seed)).page(count)
  end

  # A map of small metadata and one binary, which JSON cannot carry.
  #
  # @param bytes [Integer] the size of the binary
  # @param seed [Integer]
  # @return [Hash]
  def image(bytes, seed: DEFAULT_SEED)
    Image.build(Random.new(seed), bytes)
  end

  # Arrays of integers of every width the format has, both signs.
  #
  # @param count [Integer] of integers in each array
  # @param seed [Integer]
  # @return [Hash]
  def integers(count = 2_000, seed: DEFAULT_SEED)
    Integers.build(Random.new(seed), count)
  end

  # GeoJSON: polygons of float pairs and a few properties each.
  #
  # @param count [Integer] of features
  # @param seed [Integer]
  # @return [Hash]
  def geo(count = 200, seed: DEFAULT_SEED)
    Geo.new(Random.new(seed)).collection(count)
  end

  # A 3D model: long float arrays for vertices and normals, long integer arrays for faces, a few materials.
  #
  # @param rings [Integer] the surface has this many rings of twice as many vertices
  # @param seed [Integer]
  # @return [Hash]
  def model(rings = 50, seed: DEFAULT_SEED)
    Model.new(Random.new(seed), rings).build
  end
end

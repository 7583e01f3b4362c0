# frozen_string_literal: true

# Maps of about a hundred packed bytes with the same keys: as many as a size needs.
module Payloads
  module Rows
    BYTES = 100
    WORDS = %w[river mountain harbour meadow orchard village lantern window garden kettle].freeze

    # @param random [Random]
    # @param bytes [Integer] of the packed document, about
    # @return [Hash, Array<Hash>]
    def self.build(random, bytes)
      return { "id" => 200, "ok" => true } if bytes < BYTES

      bytes == BYTES ? row(random) : Array.new(bytes / BYTES) { row(random) }
    end

    def self.row(random)
      {
        "id" => random.rand(1 << 31), "name" => words(random, 2), "price" => random.rand(10_000) / 8.0,
        "ok" => random.rand(2).zero?, "tags" => [words(random, 1), words(random, 1)], "note" => words(random, 4)
      }
    end
    private_class_method :row

    def self.words(random, count)
      Array.new(count) { WORDS.sample(random: random) }.join(" ")
    end
    private_class_method :words
  end
end

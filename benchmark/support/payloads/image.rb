# frozen_string_literal: true

# A picture as a service stores it: bytes that do not compress, described by a few small fields.
module Payloads
  module Image
    # @param random [Random]
    # @param bytes [Integer] the size of the picture
    # @return [Hash]
    def self.build(random, bytes)
      {
        "id" => random.rand(1 << 40), "name" => "IMG_#{random.rand(10_000)}.jpg", "content_type" => "image/jpeg",
        "width" => 640, "height" => 480, "taken_at" => 1_344_900_000 + random.rand(1_000_000),
        "exposure" => 0.008, "tags" => %w[garden rain 桜], "public" => true, "data" => random.bytes(bytes)
      }
    end
  end
end

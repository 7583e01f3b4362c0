# frozen_string_literal: true

# Integers of every width. The widths are mixed in one array and alone in others, because a branch that is always taken
# costs nothing.
module Payloads
  module Integers
    WIDTHS = {
      "fixint" => -32..127, "int8" => -128..255, "int16" => -(1 << 15)..(1 << 16) - 1,
      "int32" => -(1 << 31)..(1 << 32) - 1, "int64" => -(1 << 63)..(1 << 64) - 1
    }.freeze

    # @param random [Random]
    # @param count [Integer] of integers in each array
    # @return [Hash]
    def self.build(random, count)
      alone = WIDTHS.transform_values { |range| Array.new(count) { random.rand(range) } }
      mixed = Array.new(count) { random.rand(WIDTHS.values[random.rand(WIDTHS.size)]) }
      { **alone, "mixed" => mixed }
    end
  end
end

# frozen_string_literal: true

# A moment as ext type -1 has it.

module Manypack
  # Seconds since 1970 and nanoseconds, as ext type -1 has them: the whole of int64, which Time also has, without a zone.
  #
  # @example
  #   stamp = Manypack::Timestamp.new(1_700_000_000, 500)
  #   Manypack.pack(stamp, timestamp: true).bytesize #=> 10
  class Timestamp
    # The ext type of the specification.
    TYPE = -1

    # The last second that fits each of the two shorter layouts.
    TIMESTAMP32_MAX_SEC = (1 << 32) - 1
    TIMESTAMP64_MAX_SEC = (1 << 34) - 1

    # @return [Integer] seconds since 1970
    attr_reader :sec

    # @return [Integer] nanoseconds, 0 to 999,999,999
    attr_reader :nsec

    # @param sec [Integer]
    # @param nsec [Integer]
    def initialize(sec, nsec)
      @sec = sec
      @nsec = nsec
    end

    # @param other [Object]
    # @return [Boolean] whether both are the same moment
    def ==(other)
      other.instance_of?(Timestamp) && sec == other.sec && nsec == other.nsec
    end
    alias eql? ==

    # @return [Integer] the same for equal ones
    def hash
      [Timestamp, sec, nsec].hash
    end
  end
end

# frozen_string_literal: true

#--
# The Ruby half of Manypack::Timestamp. The other half, timestamp_ext.c, has the layout of the ext body.
#++
module Manypack
  # A moment as ext type -1 stores it: seconds since 1970, in the range of int64, and nanoseconds. It has no time zone.
  #
  #   stamp = Manypack::Timestamp.new(1_700_000_000, 500)
  #   Manypack.pack(stamp, timestamp: true).bytesize #=> 10
  class Timestamp
    # The ext type that the specification gives to timestamps.
    TYPE = -1

    # The last second that fits a body of 4 bytes.
    TIMESTAMP32_MAX_SEC = (1 << 32) - 1

    # The last second that fits a body of 8 bytes, next to the nanoseconds.
    TIMESTAMP64_MAX_SEC = (1 << 34) - 1

    # Seconds since 1970, an Integer.
    #
    #   Manypack::Timestamp.new(1, 500).sec #=> 1
    attr_reader :sec

    # Nanoseconds, an Integer from 0 to 999,999,999.
    #
    #   Manypack::Timestamp.new(1, 500).nsec #=> 500
    attr_reader :nsec

    # Creates a Timestamp from seconds and nanoseconds, both Integers.
    #
    #   Manypack::Timestamp.new(1, 500) == Manypack::Timestamp.new(1, 500) #=> true
    def initialize(sec, nsec)
      @sec = sec
      @nsec = nsec
    end

    # Returns the ext body, as Timestamp.to_msgpack_ext does, and raises the same errors.
    #
    #   Manypack::Timestamp.new(5, 0).to_msgpack_ext #=> "\0\0\0\x05"
    def to_msgpack_ext
      self.class.to_msgpack_ext(sec, nsec)
    end

    # Returns true if other is a Timestamp of the same moment.
    #
    #   Manypack::Timestamp.new(5, 0) == Manypack::Timestamp.new(5, 1) #=> false
    def ==(other)
      other.instance_of?(self.class) && sec == other.sec && nsec == other.nsec
    end
    alias eql? ==

    # Equal Timestamps have the same hash.
    #
    #   Manypack::Timestamp.new(5, 0).hash == Manypack::Timestamp.new(5, 0).hash #=> true
    def hash
      [Timestamp, sec, nsec].hash
    end
  end
end

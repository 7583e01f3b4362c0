# frozen_string_literal: true

#--
# Manypack::Timestamp: a moment as ext type -1 stores it.
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

    NSEC_MAX = 999_999_999
    SECONDS = (-(1 << 63)..(1 << 63) - 1)
    private_constant :NSEC_MAX, :SECONDS

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

    # Returns the Timestamp of an ext body, a String of 4, 8 or 12 bytes. Raises MalformedFormatError for any other
    # size, and for more than 999,999,999 nanoseconds.
    #
    #   Manypack::Timestamp.from_msgpack_ext("\0\0\0\x05").sec #=> 5
    def self.from_msgpack_ext(data)
      case data.bytesize
      when 4 then sec, nsec = data.unpack1("L>"), 0
      when 8
        both = data.unpack1("Q>")
        sec, nsec = both & TIMESTAMP64_MAX_SEC, both >> 34
      when 12 then nsec, sec = data.unpack("L>q>")
      else raise MalformedFormatError, "a timestamp must have 4, 8 or 12 bytes, got #{data.bytesize}"
      end
      raise MalformedFormatError, "a timestamp must have at most #{NSEC_MAX} nanoseconds" if nsec > NSEC_MAX

      new(sec, nsec)
    end

    # Returns the shortest ext body for these seconds and nanoseconds, a binary String. Raises RangeError for seconds
    # outside int64, and for nanoseconds outside 0..999_999_999.
    #
    #   Manypack::Timestamp.to_msgpack_ext(5, 0) #=> "\0\0\0\x05"
    def self.to_msgpack_ext(sec, nsec)
      raise RangeError, "the seconds of a timestamp must fit in 64 bits, got #{sec}" unless SECONDS.cover?(sec)
      unless (0..NSEC_MAX).cover?(nsec)
        raise RangeError, "the nanoseconds of a timestamp must be in 0..#{NSEC_MAX}, got #{nsec}"
      end

      if sec.negative? || sec > TIMESTAMP64_MAX_SEC then [nsec, sec].pack("L>q>")
      elsif nsec.positive? || sec > TIMESTAMP32_MAX_SEC then [nsec << 34 | sec].pack("Q>")
      else [sec].pack("L>")
      end
    end

    # Returns the ext body, as Timestamp.to_msgpack_ext does, and raises the same errors.
    #
    #   Manypack::Timestamp.new(5, 0).to_msgpack_ext #=> "\0\0\0\x05"
    def to_msgpack_ext
      self.class.to_msgpack_ext(sec, nsec)
    end

    # True if other is a Timestamp of the same moment.
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

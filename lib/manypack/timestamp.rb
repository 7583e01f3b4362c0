# frozen_string_literal: true

# A moment as ext type -1 has it.

module Manypack
  # Seconds since 1970 and nanoseconds, as ext type -1 has them: all of int64, without a zone.
  #
  # @example
  #   stamp = Manypack::Timestamp.new(1_700_000_000, 500)
  #   Manypack.pack(stamp, timestamp: true).bytesize #=> 10
  class Timestamp
    # The ext type of the specification.
    TYPE = -1

    # The last second that fits 4 bytes.
    TIMESTAMP32_MAX_SEC = (1 << 32) - 1

    # The last second that fits 8 bytes beside the nanoseconds.
    TIMESTAMP64_MAX_SEC = (1 << 34) - 1

    NSEC_MAX = 999_999_999
    SECONDS = (-(1 << 63)..(1 << 63) - 1)
    private_constant :NSEC_MAX, :SECONDS

    # @return [Integer] seconds since 1970
    # @example
    #   Manypack::Timestamp.new(1, 500).sec #=> 1
    attr_reader :sec

    # @return [Integer] nanoseconds, 0 to 999,999,999
    # @example
    #   Manypack::Timestamp.new(1, 500).nsec #=> 500
    attr_reader :nsec

    # @param sec [Integer]
    # @param nsec [Integer]
    # @example
    #   Manypack::Timestamp.new(1, 500) == Manypack::Timestamp.new(1, 500) #=> true
    def initialize(sec, nsec)
      @sec = sec
      @nsec = nsec
    end

    # @param data [String] the body of an ext, of 4, 8 or 12 bytes
    # @return [Timestamp]
    # @raise [MalformedFormatError] for another size, or nanoseconds that are a second or more
    # @example
    #   Manypack::Timestamp.from_msgpack_ext("\0\0\0\x05").sec #=> 5
    def self.from_msgpack_ext(data)
      case data.bytesize
      when 4 then sec, nsec = data.unpack1("L>"), 0
      when 8
        both = data.unpack1("Q>")
        sec, nsec = both & TIMESTAMP64_MAX_SEC, both >> 34
      when 12 then nsec, sec = data.unpack("L>q>")
      else raise MalformedFormatError, "a timestamp has 4, 8 or 12 bytes, found #{data.bytesize}"
      end
      raise MalformedFormatError, "a timestamp has at most #{NSEC_MAX} nanoseconds" if nsec > NSEC_MAX

      new(sec, nsec)
    end

    # @param sec [Integer]
    # @param nsec [Integer]
    # @return [String] the shortest body, binary
    # @raise [RangeError] for seconds outside int64, or nanoseconds outside 0 to 999,999,999
    # @example
    #   Manypack::Timestamp.to_msgpack_ext(5, 0) #=> "\0\0\0\x05"
    def self.to_msgpack_ext(sec, nsec)
      raise RangeError, "seconds are int64, not #{sec}" unless SECONDS.cover?(sec)
      raise RangeError, "nanoseconds are 0..#{NSEC_MAX}, not #{nsec}" unless (0..NSEC_MAX).cover?(nsec)

      if sec.negative? || sec > TIMESTAMP64_MAX_SEC then [nsec, sec].pack("L>q>")
      elsif nsec.positive? || sec > TIMESTAMP32_MAX_SEC then [nsec << 34 | sec].pack("Q>")
      else [sec].pack("L>")
      end
    end

    # @return [String] the body of the ext
    # @raise [RangeError] as Timestamp.to_msgpack_ext
    # @example
    #   Manypack::Timestamp.new(5, 0).to_msgpack_ext #=> "\0\0\0\x05"
    def to_msgpack_ext
      self.class.to_msgpack_ext(sec, nsec)
    end

    # @param other [Object]
    # @return [Boolean] whether both are the same moment
    # @example
    #   Manypack::Timestamp.new(5, 0) == Manypack::Timestamp.new(5, 1) #=> false
    def ==(other)
      other.instance_of?(self.class) && sec == other.sec && nsec == other.nsec
    end
    alias eql? ==

    # @return [Integer] the same for equal ones
    # @example
    #   Manypack::Timestamp.new(5, 0).hash == Manypack::Timestamp.new(5, 0).hash #=> true
    def hash
      [Timestamp, sec, nsec].hash
    end
  end
end

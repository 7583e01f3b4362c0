# frozen_string_literal: true

#--
# The Ruby half of Manypack::Timestamp. The other half, timestamp_ext.c, has the layout of the ext body.
#++
module Manypack
  # A moment as ext type -1 stores it: seconds since 1970, in the range of int64, and nanoseconds. It has no time zone.
  #
  #   stamp = Manypack::Timestamp.new(1_700_000_000, 500)
  #   Manypack.pack(stamp, timestamp: true).bytesize #=> 10
  #
  # A Timestamp never changes. To pack and unpack plain Times, you need none: pass <code>timestamp: true</code>.
  class Timestamp
    include Value
    include Comparable
    extend Guesses

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

    # Creates a Timestamp from seconds and nanoseconds. A fraction of a second becomes nanoseconds, and a fraction of a
    # nanosecond is dropped, as in <code>Time.at</code>. Raises TypeError unless both are numbers, and RangeError for
    # seconds outside int64 and for nanoseconds outside 0..999_999_999.
    #
    #   Manypack::Timestamp.new(1, 500) == Manypack::Timestamp.new(1, 500) #=> true
    #   Manypack::Timestamp.new(1.5, 0).nsec                               #=> 500000000
    def initialize(sec, nsec)
      sec, nsec = whole(sec, nsec) unless valid?(sec, nsec)
      @sec = sec
      @nsec = nsec
      freeze
    end

    # Returns the Timestamp of this moment.
    #
    #   Manypack::Timestamp.now.to_time.year >= 2026 #=> true
    def self.now
      new(*Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond).divmod(1_000_000_000))
    end

    # Returns the moment as a Time in the local zone.
    #
    #   Manypack::Timestamp.new(5, 500).to_time.nsec #=> 500
    def to_time
      ::Time.at(sec, nsec, :nanosecond)
    end

    # Returns -1, 0 or 1, as a Timestamp is before, at or after another one, and nil for anything else. Timestamps are
    # Comparable.
    #
    #   Manypack::Timestamp.new(5, 0) < Manypack::Timestamp.new(5, 1) #=> true
    def <=>(other)
      [sec, nsec] <=> [other.sec, other.nsec] if other.is_a?(Timestamp)
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

    # Shows seconds and nanoseconds.
    #
    #   Manypack::Timestamp.new(5, 7).inspect #=> "#<Manypack::Timestamp sec: 5, nsec: 7>"
    def inspect
      "#<#{self.class} sec: #{sec.inspect}, nsec: #{nsec.inspect}>"
    end

    # Returns the moment as RFC 3339 has it, in UTC and with nanoseconds unless they are 0, as a JSON string.
    #
    #   JSON.generate([Manypack::Timestamp.new(5, 7)]) #=> "[\"1970-01-01T00:00:05.000000007Z\"]"
    def to_json(*)
      "\"#{as_json}\""
    end

    # Returns the moment as RFC 3339 has it, a String, for ActiveSupport, as in <code>render json: stamp</code>.
    #
    #   Manypack::Timestamp.new(5, 0).as_json #=> "1970-01-01T00:00:05Z"
    def as_json(*)
      to_time.utc.strftime(nsec.zero? ? "%FT%TZ" : "%FT%T.%NZ")
    end

    # Equal Timestamps have the same hash.
    #
    #   Manypack::Timestamp.new(5, 0).hash == Manypack::Timestamp.new(5, 0).hash #=> true
    def hash
      [Timestamp, sec, nsec].hash
    end

    # Writes seconds and nanoseconds to a YAML document.
    def encode_with(coder)
      coder.map = { "sec" => sec, "nsec" => nsec }
    end

    # Reads them from a YAML document.
    def init_with(coder) = initialize(coder["sec"], coder["nsec"])

    private

    def valid?(sec, nsec)
      sec.is_a?(Integer) && nsec.is_a?(Integer) && sec.bit_length < 64 && nsec >= 0 && nsec < 1_000_000_000
    end

    # Returns Integers for other numbers.
    def whole(sec, nsec)
      Timestamp.to_msgpack_ext(sec, nsec) # which raises
      sec, nsec = [sec, nsec].map { |number| number.is_a?(Numeric) ? number.to_r : number.to_int }
      pair = ((sec * 1_000_000_000) + nsec).floor.divmod(1_000_000_000)
      Timestamp.to_msgpack_ext(*pair) # the two fractions may add up to one second more than int64 holds
      pair
    end

    # Called by Marshal.
    def marshal_dump = [sec, nsec]

    def marshal_load((sec, nsec))
      initialize(sec, nsec)
    end
  end
end

# frozen_string_literal: true

# Checks the promises of limits, for one message at a time.
module Fuzz
  # Limits only refuse. A message within its limits is unpacked as without limits. If it is refused, the message must
  # have the reason at the offset of the error.
  class Limits
    UNTRUSTED = { max_bytes: 1_048_576, max_objects: 100_000, max_map_size: 1_000, max_array_size: 10_000,
                  max_string_bytes: 262_144, max_ext_bytes: 4_096, utf8: :strict, duplicate_keys: :error,
                  max_depth: 32 }.freeze

    # Head bytes of sized objects, by the format of the size that follows. Other head bytes hold the size themselves.
    SIZED = { "C" => [0xC4, 0xC7, 0xD9], "n" => [0xC5, 0xC8, 0xDA, 0xDC, 0xDE],
              "N" => [0xC6, 0xC9, 0xDB, 0xDD, 0xDF] }.freeze
    FIXED_EXTS = (0xD4..0xD8)

    def initialize
      @factory = Manypack::Factory.new.tap { |factory| Types.register_tame(factory, Manypack::Bigint) }
    end

    # Raises Violation if an error has no reason, or if the object differs from the one without limits.
    def check(bytes)
      @bytes = bytes
      @random = Random.new(Zlib.crc32(bytes) + 2)
      @options = { allow_unknown_ext: @random.rand(3).positive?, symbolize_keys: coin, freeze: coin, shareable: coin,
                   timestamp: coin }
      @limits = limits
      free, held = load({}), load(@limits)
      return if refused?(held)
      return if Outcome.same?(free, held)

      raise Violation, "with #{@options} and #{@limits}:#{Outcome.contrast(held, free, "without limits")}"
    end

    private

    def coin = @random.rand(4).zero?

    def limits
      limits = UNTRUSTED.keys.select { coin }.to_h { |name| [name, limit(name)] }
      limits[:untrusted] = true if coin
      limits
    end

    # A value near what messages have.
    def limit(name)
      case name
      when :utf8, :duplicate_keys then UNTRUSTED[name]
      when :max_bytes then [@bytes.bytesize + @random.rand(-5..5), 0].max
      else @random.rand(1..40)
      end
    end

    def load(limits) = Outcome.of { @factory.load(@bytes, @options.merge(limits)) }

    def in_force = (@limits[:untrusted] ? UNTRUSTED : {}).merge(@limits)

    # Returns true if a limit refused the message. Raises Violation if that limit is not set or not exceeded.
    def refused?(held)
      error = held[2]
      case error
      when Manypack::LimitError then error.limit != :max_same_hash && exceeded(error)
      when Manypack::StackError then in_force[:max_depth]
      when Manypack::MalformedFormatError
        reasons = { utf8: "a str is not valid UTF-8", duplicate_keys: "a map ", untrusted: "a timestamp " }
        reasons.any? { |name, words| in_force[name] && error.message.start_with?(words) }
      end
    end

    # Checks that the error tells the truth, and that the message is not refused there with a limit as high as the
    # error's value.
    def exceeded(error)
      again = load(@limits.merge(error.limit => error.value))[2]
      return true if error.value > in_force.fetch(error.limit) && true_of_input?(error) && further?(again, error)

      raise Violation, "with #{@options} and #{@limits}: #{error.message}"
    end

    def true_of_input?(error)
      case error.limit
      when :max_bytes then error.value == @bytes.bytesize && error.offset == in_force[:max_bytes]
      when :max_objects then error.offset < @bytes.bytesize
      else declared(error.offset) == error.value
      end
    end

    def declared(offset)
      head = @bytes.getbyte(offset)
      width, = SIZED.find { |_, heads| heads.include?(head) }
      return @bytes.byteslice(offset + 1, 4).unpack1(width) if width
      return 1 << (head - FIXED_EXTS.first) if FIXED_EXTS.cover?(head)

      head & (head < 0xA0 ? 15 : 31)
    end

    def further?(again, error)
      return true unless again.is_a?(Manypack::LimitError) && again.limit == error.limit

      again.offset > error.offset || again.value > error.value
    end
  end
end

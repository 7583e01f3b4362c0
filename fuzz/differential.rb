# frozen_string_literal: true

# Manypack and the msgpack gem over the same bytes.
module Fuzz
  # The msgpack gem beside Manypack: the same object, or both refuse, except where docs/migrating.md says otherwise.
  class Differential
    # Differences on purpose, by name: whether one explains what the two made of a message.
    DIFFERENCES = {
      # The nanoseconds of a timestamp are at most 999,999,999.
      timestamp: ->(ours, theirs) { theirs[0] == :object && ours[1].match?(/nanoseconds/) },
      # The body of a recursive ext is unpacked to its end and no further, by an Unpacker of its own.
      body: lambda { |ours, _|
        ours[1].match?(/the unpacker of ext type \d+ (left|read past)|incomplete ext: /)
      },
      # A bigint has a size that an Integer can have.
      bigint: ->(ours, _) { ours[1].match?(/a bigint must have/) },
      # Containers that are map keys are not hashed again and again, nor many keys of one hash compared with each other.
      keys: ->(ours, _) { ours[1].match?(/nested too deeply in map keys|different keys that have the same hash/) }
    }.freeze

    # The same of packing: -2**63 fits an int64, and is none there when there is an ext type for big Integers.
    LEAST = "d38000000000000000"

    def initialize
      @ours = Manypack::Factory.new.tap { |factory| register(factory, Manypack) }
      @theirs = MessagePack::Factory.new.tap { |factory| register(factory, MessagePack) }
    end

    # Violation where the two part and no difference on purpose says why.
    def check(bytes)
      random = Random.new(Zlib.crc32(bytes) + 1)
      options = { allow_unknown_ext: random.rand(2).zero?, symbolize_keys: random.rand(3).zero?,
                  freeze: random.rand(4).zero? }
      ours = Outcome.of { @ours.load(bytes, options) }
      theirs = Outcome.of { @theirs.load(bytes, options) }
      compare(ours, theirs, options)
      pack_again(ours[2], theirs[2]) if ours[0] == :object && theirs[0] == :object
      streams(bytes, options)
    end

    private

    def register(factory, library)
      Types.register_tame(factory, library::Bigint)
      factory.register_type(-1, library::Timestamp, packer: library::Timestamp.method(:to_msgpack_ext),
                                                    unpacker: library::Timestamp.method(:from_msgpack_ext))
    end

    def compare(ours, theirs, options)
      return if ours[0] == :error && theirs[0] == :error
      return if Outcome.same?(ours, theirs)
      return if DIFFERENCES.any? { |_, explains| ours[0] == :error && explains.call(ours, theirs) }

      raise Violation, "with #{options}:#{Outcome.contrast(ours, theirs, "the msgpack gem")}"
    end

    # The same objects one behind another, up to the first error.
    def streams(bytes, options)
      unpackers = [@ours, @theirs].map { |factory| factory.unpacker(options).feed(bytes) }
      loop do
        ours, theirs = unpackers.map { |unpacker| Outcome.of { unpacker.read } }
        compare(ours, theirs, options)
        return if ours[0] != :object || theirs[0] != :object
      end
    end

    # What both understood, both pack to the same bytes.
    def pack_again(ours, theirs)
      packed = [@ours, @theirs].zip([ours, theirs]).map { |factory, object| Outcome.of { factory.dump(object) } }
      return if Outcome.same?(*packed) || packed.all? { |outcome| outcome[0] == :error } || packed[0][1].include?(LEAST)

      raise Violation, "packed to#{Outcome.contrast(*packed, "by the msgpack gem to")}"
    end
  end
end

# frozen_string_literal: true

# Compares Manypack with the msgpack gem.
module Fuzz
  # Unpacks the same bytes with Manypack and the msgpack gem: both must return the same object or both must refuse,
  # except where docs/migrating.md says otherwise.
  class Differential
    # Intended differences, by name. Each lambda returns true if the difference explains two outcomes.
    DIFFERENCES = {
      # A timestamp has at most 999,999,999 nanoseconds.
      timestamp: ->(ours, theirs) { theirs[0] == :object && ours[1].match?(/nanoseconds/) },
      # An Unpacker of its own unpacks the body of a recursive ext, exactly to its end.
      body: lambda { |ours, _|
        ours[1].match?(/the unpacker of ext type \d+ (left|read past)|incomplete ext: /)
      },
      # The body of a bigint must have a possible size.
      bigint: ->(ours, _) { ours[1].match?(/a bigint must have/) },
      # Limits on nested container keys and on keys with the same hash.
      keys: ->(ours, _) { ours[1].match?(/nested too deeply in map keys|different keys that have the same hash/) }
    }.freeze

    # Intended differences in packing. The msgpack gem packs -2**63 as an ext if there is a type for big Integers,
    # although it fits an int64. It packs a Symbol in an encoding in which the Symbol does not come back.
    PACKING = /d38000000000000000|a Symbol in \S+ cannot be packed as an ext type/

    def initialize
      @ours = Manypack::Factory.new.tap { |factory| register(factory, Manypack) }
      @theirs = MessagePack::Factory.new.tap { |factory| register(factory, MessagePack) }
    end

    # Raises Violation if the two differ and no intended difference explains it.
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

    # Compares the objects of a stream one by one, up to the first error.
    def streams(bytes, options)
      unpackers = [@ours, @theirs].map { |factory| factory.unpacker(options).feed(bytes) }
      loop do
        ours, theirs = unpackers.map { |unpacker| Outcome.of { unpacker.read } }
        compare(ours, theirs, options)
        return if ours[0] != :object || theirs[0] != :object
      end
    end

    # Both must pack the unpacked object to the same bytes. Packing counts an empty container as a level, and unpacking
    # does not, so the default depth would not do.
    def pack_again(ours, theirs)
      packed = [[@ours, ours], [@theirs, theirs]].map do |factory, object|
        Outcome.of { factory.dump(object, max_depth: 512) }
      end
      return if Outcome.same?(*packed) || packed.all? { |outcome| outcome[0] == :error } || packed[0][1].match?(PACKING)

      raise Violation, "packed to#{Outcome.contrast(*packed, "by the msgpack gem to")}"
    end
  end
end

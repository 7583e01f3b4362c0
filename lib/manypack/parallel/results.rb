# frozen_string_literal: true

# Results on their way from a worker process to its parent.
require_relative "worker"

module Manypack
  module Parallel
    # Packed with the ext types of the run's codec. Symbols are one of them, so that they do not become Strings.
    class Results
      # The run's options are for its messages, not for its results.
      NO_LIMIT = (1 << 32) - 1
      OPTIONS = { symbolize_keys: false, freeze: false, shareable: false, allow_unknown_ext: true, timestamp: true,
                  compatibility_mode: false, canonical: false, untrusted: false, utf8: :accept, duplicate_keys: :last,
                  max_depth: 1_000, max_bytes: 1 << 60, max_objects: 1 << 60, max_map_size: NO_LIMIT,
                  max_array_size: NO_LIMIT, max_string_bytes: NO_LIMIT, max_ext_bytes: NO_LIMIT }.freeze

      # The head byte of an array whose size has four bytes, so that all results are unpacked at once.
      ARRAY_32 = 0xdd

      # Collects the results of a batch, nil included.
      class Collector < Worker::Packed
        # @raise [::TypeError] for what cannot be packed
        def <<(result)
          write(result)
        rescue StandardError, SystemStackError => e
          reason = e.message.lines.first&.chomp # Ruby 3.1 adds the line of code
          raise ::TypeError, "the result cannot be packed for the process that waits for it: #{reason}"
        end
      end

      # @param codec [Codec]
      def initialize(codec)
        @codec = codec.with(**OPTIONS)
        types = [*@codec.packer.registered_types, *@codec.unpacker.registered_types]
        return if types.any? { |type| type[:class] == Symbol }

        taken = types.map { |type| type[:type] }
        @symbol_type = 127.downto(0).find { |type| !taken.include?(type) }
      end

      # @return [Collector]
      def collector
        packer = @codec.with(max_depth: OPTIONS[:max_depth] - 1).packer # they are unpacked in an array
        packer.register_type(@symbol_type, Symbol, :to_msgpack_ext) if @symbol_type
        Collector.new(packer)
      end

      # @param bytes [String] from a Collector
      # @param count [Integer] of results
      # @return [Array]
      def unpack(bytes, count)
        unpacker.feed([ARRAY_32, count].pack("CN")).feed(bytes).read
      end

      private

      def unpacker
        @unpacker ||= @codec.unpacker.tap do |unpacker|
          unpacker.register_type(@symbol_type, Symbol, :from_msgpack_ext) if @symbol_type
        end
      end
    end
    private_constant :Results
  end
end

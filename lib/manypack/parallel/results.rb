# frozen_string_literal: true

# Results on their way from a worker process to its parent.
module Manypack
  module Parallel
    # Packed with the ext types of the run's codec. Symbols are one of them, so that they do not become Strings.
    class Results
      # The run's options are for its messages, not for its results.
      NO_LIMIT = (1 << 32) - 1
      OPTIONS = { symbolize_keys: false, freeze: false, shareable: false, allow_unknown_ext: true, timestamp: true,
                  compatibility_mode: false, untrusted: false, utf8: :accept, duplicate_keys: :last, max_depth: 512,
                  max_bytes: 1 << 60, max_objects: 1 << 60, max_map_size: NO_LIMIT, max_array_size: NO_LIMIT,
                  max_string_bytes: NO_LIMIT, max_ext_bytes: NO_LIMIT }.freeze

      # Collects the results of one batch after another, for Worker#run.
      class Collector
        def initialize(packer)
          @packer = packer
        end

        # @raise [::TypeError] for what cannot be packed
        def <<(result)
          @packer.write(result)
        rescue StandardError, SystemStackError => e
          raise ::TypeError, "the result cannot be packed for the process that waits for it: #{e.message.lines.first&.chomp}"
        end

        # The bytes of the results, which it forgets.
        def to_a
          @packer.to_s.tap { @packer.reset }
        end
      end

      # @param codec [Codec]
      def initialize(codec)
        @codec = codec.with(**OPTIONS)
        packed, unpacked = [@codec.packer, @codec.unpacker].map { |one| one.registered_types.map { |type| type[:type] } }
        symbol = @codec.packer.registered_types.find { |type| type[:class] == Symbol }
        @symbol_type = 127.downto(0).find { |type| !packed.include?(type) && !unpacked.include?(type) } unless symbol
      end

      # @return [Collector]
      def collector
        packer = @codec.packer
        packer.register_type(@symbol_type, Symbol, :to_msgpack_ext) if @symbol_type
        Collector.new(packer)
      end

      # @param bytes [String] from a Collector
      # @return [Array]
      def unpack(bytes)
        results = []
        unpacker.feed_each(bytes) { |result| results << result }
        results
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

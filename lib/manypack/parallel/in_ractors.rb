# frozen_string_literal: true

# A run in Ractors.

require_relative "in_workers"
require_relative "ractor_pool"
require_relative "ruby_bug_22072"

module Manypack
  module Parallel
    class InRactors < InWorkers
      def initialize(source, work, codec, options, as, packs, size, ordered, on_start)
        Isolation.check_codec(codec) if codec
        Work.check_shareable(as)
        codec = codec ? codec.with(**options) : Codec.new(options)
        super(source, codec, size, ordered)
        # DefaultFactory's types may have handlers that are the main Ractor's. Then each Ractor makes a codec of its
        # own from the options, which refuses only messages that need those handlers.
        codec = options unless Ractor.shareable?(codec)
        @stop = Stop.new
        on_start &&= Work.shareable(on_start)
        @setup = Ractor.make_shareable([Work.shareable(work), codec, @stop, as, packs, on_start])
      end

      private

      def start_pool
        RubyBug22072.warn_once
        @pool = RactorPool.new(@events)
        @pool.start(@size, @setup)
      end

      def stop_pool
        @stop.set
        @pool&.stop
      end

      def outcome_of(*outcome) = outcome

      def lost(*)
        raise Ractor::Error, "the work on a message ended its Ractor"
      end
    end
    private_constant :InRactors
  end
end

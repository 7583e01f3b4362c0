# frozen_string_literal: true

# Reads from a source in a Thread of its own, one piece for each request.

require_relative "reported_thread"
require_relative "source"

module Manypack
  module Parallel
    class BackgroundReader
      # @param source [Source::Stream]
      # @param events [Thread::Queue] gets a Source::Piece for each request, and another one when the Thread ends
      def initialize(source, events)
        @requests = Thread::Queue.new
        ended = ->(error) { events << Source::Piece.new(nil, error) }
        @thread = ReportedThread.start("reads from #{source.kind}", ended) do
          while (missing = @requests.pop)
            events << read(source, missing)
          end
        end
      end

      # Asks for a piece. See Source::Stream#read.
      def request(missing)
        @requests << missing
      end

      # Ends the Thread, even in the middle of a read.
      def stop
        @thread.kill
        @thread.join
      end

      private

      def read(source, missing)
        source.read(missing)
      rescue Exception => e # rubocop:disable Lint/RescueException -- the run raises it
        Source::Piece.new(nil, e)
      end
    end
    private_constant :BackgroundReader
  end
end

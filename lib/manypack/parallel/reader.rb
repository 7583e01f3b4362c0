# frozen_string_literal: true

# Reads from an io in a Thread of its own, one piece each time it is asked.
module Manypack
  module Parallel
    class Reader
      # What was read; nil at the end.
      Answer = Struct.new(:pieces, :error) do
        def bytes
          error ? raise(error) : pieces
        end
      end

      # @param events [Thread::Queue] gets an Answer for each question, and another one when the Thread ends
      def initialize(io, events)
        @requests = Thread::Queue.new
        ended = ->(error) { events << Answer.new(nil, error) }
        @thread = ReportedThread.start("reads from #{io.class}", ended) do
          while (missing = @requests.pop)
            events << answer(io, missing)
          end
        end
      end

      # Has it put an Answer into the events.
      def ask(missing)
        @requests << missing
      end

      # Wherever it is.
      def stop
        @thread.kill
        @thread.join
      end

      private

      def answer(io, missing)
        Answer.new(Cutter.read(io, missing), nil)
      rescue Exception => e # rubocop:disable Lint/RescueException -- it is raised again where somebody asked
        Answer.new(nil, e)
      end
    end
    private_constant :Reader
  end
end

# frozen_string_literal: true

# How a run hears from its Ractors on Ruby 4.0 and later: by a Ractor::Port for each of them.
module Manypack
  module Parallel
    class Transport
      # In a Ractor: receives batches, and copies objects as sending them to another Ractor does.
      module Receiver
        def self.receive = Ractor.receive

        # Raises TypeError or Ractor::Error for an object that cannot be copied.
        def self.copy(object)
          port = Ractor::Port.new
          port.send(object)
          port.receive
        ensure
          port&.close
        end
      end

      def initialize
        @indices = {}.compare_by_identity # of the Ractors that have not ended, by their ports
      end

      # The port gets outcomes, and Ruby tells it when the Ractor has ended. An ensure clause of the Ractor could not
      # say so in every case: Ruby 4.1 may skip it if the stack overflows while an outcome is copied.
      def start_ractor(index, setup)
        port = Ractor::Port.new
        ractor = Ractor.new(index, port, setup) do |own_index, outcomes, worker_setup|
          RactorLoop.run(own_index, worker_setup, Receiver) { |outcome| outcomes.send(outcome) }
        end
        ractor.monitor(port)
        @indices[port] = index
        ractor
      end

      def each_message
        until @indices.empty?
          port, message = Ractor.select(*@indices.keys)
          case message
          in [Integer, Array, *] # what RactorLoop yields
            yield @indices[port], message
          in :exited | :aborted | [Ractor, :exited | :aborted] # of Ractor#monitor in Ruby 4.0, and since 4.1
            port.close
            yield @indices.delete(port), nil
          else
            raise Ractor::Error, "a Ractor sent what Manypack::Parallel does not know: #{message.inspect}"
          end
        end
      end

      def value_of(ractor)
        ractor.value
      end

      # Ignores an exception that ended the Ractor: value_of raises it.
      def join(ractor)
        ractor.join
      rescue Ractor::Error
        nil
      end

      def close
        @indices.each_key(&:close)
      end
    end
    private_constant :Transport
  end
end

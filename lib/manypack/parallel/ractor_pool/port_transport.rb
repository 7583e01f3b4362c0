# frozen_string_literal: true

# How a pool hears from its Ractors on Ruby 4.0 and later: by a Ractor::Port.
module Manypack
  module Parallel
    class RactorPool
      class Transport
        def initialize
          @port = Ractor::Port.new
          @running = 0
        end

        def start_ractor(index, setup)
          ractor = Ractor.new(@port, index, setup) do |port, own_index, worker_setup|
            RactorLoop.run(worker_setup) { |outcome| port.send([own_index, outcome]) }
          ensure
            port.send([own_index, nil])
          end
          @running += 1
          ractor
        end

        def each_message
          while @running > 0
            index, outcome = @port.receive
            @running -= 1 unless outcome
            yield index, outcome
          end
        end

        def value_of(ractor)
          ractor.value
        end

        def close
          @port.close
        end
      end
      private_constant :Transport
    end
  end
end

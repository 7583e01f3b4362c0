# frozen_string_literal: true

# When a Ractor has ended.
module Manypack
  module Parallel
    # A Ractor still counts for a moment after its value is there.
    module RactorEnd
      module_function

      # Waits until a Ractor that returned, or is about to, has ended.
      def await(ractor)
        join(ractor) if ractor.respond_to?(:join)
        10_000.times { reached?(ractor) ? break : sleep(0.0001) }
      end

      # An exception that ended the Ractor is reported elsewhere: it comes with its value.
      def join(ractor)
        ractor.join
      rescue Ractor::Error
        nil
      end

      # @return [Boolean]
      def reached?(ractor)
        ractor.inspect.end_with?("terminated>")
      end
    end
    private_constant :RactorEnd
  end
end

# frozen_string_literal: true

# The text of the steps to a place in a message: what a Path reads, as far as it has steps for the keys.
module Manypack
  module Terminal
    class Place
      # How many texts of keys are kept.
      MOST_KEPT = 1000

      def initialize
        @texts = {}
      end

      # Returns the text of an Array of steps.
      def text(steps)
        steps.each_with_object(+"$") { |step, text| text << step_text(step) }
      end

      private

      def step_text(step)
        case step
        when Integer then "[#{step}]"
        when String
          @texts.clear if @texts.size > MOST_KEPT
          @texts[step] ||= Path.of(step).to_s.delete_prefix("$")
        else key_text(step)
        end
      end

      # A Path has no step for keys of other types: of those it is their JSON.
      def key_text(step)
        return "[#{json(Manypack.pack(step.bytes))}]" if step.is_a?(Difference::Bin)

        path = [nil, true, false].include?(step) || (step.is_a?(Float) && !step.nan?)
        path ? Path.of(step).to_s.delete_prefix("$") : "[#{json(Twins.packed(step))}]"
      end

      def json(bytes)
        @printer ||= Printer.new("json")
        @printer.print(bytes).chomp
      end
    end
  end
end

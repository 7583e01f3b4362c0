# frozen_string_literal: true

# Colours, for a terminal whose user has not refused them (https://no-color.org).
module Manypack
  module Terminal
    module Colors
      CODES = {dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36}.freeze

      module_function

      def paint(text, color)
        wanted? ? "\e[#{CODES.fetch(color)}m#{text}\e[0m" : text
      end

      def wanted?
        ENV.fetch("NO_COLOR", "").empty? && ENV["TERM"] != "dumb" && Output.stdout.tty?
      end
    end
  end
end

# frozen_string_literal: true

# An OptionParser that refuses an option that is given twice: using only the last one would drop a wish in silence.
require "optparse"

module Manypack
  module Terminal
    class Options < OptionParser
      # Options that may be given again.
      MANY = ["--require", "--help"].freeze

      def on(*definition, &block)
        name = definition.grep(/\A--/).first[/\A--[\w-]+/]
        super(*definition) do |value|
          once(name) unless MANY.include?(name)
          block.call(value)
        end
      end

      private

      def once(name)
        given = (@given ||= {})
        raise ArgumentError, "#{name} is given twice" if given[name]

        given[name] = true
      end
    end
  end
end

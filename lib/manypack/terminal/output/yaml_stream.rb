# frozen_string_literal: true

# Writes YAML as YAML.dump does, but event by event: YAML.dump first makes a tree of nodes, which takes many times the
# memory of the objects.
require "yaml"

module Manypack
  module Terminal
    class YAMLStream < Psych::Visitors::YAMLTree
      include Psych::Streaming
      extend Psych::Streaming::ClassMethods

      # Ends a document without the line "...", which a document needs only if it may be followed by other text.
      class Emitter < Psych::Stream::Emitter
        def streaming? = false
      end

      # Characters that YAML allows although a terminal would obey them.
      MARKS = /[\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/

      # Text that some reader of YAML takes for a number or a time: 52:54:00, 0o17, 1_000, 2026-13-45.
      NUMBER = /\A[-+]?\.?\d[\d_.:,+ tz-]*(?:e[-+]?\d+)?\z|\A[-+]?0[xob][\h_]+\z/i

      # An io that writes marks as escapes. The text with them is in double quotes.
      Escaping = Struct.new(:io) do
        def write(text)
          io.write(text.dup.force_encoding(Encoding::UTF_8).gsub(MARKS) { |mark| Visible.escape(mark) })
        end
      end
      private_constant :Escaping

      # Writes an object to an io.
      def self.dump(object, io)
        stream = new(Escaping.new(io))
        stream.start
        stream.push(object)
        stream.finish
      end

      # Puts a str in quotes if it has marks, or if FromYAML or other readers of YAML would take it for a number.
      def visit_String(text) # rubocop:disable Naming/MethodName -- the name is Psych's
        number = text.match?(NUMBER)
        return super unless number || text.match?(MARKS)

        style = number ? Psych::Nodes::Scalar::SINGLE_QUOTED : Psych::Nodes::Scalar::DOUBLE_QUOTED
        register(text, @emitter.scalar(text, nil, nil, false, true, style))
      end
    end
  end
end

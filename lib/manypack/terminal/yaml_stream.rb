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
        def streaming?
          false
        end
      end

      # Writes an object to an io.
      def self.dump(object, io)
        stream = new(io)
        stream.start
        stream.push(object)
        stream.finish
      end
    end
  end
end

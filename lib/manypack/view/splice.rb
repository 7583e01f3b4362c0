# frozen_string_literal: true

#--
# What View#splice does besides setting a value, and which places the path of a change means.
#++
module Manypack
  class View
    # What View.inserted and others return. The kind is one of :inserted, :appended, :renamed and :parents.
    class Change # :nodoc:
      def initialize(kind, value)
        @kind = kind
        @value = value
        freeze
      end
    end

    private_constant :Change

    # Finds the places of changes.
    module Splice # :nodoc:
      # Returns an Array of the steps of each place of a View that a path means.
      def self.places(view, path)
        path = Path.from(path)
        return [path.steps] unless path.all?

        found = []
        Internal.search(view, path.steps, path.max_looks, :ways) { |keys| found << keys }
        found
      end
    end
    private_constant :Splice
  end
end

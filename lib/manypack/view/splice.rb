# frozen_string_literal: true

#--
# Changes of View#splice other than setting a value, and the places that the path of a change finds.
#++
module Manypack
  class View
    # A change from View.inserted or a similar method. The kind is one of :inserted, :appended, :renamed and :parents.
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
      # Returns, for each place in a View that a path finds, an Array of the steps to it.
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

# frozen_string_literal: true

#--
# Changes of View#splice other than setting a value, and the places that the path of a change finds.
#++
module Manypack
  class View
    # A change from View.inserted or a similar method. The kind is one of :inserted, :appended, :renamed and :set.
    # parents: whether it makes the containers around its value.
    class Change # :nodoc:
      def initialize(kind, value, parents = false)
        @kind = kind
        @value = value
        @parents = parents
        freeze
      end

      def with_parents
        Change.new(@kind, @value, true)
      end
    end

    private_constant :Change

    private

    # Called by View#splice. Returns an Array of the steps to each place that a path finds.
    def places(path)
      path = Path.from(path)
      return [path.steps] unless path.all?

      found = []
      Internal.search(self, path.steps, path.max_looks, :ways) { |keys| found << keys }
      found
    end
  end
end

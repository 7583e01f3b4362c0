# frozen_string_literal: true

#--
# Manypack::Path::Function: what a condition of a path can call.
#++
module Manypack
  class Path
    # Stands for the value of a path in a condition that finds nothing. A Function receives it, and may return it.
    module NOTHING
    end

    # A function for the conditions of paths, beside +length+, +count+, +match+, +search+ and +value+ of the standard.
    # It is frozen. A Path that calls it is shareable between Ractors if the block is: the block must not refer to
    # objects that are not shareable, and on Ruby 3 it must be written where +self+ is, such as in a module.
    #
    #   even = Manypack::Path::Function.new(:value, returns: :logical) { |n| n.is_a?(Integer) && n.even? }
    #   path = Manypack::Path.new("$[?even(@.id)]", functions: {even: even})
    #   path.to_a(Manypack.pack([{"id" => 1}, {"id" => 2}])).map(&:value) #=> [{"id" => 2}]
    class Function
      include Value

      # The types of arguments and results: a value; a result of a condition, true or false; and, for arguments, an
      # Array of all values that a path finds.
      TYPES = %i[value logical nodes].freeze

      # Returns the types of the arguments, an Array of Symbols.
      #
      #   Manypack::Path::Function.new(:nodes) { |nodes| nodes.sum }.takes #=> [:nodes]
      def takes
        @takes || raise(ArgumentError, "uninitialized #{self.class}")
      end

      # Returns the type of the result, a Symbol.
      #
      #   Manypack::Path::Function.new(:nodes) { |nodes| nodes.sum }.returns #=> :value
      def returns
        @returns || raise(ArgumentError, "uninitialized #{self.class}")
      end

      # takes:: for each argument +:value+, +:logical+ or +:nodes+. A value is what View#[] returns, or NOTHING; a
      #         container is a View
      # returns:: +:value+ for a result to compare, or +:logical+ for a condition
      #
      # The block receives the arguments. Raises ArgumentError without a block and for other types.
      #
      #   Manypack::Path::Function.new(:value) { |text| text.is_a?(String) ? text.upcase : Manypack::Path::NOTHING }
      def initialize(*takes, returns: :value, &block)
        raise ArgumentError, "a function needs a block, such as { |value| value > 1 }" unless block
        raise ArgumentError, "unknown types of arguments: #{takes.inspect}" unless (takes - TYPES).empty?
        raise ArgumentError, "unknown type of a result: #{returns.inspect}" unless %i[value logical].include?(returns)

        @takes = takes.freeze
        @returns = returns
        @body = shareable(block)
        freeze
      end

      # Calls the block.
      #
      #   Manypack::Path::Function.new(:value) { |n| n + 1 }.call(1) #=> 2
      def call(*arguments)
        takes
        @body.call(*arguments)
      end

      private

      # Ruby 3 shares a block only if the object that it belongs to is shareable.
      def shareable(block)
        Ractor.respond_to?(:shareable_proc) ? Ractor.shareable_proc(&block) : Ractor.make_shareable(block)
      rescue Ractor::IsolationError, ArgumentError
        block
      end
    end

    # The types of the functions of the standard, which the extension calls itself.
    StandardFunction = Struct.new(:takes, :returns)
    STANDARD = {
      length: StandardFunction.new(%i[value].freeze, :value).freeze,
      count: StandardFunction.new(%i[nodes].freeze, :value).freeze,
      match: StandardFunction.new(%i[value value].freeze, :logical).freeze,
      search: StandardFunction.new(%i[value value].freeze, :logical).freeze,
      value: StandardFunction.new(%i[nodes].freeze, :value).freeze
    }.freeze
    private_constant :StandardFunction, :STANDARD
  end
end

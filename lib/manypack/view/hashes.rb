# frozen_string_literal: true

#--
# The methods of Manypack::View that build a Hash or a Set from the bytes. Different keys with the same hash, such as
# NaNs, would make that take quadratic time, so these methods allow no more of them than unpacking does.
#++
module Manypack
  class View
    # Returns a Set of the elements, or of the block's results for them, as Enumerable#to_set does. Raises LimitError as
    # View#to_h does. Only the main Ractor of Ruby 3.1 can load "set": a program whose other Ractors call this has to
    # require it first.
    #
    #   Manypack::View.new(Manypack.pack([1, 1])).to_set #=> #<Set: {1}>
    def to_set(&block)
      require "set" unless defined?(::Set) # Bundler's require of Ruby 3.3 works in the main Ractor only
      elements = block ? map(&block) : to_a
      check_hashes(elements)
      elements.to_set
    end

    # Returns a Hash with the pairs of a map for which the block returns true, as Hash#select does; of an array the
    # elements, as Enumerable#select does. Containers are Views in it. Raises LimitError as View#to_h does.
    #
    #   Manypack::View.new(Manypack.pack({"a" => 1, "b" => 2})).select { |_, n| n > 1 } #=> {"b" => 2}
    def select(&block)
      type == :map ? pairs.select(&block) : super
    end
    alias filter select

    # Returns a Hash with the pairs of a map for which the block returns false, as Hash#reject does; of an array the
    # elements, as Enumerable#reject does. Raises LimitError as View#to_h does.
    #
    #   Manypack::View.new(Manypack.pack({"a" => 1, "b" => 2})).reject { |_, n| n > 1 } #=> {"a" => 1}
    def reject(&block)
      type == :map ? pairs.reject(&block) : super
    end

    # Returns a Hash with the pairs of a map whose values are not nil, as Hash#compact does; of an array the elements
    # that are not nil, as Array#compact does. Raises LimitError as View#to_h does.
    #
    #   Manypack::View.new(Manypack.pack({"a" => 1, "b" => nil})).compact #=> {"a" => 1}
    def compact
      type == :map ? pairs.compact : to_a.compact
    end

    # Returns the elements without those that are equal to an earlier one, as Enumerable#uniq does. Raises LimitError as
    # View#to_h does.
    #
    #   Manypack::View.new(Manypack.pack([1, 1])).uniq #=> [1]
    def uniq(&block)
      elements = to_a
      keys = block ? elements.map(&block) : elements
      check_hashes(keys)
      block ? keys.zip(elements).uniq(&:first).map(&:last) : keys.uniq
    end

    # Returns how often each element occurs, as Enumerable#tally does. Raises LimitError as View#to_h does.
    #
    #   Manypack::View.new(Manypack.pack(%w[a b a])).tally #=> {"a" => 2, "b" => 1}
    def tally(*counts)
      elements = to_a
      check_hashes(elements)
      elements.tally(*counts)
    end

    # Returns the elements grouped by the block's results for them, as Enumerable#group_by does. Raises LimitError as
    # View#to_h does.
    #
    #   Manypack::View.new(Manypack.pack([1, 2, 3])).group_by(&:odd?) #=> {true => [1, 3], false => [2]}
    def group_by(&block)
      return super unless block

      elements = to_a
      keys = elements.map(&block)
      check_hashes(keys)
      keys.zip(elements).group_by(&:first).transform_values { |group| group.map(&:last) }
    end

    private

    # Called by View#to_h with a block.
    def hash_by(block, options)
      made = (options ? changed(options) : self).map(&block)
      check_hashes(made.grep(Array).map(&:first))
      made.to_h
    end

    # Raises LimitError as unpacking does for a map with these keys that ends where the View does.
    def check_hashes(keys) = Arguments.check_key_hashes(keys, offset + bytesize)
  end
end

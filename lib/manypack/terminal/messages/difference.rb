# frozen_string_literal: true

# Finds what differs between two messages, as the canonical form sees it: a str and a bin are two keys, and so are 0.0
# and -0.0; all NaN are one value, and a time is the same in each of its widths.
module Manypack
  module Terminal
    class Difference
      Pairs = Twins::Pairs
      private_constant :Pairs

      # A step to a bin key, in a map that also has a str key with the same text.
      Bin = Struct.new(:bytes)

      class << self
        # Returns the value of a message: Ruby's objects; or Pairs and Elements, if different keys of a map would be the
        # same key in a Hash.
        def value(bytes)
          return Twins.tree(View.new(bytes, **OPTIONS)) unless plain?(bytes)

          Input::PLAIN.unpack(bytes)
        end

        # Returns the bytes that equal values have.
        def normal(value)
          bytes = Twins.packed(value)
          Manypack.canonicalize(bytes)
        rescue DecodeError
          bytes
        end

        private

        # Returns false if the message has no canonical form, because keys of a map are alike.
        def plain?(bytes)
          Manypack.canonicalize(bytes)
        rescue DecodeError
          false
        end
      end

      ABSENT = Object.new.freeze
      private_constant :ABSENT

      # Calls the block for each difference: with the steps to it, and an Array for each side, which has the value or is
      # empty. The Array of steps changes afterwards.
      def initialize(&block)
        @block = block
        @steps = []
      end

      # Compares Arrays with one value each, or none.
      def compare(left, right)
        return @block.call(@steps, left, right) if left.empty? || right.empty?

        compare_values(left.first, right.first)
      end

      private

      def compare_values(one, two)
        case one
        when Hash, Pairs then return compare_maps(one, two) if map?(two)
        when Array then return compare_arrays(one, two) if two.is_a?(Array)
        end
        @block.call(@steps, [one], [two]) unless same?(one, two)
      end

      # Compares the values of a step. Returns early for scalars that are the same.
      def compare_at(step, one, two)
        return if one.equal?(two) || (one.is_a?(String) && same?(one, two))

        @steps.push(step)
        compare_values(one, two)
        @steps.pop
      end

      # Reports what only one side has.
      def report(step, left, right) = at(step) { @block.call(@steps, left, right) }
      def map?(value) = value.is_a?(Hash) || value.is_a?(Pairs)

      def compare_maps(one, two)
        return compare_hashes(one, two) if simple_keys?(one) && simple_keys?(two)

        left = by_key(one)
        right = by_key(two)
        keys = [left, right].flat_map { |pairs| pairs.values.map { |(key, _), *| key } }
        texts = keys.grep(String).group_by(&:encoding)
        (left.keys | right.keys).each do |form|
          lists = [left[form] || [], right[form] || []]
          key = lists.flatten(1).first.first
          at(step_of(key, texts)) { compare_lists(*lists) }
        end
      end

      def step_of(key, texts)
        bin = key.is_a?(String) && key.encoding == Encoding::BINARY && texts.fetch(Encoding::UTF_8, []).include?(key)
        bin ? Bin.new(key) : key
      end

      # Returns true if a Hash distinguishes the keys as the canonical form does.
      def simple_keys?(map)
        return false unless map.is_a?(Hash)

        map.each_key { |key| return false unless simple_key?(key) }
        true
      end

      def simple_key?(key)
        case key
        when String then key.encoding == Encoding::UTF_8
        when Integer, nil, true, false then true
        end
      end

      def compare_hashes(one, two)
        one.each do |key, value|
          other = two.fetch(key, ABSENT)
          ABSENT.equal?(other) ? report(key, [value], []) : compare_at(key, value, other)
        end
        two.each { |key, value| report(key, [], [value]) unless one.key?(key) }
      end

      # Returns the pairs with each key, under its canonical form.
      def by_key(map)
        pairs = map.is_a?(Pairs) ? map.pairs : map.to_a
        pairs.group_by { |key, _| self.class.normal(key) }
      end

      # Compares pairs with the same key. The last of them is what a reader finds; those before it are hidden.
      def compare_lists(left, right)
        left = left.reverse
        right = right.reverse
        [left.size, right.size].max.times do |i|
          compare(left[i] ? [left[i].last] : [], right[i] ? [right[i].last] : [])
        end
      end

      def compare_arrays(one, two)
        both = [one.size, two.size].min
        both.times { |i| compare_at(i, one[i], two[i]) }
        (both...one.size).each { |i| report(i, [one[i]], []) }
        (both...two.size).each { |i| report(i, [], [two[i]]) }
      end

      def at(step)
        @steps.push(step)
        yield
        @steps.pop
      end

      def same?(one, two)
        case one
        when Integer, nil, true, false then one.eql?(two)
        when String then two.is_a?(String) && one.encoding == two.encoding && one == two
        when Float then two.is_a?(Float) && same_float?(one, two)
        else one.class == two.class && self.class.normal(one) == self.class.normal(two)
        end
      end

      def same_float?(one, two)
        return one.nan? && two.nan? if one.nan? || two.nan?

        one == two && (!one.zero? || (1 / one) == (1 / two))
      end
    end
  end
end

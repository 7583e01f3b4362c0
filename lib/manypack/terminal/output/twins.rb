# frozen_string_literal: true

# Values of messages with twins: keys of one map that would be the same key in a Hash, such as "a" as str and as bin, or
# a key that comes twice. Keeps all pairs, and shows them as Ruby would.
module Manypack
  module Terminal
    module Twins
      # A map, as an Array of pairs, and its bytes.
      Pairs = Struct.new(:pairs, :bytes) do
        def inspect
          "{#{pairs.map { |key, value| "#{key.inspect}#{ARROW}#{value.inspect}" }.join(", ")}}"
        end
      end

      # An array in such a message, and its bytes.
      class Elements < Array
        attr_accessor :bytes
      end

      # The arrow that Ruby writes between a key and its value; it has spaces since Ruby 3.4.
      ARROW = {0 => 0}.inspect[2..-3].freeze

      module_function

      # Returns the value of a packed message, with Pairs and Elements instead of Hashes and Arrays if it has twins.
      # strict:: a Codec that refuses a key twice
      # options:: of a View
      def value(bytes, strict, **options)
        strict.unpack(bytes)
      rescue MalformedFormatError
        strict.with(duplicate_keys: :last).unpack(bytes) # raises for any other error
        tree(View.new(bytes, **options))
      end

      # Returns the packed bytes of a value, which may be Pairs or Elements.
      def packed(value)
        value.is_a?(Pairs) || value.is_a?(Elements) ? value.bytes : Manypack.pack(value, max_depth: OPTIONS[:max_depth])
      end

      # Takes a View of a whole message, which may be a scalar, or a part of it.
      def tree(value)
        return value unless value.is_a?(View)

        case value.type
        when :map then Pairs.new(value.each_pair.map { |key, inner| [tree(key), tree(inner)] }, Manypack.pack(value))
        when :array
          Elements.new(value.each.map { |element| tree(element) }).tap { |array| array.bytes = Manypack.pack(value) }
        else value.value
        end
      end
    end
  end
end

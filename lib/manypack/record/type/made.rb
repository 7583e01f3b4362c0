# frozen_string_literal: true

#--
# Types that have no name in Ruby: text and bytes, tuples, and classes that travel as another type.
#++
require_relative "texts"

module Manypack
  class Type
    class << self
      # Returns the Type of a str that is valid UTF-8; a bin is refused. With a class, the text is loaded as an object
      # of that class:
      #
      # Time:: <code>"2030-01-31T12:00:00.5+09:00"</code> (RFC 3339), up to nanoseconds
      # Date:: <code>"2030-01-31"</code>
      # BigDecimal:: <code>"-12.50"</code>, without an exponent
      # URI:: an absolute URI of at most 2,048 characters
      # Symbol:: the text, as a Symbol
      # IPAddr:: one address of IPv4 or IPv6, and no network
      #
      # Load the library of the class before. Raises ArgumentError for any other class.
      #
      #   Manypack::Type.text.load("\xA3abc")          #=> "abc"
      #   Manypack::Type.text(Symbol).load("\xA3abc")  #=> :abc
      def text(klass = nil)
        Arguments.refuse_block(self, :text) if block_given?
        Arguments.at_the_call { Spec.made_of(klass.nil? ? [:text] : Texts.spec(klass), []) }
      end

      # Returns the Type of a bin, which becomes a binary String; a str is refused. A String of any encoding is dumped
      # as a bin. In JSON it is text in base64.
      #
      #   Manypack::Type.bytes.load("\xC4\x01\xFF") #=> "\xFF"
      def bytes
        Arguments.refuse_block(self, :bytes) if block_given?
        Spec.made_of([:bytes], [])
      end

      # Returns the Type of an array that has exactly as many elements as there are types, each of its type.
      #
      #   Manypack::Type.tuple(Float, Float).load(Manypack.pack([1.5, 2.5])) #=> [1.5, 2.5]
      def tuple(*types)
        Arguments.refuse_block(self, :tuple) if block_given?
        Arguments.at_the_call { Spec.made_of([:tuple, types.map { |type| Spec.of(type) }], types) }
      end

      # Returns the Type of text that is a UUID.
      #
      #   Manypack::Type.uuid === "0f0e0d0c-0b0a-0908-0706-050403020100" #=> true
      def uuid
        Arguments.refuse_block(self, :uuid) if block_given?
        Spec.made_of(Texts::UUID, [])
      end

      # Returns the Type of a Set, which travels as an array without repeated elements.
      #
      #   Manypack::Type.set(Integer).load("\x92\x01\x02") #=> #<Set: {1, 2}>
      def set(type)
        Arguments.refuse_block(self, :set) if block_given?
        Arguments.at_the_call do
          require "set" unless defined?(::Set) # Bundler's require of Ruby 3.3 works in the main Ractor only
          via = [:via, ::Set, *Texts::SET, "an Array of unique elements", {}]
          Spec.made_of([:ruled, [:list, Spec.of(type)], [[:unique], via]], [type])
        end
      end

      # Returns the Type of a class whose objects travel as another type.
      #
      # klass:: the class, or a module, of the objects
      # type:: the type of the value in the message
      # load:: a Proc, or anything with +call+, that makes an object of a loaded value
      # dump:: the same for making a value of an object; without it, the Type only loads
      #
      # If +load+ raises a StandardError, or returns no object of the class, the value is refused with a RecordError,
      # whose +cause+ is that error. An object for which +dump+ raises a StandardError is refused in the same way.
      # Ractors can share the Type if they can share both. Raises ArgumentError without +load+, and for anything that is
      # no class, no type or cannot be called.
      #
      #   Cents = Struct.new(:count)
      #   CENTS = Manypack::Type.via(Cents, Integer, load: ->(count) { Cents.new(count) }, dump: ->(one) { one.count })
      #   CENTS.load("\x05")         #=> #<struct Cents count=5>
      #   CENTS.dump(Cents.new(5))   #=> "\x05"
      def via(klass, type, load: nil, dump: nil)
        Arguments.refuse_block(self, :via) if block_given?
        Arguments.at_the_call do
          raise ArgumentError, "#{klass.inspect} is no class" unless klass.is_a?(Module)

          rule = [:via, klass, callback(:load, load), dump && callback(:dump, dump)]
          Spec.made_of([:ruled, Spec.of(type), [rule]], [type])
        end
      end

      private

      def callback(name, callable)
        return Callback.new(callable) if callable.respond_to?(:call)

        raise ArgumentError, "via needs #{name}: something to call, as in #{name}: ->(value) { ... }, " \
                             "got #{callable.inspect}"
      end
    end
  end
end

# frozen_string_literal: true

#--
# Keys, defaults and what becomes of unknown keys: the options of Record#with that are about members.
#++
module Manypack
  class Record < Type
    # The options of a Record that are about its members.
    class Options # :nodoc:
      # The default values, by member.
      attr_reader :defaults

      # What becomes of unknown keys: :skip, :raise, or a Hash with the member that gets them.
      attr_reader :unknown

      def initialize(keys, defaults, unknown)
        @keys = keys
        @defaults = defaults.freeze
        @unknown = unknown
        freeze
        Ractor.make_shareable(self) if @defaults.each_value.all? { |value| Ractor.shareable?(value) }
      end

      NONE = new({}, {}, :skip)

      # Returns a key or a value as messages have it: Symbols are written as Strings, and Strings are copied.
      def self.text(key)
        case key
        when ::Symbol then utf8(key.name)
        when String then -utf8(key)
        else key
        end
      end

      # The text as it is packed. Raises ArgumentError for text that cannot be converted to UTF-8.
      def self.utf8(text)
        text.encoding == Encoding::BINARY ? text : text.encode(Encoding::UTF_8)
      rescue EncodingError => error
        raise ArgumentError, "#{text.inspect} is no UTF-8: #{error.message}"
      end
      private_class_method :utf8

      # True for a default that is called for each object.
      def self.called?(default)
        default.respond_to?(:call)
      end

      # Returns Options with those changed that are not nil. types has the Type of each member.
      def with(klass, types, keys, defaults, unknown)
        [keys, defaults].compact.each { |hash| Members.check_names(klass, types.keys, hash.keys) }
        keys = keys.to_h.transform_values { |list| Options.checked_keys(list) }
        defaults = defaults.to_h.transform_values { |value| checked_default(value) }
        Options.new(@keys.merge(keys), @defaults.merge(defaults),
                    unknown ? checked_unknown(klass, types, unknown) : @unknown)
      end

      # Returns the keys of a member: the first is written, all are read.
      def keys_of(member)
        @keys[member] || [member.name]
      end

      def state
        [@keys, @defaults, @unknown]
      end

      # Returns the keys in a list, at least one. Raises ArgumentError for what cannot be a key.
      def self.checked_keys(list)
        list = Array(list).map { |key| text(key) }
        return list if !list.empty? && list.all? { |key| key?(key) }

        raise ArgumentError, "keys must be Strings or Integers of 64 bits, got #{list.inspect}"
      end

      def self.key?(key)
        key.is_a?(String) ? key.encoding != Encoding::BINARY : key.is_a?(Integer) && (-2**63...2**63).cover?(key)
      end
      private_class_method :key?

      private

      # A frozen copy. A Record is not shareable if it has a Proc that is not.
      def checked_default(value)
        value.is_a?(Proc) ? Ractor.make_shareable(value.dup) : Ractor.make_shareable(value, copy: true)
      rescue Ractor::Error, ArgumentError, ::TypeError
        raise unless Options.called?(value)

        value
      end

      def checked_unknown(klass, types, unknown)
        return unknown if %i[skip raise].include?(unknown)
        unless unknown.is_a?(Hash) && unknown.keys == [:into]
          raise ArgumentError, "unknown must be :skip, :raise or {into: member}, got #{unknown.inspect}"
        end

        Members.check_names(klass, types.keys, unknown.values)
        unknown.dup
      end
    end
    private_constant :Options
  end
end

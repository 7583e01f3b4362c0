# frozen_string_literal: true

#--
# Keys, defaults and what becomes of unknown keys: the options of Record#with that are about members.
#++
module Manypack
  class Record < Type
    # The options of a Record that are about its members.
    class Options # :nodoc:
      # @return [Hash{Symbol => Object}]
      attr_reader :defaults

      # @return [Symbol, Hash]
      attr_reader :unknown

      def initialize(keys, defaults, unknown)
        @keys = keys
        @defaults = defaults
        @unknown = unknown
        Ractor.make_shareable(self)
      end

      NONE = new({}, {}, :skip)

      # @return [Object] a key or a value as messages have it: Symbols are written as Strings, and Strings are copied
      def self.text(key)
        case key
        when ::Symbol then key.name
        when String then -key
        else key
        end
      end

      # @param types [Hash{Symbol => Type}] of the members
      # @return [Options] with those changed that are not nil
      def with(klass, types, keys, defaults, unknown)
        [keys, defaults].compact.each { |hash| Members.check_names(klass, types.keys, hash.keys) }
        Options.new(keys ? @keys.merge(keys.transform_values { |list| Options.checked_keys(list) }) : @keys,
                    defaults ? @defaults.merge(Ractor.make_shareable(defaults, copy: true)) : @defaults,
                    unknown ? checked_unknown(klass, types, unknown) : @unknown)
      end

      # @return [Array<String, Integer>] the first is written, all are read
      def keys_of(member)
        @keys[member] || [member.name]
      end

      def state
        [@keys, @defaults, @unknown]
      end

      # @return [Array<String, Integer>] at least one
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

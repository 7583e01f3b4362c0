# frozen_string_literal: true

#--
# The options of Record#with that are about members: keys, defaults and unknown.
#++
module Manypack
  class Record < Type
    class Options # :nodoc:
      # The default values, a Hash of members and objects.
      attr_reader :defaults

      # What to do with unknown keys: :skip, :raise, or a Hash with :into.
      attr_reader :unknown

      # The members whose default value every object gets a copy of, an Array of Symbols.
      attr_reader :copied

      def initialize(keys, defaults, unknown, copied)
        @keys = keys
        @defaults = defaults.freeze
        @unknown = unknown
        @copied = copied.freeze
        freeze
        Ractor.make_shareable(self) if @defaults.each_value.all? { |value| Ractor.shareable?(value) }
      end

      NONE = new({}, {}, :skip, [])

      # Makes a copy of a default value for each object.
      class Copies
        def initialize(value)
          @value = value
          freeze
        end

        def call = copy(@value)

        private

        def copy(value)
          case value
          when String then value.dup
          when Array then value.map { |element| copy(element) }
          when Hash then value.transform_values { |element| copy(element) }
          else value
          end
        end
      end

      # Returns a key or a tag as messages have it: a Symbol as a String, and a String as a frozen copy.
      def self.text(key)
        case key
        when ::Symbol then utf8(key.name)
        when String then -utf8(key)
        else key
        end
      end

      # Returns the text as it is packed. Raises ArgumentError for text that cannot be converted to UTF-8.
      def self.utf8(text)
        text.encoding == Encoding::BINARY ? text : text.encode(Encoding::UTF_8)
      rescue EncodingError => error
        raise ArgumentError, "#{text.inspect} is no UTF-8: #{error.message}"
      end
      private_class_method :utf8

      # Returns true for a default that is called for each object.
      def self.called?(default)
        default.respond_to?(:call)
      end

      # Returns true for a value that its program can change, and will expect to.
      def self.mutable?(value)
        [String, Array, Hash].include?(value.class) && !value.frozen?
      end

      # Returns a copy with the options changed that are not nil. +types+ are those of the members, a Hash.
      def with(klass, types, keys, defaults, unknown)
        keys, defaults = [keys, defaults].map { |hash| hash && Members.by_name(hash) }
        [keys, defaults].compact.each { |hash| Members.check_names(klass, types.keys, hash.keys) }
        keys = keys.to_h.transform_values { |list| Options.checked_keys(list) }
        copied = (@copied - defaults.to_h.keys) | defaults.to_h.select { |_, value| Options.mutable?(value) }.keys
        defaults.to_h.each { |member, value| check_type(member, types[member], value) }
        defaults = defaults.to_h.to_h { |member, value| [member, checked_default(member, value)] }
        Options.new(@keys.merge(keys), @defaults.merge(defaults),
                    unknown ? checked_unknown(klass, types, unknown) : @unknown, copied.sort)
      end

      # Returns the options as Record#with takes them, without those that are the default, a Hash.
      def to_h
        { keys: @keys, defaults: @defaults, unknown: @unknown }.reject { |_, value| value == {} || value == :skip }
      end

      # Returns the keys of a member, Strings or Integers: the first is written, all are read.
      def keys_of(member)
        @keys[member] || [member.name]
      end

      def state
        [@keys, @defaults, @unknown, @copied]
      end

      # Returns an Array of one or more keys. Raises ArgumentError for anything that cannot be a key.
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

      # Raises ArgumentError for a default value that a message could not have in that place. nil says that nothing was
      # there, and what cannot be packed alone, without the Codec of the Record, is not known. Of objects with Records
      # in them only the classes are checked, because loading would call initialize, which may do more than build.
      def check_type(member, type, value)
        return if value.nil? || ABSENT.equal?(value) || Options.called?(value)

        bytes = type.dump(value, check: false)
        container = %i[map array].include?(View.new(bytes).type)
        type.load(bytes) unless container && Type.const_get(:Spec).records?(type.spec)
      rescue RecordError, EncodeError::TypeError => error
        return if error.cause # code of the class raised it

        raise ArgumentError, "the default of #{member} is of another type: #{error.message}", cause: nil
      rescue Error, ArgumentError
        nil
      end

      # Returns a frozen copy. An object with +call+ that Ractors cannot share is returned as it is: then the Record is
      # not shareable either.
      def checked_default(member, value)
        value.is_a?(Proc) ? Ractor.make_shareable(value.dup) : Ractor.make_shareable(value, copy: true)
      rescue Ractor::Error, ArgumentError, ::TypeError => error
        return value if Options.called?(value)

        raise ArgumentError, "the default of #{member} cannot be shared by all objects (#{error.message}): give a " \
                             "Proc that makes one for each, as in -> { Hash.new(0) }"
      end

      def checked_unknown(klass, types, unknown)
        return unknown if %i[skip raise].include?(unknown)
        unless unknown.is_a?(Hash) && unknown.keys == [:into]
          raise ArgumentError, "unknown must be :skip, :raise or {into: member}, got #{unknown.inspect}"
        end

        into = Members.symbol_of(unknown[:into])
        Members.check_names(klass, types.keys, [into])
        return { into: into } if Type.const_get(:Spec).hash?(types[into].spec)

        raise ArgumentError, "#{into} takes unknown keys as a Hash: its type must be Hash, Object or one such as " \
                             "{String => Integer}, not #{types[into].inspect}"
      end
    end
    private_constant :Options
  end
end

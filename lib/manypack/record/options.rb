# frozen_string_literal: true

#--
# The options of Record#with that are about members: their keys and defaults, and which of them are in a message.
#++
module Manypack
  class Record < Type
    class Options # :nodoc:
      NAMES = %i[keys aliases defaults unknown omit load_only dump_only].freeze

      # The default values, a Hash of members and objects.
      attr_reader :defaults

      # What to do with unknown keys: :skip, :raise, or a Hash with :into.
      attr_reader :unknown

      # The members with a default value that is copied for each object, an Array of Symbols.
      attr_reader :copied

      # The members that are never written, and those that are never read: Arrays of Symbols.
      attr_reader :load_only, :dump_only

      # +names+ are the keys that the style gives to members without an entry in +keys+. The style is a Symbol, a Proc
      # that Ractors can share, or false for a Proc that they cannot share.
      def initialize(keys: {}, style: nil, names: {}, aliases: {}, defaults: {}, unknown: :skip, copied: [], omit: nil,
                     load_only: [], dump_only: [])
        @keys, @style, @names, @aliases, @unknown, @omit = keys, style, names, aliases, unknown, omit
        @defaults, @copied, @load_only, @dump_only = [defaults, copied, load_only, dump_only].each(&:freeze)
        freeze
        Ractor.make_shareable(self) if @defaults.each_value.all? { |value| Ractor.shareable?(value) }
      end

      NONE = new

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

      def self.called?(default) = default.respond_to?(:call)

      # Returns true for a value that its program can change, and will expect to.
      def self.mutable?(value) = [String, Array, Hash].include?(value.class) && !value.frozen?

      # Returns a copy with the given options changed. The +types+ of the members +again+ may have changed.
      def with(klass, types, keys: nil, aliases: nil, defaults: nil, unknown: nil, again: [], **presence)
        style, keys = keys.nil? ? [nil, {}] : KeyNames.parts(keys)
        aliases, defaults = [aliases, defaults].map { |hash| hash.nil? ? {} : Members.by_name(hash) }
        [keys, aliases, defaults].each { |hash| Members.check_names(klass, types.keys, hash.keys) }
        keys, aliases = [keys, aliases].map { |hash| checked(hash) }
        copied = (@copied - defaults.keys) | defaults.select { |_, value| Options.mutable?(value) }.keys
        { **@defaults.slice(*again), **defaults }.each { |member, value| check_type(member, types[member], value) }
        defaults = defaults.to_h { |member, value| [member, checked_default(member, value)] }
        keys = @keys.merge(keys)
        style, names = named(style, types.keys, keys)
        Options.new(keys: keys, style: style, names: names, aliases: @aliases.merge(aliases), copied: copied.sort,
                    defaults: @defaults.merge(defaults), unknown: checked_unknown(klass, types, unknown || @unknown),
                    **presence(klass, types.keys, **presence)).check_keys(types.keys)
      end

      def one_way? = !(@load_only.empty? && @dump_only.empty?)

      # Returns true if a missing member without a default is nil: it is never read, or dump leaves it out if it is nil.
      def implies_nil?(member, type)
        @dump_only.include?(member) || (@omit == :nil && Type.const_get(:Spec).nullable?(type.spec))
      end

      # Returns true if dump leaves out a member that has its default value, because loading gives it back.
      def omits?(default)
        return true if ABSENT.equal?(default)

        @omit == :nil ? default.nil? : @omit == :defaults && !Options.called?(default)
      end

      def check_keys(members)
        owners = {}
        members -= [@unknown[:into]] if @unknown.is_a?(Hash)
        members.each do |member|
          keys_of(member).each do |key|
            raise ArgumentError, clash(owners[key], member, key) if owners.key?(key)

            owners[key] = member
          end
        end
        self
      end

      # Returns the options as Record#with takes them, without those that are the default, a Hash.
      def to_h
        { keys: told_keys, aliases: @aliases, defaults: @defaults, unknown: @unknown, omit: @omit,
          load_only: @load_only, dump_only: @dump_only }.reject { |_, value| [{}, [], :skip, nil].include?(value) }
      end

      # Returns the keys of a member, Strings or Integers: the first is written, all are read.
      def keys_of(member)
        keys = @keys[member] || @names[member] || [member.name]
        aliases = @aliases[member]
        aliases ? keys + aliases : keys
      end

      def state
        [@keys, @names, @aliases, @defaults, @unknown, @copied, @omit, @load_only, @dump_only]
      end

      # Returns an Array of one or more keys. Raises ArgumentError for anything that cannot be a key.
      def self.checked_keys(list, member = nil)
        list = Array(list).map { |key| text(key) }
        return list if !list.empty? && list.all? { |key| key?(key) }

        of = " of #{member}" if member
        raise ArgumentError, "keys#{of} must be Strings or Integers of 64 bits, got #{list.inspect}"
      end

      def self.key?(key)
        key.is_a?(String) ? key.encoding != Encoding::BINARY : key.is_a?(Integer) && (-2**63...2**63).cover?(key)
      end
      private_class_method :key?

      private

      # Returns the style and the keys by it. A new style names all members, the previous one only those that are new.
      def named(style, members, keys)
        named = style ? {} : @names
        style ||= @style
        new = style.nil? ? [] : members - named.keys
        raise ArgumentError, needs_style(new - keys.keys) if style == false && !(new - keys.keys).empty?

        names = new.to_h { |member| [member, Options.checked_keys(KeyNames.key(style, member), member)] } if style
        [style.is_a?(::Symbol) ? style : shared(style), named.merge(names.to_h)]
      end

      # Returns a Proc that can be shared, which a Record that extends this one calls for its own members.
      def shared(style)
        style && Ractor.make_shareable(style.is_a?(Proc) ? style.dup : style)
      rescue Ractor::Error, ArgumentError, ::TypeError
        false
      end

      def needs_style(members)
        "the Proc that makes keys uses variables from outside, so it is not kept: give keys: for " \
          "#{members.join(", ")}, too"
      end

      def told_keys
        return @names.merge(@keys) unless @style.is_a?(::Symbol)

        @keys.empty? ? @style : [@style, @keys]
      end

      def checked(keys)
        keys.to_h { |member, list| [member, Options.checked_keys(list, member)] }
      end

      def clash(one, other, key)
        return "#{one} has the key #{key.inspect} twice" if one == other

        "#{one} and #{other} have the same key #{key.inspect}"
      end

      # Raises ArgumentError for a default that the type refuses. nil is always allowed, and what only the Codec of the
      # Record can pack is not checked. Objects of Records are not loaded: only their class is checked.
      def check_type(member, type, value)
        return if value.nil? || ABSENT.equal?(value) || Options.called?(value)

        bytes = packed(type, value)
        bytes.nil? || Type.const_get(:Spec).records?(type.spec) ? type.from(value) : type.load(bytes)
      rescue RecordError, EncodeError::TypeError => error
        raise ArgumentError, "the default of #{member} is of another type: #{error.message}", cause: nil
      rescue Error, ArgumentError
        nil
      end

      def packed(type, value)
        type.dump(value, check: false)
      rescue EncodeError::NoMethodError
        nil # the Codec of the Record may know its class
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

      # Returns those of the options that say which members are in a message.
      def presence(klass, members, omit: nil, load_only: nil, dump_only: nil)
        load_only, dump_only = [load_only || @load_only, dump_only || @dump_only].map { |names| checked_names(names) }
        Members.check_names(klass, members, load_only | dump_only)
        both = (load_only & dump_only).first
        raise ArgumentError, "#{both} cannot be both load_only and dump_only" if both
        unless [nil, :nil, :defaults].include?(omit)
          raise ArgumentError, "omit must be :nil or :defaults, got #{omit.inspect}"
        end

        { omit: omit || @omit, load_only: load_only, dump_only: dump_only }
      end

      def checked_names(names)
        raise ::TypeError, "expected an Array of members, got #{names.class}" unless names.is_a?(Array)

        names.map { |name| Members.symbol_of(name) }.uniq
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

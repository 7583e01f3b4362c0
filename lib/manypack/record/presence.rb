# frozen_string_literal: true

#--
# The options of Record#with that say which members are in a message: omit, load_only and dump_only.
#++
module Manypack
  class Record < Type
    class Presence # :nodoc:
      # The options of Record#with that are kept here.
      NAMES = %i[omit load_only dump_only].freeze

      attr_reader :omit, :load_only, :dump_only

      def initialize(omit, load_only, dump_only)
        @omit = omit
        @load_only = load_only.freeze
        @dump_only = dump_only.freeze
        freeze
      end

      NONE = new(nil, [], [])

      # Returns a copy with the options changed that are not nil.
      def with(klass, members, omit, load_only, dump_only)
        load_only, dump_only = [load_only || @load_only, dump_only || @dump_only].map { |names| named(names) }
        Members.check_names(klass, members, load_only | dump_only)
        both = (load_only & dump_only).first
        raise ArgumentError, "#{both} cannot be both load_only and dump_only" if both

        Presence.new(checked_omit(omit), load_only, dump_only)
      end

      # Returns true if some members are only read, or only written.
      def one_way? = !(@load_only.empty? && @dump_only.empty?)

      # Returns true if a missing member without a default is nil: it is never read, or dump leaves it out if it is nil.
      def implies_nil?(member, type)
        @dump_only.include?(member) || (@omit == :nil && Type.const_get(:Spec).nullable?(type.spec))
      end

      # Returns a part of the member's node. +default+ is the default value in an Array, or nil. Dump leaves out a
      # member with the value +omitted+, because loading gives it back.
      def field(member, default)
        value, = default
        { load_only: @load_only.include?(member), dump_only: @dump_only.include?(member),
          **(default && omits?(value) ? { omitted: value } : {}) }
      end

      # Returns the options as Record#with takes them, without those that are the default, a Hash.
      def to_h
        { omit: @omit, load_only: @load_only, dump_only: @dump_only }.reject { |_, value| value.nil? || value == [] }
      end

      private

      def omits?(default)
        return true if ABSENT.equal?(default)

        @omit == :nil ? default.nil? : @omit == :defaults && !Options.called?(default)
      end

      def named(names)
        raise ::TypeError, "expected an Array of members, got #{names.class}" unless names.is_a?(Array)

        names.map { |name| Members.symbol_of(name) }.uniq
      end

      def checked_omit(omit)
        return omit || @omit if [nil, :nil, :defaults].include?(omit)

        raise ArgumentError, "omit must be :nil or :defaults, got #{omit.inspect}"
      end
    end
    private_constant :Presence
  end
end

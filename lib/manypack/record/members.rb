# frozen_string_literal: true

#--
# The members of a Record, checked against its class.
#++
module Manypack
  class Record < Type
    # Checks the members that a Record is made of.
    module Members # :nodoc:
      # Returns the Record to extend, or nil; the members; and the Hash of options that +with+ has, or nil.
      def self.given(types, members)
        base = Arguments.type_of(types)
        check_base(types, base)
        members = named(base ? nil : types, members)
        options = members[:with]
        return [base, members, nil] unless options.is_a?(Hash) && options.keys.all?(::Symbol) # else a type

        [base, members.except(:with), options]
      end

      # Raises TypeError for a class without a Record, and for a Type that is no Record.
      def self.check_base(types, base)
        return if base.is_a?(Record) || (base.nil? && !types.is_a?(Module))

        raise ::TypeError, "#{types.inspect} #{base ? "is" : "has"} no Record that could be extended"
      end
      private_class_method :check_base

      # Returns the members in two Hashes; the first may be nil. Their names may be Strings.
      def self.named(types, members)
        unless types.nil? || types.is_a?(Hash)
          raise ::TypeError, "expected a Hash of members and types, got #{types.class}"
        end

        by_name({ **types.to_h, **members })
      end

      # Returns the Hash with Symbols as keys. Raises ArgumentError for a member that comes twice.
      def self.by_name(hash)
        raise ::TypeError, "expected a Hash of members, got #{hash.class}" unless hash.is_a?(Hash)

        named = hash.transform_keys { |key| symbol_of(key) }
        raise ArgumentError, "a member comes twice: #{hash.keys.inspect}" if named.size < hash.size

        named
      end

      def self.symbol_of(name) = name.is_a?(String) ? name.to_sym : name

      # Names of options, which are members here.
      OPTIONS = [*Options::NAMES, :check, :codec, *Arguments::CODEC_OPTIONS].freeze
      private_constant :OPTIONS

      # Checks the members against the class, and returns them with their Types, a Hash.
      def self.check(klass, members, build)
        Build.filled?(klass) && build != :ivars ? check_members(klass, members.keys) : refuse_options(members)
        check_ivars(members) if build == :ivars
        types = members.to_h { |name, type| [name, type_of(name, type)] }.freeze
        Readers.check(klass, types, build)
        types
      end

      def self.check_members(klass, names)
        option = (names - klass.members).find { |name| OPTIONS.include?(name) }
        raise ArgumentError, "#{klass.inspect} has no member #{option}: #{hint(option)}" if option

        check_names(klass, klass.members, names)
        missing = klass.members - names
        return if missing.empty?

        raise ArgumentError, "#{klass.inspect} has members without a type: #{missing.join(", ")} " \
                             "(Object takes anything)"
      end

      # Raises ArgumentError for a member that is probably meant as an option, because its type is true, false or nil.
      def self.refuse_options(members)
        name, type = members.find { |one, value| OPTIONS.include?(one) && [true, false, nil].include?(value) }
        return unless name

        raise ArgumentError, "#{name}: #{type.inspect} would be a member that is always #{type.inspect}: " \
                             "#{hint(name)}, and the type of such a member is Manypack::Type[#{type.inspect}]"
      end

      def self.type_of(name, type)
        Type[type]
      rescue ArgumentError => error
        raise unless OPTIONS.include?(name)

        raise ArgumentError, "#{error.message}; #{hint(name)}", cause: nil
      end

      def self.hint(name)
        "options are arguments of with, as in with: {#{name}: ...} or record.with(#{name}: ...)"
      end
      private_class_method :check_members, :type_of, :hint

      def self.check_ivars(members)
        wrong = members.keys.find { |name| !name.match?(/\A[[:alpha:]_][[:alnum:]_]*\z/) }
        raise ArgumentError, "@#{wrong} cannot be an instance variable" if wrong
      end

      # Raises ArgumentError for a name that is not among +known+, the members of klass.
      def self.check_names(klass, known, names)
        names.each do |name|
          next if known.include?(name)

          similar = Guesses.similar(name, known)
          raise ArgumentError, "#{klass.inspect} has no member #{name}#{", did you mean #{similar}?" if similar}"
        end
      end
    end
    private_constant :Members
  end
end

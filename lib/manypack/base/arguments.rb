# frozen_string_literal: true

#--
# Checks of arguments, and the error messages for unknown ones.
#++
module Manypack
  # Checks the arguments of Manypack's own methods, in Ruby and in the extension. manypack/drop_in sets the constant
  # DROP_IN here. From then on, the methods that the msgpack gem also has accept what that gem accepts. It is a constant
  # because every Ractor can read one, and because it is set only once.
  module Arguments # :nodoc:
    # Raises ArgumentError for options other than the known ones, an Array of Symbols.
    def self.check_options(options, known)
      unknown = options.keys - known
      raise ArgumentError, unknown_options(unknown, known) unless unknown.empty?
    end

    # Returns the Codec that a method got as +codec+, changed by its other options. Raises ArgumentError for unknown
    # options, and the errors of check_codec and Codec#with. +own+ are options of the method itself, which the error may
    # suggest.
    def self.codec(codec, options, *own)
      check_options(options, [:codec, *own, *CODEC_OPTIONS])
      check_codec(codec)
      codec.with(**options)
    end

    # Raises TypeError for anything but a Codec.
    def self.check_codec(codec)
      raise ::TypeError, "wrong argument type #{codec.class} (expected #{Codec})" unless codec.is_a?(Codec)
    end

    # Returns true if the methods that the msgpack gem also has accept what that gem accepts.
    def self.lenient?
      const_defined?(:DROP_IN, false)
    end

    # Core classes whose direct instances are packed before ext types are looked up. The text says how they are packed,
    # and what can be an ext type instead.
    CORE_CLASSES = Ractor.make_shareable({
      ::NilClass => "nil", ::TrueClass => "true", ::FalseClass => "false", ::Float => "float",
      ::Integer => "int; with oversized_integer_extension: true, Integers that do not fit can be an ext type",
      ::String => "str or bin; a subclass of it can be an ext type",
      ::Array => "array; a subclass of it can be an ext type",
      ::Hash => "map; a subclass of it can be an ext type"
    })

    # Raises ArgumentError for a class whose instances are never packed as an ext type.
    def self.check_class(klass)
      kind = CORE_CLASSES[klass]
      raise ArgumentError, "#{klass} is always packed as #{kind}" if kind
    end

    # Returns true if +types+, a list of registered types, has the ext type, an Integer, or the class. A class also
    # counts if it inherits or includes a registered one, because its instances are packed as that type. With +exact+ it
    # does not: an Unpacker's type packs nothing, and its class may be nil. Raises ArgumentError for anything else.
    def self.registered?(types, klass_or_type, exact: false)
      case klass_or_type
      when Integer then types.any? { |entry| klass_or_type == entry[:type] }
      when Module then types.any? { |entry| exact ? klass_or_type == entry[:class] : klass_or_type <= entry[:class] }
      else raise ArgumentError, "class or type id"
      end
    end

    # Returns the warning for a type that is registered for another class than before, or nil. A class of the same name
    # is not another class, because a reload creates the class again. +registered+ is an Array of pairs of type and
    # class.
    def self.change_of_class(registered, type, klass)
      before = registered.find { |number, _| number.eql?(type) }&.last
      return if before.nil? || klass.nil? || before.equal?(klass) || before.name&.==(klass.name)

      "ext type #{type} was unpacked as #{before}, and is unpacked as #{klass} from now on"
    end

    # The message of the ArgumentError for unknown keys.
    def self.unknown_options(unknown, known)
      names = unknown.map { |key| key.is_a?(Symbol) ? key.inspect.delete_prefix(":") : key.inspect }
      "unknown option#{"s" if unknown.size > 1} #{names.join(", ")}#{hint(unknown, known)}"
    end

    def self.hint(unknown, known)
      meant = unknown.filter_map { |key| similar(key, known) }
      return "; known options are #{known.join(", ")}" if meant.empty?
      return ", did you mean #{meant.join(", ")}?" unless unknown.any?(String)

      ", options are Symbols: #{meant.map { |name| "#{name}:" }.join(", ")}"
    end

    # Returns the known option that has the name of the key or resembles it, or nil.
    def self.similar(key, known)
      return unless (key.is_a?(Symbol) || key.is_a?(String)) && key.to_s.ascii_only?

      same = known.find { |name| name.name == key }
      return same if same || !defined?(DidYouMean::SpellChecker)

      DidYouMean::SpellChecker.new(dictionary: known).correct(key).first
    end
    private_class_method :hint, :similar
  end
  private_constant :Arguments
end

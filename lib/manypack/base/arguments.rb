# frozen_string_literal: true

#--
# Checks of arguments, and the messages for those that no method knows.
#++
module Manypack
  # For Manypack's own methods, in Ruby and in the extension. manypack/drop_in sets the constant DROP_IN here; methods
  # that MessagePack has too then accept what the msgpack gem accepts. It is a constant because every Ractor can read
  # one, and it is set only once.
  module Arguments # :nodoc:
    # Raises ArgumentError for options other than the known ones, an Array of Symbols.
    def self.check_options(options, known)
      unknown = options.keys - known
      raise ArgumentError, unknown_options(unknown, known) unless unknown.empty?
    end

    # Returns the Codec that a method got as +codec+, changed by the options beside it. Raises ArgumentError for unknown
    # ones, and suggests the method's own ones, too; and what check_codec and Codec#with raise.
    def self.codec(codec, options, *own)
      check_options(options, [:codec, *own, *CODEC_OPTIONS])
      check_codec(codec)
      codec.with(**options)
    end

    # Raises TypeError for what is no Codec.
    def self.check_codec(codec)
      raise ::TypeError, "wrong argument type #{codec.class} (expected #{Codec})" unless codec.is_a?(Codec)
    end

    # True if methods that MessagePack has too accept what the msgpack gem accepts.
    def self.lenient?
      const_defined?(:DROP_IN, false)
    end

    # Core classes whose own instances are packed before ext types are looked up: what they are packed as, and what can
    # be registered instead.
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

    # True if a list of registered types has an ext type, an Integer, or a class. Subclasses and including classes count
    # too, because their instances are packed as that type. Not if exact: the class of an Unpacker's type packs nothing,
    # and may be nil. Raises ArgumentError for anything else.
    def self.registered?(types, klass_or_type, exact: false)
      case klass_or_type
      when Integer then types.any? { |entry| klass_or_type == entry[:type] }
      when Module then types.any? { |entry| exact ? klass_or_type == entry[:class] : klass_or_type <= entry[:class] }
      else raise ArgumentError, "class or type id"
      end
    end

    # The warning for a type that is registered for another class than before, or nil. A class of the same name is not
    # another class: a reload creates it anew. registered is an Array of pairs of type and class.
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

    # The known option that a key means or resembles, or nil.
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

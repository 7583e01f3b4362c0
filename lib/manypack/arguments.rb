# frozen_string_literal: true

# Messages for arguments that no method knows.
module Manypack
  # For Manypack's own methods, in Ruby and in the extension. Where manypack/drop_in is loaded, it sets the constant
  # DROP_IN here: methods that MessagePack has too then take what the msgpack gem takes. A constant, as every Ractor may
  # read it, and it is set once.
  module Arguments
    # @param options [Hash]
    # @param known [Array<Symbol>] the options that the method has
    # @raise [ArgumentError] that names the others
    def self.check_options(options, known)
      unknown = options.keys - known
      raise ArgumentError, unknown_options(unknown, known) unless unknown.empty?
    end

    # @return [Boolean] whether methods that MessagePack has too are lenient
    def self.lenient?
      const_defined?(:DROP_IN, false)
    end

    # Core classes whose own instances are packed before ext types are looked up: as what, and what can be registered.
    CORE_CLASSES = Ractor.make_shareable({
      ::NilClass => "nil", ::TrueClass => "true", ::FalseClass => "false", ::Float => "float",
      ::Integer => "int; with oversized_integer_extension: true what does not fit that is an ext type",
      ::String => "str or bin; a subclass of it can be an ext type",
      ::Array => "array; a subclass of it can be an ext type",
      ::Hash => "map; a subclass of it can be an ext type"
    })

    # @param klass [Module] to be packed as an ext type
    # @raise [ArgumentError] for one whose instances never are
    def self.check_class(klass)
      kind = CORE_CLASSES[klass]
      raise ArgumentError, "#{klass} is always packed as #{kind}" if kind
    end

    # @param registered [Array<Array(Integer, Module)>] what is unpacked as which class
    # @return [String, nil] a warning when the type now becomes another class; not for one that a reload made anew
    def self.change_of_class(registered, type, klass)
      before = registered.assoc(type)&.last
      return if before.nil? || klass.nil? || before.equal?(klass) || before.name&.==(klass.name)

      "ext type #{type} was unpacked as #{before} and is #{klass} from now on"
    end

    # @param unknown [Array] keys
    # @param known [Array<Symbol>]
    # @return [String] the message of the ArgumentError
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

    # The known option that a key is or is like, or nil.
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

# frozen_string_literal: true

# Manypack::Factory, its Pool and DefaultFactory: the Ruby half, with what is in factory.c.
module Manypack
  # Where ext types are registered. What it packs and unpacks by is an immutable Codec, which registering replaces:
  # packers and unpackers that it made before stay as they are.
  #
  # @example
  #   factory = Manypack::Factory.new
  #   factory.register_type(1, Point, packer: ->(point) { [point.x, point.y].pack("l>2") },
  #                                   unpacker: ->(body) { Point.new(*body.unpack("l>2")) })
  #   factory.load(factory.dump(Point.new(1, 2))) #=> #<struct Point x=1, y=2>
  class Factory
    # Registers an ext type. Warns where a type that was unpacked as one class is now unpacked as another.
    #
    # @param type [Integer] -128 to 127; 0 to 127 are for applications
    # @param klass [Module] what is packed as that type: its instances, and those of what inherits or includes it,
    #   unless a type of their own is registered
    # @param options [Hash] without it, packer is +:to_msgpack_ext+ and unpacker +:from_msgpack_ext+
    # @option options [Proc, Method, Symbol, String, #call, nil] :packer gets the object and returns the body, a
    #   String; a name is that of a method of the object. nil: not packed
    # @option options [Proc, Method, Symbol, String, #call, nil] :unpacker gets the body, a binary String, and returns
    #   the object; a name is that of a method of the class. nil: not unpacked
    # @option options [Boolean] :recursive the packer gets a Packer too, and writes the body to it; the unpacker gets
    #   an Unpacker instead of a String, and reads all of the body from it; the next body may come by the same one
    # @option options [Boolean] :oversized_integer_extension for Integer: what does not fit 64 bits
    # @option options [Boolean] :optimized_symbols_parsing for Symbol: the body is the name, no unpacker is called
    # @return [nil]
    # @raise [RangeError] for a type outside -128..127
    # @raise [ArgumentError] for a klass that is no Module, or that is packed as it is whatever is registered, such as
    #   String; for an option that does not go with it, or that nobody knows
    # @raise [::TypeError] for a packer or unpacker that cannot be called
    # @raise [FrozenError] when the factory is frozen
    # @raise [Ractor::IsolationError] for DefaultFactory outside of the main Ractor
    # @example
    #   factory = Manypack::Factory.new
    #   factory.register_type(0, Symbol)   #=> nil
    #   factory.load(factory.dump(:ready)) #=> :ready
    def register_type(type, klass, options = { packer: :to_msgpack_ext, unpacker: :from_msgpack_ext })
      raise FrozenError.new("can't modify frozen #{self.class}", receiver: self) if frozen?
      raise ArgumentError, "expected Module/Class but found #{klass.class}." unless klass.is_a?(Module)
      if options[:oversized_integer_extension] && klass != Integer
        raise ArgumentError, "oversized_integer_extension: true is only for Integer"
      end
      if options.key?(:oversized_integer_extension_type)
        warn("oversized_integer_extension_type is ignored; oversized_integer_extension is the name", uplevel: 1)
      end
      change = check_registration(type, klass, options) unless Arguments.lenient?
      warn(change, uplevel: 1) if change

      register_type_internal(type, klass, options[:packer], options[:unpacker], options)
    end

    # @param selector [:both, :packer, :unpacker] which registrations
    # @return [Array<Hash>] of +:type+, +:class+, and by the selector +:packer+ and +:unpacker+, as Procs, by type
    # @raise [ArgumentError] for another selector
    # @example
    #   factory = Manypack::Factory.new
    #   factory.register_type(0, Symbol)
    #   factory.registered_types.map { |entry| entry[:class] } #=> [Symbol]
    def registered_types(selector = :both)
      case selector
      when :both then paired_types
      when :packer then registered_packers.sort_by { |entry| entry[:type] }
      when :unpacker then registered_unpackers.sort_by { |entry| entry[:type] }
      else raise ArgumentError, "invalid selector #{selector.inspect}: :both, :packer or :unpacker"
      end
    end

    # @param klass_or_type [Module, Integer]
    # @param selector [:both, :packer, :unpacker] which registrations
    # @return [Boolean] whether the class, or one that it inherits or includes, or the type is registered
    # @raise [ArgumentError] for anything else
    # @example
    #   factory = Manypack::Factory.new
    #   factory.register_type(0, Symbol)
    #   factory.type_registered?(Symbol) #=> true
    #   factory.type_registered?(1)      #=> false
    def type_registered?(klass_or_type, selector = :both)
      case klass_or_type
      when Module then registered_types(selector).any? { |entry| klass_or_type <= entry[:class] }
      when Integer then registered_types(selector).any? { |entry| klass_or_type == entry[:type] }
      else raise ArgumentError, "class or type id"
      end
    end

    # Dumps and loads by the factory as it is now. Nothing in Manypack needs pooling for +dump+ and +load+; for a block,
    # each Ractor keeps one Packer and one Unpacker, which all pools share.
    #
    # @param _size [Integer] ignored
    # @param options [Hash] as for Manypack.pack and Manypack.unpack
    # @return [Pool] frozen, and shareable where the handlers are
    # @raise [RangeError, ::TypeError, ArgumentError] for invalid or unknown options
    # @example
    #   pool = Manypack::Factory.new.pool(5, symbolize_keys: true)
    #   pool.load(pool.dump({id: 1})) #=> {id: 1}
    def pool(_size = 1, **options)
      options = options.slice(*Arguments::CODEC_OPTIONS) if Arguments.lenient?
      Pool.new(codec(options))
    end

    # @return [String] the classes of the ext types
    # @example
    #   factory = Manypack::Factory.new
    #   factory.register_type(0, Symbol)
    #   factory.inspect #=> "#<Manypack::Factory types: {0 => Symbol}>"
    def inspect
      "#<#{self.class}#{codec.__send__(:description)}>"
    rescue RuntimeError # it is not initialized
      super
    end

    private

    TYPE_OPTIONS = %i[packer unpacker recursive oversized_integer_extension optimized_symbols_parsing].freeze
    private_constant :TYPE_OPTIONS

    # ArgumentError for what would be ignored. Returns what to warn of, or nil.
    def check_registration(type, klass, options)
      misspelt = options.key?(:oversized_integer_extension_type) # there is a warning of its own for that
      Arguments.check_options(options.except(:oversized_integer_extension_type), TYPE_OPTIONS)
      Arguments.check_class(klass) if options[:packer] && !options[:oversized_integer_extension] && !misspelt
      Arguments.change_of_class(codec.__send__(:unpacker_classes), type, klass) if options[:unpacker]
    end

    # An unpacker goes with the class that it was registered for, also where several classes pack as its type.
    def paired_types
      unpackers = registered_unpackers
      both = registered_packers.map do |entry|
        pair = unpackers.find { |other| other[:type] == entry[:type] && other[:class] == entry[:class] }
        unpackers.delete(pair)
        { **entry, unpacker: pair && pair[:unpacker] }
      end
      alone = unpackers.map do |entry|
        { type: entry[:type], class: entry[:class], packer: nil, unpacker: entry[:unpacker] }
      end
      both.concat(alone).sort_by { |entry| entry[:type] }
    end

    # Dumps and loads by one Codec. Any number of Threads and Ractors may use it at once.
    class Pool
      # @param codec [Codec]
      # @example
      #   Manypack::Factory::Pool.new(Manypack::Codec.new).frozen? #=> true
      def initialize(codec)
        @codec = codec
        freeze
      end

      # @param data [String] one packed object
      # @return [Object]
      # @raise [DecodeError, ::TypeError] as Manypack.unpack
      # @example
      #   Manypack::Factory.new.pool.load("\x91\x01") #=> [1]
      def load(data)
        @codec.load(data)
      end

      # @param object [Object]
      # @return [String] binary
      # @raise [NoMethodError, RangeError, NestingError, EncodingError, RuntimeError] as Manypack.pack
      # @example
      #   Manypack::Factory.new.pool.dump([1]) #=> "\x91\x01"
      def dump(object)
        @codec.dump(object)
      end

      # Lends a Packer for the time of the block. Blocks may nest: each has a Packer of its own.
      #
      # @yieldparam packer [Packer] empty, and for this block alone: afterwards it raises RuntimeError, or is lent
      #   to another block. Types cannot be registered on it
      # @return [Object] what the block returns
      # @raise [LocalJumpError] without a block
      # @example
      #   Manypack::Factory.new.pool.packer { |packer| packer.write(1).to_s } #=> "\x01"
      def packer
        packer = borrow_packer(@codec)
        begin
          yield packer
        ensure
          give_back_packer(packer)
        end
      end

      # Lends an Unpacker for the time of the block. Blocks may nest: each has an Unpacker of its own.
      #
      # @yieldparam unpacker [Unpacker] empty, and for this block alone: afterwards it raises RuntimeError, or is lent
      #   to another block. Types cannot be registered on it
      # @return [Object] what the block returns
      # @raise [LocalJumpError] without a block
      # @example
      #   Manypack::Factory.new.pool.unpacker { |unpacker| unpacker.feed("\x01").read } #=> 1
      def unpacker
        unpacker = borrow_unpacker(@codec)
        begin
          yield unpacker
        ensure
          give_back_unpacker(unpacker)
        end
      end
    end
  end

  # The Factory whose types Manypack.pack and Manypack.unpack have. Types are registered on it when a program starts, in
  # the main Ractor; every Ractor uses it.
  DefaultFactory = Factory.__send__(:default)
end

# frozen_string_literal: true

#--
# The Ruby half of Manypack::Factory, its Pool, and DefaultFactory; the other half is factory.c.
#++
module Manypack
  # Registers ext types, and packs and unpacks with them. Each registration replaces the factory's immutable Codec, so
  # Packers and Unpackers that it created earlier do not change.
  #
  #   factory = Manypack::Factory.new
  #   factory.register_type(1, Point, packer: ->(point) { [point.x, point.y].pack("l>2") },
  #                                   unpacker: ->(body) { Point.new(*body.unpack("l>2")) })
  #   factory.load(factory.dump(Point.new(1, 2))) #=> #<struct Point x=1, y=2>
  class Factory
    include Guesses

    # Registers an ext type and returns nil. Warns if the type was registered to unpack as another class before; for a
    # class without a name, as in the block of Struct.new, only with <code>-w</code>.
    #
    # type:: an Integer, -128 to 127; 0 to 127 are for applications
    # klass:: the Class or Module whose instances are packed as that type, including those of subclasses and of classes
    #         that include it, unless they or a nearer ancestor have an ext type of their own
    # packer:: receives the object and returns the body, a String (default +:to_msgpack_ext+ if no options are given)
    # unpacker:: receives the body, a binary String, and returns the object (default +:from_msgpack_ext+ if no options
    #            are given)
    # recursive:: the packer also receives a Packer and writes the body to it; the unpacker receives an Unpacker instead
    #             of a String, and has to read the whole body from it; the same Unpacker may be used again for the next
    #             body
    # oversized_integer_extension:: for Integer: only Integers that do not fit 64 bits are packed as that type
    # record:: the Record of klass, which packs and unpacks the body in place of a packer and an unpacker; the options
    #          and ext types of the call take precedence over its own
    # optimized_symbols_parsing:: for Symbol: the body is the name, and no unpacker is called
    #
    # A packer or unpacker is a Proc, a Method, any object with +call+, or the name of a method: of the object for a
    # packer, of klass for an unpacker. Without a packer the class is not packed as that type; without an unpacker the
    # type is not unpacked.
    #
    # A registration copies the list of all types. If thousands of classes are packed in the same way, register a class
    # or module that all of them inherit or include.
    #
    # A class that is reloaded under its name, as Rails does, replaces the old class with that type: objects of the old
    # class are no longer packed.
    #
    # Raises TypeError for a type that is not an Integer, and for a packer or unpacker that cannot be called; RangeError
    # for a type outside -128..127; ArgumentError for a klass that is not a Module, for a class that is never packed as
    # an ext, such as String, for options without a packer, an unpacker and a record, and for an unknown or unsuitable
    # one; FrozenError if the factory is frozen; and Ractor::IsolationError for DefaultFactory outside the main Ractor.
    #
    #   factory = Manypack::Factory.new
    #   factory.register_type(0, Symbol)   #=> nil
    #   factory.load(factory.dump(:ready)) #=> :ready
    def register_type(type, klass, options = { packer: :to_msgpack_ext, unpacker: :from_msgpack_ext })
      Arguments.refuse_block(self, :register_type) if block_given?
      raise FrozenError.new("can't modify frozen #{self.class}", receiver: self) if frozen?
      raise ArgumentError, "expected Module/Class but found #{klass.class}." unless klass.is_a?(Module)

      options = options.to_h
      if options[:oversized_integer_extension] && klass != Integer
        raise ArgumentError, "oversized_integer_extension: true is only for Integer"
      end
      if options.key?(:oversized_integer_extension_type)
        warn("oversized_integer_extension_type is ignored: the option is oversized_integer_extension", uplevel: 1)
      end
      options = with_record(klass, options) if options.key?(:record)
      change = check_registration(type, klass, options) unless lenient?
      warn(change, uplevel: 1) if change

      register_type_internal(type, klass, options[:packer], options[:unpacker], options)
    end

    # Registers ext types for classes of Ruby's own and returns nil. They have the numbers and bytes of
    # ActiveSupport::MessagePack: each side reads what the other one packs.
    #
    # names:: any of :symbol (ext type 0), :bigint (1), :bigdecimal (2), :rational (3), :complex (4), :datetime (5),
    #         :date (6), :time (7), :range (11), :set (12), :uri (13), :ipaddr (14), :pathname (15) and :regexp (16)
    #
    # A Time keeps its offset from UTC, and an Integer is packed as :bigint only if it does not fit 64 bits. A body that
    # is not valid for the class raises MalformedFormatError.
    #
    # Raises ArgumentError for other names, and without any; LoadError if the library of a class is not installed; and
    # the errors of Factory#register_type.
    #
    #   factory = Manypack::Factory.new
    #   factory.register_common(:symbol, :date, :set)
    #   factory.load(factory.dump(Set[:a, Date.new(2026, 1, 31)])) #=> #<Set: {:a, #<Date: 2026-01-31>}>
    def register_common(*names)
      Arguments.refuse_block(self, :register_common) if block_given?
      CommonTypes.check(names)
      names.each do |name|
        type, klass, options = CommonTypes.registration(name)
        register_type(type, klass, options)
      end
      nil
    end

    # Returns an Array with a Hash for each ext type, sorted by type. Each has +:type+ and +:class+, and the Procs
    # +:packer+ and +:unpacker+.
    #
    # selector:: which registrations to return: :both, :packer or :unpacker
    #
    # Raises ArgumentError for any other selector.
    #
    #   factory = Manypack::Factory.new
    #   factory.register_type(0, Symbol)
    #   factory.registered_types.map { |entry| entry[:class] } #=> [Symbol]
    def registered_types(selector = :both)
      case selector
      when :both then paired_types
      when :packer then registered_packers.sort_by { |entry| entry[:type] }
      when :unpacker then registered_unpackers.sort_by { |entry| entry[:type] }
      else raise ArgumentError, "invalid selector #{selector.inspect}: must be :both, :packer or :unpacker"
      end
    end

    # Returns true for an ext type, an Integer, that is registered, and for a class that is registered or that inherits
    # or includes a registered one.
    #
    # selector:: which registrations to search: :both, :packer or :unpacker
    #
    # Raises ArgumentError for other arguments.
    #
    #   factory = Manypack::Factory.new
    #   factory.register_type(0, Symbol)
    #   factory.type_registered?(Symbol) #=> true
    #   factory.type_registered?(1)      #=> false
    def type_registered?(klass_or_type, selector = :both)
      unless %i[both packer unpacker].include?(selector)
        raise ArgumentError, "invalid selector #{selector.inspect}: must be :both, :packer or :unpacker"
      end

      Internal.registers?(codec, klass_or_type, selector != :unpacker, selector != :packer, false)
    end

    # Returns a Pool that dumps and loads with the current types of the factory. It is frozen, and shareable if the
    # handlers are. Its size is ignored, because +dump+ and +load+ need no pooling; for blocks, each Ractor keeps one
    # Packer and one Unpacker, which all pools share.
    #
    # The options are those of Manypack.pack and Manypack.unpack. Raises RangeError, TypeError or ArgumentError for
    # invalid or unknown options.
    #
    #   pool = Manypack::Factory.new.pool(5, symbolize_keys: true)
    #   pool.load(pool.dump({id: 1})) #=> {id: 1}
    def pool(size = 1, **options)
      Arguments.refuse_block(self, :pool) if block_given?
      return own_pool(options) unless lenient?

      Pool.new(frozen? ? self : dup.freeze, size, options.empty? ? nil : options)
    end

    # Shows the classes of the ext types.
    #
    #   factory = Manypack::Factory.new
    #   factory.register_type(0, Symbol)
    #   factory.inspect #=> "#<Manypack::Factory types: {0 => Symbol}>"
    def inspect
      "#<#{self.class}#{codec.inspect.delete_prefix("#<#{codec.class}")}"
    rescue RuntimeError # it is not initialized
      super
    end

    private

    def own_pool(options)
      Arguments.refuse_json_options(options)
      Manypack::Factory::Pool.new(Arguments.at_the_call { codec(options) })
    end

    TYPE_OPTIONS = %i[packer unpacker recursive oversized_integer_extension optimized_symbols_parsing record].freeze
    private_constant :TYPE_OPTIONS

    # Returns true for a Factory of MessagePack's, which accepts what the msgpack gem accepts.
    def lenient? = !is_a?(Manypack::Factory)

    # Raises ArgumentError for arguments that would be ignored. Returns a warning, or nil.
    def check_registration(type, klass, options)
      if options[:optimized_symbols_parsing] && klass != Symbol
        raise ArgumentError, "optimized_symbols_parsing: true is only for Symbol"
      end

      misspelt = options.key?(:oversized_integer_extension_type) # there is a warning of its own for that
      Arguments.check_options(options.except(:oversized_integer_extension_type), TYPE_OPTIONS)
      if options[:packer].nil? && options[:unpacker].nil?
        raise ArgumentError, "nothing to register: give packer:, unpacker: or record:, or no options for the methods " \
                             "to_msgpack_ext and from_msgpack_ext"
      end

      Arguments.check_class(klass) if options[:packer] && !options[:oversized_integer_extension] && !misspelt
      Arguments.change_of_class(Internal.unpacker_classes(codec), type, klass) if options[:unpacker]
    end

    def with_record(klass, options)
      record = options[:record]
      unless record.is_a?(Record) && record.klass == klass && !options.key?(:packer) && !options.key?(:unpacker)
        message = "record must be a Record of #{klass}, without a packer and an unpacker"
        Arguments.refuse(ArgumentError.new(message))
      end

      body = Record.const_get(:Body).of(record)
      { **options.except(:record), packer: body.method(:dump), unpacker: body.method(:load), recursive: true }
    end

    # An unpacker belongs to the class that it was registered for, even if several classes are packed as its type.
    def paired_types
      unpackers = registered_unpackers.to_h { |entry| [entry[:type], entry] } # a type has one unpacker
      both = registered_packers.map do |entry|
        pair = unpackers[entry[:type]]
        next { **entry, unpacker: nil } unless pair && pair[:class].equal?(entry[:class])

        unpackers.delete(entry[:type])
        { **entry, unpacker: pair[:unpacker] }
      end
      alone = unpackers.values.map do |entry|
        { type: entry[:type], class: entry[:class], packer: nil, unpacker: entry[:unpacker] }
      end
      both.concat(alone).sort_by { |entry| entry[:type] }
    end

    # Dumps and loads with one Codec. Any number of Threads and Ractors may use it at once.
    class Pool
      include Value

      # Creates a Pool from a Codec or, as in the msgpack gem, from a Factory, a size and a Hash of options. The size is
      # ignored. Raises ArgumentError for options beside a Codec, which has its own.
      #
      #   Manypack::Factory::Pool.new(Manypack::Codec.new).frozen? #=> true
      def initialize(codec, _size = 1, positional = nil, **options)
        options = positional.to_h.merge(options)
        if codec.is_a?(Lenient::Factory)
          keep(codec, options) unless codec.is_a?(Factory)
          codec = codec.codec(**options)
        elsif !options.empty?
          raise ArgumentError, "a Pool of a Codec takes no options: give them to the Codec"
        end
        @codec = codec
        freeze
      end

      # Unpacks a String with one object, or loads it as +as+ says, with +collect+ as in Type#load. Raises
      # the errors of Manypack.unpack.
      #
      #   Manypack::Factory.new.pool.load("\x91\x01")                 #=> [1]
      #   Manypack::Factory.new.pool.load("\x91\x01", as: :view).type #=> :array
      def load(data, as: nil, collect: nil)
        as.nil? && collect.nil? ? codec.unpack(data) : codec.unpack(data, as: as, collect: collect)
      end

      # Packs an object and returns a binary String. Raises the errors of Manypack.pack.
      #
      #   Manypack::Factory.new.pool.dump([1]) #=> "\x91\x01"
      def dump(object)
        codec.dump(object)
      end

      # Yields an empty Packer and returns the result of the block. Blocks may be nested: each gets a Packer of its own.
      # After the block the Packer raises RuntimeError, or is lent to another block, so do not keep it. It accepts no
      # ext types. Raises LocalJumpError without a block, and ArgumentError if the option +canonical+ is set.
      #
      #   Manypack::Factory.new.pool.packer { |packer| packer.write(1).to_s } #=> "\x01"
      def packer
        packer = borrow_packer(codec)
        begin
          yield packer
        ensure
          give_back_packer(packer)
        end
      end

      # Yields an empty Unpacker and returns the result of the block. Blocks may be nested: each gets an Unpacker of its
      # own. After the block the Unpacker raises RuntimeError, or is lent to another block, so do not keep it. It
      # accepts no ext types. Raises LocalJumpError without a block.
      #
      #   Manypack::Factory.new.pool.unpacker { |unpacker| unpacker.feed("\x01").read } #=> 1
      def unpacker
        unpacker = borrow_unpacker(codec)
        begin
          yield unpacker
        ensure
          give_back_unpacker(unpacker)
        end
      end

      private

      def codec
        @codec || raise(ArgumentError, "uninitialized #{self.class}")
      end

      # Keeps a Factory of MessagePack's, in case a program redefines one of its methods, or has already done so.
      def keep(factory, options)
        return if options[:canonical] # which no Packer takes

        redefined = Internal.redefined?(factory)
        extend(Redefined::Lending) if redefined
        @factory = redefined || factory.frozen? ? factory : factory.dup.freeze
        @options = options.empty? ? nil : options.freeze
      end
    end
  end
end

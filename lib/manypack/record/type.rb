# frozen_string_literal: true

#--
# Manypack::Type, the half that programs see. The half that reads and writes bytes is type.c.
#++
require_relative "type/spec"
require_relative "type/expected"
require_relative "type/rules"
require_relative "type/choices"
require_relative "type/compiler"
require_relative "type/names"
require_relative "type/inherited"
require_relative "type/made"

module Manypack
  init_records

  # Says what packed bytes must be. A Type loads them straight into an object and checks them on the way; a Record is
  # the Type of a Struct, a Data or another class. docs/records.md lists what can be a type.
  #
  #   IDS = Manypack::Type[[Integer]]
  #   IDS.load(Manypack.pack([1, 2]))   #=> [1, 2]
  #   IDS.load(Manypack.pack([1, "2"])) # raises RecordError: expected Integer, got str "2", at $[1], byte 2
  #
  # A Type is frozen, and shareable between Ractors unless an ext type's handler is not.
  class Type
    include Value

    # Returns the Type of objects that are of any of these types. At most one of them may be an array, and one a map,
    # unless all maps are Records: then a map becomes the Record whose required members it has; if there are several,
    # the one that requires most, and among equals the first. Record.union tells Records apart by a tag. The Type takes
    # over the options of Types and Records in it, for the whole message.
    #
    # The first type that takes an object decides what it becomes, but an integer becomes a Float only if no type keeps
    # it. +String+ takes every str and bin, and returns a bin as a binary String; +Symbol+, literals, the keys of
    # members and tags take a bin only if it is ASCII, and a binary literal one with the same bytes. An ext counts as an
    # object of the class that the codec unpacks it as; Ranges, and literals other than Symbols, take no ext.
    #
    # Constraints apply to those of the types that can have them:
    #
    # length:: a Range of the number of characters of text, bytes of a bin, elements of an Array or pairs of a Hash; or
    #          that number
    # pattern:: a Regexp for text, which must take linear time, as Regexp.linear_time? says, and whose counts, as in
    #           <code>\d{4}</code>, multiply to 256 at most. Ruby 3.1 and 3.2 cannot tell: there a group that is
    #           repeated may contain no quantifier and no alternative, nothing looks around or back, and long text is
    #           refused if the pattern has several <code>*</code> or <code>+</code>
    # unique:: true if no two elements of an Array may be eql?
    # multiple_of:: a number; values must be multiples of it. A Float counts as its decimal text
    # range:: a Range of numbers of any class, of Times, or of anything else that is Comparable
    #
    # Raises ArgumentError for a constraint that none of the types can have or that no value meets, for anything that is
    # no type, for a Range or a literal that no message has, for two Records with the same required members, and for
    # Types with different values of one option. A Symbol that names no class raises ArgumentError at the first use.
    #
    #   Manypack::Type[Integer, nil].load("\xC0") #=> nil
    #   Manypack::Type[String, length: 1..20, pattern: /\A[a-z]+\z/] === "abc" #=> true
    def self.[](*types, **options)
      Arguments.refuse_block(self, :[]) if block_given?
      Arguments.at_the_call do
        constraints = options.slice(*Rules::NAMES)
        types += Spec.braceless(options) if options.size > constraints.size
        raise ArgumentError, "expected at least one type, as in Manypack::Type[Integer, nil]" if types.empty?

        spec = types.size == 1 ? Spec.of(types[0]) : Spec.any_of(types)
        Spec.made_of(Rules.constrained(spec, constraints), types)
      end
    end

    # Returns a Type that contains itself. The block gets the Type, and returns its definition, in which Records may
    # contain the Type, too. Raises ArgumentError for a type that is only itself, or itself as an alternative.
    #
    #   TREE = Manypack::Type.recursive { |tree| Manypack::Type[Integer, [tree], {String => tree}] }
    #   TREE.load(Manypack.pack([1, {"a" => [2]}])) #=> [1, {"a" => [2]}]
    def self.recursive
      Arguments.refuse(ArgumentError.new("a recursive type is Type.recursive { |type| ... }")) unless block_given?

      outer = Thread.current[:__manypack_levels__].to_i # of the Fiber
      level = Thread.current[:__manypack_levels__] = outer + 1
      begin
        made = yield Spec.made_of([:name, level], [])
      ensure
        Thread.current[:__manypack_levels__] = outer
      end
      Arguments.at_the_call { closed(level, made) }
    end

    def self.closed(level, made)
      spec = Spec.of(made)
      if Spec.endless?(spec, level)
        raise ArgumentError, "a type cannot be itself: it may be in a list, a map or a Record"
      end

      Spec.made_of([:recursive, level, spec], [made])
    end
    private_class_method :closed

    # Raises ArgumentError, unless Manypack itself calls it: <code>Type[...]</code> makes a Type.
    #
    #   Manypack::Type.new(Integer) # raises ArgumentError: a Type is made by Manypack::Type[...], ...
    def initialize(parts)
      unless parts.is_a?(Spec::Parts)
        raise ArgumentError, "a Type is made by Manypack::Type[...], such as Manypack::Type[Integer], and a Record " \
                             "by Manypack::Record.new"
      end

      @spec = Spec.frozen(parts.spec)
      @check = parts.check || parts.types.any?(&:check?)
      finish(*(parts.codec ? [parts.codec, parts.base] : inherited(parts.types)))
    end

    # Returns the Type of objects that are of this type or of another one.
    #
    #   NAME = Manypack::Type[String].or(nil)
    #   NAME.load("\xC0") #=> nil
    def or(other)
      Arguments.refuse_block(self, :or) if block_given?
      Type[self, other]
    end

    # Returns the same type with a condition that its objects must meet, for what no constraint can express. The block
    # gets the loaded value; for a Record it is the object, so the block can compare fields.
    #
    # message:: what the error says, as in "must be even", or a whole sentence such as "from must be before to"
    #
    # An object for which the block returns nil or false is refused with a RecordError, and so is one for which it
    # raises a StandardError, which is then the +cause+. Ractors can share the Type if they can share the block, as with
    # +defaults+ of Record#with. Raises ArgumentError without a message or a block.
    #
    #   EVEN = Manypack::Type[Integer].check("must be even") { |number| number.even? }
    #   EVEN.load("\x03") # raises RecordError: must be even, at $, byte 0
    def check(message, &block)
      raise ArgumentError, "check needs a block, as in check(\"must be even\") { |value| value.even? }" unless block

      checked(check_rule(message, block))
    end

    # Makes objects of the classes of a union carry their tag wherever they are packed or become JSON, and returns the
    # union: <code>object.dump</code> and <code>object.to_msgpack</code> write what the union dumps. The classes get
    # what Record#attach gives, too; their Records read objects with the tag and without. Raises ArgumentError for a
    # Type that is no union, for a class that is in another attached union, and for the reasons of Record#attach.
    #
    #   SHAPE = Manypack::Record.union("type", "circle" => CIRCLE, "square" => SQUARE).attach
    #   Manypack.unpack(Manypack.pack([Circle.new(1.0)])) #=> [{"type"=>"circle", "radius"=>1.0}]
    def attach
      raise ArgumentError, "only a Record or a union of Records has classes to attach" if Spec.inner(spec)[0] != :tagged

      Record.const_get(:Attached).install_union(self)
      self
    end

    # Returns the same type with options changed: those of a Codec, which hold for the whole message, and
    #
    # codec:: a Codec whose ext types to use, and whose options in place of those that the type has; options that this
    #         Codec does not set stay as they are
    # check:: true if Type#dump checks by default what it writes. It does so anyway if the type contains a Record that
    #         checks
    #
    # Raises ArgumentError, TypeError or RangeError for invalid or unknown options.
    #
    #   Manypack::Type[[Integer]].with(untrusted: true)
    def with(codec: nil, check: @check, **options)
      Arguments.refuse_block(self, :with) if block_given?
      Arguments.check_flag(check, :checks)
      copy(codec: changed_codec(codec, options, *options_of_its_own), base: codec ? nil : base, check: check)
    end

    include Guesses
    extend Guesses

    # Suggests constants of Manypack in the error: a Type or a Record does not contain them.
    def self.const_missing(name)
      ours = Manypack.constants.include?(name.to_sym)
      Guesses.no_constant(self, name, ours ? "Manypack::#{name}" : Hints.for(:constant, name.to_sym))
    end
    private_class_method :const_missing

    # Loads the one object in a String of packed bytes. Without options it returns nil for nil, so that a Type can be
    # the coder of an attribute of ActiveRecord, where nil is an empty column.
    #
    # collect:: true to report all errors of the message in RecordError#errors instead of only the first: up to 1,000,
    #           or fewer if their paths take more than 256 KB
    # options:: those of Type#with that have an effect on loading, for this call. Each call makes a new type for them.
    #           If they are always the same, <code>type.with(options)</code> in a constant makes loading much faster
    #
    # Raises ArgumentError, TypeError or RangeError for invalid or unknown options and for those that affect only
    # dumping. Raises RecordError for an object of another type, and the other DecodeErrors as Manypack.unpack does. A
    # StandardError of a Record's class, or of a default that is called, becomes a RecordError with that +cause+.
    #
    #   Manypack::Type[{String => Integer}].load(Manypack.pack({"a" => 1})) #=> {"a" => 1}
    def load(bytes, options = nil) # not **options, which would make a Hash for each call
      Arguments.refuse_block(self, :load) if defined?(yield)
      return load_by(bytes, options) if options

      bytes.nil? ? nil : read(bytes, 0, nil, false)
    end

    # Loads the object of a JSON text, a String: what Type#load makes of the bytes of Manypack.from_json. Errors say
    # line and column, in words that the client who sent the text may see. A lazy Record checks each field when it is
    # read; its error then has the offset in the packed bytes.
    #
    # collect:: as in Type#load
    # options:: those of Type#load, and +allow_nan+ and +allow_duplicate_key+ of Manypack.from_json. If a text has a key
    #           twice, a RecordError has no line and no column
    #
    # Raises the errors of Manypack.from_json, such as JSONError, and those of Type#load; TypeError unless the text is a
    # String.
    #
    #   Manypack::Type[{String => Integer}].load_json('{"a": 1}') #=> {"a" => 1}
    #   Manypack::Type[[Integer]].load_json('[1, "2"]')
    #   # raises RecordError: expected Integer, got string "2", at $[1], line 1, column 5
    def load_json(text, options = nil)
      Arguments.refuse_block(self, :load_json) if defined?(yield)
      return read_json(text, nil, nil, false) unless options

      with_options_of_json(options) { |type, collect| type.read_json(text, nil, nil, collect) }
    end

    # Makes an object from another one, such as a Hash with Strings or Symbols as keys, or a list of them: the same that
    # Type#load makes from the packed object, with the same checks. It does not copy Strings, nor objects of a Record's
    # class or of +Object+, unless the options freeze what is made. It takes ActionController::Parameters, permitted or
    # not, because the type names what it takes. No method of the object is called. A lazy Record makes objects of its
    # class.
    #
    # lax:: true to read text as the value that it names: "12" as an Integer, "on" as +true+, "" as nil; docs/records.md
    #       lists all. For forms, query strings, CSV and the environment
    # collect:: as in Type#load
    # options:: those of Type#load, except those of bytes such as +max_bytes+, for this call
    #
    # Raises RecordError for an object of another type, and for one beyond a limit; its path says where, and its offset
    # is 0. Raises RuntimeError if a class that makes objects changes the Hash or the Array meanwhile.
    #
    #   Manypack::Type[{String => Integer}].from({a: 1})               #=> {"a" => 1}
    #   Manypack::Type[{String => Integer}].from({a: "1"}, lax: true)  #=> {"a" => 1}
    #   Manypack::Type[[Integer]].from([1, "2"]) # raises RecordError: expected Integer, got String "2", at $[1]
    def from(object, lax: false, collect: false, **options)
      Arguments.refuse_block(self, :from) if block_given?
      return take(object, lax, collect) if options.empty?

      changed_for(options, :lax, :collect, doing: :from).take(object, lax, collect)
    end

    # Loads the object of the JSON text in a file, which may be compressed as for Manypack.foreach.
    #
    # path:: the path of the file
    # options:: those of Type#load_json
    #
    # Raises the errors of Type#load_json, and what File.open raises.
    #
    #   File.write("ids.json", "[1, 2]")
    #   Manypack::Type[[Integer]].load_json_file("ids.json") #=> [1, 2]
    def load_json_file(path, options = nil)
      Arguments.refuse_block(self, :load_json_file) if block_given?
      path = Arguments.path_of_json(path, "foreach_json(io) reads an io, and load_json(io.read) one text")
      with_options_of_json(options || {}) do |type, collect|
        type.read_json(Files.read(path) { |io| JSONTexts.new(type.codec, io).read }, nil, nil, collect)
      end
    end

    # Yields the object of each message in a file, and returns nil: <code>Manypack.foreach(path, as: type)</code>.
    #
    # options:: those of Manypack.foreach, without +as+
    #
    # Raises the errors of Manypack.foreach, and those of Type#load.
    #
    #   File.binwrite("lists.msgpack", Manypack.pack([1]) + Manypack.pack([2, 3]))
    #   Manypack::Type[[Integer]].foreach("lists.msgpack").sum(&:size) #=> 3
    def foreach(path, **options, &block)
      Arguments.refuse_option(options, :as, "Type#foreach")
      Manypack.foreach(path, as: self, **options, &block)
    end

    # Yields the object of each JSON text of an io or a file, and returns nil. Without a block it returns an Enumerator.
    # Memory holds one object and what was read of the next texts.
    #
    # source:: as in Manypack.foreach_json
    # options:: those of Type#load_json; limits apply to each text
    #
    # Raises the errors of Type#load_json and of Manypack.foreach_json: line, column and offset count from the start of
    # the io, and the message says how many texts before were whole.
    #
    #   Manypack::Type[[Integer]].foreach_json(StringIO.new("[1]\n[2, 3]\n")).sum(&:size) #=> 3
    def foreach_json(source, **options, &block)
      with_options_of_json(options) do |type, collect|
        return enum_for(:foreach_json, source, **options) unless block

        codec = type.codec.with(canonical: false) # the order of the text, as in read_json
        JSONTexts.foreach(codec, source, texts: true) do |bytes, _, text, origin|
          yield type.read_json(text, bytes, origin, collect)
        end
      end
    end

    # Packs an object as its Type says and returns a binary String: a Record as a map or array of its fields, anything
    # else as Manypack.pack does. By default dump does not check scalars: it writes a String in place of an Integer, or
    # an Integer outside a Range, as it is. Type#load accepts the result unless it has such a scalar.
    #
    # check:: true to load the result, which also checks scalars, the constructors of Records' classes, and the limits
    #         of the Codec (default: as set by Type#with, otherwise false)
    # options:: those of Type#with that have an effect on dumping, for this call, as in Type#load; if it checks, those
    #           of loading have one, too
    #
    # Raises TypeError for an object that is not of a Record's class; ArgumentError if a key in the Hash of
    # <code>unknown: {into: ...}</code> is that of a member, and for an object whose tag in a union is not known;
    # RecordError for anything that load would refuse, such as nil; and the errors of Manypack.pack.
    #
    #   IDS = Manypack::Type[[Integer]]
    #   IDS.dump([1, 2])             #=> "\x92\x01\x02"
    #   IDS.dump([nil])              # raises RecordError: expected Integer, got nil, at $[0], byte 1
    #   IDS.dump(["1"])              #=> "\x91\xA11"
    #   IDS.dump(["1"], check: true) # raises RecordError: expected Integer, got str "1", at $[0], byte 1
    def dump(object, options = nil)
      Arguments.refuse_block(self, :dump) if defined?(yield)
      options ? dump_by(object, options) : write(object, @check)
    end

    # Returns the Hash that a reader of the packed object finds, with Symbols as keys, in depth: what
    # <code>Manypack.unpack(type.dump(object), symbolize_keys: true)</code> returns. Raises the errors of Type#dump, and
    # TypeError for a type whose objects are no maps, such as a Record as an array.
    #
    #   POINT.to_h(Point.new(1.0, 2.0)) #=> {x: 1.0, y: 2.0}
    def to_h(object)
      Arguments.refuse_block(self, :to_h) if block_given?
      hash = codec.unpack(dump(object), symbolize_keys: true)
      return hash if hash.is_a?(Hash)

      Arguments.refuse(::TypeError.new("to_h makes a Hash of what is packed as a map, and this is packed as " \
                                       "#{hash.is_a?(Array) ? "an array" : hash.inspect}"))
    end

    # Returns the JSON of an object: what Manypack.to_json makes of the bytes of Type#dump.
    #
    # options:: those of Type#dump, and of Manypack.to_json
    #
    # Raises the errors of Type#dump, and those of Manypack.to_json for values that JSON does not have.
    #
    #   Manypack::Type[[Integer]].dump_json([1, 2]) #=> "[1,2]"
    def dump_json(object, options = nil)
      Arguments.refuse_block(self, :dump_json) if defined?(yield)
      return codec.to_json(write(object, @check), **@json) unless options

      given, check = options_of_dump({ **@json, **options_of_call(options) })
      type = changed_for(given, doing: check ? nil : :dump_json)
      type.codec.to_json(type.dump(object, check: check))
    end

    # Returns a View of the bytes that Type#dump writes, which are known to be packed. Where an object is packed, sent
    # or rendered, alone or inside of another one, a View is written as its bytes; a String of bytes would be packed
    # again. Raises the errors of Type#dump.
    #
    #   IDS = Manypack::Type[[Integer]]
    #   Manypack.pack({"ids" => IDS.view([1, 2])}) == Manypack.pack({"ids" => [1, 2]}) #=> true
    #   Manypack.pack({"ids" => IDS.dump([1, 2])})  #=> "\x81\xA3ids\xC4\x03\x92\x01\x02"
    def view(object)
      Arguments.refuse_block(self, :view) if block_given?
      codec.view(dump(object))
    end

    # Returns true if the bytes are one object of the type. Loads the object to find out, but makes no error object if
    # it is not. Raises what Type#load raises for options.
    #
    # options:: those of Type#load without +collect+, for this call
    #
    #   Manypack::Type[1..10].valid?("\x0B") #=> false
    def valid?(bytes, options = nil)
      Arguments.refuse_block(self, :valid?) if block_given?
      options ? changed_for(options, doing: :unpacking).valid?(bytes) : loads?(bytes)
    rescue DecodeError
      false
    end

    # Returns what the type is made of, for tools: nested, frozen Arrays, each with a kind and its details.
    #
    #   Manypack::Type[[1..3]].spec #=> [:list, [:integer, 1..3]]
    def spec
      @spec || uninitialized
    end

    # Returns the Codec, which has the type's options and ext types. If the Type got no Codec, those are the types that
    # are registered on DefaultFactory at that moment.
    #
    #   Manypack::Type[Time].with(timestamp: true).codec #=> #<Manypack::Codec timestamp: true>
    def codec
      @codec || uninitialized
      Internal.current_type(self).own_codec
    end

    # Shows which objects are of the type, and the options that were set.
    #
    #   Manypack::Type[[Integer], nil].inspect #=> "#<Manypack::Type [Integer] or nil>"
    def inspect
      @spec ? "#<#{self.class} #{Spec.notation(@spec)}#{changes}>" : super
    end

    # Returns true for an object of the type, for <code>case</code> and +grep+: packing and loading it gives an equal
    # object, or one of the same class if that class does not define +==+.
    #
    #   Manypack::Type[1..10] === 5 #=> true
    def ===(object)
      loaded = load(dump(object))
      loaded == object || (loaded.instance_of?(object.class) && identity?(loaded))
    rescue Error, ::TypeError, ArgumentError
      false
    end

    # Returns true for a Type of the same objects with the same options.
    #
    #   Manypack::Type[Integer] == Manypack::Type[Integer] #=> true
    def ==(other)
      other.instance_of?(self.class) && hash == other.hash && state == other.state && codec == other.codec
    end
    alias eql? ==

    # Returns an Integer, the same for equal Types.
    #
    #   Manypack::Type[Integer].hash == Manypack::Type[Integer].hash #=> true
    def hash
      @hash || uninitialized
    end

    # Returns true if Type#dump checks by default what it writes.
    #
    #   Manypack::Type[Integer].with(check: true).check? #=> true
    def check?
      @check.nil? ? uninitialized : @check
    end

    protected

    def state = [spec, @check]
    def own_codec = @codec

    # Returns true if the Type got no Codec of its own.
    def follows? = @follows

    private

    def check_rule(message, block)
      Arguments.refuse(::TypeError.new("expected a message, got #{message.class}")) unless message.is_a?(String)

      [:check, Record.const_get(:Options).text(message), Callback.new(block)].freeze
    end

    def checked(rule) = Spec.made_of(Rules.add(spec, rule), [self])

    def load_by(bytes, options)
      given = options_of_call(options)
      collect = given.delete(:collect)
      return read(bytes, 0, nil, collect) if given.empty?

      changed = changed_for(given, :collect, doing: :unpacking)
      collect ? changed.load(bytes, collect: collect) : changed.load(bytes)
    end

    def dump_by(object, options)
      given, check = options_of_dump(options)
      return write(object, check) if given.empty?

      changed_for(given, doing: check ? nil : :packing).dump(object, check: check)
    end

    # Returns the options of a call that dumps without +check+, and whether it checks.
    def options_of_dump(options)
      given = options_of_call(options)
      check = given.fetch(:check, @check)
      Arguments.check_flag(check, :checks)
      [given.except(:check), check]
    end

    # Yields the Type with the options of a call that loads JSON, and whether it collects errors.
    def with_options_of_json(options)
      given = options_of_call(options)
      collect = given.delete(:collect)
      yield given.empty? ? self : changed_for(given, :collect, doing: :load_json), collect
    end

    # Returns the options of a call in a Hash that may be changed. Raises TypeError for anything else, such as an io.
    def options_of_call(options)
      return options.to_hash.dup if options.respond_to?(:to_hash)

      Arguments.refuse(::TypeError.new("expected options, got #{options.class}; io.write(record.dump(object)) writes " \
                                       "to an io, and Manypack.unpack(io, as: record) reads from one"))
    end

    # Returns the Type with the options of a call. +doing+ is one that Arguments.check_direction knows; nil if the call
    # does several.
    def changed_for(options, *own, doing:)
      options = options_of_call(options)
      Arguments.check_direction(options, doing) if doing
      Arguments.check_options(options, [*own, :codec, *options_of_its_own, *Arguments::CODEC_OPTIONS])
      with(**options)
    end

    # What Type#with takes besides the options of a Codec.
    def options_of_its_own = %i[check]

    # Returns true for an object that is equal to nothing but itself.
    def identity?(object) = object.class.instance_method(:==).owner == BasicObject

    # The options that were set, as Type#with takes them.
    def changes(**own)
      own[:check] = true if @check
      all = { **own, **codec.options }.map { |name, value| "#{name}: #{value.inspect}" }
      " with #{all.join(", ")}" unless all.empty?
    end

    def hashed_state = state

    # Raises ArgumentError for a Type that a subclass, YAML or allocate made without initialize.
    def uninitialized
      raise ArgumentError, "uninitialized #{self.class}"
    end

    # Returns the codec of DefaultFactory if the Type got no Codec of its own.
    def base = @follows ? DefaultFactory.codec : nil

    # Returns the Codec for a type that is made of others; and the codec of DefaultFactory if the types in the Codec
    # come from there.
    def inherited(parts)
      following, given = parts.partition { |part| part.follows? } # &:follows? would not get at what is protected
      codec = Inherited.codec(following.map(&:codec), given.map(&:codec))
      [codec, given.empty? ? DefaultFactory.codec : nil]
    end

    # Called by the extension if types were registered on DefaultFactory since the Type was made.
    def renewed
      copy(codec: @codec.options.empty? ? base : Internal.codec_overlaid(@codec, base), base: base)
    end

    # Called by the extension for a front that has a Codec or options, which include those of the Type.
    def laid_over(codec) = copy(codec: codec, base: nil)

    # +base+ is the codec of DefaultFactory if the copy follows that.
    def copy(codec:, base:, check: @check) = Type.new(Spec::Parts.new(@spec, codec, base, check, []))

    # Returns the Codec of the type, changed by a Codec or nil, and then by options.
    def changed_codec(codec, options, *own)
      Arguments.check_codec(codec) if codec
      Arguments.check_options(options, [:codec, *own, *Arguments::CODEC_OPTIONS])
      changed = codec ? Internal.codec_overlaid(self.codec, codec) : self.codec
      options.empty? ? changed : Arguments.at_the_call { changed.with(**options) }
    end

    # Compiles the Type and freezes it. It is shareable if the codec and the Records in its parts are. The hash is kept,
    # because nested Records would compute that of an inner one once for each way to it.
    def finish(codec, base, parts = @spec)
      @codec = codec
      @follows = !base.nil?
      @check ||= Spec.checks?(parts)
      @bytes = Spec.bytes?(parts)
      @json = @bytes && !codec.options.key?(:bin) ? { bin: :base64 }.freeze : {}.freeze
      @hash = [hashed_state, codec.options].hash # not of its types, because more may be registered
      compiler = Compiler.new(codec)
      compile(compiler.nodes(@spec), codec, base, @check)
      @strangers = compiler.strangers.freeze
      freeze
      Ractor.make_shareable(self) if Ractor.shareable?(codec) && Spec.shareable?(parts) && shareable_options?
    end

    # Called by the extension at the first use of a Type with names that no Record around them has.
    def check_names
      @strangers.each { |name, record, member| Names.check(name, record, member) }
    end

    def shareable_options? = true
  end
end

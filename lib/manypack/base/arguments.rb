# frozen_string_literal: true

#--
# Checks of arguments, and the error messages for unknown ones.
#++
module Manypack
  # Checks the arguments of Manypack's own methods, in Ruby and in the extension.
  module Arguments # :nodoc:
    # How lines of a backtrace begin that are not the program's: in Manypack's own files, and in Ruby's internal ones.
    OURS = ["#{File.dirname(__dir__)}/".freeze, "<internal:"].freeze
    private_constant :OURS

    # Raises an error about a call, with a backtrace that begins where the program called Manypack.
    def self.refuse(error, backtrace = caller)
      error.set_backtrace(backtrace.drop_while { |line| line.start_with?(*OURS) })
      raise error
    end

    # Calls the block. The backtraces of its errors then begin where the program called Manypack, too.
    def self.at_the_call
      yield
    rescue ArgumentError, ::TypeError, RangeError => error
      refuse(error, error.backtrace)
    end

    # Raises ArgumentError for options that are not +known+. The error suggests one of them, or lists those +taken+.
    def self.check_options(options, known, taken = known)
      unknown = options.keys - known
      refuse(ArgumentError.new(unknown_options(unknown, known, taken))) unless unknown.empty?
    end

    # Returns the Codec that a method got as +codec+, or nil for that of DefaultFactory, changed by its other options.
    # Raises ArgumentError for unknown options and for those without an effect on what the method does, and the errors
    # of check_codec and Codec#with.
    #
    # own:: options of the method itself, which the error may suggest
    # packs:: false for a method that only unpacks
    # unpacks:: false for a method that only packs
    # looks:: true for a method that finds keys in bytes, or makes an object that does: it takes duplicate_keys: :first
    # defaults:: options to use where neither the Codec nor +options+ has one
    def self.codec(codec, options, *own, packs: true, unpacks: true, looks: false, defaults: nil)
      unless options_of_codecs?(options)
        own = [:codec, *own]
        check_options(options, own + CODEC_OPTIONS, own + options_that(packs, unpacks))
      end
      codec = DefaultFactory.codec if codec.nil?
      check_codec(codec)
      codec = Internal.codec_overlaid(DefaultFactory.codec(**defaults), codec) if defaults
      Internal.codec_for(codec, options, packs, unpacks, looks)
    rescue ArgumentError, ::TypeError, RangeError => error # a block for at_the_call would cost each call something
      refuse(error, error.backtrace)
    end

    # Returns true if all options are those of a Codec. options.c has a Hash of them.
    def self.options_of_codecs?(options)
      options.each_key { |name| return false unless OPTION_OF_CODECS[name] }
      true
    end

    def self.options_that(packs, unpacks)
      return PACKING_OPTIONS | UNPACKING_OPTIONS if packs == unpacks

      packs ? PACKING_OPTIONS : UNPACKING_OPTIONS
    end
    private_class_method :options_of_codecs?, :options_that

    # Raises the errors of Arguments.codec for the options of a method that makes its Codec later.
    def self.check_codec_options(options, *own, packs: true, unpacks: true)
      check_options(options, own + CODEC_OPTIONS, own + options_that(packs, unpacks))
      codec(options[:codec], options.slice(*CODEC_OPTIONS), packs: packs, unpacks: unpacks, looks: options[:as])
    end

    # Called by the extension. Returns the Hash of ActionController::Parameters and of ENV, nil for any other object.
    def self.parameters(object)
      return ENV.to_h if ENV.equal?(object)

      object.to_unsafe_h if defined?(::ActionController::Parameters) && ::ActionController::Parameters === object
    end

    # Options of unpacking that have an effect only on bytes, not on Type#from.
    OF_BYTES = %i[max_bytes max_ext_bytes allow_unknown_ext].freeze
    private_constant :OF_BYTES

    def self.options_for(doing)
      case doing
      when :packing then PACKING_OPTIONS
      when :unpacking then UNPACKING_OPTIONS
      when :from then UNPACKING_OPTIONS - OF_BYTES
      when :load_json then UNPACKING_OPTIONS | (FROM_JSON_OPTIONS - PACKING_OPTIONS)
      when :dump_json then PACKING_OPTIONS | TO_JSON_OPTIONS
      end
    end
    private_class_method :options_for

    # Raises ArgumentError for options without an effect on what a Type does: those of Codecs that belong to the other
    # direction, and +check+ where it loads.
    def self.check_direction(options, doing)
      here = options_for(doing)
      name = options.keys.find { |key| OPTION_OF_CODECS[key] && !here.include?(key) }
      refuse(ArgumentError.new(misplaced_option(name, doing))) if name
      return if %i[packing dump_json].include?(doing) || !options.key?(:check)

      refuse(ArgumentError.new("check has no effect on unpacking: it is an option of Type#dump and Type#with"))
    end

    # Options for the objects that are built, and for checks that need them.
    OF_OBJECTS = %i[symbolize_keys freeze shareable allow_unknown_ext timestamp utf8 duplicate_keys].freeze
    private_constant :OF_OBJECTS

    # Returns the object that loads messages for the option +as+. A Type, or the Record of a class, gets the options of
    # the front and its Codec, which is nil if the front has only a default; any other object is returned as it is.
    # Raises ArgumentError for options without an effect.
    def self.loader(as, codec, options)
      type = type_of(as)
      unless type
        check_loader(as, options.to_h)
        return as
      end
      options = options.to_h.slice(:codec, *CODEC_OPTIONS)
      codec = options.delete(:codec) || codec
      codec || !options.empty? ? changed(type, codec: codec, **options) : type
    end

    def self.changed(type, **options)
      Internal.collects?(type) ? Internal.collecting(type.with(**options)) : type.with(**options)
    end
    private_class_method :changed

    # Returns the Type with the option +collect+. Raises ArgumentError for anything but a Type.
    def self.collecting(as)
      type = type_of(as)
      return Internal.collecting(type.with) if type

      refuse(ArgumentError.new("collect has no effect without as: a Record or another Type; " \
                               "#{Hints.for(:option, :collect)}"))
    end

    # Returns the Codec whose limits hold for bytes that are loaded later: that of a Type, or that of the front.
    def self.codec_of_loader(loader, front)
      type = type_of(loader)
      type ? type.codec : front
    end

    # Returns the Type with a Codec that knows one more ext type. Raises ArgumentError for anything but a Type.
    def self.loader_knowing(loader, codec)
      type = type_of(loader)
      return changed(type, codec: codec) if type

      refuse(ArgumentError.new("register_type has no effect on what #{loader.inspect} loads: its method load has to " \
                               "know the ext type"))
    end

    # Returns the one object of a source, loaded as the option +as+ says, for Manypack.unpack.
    #
    # codec:: the Codec of the front; nil if it has only a default, which the option +codec+ replaces
    # lenient:: true if the front has the name MessagePack
    def self.unpack_as(source, codec, options, lenient)
      check_options(options, [:as, :collect, *CODEC_OPTIONS]) if codec
      options = { codec: codec, **options }
      options = Lenient.options(options) if lenient
      as = options.delete(:as)
      collect = options.delete(:collect)
      as = collecting(as) if collect
      changed = codec(options[:codec], options.except(:codec), packs: false, looks: as)
      string = String.try_convert(source)
      readable = source.respond_to?(:readpartial) || source.respond_to?(:read)
      return changed.unpack(source) if as.nil? || (string.nil? && !readable) # which raises TypeError if it is no source
      return loader(as, nil, options).load(string) if string && type_of(as)
      return changed.view(string).tap(&:bytesize) if string && as == :view # which comes to the end of the message

      unpacker = Files.unpacker(string ? nil : source, as: as, **options)
      string ? unpacker.feed(string).full_unpack : Internal.read_one(unpacker, source)
    end

    # Returns the next message of an io as JSON, or writes each message as a line to another io.
    def self.json_stream(source, io, codec)
      return codec.to_json(Internal.read_one(codec.unpacker(source, as: Files::JSONLines::Whole), source)) if io.nil?

      check_sink(io)
      Files::JSONLines.new(codec, io).write(source)
    end

    # Returns the Type that an object is or, if it is a class, has; otherwise nil.
    def self.type_of(object)
      return unless defined?(Type) && !Manypack.autoload?(:Type)
      return object if object.is_a?(Type)

      object.record if object.is_a?(Class) && object.const_defined?(:MANYPACK_RECORD)
    end

    # Raises ArgumentError for options for built objects if +as+ is an object that loads the bytes by itself.
    def self.check_loader(as, options)
      check_limits_only(options, "what #{as.inspect} loads") unless as.nil? || as == :view || type_of(as)
    end

    # Raises ArgumentError for an option such as +as+ where it could have only one value.
    def self.refuse_option(options, name, what)
      refuse(ArgumentError.new("#{name} has no effect on #{what}")) if options.key?(name)
    end

    # Raises ArgumentError for options for built objects where messages stay bytes.
    def self.check_limits_only(options, what)
      name = OF_OBJECTS.find { |option| options.key?(option) } or return
      refuse(ArgumentError.new("#{name} has no effect on #{what}: it is an option of Manypack.unpack, " \
                               "and of as: :view"))
    end

    # Raises ArgumentError for an option that only from_json or to_json has, where a Codec packs and unpacks.
    def self.refuse_json_options(options)
      name = (options.keys & (FROM_JSON_OPTIONS | TO_JSON_OPTIONS) - PACKING_OPTIONS - UNPACKING_OPTIONS).first
      refuse(ArgumentError.new(misplaced_option(name, "packing or unpacking"))) if name
    end

    def self.check_codec(codec)
      return if codec.is_a?(Codec)

      made = "; its codec method makes one" if codec.respond_to?(:codec)
      refuse(::TypeError.new("wrong argument type #{codec.class} (expected #{Codec})#{made}"))
    end

    def self.check_factory(factory)
      return if factory.respond_to?(:codec)

      refuse(::TypeError.new("wrong argument type #{factory.class} (expected #{Factory})"))
    end

    # Raises ArgumentError for the name of a file in place of a source of bytes: its characters would be messages, of
    # small Integers. Packed bytes that might look like one are BINARY, as Manypack.pack and an io return them.
    def self.check_source(source)
      source = String.try_convert(source)
      return if source.nil? || source.encoding == Encoding::BINARY || !Likeness.file_name?(source)

      name = source.inspect
      refuse(ArgumentError.new("#{name} is a file name, not packed bytes: pass File.open(#{name}, \"rb\"), or use " \
                               "Manypack.foreach; if these are packed bytes, pass them with .b"))
    end

    # True for an object that can be read piece by piece. A Pathname cannot: each read opens the file anew.
    def self.readable?(object)
      return false if object.respond_to?(:to_path) && !object.respond_to?(:close)

      object.respond_to?(:readpartial) || object.respond_to?(:read)
    end

    # Returns the path of a file as a String. Raises TypeError for anything else, with what takes it instead.
    def self.path_of(path, instead)
      stream = path.is_a?(IO) && !path.is_a?(File) # its to_path, if it has one, may return "<STDOUT>"
      name = path.respond_to?(:to_path) ? path.to_path : String.try_convert(path) unless stream
      return name if name.is_a?(String)
      return File.path(name) if name

      refuse(::TypeError.new("expected the path of a file, got #{path.class}: #{instead}"))
    end

    NAME_OF_OURS = /\A[[:print:]]+\.(?:msgpack|mpk?)(?:\.gz)?\z/
    private_constant :NAME_OF_OURS

    # Returns the path of a file as a String. Raises if the arguments of Manypack.dump_file seem to be swapped.
    def self.check_place(object, path)
      order = "the path is the last argument of dump_file(object, path)"
      text = path_of(path, order)
      return text unless String.try_convert(path) # a Pathname or a File can only be the path

      refuse(ArgumentError.new("bytes are no path of a file: #{order}")) if packed?(text)
      return text unless object.is_a?(String) && object.ascii_only? && NAME_OF_OURS.match?(object)
      return text if text.include?("/") || text.include?(".")

      refuse(ArgumentError.new("#{object.inspect} is the name of a file: #{order}, which may be \"./#{text}\""))
    end

    # Returns true for bytes that may be a message, but hardly a name, which may be BINARY (from ENV under LC_ALL=C).
    def self.packed?(text)
      bytes = text.b
      return true if bytes.include?("\0") || bytes.match?(/\A[\x01-\x1f]+\z/n)
      return false if bytes.force_encoding(Encoding::UTF_8).valid_encoding?

      text.encoding == Encoding::BINARY || text.b.match?(/[\x01-\x1f]/n)
    end
    private_class_method :packed?

    # Raises ArgumentError, with a hint of that name, for anything but true, false and nil.
    def self.check_flag(value, hint = nil)
      return if [true, false, nil].include?(value)

      hint &&= ": #{Hints.for(:option, hint)}"
      refuse(ArgumentError.new("check must be true or false, got #{value.class}#{hint}"))
    end

    # Raises ArgumentError for arguments after the first one, where a method takes only options.
    def self.check_alone(others)
      return if others.empty?

      refuse(ArgumentError.new("wrong number of arguments (given #{others.size + 1}, expected 1); options are " \
                               "keywords: as: USER loads messages as a Record, for example"))
    end

    # Raises ArgumentError for the block of a method that would never call it. MessagePack's methods ignore it, as the
    # msgpack gem does, and the initialize of a subclass may pass on its own.
    def self.refuse_block(receiver, name)
      owner = receiver.is_a?(Module) ? receiver : receiver.class
      full = Module.instance_method(:name).bind_call(owner) # a class may define a name of its own
      return unless full&.match?(/\AManypack(?:::|\z)/) && Object.const_get(full).equal?(owner)

      short = full.delete_prefix("Manypack::")
      called = name == :initialize ? "#{short}.new" : "#{short}#{owner.equal?(receiver) ? "." : "#"}#{name}"
      refuse(ArgumentError.new(["#{called} takes no block", Hints.for(:block, called.to_sym)].compact.join(": ")))
    end

    # How direct instances of core classes are packed, for which no ext type is looked up.
    CORE_CLASSES = Ractor.make_shareable({
      ::NilClass => "nil", ::TrueClass => "true", ::FalseClass => "false", ::Float => "float",
      ::Integer => "int; with oversized_integer_extension: true, Integers that do not fit can be an ext type",
      ::String => "str or bin; a subclass of it can be an ext type",
      ::Array => "array; a subclass of it can be an ext type",
      ::Hash => "map; a subclass of it can be an ext type"
    })

    # For errors: returns how to pack objects of a class with a ready-made ext type; nil for any other class.
    def self.common_type(klass)
      names = klass.ancestors.filter_map { |ancestor| Module.instance_method(:name).bind_call(ancestor) }
      type, = CommonTypes::TABLE.find { |_, (_, class_name)| names.include?(class_name) }
      "register_common(#{type.inspect}) on a Factory or on DefaultFactory packs it as an ext type" if type
    end

    # Raises ArgumentError for a class whose instances are never packed as an ext type.
    def self.check_class(klass)
      kind = CORE_CLASSES[klass]
      refuse(ArgumentError.new("#{klass} is always packed as #{kind}")) if kind
    end

    # Raises NameError for a class that lacks the method that was to unpack it.
    def self.no_unpacker(klass, name)
      refuse(NameError.new("#{klass} has no method #{name} to unpack an ext type: define #{klass}.#{name}(body), or " \
                           "give the ext type an unpacker, such as a Proc", name, receiver: klass))
    end

    # Returns the warning for a type that is registered for another class than before, or nil. A class of the same name
    # counts as the same, because it was reloaded. +registered+ is an Array of pairs of type and class.
    def self.change_of_class(registered, type, klass)
      before = registered.find { |number, _| number.eql?(type) }&.last
      return if before.nil? || klass.nil? || before.equal?(klass) || before.name&.==(klass.name)
      return if klass.name.nil? && !$VERBOSE # it may get a name later: it is registered in the block that makes it

      "ext type #{type} was unpacked as #{before}, and is unpacked as #{klass} from now on"
    end

    # The message of the ArgumentError for an option that has no effect on what a method does, such as "packing".
    def self.misplaced_option(name, here)
      taking = { unpack: UNPACKING_OPTIONS, pack: PACKING_OPTIONS, from_json: FROM_JSON_OPTIONS,
                 to_json: TO_JSON_OPTIONS }
      there = taking.find { |_, names| names.include?(name) }.first
      "#{name} has no effect on #{here}: it is an option of Manypack.#{there} and of a Codec"
    end

    # The message of the ArgumentError for unknown keys. It suggests +known+ options, or lists those that are +taken+.
    def self.unknown_options(unknown, known, taken = known)
      names = unknown.map { |key| key.is_a?(Symbol) ? key.inspect.delete_prefix(":") : key.inspect }
      "unknown option#{"s" if unknown.size > 1} #{names.join(", ")}#{hint(unknown, known, taken)}"
    end

    # Returns what to use instead of an option named like a ready-made ext type, such as :date; nil for any other name.
    def self.common_option(key)
      return unless CommonTypes::TABLE.key?(key)

      "register_common(#{key.inspect}) on a Factory packs it by factory.dump(object), and factory.load(bytes) reads it"
    end

    def self.hint(unknown, known, taken)
      renamed = unknown.any? { |key| known.include?(OTHER_NAMES[key]) }
      told = unknown.filter_map { |key| Hints.for(:option, key) || common_option(key) }.first unless renamed
      return "; #{told}" if told

      meant = unknown.filter_map { |key| similar(key, known | %i[collect]) }
      return "; #{Hints.for(:option, :collect)}" if meant.include?(:collect) && !known.include?(:collect)
      return "; known options are #{taken.join(", ")}" if meant.empty?
      return ", did you mean #{meant.join(", ")}?" unless unknown.any?(String)

      ", options are Symbols: #{meant.map { |name| "#{name}:" }.join(", ")}"
    end

    # Names that other libraries have for options of ours. Hints has names of options that have no counterpart here.
    OTHER_NAMES = { max_nesting: :max_depth, symbolize_names: :symbolize_keys, symbol_keys: :symbolize_keys,
                    max_size: :max_bytes, mode: :append, record: :as, type: :as, class: :as, into: :as,
                    time: :timestamp, aliases: :keys, rename: :keys, names: :keys,
                    schema: :as, frozen: :freeze, safe: :untrusted, default: :defaults,
                    threads: :ractors, jobs: :processes }.freeze
    private_constant :OTHER_NAMES

    # Returns the known option that a key probably means: by its name, by another name, or by a similar one; or nil.
    def self.similar(key, known)
      other = OTHER_NAMES[key]
      return other if known.include?(other)
      return unless (key.is_a?(Symbol) || key.is_a?(String)) && key.to_s.ascii_only?

      known.find { |name| name.name == key } || Guesses.similar(key, known)
    end
    private_class_method :common_option, :hint, :similar
  end
  private_constant :Arguments
end

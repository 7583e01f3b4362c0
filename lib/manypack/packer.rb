# frozen_string_literal: true

#--
# The Ruby half of Manypack::Packer: ext types of a single Packer. The other half is packer.c.
#++
module Manypack
  class Packer
    include Guesses

    # Yields a Packer that writes to a file, and returns the result of the block. Then it flushes the Packer and closes
    # the file, even if the block raises. An error of the block is raised even if flushing or closing fails, too.
    #
    # path:: the path of the file; if it ends in .gz, Ruby's zlib compresses the file
    # mode:: "ab" instead of <code>append: true</code>, or "wb", as for File.open
    # append:: true to add to a file (default false: a new file). A file, but not a FIFO or device, is read to its end
    #          first. If it ends inside an object, as after a crash, TruncatedError#start says where that object begins
    # codec:: a Codec with the ext types (default: that of DefaultFactory)
    #
    # The other options are those of Manypack.pack except +canonical+. Packer#flush passes everything to the operating
    # system, unless the file is compressed.
    #
    # Raises ArgumentError without a block, for another mode, for a mode that contradicts +append+, for a name that ends
    # in .zst, and for unknown options; RangeError or TypeError for invalid ones; TypeError for an io; what File.open
    # raises; LoadError if there is no zlib; and with +append+ a DecodeError if the file is not a stream of whole
    # objects.
    #
    #   Manypack::Packer.open("events.msgpack") { |packer| packer.write({"id" => 1}) }
    #   Manypack::Packer.open("events.msgpack", append: true) { |packer| packer.write({"id" => 2}) }
    #   Manypack.foreach("events.msgpack").to_a #=> [{"id" => 1}, {"id" => 2}]
    def self.open(path, mode = nil, append: nil, codec: nil, **options)
      path = Arguments.path_of(path, "Manypack::Packer.new(io) writes to an io")
      append = appends?(mode, append)
      unless block_given?
        file = "File.open(path, \"#{append ? "ab" : "wb"}\")"
        Arguments.refuse(ArgumentError.new("no block given: without one, use Manypack::Packer.new(#{file})"))
      end

      own = %i[append codec]
      taken = own + Arguments::PACKING_OPTIONS - [:canonical] # which codec.packer refuses
      Arguments.check_options(options, own + Arguments::CODEC_OPTIONS, taken)
      codec = Arguments.codec(codec, options, unpacks: false)
      codec = Internal.codec_of_gem(codec) unless self <= Manypack::Packer
      Arguments.at_the_call { codec.packer } # raises for some options, before the file is opened and emptied
      Files.check_whole(path) if append && File.file?(path) # reading a FIFO would wait forever for a writer
      Files.write(path, append) do |io|
        packer = codec.packer(io)
        Files.ending(-> { packer.flush }) { yield packer }
      end
    end

    # Returns whether to add to the file. Raises ArgumentError for a mode that says otherwise than +append+: it might
    # empty a file that was to be kept.
    def self.appends?(mode, append)
      return append if mode.nil?

      unless %w[w wb a ab].include?(mode)
        Arguments.refuse(ArgumentError.new("a mode is \"wb\" or \"ab\", got #{mode.inspect}"))
      end
      adds = mode.start_with?("a")
      return adds if append.nil? || adds == (append ? true : false)

      said = "the mode #{mode.inspect} contradicts append: #{append.inspect}"
      Arguments.refuse(ArgumentError.new("#{said}: give one of them"))
    end
    private_class_method :appends?

    # Returns true for the classes of the Packer, and for a class called MessagePack::Packer. The msgpack gem's
    # +to_msgpack+ of core classes asks its argument for that: it then calls the methods of the Packer, and otherwise
    # packs by itself and writes the bytes to the Packer as if it were an io.
    #
    #   Manypack::Packer.new.is_a?(Manypack::Packer) #=> true
    def is_a?(klass)
      super || klass.name == "MessagePack::Packer"
    end

    # Writes an object and returns the Packer, as Packer#write does.
    #
    #   packer = Manypack::Packer.new
    #   packer << 1 << "a"
    #   packer.to_s #=> "\x01\xA1a"
    def <<(object)
      write(object)
    end

    # Registers an ext type with this Packer alone and returns nil; see Factory#register_type for more.
    #
    # type:: an Integer, -128 to 127
    # klass:: the Class or Module whose instances are packed as that type
    # method_name:: instead of a block: the name of a method, a Proc, a Method, or any object with +call+
    #
    # The block receives the object and returns the body, a String. Raises the errors of Factory#register_type.
    #
    #   packer = Manypack::Packer.new
    #   packer.register_type(1, Range) { |range| range.to_s }
    #   packer.write(1..2).to_s #=> "\xD6\x011..2"
    def register_type(type, klass, method_name = nil, &block)
      raise FrozenError.new("can't modify frozen #{self.class}", receiver: self) if frozen?
      raise ArgumentError, "expected Module/Class but found #{klass.class}." unless klass.is_a?(Module)

      Arguments.check_class(klass) if is_a?(Manypack::Packer) # MessagePack's is as lenient as the msgpack gem
      register_type_internal(type, klass, block || method_name || raise(ArgumentError, "no block or method given"))
    end

    # Returns an Array with a Hash for each ext type, sorted by type: +:type+, +:class+ and the Proc +:packer+.
    #
    #   packer = Manypack::Packer.new
    #   packer.register_type(1, Range) { |range| range.to_s }
    #   packer.registered_types.map { |entry| entry[:type] } #=> [1]
    def registered_types
      registered_types_internal.sort_by { |entry| entry[:type] }
    end

    # Returns true for an ext type, an Integer, that is registered, and for a class that is registered or that inherits
    # or includes a registered one. Raises ArgumentError for anything else.
    #
    #   packer = Manypack::Packer.new
    #   packer.register_type(1, Range) { |range| range.to_s }
    #   packer.type_registered?(1) #=> true
    def type_registered?(klass_or_type)
      Internal.registers?(types, klass_or_type, true, false, false)
    end
  end
end

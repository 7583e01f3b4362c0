# frozen_string_literal: true

#--
# The Ruby half of Manypack::Unpacker: ext types of a single Unpacker. The other half is unpacker.c.
#++
module Manypack
  class Unpacker
    include Guesses
    extend Guesses

    # Yields an Unpacker that reads from a file, and returns the result of the block. Then it closes the file. A file
    # whose name ends in .gz or .zst is decompressed, as by Manypack.foreach.
    #
    # options:: those of Manypack.foreach
    #
    # Raises ArgumentError without a block and for unknown options, RangeError or TypeError for invalid ones, TypeError
    # for an io, what File.open raises, and what Manypack.foreach raises for compressed files. Raises TruncatedError
    # after the block if the file ends inside an object that the block has begun to read, as Unpacker#each does.
    #
    #   Manypack.dump_file([1, 2], "events.msgpack")
    #   Manypack::Unpacker.open("events.msgpack") { |unpacker| unpacker.read_array_header } #=> 2
    def self.open(path, **options)
      path = Arguments.path_of(path, "Manypack::Unpacker.new(io) reads an io")
      unless block_given?
        file = "File.open(path, \"rb\")"
        Arguments.refuse(ArgumentError.new("no block given: without one, use Manypack::Unpacker.new(#{file})"))
      end

      options = Lenient.options(options) unless self <= Manypack::Unpacker
      Files.unpacker(nil, **options) # raises for the options, before there is a file
      Files.unpack(path, options) do |unpacker|
        result = yield unpacker
        unpacker.skip if unpacker.pending? # raises TruncatedError: each ends there without an error
        result
      end
    end

    # Appends bytes to the input and returns the Unpacker, as Unpacker#feed does.
    #
    #   unpacker = Manypack::Unpacker.new
    #   unpacker << "\x92\x01" << "\x02"
    #   unpacker.read #=> [1, 2]
    def <<(bytes)
      feed(bytes)
    end

    # Registers an ext type with this Unpacker alone and returns nil; see Factory#register_type for more.
    #
    # type:: an Integer, -128 to 127
    # klass:: the Class or Module that has the method, or nil
    # method_name:: instead of a block: the name of a method, a Proc, a Method, or any object with +call+
    #
    # The block receives the body, a binary String, and returns the object. With <code>as:</code>, a Type and Views know
    # the ext type, too. Raises the errors of Factory#register_type, and ArgumentError for any other object with load.
    #
    #   unpacker = Manypack::Unpacker.new
    #   unpacker.register_type(1) { |body| body.reverse }
    #   unpacker.feed("\xD5\x01ab").read #=> "ba"
    def register_type(type, klass = nil, method_name = nil, &block)
      raise FrozenError.new("can't modify frozen #{self.class}", receiver: self) if frozen?
      handler = block || method_name || raise(ArgumentError, "no block or method given")
      register_type_internal(type, klass, handler)
    end

    # Returns an Array with a Hash for each ext type, sorted by type: +:type+, +:class+ and the Proc +:unpacker+.
    #
    #   unpacker = Manypack::Unpacker.new
    #   unpacker.register_type(1) { |body| body.reverse }
    #   unpacker.registered_types.map { |entry| entry[:type] } #=> [1]
    def registered_types
      registered_types_internal.sort_by { |entry| entry[:type] }
    end

    # Returns true for an ext type, an Integer, or a class that is registered. Raises ArgumentError for anything else.
    #
    #   unpacker = Manypack::Unpacker.new
    #   unpacker.register_type(1) { |body| body.reverse }
    #   unpacker.type_registered?(1) #=> true
    def type_registered?(klass_or_type)
      Internal.registers?(types, klass_or_type, false, true, true)
    end
  end
end

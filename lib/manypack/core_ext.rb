# frozen_string_literal: true

# Manypack::CoreExt: to_msgpack for the classes of Ruby itself; not loaded by "manypack" alone.

require "manypack"

module Manypack
  # Defines +to_msgpack+ on the core classes that MessagePack has types for. <code>require "manypack/core_ext"</code>
  # loads it, and so does the drop-in. "manypack" alone does not, because the msgpack gem defines methods of the same
  # names and a program may use both gems.
  #
  #   require "manypack/core_ext"
  #   [1, nil].to_msgpack #=> "\x92\x01\xC0"
  module CoreExt
    # Packs the object. With a Packer, writes to it and returns it; with an io, writes to it and returns nil; otherwise
    # returns a binary String. Raises the errors of Manypack.pack.
    #
    #   [1, nil].to_msgpack                            #=> "\x92\x01\xC0"
    #   1.to_msgpack(Manypack::Packer.new).to_s        #=> "\x01"
    #   "a".to_msgpack(StringIO.new)                   #=> nil
    def to_msgpack(packer_or_io = nil)
      return Front.pack(self) unless packer_or_io
      return Front.pack(self, packer_or_io) unless packer_or_io.is_a?(Lenient::Packer)

      to_msgpack_with_packer(packer_or_io)
      packer_or_io
    end

    Front = Manypack # the drop-in puts MessagePack in its place
    private_constant :Front
  end

  # The method of Packer for each class. It writes the core type, even if a subclass has an ext type.
  CORE_WRITERS = {
    ::NilClass => :write_nil, ::TrueClass => :write_true, ::FalseClass => :write_false, ::Float => :write_float,
    ::String => :write_string, ::Array => :write_array, ::Hash => :write_hash, ::Symbol => :write_symbol,
    ::Integer => :write_int, ExtensionValue => :write_extension
  }.freeze
  private_constant :CORE_WRITERS

  CORE_WRITERS.each do |klass, writer|
    klass.include(CoreExt)
    klass.class_eval <<~RUBY, __FILE__, __LINE__ + 1
      private def to_msgpack_with_packer(packer)
        packer.#{writer}#{"(self)" unless Lenient::Packer.instance_method(writer).arity.zero?}
      end
    RUBY
  end
end

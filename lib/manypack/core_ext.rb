# frozen_string_literal: true

# Manypack::CoreExt: to_msgpack for the classes of Ruby itself; not loaded by "manypack" alone.

require "manypack"

module Manypack
  # +to_msgpack+ for the classes that MessagePack has types for. Loaded by <code>require "manypack/core_ext"</code> and
  # by the drop-in, not by "manypack" alone: a program may have the msgpack gem too, whose methods have the same names.
  #
  # @example
  #   require "manypack/core_ext"
  #   [1, nil].to_msgpack #=> "\x92\x01\xC0"
  module CoreExt
    # @param packer_or_io [Packer, #write, #<<, nil]
    # @return [Packer] the packer that it was written to
    # @return [nil] with an io, which it was written to
    # @return [String] without either
    # @raise [NoMethodError, RangeError, NestingError, EncodingError, RuntimeError, ::TypeError] as Manypack.pack
    # @example
    #   [1, nil].to_msgpack                            #=> "\x92\x01\xC0"
    #   1.to_msgpack(Manypack::Packer.new).to_s        #=> "\x01"
    #   "a".to_msgpack(StringIO.new)                   #=> nil
    def to_msgpack(packer_or_io = nil)
      # Not Manypack.pack: with the drop-in loaded this takes what the msgpack gem takes.
      return DefaultFactory.pack(self, packer_or_io) unless packer_or_io.is_a?(Packer)

      to_msgpack_with_packer(packer_or_io)
      packer_or_io
    end
  end

  # How each class writes itself: as what it is, whatever ext type a subclass has.
  CORE_WRITERS = {
    ::NilClass => :write, ::TrueClass => :write, ::FalseClass => :write, ::Float => :write_float,
    ::String => :write_string, ::Array => :write_array, ::Hash => :write_hash, ::Symbol => :write_symbol,
    ::Integer => :write_int, ExtensionValue => :write_extension
  }.freeze
  private_constant :CORE_WRITERS

  CORE_WRITERS.each do |klass, writer|
    klass.include(CoreExt)
    klass.class_eval <<~RUBY, __FILE__, __LINE__ + 1
      private def to_msgpack_with_packer(packer)
        packer.#{writer}(self)
      end
    RUBY
  end
end

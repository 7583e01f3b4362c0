# frozen_string_literal: true

# The ext types of the messages.
module Fuzz
  Boom = Class.new(StandardError)
  Plain = Struct.new(:body)
  Box = Struct.new(:content)

  # A key that equals no other key. Its hash is one of three; #hash raises or meddles for some bodies.
  class Key
    class << self
      attr_accessor :meddler # not in the key: `shareable: true` would freeze it
    end

    attr_reader :body

    def initialize(body)
      @body = body
    end

    def hash
      first = @body.getbyte(0).to_i
      raise Boom, "by hash" if first > 250

      Key.meddler.meddle(@body) if first > 200
      first % 3
    end
  end

  # Tame ext types, which every library can have, and wild ext types, whose handlers misbehave.
  module Types
    TAME = [1, 2, 3, 10, 11].freeze
    RECURSIVE = [2, 3, 8, 12, 13, 14, 15].freeze
    ALL = (TAME + [4, 5, 6, 6, 6, 7, 8, 9, 12, 13, 14, 15]).freeze

    module_function

    # factory:: a Manypack::Factory or MessagePack::Factory
    # bigint:: the Bigint module of that library
    def register_tame(factory, bigint)
      plain(factory, 1) { |body| Plain.new(body) }
      recursive(factory, 2) { |unpacker| Box.new(unpacker.read) }
      recursive(factory, 3) { |unpacker| Box.new([unpacker.read, unpacker.read]) }
      factory.register_type(10, Symbol)
      factory.register_type(11, Integer, packer: bigint.method(:to_msgpack_ext),
                                         unpacker: bigint.method(:from_msgpack_ext),
                                         oversized_integer_extension: true)
    end

    # meddler:: a Meddler, which every handler calls
    def register_wild(factory, meddler)
      Key.meddler = meddler
      plain(factory, 4) { raise Boom, "by a handler" }
      plain(factory, 5) { throw :fuzz, :thrown }
      plain(factory, 6) { |body| meddler.meddle(body) && Plain.new(body) }
      plain(factory, 7) { |body| Key.new(body) }
      plain(factory, 9) { |body| Plain.new(Manypack.unpack(body)) }
      recursive(factory, 8) { |unpacker| Box.new(unpacker.skip_nil || unpacker.skip) }
      recursive(factory, 12) { |unpacker| Box.new(swallow(unpacker)) }
      recursive(factory, 13) { |unpacker| keep(unpacker, meddler) }
      recursive(factory, 14) { |unpacker| meddler.misuse_body(unpacker) && Box.new(unpacker.read) }
      recursive(factory, 15) { |unpacker| Box.new(Manypack.unpack("\x93\x01".b + Manypack.pack(unpacker.read))) }
    end

    def plain(factory, type, &unpacker)
      factory.register_type(type, Class.new, packer: nil, unpacker: unpacker)
    end

    def recursive(factory, type, &unpacker)
      handler = lambda do |body|
        Key.meddler&.begins(body)
        unpacker.call(body)
      end
      factory.register_type(type, Class.new, packer: nil, unpacker: handler, recursive: true)
    end

    # Reads a body, and keeps its Unpacker for misuse after the body has ended, with or without an error.
    def keep(unpacker, meddler)
      meddler.failed = unpacker
      Box.new(unpacker.read).tap { meddler.over = unpacker }
    end

    # Reads more objects than the body has, and rescues the error.
    def swallow(unpacker)
      objects = []
      loop { objects << unpacker.read }
    rescue Manypack::DecodeError
      objects
    end
  end
end

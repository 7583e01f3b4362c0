# frozen_string_literal: true

# What is measured: each serializer in the shape its own documentation recommends, loaded only when asked for.
module Contenders
  # name: as shown; pack: object to String; unpack: String to object; about: gem versions
  Contender = Struct.new(:name, :pack, :unpack, :about, keyword_init: true)

  # One method for each contender; it requires what it needs and raises LoadError where that is not installed.
  module Makers
    module_function

    def manypack
      require "manypack"
      Contender.new(name: "manypack", pack: Manypack.method(:pack), unpack: Manypack.method(:unpack),
                    about: Manypack::VERSION)
    end

    # The fastest that the msgpack gem offers: a pool of a frozen factory, with its cache of map keys.
    def msgpack
      require "msgpack"
      pool = MessagePack::Factory.new.freeze.pool(1, key_cache: true)
      Contender.new(name: "msgpack", pack: pool.method(:dump), unpack: pool.method(:load), about: MessagePack::VERSION)
    end

    # What most programs call.
    def msgpack_plain
      require "msgpack"
      Contender.new(name: "msgpack_plain", pack: MessagePack.method(:pack), unpack: MessagePack.method(:unpack),
                    about: MessagePack::VERSION)
    end

    def json
      require "json"
      Contender.new(name: "json", pack: JSON.method(:generate), unpack: JSON.method(:parse), about: JSON::VERSION)
    end

    def oj
      require "oj"
      parser = Oj::Parser.new(:usual)
      dump = ->(object) { Oj.dump(object, mode: :strict) }
      Contender.new(name: "oj", pack: dump, unpack: parser.method(:parse), about: Oj::VERSION)
    end

    def marshal
      Contender.new(name: "marshal", pack: Marshal.method(:dump), unpack: Marshal.method(:load), about: RUBY_VERSION)
    end
  end

  NAMES = %w[manypack msgpack msgpack_plain json oj marshal].freeze

  # @param name [String] one of NAMES
  # @return [Contender]
  def self.make(name)
    Makers.public_send(name)
  end
end

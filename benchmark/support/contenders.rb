# frozen_string_literal: true

# What Manypack is measured beside, in the demo and in the benchmarks. A contender is a module, so that every Ractor may
# have it; it answers label, load, version, pack and unpack. Before load it needs nothing installed.
module Contenders
  # This gem.
  module WithManypack
    def self.label = "Manypack"
    def self.load = require("manypack")
    def self.version = Manypack::VERSION
    def self.pack(object) = Manypack.pack(object)
    def self.unpack(bytes) = Manypack.unpack(bytes)
  end

  # The json library that this Ruby, or the bundle, has.
  module WithJson
    def self.label = "JSON"
    def self.load = require("json")
    def self.version = JSON::VERSION
    def self.pack(object) = JSON.generate(object)
    def self.unpack(bytes) = JSON.parse(bytes)
  end

  # Ruby's own format.
  module WithMarshal
    def self.label = "Marshal"
    def self.load = true
    def self.version = RUBY_VERSION
    def self.pack(object) = Marshal.dump(object)
    def self.unpack(bytes) = Marshal.load(bytes)
  end

  # The msgpack gem as most programs call it.
  module WithMsgpack
    def self.label = "msgpack"
    def self.load = require("msgpack")
    def self.version = MessagePack::VERSION
    def self.pack(object) = MessagePack.pack(object)
    def self.unpack(bytes) = MessagePack.unpack(bytes)
  end

  # The fastest that the msgpack gem offers: a pool of a frozen factory, with its cache of map keys.
  module WithMsgpackPool
    def self.label = "msgpack pool"

    def self.load
      require("msgpack")
      const_set(:POOL, MessagePack::Factory.new.freeze.pool(1, key_cache: true))
    end

    def self.version = MessagePack::VERSION
    def self.pack(object) = POOL.dump(object)
    def self.unpack(bytes) = POOL.load(bytes)
  end

  # The oj gem, by its fast parser.
  module WithOj
    def self.label = "oj"

    def self.load
      require("oj")
      const_set(:PARSER, Oj::Parser.new(:usual))
    end

    def self.version = Oj::VERSION
    def self.pack(object) = Oj.dump(object, mode: :strict)
    def self.unpack(bytes) = PARSER.parse(bytes)
  end

  # What bin/demo shows, and what bin/bench measures.
  DEMO = [WithManypack, WithJson, WithMarshal, WithMsgpack].freeze
  BENCH = [WithManypack, WithMsgpackPool, WithMsgpack, WithJson, WithOj, WithMarshal].freeze

  # @return [Array<Module>] those of the demo that can run here, Manypack first
  def self.all
    @all ||= DEMO.select { |contender| loads?(contender) }
  end

  # @return [Boolean] whether the msgpack gem is there
  def self.msgpack?
    all.include?(WithMsgpack)
  end

  # @return [String] names and versions of what runs here
  def self.versions
    all.map { |contender| "#{contender.label} #{contender.version}" }.join(", ")
  end

  # @return [Boolean] whether what the contender needs is installed
  def self.loads?(contender)
    contender.load
    true
  rescue LoadError
    false
  end
end

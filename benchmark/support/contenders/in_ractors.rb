# frozen_string_literal: true

# What ractors.rb measures: ways to decode a document, to pass over it, or to pack it, as modules that every Ractor has.
# Each says what it needs of a document (bytes) and what it does with that (decode).

require "json"
require_relative "other_formats"

module Contenders
  module InRactors
    # All go by their names in tables.
    module Named
      def label = name.split("::").last
      def version = RUBY_VERSION
    end

    module Manypack
      extend Named

      def self.load = require("manypack") && const_set(:CODEC, ::Manypack::Codec.new)
      def self.bytes(object) = ::Manypack.pack(object)
      def self.decode(bytes) = CODEC.unpack(bytes)
    end

    # By a Codec: an option in a call costs a Hash, which is all that a small message costs otherwise.
    module Shareable
      extend Named

      def self.load = require("manypack") && const_set(:CODEC, ::Manypack::Codec.new(shareable: true))
      def self.bytes(object) = ::Manypack.pack(object)
      def self.decode(bytes) = CODEC.unpack(bytes)
    end

    # A document is passed over without anything being made of it.
    module Skip
      extend Named

      def self.load = require("manypack")
      def self.bytes(object) = ::Manypack.pack(object)
      def self.decode(bytes) = ::Manypack::Unpacker.new.feed(bytes).skip
    end

    # The same as Parallel does it, but for the batch.
    module Split
      extend Named

      def self.load = require("manypack") && const_set(:SPLITTER, ::Manypack::Parallel.const_get(:Splitter))
      def self.bytes(object) = ::Manypack.pack(object)
      def self.decode(bytes) = SPLITTER.new(::Manypack::Codec.new).feed(bytes).take(2, 1 << 40, false)
    end

    module Pack
      extend Named

      def self.load = require("manypack")
      def self.bytes(object) = Ractor.make_shareable(object)
      def self.decode(object) = ::Manypack.pack(object)
    end

    # The same with Symbols for keys, as if they stood in the program: others are objects that can be collected.
    module PackSymbols
      extend Named

      LITERALS = Hash.new { |literals, name| literals[name] = eval(":#{name.inspect}") }

      def self.load = require("manypack")
      def self.bytes(object) = Ractor.make_shareable(symbolic(object))
      def self.decode(object) = ::Manypack.pack(object)

      def self.symbolic(object)
        case object
        when Hash then object.to_h { |key, value| [LITERALS[key], symbolic(value)] }
        when Array then object.map { |element| symbolic(element) }
        else object
        end
      end
    end

    # The objects alone, made by whoever knows them beforehand: what Ruby lets several Ractors do at a time.
    module Floor
      extend Named

      def self.load = WithFloor::EXTENSION.load
      def self.bytes(object) = Ractor.make_shareable(object)
      def self.decode(object) = (Ractor.current[:plan] ||= ::Floor::Plan.new(object)).run
    end

    module Json
      extend Named

      def self.load = true
      def self.bytes(object) = JSON.generate(object)
      def self.decode(bytes) = JSON.parse(bytes)
    end

    module JsonFrozen
      extend Named

      def self.load = true
      def self.bytes(object) = JSON.generate(object)
      def self.decode(bytes) = JSON.parse(bytes, freeze: true)
    end

    # The fastest that the msgpack gem offers, which raises in Ractors.
    module MsgpackFrozen
      extend Named

      def self.load
        require("msgpack")
        const_set(:POOL, MessagePack::Factory.new.freeze.pool(1, freeze: true, key_cache: true))
      end

      def self.bytes(object) = MessagePack.pack(object)
      def self.decode(bytes) = POOL.load(bytes)
    end
  end
end

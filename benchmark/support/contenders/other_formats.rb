# frozen_string_literal: true

# Libraries of other formats, and the floor, which has no format.

require_relative "../side_extension"

module Contenders
  # The json library that this Ruby, or the bundle, has.
  module WithJson
    def self.label = "JSON"
    def self.load = require("json")
    def self.version = JSON::VERSION
    def self.pack(object) = JSON.generate(object)
    def self.unpack(bytes) = JSON.parse(bytes)
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

  # Ruby's own format.
  module WithMarshal
    def self.label = "Marshal"
    def self.load = true
    def self.version = RUBY_VERSION
    def self.pack(object) = Marshal.dump(object)
    def self.unpack(bytes) = Marshal.load(bytes)
  end

  # The cbor gem: another binary format, by the code that the msgpack gem grew from.
  module WithCbor
    def self.label = "cbor"
    def self.load = require("cbor")
    def self.version = CBOR::VERSION
    def self.pack(object) = CBOR.encode(object)
    def self.unpack(bytes) = CBOR.decode(bytes)
  end

  # The bson gem, which carries nothing but maps at the top.
  module WithBson
    def self.label = "bson"
    def self.load = require("bson")
    def self.version = BSON::VERSION
    def self.pack(object) = object.to_bson.to_s
    def self.unpack(bytes) = Hash.from_bson(BSON::ByteBuffer.new(bytes))

    # It takes a String for UTF-8 and no other, and an Integer of 64 bits with a sign.
    def self.check(payload)
      return unless payload.is_a?(Hash)

      bytes = pack(payload)
      { bytes: bytes.bytesize, same: nil } if unpack(bytes).inspect == payload.inspect
    rescue ArgumentError, EncodingError, RangeError
      nil
    end
  end

  # The google-protobuf gem with a schema for the structured message, which is all that it is measured by. Its objects
  # keep what was decoded and make a Ruby String of a field when it is read, which nobody does here.
  module WithProtobuf
    STRINGS = %w[host user time method path referer agent].freeze
    INTEGERS = %w[code size pid took_us].freeze

    def self.label = "protobuf, by schema"

    def self.load
      require "google/protobuf"
      require "google/protobuf/descriptor_pb"
      pool = Google::Protobuf::DescriptorPool.new
      pool.add_serialized_file(Google::Protobuf::FileDescriptorProto.encode(schema))
      const_set(:Line, pool.lookup("Line").msgclass)
    end

    def self.version = Gem.loaded_specs.fetch("google-protobuf").version.to_s

    # @return [Google::Protobuf::FileDescriptorProto]
    def self.schema
      fields = (STRINGS + INTEGERS).each.with_index(1).map do |name, number|
        Google::Protobuf::FieldDescriptorProto.new(name: name, number: number, label: :LABEL_OPTIONAL,
                                                   type: STRINGS.include?(name) ? :TYPE_STRING : :TYPE_INT64)
      end
      line = Google::Protobuf::DescriptorProto.new(name: "Line", field: fields)
      Google::Protobuf::FileDescriptorProto.new(name: "line.proto", syntax: "proto3", message_type: [line])
    end
    private_class_method :schema

    def self.argument(operation, payload)
      operation == "pack" ? Line.new(**payload) : pack(Line.new(**payload))
    end

    def self.pack(line) = Line.encode(line)
    def self.unpack(bytes) = Line.decode(bytes)

    def self.check(payload)
      return unless payload.is_a?(Hash) && payload.keys.sort == (STRINGS + INTEGERS).sort

      line = unpack(argument("unpack", payload))
      same = payload.all? { |name, value| line[name] == value }
      { bytes: pack(line).bytesize, same: nil } if same
    end
  end

  # No serializer: it makes the graph that it knows beforehand, and walks over one. See benchmark/floor.
  module WithFloor
    # Rubies before 3.2 make every Hash without room.
    EXTENSION = SideExtension.new("floor", "floor/*.c",
                                  defines: RUBY_VERSION < "3.2" ? ["rb_hash_new_capa(n)=rb_hash_new()"] : [])

    def self.label = "floor"

    def self.load
      EXTENSION.load
      require "manypack"
    end

    def self.feature = nil # to require
    def self.version = "of #{RUBY_VERSION}"

    # @return [Floor::Plan, Floor::Walk] what the operation needs in place of bytes or of the object
    def self.argument(operation, payload)
      operation == "pack" ? Floor::Walk.new(payload, Manypack.pack(payload).bytesize) : Floor::Plan.new(payload)
    end

    def self.pack(walk) = walk.run
    def self.unpack(plan) = plan.run

    # It has no bytes to compare: the graph must be the same, and every string in the bytes.
    def self.check(payload)
      bytes = pack(argument("pack", payload))
      missing = strings(payload).any? { |string| !bytes.include?(string.b) }
      raise "the floor is cracked" if missing || unpack(argument("unpack", payload)).inspect != payload.inspect

      { bytes: bytes.bytesize, same: nil }
    rescue TypeError
      nil # a Symbol
    end

    def self.strings(object)
      case object
      when String then [object]
      when Array then object.flat_map { |element| strings(element) }.uniq
      when Hash then strings(object.to_a)
      else []
      end
    end
    private_class_method :strings
  end
end

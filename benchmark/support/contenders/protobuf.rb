# frozen_string_literal: true

# The google-protobuf gem with a schema for the structured message, which is all that it is measured by. Its objects
# keep what was decoded and make a Ruby String of a field when it is read, which nobody does here.

module Contenders
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
end

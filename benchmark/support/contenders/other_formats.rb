# frozen_string_literal: true

# Libraries of other formats.

require_relative "message_pack"

module Contenders
  # The json library that this Ruby, or the bundle, has.
  module WithJson
    extend UnpackedLooks
    extend ByHand

    def self.label = "JSON"
    def self.load = require("json")
    def self.version = JSON::VERSION
    def self.pack(object) = JSON.generate(object)
    def self.unpack(bytes) = JSON.parse(bytes)
    def self.decode(bytes, symbols) = JSON.parse(bytes, symbolize_names: symbols)

    # Returns a Proc for each way of JSON, of a document or of objects.
    def self.json(operation, payload)
      text = JSON.generate(payload.respond_to?(:document) ? payload.document : payload)
      case operation
      when "from_json" then -> { JSON.parse(text.dup) }
      when "to_json" then -> { JSON.generate(payload) }
      when "load_json" then -> { payload.by_hand.call(decode(text.dup, payload.symbols)) }
      else payload.objects.then { |all| -> { JSON.generate(all.is_a?(Array) ? all.map(&:to_h) : all.to_h) } }
      end
    end
  end

  # The oj gem, by its fast parser.
  module WithOj
    extend Library["oj"]

    def self.load
      super
      const_set(:PARSER, Oj::Parser.new(:usual))
    end

    def self.pack(object) = Oj.dump(object, mode: :strict)
    def self.unpack(bytes) = PARSER.parse(bytes)
  end

  # The nosj gem, which looks into JSON without making the objects that nobody asks for.
  module WithNosj
    extend Library["nosj"]

    # Returns a Proc for each task that nosj can do.
    def self.looks
      lazy = Payloads::Look::TASKS.slice("100 names by each and dig", "100 names by index", "all prices")
      lazy.transform_values { |task| ->(json) { task.call(NOSJ.lazy(json)) } }.merge(
        Payloads::Look::TASKS.slice(Payloads::Look::AGAIN),
        "a scalar near the start" => ->(json) { NOSJ.dig(json, "statuses", 0, "created_at") },
        "a scalar near the end" => ->(json) { NOSJ.dig(json, "search_metadata", "count") },
        "three scalars" => lambda do |json|
          NOSJ.dig_many(json, [["statuses", 50, "id"], ["statuses", 99, "user", "name"], %w[search_metadata count]])
        end,
        "change one field" => ->(json) { NOSJ.splice(json, "/search_metadata/count" => 1) },
        "a coordinate near the end" => lambda do |json|
          NOSJ.dig(json, "features", 0, "geometry", "coordinates", -1, -1, 0)
        end
      )
    end

    def self.source(task, document)
      json = NOSJ.generate(document)
      task == Payloads::Look::AGAIN ? NOSJ.lazy(json) : json
    end

    def self.unpacked(json) = NOSJ.parse(json)
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
    extend Library["cbor"]

    def self.pack(object) = CBOR.encode(object)
    def self.unpack(bytes) = CBOR.decode(bytes)
  end

  # The google-protobuf gem with a schema for rows, which is all that it is measured by. Its objects keep what was
  # decoded and make a Ruby String of a field when it is read.
  module WithProtobuf
    def self.label = "protobuf, by schema"

    def self.load
      require "google/protobuf"
      require "google/protobuf/descriptor_pb"
      pool = Google::Protobuf::DescriptorPool.new
      pool.add_serialized_file(Google::Protobuf::FileDescriptorProto.encode(schema))
      %i[Row Rows].each { |name| const_set(name, pool.lookup(name.name).msgclass) }
    end

    def self.version = Gem.loaded_specs.fetch("google-protobuf").version.to_s

    def self.schema
      fields = Payloads::Classes::ROW.keys.each.with_index(1).map do |name, number|
        Google::Protobuf::FieldDescriptorProto.new(name: name.name, number: number, label: :LABEL_OPTIONAL,
                                                   type: :TYPE_STRING)
      end
      rows = Google::Protobuf::FieldDescriptorProto.new(name: "rows", number: 1, label: :LABEL_REPEATED,
                                                        type: :TYPE_MESSAGE, type_name: ".Row")
      Google::Protobuf::FileDescriptorProto.new(
        name: "rows.proto", syntax: "proto3",
        message_type: [Google::Protobuf::DescriptorProto.new(name: "Row", field: fields),
                       Google::Protobuf::DescriptorProto.new(name: "Rows", field: [rows])]
      )
    end
    private_class_method :schema

    # Its rows are messages.
    def self.typed(operation, typed)
      return unless typed.symbols

      rows = Rows.new(rows: typed.decoded.map { |row| Row.new(**row) })
      bytes = Rows.encode(rows)
      case operation
      when "from objects" then -> { Rows.encode(rows) }
      when "to objects" then -> { Rows.decode(bytes).rows.map { |row| all(row) } }
      when "lazily" then -> { Rows.decode(bytes).rows.to_a }
      else -> { Rows.decode(bytes).rows.to_a.each { |row| [row.id, row.city, row.note] } }
      end
    end

    # Every field made a String, by a message that has them.
    def self.all(row)
      row.tap { [row.id, row.name, row.street, row.city, row.zip, row.country, row.phone, row.email, row.company,
                 row.title, row.note] }
    end
    private_class_method :all
  end
end

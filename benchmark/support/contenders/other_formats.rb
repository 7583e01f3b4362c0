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

  # The oj gem's Oj::Doc, which parses a document without making its objects.
  module WithOjDoc
    # By task; its paths count from 1.
    PATHS = { "a scalar near the start" => ["/statuses/1/created_at"],
              "a scalar near the end" => ["/search_metadata/count"],
              "three scalars" => %w[/statuses/51/id /statuses/100/user/name /search_metadata/count],
              "100 names by path" => (1..100).map { |i| "/statuses/#{i}/user/screen_name" }.freeze }.freeze

    def self.label = "Oj::Doc"
    def self.load = require("oj")
    def self.version = Oj::VERSION

    def self.looks
      PATHS.transform_values do |paths|
        lambda do |json|
          Oj::Doc.open(json) { |doc| paths.one? ? doc.fetch(paths.first) : paths.map { |path| doc.fetch(path) } }
        end
      end
    end

    def self.source(_task, document) = Oj.dump(document, mode: :strict)
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

  # The bson gem, which carries nothing but maps at the top.
  module WithBson
    extend Library["bson"]

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

  # The google-protobuf gem with a schema for the structured message and one for rows, which is all that it is measured
  # by. Its objects keep what was decoded and make a Ruby String of a field when it is read, which of the message nobody
  # does.
  module WithProtobuf
    STRINGS = %w[host user time method path referer agent].freeze
    INTEGERS = %w[code size pid took_us].freeze

    def self.label = "protobuf, by schema"

    def self.load
      require "google/protobuf"
      require "google/protobuf/descriptor_pb"
      pool = Google::Protobuf::DescriptorPool.new
      pool.add_serialized_file(Google::Protobuf::FileDescriptorProto.encode(schema))
      %i[Line Row Rows].each { |name| const_set(name, pool.lookup(name.name).msgclass) }
    end

    def self.version = Gem.loaded_specs.fetch("google-protobuf").version.to_s

    def self.schema
      types = STRINGS.to_h { |name| [name, :TYPE_STRING] }.merge(INTEGERS.to_h { |name| [name, :TYPE_INT64] })
      row = Payloads::Classes::ROW.to_h { |name, _| [name.name, :TYPE_STRING] }
      rows = Google::Protobuf::FieldDescriptorProto.new(name: "rows", number: 1, label: :LABEL_REPEATED,
                                                        type: :TYPE_MESSAGE, type_name: ".Row")
      Google::Protobuf::FileDescriptorProto.new(
        name: "line.proto", syntax: "proto3",
        message_type: [message("Line", types), message("Row", row),
                       Google::Protobuf::DescriptorProto.new(name: "Rows", field: [rows])]
      )
    end
    private_class_method :schema

    def self.message(name, types)
      fields = types.each.with_index(1).map do |(field, type), number|
        Google::Protobuf::FieldDescriptorProto.new(name: field, number: number, label: :LABEL_OPTIONAL, type: type)
      end
      Google::Protobuf::DescriptorProto.new(name: name, field: fields)
    end
    private_class_method :message

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

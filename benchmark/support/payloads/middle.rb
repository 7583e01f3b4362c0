# frozen_string_literal: true

# What most programs do, with messages that come once: the benchmark's group "middle".

require "json"
require "stringio"
require_relative "calls"

module Payloads
  # A library and its messages. It works on the next of 16 copies each time, so that nothing that remembers a message
  # helps.
  class Middle
    COPIES = 16
    Order = Struct.new(:id, :type, :name, :total)
    Attached = Class.new(Order)

    # Documents are made once for all rows of a process.
    def self.document(name) = (@documents ||= {})[name] ||= yield

    # A row for any library, or for this one alone.
    #
    # times:: how many messages the work of a call has
    def self.any(times = 1, &make) = Calls::Way.new(times, ->(library, _) { make.call(new(library)) })

    def self.ours(times = 1, &make)
      Calls::Way.new(times, ->(library, _) { make.call(new(library)) if library.name == "Manypack" })
    end

    attr_reader :library

    def initialize(library)
      @library = library
    end

    # Returns the work for a long message: one of its copies in turn.
    def long(document)
      copies = Array.new(COPIES) { (library.pack(document) + "").freeze }
      turn = -1
      -> { yield copies[(turn += 1) % COPIES] }
    end

    # Returns the work for short messages, or for objects: each of them.
    def short(objects = orders, packed: true)
      objects = objects.first(COPIES).map { |object| packed ? (library.pack(object) + "").freeze : object }
      -> { objects.map { |object| yield object } }
    end

    def tweets = self.class.document(:tweets) { Payloads.twitter }
    def geo = self.class.document(:geo) { Payloads.documents.fetch("Geo") }
    def rows = self.class.document(:rows) { Payloads.rows(100_000) }
    def orders = flat.map { |row| { **row.slice("type", "id"), "user" => row.slice("name"), "total" => 1.5 } }
    def flat = rows.map { |row| { "id" => row["id"], "type" => "order", "name" => row["name"], "total" => 1.5 } }
    def made = flat.map { |row| Order.new(*row.values) }
    def attached = made.map { |order| attached_class.new(*order.to_a) }
    def points = Array.new(200) { |i| ExtTypes::Point.new(i, i) }
    def nested = Array.new(200) { |i| ExtTypes::Order.new(i, i) }
    def stream = @stream ||= rows.map { |row| library.pack(row) }.join.freeze
    def pool = @pool ||= factory.pool

    def record
      @record ||= Manypack::Record.new(Order, id: Integer, type: String, name: String, total: Float)
    end

    def attached_class
      self.class.document(:attached) { record.inherited_by(Attached).attach.klass }
    end

    def factory
      @factory ||= ExtTypes.register(library::Factory.new, library == Manypack ? Manypack::Time : library::Time).freeze
    end

    NAMES = "$.statuses[*].user.screen_name"
    NUMBERS = "$.features[*].geometry.coordinates[*][*][0]"
    CHOSEN = "$[?@.id > 1000000000 && @.type == 'order'].name"
    FIELDS = { ids: "$[*].id", names: "$[*].name", totals: "$[*].total" }.freeze
    BOTH = { x: NUMBERS, y: NUMBERS.sub(/0(?=\]\z)/, "1"), kinds: "$.features[*].type" }.freeze
    CHOOSE = lambda do |view|
      case view
      in { type: "refund" } then 1
      in { type: "order", id: Integer => id } then id
      end
    end
    THREE = ->(v) { [v.dig("statuses", 3, "user", "name"), v.dig("statuses", 50, "id"), v["search_metadata"]["count"]] }
    INDEX = ->(statuses) { Array.new(100) { |i| statuses.dig(i, "user", "screen_name") } }
    FORWARD = lambda do |packer, statuses|
      statuses.each { |status| packer.write(status) if status["lang"] == "ja" }
      packer.to_s
    end

    ROWS = {
      "unpack tweets" => any { |m| m.long(m.tweets) { |b| m.library.unpack(b) } },
      "unpack districts" => any { |m| m.long(m.geo) { |b| m.library.unpack(b) } },
      "unpack rows" => any { |m| m.long(m.rows) { |b| m.library.unpack(b) } },
      "unpack rows to Symbols" => any { |m| m.long(m.rows) { |b| m.library.unpack(b, symbolize_keys: true) } },
      "pack tweets" => any { |m| m.tweets.then { |page| -> { m.library.pack(page) } } },
      "an Unpacker of a String" => any { |m| -> { m.library::Unpacker.new.feed(m.stream).each.count } },
      "an Unpacker of an io" => any { |m| -> { m.library::Unpacker.new(StringIO.new(m.stream)).each.count } },
      "a Packer of rows" => any { |m| -> { m.rows.reduce(m.library::Packer.new) { |pk, row| pk.write(row) }.to_s } },
      "dump ext types" => any { |m| m.points.then { |all| -> { m.factory.dump(all) } } },
      "load ext types" => any { |m| m.factory.dump(m.points).then { |b| -> { m.factory.load(b) } } },
      "dump recursive ext types" => any { |m| m.nested.then { |all| -> { m.factory.dump(all) } } },
      "load recursive ext types" => any { |m| m.factory.dump(m.nested).then { |b| -> { m.factory.load(b) } } },

      "unpack shareable rows" => ours { |m| m.long(m.rows) { |b| Manypack.unpack(b, shareable: true) } },
      "unpack tweets of a stranger" => ours { |m| m.long(m.tweets) { |b| Manypack.unpack(b, untrusted: true) } },
      "canonical tweets" => ours { |m| m.tweets.then { |page| -> { Manypack.pack(page, canonical: true) } } },
      "dig near the start" => ours { |m| m.long(m.tweets) { |b| Manypack.dig(b, "statuses", 0, "user", "name") } },
      "dig near the start, keys unique" =>
        ours { |m| m.long(m.tweets) { |b| Manypack.dig(b, "statuses", 0, "user", "name", duplicate_keys: :first) } },
      "dig near the end" => ours { |m| m.long(m.tweets) { |b| Manypack.dig(b, "search_metadata", "count") } },
      "dig an element" => ours { |m| m.long(m.geo) { |b| Manypack.dig(b, "features", 150, "bbox", 1) } },
      "three values of tweets" => ours { |m| m.long(m.tweets) { |b| THREE.call(Manypack::View.new(b)) } },
      "names by index" => ours { |m| m.long(m.tweets) { |b| INDEX.call(Manypack::View.new(b)["statuses"]) } },
      "each status" => ours { |m| m.long(m.tweets) { |b| Manypack::View.new(b)["statuses"].each.sum { |v| v["id"] } } },
      "filter and forward" =>
        ours { |m| m.long(m.tweets) { |b| FORWARD.call(Manypack::Packer.new, Manypack::View.new(b)["statuses"]) } },
      "a View that is checked" => ours { |m| m.long(m.tweets) { |b| Manypack::View.new(b, check: true).size } },
      "names by path" => ours { |m| Manypack::Path.new(NAMES).then { |path| m.long(m.tweets) { |b| path.to_a(b) } } },
      "numbers by path" => ours { |m| Manypack::Path.new(NUMBERS).then { |path| m.long(m.geo) { |b| path.to_a(b) } } },
      "names by filter" => ours { |m| Manypack::Path.new(CHOSEN).then { |path| m.long(m.flat) { |b| path.to_a(b) } } },
      "fields by paths" => ours { |m| Manypack::Path.all(FIELDS).then { |all| m.long(m.flat) { |b| all.read(b) } } },
      "numbers by paths" => ours { |m| Manypack::Path.all(BOTH).then { |all| m.long(m.geo) { |b| all.read(b) } } },
      "Records of rows" => ours { |m| Manypack::Type[[m.record]].then { |type| m.long(m.flat) { |b| type.load(b) } } },
      "dump Records" => ours { |m| m.made.then { |all| -> { Manypack::Type[[m.record]].dump(all) } } },
      "pack attached Records" => ours { |m| m.attached.then { |all| -> { Manypack.pack(all) } } },
      "split" => ours { |m| -> { Manypack.split(m.stream).count } },
      "from_json tweets" => ours { |m| JSON.generate(m.tweets).then { |text| -> { Manypack.from_json(text) } } },
      "from_json districts" => ours { |m| JSON.generate(m.geo).then { |text| -> { Manypack.from_json(text) } } },
      "to_json tweets" => ours { |m| m.long(m.tweets) { |b| Manypack.to_json(b) } },
      "to_json districts" => ours { |m| m.long(m.geo) { |b| Manypack.to_json(b) } },

      "unpack a row" => any(COPIES) { |m| m.short(m.rows) { |b| m.library.unpack(b) } },
      "unpack a row to Symbols" =>
        any(COPIES) { |m| m.short(m.rows) { |b| m.library.unpack(b, symbolize_keys: true) } },
      "pack a row" => any(COPIES) { |m| m.short(m.rows, packed: false) { |row| m.library.pack(row) } },
      "a pool's packer" =>
        any(COPIES) { |m| m.short(packed: false) { |order| m.pool.packer { |pk| pk.write(order).to_s } } },
      "a pool's unpacker" => any(COPIES) { |m| m.short { |b| m.pool.unpacker { |unpacker| unpacker.feed(b).read } } },
      "dump of a pool" => any(COPIES) { |m| m.short(packed: false) { |order| m.pool.dump(order) } },

      "dig an order" => ours(COPIES) { |m| m.short { |b| Manypack.dig(b, "user", "name") } },
      "three values of an order" =>
        ours(COPIES) { |m| m.short { |b| Manypack::View.new(b).then { |v| [v["type"], v["id"], v["user"]["name"]] } } },
      "a pattern" => ours(COPIES) { |m| m.short { |b| CHOOSE.call(Manypack::View.new(b)) } },
      "splice a field" => ours(COPIES) { |m| m.short { |b| Manypack::View.new(b).splice("id" => 7).bytes } },
      "first by path" =>
        ours(COPIES) { |m| Manypack::Path.new("$.user.name").then { |path| m.short { |b| path.first(b) } } },
      "a Record" => ours(COPIES) { |m| m.short(m.flat) { |b| m.record.load(b) } },
      "dump a Record" => ours(COPIES) { |m| m.short(m.made, packed: false) { |order| m.record.dump(order) } }
    }.freeze
  end
end

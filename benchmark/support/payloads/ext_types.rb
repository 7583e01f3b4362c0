# frozen_string_literal: true

# Objects of a program's own classes. Those that need ext types: by a fixed layout, the timestamp of the specification,
# and by other objects in them. And documents that become objects: by Records, or by hand.

module Payloads
  module ExtTypes
    Point = Struct.new(:x, :y)
    Order = Struct.new(:id, :lines)

    POINT = 1
    ORDER = 2
    TIMESTAMP = -1

    # factory:: of Manypack or of the msgpack gem
    # time:: the module with its packer and unpacker of Time
    def self.register(factory, time)
      factory.register_type(POINT, Point, packer: ->(point) { [point.x, point.y].pack("l>2") },
                                          unpacker: ->(body) { Point.new(*body.unpack("l>2")) })
      factory.register_type(ORDER, Order, recursive: true,
                                          packer: ->(order, packer) { packer.write(order.id).write(order.lines) },
                                          unpacker: ->(unpacker) { Order.new(unpacker.read, unpacker.read) })
      factory.register_type(TIMESTAMP, ::Time, packer: time::Packer, unpacker: time::Unpacker)
      factory
    end

    def self.build(random)
      {
        "a point" => point(random),
        "100 points" => Array.new(100) { point(random) },
        "100 times" => Array.new(100) { time(random) },
        "100 orders (recursive)" =>
          Array.new(100) { Order.new(random.rand(1 << 20), { "milk" => random.rand(9), "bread" => 2 }) },
        "all three" =>
          Array.new(50) { Order.new(random.rand(1 << 20), { "at" => point(random), "time" => time(random) }) },
        "an order (recursive)" => Order.new(random.rand(1 << 20), { "milk" => 1, "bread" => 2 }),
        "orders in orders (recursive)" => nested_order(random, 5)
      }
    end

    def self.nested_order(random, depth)
      Order.new(random.rand(1 << 20), depth.zero? ? [] : Array.new(2) { nested_order(random, depth - 1) })
    end
    private_class_method :nested_order

    def self.point(random)
      Point.new(random.rand(-1_000..1_000), random.rand(-1_000_000..1_000_000))
    end
    private_class_method :point

    def self.time(random)
      ::Time.at(1_700_000_000 + random.rand(1 << 24), random.rand(1_000_000_000), :nanosecond)
    end
    private_class_method :time
  end

  # What msgpack-ruby measures ext types with: the type is registered anew for every message.
  class Extended
    BODY = "\x80".b.freeze

    def self.from_msgpack_ext(body)
      body == BODY ? new : raise(ArgumentError, body)
    end

    def to_msgpack_ext
      BODY
    end

    def ==(other)
      other.is_a?(Extended)
    end

    def inspect
      "#<Extended>"
    end
  end

  # A document, and the objects that a program wants in its place.
  #
  # type:: a Proc that makes the Manypack::Type, which not every contender has
  # symbols:: true if by_hand takes rows whose keys are Symbols
  # by_hand:: a Proc that turns a decoded document into the objects
  Typed = Struct.new(:document, :symbols, :type, :by_hand, keyword_init: true) do
    # Returns the document as by_hand takes it.
    def decoded
      symbols ? JSON.parse(JSON.generate(document), symbolize_names: true) : document
    end

    def objects = by_hand.call(decoded)

    # Returns whether an object of any contender's classes has the same values.
    def same?(loaded) = plain(loaded) == plain(objects)

    private

    def plain(object)
      case object
      when Hash then object.to_h { |key, value| [key.to_s, plain(value)] }
      when Array then object.map { |value| plain(value) }
      when nil, true, false, Numeric, String then object
      else plain(object.to_h)
      end
    end
  end

  # The documents of Typed.
  module Classes
    # Of classes with keywords: Data, or Struct in Ruby 3.1.
    def self.define(*members)
      defined?(Data.define) ? Data.define(*members) : Struct.new(*members, keyword_init: true)
    end

    TWEET = { created_at: String, id: Integer, id_str: String, text: String, source: String, truncated: [true, false],
              retweet_count: Integer, favorite_count: Integer, favorited: [true, false], retweeted: [true, false],
              lang: String }.freeze
    ROW = %i[id name street city zip country phone email company title note].to_h { |name| [name, String] }.freeze

    Page = define(:statuses)
    Tweet = define(*TWEET.keys)
    Row = define(*ROW.keys)
    Named = define(:id, :name)
    Price = define(:amount, :audienceSubCategoryId, :seatCategoryId)
    Area = define(:areaId, :blockIds)
    SeatCategory = define(:areas, :seatCategoryId)
    Performance = define(:eventId, :id, :logo, :name, :prices, :seatCategories, :seatMapImage, :start, :venueCode)
    Event = define(:description, :id, :logo, :name, :subTopicIds, :subjectCode, :subtitle, :topicIds)
    Catalog = define(:areaNames, :audienceSubCategoryNames, :blockNames, :events, :performances, :seatCategoryNames,
                     :subTopicNames, :subjectNames, :topicNames, :topicSubTopics, :venueNames)

    module_function

    # Eleven fields of each status; the rest is passed over.
    def twitter(document)
      type = -> { record(Page, statuses: [record(Tweet, **TWEET)]) }
      Typed.new(document: document, type: type, by_hand: lambda do |page|
        Page.new(statuses: page.fetch("statuses").map do |status|
          Tweet.new(created_at: status["created_at"], id: status["id"], id_str: status["id_str"], text: status["text"],
                    source: status["source"], truncated: status["truncated"], retweet_count: status["retweet_count"],
                    favorite_count: status["favorite_count"], favorited: status["favorited"],
                    retweeted: status["retweeted"], lang: status["lang"])
        end)
      end)
    end

    # Everything of a catalog of events.
    def catalog(document)
      Typed.new(document: document, type: method(:catalog_type).to_proc, by_hand: lambda do |hash|
        events = hash["events"].transform_values { |event| Event.new(**event.transform_keys(&:to_sym)) }
        Catalog.new(**hash.transform_keys(&:to_sym), events: events,
                                                     performances: hash["performances"].map { |one| performance(one) })
      end)
    end

    # Rows of eleven Strings.
    def rows(count, random)
      rows = Array.new(count) { ROW.keys.to_h { |name| [name.name, Rows.words(random, 2)] } }
      Typed.new(document: rows, symbols: true, type: -> { Manypack::Type[[record(Row, **ROW)]] },
                by_hand: ->(hashes) { hashes.map { |hash| Row.new(**hash) } })
    end

    # As small as a message of a service.
    def small
      Typed.new(document: { "id" => 1, "name" => "Ada" }, symbols: true, by_hand: ->(hash) { Named.new(**hash) },
                type: -> { record(Named, id: Integer, name: String) })
    end

    def performance(hash)
      categories = hash["seatCategories"].map do |one|
        SeatCategory.new(seatCategoryId: one["seatCategoryId"],
                         areas: one["areas"].map { |area| Area.new(**area.transform_keys(&:to_sym)) })
      end
      prices = hash["prices"].map { |price| Price.new(**price.transform_keys(&:to_sym)) }
      Performance.new(**hash.transform_keys(&:to_sym), prices: prices, seatCategories: categories)
    end

    def catalog_type
      text, names, ids = Manypack::Type[String, nil], { String => String }, [Integer]
      price = record(Price, **Price.members.to_h { |name| [name, Integer] })
      category = record(SeatCategory, areas: [record(Area, areaId: Integer, blockIds: ids)], seatCategoryId: Integer)
      performance = record(Performance, eventId: Integer, id: Integer, logo: text, name: text, venueCode: String,
                                        prices: [price], seatCategories: [category], seatMapImage: text, start: Integer)
      event = record(Event, description: text, id: Integer, logo: text, name: text, subTopicIds: ids, subjectCode: text,
                            subtitle: text, topicIds: ids)
      record(Catalog, areaNames: names, audienceSubCategoryNames: names, blockNames: names,
                      events: { String => event }, performances: [performance], seatCategoryNames: names,
                      subTopicNames: names, subjectNames: names, topicNames: names,
                      topicSubTopics: { String => ids }, venueNames: names)
    end

    def record(klass, **types) = Manypack::Record.new(klass, **types)
  end
end

# frozen_string_literal: true

# Objects that need ext types: by a fixed layout, the timestamp of the specification, and by other objects in them.

module Payloads
  module ExtTypes
    Point = Struct.new(:x, :y)
    Order = Struct.new(:id, :lines)

    POINT = 1
    ORDER = 2
    TIMESTAMP = -1

    # @param factory [Object] of Manypack or of the msgpack gem
    # @param time [Module] the packer and unpacker of Time that come with it
    # @return [Object] the factory
    def self.register(factory, time)
      factory.register_type(POINT, Point, packer: ->(point) { [point.x, point.y].pack("l>2") },
                                          unpacker: ->(body) { Point.new(*body.unpack("l>2")) })
      factory.register_type(ORDER, Order, recursive: true,
                                          packer: ->(order, packer) { packer.write(order.id).write(order.lines) },
                                          unpacker: ->(unpacker) { Order.new(unpacker.read, unpacker.read) })
      factory.register_type(TIMESTAMP, ::Time, packer: time::Packer, unpacker: time::Unpacker)
      factory
    end

    # @param random [Random]
    # @return [Hash{String => Object}]
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
end

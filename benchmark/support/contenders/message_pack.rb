# frozen_string_literal: true

# Libraries of the same format: this gem, and the msgpack gem as it is called and at its fastest.

require_relative "../payloads/ext_types"

module Contenders
  # What the name of a gem says about a contender: its label, what to load, and its version.
  module Library
    def self.[](gem)
      Module.new do
        define_method(:label) { gem }
        define_method(:load) { require(gem) }
        define_method(:version) { Gem.loaded_specs.fetch(gem).version.to_s }
      end
    end
  end

  # Looks into a document, with a library that has to unpack all of it.
  module UnpackedLooks
    # Returns a Proc for each task.
    def looks
      looks = Payloads::Look::TASKS.transform_values { |task| ->(bytes) { task.call(unpack(bytes)) } }
      Payloads::Look::PACKED.each do |name|
        task = Payloads::Look::TASKS.fetch(name)
        looks[name] = ->(bytes) { pack(task.call(unpack(bytes))) }
      end
      looks.merge(Payloads::Look::TASKS.slice(Payloads::Look::AGAIN))
    end

    # Returns what a task starts from.
    def source(task, document)
      bytes = pack(document)
      task == Payloads::Look::AGAIN ? unpack(bytes) : bytes
    end

    def unpacked(bytes) = unpack(bytes)
  end

  # The methods that this gem and the msgpack gem have in common. Both have them as code of their own, with the name of
  # the gem as a constant: a method that returns the gem would be measured, too.
  module BothGems
    def of_a_gem(gem, name)
      module_eval(<<~RUBY, __FILE__, __LINE__ + 1)
        def self.feature = "#{gem}"
        def self.library = #{name}
        def self.version = #{name}::VERSION
        def self.pack(object) = #{name}.pack(object)
        def self.unpack(bytes) = #{name}.unpack(bytes)

        def self.dump(object) = FACTORY.dump(object)
        def self.restore(bytes) = FACTORY.load(bytes)

        # As ActiveSupport::MessagePack calls it; 128 is its signature.
        def self.serialize(object)
          POOL.packer do |packer|
            packer.write(128)
            packer.write(object)
            packer.full_pack
          end
        end

        def self.deserialize(bytes)
          POOL.unpacker do |unpacker|
            unpacker.feed_reference(bytes)
            raise "no signature" unless unpacker.read == 128

            unpacker.full_unpack
          end
        end

        def self.pack_registering(object)
          packer = #{name}::Packer.new
          packer.register_type(0, Payloads::Extended, :to_msgpack_ext)
          packer.write(object).to_s
        end

        def self.unpack_registering(bytes)
          unpacker = #{name}::Unpacker.new
          unpacker.register_type(0, Payloads::Extended, :from_msgpack_ext)
          unpacker.feed(bytes).read
        end

        def self.packer(io) = #{name}::Packer.new(io)
        def self.unpacker(io = nil) = #{name}::Unpacker.new(io)
        def self.skip(bytes) = UNPACKER.feed(bytes).skip
        def self.next_object = UNPACKER.read
        def self.bytes(object) = #{name}.pack(object)
      RUBY
    end
  end

  # This gem.
  module WithManypack
    extend BothGems

    def self.label = "Manypack"

    def self.load
      require("manypack")
      const_set(:FACTORY, Payloads::ExtTypes.register(Manypack::Factory.new, Manypack::Time).freeze)
      const_set(:UNPACKER, Manypack::Unpacker.new)
      const_set(:POOL, FACTORY.pool(5))
    end

    of_a_gem "manypack", "Manypack"

    # Returns a Proc for each task: some have a shorter way through a View, the others treat it as any object.
    def self.looks
      names = Manypack::Path.new("$.statuses[*].user.screen_name")
      prices = Manypack::Path.new("$.performances[*].prices[*].amount")
      filter = Payloads::Look::TASKS.fetch("filter and pass on")
      check = ->(bytes) { Manypack::View.new(bytes, check: true).size }
      views = Payloads::Look::TASKS.transform_values { |task| ->(bytes) { task.call(Manypack::View.new(bytes)) } }
      views.merge(
        Payloads::Look::TASKS.slice(Payloads::Look::AGAIN),
        "a scalar near the start" => ->(bytes) { Manypack.dig(bytes, "statuses", 0, "created_at") },
        "a scalar near the end" => ->(bytes) { Manypack.dig(bytes, "search_metadata", "count") },
        "100 names by path" => ->(bytes) { names.to_a(bytes) },
        "filter and pass on" => ->(bytes) { Manypack.pack(filter.call(Manypack::View.new(bytes))) },
        "change one field" => ->(bytes) { Manypack::View.new(bytes).splice("search_metadata.count" => 1).bytes },
        **["check all of it", "points checked"].to_h { |name| [name, check] },
        "a coordinate near the end" => lambda do |bytes|
          Manypack.dig(bytes, "features", 0, "geometry", "coordinates", -1, -1, 0)
        end,
        "all prices" => ->(bytes) { prices.to_a(bytes) }
      )
    end

    def self.source(task, document)
      bytes = pack(document)
      return bytes unless task == Payloads::Look::AGAIN

      Manypack::View.new(bytes).tap { |view| 2.times { looks.fetch(task).call(view) } } # after that it has its index
    end

    def self.unpacked(bytes) = unpack(bytes)
    # By Records.
    def self.typed(operation, typed)
      type = typed.type.call
      bytes = pack(typed.document)
      case operation
      when "to objects" then -> { type.load(bytes) }
      when "from objects" then typed.objects.then { |objects| -> { type.dump(objects) } }
      else lazily(operation, lazy(type), bytes)
      end
    end

    # Returns a Proc for each way of JSON, of a document or of objects.
    def self.json(operation, payload)
      text = JSON.generate(payload.respond_to?(:document) ? payload.document : payload)
      case operation
      when "from_json" then -> { Manypack.from_json(text.dup) }
      when "to_json" then pack(payload).then { |bytes| -> { Manypack.to_json(bytes) } }
      when "load_json" then payload.type.call.then { |type| -> { type.load_json(text.dup) } }
      else [payload.type.call, payload.objects].then { |type, objects| -> { type.dump_json(objects) } }
      end
    end

    def self.lazily(operation, type, bytes)
      return -> { type.load(bytes) } if operation == "lazily"

      -> { type.load(bytes).each { |row| [row.id, row.city, row.note] } }
    end
    private_class_method :lazily

    # Of a list of Records.
    def self.lazy(type) = Manypack::Type[[type.spec.last.last.lazy]]
    private_class_method :lazy
  end

  # What is measured beside Records: decoding to Hashes, and making the objects of them in Ruby.
  module ByHand
    def typed(operation, typed)
      bytes = pack(typed.document)
      by_hand = typed.by_hand
      case operation
      when "from objects" then typed.objects.then { |objects| -> { pack(objects.map(&:to_h)) } }
      when "lazily, three of 11 fields"
        -> { by_hand.call(decode(bytes, typed.symbols)).each { |row| [row.id, row.city, row.note] } }
      else -> { by_hand.call(decode(bytes, typed.symbols)) }
      end
    end
  end

  # This gem without Records.
  module WithManypackByHand
    extend ByHand

    def self.label = "Manypack by hand"
    def self.load = require("manypack")
    def self.version = Manypack::VERSION
    def self.decode(bytes, symbols) = Manypack.unpack(bytes, symbolize_keys: symbols)

    class << self
      private # for no other group

      def pack(object) = Manypack.pack(object)
    end
  end

  # This gem without objects of a program's classes.
  module WithManypackHashes
    def self.label = "Manypack Hashes"
    def self.load = require("manypack")
    def self.version = Manypack::VERSION

    def self.typed(operation, typed)
      document = typed.document
      return -> { Manypack.pack(document) } if operation == "from objects"

      bytes = Manypack.pack(document)
      -> { Manypack.unpack(bytes) }
    end
  end

  # This gem, reading what it could skip.
  module WithManypackRead
    extend UnpackedLooks

    def self.label = "read instead"

    def self.load
      require("manypack")
      const_set(:UNPACKER, Manypack::Unpacker.new)
    end

    def self.version = Manypack::VERSION
    def self.skip(bytes) = UNPACKER.feed(bytes).read
    def self.next_object = UNPACKER.read
    def self.bytes(object) = Manypack.pack(object)

    class << self
      private # for no other group

      def pack(object) = Manypack.pack(object)
      def unpack(bytes) = Manypack.unpack(bytes)
    end
  end

  # The msgpack gem as most programs call it.
  module WithMsgpack
    extend BothGems
    extend UnpackedLooks
    extend ByHand

    def self.label = "msgpack"

    def self.load
      require("msgpack")
      const_set(:FACTORY, Payloads::ExtTypes.register(MessagePack::Factory.new, MessagePack::Time))
      const_set(:UNPACKER, MessagePack::Unpacker.new)
      const_set(:POOL, FACTORY.dup.freeze.pool(5))
    end

    of_a_gem "msgpack", "MessagePack"
    def self.decode(bytes, symbols) = MessagePack.unpack(bytes, symbolize_keys: symbols)
  end

  # The fastest that the msgpack gem offers: a pool of a frozen factory, with its cache of map keys.
  module WithMsgpackPool
    def self.label = "msgpack pool"

    def self.load
      require("msgpack")
      renew
    end

    # For every case: a pool's cache takes the first 63 keys that it meets, and never others.
    def self.renew
      constants.grep(/POOL/).each { |name| remove_const(name) }
      const_set(:POOL, MessagePack::Factory.new.freeze.pool(1, key_cache: true))
      factory = Payloads::ExtTypes.register(MessagePack::Factory.new, MessagePack::Time).freeze
      const_set(:EXT_POOL, factory.pool(1, key_cache: true))
    end

    def self.version = MessagePack::VERSION
    def self.pack(object) = POOL.dump(object)
    def self.unpack(bytes) = POOL.load(bytes)
    def self.dump(object) = EXT_POOL.dump(object)
    def self.restore(bytes) = EXT_POOL.load(bytes)
    def self.packer(io) = MessagePack::Packer.new(io)
    def self.unpacker(io = nil) = MessagePack::Unpacker.new(io, key_cache: true)
  end
end

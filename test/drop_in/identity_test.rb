# frozen_string_literal: true

# Whoever calls under the name MessagePack gets MessagePack's classes, and whoever calls under Manypack gets Manypack's.
require "test_helper"
require "support/program"

class DropInIdentityTest < Minitest::Test
  include ProgramHelper

  # Each Asked notes the classes that it is handed; so does the ext type of Held.
  ASKED = <<~RUBY
    require "manypack/drop_in"
    require "stringio"
    require "tempfile"
    TEMPFILE = Tempfile.new
    FILE = TEMPFILE.path
    SEEN = []
    def note(*objects) = SEEN.concat(objects.flat_map { |object| [object.class, object.buffer.class] })
    Asked = Class.new { def to_msgpack(packer) = note(packer) && packer.write(1) }
    Held = Struct.new(:value)
    PACK = ->(held, packer) { note(packer) && packer.write(held.value) }
    UNPACK = ->(unpacker) { note(unpacker) && Held.new(unpacker.read) }
    def knowing(target) = target.tap { target.register_type(1, Held, packer: PACK, unpacker: UNPACK, recursive: true) }
    def seen(name)
      SEEN.clear
      yield
      names = SEEN.map(&:name).uniq
      names.delete("\#{name}::Factory::Pool")
      names.all? { |one| one.start_with?("\#{name}::") } && names.any?
    end
    ITEM = [Asked.new, Held.new(Held.new(Asked.new))]
  RUBY

  def test_every_door_hands_out_the_classes_of_its_name
    assert_program <<~RUBY, "ok"
      #{ASKED}
      knowing(Manypack::DefaultFactory)
      bytes = Manypack.pack([Held.new(Held.new(1))])
      [MessagePack, Manypack].each do |name|
        factory = knowing(name::Factory.new)
        pool = factory.pool(2, symbolize_keys: true)
        doors = {
          pack: -> { name.pack(ITEM) }, dump: -> { name.dump(ITEM, StringIO.new) }, options: -> { name.pack(ITEM, max_depth: 9) },
          codec: -> { name.pack(ITEM, codec: knowing(Manypack::Factory.new).codec) },
          other: -> { name.pack(ITEM, codec: knowing(MessagePack::Factory.new).codec) },
          unpack: -> { name.unpack(bytes) }, io: -> { name.load(StringIO.new(bytes)) }, symbols: -> { name.unpack(bytes, symbolize_keys: true) },
          default: -> { name::DefaultFactory.dump(ITEM) && note(name::DefaultFactory.packer, name::DefaultFactory.unpacker) },
          factory: -> { factory.dump(ITEM) && factory.load(bytes) && factory.codec.pack(ITEM) && factory.codec.unpack(bytes) },
          packer: -> { note(factory.packer.write(ITEM), factory.packer(StringIO.new).write(ITEM)) },
          unpacker: -> { note(factory.unpacker, factory.unpacker(StringIO.new(bytes))) && factory.unpacker.feed(bytes).read },
          pool: -> { pool.dump(ITEM) && pool.load(bytes) },
          blocks: -> { pool.packer { |one| note(one.write(ITEM)) } && pool.unpacker { |one| note(one.feed(bytes)) && one.full_unpack } },
          new: -> { note(name::Packer.new.write(Asked.new), name::Unpacker.new.feed(bytes)) },
          each: -> { factory.unpacker.feed_each(bytes) { |one| one } },
          open: -> { name::Packer.open(FILE) { |one| note(one.write(ITEM)) } && name::Unpacker.open(FILE) { |one| note(one) } },
          file: -> { name.dump_file([Held.new(1)], FILE) || name.load_file(FILE) && name.foreach(FILE).to_a },
          split: -> { name.split(bytes, codec: knowing(Manypack::Factory.new).codec, as: :view).map(&:value) },
          **{ name: name, default_factory: name::DefaultFactory, factory_made: factory, pool_made: pool }.to_h do |door, one|
            [:"view_\#{door}", -> { [bytes, StringIO.new(bytes)].each { |source| one.load(source, as: :view).value } }]
          end
        }
        doors.each { |door, use| seen(name, &use) or raise "\#{name} \#{door}: \#{SEEN.uniq}" }
        raise unless pool.instance_of?(name::Factory::Pool)
      end
      raise SEEN.uniq.inspect unless seen(MessagePack) { ITEM.to_msgpack && ITEM.to_msgpack(StringIO.new) }
      puts "ok"
    RUBY
  end

  # As the documentation and the specs of the msgpack gem have it.
  def test_a_to_msgpack_that_compares_the_class
    assert_program <<~RUBY, "ok"
      require "manypack/drop_in"
      class Compared
        def to_msgpack(packer = nil)
          return MessagePack.pack(self, packer) unless packer.class == MessagePack::Packer

          packer.write_array_header(1).write(5)
        end
      end
      raise unless [MessagePack.pack(Compared.new), MessagePack::Factory.new.dump(Compared.new), Compared.new.to_msgpack].uniq == ["\\x91\\x05".b]
      puts "ok"
    RUBY
  end

  def test_names_in_texts
    assert_program <<~RUBY, "ok"
      require "manypack/drop_in"
      [MessagePack, Manypack].each do |name|
        factory = name::Factory.new
        { Factory: factory, Packer: factory.packer, Unpacker: factory.unpacker, Buffer: factory.packer.buffer, "Factory::Pool": factory.pool }
          .each { |one, object| raise object.inspect unless object.inspect.start_with?("#<\#{name}::\#{one}") }
        begin
          factory.freeze.register_type(1, Range)
        rescue FrozenError => e
          raise e.message unless e.message == "can't modify frozen \#{name}::Factory"
        end
      end
      raise unless MessagePack::Packer.name == "MessagePack::Packer" && MessagePack::DefaultFactory.inspect == "#<MessagePack::Factory>"
      puts "ok"
    RUBY
  end

  # What a MessagePack::Factory makes is as lenient as what MessagePack::Packer.new makes.
  def test_what_it_makes_is_lenient
    assert_program <<~'RUBY', "ok"
      require "manypack/drop_in"
      factory = MessagePack::Factory.new.tap { |made| made.register_type(0, Symbol) }
      raise unless factory.packer.class.new.write(:a).to_s == "\xA1a".b
      factory.packer.register_type(1, String) { |text| text }
      factory.packer(nil, unknown: 1)
      raise unless MessagePack::Factory::Pool.new(factory, 2).load(factory.dump(:a)) == :a
      raise unless MessagePack::Factory::Pool.new(MessagePack::Factory.new, 2, symbolize_keys: true).load("\x81\xA1a\x01") == { a: 1 }
      puts "ok"
    RUBY
  end

  # test-unit compares classes. Under Manypack each is a class of its own, which is an EncodeError or a DecodeError, too.
  def test_errors_are_of_the_classes_that_the_gem_raises
    assert_program <<~'RUBY', "ok"
      require "manypack/drop_in"
      require "stringio"
      nested = Class.new { def to_msgpack(packer) = packer.write_array_header(1).write(Object.new) }.new
      def raised
        yield
      rescue Exception => e
        e
      end
      {
        NoMethodError => [->(name) { name.pack([Object.new]) }, ->(name) { name::Packer.new.write(Object.new) }, ->(name) { name.pack([nested]) },
                          ->(name) { name::Factory.new.dump({ 1 => Object.new }) }, ->(name) { name::Factory.new.pool.dump(Object.new) }],
        RangeError => [->(name) { name.pack([2**70]) }, ->(name) { name::Packer.new.write_int(2**70) }, ->(name) { name::Packer.new.write_array_header(2**40) },
                       ->(name) { name.pack([Time.at(2**64)], timestamp: true) }],
        ArgumentError => [->(name) { name::Packer.new.write_float32("a") }],
        TypeError => [->(name) { name::Packer.new.write_string(1) }, ->(name) { name::Packer.new.write_array_header("1") }],
        SystemStackError => [->(name) { name.pack([].tap { |all| all << all }) }, ->(name) { name::Packer.new.write({}.tap { |all| all[1] = all }) },
                             ->(name) { name.pack(200.times.inject { |inner, _| [inner] }) }, ->(name) { name::Factory.new.pool.dump([].tap { |all| all << [all] }) }],
        EOFError => [->(name) { name.unpack("\x92\x01") }, ->(name) { name.load(StringIO.new("\x92\x01")) }, ->(name) { name.load(StringIO.new("")) },
                     ->(name) { name::Unpacker.new.feed("\x92").read }, ->(name) { name::Unpacker.new.skip }, ->(name) { name::Unpacker.new.read_array_header },
                     ->(name) { name::Factory.new.load("\x92") }, ->(name) { name::Factory.new.pool.load("\x92") }]
      }.each do |klass, calls|
        calls.each_with_index do |call, index|
          theirs, ours = [MessagePack, Manypack].map { |name| raised { call.call(name) } }
          raise "#{index}: #{theirs.class}" unless theirs.instance_of?(klass)
          raise "#{index}: #{ours.class}" unless (ours.is_a?(klass) || ours.instance_of?(Manypack::NestingError)) && (ours.is_a?(Manypack::Error) || ours.message.start_with?("no more objects"))
          raise theirs.message unless theirs.message == ours.message
          Marshal.load(Marshal.dump(theirs)) unless klass == NoMethodError
        end
      end
      e = MessagePack.pack([object = Object.new]) rescue $!
      raise unless e.receiver.equal?(object) && e.name == :to_msgpack && e.args.map(&:class) == [MessagePack::Packer]
      puts "ok"
    RUBY
  end

  # Each call, and the error that comes out of it under MessagePack: the io's own, as in the msgpack gem.
  def test_an_error_of_an_io_is_the_one_that_comes_out
    assert_program <<~'RUBY', "ok"
      require "manypack/drop_in"
      Ending = Struct.new(:error, :bytes) { def readpartial(*) = bytes ? bytes.tap { self.bytes = nil } : raise(error) }
      calls = {
        load: ->(io) { MessagePack.load(io) }, read: ->(io) { MessagePack::Unpacker.new(io).read }, skip: ->(io) { MessagePack::Unpacker.new(io).skip },
        full: ->(io) { MessagePack::Unpacker.new(io).full_unpack }, header: ->(io) { MessagePack::Unpacker.new(io).then { |one| one.read_array_header && Array.new(2) { one.read } } },
        factory: ->(io) { MessagePack::Factory.new.load(io) }, unpacker: ->(io) { MessagePack::Factory.new.unpacker(io).read }, pool: ->(io) { MessagePack::Factory.new.pool.load(io) },
        buffer: ->(io) { MessagePack::Buffer.new(io).read_all(9) }, skip_all: ->(io) { MessagePack::Buffer.new(io).skip_all(9) }
      }
      [EOFError.new("over"), EOFError.new("over").freeze, Class.new(EOFError).new, IOError.new].product([nil, "\x92\x01".b], calls.to_a) do |error, bytes, (name, call)|
        came = begin
          call.call(Ending.new(error, bytes))
        rescue EOFError, IOError => e
          e
        end
        raise "#{name}: #{came.inspect}" unless came.equal?(error)
        raise "each" if error.is_a?(EOFError) && !MessagePack::Unpacker.new(Ending.new(error, bytes)).each { nil }.nil?
      end
      raise unless MessagePack.load(Ending.new(EOFError.new, "\x01")) == 1
      puts "ok"
    RUBY
  end

  # The msgpack gem writes a part of the object at once. Here the io has all of it when it is whole, and no less.
  def test_flush_inside_to_msgpack_takes_effect_when_the_object_is_whole
    assert_program <<~'RUBY', "ok"
      require "manypack/drop_in"
      require "stringio"
      Flushing = Struct.new(:way) { def to_msgpack(packer) = packer.write_array_header(1).write(5).public_send(way) }
      Outer = Struct.new(:inner) { def to_msgpack(packer) = packer.write([inner, 1]) }
      [MessagePack, Manypack].product(%i[flush full_pack]) do |name, way|
        object = [Flushing.new(way), Outer.new(Flushing.new(way)), 2]
        bytes = "\x93\x91\x05\x92\x91\x05\x01\x02".b
        name.pack(object, io = StringIO.new("".b))
        raise unless io.string == bytes
        packer = name::Packer.new(io = StringIO.new("".b)).write(object)
        raise io.string unless io.string == bytes && packer.empty?
        packer.write(7)
        raise unless io.string == bytes && packer.flush && io.string == bytes + "\x07"
        raise unless way == :full_pack || name.pack(object) == bytes
        factory = name::Factory.new
        factory.register_type(1, Range, packer: ->(_, inner) { inner.write(5).flush }, unpacker: ->(inner) { inner.read }, recursive: true)
        raise unless factory.load(factory.dump([1..2])) == [5]
      end
      begin
        MessagePack.pack(Flushing.new(:full_pack))
        raise "broken"
      rescue RuntimeError => e
        raise unless e.message.include?("in use")
      end
      puts "ok"
    RUBY
  end

  # Programs define their own constants in MessagePack, and look up Ruby's.
  def test_it_has_the_constants_of_the_gem_only
    assert_program <<~RUBY, "ok"
      require "manypack/drop_in"
      module MessagePack
        class Error < StandardError; end
        class View; end
        Record = Type = Codec = Path = 1
      end
      class << MessagePack
        raise unless Time == ::Time
      end
      raise unless Manypack::Record.is_a?(Class) && Manypack::Error.instance_of?(Module)
      puts "ok"
    RUBY
  end
end

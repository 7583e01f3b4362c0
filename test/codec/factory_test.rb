# frozen_string_literal: true

# Manypack::Factory, its Pool, Codec and DefaultFactory as objects: copies, freezing, what they know of their types.
require "test_helper"
require "pp"
require "stringio"
require "support/program"

class FactoryTest < Minitest::Test
  include ProgramHelper

  module Shape
  end

  class Point
    attr_reader :x

    def initialize(x) = @x = x
    def to_msgpack_ext = [x].pack("c")
    def self.from_msgpack_ext(body) = new(body.unpack1("c"))
    def ==(other) = other.is_a?(Point) && x == other.x
  end

  class Point3 < Point
  end

  Box = Struct.new(:content)

  # One registration of every kind, with every flag.
  def self.register_all(factory)
    factory.register_type(1, Point)
    factory.register_type(2, Box, packer: ->(box, packer) { packer.write(box.content) },
                                  unpacker: ->(unpacker) { Box.new(unpacker.read) }, recursive: true)
    factory.register_type(3, Integer, packer: Manypack::Bigint.method(:to_msgpack_ext),
                                      unpacker: Manypack::Bigint.method(:from_msgpack_ext), oversized_integer_extension: true)
    factory.register_type(0, Symbol, packer: :to_msgpack_ext, unpacker: :from_msgpack_ext, optimized_symbols_parsing: true)
    factory
  end

  OBJECT = [Point.new(1), Box.new([Box.new(:symbol), 2**70]), -(2**70), { key: "value" }, Point3.new(3)].freeze
  EXPECTED = [Point.new(1), Box.new([Box.new(:symbol), 2**70]), -(2**70), { key: "value" }, Point.new(3)].freeze

  def setup
    @factory = self.class.register_all(Manypack::Factory.new)
  end

  # Everything that goes by the configuration of a factory, as a pack and an unpack.
  def self.ways(factory)
    {
      "itself" => [->(o) { factory.dump(o) }, ->(b) { factory.load(b) }],
      "by its other names" => [->(o) { factory.pack(o) }, ->(b) { factory.unpack(b) }],
      "packer and unpacker" => [->(o) { factory.packer.write(o).to_s }, ->(b) { factory.unpacker.feed(b).read }],
      "an io" => [->(o) { StringIO.new("".b).tap { |io| factory.dump(o, io) }.string }, ->(b) { factory.load(StringIO.new(b)) }],
      "io both ways" => [->(o) { StringIO.new("".b).tap { |io| factory.packer(io).write(o).flush }.string },
                         ->(b) { factory.unpacker(StringIO.new(b)).read }],
      "pool" => [->(o) { factory.pool.dump(o) }, ->(b) { factory.pool(5).load(b) }],
      "packer of a pool" => [->(o) { factory.pool.packer { |packer| packer.write(o).full_pack } },
                             ->(b) { factory.pool.unpacker { |unpacker| unpacker.feed(b).full_unpack } }],
      "codec" => [->(o) { factory.codec.pack(o) }, ->(b) { factory.codec.unpack(b) }],
      "codec by its other names" => [->(o) { factory.codec.dump(o) }, ->(b) { factory.codec.load(b) }],
      "packer of a codec" => [->(o) { factory.codec.packer.write(o).to_s }, ->(b) { factory.codec.unpacker.feed(b).read }]
    }
  end

  { "a factory" => ->(factory) { factory }, "a copy" => :dup.to_proc, "a clone" => :clone.to_proc, "a frozen one" => ->(f) { f.dup.freeze },
    "a copy of a frozen one" => ->(f) { f.dup.freeze.dup }, "a frozen clone" => ->(f) { f.dup.freeze.clone } }.each do |what, make|
    ways(Manypack::Factory.new).each_key do |way|
      define_method("test_all_types_and_flags_hold_in_#{what}_by_#{way}".tr(" ", "_")) do
        factory = make.call(@factory)
        dump, load = self.class.ways(factory)[way]
        packed = dump.call(OBJECT)
        assert_equal @factory.dump(OBJECT), packed
        assert_equal EXPECTED, load.call(packed)
        entries = factory.registered_types
        assert_equal [0, 1, 2, 3], entries.map { |entry| entry[:type] }
      end
    end
  end

  # Each option by itself, given what it is not by default, and as inspect shows it.
  CHANGED = {
    symbolize_keys: true, freeze: true, shareable: true, allow_unknown_ext: true, timestamp: true, compatibility_mode: true,
    canonical: true, default: :inspect.to_proc, untrusted: true,
    max_depth: 5, max_bytes: 6, max_objects: 7, max_map_size: 8, max_array_size: 9, max_string_bytes: 10, max_ext_bytes: 11,
    utf8: :strict, duplicate_keys: :error, allow_nan: true, allow_duplicate_key: true, ascii_only: true, script_safe: true,
    pretty: true, stringify_keys: true, bin: :hex, ext: :base64
  }.freeze
  USUAL = {
    symbolize_keys: false, freeze: false, shareable: false, allow_unknown_ext: false, timestamp: false, compatibility_mode: false,
    canonical: false, default: :itself.to_proc, untrusted: false,
    max_depth: 128, max_bytes: 2**63, max_objects: 2**64 - 1, max_map_size: 2**32 - 1, max_array_size: 2**32 - 1,
    max_string_bytes: 2**32 - 1, max_ext_bytes: 2**32 - 1, utf8: :accept, duplicate_keys: :last,
    allow_nan: false, allow_duplicate_key: false, ascii_only: false, script_safe: false, pretty: false, stringify_keys: false,
    bin: :error, ext: :error
  }.freeze

  def test_a_codec_shows_the_options_that_were_set
    options = Manypack.module_eval("Arguments::CODEC_OPTIONS")
    assert_equal [options, options], [CHANGED.keys, USUAL.keys]
    CHANGED.each do |name, value|
      assert_equal "#<Manypack::Codec #{name}: #{value.inspect}>", Manypack::Codec.new(name => value).inspect
      assert_equal "#<Manypack::Codec #{name}: #{USUAL[name].inspect}>", Manypack::Codec.new(name => USUAL[name]).inspect
      assert_equal "#<Manypack::Codec>", Manypack::Codec.new(name => nil).inspect if name.match?(/max|untrusted|utf8|duplicate_keys|\A(?:bin|ext)\z/)
    end
    several = CHANGED.except(:untrusted)
    shown = several.map { |name, value| "#{name}: #{value.inspect}" }.join(", ")
    assert_equal "#<Manypack::Codec #{shown}>", Manypack::Codec.new(several.to_a.reverse.to_h).inspect
    assert_equal USUAL, Manypack::Codec.new(USUAL).options
  end

  def test_with_untrusted_it_shows_what_was_set_beside_it
    assert_equal "#<Manypack::Codec untrusted: true>", Manypack::Codec.new(untrusted: true).inspect
    assert_equal "#<Manypack::Codec untrusted: true, max_bytes: 64000, utf8: :accept>",
                 Manypack::Codec.new(untrusted: true, max_bytes: 64_000, utf8: :accept).inspect
  end

  # Named by what Module says, whatever the class says of itself.
  class Talkative
    def self.inspect = raise("asked")
    def self.to_s = raise("asked")
  end

  def test_a_codec_and_a_factory_show_their_types
    assert_equal "#<Manypack::Factory types: {0 => Symbol, 1 => FactoryTest::Point, 2 => FactoryTest::Box, 3 => Integer}>", @factory.inspect
    codec = @factory.codec(freeze: true)
    assert_equal "#<Manypack::Codec freeze: true, #{@factory.inspect[/types: .*/]}", codec.inspect
    assert_includes @factory.pool.inspect, @factory.codec.inspect
    other = Manypack::Factory.new
    assert_equal "#<Manypack::Factory>", other.inspect
    other.register_type(-1, Talkative, packer: ->(_) { "" })
    other.register_type(-1, Comparable, packer: ->(_) { "" }, unpacker: ->(_) { nil })
    other.register_type(5, Range, packer: nil, unpacker: ->(_) { nil })
    assert_equal "#<Manypack::Factory types: {-1 => [FactoryTest::Talkative, Comparable], 5 => Range}>", other.inspect
    assert_equal "#{other.inspect}\n", PP.pp(other, +"")
    assert_match(/\A#<#<Class:0x\h+>>\z/, Class.new(Manypack::Factory).new.inspect)
    assert_match(/\A#<Manypack::Factory:0x\h+>\z/, Manypack::Factory.allocate.inspect)
  end

  # A handler that is not for sharing keeps nobody from looking.
  def test_the_default_factory_is_shown_in_every_ractor
    assert_program <<~'RUBY', "#<Manypack::Factory types: {1 => Range}>\n" * 2 + "#<Manypack::Codec freeze: true, types: {1 => Range}>"
      seen = []
      Manypack::DefaultFactory.register_type(1, Range, packer: ->(range) { seen << range && "r" }, unpacker: nil)
      puts Manypack::DefaultFactory.inspect
      puts value(Ractor.new { [Manypack::DefaultFactory.inspect, Manypack::DefaultFactory.codec(freeze: true).inspect] })
    RUBY
  end

  def test_packing_and_unpacking_every_type_at_every_allocation
    self.class.ways(@factory).values_at("itself", "packer and unpacker", "io both ways", "packer of a pool").each do |dump, load|
      packed = exercise { dump.call(OBJECT) }
      assert_equal EXPECTED, exercise { load.call(packed) }
    end
    copy = exercise { @factory.dup.tap { |factory| factory.register_type(9, Shape, packer: ->(_) { "" }) } }
    assert_equal 5, exercise { copy.registered_types }.size
  end

  def test_a_copy_has_a_registry_of_its_own
    copy = @factory.dup
    copy.register_type(9, Shape, packer: ->(_) { "" })
    refute @factory.type_registered?(9)
    @factory.register_type(10, Shape, packer: ->(_) { "" })
    refute copy.type_registered?(10)
  end

  def test_what_was_made_before_a_registration_stays_as_it_is
    packer = @factory.packer
    unpacker = @factory.unpacker
    pool = @factory.pool
    codec = @factory.codec
    @factory.register_type(1, Point, packer: ->(_) { "new" }, unpacker: ->(_) { :new })
    assert_equal "d4 01 05", hex(packer.write(Point.new(5)).to_s)
    assert_equal Point.new(5), unpacker.feed("\xD4\x01\x05".b).read
    assert_equal Point.new(5), pool.load(pool.dump(Point.new(5)))
    assert_equal Point.new(5), codec.load(codec.dump(Point.new(5)))
    assert_equal :new, @factory.load(@factory.dump(Point.new(5)))
  end

  def test_a_frozen_factory_takes_no_types
    @factory.freeze
    error = assert_raises(FrozenError) { @factory.register_type(9, Shape, packer: ->(_) { "" }) }
    assert_same @factory, error.receiver
    assert_equal EXPECTED, @factory.load(@factory.dump(OBJECT))
    refute_predicate @factory.dup, :frozen?
    assert_nil @factory.dup.register_type(9, Shape, packer: ->(_) { "" })
  end

  def test_registered_types
    both = @factory.registered_types
    assert_equal [[0, Symbol], [1, Point], [2, Box], [3, Integer]], both.map { |entry| entry.values_at(:type, :class) }
    assert(both.all? { |entry| entry.keys == %i[type class packer unpacker] && entry[:packer].is_a?(Proc) && entry[:unpacker].is_a?(Proc) })
    assert_equal both, @factory.registered_types(:both).map { |entry| both.find { |other| other[:type] == entry[:type] } }
    assert_equal [%i[type class packer]], @factory.registered_types(:packer).map(&:keys).uniq
    assert_equal [%i[type class unpacker]], @factory.registered_types(:unpacker).map(&:keys).uniq
    assert_raises(ArgumentError) { @factory.registered_types(:neither) }
    assert_equal "\x05", both[1][:packer].call(Point.new(5))
    assert_equal Point.new(5), both[1][:unpacker].call("\x05")
    assert_equal [], Manypack::Factory.new.registered_types
  end

  # Handlers in every way that they may be given.
  HANDLERS = { "proc" => ->(*) { "" }, "method" => Kernel.method(:String), "name" => :inspect, "callable" => Class.new { def call(*) = "" }.new,
               "shared callable" => Class.new { def call(object, *) = object.to_s }.new.freeze,
               "method of an object" => Object.new.tap { |object| object.define_singleton_method(:pack) { |*| "" } }.method(:pack) }.freeze

  def factory_of(handlers)
    handlers.each_with_index.with_object(Manypack::Factory.new) do |(handler, i), factory|
      factory.register_type(i, Class.new, packer: handler, unpacker: handler)
    end
  end

  def test_registered_types_are_the_same_each_time_and_everywhere
    factory = factory_of(HANDLERS.values)
    [factory, factory.dup, factory.dup.freeze, factory.packer, factory.unpacker].each do |registry|
      before = exercise { registry.registered_types }
      GC.compact if GC.respond_to?(:compact)
      assert_equal before, registry.registered_types
    end
    assert_equal factory.registered_types, factory.dup.freeze.registered_types
    assert_equal factory.registered_types(:packer), factory.packer.registered_types
    assert_equal factory.registered_types(:unpacker), factory.unpacker.registered_types
    before = factory.registered_types
    factory.register_type(100, Class.new, unpacker: :to_s)
    assert_equal before, factory.registered_types.first(before.size)
  end

  def test_registered_types_of_one_packer_or_unpacker_are_the_same_each_time
    [Manypack::Packer.new, Manypack::Unpacker.new].each do |registry|
      HANDLERS.each_value.with_index { |handler, type| registry.register_type(type, Class.new, handler) }
      before = exercise { registry.registered_types }
      GC.compact if GC.respond_to?(:compact)
      assert_equal before, registry.registered_types
      registry.register_type(100, Class.new, :inspect)
      assert_equal before, registry.registered_types.first(before.size)
    end
  end

  def test_a_handler_may_ask_for_the_registered_types
    handler = Object.new
    packer = Manypack::Packer.new
    unpacker = Manypack::Unpacker.new
    handler.define_singleton_method(:call) do |subject|
      registry = subject.is_a?(Point) ? packer : unpacker
      GC.start if registry.registered_types.size == 1
      "a"
    end
    [packer, unpacker].each { |registry| registry.register_type(1, Point, handler) }
    packed = packer.write([Point.new(1), Point.new(2)]).to_s
    assert_equal "92 d4 01 61 d4 01 61", hex(packed)
    assert_equal %w[a a], unpacker.feed(packed).read
    [packer, unpacker].each { |registry| assert_equal registry.registered_types, registry.registered_types }
  end

  def test_registered_types_can_be_registered_again_and_shared_as_before
    HANDLERS.each do |name, handler|
      factory = factory_of([handler])
      copy = Manypack::Factory.new
      factory.registered_types.each { |entry| copy.register_type(entry[:type], entry[:class], packer: entry[:packer], unpacker: entry[:unpacker]) }
      assert_equal factory.registered_types, copy.registered_types, name
      next if name == "name" # of which Ruby makes a Proc that cannot be shared

      assert_equal Ractor.shareable?(factory.freeze), Ractor.shareable?(copy.freeze), name
    end
  end

  def test_registered_types_are_the_same_in_every_ractor
    factory = factory_of(HANDLERS.values_at("method", "name", "shared callable")).freeze
    unpackers = Ractor.make_shareable(factory.registered_types.map { |entry| entry[:unpacker] })
    assert_equal [true, true, %w[1 1]], in_ractor(factory, unpackers) { |shared, expected|
      types = shared.registered_types
      [types == shared.registered_types, types.map { |entry| entry[:unpacker] } == expected, [types[0], types[2]].map { |entry| entry[:unpacker].call(1) }]
    }
  end

  def test_registered_types_of_one_direction
    factory = Manypack::Factory.new
    factory.register_type(1, Point, packer: :to_msgpack_ext)
    factory.register_type(2, Box, unpacker: :new)
    assert_equal [[1, Point, true, false], [2, Box, false, true]],
                 factory.registered_types.map { |entry| [entry[:type], entry[:class], !entry[:packer].nil?, !entry[:unpacker].nil?] }
    assert_equal([1], factory.registered_types(:packer).map { |entry| entry[:type] })
    assert_equal([2], factory.registered_types(:unpacker).map { |entry| entry[:type] })
  end

  def test_an_unpacker_goes_with_the_class_it_was_registered_for
    factory = Manypack::Factory.new
    factory.register_type(1, Point, packer: ->(_) { "" }, unpacker: ->(_) { :point })
    factory.register_type(1, Box, packer: ->(_) { "" })
    pairs = factory.registered_types.to_h { |entry| [entry[:class], entry[:unpacker]&.call("")] }
    assert_equal({ Point => :point, Box => nil }, pairs)
  end

  def test_type_registered
    assert @factory.type_registered?(1)
    assert @factory.type_registered?(Point)
    assert @factory.type_registered?(Point3), "by its ancestor"
    refute @factory.type_registered?(9)
    refute @factory.type_registered?(Shape)
    assert @factory.type_registered?(1, :packer)
    assert @factory.type_registered?(Point, :unpacker)
    @factory.register_type(9, Shape, packer: ->(_) { "" })
    assert @factory.type_registered?(Shape)
    assert @factory.type_registered?(Class.new { include Shape })
    assert @factory.type_registered?(9, :packer)
    refute @factory.type_registered?(9, :unpacker)
    ["1", nil, :a, 1.0].each { |other| assert_raises(ArgumentError) { @factory.type_registered?(other) } }
    assert_raises(ArgumentError) { @factory.type_registered?(1, :neither) }
  end

  def test_types_of_one_packer
    packer = Manypack::Packer.new
    assert_equal [], packer.registered_types
    packer.register_type(5, Point) { |point| point.x.to_s }
    packer.register_type(4, Shape, :to_s)
    packer.register_type(3, Box, "to_s")
    assert_equal([3, 4, 5], packer.registered_types.map { |entry| entry[:type] })
    assert_equal [%i[type class packer]], packer.registered_types.map(&:keys).uniq
    assert packer.type_registered?(5)
    assert packer.type_registered?(Point3)
    refute packer.type_registered?(6)
    refute packer.type_registered?(String)
    assert_raises(ArgumentError) { packer.type_registered?("5") }
    assert_equal "d4 05 37", hex(packer.write(Point.new(7)).to_s)
    assert_raises(NoMethodError) { packer.register_type_internal(1, Point, nil) }
  end

  def test_types_of_one_unpacker
    unpacker = Manypack::Unpacker.new
    assert_equal [], unpacker.registered_types
    unpacker.register_type(5) { |body| body * 2 }
    unpacker.register_type(4, Point, :from_msgpack_ext)
    unpacker.register_type(3, Box, "new")
    assert_equal [[3, Box], [4, Point], [5, nil]], unpacker.registered_types.map { |entry| entry.values_at(:type, :class) }
    assert_equal [%i[type class unpacker]], unpacker.registered_types.map(&:keys).uniq
    assert unpacker.type_registered?(5)
    assert unpacker.type_registered?(Point)
    refute unpacker.type_registered?(Point3), "which is not the class itself"
    assert_raises(ArgumentError) { unpacker.type_registered?("5") }
    assert_equal ["aa", Point.new(7), Box.new("b")], unpacker.feed(bytes("93 d4 05 61 d4 04 07 d4 03 62")).read
  end

  def test_a_packer_of_a_factory_may_get_types_of_its_own
    packer = @factory.packer
    packer.register_type(9, Shape) { "s" }
    unpacker = @factory.unpacker
    unpacker.register_type(9) { :shape }
    assert_equal [Point.new(1), :shape], unpacker.feed(packer.write([Point.new(1), Object.new.extend(Shape)]).to_s).read
    refute @factory.type_registered?(9)
  end

  def test_arguments_of_packers_and_unpackers
    io = StringIO.new("".b)
    @factory.packer(io, compatibility_mode: true).write("\xFF".b).flush
    assert_equal "a1 ff", hex(io.string)
    assert_predicate @factory.packer({ compatibility_mode: true }), :compatibility_mode?
    [[], [nil], [nil, nil], [{}]].each do |arguments|
      assert_equal 1, @factory.unpacker(*arguments).feed(@factory.packer(*arguments).write(1).to_s).read
    end
    assert_predicate @factory.unpacker(symbolize_keys: true), :symbolize_keys?
    assert_raises(ArgumentError) { @factory.packer(nil, nil, nil) }
    assert_raises(TypeError) { @factory.unpacker(nil, 5) }
  end

  def test_options_of_dump_and_load
    assert_equal({ a: 1 }, @factory.load("\x81\xA1a\x01", symbolize_keys: true))
    assert_equal({ a: 1 }, @factory.load("\x81\xA1a\x01", { symbolize_keys: true }))
    assert_equal({ "a" => 1 }, @factory.load("\x81\xA1a\x01", nil))
    assert_equal "a1 ff", hex(@factory.dump("\xFF".b, compatibility_mode: true))
    assert_nil @factory.dump(1, StringIO.new("".b))
    assert_equal "01", hex(@factory.dump(1, nil, nil))
  end

  def test_a_subclass_registers_in_its_initialize
    wrapper = Class.new(Manypack::Factory) do
      def initialize
        super()
        register_type(1, Point, recursive: true, packer: method(:pack_point), unpacker: ->(unpacker) { Point.new(unpacker.read) })
      end

      def pack_point(point, packer) = packer.write(point.x + 1)
    end
    assert_equal Point.new(2), wrapper.new.load(wrapper.new.dump(Point.new(1)))
    assert_instance_of wrapper, wrapper.new.dup
  end

  def test_a_factory_that_was_not_initialized_raises
    factory = Class.new(Manypack::Factory) { def initialize = nil }.new
    [-> { factory.dump(1) }, -> { factory.load("\x01") }, -> { factory.register_type(1, Point) }, -> { factory.pool }, -> { factory.dup },
     -> { factory.registered_types }].each { |work| assert_refused(&work) }
    assert_refused { @factory.send(:initialize) }
    assert_raises(ArgumentError) { Manypack::Factory.new(1) }
  end

  def test_a_pool_takes_options_and_is_frozen
    pool = @factory.pool(3, symbolize_keys: true, freeze: true)
    assert_predicate pool, :frozen?
    object = pool.load(pool.dump({ "k" => ["v"] }))
    assert_equal({ k: ["v"] }, object)
    assert_predicate object, :frozen?
    assert(pool.unpacker { |unpacker| unpacker.symbolize_keys? && unpacker.freeze? })
    assert_equal "a1 ff", hex(@factory.pool(1, compatibility_mode: true).dump("\xFF".b))
  end

  def test_members_of_a_pool_take_no_types_and_are_new_for_each_block
    pool = @factory.pool
    pool.packer { |packer| assert_raises(FrozenError) { packer.register_type(9, Shape) { "" } } }
    pool.unpacker { |unpacker| assert_raises(FrozenError) { unpacker.register_type(9) { nil } } }
    pool.packer { |packer| packer.write("left over") }
    assert pool.packer(&:empty?)
    pool.unpacker { |unpacker| unpacker.feed("\x92\x01") && assert_raises(EOFError) { unpacker.read } }
    assert_equal 2, pool.unpacker { |unpacker| unpacker.feed("\x02").read }
    assert_raises(EOFError) { pool.load("\x92\x01") }
    assert_equal [1], pool.load("\x91\x01")
    assert_equal [[1, 2], "inner"], pool.packer { |outer| outer.write([1, 2]) && pool.packer { |inner| [Manypack.load(outer.to_s), inner && "inner"] } }
  end

  def test_a_pool_shared_by_threads
    pool = @factory.pool(1)
    threads = Array.new(4) { |i| Thread.new { Array.new(100) { pool.load(pool.dump([Point.new(i), :"s#{i}"])) }.uniq { |pair| pair[0].x } } }
    threads.each_with_index { |thread, i| assert_equal [[Point.new(i), :"s#{i}"]], thread.value }
  end

  def test_a_pool_refuses_what_a_factory_refuses
    pool = @factory.pool
    assert_raises(Manypack::MalformedFormatError) { pool.load("\x01\x02") }
    assert_raises(NoMethodError) { pool.dump(Object.new) }
    assert_equal({ 1 => 2 }, pool.load(pool.dump({ 1 => 2 })))
  end

  def test_a_codec_is_frozen_and_keeps_its_options
    codec = Manypack::Codec.new(symbolize_keys: true, timestamp: true)
    assert_predicate codec, :frozen?
    assert Ractor.shareable?(codec)
    assert_equal({ at: Time.at(1) }, codec.unpack(codec.pack({ at: Time.at(1) })))
    assert_equal({ a: 1 }, Manypack::Codec.new({ symbolize_keys: true }).load("\x81\xA1a\x01".b))
    assert_equal "01", hex(Manypack::Codec.new.dump(1))
    assert_raises(NoMethodError, TypeError) { codec.dup.clone.pack(Object.new) }
    assert_raises(TypeError, NoMethodError) { Manypack::Codec.allocate }
  end

  def test_options_of_a_codec_hold_unless_a_call_has_others
    codec = @factory.codec(symbolize_keys: true, max_depth: 3)
    assert_equal({ a: 1 }, codec.unpacker.feed("\x81\xA1a\x01".b).read)
    assert_equal({ "a" => 1 }, codec.unpacker(symbolize_keys: false).feed("\x81\xA1a\x01".b).read)
    assert_raises(Manypack::NestingError) { codec.pack([[[[1]]]]) }
    assert_raises(Manypack::StackError) { codec.load("\x91\x91\x91\x91\xC0".b) }
    assert_equal "91 91 91 90", hex(codec.packer(max_depth: 4).write([[[[]]]]).to_s)
    io = StringIO.new("".b)
    assert_nil codec.pack({ a: 1 }, io)
    assert_equal({ a: 1 }, codec.load(StringIO.new(io.string)))
    assert_raises(RangeError) { @factory.codec(max_depth: 0) }
    assert_raises(ArgumentError) { codec.pack }
    assert_equal({ "a" => 1 }, codec.unpack("\x81\xA1a\x01".b, symbolize_keys: false))
    assert_raises(ArgumentError) { codec.unpack("\x01", {}, {}) }
  end

  # DefaultFactory is of the process, so a process of its own has each of these.
  def test_types_of_the_default_factory_hold_for_pack_and_unpack
    assert_program <<~RUBY, "ok"
      Point = Struct.new(:x) do
        def to_msgpack_ext = [x].pack("c")
        def self.from_msgpack_ext(body) = new(body.unpack1("c"))
      end
      before = Manypack::Codec.new
      Manypack::DefaultFactory.register_type(1, Point)
      packed = Manypack.pack([Point.new(5)])
      raise packed.inspect unless packed == "\\x91\\xD4\\x01\\x05".b
      raise unless Manypack.unpack(packed) == [Point.new(5)]
      raise unless Manypack.unpack(packed, freeze: true) == [Point.new(5)]
      raise unless Manypack::Codec.new(freeze: true).load(packed) == [Point.new(5)]
      raise unless Manypack::DefaultFactory.load(Manypack::DefaultFactory.dump(Point.new(5))) == Point.new(5)
      raise unless Manypack::DefaultFactory.packer.write(Point.new(5)).to_s == "\\xD4\\x01\\x05".b
      raise unless Manypack::DefaultFactory.registered_types.map { |entry| entry[:class] } == [Point]
      begin
        before.load(packed)
        raise "a codec changed"
      rescue Manypack::UnknownExtTypeError
        puts "ok"
      end
    RUBY
  end

  def test_a_type_is_made_anew_once_for_each_change_of_the_default_factory
    assert_program <<~RUBY, "[true, false, true, false, true]"
      Point = Struct.new(:x)
      type = Manypack::Type[[Object]]
      now = -> { Manypack.const_get(:Internal).current_type(type) }
      unchanged = now.call.equal?(type)
      changed = [1, 2].flat_map do |number|
        before = now.call
        Manypack::DefaultFactory.register_type(number, Class.new, unpacker: ->(_) { number }, packer: ->(_) { "" })
        raise unless type.load([0x91, 0xD4, number, 0].pack("C*")) == [number]
        [now.call.equal?(before), now.call.equal?(now.call)]
      end
      p [unchanged, *changed]
    RUBY
  end

  # As the msgpack gem has it; test/contract/matrix_test.rb has what holds for Manypack's own name.
  def test_packers_and_unpackers_of_message_pack_know_no_types_of_the_default_factory
    assert_program <<~RUBY, "ok"
      require "manypack/drop_in"
      MessagePack::DefaultFactory.register_type(1, Range, packer: ->(_) { "r" }, unpacker: ->(_) { :range })
      begin
        MessagePack::Unpacker.new.feed("\\xD4\\x01r".b).read
      rescue MessagePack::UnknownExtTypeError
        known = Manypack::Packer.new.type_registered?(1) && Manypack::Unpacker.new.feed("\\xD4\\x01r".b).read == :range
        puts "ok" unless MessagePack::Factory.new.type_registered?(1) || MessagePack::Packer.new.type_registered?(1) || !known
      end
    RUBY
  end

  def test_the_default_factory_may_be_frozen_and_pooled
    assert_program <<~RUBY, "ok"
      Manypack::DefaultFactory.register_type(0, Symbol)
      pool = Manypack::DefaultFactory.freeze.pool(3, freeze: true)
      raise unless pool.load(pool.dump([:a])) == [:a]
      begin
        Manypack::DefaultFactory.register_type(1, Range)
      rescue FrozenError
        copy = Manypack::DefaultFactory.dup
        copy.register_type(1, Range, packer: ->(_) { "r" })
        puts "ok" if copy.dump([:a, 1..2]) == "\\x92\\xD4\\x00a\\xD4\\x01r".b && !Manypack::DefaultFactory.type_registered?(1)
      end
    RUBY
  end

  def test_a_pool_refuses_options_that_only_json_has
    options = Manypack.const_get(:Arguments)
    only = (options::TO_JSON_OPTIONS | options::FROM_JSON_OPTIONS) - options::PACKING_OPTIONS - options::UNPACKING_OPTIONS
    assert_includes only, :pretty
    only.each do |name|
      error = assert_raises(ArgumentError) { Manypack::Factory.new.pool(1, name => true) }
      assert_match(/\A#{name} has no effect on packing or unpacking: it is an option of Manypack\.(from|to)_json and of a Codec\z/, error.message)
    end
  end
end

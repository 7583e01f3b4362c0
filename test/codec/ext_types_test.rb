# frozen_string_literal: true

# Ext types: which class packs as which, by what handlers, how recursive bodies are bounded.
require "test_helper"
require "set"

class ExtTypesTest < Minitest::Test
  include CorePart

  module Shape
    def to_msgpack_ext = "shape"
  end

  class Point
    attr_reader :x, :y

    def initialize(x, y)
      @x = x
      @y = y
    end

    def to_msgpack_ext = [x, y].pack("cc")
    def self.from_msgpack_ext(body) = new(*body.unpack("cc"))
    def ==(other) = other.is_a?(Point) && [x, y] == [other.x, other.y]
  end

  class Point3 < Point
  end

  class Round
    include Shape
  end

  SubString = Class.new(String)
  SubArray = Class.new(Array)
  SubHash = Class.new(Hash)
  Box = Struct.new(:content)

  # Answers call, and is nothing else.
  class Callable
    def call(*arguments)
      arguments.last.is_a?(Manypack::Packer) ? arguments.last.write(arguments.first.x) : "called"
    end
  end

  def setup
    @factory = Manypack::Factory.new
  end

  def test_by_default_the_methods_of_the_msgpack_gem_are_called
    assert_nil @factory.register_type(1, Point)
    assert_dumps "d5 01 03 fc", Point.new(3, -4)
    assert_equal Point.new(3, -4), exercise { @factory.load(bytes("d5 01 03 fc")) }
    assert_equal({ Point.new(1, 2) => [Point.new(3, 4)] }.values, @factory.load(bytes("81 d5 01 01 02 91 d5 01 03 04")).values)
  end

  def test_options_that_are_given_replace_the_defaults_as_a_whole
    @factory.register_type(1, Point, { packer: :to_msgpack_ext })
    assert_dumps "d5 01 03 04", Point.new(3, 4)
    assert_raises(Manypack::UnknownExtTypeError) { @factory.load(bytes("d5 01 03 04")) }
  end

  def test_options_that_would_register_nothing_or_have_no_effect_are_refused
    [{}, { recursive: true }, { recursive: false }, { packer: nil, unpacker: nil }, { packer: nil }].each do |options|
      assert_match(/\Anothing to register/, assert_raises(ArgumentError, options.inspect) { @factory.register_type(1, Point, options) }.message)
    end
    { optimized_symbols_parsing: Symbol, oversized_integer_extension: Integer }.each do |option, only|
      [Point, Class.new(only), Comparable].each do |klass|
        error = assert_raises(ArgumentError) { @factory.register_type(1, klass, packer: ->(_) { "" }, unpacker: ->(_) {}, option => true) }
        assert_equal "#{option}: true is only for #{only}", error.message
      end
      @factory.register_type(1, Point, packer: ->(_) { "" }, option => false)
      @factory.register_type(1, only, packer: ->(_) { "" }, option => true)
    end
    lenient = Manypack::Factory.superclass.new
    assert_nil lenient.register_type(1, Point, {})
    assert_nil lenient.register_type(1, Point, { packer: ->(_) { "" }, optimized_symbols_parsing: true })
  end

  # It keeps what type -1 does not.
  def test_a_registered_type_for_time_goes_before_timestamp
    @factory.register_common(:time)
    codec = @factory.codec(timestamp: true)
    time = Time.at(1, in: "+02:00")
    packed = { codec.pack(time) => 7, @factory.dump(time, timestamp: true) => 7, codec.packer.write(time).to_s => 7,
               Manypack.pack(time, codec: codec) => 7, Manypack.pack(time, timestamp: true) => -1 }
    packed.each do |bytes, type|
      assert_equal type, Manypack.unpack(bytes, allow_unknown_ext: true).type
      assert_equal [time, type == 7 ? 7200 : Time.at(1).utc_offset], [codec.unpack(bytes), codec.unpack(bytes).utc_offset]
    end
  end

  def test_handlers_may_be_given_in_every_way
    Round.define_singleton_method(:allocate_by) { |body| [:symbol, body] }
    Box.define_singleton_method(:by_string) { |body| [:string, body] }
    @factory.register_type(1, Point, packer: ->(point) { [point.x].pack("c") }, unpacker: ->(body) { [:proc, body] })
    @factory.register_type(2, Round, packer: :to_msgpack_ext, unpacker: :allocate_by)
    @factory.register_type(3, Box, packer: "to_a_string", unpacker: "by_string")
    @factory.register_type(4, Range, packer: Kernel.method(:String), unpacker: Kernel.method(:String))
    @factory.register_type(5, Set, packer: Callable.new, unpacker: Callable.new)
    Box.define_method(:to_a_string) { "box" }
    objects = [Point.new(7, 0), Round.new, Box.new, 1..2, Set.new]
    packed = exercise { @factory.dump(objects) }
    assert_equal "95 d4 01 07 c7 05 02 73 68 61 70 65 c7 03 03 62 6f 78 d6 04 31 2e 2e 32 c7 06 05 63 61 6c 6c 65 64", hex(packed)
    assert_equal [[:proc, "\x07"], [:symbol, "shape"], [:string, "box"], "1..2", "called"], exercise { @factory.load(packed) }
    @factory.registered_types.each do |entry|
      assert_kind_of Proc, entry[:packer]
      assert_kind_of Proc, entry[:unpacker]
    end
  end

  def test_handlers_that_cannot_be_called_are_refused
    [1, Object.new, [], nil.to_a].each do |handler|
      assert_raises(TypeError) { @factory.register_type(1, Point, packer: handler) }
      assert_raises(TypeError) { @factory.register_type(1, Point, unpacker: handler) }
    end
    { [] => :from_msgpack_ext, [{ unpacker: :no_such_method }] => :no_such_method }.each do |options, name|
      error = assert_raises(NameError) { @factory.register_type(1, Object, *options) }
      assert_equal "Object has no method #{name} to unpack an ext type: define Object.#{name}(body), or give the ext " \
                   "type an unpacker, such as a Proc", error.message.lines.first.chomp
      assert_equal [name, Object], [error.name, error.receiver]
    end
    assert_empty @factory.registered_types
    assert_raises(ArgumentError) { Manypack::Packer.new.register_type(1, Point) }
    assert_raises(ArgumentError) { Manypack::Unpacker.new.register_type(1) }
  end

  def test_types_are_signed_bytes
    [-128, -1, 0, 127].each do |type|
      @factory.register_type(type, Point)
      assert_equal Point.new(1, 2), @factory.load(@factory.dump(Point.new(1, 2)))
      assert_equal [type].pack("c"), @factory.dump(Point.new(1, 2))[1]
    end
    [-129, 128, 129, 2**40].each do |type|
      assert_raises(RangeError) { @factory.register_type(type, Point) }
      assert_raises(RangeError) { Manypack::Packer.new.register_type(type, Point) { "" } }
      assert_raises(RangeError) { Manypack::Unpacker.new.register_type(type) { "" } }
    end
  end

  # NUM2INT accepts these.
  class Five
    def to_int = 5
    def to_i = 5
  end

  def test_only_an_integer_is_the_number_of_a_type
    [5.7, 5.0, Float::NAN, Rational(5), Complex(5), "5", nil, true, :five, [5], Five.new].each do |type|
      { "a factory" => -> { @factory.register_type(type, Point) },
        "a factory, to unpack" => -> { @factory.register_type(type, Point, unpacker: ->(_) { nil }) },
        "a packer" => -> { Manypack::Packer.new.register_type(type, Point) { "" } },
        "an unpacker" => -> { Manypack::Unpacker.new.register_type(type) { nil } },
        "write_ext" => -> { Manypack::Packer.new.write_ext(type, "") },
        "write_extension" => -> { Manypack::Packer.new.write_extension(Manypack::ExtensionValue.new(type, "")) },
        "write_extension of any Struct" => -> { Manypack::Packer.new.write_extension(Struct.new(:a, :b).new(type, "")) },
        "an extension value" => -> { Manypack.pack(Manypack::ExtensionValue.new(type, "")) } }.each do |where, call|
        error = assert_raises(TypeError, "#{type.inspect} in #{where}", &call)
        assert_match(/must be an Integer, got #{type.class}/, error.message)
      end
    end
    assert_empty @factory.registered_types
  end

  def test_a_class_that_is_none_is_refused
    [1, "Point", nil, Point.new(1, 2)].each do |klass|
      error = assert_raises(ArgumentError) { @factory.register_type(1, klass) }
      assert_equal "expected Module/Class but found #{klass.class}.", error.message
      assert_raises(ArgumentError) { Manypack::Packer.new.register_type(1, klass) { "" } }
    end
  end

  def test_a_module_stands_for_what_includes_it_or_was_extended_by_it
    @factory.register_type(1, Shape, packer: :to_msgpack_ext)
    assert_dumps "c7 05 01 73 68 61 70 65", Round.new
    assert_dumps "c7 05 01 73 68 61 70 65", Object.new.extend(Shape)
    assert_raises(NoMethodError) { @factory.dump(Object.new) }
  end

  def test_a_subclass_is_packed_as_its_ancestor_unless_it_has_a_type_of_its_own
    @factory.register_type(1, Point)
    assert_dumps "d5 01 01 02", Point3.new(1, 2)
    @factory.register_type(2, Point3)
    assert_dumps "d5 02 01 02", Point3.new(1, 2)
    assert_dumps "d5 01 01 02", Point.new(1, 2)
    assert_dumps "d5 02 01 02", Point3.new(1, 2).tap { |point| point.define_singleton_method(:anything) { nil } }
  end

  module Sides
  end

  module Corners
    include Sides
  end

  class Polygon
  end

  class Square < Polygon
    include Corners
  end

  class Tile < Square
  end

  class Framed
    prepend Sides
  end

  ANCESTORS = [Object, Polygon, Square, Sides, Corners].freeze

  # The ways to register types for packing, and to pack with them.
  PACKING = {
    "a factory" => lambda do |types, object|
      factory = Manypack::Factory.new
      types.each { |klass, type| factory.register_type(type, klass, packer: ->(_) { "" }) }
      factory.dump(object)
    end,
    "a codec with options" => lambda do |types, object|
      factory = Manypack::Factory.new
      types.each { |klass, type| factory.register_type(type, klass, packer: ->(_) { "" }) }
      factory.codec.with(compatibility_mode: true).packer.write(object).to_s
    end,
    "a packer" => lambda do |types, object|
      packer = Manypack::Packer.new
      types.each { |klass, type| packer.register_type(type, klass) { "" } }
      packer.write(object).to_s
    end
  }.freeze

  def test_the_nearest_ancestor_counts_in_whatever_order_types_are_registered
    own = Tile.new.tap { |tile| tile.define_singleton_method(:color) { :red } }
    extended = Polygon.new.extend(Corners)
    PACKING.each do |way, pack|
      (2..4).each do |count|
        ANCESTORS.permutation(count) do |classes|
          types = classes.each_with_index.to_h
          { "an object" => [Tile.new, Tile], "one with a singleton class" => [own, own.singleton_class], "a prepended module" => [Framed.new, Framed] }.each do |what, (object, klass)|
            nearest = klass.ancestors.find { |ancestor| types.key?(ancestor) } or next
            assert_equal types[nearest], pack.call(types, object)[2].ord, "#{what}, by #{way}: #{types}"
          end
          assert_equal types[Polygon], pack.call(types, extended)[2].ord, "the class itself goes first" if types.key?(Polygon)
        end
      end
    end
  end

  def test_a_module_that_is_included_later_counts_from_then_on
    klass = Class.new(Polygon)
    late = Module.new
    @factory.register_type(1, Polygon, packer: ->(_) { "" })
    @factory.register_type(2, late, packer: ->(_) { "" })
    codec = @factory.codec
    packer = @factory.packer
    pack = -> { [@factory.dump(klass.new), codec.pack(klass.new), packer.write(klass.new).full_pack].map { |packed| packed[2].ord } }
    assert_equal [1] * 3, pack.call
    klass.include(late)
    assert_equal [2] * 3, pack.call
    object = Class.new(Polygon).new
    assert_equal 1, codec.pack(object)[2].ord
    object.extend(late)
    assert_equal 2, codec.pack(object)[2].ord
  end

  def test_a_type_of_object_is_for_what_has_no_other
    @factory.register_type(1, Point)
    @factory.register_type(127, Object, packer: ->(object) { object.class.name })
    assert_dumps "d5 01 01 02", Point3.new(1, 2)
    assert_dumps "d4 7f 41", Class.new { def self.name = "A" }.new
    assert_dumps "93 c0 01 a1 61", [nil, 1, "a"]
    assert_raises(NoMethodError) { @factory.dump(BasicObject.new) }
  end

  def test_a_singleton_class_goes_first
    special = Point.new(1, 2)
    @factory.register_type(1, Point)
    @factory.register_type(2, special.singleton_class, packer: ->(_) { "s" })
    assert_dumps "92 d4 02 73 d5 01 01 02", [special, Point.new(1, 2)]
  end

  def test_many_types_of_one_class_and_many_classes_of_one_type
    @factory.register_type(1, Point, packer: ->(_) { "old" }, unpacker: ->(_) { :old })
    @factory.register_type(2, Point, packer: ->(_) { "new" }, unpacker: ->(_) { :new })
    assert_dumps "c7 03 02 6e 65 77", Point.new(1, 2)
    assert_equal %i[old new], @factory.load(bytes("92 d4 01 61 d4 02 61"))
    _, warning = capture_io { @factory.register_type(2, Round, packer: ->(_) { "round" }, unpacker: ->(_) { :round }) }
    assert_match(/ext_types_test\.rb:#{__LINE__ - 1}: warning: ext type 2 was unpacked as ExtTypesTest::Point, and is unpacked as ExtTypesTest::Round from now on/, warning)
    assert_dumps "92 c7 03 02 6e 65 77 c7 05 02 72 6f 75 6e 64", [Point.new(1, 2), Round.new]
    assert_equal :round, @factory.load(bytes("d4 02 61"))
  end

  def test_core_types_themselves_are_not_for_registering
    core = [String, Array, Hash, Float, NilClass, TrueClass, FalseClass, Integer]
    core.each do |klass|
      assert_raises(ArgumentError) { @factory.register_type(1, klass, packer: ->(_) { "never" }) }
      assert_raises(ArgumentError) { Manypack::Packer.new.register_type(1, klass) { "never" } }
      assert_raises(ArgumentError) { Manypack::Factory.new.register_type(1, klass) }
    end
    assert_empty @factory.registered_types
    core.each { |klass| assert_nil Manypack::Factory.new.register_type(1, klass, packer: nil, unpacker: ->(_) { :unpacked }) }
    assert_dumps "96 a1 61 90 80 cb 3f f8 00 00 00 00 00 00 c0 c3", ["a", [], {}, 1.5, nil, true]
    assert_dumps "01", 1
  end

  def test_subclasses_of_core_types_may_have_types
    assert_dumps "93 a1 61 91 01 81 01 02", [SubString.new("a"), SubArray[1], SubHash[1, 2]]
    @factory.register_type(1, SubString, packer: :to_s)
    @factory.register_type(2, SubArray, packer: ->(array) { array.pack("c*") })
    @factory.register_type(3, SubHash, packer: ->(hash) { hash.keys.pack("c*") })
    assert_dumps "93 d4 01 61 d4 02 01 d4 03 01", [SubString.new("a"), SubArray[1], SubHash[1, 2]]
    assert_dumps "93 a1 61 91 01 81 01 02", ["a", [1], { 1 => 2 }]
  end

  def test_a_handler_that_returns_no_string_is_a_type_error_that_names_the_type
    [nil, 1, :a, ["a"]].each do |body|
      @factory.register_type(7, Point, packer: ->(_) { body })
      error = assert_raises(TypeError) { exercise { @factory.dump([Point.new(1, 2)]) } }
      assert_equal "the packer of ext type 7 for ExtTypesTest::Point must return a String, got #{body.class}, at $[0]", error.message
    end
    @factory.register_type(7, Point, packer: ->(_) { Class.new { def to_str = "s" }.new })
    assert_dumps "d4 07 73", Point.new(1, 2)
  end

  def test_a_body_is_a_binary_string_of_its_own
    bodies = []
    @factory.register_type(1, Point, unpacker: ->(body) { bodies << body })
    @factory.load(bytes("c7 03 01 c3 a9 61").freeze)
    assert_equal [Encoding::BINARY, false, 3], [bodies[0].encoding, bodies[0].frozen?, bodies[0].bytesize]
  end

  def test_bodies_of_every_size
    @factory.register_type(1, Box, packer: :content, unpacker: :new)
    [0, 1, 2, 3, 4, 8, 16, 17, 255, 256, 65_535, 65_536].each do |size|
      packed = exercise { @factory.dump(Box.new("b" * size)) }
      assert_equal pack(Manypack::ExtensionValue.new(1, "b" * size)), packed
      assert_equal "b" * size, @factory.load(packed).content
      register_box
      recursive = Box.new(["b" * size])
      assert_equal recursive, @factory.load(@factory.dump(recursive))
      @factory.register_type(1, Box, packer: :content, unpacker: :new)
    end
  end

  def test_recursive_handlers_write_and_read_the_body
    register_box
    nested = Box.new([1, Box.new({ "k" => Box.new(nil) }), "s" * 300])
    assert_equal nested, exercise { @factory.load(exercise { @factory.dump(nested) }) }
    assert_dumps "d5 01 91 01", Box.new([1])
    assert_dumps "c7 00 02", Round.new.tap { @factory.register_type(2, Round, packer: ->(_, _) {}, recursive: true) }
  end

  def test_a_recursive_type_by_the_names_of_methods
    Box.define_method(:serialize) { |packer| packer.write_array_header(1).write(content) }
    Box.define_singleton_method(:deserialize) { |unpacker| new(unpacker.read.first) }
    @factory.register_type(1, Box, packer: :serialize, unpacker: :deserialize, recursive: true)
    assert_equal Box.new(Box.new(5)), @factory.load(@factory.dump(Box.new(Box.new(5))))
  end

  def test_recursive_handlers_may_be_callables_and_methods
    @factory.register_type(1, Point, packer: Callable.new, unpacker: ->(unpacker) { unpacker.read }, recursive: true)
    assert_equal 7, @factory.load(@factory.dump(Point.new(7, 0)))
  end

  def test_reading_past_a_body_names_the_type
    @factory.register_type(7, Box, packer: nil, unpacker: ->(unpacker) { [unpacker.read, unpacker.read] }, recursive: true)
    error = assert_raises(Manypack::MalformedFormatError) { exercise { @factory.load(bytes("92 d4 07 01 02")) } }
    assert_equal "the unpacker of ext type 7 read past the end of its body, at byte 4", error.message
    assert_raises(Manypack::MalformedFormatError) { @factory.load(bytes("92 d4 07 92 02")) }
    assert_equal [[1, 2], 3], @factory.load(bytes("92 d5 07 01 02 03"))
  end

  def test_bytes_that_are_left_in_a_body_name_the_type
    Box.define_singleton_method(:read_one, &:read)
    @factory.register_type(7, Box, packer: nil, unpacker: :read_one, recursive: true)
    error = assert_raises(Manypack::MalformedFormatError) { exercise { @factory.load(bytes("92 d6 07 01 02 03 04 05")) } }
    assert_equal "the unpacker of ext type 7 left 3 bytes of its body unread, at byte 4", error.message
    @factory.register_type(7, Box, packer: nil, unpacker: ->(_) { nil }, recursive: true)
    assert_raises(Manypack::MalformedFormatError) { @factory.load(bytes("d4 07 01")) }
    assert_nil @factory.load(bytes("c7 00 07"))
  end

  # The Unpacker of a deep body is that of the next one, which may be nearer to the surface and deeper itself.
  def test_bodies_are_skipped_and_passed_over_wherever_they_are
    { skip: ->(unpacker) { unpacker.skip }, rescue: ->(unpacker) { assert_raises(Manypack::UnknownExtTypeError) { unpacker.read } } }.each_value do |reader|
      factory = Manypack::Factory.new
      factory.register_type(7, Object, packer: nil, unpacker: ->(unpacker) { reader.call(unpacker) && nil }, recursive: true)
      [[100, 1, 1, 120], [1, 120, 100, 1], [126, 0, 0, 126]].last(FEW_CASES ? 1 : 3).each do |around_first, in_first, around_second, in_second|
        message = "\x92".b + [[around_first - 1, in_first], [around_second - 1, in_second]].map do |around, inside|
          body = ("\x91".b * inside) + "\xD4\x09x".b
          ("\x91".b * [around, 0].max) + [0xc9, body.bytesize, 7].pack("CNc") + body
        end.join
        2.times { assert_equal 2, exercise { factory.load(message) }.size }
        2.times { assert_equal 2, exercise { factory.unpacker.feed(message).read }.size }
      end
    end
  end

  def test_an_unpacker_kept_beyond_its_body_raises
    kept = []
    @factory = Manypack::Factory.new
    @factory.register_type(7, Object, packer: nil, unpacker: ->(unpacker) { kept.push(unpacker).size.then { unpacker.read } }, recursive: true)
    bytes = bytes("93 d4 07 01 d4 07 02 c7 03 07 d4 07 03")
    assert_equal [1, 2, 3], @factory.load(bytes)
    assert_equal [1, 2, 3], @factory.unpacker.feed(bytes).read
    kept.each do |unpacker|
      %i[read skip buffer].each { |method| assert_refused { unpacker.public_send(method) } }
    end
  end

  def test_a_reader_that_rescues_reading_past_its_body_gets_no_byte_of_its_neighbours
    seen = []
    @factory.register_type(7, Box, packer: nil, recursive: true, unpacker: lambda do |unpacker|
      loop { seen << unpacker.read }
    rescue Manypack::DecodeError
      :rescued
    end)
    assert_equal [:rescued, 9], @factory.load(bytes("92 d4 07 01 09"))
    assert_equal [1], seen
  end

  # What a handler may do to its body, in place of reading it.
  MISBEHAVIOUR = {
    "rescues" => ->(body) { 3.times.map { body.read rescue :rescued } },
    "skips" => ->(body) { 3.times.map { body.skip rescue :rescued } },
    "resets" => ->(body) { (body.reset rescue :rescued) || body.read },
    "rescues what a handler inside of it raises" => ->(body) { [(body.read rescue :rescued), (body.read rescue :rescued)] },
    "leaves all of it" => ->(_) { :nothing }
  }.freeze

  def test_whatever_a_handler_does_to_its_body_the_objects_around_it_are_whole
    MISBEHAVIOUR.each do |what, handler|
      ["07", "91 91 c1", "91 d4 05 c1", "d4 05 d4 06"].each do |body|
        @factory.register_type(5, Box, packer: nil, unpacker: ->(_) { raise IOError })
        @factory.register_type(7, Box, packer: nil, unpacker: handler, recursive: true)
        content = bytes(body)
        unpacker = @factory.unpacker(allow_unknown_ext: true)
        unpacker.feed(bytes("93 a6") + "before" + "\xC7".b + content.bytesize.chr + "\x07".b + content + bytes("91 a5") + "after" + bytes("09"))
        object = exercise { unpacker.read rescue $!.class }
        assert_equal ["before", ["after"]], object.values_at(0, 2), "#{what}: #{body}" if object.is_a?(Array)
        assert_equal 9, unpacker.read, "#{what}: #{body}"
      end
    end
  end

  def test_the_unpacker_of_a_body_knows_types_and_options
    register_box
    tree = @factory.load(@factory.dump(Box.new({ "k" => Box.new(["v"]) })), symbolize_keys: true, freeze: true)
    assert_equal Box.new({ k: Box.new(["v"]) }), tree
    assert_predicate tree, :frozen?
    assert_predicate tree.content, :frozen?
  end

  def test_depth_counts_through_recursive_types_in_both_directions
    register_box
    deep = 5.times.inject(nil) { |inner, _| Box.new(inner) }
    packed = @factory.dump(deep, max_depth: 5)
    assert_raises(Manypack::NestingError) { @factory.dump(deep, max_depth: 4) }
    assert_equal deep, @factory.load(packed, max_depth: 5)
    assert_raises(Manypack::StackError) { @factory.load(packed, max_depth: 4) }
    assert_raises(Manypack::StackError) { @factory.load(@factory.dump(Box.new([[1]])), max_depth: 2) }
    assert_raises(Manypack::StackError) { @factory.unpacker(max_depth: 4).feed(packed).read }
  end

  def test_a_hundred_and_twenty_eight_levels_of_ext_and_no_more_by_default
    register_box
    wrap = ->(levels) { Array.new(levels) { |inner| "\xC9".b + [1 + 6 * inner, 1].pack("NC") }.reverse.join + "\xC0".b }
    assert_instance_of Box, @factory.load(wrap[128])
    assert_raises(Manypack::StackError) { @factory.load(wrap[129]) }
    assert_raises(Manypack::StackError) { @factory.load(wrap[20_000]) }
    assert_raises(Manypack::StackError) { @factory.load(wrap[20_000], max_depth: 100_000) }
  end

  def test_a_cycle_through_a_recursive_type_is_a_nesting_error
    register_box
    box = Box.new
    box.content = [box]
    assert_raises(Manypack::NestingError) { @factory.dump(box) }
    assert_raises(Manypack::NestingError) { @factory.dump(box, max_depth: 100_000) }
  end

  def test_what_handlers_raise_comes_out_as_it_is
    @factory.register_type(1, Point, packer: ->(_) { raise IOError, "p" }, unpacker: ->(_) { raise KeyError, "u" })
    assert_raises(IOError) { exercise { @factory.dump([Point.new(1, 2)]) } }
    assert_raises(KeyError) { exercise { @factory.load(bytes("91 d4 01 61")) } }
    assert_equal(:thrown, catch(:out) { @factory.tap { |f| f.register_type(1, Point, unpacker: ->(_) { throw :out, :thrown }) }.load("\xD4\x01a".b) })
  end

  def test_freeze_and_shareable_hold_for_what_handlers_return
    @factory.register_type(1, Box, packer: :content, unpacker: ->(body) { [body, { body => body }] })
    assert_predicate @factory.load(bytes("d4 01 61"), freeze: true), :frozen?
    assert Ractor.shareable?(@factory.load(bytes("91 d4 01 61"), shareable: true))
    @factory.register_type(2, Box, unpacker: ->(_) { Thread.current })
    assert_raises(Ractor::Error, TypeError, FrozenError) { @factory.load(bytes("d4 02 61"), shareable: true) }
  end

  def test_oversized_integers_only_go_out_as_ext
    @factory.register_type(1, Integer, packer: Manypack::Bigint.method(:to_msgpack_ext),
                                       unpacker: Manypack::Bigint.method(:from_msgpack_ext), oversized_integer_extension: true)
    assert_dumps "cf ff ff ff ff ff ff ff ff", 2**64 - 1
    assert_dumps "d3 80 00 00 00 00 00 00 00", -(2**63)
    [2**64, -(2**63) - 1, 2**1000, -(2**1000)].each { |integer| assert_equal integer, @factory.load(@factory.dump([integer])).first }
    error = assert_raises(ArgumentError) { @factory.register_type(1, Point, oversized_integer_extension: true) }
    assert_match(/only for Integer/, error.message)
  end

  def test_oversized_integers_by_a_recursive_type
    @factory.register_type(1, Integer, packer: ->(integer, packer) { packer.write(integer.to_s) }, recursive: true,
                                       unpacker: ->(unpacker) { Integer(unpacker.read) }, oversized_integer_extension: true)
    assert_equal [2**70, 1], @factory.load(@factory.dump([2**70, 1]))
  end

  def test_a_misspelt_option_is_warned_about
    _, warning = capture_io { @factory.register_type(1, Integer, { packer: :to_s, oversized_integer_extension_type: true }) }
    assert_match(/oversized_integer_extension/, warning)
    assert_match(/ext_types_test\.rb/, warning)
    assert_raises(RangeError) { @factory.dump(2**70) }
  end

  def test_symbols_as_a_type
    @factory.register_type(1, Symbol)
    symbols = [:a, :"", :é, :"with space", "\xFF".b.to_sym, "dynamic #{object_id}".to_sym]
    assert_equal symbols, exercise { @factory.load(@factory.dump(symbols)) }
    assert_dumps "81 d4 01 61 d4 01 62", { a: :b }
    assert_equal({ a: :b }, @factory.load(@factory.dump({ a: :b })))
  end

  def test_an_unpacker_that_a_handler_made_its_own_comes_to_no_other_body
    seen = []
    @factory.register_type(1, Box, recursive: true, packer: ->(box, packer) { packer.write(box.content) }, unpacker: lambda { |body|
      seen << [body.instance_variable_get(:@seen), body.frozen?]
      body.instance_variable_set(:@seen, seen.size) unless body.frozen?
      Box.new(body.read).tap { body.freeze if seen.size == 2 }
    })
    @factory.load(@factory.dump([Box.new(1), Box.new(2), Box.new(3)]))
    assert_equal [[nil, false]] * 3, seen
  end

  def test_objects_with_and_without_exts_come_in_any_order
    register_box
    @factory.register_type(2, Point, unpacker: ->(_) { raise "a point" })
    unpacker = @factory.unpacker
    point, boxes = bytes("91 d4 02 61"), @factory.dump([Box.new([Box.new([])]), Box.new({}), Box.new([{ 1 => Box.new([2]) }])])
    2.times do
      unpacker.feed([bytes("91 01"), boxes, point, bytes("90 80"), boxes, point, bytes("91 91 02")].join)
      assert_equal [1], unpacker.read
      assert_equal [Box.new([Box.new([])]), Box.new({}), Box.new([{ 1 => Box.new([2]) }])], unpacker.read
      assert_refused(/\Aa point\z/) { unpacker.read }
      assert_equal [[], {}, @factory.load(boxes)], Array.new(3) { unpacker.read }
      assert_refused(/\Aa point\z/) { unpacker.read }
      unpacker.feed(bytes("92 d4"))
      assert_equal [[2]], unpacker.read
      assert_raises(Manypack::TruncatedError) { unpacker.read }
      assert_equal [Box.new(3), 4], unpacker.feed(bytes("01 03 04")).read
    end
  end

  def test_optimized_symbols_are_the_same_symbols_and_call_nothing
    calls = []
    options = { packer: ->(symbol) { symbol.name }, unpacker: ->(body) { calls << body && :called } }
    @factory.register_type(1, Symbol, **options, optimized_symbols_parsing: true)
    symbols = [:a, :"", :é, "\xFF".b.to_sym]
    assert_equal symbols, exercise { @factory.load(@factory.dump(symbols)) }
    assert_empty calls
    @factory.register_type(0, Point, unpacker: ->(_) { :type_zero })
    assert_equal :type_zero, @factory.load(bytes("d4 00 61"))
  end

  private

  def register_box
    @factory.register_type(1, Box, packer: ->(box, packer) { packer.write(box.content) },
                                   unpacker: ->(unpacker) { Box.new(unpacker.read) }, recursive: true)
  end

  def assert_dumps(expected, object)
    assert_equal expected, hex(exercise { @factory.dump(object) })
  end
end

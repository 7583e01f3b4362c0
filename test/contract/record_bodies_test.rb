# frozen_string_literal: true

# What a front says holds in the bodies of an ext type that was registered with record:, as it does in those of a
# recursive packer and unpacker written by hand. The options come from the tables of the extension, so a new one fails
# here until it has a probe.
require "test_helper"
require "stringio"
require "support/in_file"
require_relative "option_probes"

class RecordBodiesTest < Minitest::Test
  include CorePart
  extend InFile

  ARGUMENTS = Manypack.module_eval("Arguments")
  Held = Struct.new(:k)
  Around = Struct.new(:k)
  Own = Struct.new(:x)
  HELD = Manypack::Record.new(Held, k: Object)
  AROUND = Manypack::Record.new(Around, k: Object)

  # Handlers that every Ractor may call.
  module ByHand
    def self.dump(held, packer) = packer.write({ "k" => held.k })
    def self.load(unpacker) = Held.new(unpacker.read.values.first)
    def self.dump_own(own) = own.x
    def self.load_own(body) = Own.new(body)
  end

  def self.factory(**body)
    Manypack::Factory.new.tap do |factory|
      factory.register_type(1, Held, **body)
      factory.register_type(2, Own, packer: ByHand.method(:dump_own), unpacker: ByHand.method(:load_own))
    end
  end

  RECORD = factory(record: HELD)
  HAND = factory(packer: ByHand.method(:dump), unpacker: ByHand.method(:load), recursive: true)

  # For each option a value, and the bytes of a value in the body to which it makes a difference. These limits count
  # what is around the value, too.
  PROBES = OptionProbes::VALUES.merge(
    max_depth: [4, "\x91\x91\x91\x01".b], max_bytes: [8, "\x93\x01\x02\x03".b], max_objects: [7, "\x93\x01\x02\x03".b],
    max_ext_bytes: [4, "\xD5\x02ab".b]
  ).freeze

  # The same for packing: a value, and what the object in the body holds. canonical is left out: it does not hold
  # in what a packer writes.
  PACKED = { timestamp: [true, Time.at(1)], max_depth: [4, [[1]]], compatibility_mode: [true, "a" * 40],
             default: [->(object) { [object.class.name] }, Object.new] }.freeze

  # What reads a message, a map with an ext of type 1 at "k", and returns the value there.
  UNPACKING = {
    "unpack" => ->(f, bytes, **o) { at_k Manypack.unpack(bytes, codec: f.codec, **o) },
    "unpack of an io" => ->(f, bytes, **o) { at_k Manypack.unpack(StringIO.new(bytes), codec: f.codec, **o) },
    "load_file" => ->(f, bytes, **o) { in_file(bytes) { |path| at_k Manypack.load_file(path, codec: f.codec, **o) } },
    "Codec#unpack" => ->(f, bytes, **o) { at_k f.codec.unpack(bytes, **o) },
    "Codec#with" => ->(f, bytes, **o) { at_k f.codec.with(**o).load(bytes) },
    "Codec#view" => ->(f, bytes, **o) { at_k f.codec.with(**o).view(bytes).value },
    "Factory#load" => ->(f, bytes, **o) { at_k f.load(bytes, **o) },
    "Factory#pool" => ->(f, bytes, **o) { at_k f.pool(1, **o).load(bytes) },
    "a block of a pool" => ->(f, bytes, **o) { at_k f.pool(1, **o).unpacker { |unpacker| unpacker.feed(bytes).read } },
    "Unpacker#each" => ->(f, bytes, **o) { at_k f.unpacker(o).feed(bytes).each.first },
    "Unpacker#feed_each" => ->(f, bytes, **o) { at_k fed(f.unpacker(o), bytes).first },
    "Unpacker#read of an io" => ->(f, bytes, **o) { at_k f.unpacker(StringIO.new(bytes), o).read },
    "foreach" => ->(f, bytes, **o) { in_file(bytes) { |path| at_k Manypack.foreach(path, codec: f.codec, **o).first } },
    "split" => ->(f, bytes, **o) { Manypack.split(bytes, codec: f.codec, as: :view, **o).first["k"] },
    "View#[]" => ->(f, bytes, **o) { Manypack::View.new(bytes, codec: f.codec, **o)["k"] },
    "View#value" => ->(f, bytes, **o) { at_k f.codec.view(bytes).value(**o) },
    "dig" => ->(f, bytes, **o) { Manypack.dig(bytes, *("k" unless o[:symbolize_keys]), *(:k if o[:symbolize_keys]), codec: f.codec, **o) },
    "Path#first" => ->(f, bytes, **o) { Manypack::Path.new("$.k").first(bytes, codec: f.codec, **o) },
    "as: a Record" => ->(f, bytes, **o) { Manypack.unpack(bytes, codec: f.codec, as: AROUND, **o).k },
    "foreach as: a Record" => ->(f, bytes, **o) { in_file(bytes) { |path| Manypack.foreach(path, codec: f.codec, as: AROUND, **o).first.k } },
    "Record#load" => ->(f, bytes, **o) { AROUND.load(bytes, codec: f.codec, **o).k },
    "Record#with" => ->(f, bytes, **o) { AROUND.with(codec: f.codec, **o).load(bytes).k },
    "Type#load" => ->(f, bytes, **o) { at_k Manypack::Type[Object].load(bytes, codec: f.codec, **o) },
    "Record#lazy" => ->(f, bytes, **o) { AROUND.with(codec: f.codec, **o).lazy.load(bytes).k },
    "Parallel.map" => ->(f, bytes, **o) { at_k Manypack::Parallel.map(bytes, ractors: 0, codec: f.codec, **o, &:itself).first }
  }.freeze

  PACKING = {
    "pack" => ->(f, object, **o) { Manypack.pack(object, codec: f.codec, **o) },
    "pack to an io" => ->(f, object, **o) { StringIO.new("".b).tap { |io| Manypack.pack(object, io, codec: f.codec, **o) }.string },
    "Codec#pack" => ->(f, object, **o) { f.codec.pack(object, **o) },
    "Codec#with" => ->(f, object, **o) { f.codec.with(**o).dump(object) },
    "Factory#dump" => ->(f, object, **o) { f.dump(object, **o) },
    "Factory#pool" => ->(f, object, **o) { f.pool(1, **o).dump(object) },
    "Packer#write" => ->(f, object, **o) { f.packer(o).write(object).to_s },
    "Packer.open" => ->(f, object, **o) { in_file("") { |path| Manypack::Packer.open(path, codec: f.codec, **o) { |packer| packer.write(object) } && File.binread(path) } },
    "Record#dump" => ->(f, object, **o) { AROUND.dump(Around.new(object["k"]), codec: f.codec, **o) }
  }.freeze

  def self.at_k(map) = map.values.first

  # The objects from bytes that come one by one.
  def self.fed(unpacker, bytes)
    found = []
    bytes.each_char { |byte| unpacker.feed_each(byte) { |object| found << object } }
    found
  end

  # A message with such a value in the body of an ext.
  def with_body(inner)
    body = "\x81\xA1k".b + inner
    "\x81\xA1k".b + [0xC7, body.bytesize, 1].pack("C*") + body
  end

  # What comes of a call: all that a caller can tell from the value, or from the error.
  def outcome(front, factory, argument, **options)
    described(front.call(factory, argument, **options))
  rescue Manypack::Error, ArgumentError, NoMethodError => error
    [error.class, (error.limit if error.is_a?(Manypack::LimitError)), (error.path if error.is_a?(Manypack::DecodeError))]
  end

  def described(value)
    inner = value.is_a?(Held) ? described(value.k) : value.inspect
    [value.class, inner, value.frozen?, Ractor.shareable?(value)]
  end

  def assert_alike(fronts, name, argument, options, effect: true)
    front = fronts.fetch(name)
    found = outcome(front, RECORD, argument, **options)
    assert_equal outcome(front, HAND, argument, **options), found, options.inspect
    refute_equal outcome(front, RECORD, argument), found, options.inspect if effect
  end

  def test_every_option_has_a_probe
    assert_equal ARGUMENTS::UNPACKING_OPTIONS.sort, PROBES.keys.sort
    assert_equal ARGUMENTS::PACKING_OPTIONS.sort, [*PACKED.keys, :canonical].sort
  end

  UNPACKING.each_key do |name|
    define_method("test_every_option_of_#{name}_holds_in_a_body") do
      PROBES.each { |option, (value, inner)| assert_alike(UNPACKING, name, with_body(inner), { option => value }) }
    end

    define_method("test_other_ext_types_of_#{name}_hold_in_a_body") do
      assert_equal "#<struct #{Own} x=\"a\">", outcome(UNPACKING.fetch(name), RECORD, with_body("\xD4\x02a".b)).dig(1, 1)
    end
  end

  PACKING.each_key do |name|
    define_method("test_every_option_of_packing_by_#{name}_holds_in_a_body") do
      PACKED.each { |option, (value, held)| assert_alike(PACKING, name, { "k" => Held.new(held) }, { option => value }) }
      assert_alike(PACKING, name, { "k" => Held.new(Own.new("a")) }, {}, effect: false)
      next if name.start_with?("Packer") # which has no canonical form

      packed = PACKING.fetch(name).call(RECORD, { "k" => Held.new({ "b" => 1, "a" => 2 }) }, canonical: true)
      assert_equal with_body("\x82\xA1a\x02\xA1b\x01".b), packed
    end
  end

  # Objects of several bodies, bodies in bodies, in map keys, and in a Record.
  NESTED = [[Held.new([1, 2]), Held.new([3, 4]), 5], { "k" => Held.new({ "a" => Held.new([Held.new([1]), Held.new({})]) }) },
            { Held.new([1]) => Held.new([[], [Own.new("x")]]) }, Held.new({ "a" => [1], "b" => [Held.new(1)] })].freeze

  def test_bodies_come_back_in_each_other
    NESTED.each do |object|
      assert_equal HAND.dump(object), (bytes = exercise { RECORD.dump(object) })
      assert_equal object, exercise { RECORD.load(bytes) }
      assert_equal object, exercise { RECORD.load(bytes, untrusted: true, freeze: true) }
    end
  end

  def test_limits_count_across_bodies
    fronts = { "load" => ->(f, bytes, **o) { f.load(bytes, **o) }, "read" => ->(f, bytes, **o) { f.unpacker(o).feed(bytes).read } }
    NESTED.map { |object| HAND.dump(object) }.product(%i[max_objects max_depth max_bytes max_map_size max_array_size max_string_bytes max_ext_bytes]) do |bytes, option|
      fronts.each_key { |name| (1..30).each { |limit| assert_alike(fronts, name, bytes, { option => limit }, effect: false) } }
    end
  end

  # The first types refuse what came of an ext; then it is built again for the next.
  def test_limits_count_an_ext_once_that_several_types_are_tried_for
    bytes = HAND.dump([Held.new([1] * 10)] * 20)
    types = [[Own, Around, Held], [Own, Integer, Held]].map { |of| Manypack::Type[[Manypack::Type[*of]]].with(codec: RECORD.codec) }
    types.each do |type|
      assert_equal RECORD.load(bytes), type.load(bytes, max_objects: 281)
      assert_raises(Manypack::LimitError) { type.load(bytes, max_objects: 280) }
    end
  end

  def test_levels_of_packing_count_across_bodies
    NESTED.each do |object|
      (1..12).each { |limit| assert_alike(PACKING, "Factory#dump", object, { max_depth: limit }, effect: false) }
    end
  end

  def test_an_error_in_a_body_says_where_the_ext_is
    error = assert_raises(Manypack::MalformedFormatError) { RECORD.load("\x92\x01".b + with_body("\xC1".b)) }
    assert_equal ["$[1].k", 11], [error.path, error.offset]
    error = assert_raises(Manypack::LimitError) { RECORD.load("\x92\x01".b + with_body("\x93\x01\x02\x03".b), max_array_size: 2) }
    assert_equal ["max_array_size is 2, but the input has an array of 3 elements, at byte 11", "$[1].k", 11], [error.message, error.path, error.offset]
    error = assert_raises(Manypack::MalformedFormatError) { RECORD.load("\x92\x01".b + with_body("\xA1\xFF".b), utf8: :strict) }
    assert_equal ["a str is not valid UTF-8, at byte 3, in the unpacker of ext type 1, at byte 5", "$[1].k", 5], [error.message, error.path, error.offset]
  end

  # Each body checks its limits before it is loaded. If that built the exts in it, they would be built 2**n times.
  def test_exts_in_nested_bodies_are_built_once
    built = 0
    factory = RecordBodiesTest.factory(record: HELD)
    factory.register_type(2, Own, packer: ByHand.method(:dump_own), unpacker: ->(body) { Own.new(body).tap { built += 1 } })
    bytes = factory.dump((1..40).inject(Own.new("x")) { |inner, _| Held.new(inner) })
    exercise { factory.load(bytes, untrusted: true, max_depth: 200) }
    assert_equal 1, built
  end

  # Options of the Record itself hold where the front says nothing, and count from the body.
  def test_options_of_the_record_hold_where_the_front_says_nothing
    bytes = HAND.dump([1, 2, 3, Held.new([["a"], { "b" => 1 }])])
    { symbolize_keys: true, max_objects: 5, max_bytes: 10, max_depth: 2, freeze: true }.each do |option, value|
      factory = RecordBodiesTest.factory(record: HELD.with(option => value))
      alone = outcome(->(_, body) { HELD.load(body, option => value) }, nil, HELD.dump(Held.new([["a"], { "b" => 1 }])))
      found = outcome(->(f, message) { f.load(message).last }, factory, bytes)
      assert_equal alone.first(2).map { |part| part.is_a?(Array) ? part[1] : part }, found.first(2).map { |part| part.is_a?(Array) ? part[1] : part }, option
    end
    factory = RecordBodiesTest.factory(record: HELD.with(compatibility_mode: true))
    assert_equal HAND.dump(Held.new("a" * 40), compatibility_mode: true), factory.dump(Held.new("a" * 40))
    factory = RecordBodiesTest.factory(record: HELD.with(max_objects: 5, max_depth: 2, max_bytes: 10))
    assert_equal [[1] * 9, Held.new([1])], factory.load(factory.dump([[1] * 9, Held.new([1])]), max_map_size: 9)
    assert_equal Held.new([[1, 2, 3, 4]] * 9), factory.load(HAND.dump(Held.new([[1, 2, 3, 4]] * 9)), max_objects: 99, max_depth: 9, max_bytes: 99)
  end

  def test_codecs_that_know_the_same_record_are_equal
    codec = RecordBodiesTest.factory(record: HELD).codec
    assert_equal [RECORD.codec, RECORD.codec.hash], [codec, codec.hash]
    refute_equal codec, RecordBodiesTest.factory(record: HELD.with(freeze: true)).codec
  end

  # Their max_depth is that of the front, too, when they are read later.
  def test_views_and_lazy_records_in_a_body_are_as_deep_as_the_front_allows
    deep = "\x91".b * 300 + "\x01"
    bytes = [0xC8, deep.bytesize + 3, 1].pack("CnC") + "\x81\xA1k".b + deep
    [Manypack::Record.new(Held, k: Manypack::View), HELD.lazy].each do |record|
      factory = RecordBodiesTest.factory(record: record)
      [{}, { freeze: true }, { shareable: true }].each do |options|
        held = exercise { factory.load(bytes, max_depth: 400, **options) }
        assert_equal [1], (held.k.is_a?(Manypack::View) ? held.k.value : held.k).flatten
      end
      assert_raises(Manypack::StackError) { factory.load(bytes) }
    end
  end

  def test_handlers_that_are_called_by_hand
    pair = RECORD.registered_types.first.values_at(:packer, :unpacker)
    assert_equal HELD.dump(Held.new(1)), pair[0].call(Held.new(1))
    assert_equal Held.new(1), pair[1].call(HELD.dump(Held.new(1)))
    assert_raises(ArgumentError) { pair[1].call(Manypack::Unpacker.new.feed(HELD.dump(Held.new(1)))) }
    assert_raises(TypeError) { pair[1].call(1) }
    kept = nil
    wrapping = Manypack::Factory.new
    wrapping.register_type(1, Held, packer: pair[0], unpacker: ->(unpacker) { pair[1].call(kept = unpacker) }, recursive: true)
    assert_equal [Held.new([1])], wrapping.load(wrapping.dump([Held.new([1])]))
    assert_raises(RuntimeError) { pair[1].call(kept) }
    twice = Manypack::Factory.new
    twice.register_type(1, Held, packer: pair[0], unpacker: ->(unpacker) { 2.times { pair[1].call(unpacker) } }, recursive: true)
    assert_raises(Manypack::MalformedFormatError) { twice.load(twice.dump([Held.new([1])])) }
  end

  def test_a_shareable_factory_works_in_every_ractor
    bytes = HAND.dump([Held.new({ "a" => [Own.new("x")] })])
    factory = Ractor.make_shareable(RecordBodiesTest.factory(record: HELD))
    found, packed = in_ractor(factory, bytes) do |shared, message|
      loaded = shared.load(message, untrusted: true, symbolize_keys: true)
      [loaded, shared.dump(shared.load(message))]
    end
    assert_equal [[Held.new({ a: [Own.new("x")] })], bytes], [found, packed]
  end
end

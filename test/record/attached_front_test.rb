# frozen_string_literal: true

# What a front says, such as Manypack.pack or a Packer, holds inside of the objects of attached Records, too.
require "test_helper"
require "stringio"
require "tmpdir"

class AttachedFrontTest < Minitest::Test
  include CorePart

  Record = Manypack::Record
  Box = Struct.new(:at)
  Record.new(Box, at: Object).attach
  Deep = Struct.new(:at)
  Record.new(Deep, at: Object).with(max_depth: 2).attach
  Moment = Struct.new(:at)
  Record.new(Moment, at: Time).with(check: true).attach
  Foreign = Struct.new(:x)
  Own = Struct.new(:at)

  # Packs a Foreign as an ext whose body is x and the given ending.
  def self.factory(ending)
    Manypack::Factory.new.tap do |factory|
      factory.register_type(1, Foreign, packer: ->(object) { "#{object.x}#{ending}" }, unpacker: ->(body) { Foreign.new(body) })
    end
  end

  Record.new(Own, at: Object).with(codec: factory("").codec, compatibility_mode: true).attach

  def fronts(object, **options)
    io = StringIO.new("".b)
    Manypack::Packer.new(io, options).write(object).flush
    [Manypack.pack(object, **options), Manypack::Codec.new(**options).pack(object), Manypack::Factory.new.dump(object, nil, options),
     Manypack::Packer.new(options).write(object).to_s, io.string, object.to_msgpack(Manypack::Packer.new(options)).to_s,
     *files(object, **options), filtered(object, **options)]
  end

  def files(object, **options)
    Dir.mktmpdir do |folder|
      %w[dumped opened].map { |name| File.join(folder, name) }.each_with_index.map do |path, i|
        i.zero? ? Manypack.dump_file(object, path, **options) : Manypack::Packer.open(path, **options) { |packer| packer.write(object) }
        File.binread(path)
      end
    end
  end

  def filtered(object, **options)
    Manypack::Parallel.filter("\x01".b, io = StringIO.new("".b), ractors: 0, codec: Manypack::Codec.new(**options)) { object }
    io.string
  end

  def test_options_of_the_front_hold_in_attached_records
    [[Time.at(0), { timestamp: true }], ["\xff".b, { compatibility_mode: true }], [Box.new(Time.at(1)), { timestamp: true }]].each do |value, options|
      expected = pack({ "at" => value }, **options)
      fronts(Box.new(value), **options).each { |bytes| assert_equal expected, bytes }
    end
    fronts(Moment.new(Time.at(0)), timestamp: true).each { |bytes| assert_equal pack({ "at" => Time.at(0) }, timestamp: true), bytes }
    assert_raises(ArgumentError) { pack(Moment.new(Time.at(0))) }
  end

  def test_keys_of_every_length_are_packed_as_those_of_a_hash
    [1, 31, 32, 255, 256, 65_536].each do |size|
      record = Manypack::Record.new(Struct.new(:at, :end), at: Integer, end: Integer).with(keys: { at: "k" * size }).attach
      object = record.klass.new(1, 2)
      [false, true].each do |mode|
        expected = pack({ "k" * size => 1, "end" => 2 }, compatibility_mode: mode)
        [*fronts(object, compatibility_mode: mode), record.dump(object, compatibility_mode: mode),
         record.with(compatibility_mode: mode).dump(object)].each { |bytes| assert_equal expected, bytes }
        assert_equal object, record.load(expected)
      end
    end
  end

  def test_a_record_that_checks_is_as_deep_as_the_front_allows
    record = Manypack::Record.new(Struct.new(:k), k: Object).with(check: true).attach
    deep = (1..300).inject(1) { |inner, _| [inner] }
    assert_equal pack([{ "k" => deep }], max_depth: 400), pack([record.klass.new(deep)], max_depth: 400)
    assert_raises(Manypack::NestingError) { pack([record.klass.new(deep)]) }
    factory = Manypack::Factory.new.tap { |made| made.register_type(1, record.klass, record: record) }
    assert_equal record.dump(record.klass.new(deep), max_depth: 400), factory.dump(record.klass.new(deep), max_depth: 400).byteslice(4..)
  end

  def test_canonical_holds_in_attached_records
    assert_equal pack({ "at" => { "a" => 1, "b" => 2 } }, canonical: true), pack(Box.new({ "b" => 2, "a" => 1 }), canonical: true)
  end

  def test_attached_records_count_as_levels
    [1, 2, 3, 4, 5].each do |limit|
      hashes, boxes = [{ "at" => [[1]] }, Box.new([[1]])].map do |object|
        pack([object], max_depth: limit)
      rescue Manypack::NestingError => error
        error.message
      end
      assert_equal hashes, boxes
    end
    assert_equal pack((1..63).inject({ "at" => 1 }) { |inner, _| { "at" => [inner] } }), pack(nested(63))
    assert_raises(Manypack::NestingError) { pack(nested(64)) }
  end

  def nested(times)
    (1..times).inject(Box.new(1)) { |inner, _| Box.new([inner]) }
  end

  def test_max_depth_of_a_record_counts_from_its_object
    assert_equal pack([[[{ "at" => [] }]]]), pack([[[Deep.new([])]]])
    assert_raises(Manypack::NestingError) { pack(Deep.new([[1]])) }
    assert_equal pack({ "at" => [[]] }), pack(Deep.new([[]]), max_depth: 3)
    assert_raises(Manypack::NestingError) { pack([[Deep.new([1])]], max_depth: 3) }
  end

  def test_ext_types_of_the_front_hold_in_attached_records
    factory = AttachedFrontTest.factory("!")
    object = Box.new([Box.new(Foreign.new(1))])
    expected = factory.dump({ "at" => [{ "at" => Foreign.new(1) }] })
    packer = Manypack::Packer.new
    packer.register_type(1, Foreign) { "1!" }
    results = [pack(object, codec: factory.codec), factory.dump(object), factory.pool.dump(object), factory.packer.write(object).to_s, packer.write(object).to_s,
               Manypack::View.new(pack([nil]), codec: factory.codec).splice("$[0]" => object).bytes.byteslice(1..)]
    results.each { |bytes| assert_equal expected, bytes }
    assert_raises(NoMethodError) { pack(object) }
  end

  def test_a_front_without_ext_types_leaves_those_of_the_record
    assert_equal factory_dump("", "1"), pack(Own.new(Foreign.new(1)))
    assert_equal factory_dump("", "1"), pack(Own.new(Foreign.new(1)), timestamp: true)
    assert_equal factory_dump("!", "1"), AttachedFrontTest.factory("!").dump(Own.new(Foreign.new(1)))
  end

  def factory_dump(ending, x)
    AttachedFrontTest.factory(ending).dump({ "at" => Foreign.new(x) })
  end

  def test_options_of_a_record_hold_where_the_front_says_nothing
    assert_equal bytes("81 a2 61 74 a1 ff"), pack(Own.new("\xff".b))
    assert_equal bytes("81 a2 61 74 a1 ff"), pack(Own.new("\xff".b), timestamp: true)
    assert_equal bytes("81 a2 61 74 c4 01 ff"), pack(Own.new("\xff".b), compatibility_mode: false)
  end

  def test_many_fronts_in_turn_are_kept_apart
    6.times do |round|
      endings = ("a".."f").to_a.map { |ending| AttachedFrontTest.factory("#{ending}#{round}") }
      endings.each { |factory| assert_equal factory.dump({ "at" => Foreign.new(1) }), factory.dump(Box.new(Foreign.new(1))) }
    end
  end

  # Like a Packer of the msgpack gem.
  class Other
    attr_reader :buffer

    def initialize
      @buffer = StringIO.new("".b)
    end
  end

  def test_a_packer_of_another_library_gets_the_bytes
    assert_equal pack({ "at" => 1 }), Box.new(1).to_msgpack(Other.new).buffer.string
  end
end

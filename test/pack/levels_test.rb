# frozen_string_literal: true

# What to_msgpack writes counts with the containers that it has, and the call counts nothing: what may be packed is what
# may be unpacked.
require "test_helper"

class LevelsTest < Minitest::Test
  Scalar = Struct.new(:value) { def to_msgpack(packer) = packer.write(value) }
  Written = Struct.new(:value) { def to_msgpack(packer) = packer.write([value]) }
  Headed = Struct.new(:value) { def to_msgpack(packer) = packer.write_array_header(1).write(value) }
  Twice = Struct.new(:value) { def to_msgpack(packer) = packer.write_array_header(1).write_map_header(1).write(1).write(value) }
  Passed = Struct.new(:value) { def to_msgpack(packer) = value.to_msgpack(packer) }
  Inner = Struct.new(:value)
  Member = Struct.new(:value)
  Manypack::Record.new(Member, value: Object).attach

  Kept = Struct.new(:value)

  FACTORY = Manypack::Factory.new
  FACTORY.register_type(2, Kept, record: Manypack::Record.new(Kept, value: Object))
  FACTORY.register_type(1, Inner, packer: ->(inner, packer) { packer.write(inner.value) }, unpacker: ->(unpacker) { Inner.new(unpacker.read) }, recursive: true)

  LONG = ("x" * 100).freeze # so that an object gets a note
  OBJECTS = [
    Scalar.new(5), Scalar.new(LONG), [Scalar.new(5)], Written.new(1), Written.new(Written.new(LONG)), Headed.new(1), Headed.new([1]), Headed.new(Scalar.new([LONG])),
    Twice.new(1), Twice.new(Twice.new([1])), Passed.new(Headed.new(Scalar.new(1))), [Headed.new({ "a" => Twice.new([Passed.new(Written.new(Headed.new(LONG)))]) })],
    Inner.new(1), Inner.new([1]), [Inner.new(Inner.new([Inner.new(Headed.new(1))]))], Headed.new(Inner.new(Headed.new([1]))), Headed.new(Inner.new(Written.new(LONG))),
    Member.new(1), [Member.new([Member.new(Scalar.new(1))])], Member.new(Headed.new(Member.new([1]))), Headed.new(Inner.new(Member.new([LONG]))),
    Headed.new(Member.new(Inner.new(1))), Twice.new(Member.new([Inner.new(LONG), Inner.new(Headed.new(Member.new(Inner.new(1))))])), Headed.new(Kept.new(Inner.new([1]))),
    Inner.new(Headed.new(Member.new(Inner.new(LONG)))), Headed.new([1, Member.new(1), Member.new(Inner.new(Twice.new(Inner.new(1))))]),
    [Manypack::View.new("\x05")], Headed.new(Manypack::View.new("\x91\x05"))
  ].freeze

  # How many levels unpacking needs; 0 for a scalar.
  def levels(bytes)
    return 0 unless bytes.getbyte(0).between?(0x80, 0x9f) || [0xd4, 0xd5, 0xd7, 0xc7].include?(bytes.getbyte(0))

    (1..).find do |max_depth|
      FACTORY.load(bytes, max_depth: max_depth)
      true
    rescue Manypack::StackError
      false
    end
  end

  def writes(object, max_depth)
    { "dump" => -> { FACTORY.dump(object, max_depth: max_depth) }, "Packer" => -> { FACTORY.packer(max_depth: max_depth).write(object).to_s },
      "Type" => -> { Manypack::Type[Object].with(codec: FACTORY.codec, max_depth: max_depth).dump(object) } }
  end

  def test_packing_takes_as_many_levels_as_unpacking
    OBJECTS.each do |object|
      bytes = FACTORY.dump(object)
      most = levels(bytes)
      writes(object, [most, 1].max).each { |door, write| assert_equal bytes, write.call, "#{door}: #{object.inspect}" }
      next if most < 2

      writes(object, most - 1).each do |door, write|
        error = assert_raises(Manypack::NestingError, "#{door}: #{object.inspect}", &write)
        assert_match(/\Anested more than #{most - 1} containers deep \(max_depth: allows more\), at \$/, error.message, "#{door}: #{object.inspect}")
      end
    end
  end

  def test_at_the_default_limit_too
    deep = ->(object, levels) { levels.times.inject(object) { |inner, _| [inner] } }
    [[Scalar.new(1), 128], [Written.new(1), 127], [Headed.new(1), 127], [Twice.new(1), 126], [Headed.new(Written.new(LONG)), 126]].each do |object, levels|
      bytes = pack(deep.call(object, levels))
      assert_equal bytes, pack(unpack(bytes))
      assert_raises(Manypack::NestingError) { pack(deep.call(object, levels + 1)) }
    end
  end

  def test_a_failed_write_leaves_the_levels_as_they_were
    packer = Manypack::Packer.new(max_depth: 2)
    failing = Class.new { def to_msgpack(packer) = packer.write([[[1]]]) }.new
    assert_raises(Manypack::NestingError) { packer.write(failing) }
    assert_raises(Manypack::NestingError) { packer.write([[[1]]]) }
    assert_equal "\x91\x91\x01".b, packer.write([Headed.new(1)]).to_s
    assert_raises(Manypack::NestingError) { pack(Class.new { def to_msgpack(packer) = packer.write(self) }.new) }
  end
end

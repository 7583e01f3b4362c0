# frozen_string_literal: true

# The option default: what is packed in place of an object that cannot be packed.
require "test_helper"

class DefaultTest < Minitest::Test
  Pair = Struct.new(:left, :right)
  Attached = Struct.new(:inner)
  Manypack::Record.new(Attached, inner: Object).attach
  DEFAULT = lambda do |object|
    case object
    when Pair then [object.left, object.right]
    when Integer then object.to_s
    else { object.class.name => true }
    end
  end

  class Writer
    def to_msgpack(packer) = packer.write(Pair.new(1, nil))
  end

  def test_it_is_called_for_what_cannot_be_packed_wherever_that_is
    { Pair.new(1, 2) => [1, 2], [Pair.new(Pair.new(1, 2), [Pair.new(3, 4)])] => [[[1, 2], [[3, 4]]]], { Object.new => 1 } => { { "Object" => true } => 1 },
      2**70 => (2**70).to_s, -2**70 => (-2**70).to_s, Time.at(0) => { "Time" => true }, Attached.new(Pair.new(1, 2)) => { "inner" => [1, 2] },
      Writer.new => [1, nil], [nil, "a", 1.5, :b] => [nil, "a", 1.5, "b"] }.each do |object, expected|
      assert_equal expected, unpack(Manypack.pack(object, default: DEFAULT))
      assert_equal expected, unpack(Manypack::Packer.new(default: DEFAULT).write(object).to_s)
      assert_equal [expected] * 2, unpack(Manypack::Type[Object].dump([object] * 2, default: DEFAULT))
    end
  end

  def test_what_has_a_way_to_be_packed_goes_first
    factory = Manypack::Factory.new
    factory.register_type(1, Pair, packer: ->(_) { "x" }, unpacker: ->(_) { :pair })
    assert_equal [:pair, { "Object" => true }], factory.load(factory.dump([Pair.new(1, 2), Object.new], default: DEFAULT))
    assert_raises(Manypack::EncodeError::TypeError) { Manypack.pack([Manypack::ABSENT], default: DEFAULT) }
    assert_equal Time.at(1), Manypack.unpack(Manypack.pack(Time.at(1), default: DEFAULT, timestamp: true), timestamp: true)
  end

  def test_a_codec_has_it_and_a_call_or_a_part_may_have_another
    codec = Manypack::Codec.new(default: DEFAULT)
    other = ->(_) { "other" }
    assert_equal [[1, 2], "other", "other"], [codec.pack(Pair.new(1, 2)), codec.pack(Pair.new(1, 2), default: other), codec.with(default: other).pack(Pair.new(1, 2))].map { |bytes| unpack(bytes) }
    assert_equal [[1, 2]] * 2, [codec.with(max_depth: 5), Manypack::Codec.new(max_depth: 5, default: DEFAULT)].map { |one| unpack(one.pack(Pair.new(1, 2))) }
    record = Manypack::Record.new(Pair, left: Object, right: Object).with(default: other)
    pair = Pair.new(Attached.new(Pair.new(1, 2)), nil)
    assert_equal ["other", [1, 2]], [{}, { default: DEFAULT }].map { |options| unpack(record.dump(pair, **options)).dig("left", "inner") }
    assert_equal [codec, { default: DEFAULT }, codec.hash], [Manypack::Codec.new(default: DEFAULT), codec.options, Manypack::Codec.new(default: DEFAULT).hash]
    refute_equal codec, Manypack::Codec.new(default: other)
    assert_equal [false, true], [codec, Manypack::Codec.new(default: Callable.new.freeze)].map { |one| Ractor.shareable?(one) }
  end

  def test_a_codec_whose_default_cannot_be_shared_goes_to_no_ractor
    codec = Manypack::Codec.new(default: ->(_) { self })
    [-> { Manypack::Parallel.map(pack(1), ractors: 1, codec: codec) { 1 } }, -> { Manypack::View.new(pack(1), codec: codec, shareable: true) }].each do |call|
      assert_match(/\Adefault: cannot be shared between Ractors/, assert_raises(Ractor::IsolationError) { call.call }.message)
    end
  end

  class Callable
    def call(object) = object.class.name
  end

  def test_anything_with_call_will_do_and_nothing_else
    assert_equal "Object", unpack(Manypack.pack(Object.new, default: Callable.new))
    assert_equal "default must be a Proc, or respond to call, got Symbol", assert_raises(::TypeError) { Manypack.pack(1, default: :name) }.message
    assert_raises(Manypack::EncodeError::NoMethodError) { Manypack.pack(Object.new, default: nil) }
  end

  def test_what_it_raises_passes_through
    assert_equal "no Object", assert_raises(IOError) { Manypack.pack([Object.new], default: ->(object) { raise IOError, "no #{object.class}" }) }.message
    assert_equal :left, catch(:out) { Manypack.pack([Object.new], default: ->(_) { throw :out, :left }) }
    error = assert_raises(Manypack::EncodeError) { Manypack.pack([1, Object.new], default: ->(_) { Manypack.pack({ "a" => Object.new }) }) }
    assert_equal "$[1].a", error.path.to_s
  end

  def test_it_cannot_go_on_without_end
    assert_raises(Manypack::EncodeError::NoMethodError) { Manypack.pack(Object.new, default: :itself.to_proc) }
    assert_match(/one object that cannot be packed after another, such as an instance of Object, at \$\[0\]\z/,
                 assert_raises(Manypack::EncodeError::ArgumentError) { Manypack.pack([Object.new], default: ->(_) { Object.new }) }.message)
    assert_raises(Manypack::NestingError) { Manypack.pack(Object.new, default: ->(object) { [object] }) }
    deep = 500.times.inject(1) { |inner, _| Pair.new(inner, nil) }
    assert_equal 500, Manypack.unpack(Manypack.pack(deep, default: DEFAULT, max_depth: 1000), max_depth: 1000).then { |array| array.flatten.size - 1 }
  end

  def test_it_may_pack_and_change_what_is_packed
    array = [Object.new, 1]
    assert_raises(Manypack::EncodeError::RuntimeError) { Manypack.pack(array, default: ->(_) { array.clear }) }
    packer = Manypack::Packer.new(default: ->(_) { packer.write(1) })
    assert_raises(RuntimeError) { packer.write([Object.new]) }
    assert_equal "\x91\xA1\x01".b, Manypack.pack([Object.new], default: ->(_) { Manypack.pack(1).force_encoding("UTF-8") })
  end
end

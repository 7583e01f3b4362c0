# frozen_string_literal: true

# The same bytes and the same objects as the msgpack gem, over seeded graphs: as many as MANYPACK_GRAPHS says.

require "test_helper"
require_relative "msgpack_gem"
require_relative "random_graph"

class MsgpackGemTest < Minitest::Test
  GRAPHS = Integer(ENV.fetch("MANYPACK_GRAPHS", 10_000))
  SEED = Integer(ENV.fetch("MANYPACK_SEED", 1))

  # The two gems have a class each for an ext that nobody knows; a graph is made once for either.
  def each_graph(seed, count)
    count.times do |i|
      ours = RandomGraph.new(Random.new(seed + i), ext: Manypack::ExtensionValue.method(:new)).graph
      theirs = RandomGraph.new(Random.new(seed + i), ext: MessagePack::ExtensionValue.method(:new)).graph
      yield ours, theirs, "seed #{seed + i}"
    end
  end

  # Equal with every class and encoding; the extension values of the two gems count as the same.
  def canonical(object)
    case object
    when nil then :nil
    when Hash then [:map, object.map { |key, value| [canonical(key), canonical(value)] }]
    when Array then object.map { |element| canonical(element) }
    when String then [object.encoding.name, object.b]
    when Float then [object].pack("G")
    when Manypack::ExtensionValue, MessagePack::ExtensionValue then [:ext, object.type, canonical(object.payload)]
    else object
    end
  end

  def test_packs_the_same_bytes
    each_graph(SEED, GRAPHS) do |ours, theirs, name|
      assert_equal MessagePack.pack(theirs), Manypack.pack(ours), name
    end
  end

  def test_packs_the_same_bytes_in_compatibility_mode
    each_graph(SEED + 1_000_000_000, GRAPHS / 10) do |ours, theirs, name|
      expected = MessagePack::Packer.new(compatibility_mode: true).write(theirs).to_s
      assert_equal expected, Manypack.pack(ours, compatibility_mode: true), name
    end
  end

  # Text in every encoding of Ruby's, of which some is no text in it.
  def texts
    bytes = ["", "ascii", "a\0", "\xE9", "\xFF\xFE", "\xC6\xFC", "\x81", "\e$BF|\e(B", "\xFE\xFF\x65\xE5", "\x93\xFA" * 40]
    Encoding.list.flat_map { |encoding| bytes.map { |text| text.dup.force_encoding(encoding) } }
  end

  # What a block returns, or the class and message of what it raises, without the path that Manypack adds.
  def outcome
    yield
  rescue StandardError => e
    [e.class, e.message.sub(/, at \$.*\z/m, "")]
  end

  def assert_packs_the_same(object)
    [->(gem) { gem.pack(object) }, ->(gem) { gem.pack({ object => [object] }) },
     ->(gem) { gem::Packer.new.write(object).to_s }, ->(gem) { gem::Packer.new(compatibility_mode: true).write(object).to_s },
     ->(gem) { gem::Packer.new.public_send(object.is_a?(Symbol) ? :write_symbol : :write_string, object).to_s }].each do |way|
      assert_equal outcome { way.call(MessagePack) }, outcome { way.call(Manypack) }, "#{object.inspect} in #{object.encoding}"
    end
  end

  def test_packs_strings_and_symbols_of_every_encoding_the_same
    texts.each do |text|
      assert_packs_the_same(text)
      symbol = outcome { text.to_sym }
      assert_packs_the_same(symbol) if symbol.is_a?(Symbol)
    end
  end

  def test_unpacks_the_same_objects
    each_graph(SEED + 2_000_000_000, GRAPHS) do |_, theirs, name|
      packed = MessagePack.pack(theirs)
      expected = MessagePack.unpack(packed, allow_unknown_ext: true)
      assert_equal canonical(expected), canonical(Manypack.unpack(packed, allow_unknown_ext: true)), name
    end
  end

  def test_unpacks_the_same_objects_under_each_option
    [{ symbolize_keys: true }, { freeze: true }, { symbolize_keys: true, freeze: true }].each do |options|
      options = options.merge(allow_unknown_ext: true)
      each_graph(SEED + 3_000_000_000, GRAPHS / 10) do |_, theirs, name|
        packed = MessagePack.pack(theirs)
        expected = MessagePack.unpack(packed, options)
        assert_equal canonical(expected), canonical(Manypack.unpack(packed, **options)), "#{name} #{options}"
      end
    end
  end

  def test_streams_the_same_objects_however_they_are_cut
    random = Random.new(SEED)
    each_graph(SEED + 4_000_000_000, GRAPHS / 10) do |_, theirs, name|
      packed = MessagePack.pack(theirs) * 2
      objects = []
      unpacker = Manypack::Unpacker.new(allow_unknown_ext: true)
      until packed.empty?
        unpacker.feed_each(packed.slice!(0, random.rand(1..600))) { |object| objects << canonical(object) }
      end
      expected = canonical(MessagePack.unpack(MessagePack.pack(theirs), allow_unknown_ext: true))
      assert_equal [expected, expected], objects, name
    end
  end

  def test_the_same_ext_types_by_the_same_registrations
    point = Struct.new(:x, :y) do
      def to_msgpack_ext = [x, y].pack("q>2")
      def self.from_msgpack_ext(body) = new(*body.unpack("q>2"))
    end
    box = Struct.new(:content)
    factories = [Manypack::Factory.new, MessagePack::Factory.new].each do |factory|
      factory.register_type(1, point)
      factory.register_type(2, box, packer: ->(object, packer) { packer.write(object.content) },
                                    unpacker: ->(unpacker) { box.new(unpacker.read) }, recursive: true)
      factory.register_type(3, Symbol)
      factory.register_type(4, Integer, packer: ->(n) { n.to_s(36) }, unpacker: ->(body) { body.to_i(36) },
                                        oversized_integer_extension: true)
    end
    object = { point.new(1, -2) => [:a, box.new([box.new(nil), { s: 2**70 }]), -2**65, "text"] }
    packed = factories.map { |factory| factory.dump(object) }
    assert_equal packed[1], packed[0]
    assert_equal object, factories[0].load(packed[1])
    assert_equal object, factories[0].pool(2).load(packed[1])
  end
end

# frozen_string_literal: true

# A Record reads what unpacking reads and makes the same values, of random types and messages; what is cut or changed
# ends in a value or a DecodeError.
require "test_helper"

class RecordContractTest < Minitest::Test
  Record = Manypack::Record
  Type = Manypack::Type
  View = Manypack::View
  SEEDS = 25

  # Random types, each with how unpacking's value becomes the Record's: value(type) makes one that fits it.
  class Schema
    KEYS = %w[a id name user é a_key_that_is_longer_than_others_are 日本 x y z].freeze
    EDGES = [0, 1, -1, 127, 128, -32, -33, 255, 65_536, -2**31, 2**62, -2**62 - 1, 2**63, 2**64 - 1, -2**63].freeze
    SCALARS = [:integer, :float, :string, :symbol, :nil, :any, :range, :enum].freeze

    # A type of Ruby's, a block that makes values as packed, and one that builds what the type makes of them.
    Kind = Struct.new(:type, :make, :build)

    def initialize(random)
      @random = random
    end

    def kind(levels = 3)
      case @random.rand(levels.positive? ? 12 : 6)
      when 0..5 then send("of_#{SCALARS.sample(random: @random)}")
      when 6, 7 then list(kind(levels - 1))
      when 8 then map(kind(levels - 1))
      when 9 then optional(kind(levels - 1))
      else record(levels)
      end
    end

    def record(levels)
      names = KEYS.sample(@random.rand(1..6), random: @random)
      kinds = names.to_h { |name| [name, kind(levels - 1)] }
      klass = Struct.new(*names.map(&:to_sym))
      type = Record.new(klass, **kinds.to_h { |name, inner| [name.to_sym, inner.type] })
      positional = @random.rand(4).zero?
      type = type.array if positional
      Kind.new(type, maker(kinds, positional), lambda do |value|
        values = positional ? value.first(names.size) : names.map { |name| value[name] }
        klass.new(*kinds.values.zip(values).map { |inner, one| inner.build.(one) })
      end)
    end

    private

    # In any order, and with keys that no member has.
    def maker(kinds, positional)
      lambda do
        values = kinds.transform_values { |inner| inner.make.call }
        next values.values + Array.new(@random.rand(3)) { [1] } if positional

        more = Array.new(@random.rand(3)) { |i| ["unknown#{i}", [nil, { "a" => 1 }, "text" * 10].sample(random: @random)] }
        (values.to_a + more).shuffle(random: @random).to_h
      end
    end

    def integer = EDGES.sample(random: @random)
    def of_integer = Kind.new(Integer, -> { integer }, :itself.to_proc)
    def of_float = Kind.new(Float, -> { [1.5, -0.0, 3, 1e300].sample(random: @random) }, :to_f.to_proc)
    def of_string = Kind.new(String, -> { ["", "é", "x" * @random.rand(300), "\xFF\0".b].sample(random: @random) }, :itself.to_proc)
    def of_symbol = Kind.new(Symbol, -> { KEYS.sample(random: @random) }, :to_sym.to_proc)
    def of_nil = Kind.new(nil, -> {}, :itself.to_proc)
    def of_any = Kind.new(Object, -> { [1, "a", nil, [1, { "b" => 2.5 }]].sample(random: @random) }, :itself.to_proc)
    def of_range = Kind.new(1..100, -> { @random.rand(1..100) }, :itself.to_proc)
    def of_enum = Kind.new(["ja", 5, nil, true], -> { ["ja", 5, nil, true].sample(random: @random) }, :itself.to_proc)

    def list(inner)
      sizes = [0, 1, 2, 17]
      Kind.new([inner.type], -> { Array.new(sizes.sample(random: @random)) { inner.make.call } }, ->(value) { value.map(&inner.build) })
    end

    def map(inner)
      Kind.new({ String => inner.type }, -> { KEYS.sample(@random.rand(4), random: @random).to_h { |key| [key, inner.make.call] } },
               ->(value) { value.transform_values(&inner.build) })
    end

    def optional(inner)
      Kind.new(Type[inner.type].or(nil), -> { @random.rand(3).zero? ? nil : inner.make.call }, ->(value) { value.nil? ? nil : inner.build.(value) })
    end
  end

  # With the bits of floats and the encodings of Strings.
  def text(obj)
    case obj
    when Float then [obj].pack("G").unpack1("H*")
    when String, Symbol then "#{obj.class} #{obj.encoding} #{obj.to_s.b.inspect}"
    when Array then "[#{obj.map { |element| text(element) }.join(",")}]"
    when Hash then "{#{obj.map { |pair| pair.map { |part| text(part) }.join("=>") }.join(",")}}"
    when Struct then "#{obj.class.object_id} #{text(obj.to_a)}"
    else obj.inspect
    end
  end

  # A list fits any type into one that can be loaded.
  def each_case(seeds = SEEDS)
    seeds.times do |seed|
      kind = Schema.new(Random.new(seed)).then { |schema| seed.even? ? schema.record(3) : schema.kind }
      yield kind, Type[kind.type], pack(kind.make.call), seed
    end
  end

  # --- values -----------------------------------------------------------------------------------------------------

  [{}, { duplicate_keys: :last }, { duplicate_keys: :error }, { untrusted: true }, { freeze: true }, { shareable: true }].each do |options|
    define_method("test_a_record_makes_of_the_bytes_what_unpacking_makes_with_#{options}") do
      each_case do |kind, type, binary, seed|
        expected = kind.build.(unpack(binary))
        loaded = type.with(**options).load(binary)
        assert_equal text(expected), text(loaded), seed
        assert Ractor.shareable?(loaded), seed if options[:shareable]
      end
    end
  end

  def test_what_is_dumped_is_loaded_again
    each_case do |_, type, binary, seed|
      object = type.load(binary)
      dumped = type.dump(object)
      assert_equal text(object), text(type.load(dumped)), seed
      assert_equal dumped, type.dump(object, check: true), seed
      assert_equal dumped, type.dump(type.load(dumped)), seed
      assert type.valid?(dumped), seed
    end
  end

  def test_collecting_errors_changes_no_value
    each_case { |_, type, binary, seed| assert_equal text(type.load(binary)), text(type.load(binary, collect: true)), seed }
  end

  def test_a_view_becomes_the_same_value
    each_case { |_, type, binary, seed| assert_equal text(type.load(binary)), text(View.new(binary).as(type)), seed }
  end

  def test_a_lazy_record_has_the_same_values
    each_case do |kind, type, binary, seed|
      next unless kind.type.is_a?(Record) && kind.type.form == :map

      object = type.load(binary)
      lazy = kind.type.lazy.load(binary)
      backwards = object.members.reverse.to_h { |name| [name, lazy[name]] }
      assert_equal text(object.to_a), text(backwards.values.reverse), seed
      assert_equal text(object.to_h), text(lazy.to_h), seed
      assert_equal text(object), text(lazy.load), seed
    end
  end

  # --- equal keys -------------------------------------------------------------------------------------------------

  Pair = Struct.new(:a, :b)
  PAIR = Record.new(Pair, a: Type[Integer, Object], b: Object).with(defaults: { a: nil, b: nil })

  def twice(random)
    count = random.rand(6)
    pairs = Array.new(count) { [%w[a161 a162 c40161 a163 d90161].sample(random: random)].pack("H*") + [random.rand(100)].pack("C") }
    [0x80 | count].pack("C") + pairs.join
  end

  def outcome
    yield
  rescue Manypack::DecodeError => e
    [e.class, e.offset, e.message]
  end

  def test_equal_keys_count_as_unpacking_counts_them
    random = Random.new(1)
    300.times do
      binary = twice(random)
      [{}, { duplicate_keys: :last }, { duplicate_keys: :error }].each do |options|
        expected = outcome { unpack(binary, **options).then { |hash| [hash["a"], hash["b"]] } }
        assert_equal expected, outcome { PAIR.with(**options).load(binary).to_a }, "#{hex(binary)} #{options}"
        assert_equal expected, outcome { PAIR.lazy.with(**options).load(binary).then { |lazy| [lazy.a, lazy.b] } }, "#{hex(binary)} #{options}"
      end
    end
  end

  # --- refusals ---------------------------------------------------------------------------------------------------

  # A value, or nil for a DecodeError; nothing else may be raised.
  def answered(binary, message)
    yield
  rescue Manypack::DecodeError => e
    assert_includes 0..binary.bytesize, e.offset, message
    assert_kind_of String, e.message
    nil
  end

  def test_each_truncation_is_refused
    each_case(12) do |kind, type, binary, seed|
      (0...binary.bytesize).step((binary.bytesize / 60) + 1) do |n|
        part = binary.byteslice(0, n)
        assert_raises(Manypack::TruncatedError, [seed, n].inspect) { type.load(part) }
        assert_raises(Manypack::TruncatedError, [seed, n].inspect) { type.load(part, collect: true) }
        refute type.valid?(part)
        answered(part, seed) { kind.type.lazy.load(part).to_h } if kind.type.is_a?(Record) && kind.type.form == :map
      end
      assert_raises(Manypack::MalformedFormatError, seed.inspect) { type.load("#{binary}\x00".b) }
    end
  end

  # Whatever unpacking refuses is refused here, too, and valid? and collect agree.
  def test_changed_bytes_are_a_value_or_an_error
    random = Random.new(2)
    each_case(20) do |kind, type, binary, seed|
      25.times do
        changed = binary.dup
        random.rand(1..2).times { changed.setbyte(random.rand(changed.bytesize), [random.rand(256), 0xC1, 0xDF, 0xDD, 0x80, 0x90].sample(random: random)) }
        place = [seed, hex(changed)].inspect
        object = answered(changed, place) { [type.load(changed)] }
        assert_equal !object.nil?, type.valid?(changed), place
        assert_equal object.nil?, answered(changed, place) { [type.load(changed, collect: true)] }.nil?, place
        refused = outcome { unpack(changed) && nil }
        assert_nil object, place if refused && kind.type != View
        answered(changed, place) { kind.type.lazy.load(changed).to_h } if kind.type.is_a?(Record) && kind.type.form == :map
      end
    end
  end

  LIMITS = [{ max_depth: 2 }, { max_objects: 10 }, { max_map_size: 3 }, { max_array_size: 2 }, { max_string_bytes: 3 }, { max_bytes: 30 },
            { utf8: :strict }].freeze

  # What unpacking refuses for a limit, loading refuses for the same limit, even if the part that exceeds it is skipped.
  def test_limits_are_those_of_unpacking
    each_case do |_, type, binary, seed|
      LIMITS.each do |limit|
        expected = outcome { unpack(binary, **limit) && nil }
        actual = outcome { type.with(**limit).load(binary) && nil }
        assert_equal [expected&.first], [actual&.first], "#{seed} #{limit} #{hex(binary)}"
      end
    end
  end
end

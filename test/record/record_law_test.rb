# frozen_string_literal: true

# What a Record writes it reads: for random definitions and objects, right and wrong ones, either dump raises, or load
# returns an equal object.
require "test_helper"

class RecordLawTest < Minitest::Test
  Record = Manypack::Record
  Type = Manypack::Type
  View = Manypack::View
  SEEDS = 40
  CHANGES = 20

  Packs = Struct.new(:bytes) do
    def to_msgpack(packer) = packer.buffer.write(bytes).then { packer }
  end
  Ticket = Struct.new(:id)
  Record.new(Ticket, id: Integer).attach

  # Values that are wrong in some place.
  WRONG = [nil, true, 1, -1, 2**63, 1.5, "x", "\xFF".b, :x, [], [nil], [1], {}, { "a" => 1 }, { 1 => nil }, Time.at(1), Ticket.new(1), Ticket.new(nil),
           View.new("\x91\x01".b), View.new("\x81\xA1a\xC0".b), View.new("\xC0".b), Packs.new("\xC0".b), Packs.new("\x91\xC0".b), Packs.new("\x80".b),
           Packs.new("\x05".b), Object.new].freeze

  # Random types, each with a block that makes an object for it.
  class Schema
    Kind = Struct.new(:type, :make)

    def initialize(random)
      @random = random
      @classes = 0
    end

    SCALARS = { Integer => [0, -5, 2**63], Float => [1.5, -0.0], String => ["", "é", "\xFF".b], Symbol => %i[a é], nil => [nil], true => [true],
                (1..9) => [1, 9], (0.5..2) => [0.5, 2.0], %w[ja en] => ["ja"], %i[a b] => [:b], [1, nil] => [1, nil], Object => [nil, [1], { "b" => 2.5 }],
                Hash => [{ "a" => nil }], Array => [[nil]], Time => [Time.at(5, 1, :nsec)], Numeric => [1, 1.5], Type[Float, Integer] => [1, 1.5],
                Type[String, [Integer], nil] => ["a", [1], nil], Type[{ String => Integer }, true] => [true, { "a" => 1 }] }.freeze

    def kind(levels)
      case levels.positive? ? @random.rand(10) : 0
      when 0..3 then scalar
      when 4 then list(kind(levels - 1))
      when 5 then map(kind(levels - 1))
      when 6 then optional(kind(levels - 1))
      when 7 then union(levels)
      else record(levels)
      end
    end

    def record(levels, tag: nil)
      names = %i[id name tags home type kind].reject { |name| name == tag }.sample(@random.rand(1..4), random: @random)
      kinds = names.to_h { |name| [name, kind(levels - 1)] }
      klass = Struct.new(*names, :rest, keyword_init: one_of(nil, true))
      record = Record.new(klass, **kinds.transform_values(&:type), rest: Object).with(**options(kinds, klass, tag))
      record = record.array if !tag && one_of(true, false, false) && !record.unknown.is_a?(Hash)
      make = -> { klass.keyword_init? ? klass.new(**values(kinds)) : klass.new(*values(kinds).values) }
      return Kind.new(record, make) unless record.form == :map && !record.unknown.is_a?(Hash) && one_of(true, false, false)

      Kind.new(record.lazy, -> { record.lazy.load(record.dump(make.call)) })
    end

    private

    def one_of(*values) = values.sample(random: @random)
    def values(kinds) = { **kinds.transform_values { |inner| inner.make.call }, rest: nil }

    def options(kinds, klass, tag)
      name = klass.members.first
      { defaults: one_of({}, { name => nil }, { name => -> { [] } }), keys: one_of({}, { name => [7] }, { name => %w[new old] }),
        unknown: tag ? :skip : one_of(:skip, :raise, { into: :rest }), timestamp: true }
    end

    def scalar
      type, values = SCALARS.to_a.sample(random: @random)
      Kind.new(type, -> { values.sample(random: @random) })
    end

    def list(inner) = Kind.new([Type[inner.type]], -> { Array.new(one_of(0, 1, 17)) { inner.make.call } })
    def map(inner) = Kind.new({ String => inner.type }, -> { %w[a é].first(@random.rand(3)).to_h { |key| [key, inner.make.call] } })
    def optional(inner) = Kind.new(Type[inner.type, nil], -> { one_of(true, false) ? inner.make.call : nil })

    def union(levels)
      one, other = Array.new(2) { record(levels, tag: :type) }
      type = Record.union("type", "one" => one.type, "other" => other.type, **one_of({}, { else: View })).with(timestamp: true)
      Kind.new(type, -> { one_of(one, other).make.call.then { |object| object.is_a?(Manypack::LazyRecord) ? type.load(type.dump(object.load)) : object } })
    end
  end

  def each_definition
    SEEDS.times do |seed|
      random = Random.new(seed)
      kind = Schema.new(random).then { |schema| seed.even? ? schema.record(3) : schema.kind(3) }
      yield Type[kind.type].with(timestamp: true), kind.make, random, seed
    end
  end

  # All errors that dump raises for an object that it refuses.
  REFUSALS = [Manypack::RecordError, ArgumentError, TypeError, NoMethodError, RangeError].freeze

  def dumped(type, object, **options)
    type.dump(object, **options)
  rescue *REFUSALS
    nil
  end

  # The object with one of its parts, at any depth, replaced.
  def change(object, random)
    return WRONG.sample(random: random) if random.rand(3).zero?

    case object
    when Struct
      member = object.members.sample(random: random)
      object.dup.tap { |copy| copy[member] = change(object[member], random) }
    when Array then object.empty? ? WRONG.sample(random: random) : [*object[1..], change(object[0], random)]
    when Hash then object.transform_values { |value| change(value, random) }
    else WRONG.sample(random: random)
    end
  end

  def text(obj)
    case obj
    when Array then "[#{obj.map { |one| text(one) }.join(",")}]"
    when Hash then "{#{obj.map { |pair| pair.map { |part| text(part) }.join("=>") }.join(",")}}"
    when Struct then "#{obj.class.object_id} #{text(obj.to_a)}" # the name of a class without one is its address, which moves
    when Manypack::LazyRecord then text(obj.load)
    when View then text(obj.value)
    when Float then [obj].pack("G").unpack1("H*")
    else obj.inspect
    end
  end

  def without_rest(text) = text.gsub(/,(\{\}|nil)\]/, "]")

  def test_what_fits_comes_back_as_it_was
    each_definition do |type, make, _, seed|
      5.times do
        object = make.call
        assert_equal without_rest(text(object)), without_rest(text(type.load(type.dump(object)))), [seed, type].inspect
        assert_equal type.dump(object), type.dump(object, check: true), seed
      end
    end
  end

  def test_what_a_checked_dump_takes_load_takes
    each_definition do |type, make, random, seed|
      CHANGES.times do
        object = change(make.call, random)
        bytes = dumped(type, object, check: true) or next
        assert type.valid?(bytes), [seed, type, object].inspect
        assert_equal bytes, dumped(type.with(check: true), object)
      end
    end
  end

  # What a message has, with one of its parts changed.
  def changed(plain, random)
    return WRONG.first(15).sample(random: random) if random.rand(4).zero? || !(plain.is_a?(Hash) || plain.is_a?(Array)) || plain.empty?
    return [*plain[1..], changed(plain[0], random)] if plain.is_a?(Array)

    key = plain.keys.sample(random: random)
    case random.rand(4)
    when 0 then plain.reject { |one, _| one == key }
    when 1 then { "zz" => 1, **plain }
    else plain.merge(key => changed(plain[key], random))
    end
  end

  def outcome
    text(yield)
  rescue Manypack::RecordError => error
    error.errors.map { |one| [one.path, one.member] }
  end

  # A lazy Record checks its fields later when it loads.
  def lazy?(spec)
    case spec
    when Array then spec.any? { |one| lazy?(one) }
    when Hash then lazy?(spec.values)
    when Record then spec.form == :lazy || spec.types.each_value.any? { |type| lazy?(type.spec) }
    end
  end

  def test_from_makes_of_what_a_message_has_what_load_makes_of_the_message
    pairs = 0
    each_definition do |type, make, random, seed|
      next if lazy?(type.spec)

      CHANGES.times do |i|
        plain = Manypack.unpack(type.dump(make.call), timestamp: true)
        plain = changed(plain, random) if i.odd?
        bytes = Manypack.pack(plain, timestamp: true)
        collect = random.rand(2).zero?
        pairs += 1
        assert_equal outcome { type.load(bytes, collect: collect) }, outcome { type.from(Manypack.unpack(bytes, timestamp: true), collect: collect) }, [seed, type, plain].inspect
      end
    end
    assert_operator pairs, :>, 400
  end

  EXTS = Manypack::Factory.new.tap { |factory| factory.register_common(:symbol, :bigint, :time) }.codec
  BIG = 2**70

  # Types with what they take and what they refuse where the codec packs Symbols and big Integers as exts.
  AS_EXT = {
    Type[Symbol] => [[:a], [1, nil, BIG, Time.at(1)]], Type[Integer] => [[1, BIG, -BIG], [:a, nil]], Type[1..9] => [[1, 9], [BIG, :a]],
    Type[Numeric] => [[BIG, 1.5], [:a]], Type[Float, Integer] => [[BIG, 1], [:a]], Type[Float] => [[1.5], [BIG]], Type[%i[a b]] => [%i[a b], [:c, BIG]],
    Type[{ Symbol => Integer }] => [[{ a: BIG }], [{ BIG => 1 }, { a: :b }]], Type[{ %i[a b] => Object }] => [[{ a: :c }], [{ c: 1 }]],
    Type[Symbol, Time] => [[:a, Time.at(5)], [BIG]], Type[[Symbol]] => [[%i[a b]], [[:a, BIG]]], Type[Integer, Symbol, nil] => [[BIG, :a, nil], [Time.at(1)]]
  }.freeze

  AS_EXT.each do |type, (right, wrong)|
    define_method("test_#{type.inspect}_#{right}_where_the_codec_has_ext_types") do
      own = type.with(codec: EXTS)
      right.each { |object| assert_equal [object], [own.load(own.dump(object))] }
      wrong.each { |object| assert_raises(Manypack::RecordError) { own.dump(object, check: true) } }
    end
  end

  def test_an_ext_that_the_codec_has_not_is_no_symbol
    error = assert_raises(Manypack::RecordError) { Type[Symbol].load("\xD4\x00a".b) }
    assert_match(/expected Symbol, got ext of type 0/, error.message)
  end

  NOT_SCALAR = /got (nil|array of|map of)|is missing|\Aexpected (Array|Hash|nil)( or (Array|Hash|nil))*,/

  # Without check:, load can refuse a result only because one scalar is in the place of another.
  def test_what_dump_takes_load_takes_except_for_the_values_of_scalars
    each_definition do |type, make, random, seed|
      CHANGES.times do
        object = change(make.call, random)
        bytes = dumped(type, object) or next
        type.load(bytes, collect: true)
      rescue Manypack::RecordError => e
        e.errors.each { |one| refute_match NOT_SCALAR, one.message, [seed, type, object].inspect }
      end
    end
  end
end

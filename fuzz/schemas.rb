# frozen_string_literal: true

# Compares all that a Type does with a value, for random types and values: its doors agree, and what is loaded comes
# back from what it is dumped to.
#
#   ruby -Ilib fuzz/schemas.rb 10000 [SEED]
require "bigdecimal"
require "date"
require "ipaddr"
require "manypack"
require "set"
require "stringio"
require "uri"

module Fuzz
  # Makes random types with functions that make packed values, of which many are of the type.
  class Schemas
    Type = Manypack::Type
    Record = Manypack::Record
    Named = Struct.new(:name)
    MONEY = Type.via(Named, String, load: ->(text) { Named.new(text) }, dump: ->(money) { money.name })
    TIMES = Time.at(0)..Time.at(2_000_000_000)
    FITTING = {
      Integer => [0, -5, 2**63], Float => [1.5, -0.0, 3], String => ["", "é", "\xFF".b], Symbol => %w[a é],
      nil => [nil], true => [true], (1..9) => [1, 9], (0.5..2) => [0.5, 2.0], %w[ja en] => ["ja"], %i[a b] => ["b"],
      Numeric => [1, 1.5],
      Object => [nil, [1], { "b" => 2.5 }], Hash => [{ "a" => nil }], Array => [[nil]],
      Time => [Time.at(5, 1, :nsec)],
      [1, nil, 2.5] => [1, nil], Type.text => ["", "é"], Type.bytes => ["\xFF".b],
      Type[String, length: 1..3] => %w[a éé éééé],
      Type[String, pattern: /\A[a-z]{2,4}\z/] => %w[ab abcd abcde],
      Type[Integer, multiple_of: 5] => [0, -5, 10**10, 3],
      Type[Float, multiple_of: 0.1] => [0.3, 2, 0.35], Type[Numeric, range: 0..10] => [1, 9.5, 11],
      Type[Integer, nil, multiple_of: 2] => [2, nil, 3], Type[Time, range: TIMES] => [Time.at(1), Time.at(-1)],
      Type[Symbol, length: 1..2] => %w[a é abc],
      Type.text(Time) => ["2030-01-31T12:00:00Z", "2030-01-31T12:00:00.5+01:00"],
      Type.text(Date) => %w[2030-01-31 2030-02-30], Type.text(BigDecimal) => %w[1.50 -3 1e5],
      Type.text(URI) => %w[http://a/b a], Type.text(Symbol) => %w[a é],
      Type.text(IPAddr) => %w[::1 10.0.0.1 10.0.0.0/8],
      Type.uuid => ["01234567-89ab-cdef-0123-456789abcdef", "x"], MONEY => ["5", ""],
      Type[Integer].check("must be even") { |number| number.even? } => [2, 3], MONEY.or(nil) => ["1", nil],
      Type[[Integer], { String => Integer }, length: ..2] => [[1], { "a" => 1 }, [1, 2, 3]],
      Type.recursive { |json| Type[nil, Integer, [json], { String => json }] } => [nil, [1, [{ "a" => [] }]], [true]]
    }.freeze
    WRONG = [nil, true, 1, 3, -1, 2**63, 1.5, Float::NAN, "x", "", "12", "\xFF",
             "\xFF".b, [], [nil], [1, 1], {}, { "a" => 1 },
             { 1 => nil }, { "aB" => 1, "id" => nil }, ["t", 1]].freeze
    NAMES = %i[id first_name b_c_d tags].freeze

    def initialize(random)
      @random = random
    end

    def one_of(*values) = values.sample(random: @random)

    # Returns a type, and a function that makes values.
    def pair(levels)
      case levels.positive? ? @random.rand(12) : 0
      when 0..3 then FITTING.to_a.sample(random: @random).then { |type, values| [type, -> { one_of(*values) }] }
      when 4, 5 then list(*pair(levels - 1))
      when 6 then map(*pair(levels - 1))
      when 7 then tuple(pair(levels - 1), pair(levels - 1))
      when 8 then optional(*pair(levels - 1))
      when 9 then union(record(levels - 1), record(levels - 1))
      else record(levels)
      end
    end

    def list(type, make)
      type = Type[type]
      listed = one_of([type], Type[[type], length: 1..2], Type[[type], unique: true], Type.set(type))
      [Type[listed], -> { Array.new(one_of(0, 1, 2, 2, 17)) { make.call } }]
    end

    def map(type, make)
      map = { one_of(String, Symbol, %w[a id], Type[String, length: 1..2]) => type }
      keys = -> { %w[a id].first(@random.rand(3)) }
      [one_of(Type[map], Type[map, length: ..1]), -> { keys.call.to_h { |key| [key, make.call] } }]
    end

    def tuple(one, other)
      [Type.tuple(one[0], other[0]), -> { [one[1].call, other[1].call].first(one_of(2, 2, 2, 1)) }]
    end

    def optional(type, make) = [Type[type, nil], -> { one_of(nil, make.call) }]

    def union(one, other)
      return [Type[one[0], other[0]], -> { one_of(one, other)[1].call }] if one_of(true, false, false)

      more = one_of({}, { else: Object }, { untagged: one[0] })
      [Record.union("type", { "t" => one[0], "u" => other[0] }, **more), lambda do
        value = one_of(one, other)[1].call
        value.is_a?(Hash) ? { "type" => one_of("t", "u", "v"), **value }.to_a.shuffle(random: @random).to_h : value
      end]
    end

    def record(levels)
      members = NAMES.sample(@random.rand(1..4), random: @random).to_h { |name| [name, pair(levels - 1)] }
      types = members.transform_values(&:first)
      options = options(members.keys)
      record = made(types).with(**options)
      record = record.check("must not be the number 3") { |object| object != 3 } if one_of(true, false, false)
      keys = record.keys
      array = [*options[:load_only], *options[:dump_only]].empty? && one_of(true, false, false)
      return [record.array, -> { members.values.first(one_of(4, 4, 2)).map { |_, make| make.call } }] if array

      [record, lambda do
        pairs = members.map { |name, (_, make)| [one_of(*keys[name]), make.call] }
        one_of({}, {}, {}, { "zz" => 1 }).merge(pairs.first(one_of(4, 4, 3)).to_h)
      end]
    end

    def made(types)
      names = types.keys
      case @random.rand(6)
      when 0 then Record.new(Struct.new(*names), **types)
      when 1 then Record.new(Struct.new(*names, keyword_init: true), **types)
      when 2 then Record.new(ordinary(names), **types)
      when 3 then Record.ivars(ordinary(names), **types)
      when 4 then Record.define(**types).record
      else extended(types)
      end
    end

    def extended(types)
      name, type = types.first
      Record.define(Record.define(name => type, with: { keys: one_of({}, :camel) }), **types.drop(1).to_h).record
    end

    def ordinary(names)
      Class.new do
        attr_reader(*names)

        class_eval "def initialize(#{names.map { |name| "#{name}:" }.join(", ")})
                      #{names.map { |name| "@#{name} = #{name}" }.join("; ")}
                    end", __FILE__, __LINE__ - 2
        define_method(:to_a) { names.map { |name| instance_variable_get(:"@#{name}") } }
        define_method(:==) { |other| other.instance_of?(self.class) && to_a == other.to_a }
        alias_method :eql?, :==
        define_method(:hash) { to_a.hash }
      end
    end

    def options(names)
      name = names.last
      { keys: one_of({}, {}, :camel, :pascal, :kebab, :screaming,
                       [:camel, { name => "key" }], { name => %w[key old] }),
        aliases: one_of({}, {}, { name => %w[alias] }), unknown: one_of(:skip, :skip, :raise),
        defaults: one_of({}, { name => Manypack::ABSENT }),
        omit: one_of(nil, nil, :nil, :defaults), load_only: one_of([], [], [], [], names.first(1)),
        dump_only: one_of([], [], [], [], [], names.drop(1).first(1)) }
    end

    def changed(value)
      return one_of(*WRONG) if one_of(1, 2, 3, 4) == 1
      return value.empty? ? value : [*value.drop(1), changed(value[0])].rotate(-1) if value.is_a?(Array)
      return one_of(*WRONG) unless value.is_a?(Hash) && !value.empty?

      key = one_of(*value.keys)
      one_of(value.except(key), value.merge(key => changed(value[key])), { "zz" => 1, **value })
    end
  end

  # The laws, of one type and its values.
  class SchemaLaws
    Refused = Struct.new(:path, :code)

    # What is said of parts that make no type together.
    NO_TYPE = Regexp.union("same key", "twice", "the default of", "told apart", "same required", "be a map or",
                           "could not tell", "need a map", "is no map", "both")

    def initialize(seed)
      @seed = seed
      @random = Random.new(seed)
      @schemas = Schemas.new(@random)
    end

    # Returns how many values were tried. Raises RuntimeError if a law is broken.
    def check(values)
      type, make = @schemas.pair(3)
      @type = Manypack::Type[type].with(timestamp: true)
      described
      values.times { |i| value(i.even? ? make.call : @schemas.changed(make.call)) }
      values
    rescue ArgumentError => e
      raise unless e.message.match?(NO_TYPE)

      0
    end

    private

    def described
      [@type.inspect, @type.hash]
      schema = @type.json_schema
      unless schema.inspect.include?("deprecated") # another key of a member that may be missing is read as a member
        law("json_schema is read again") { Manypack::Type.from_json_schema(schema).json_schema == schema }
      end
      law("a type reads itself") { @type.reads?(@type) == @type.incompatibilities(@type).empty? }
      @one_way = one_way?(@type.spec)
      @bytes_in_json = @type.spec.inspect.include?(":bytes")
    end

    def one_way?(part)
      case part
      when Array then part.any? { |one| one_way?(one) }
      when Hash then one_way?(part.to_a)
      when Manypack::Record then part.inspect.match?(/load_only|dump_only/) || one_way?(part.types.values)
      when Manypack::Type then one_way?(part.spec)
      else false
      end
    end

    def value(plain)
      @plain = plain
      bytes = Manypack.pack(plain, timestamp: true)
      loaded = outcome { @type.load(bytes) }
      doors(bytes, loaded)
      elsewhere(bytes, loaded) if @random.rand(100).zero?
      back(@type.load(bytes)) unless loaded.is_a?(Refused)
      cut = bytes.byteslice(0, @random.rand(bytes.bytesize))
      law("a part is refused") { !@type.valid?(cut) }
    end

    def doors(bytes, loaded)
      hash = Manypack.unpack(bytes, timestamp: true)
      same("valid?", loaded.is_a?(Refused), !@type.valid?(bytes))
      same("from", loaded, outcome { @type.from(hash) })
      symbols = outcome { @type.from(Manypack.unpack(bytes, timestamp: true, symbolize_keys: true)) }
      same("from with Symbols", *[loaded, symbols].map { |one| one.is_a?(Refused) && one })
      same("as", loaded, outcome { Manypack::View.new(bytes).as(@type) })
      same("an io", loaded, outcome { Manypack.split(StringIO.new(bytes + bytes), as: @type).map(&:itself)[0] })
      collected(bytes, hash, loaded)
      outcome { @type.from(hash, lax: true) }
      lazy(bytes, loaded)
      json(bytes, loaded)
    end

    def collected(bytes, hash, loaded)
      { load: -> { @type.load(bytes, collect: true) },
        from: -> { @type.from(hash, collect: true) } }.each do |door, call|
        made = outcome(&call)
        next same("collect: true of #{door}", loaded, made) unless loaded.is_a?(Refused)

        found = @error.errors.map { |one| Refused.new(one.path, one.code) }
        law("collect: true of #{door} has the error") { found.include?(loaded) }
        @error.details
        @error.errors.each(&:sentence)
      end
    end

    def lazy(bytes, loaded)
      return unless @type.spec[0] == :record && @type.spec[1].form == :map

      made = outcome { @type.spec[1].with(timestamp: true).lazy.load(bytes).load }
      same("lazy", loaded.is_a?(Refused) || loaded, made.is_a?(Refused) || made)
    end

    def json(bytes, loaded)
      text = Manypack.to_json(bytes)
      return if @bytes_in_json || Manypack.from_json(text) != bytes

      same("load_json", loaded, outcome { @type.load_json(text) })
    rescue Manypack::Error, JSON::GeneratorError
      nil
    end

    def elsewhere(bytes, loaded)
      GC.stress = true
      stressed = outcome { @type.load(bytes) }
      GC.stress = false
      same("GC.stress", loaded, stressed)
      return unless Ractor.shareable?(@type)

      ractor = Ractor.new(@type, bytes) do |type, packed|
        type.dump(type.load(packed))
      rescue Manypack::RecordError => e
        [e.path, e.code]
      end
      there = ractor.respond_to?(:value) ? ractor.value : ractor.take
      same("a Ractor", loaded.is_a?(Refused) ? loaded.to_a : @type.dump(@type.load(bytes)), there)
    ensure
      GC.stress = false
    end

    def back(object)
      return if @one_way

      bytes = @type.dump(object)
      same("dump", text(object), text(@type.load(bytes)))
      same("check: true", bytes, @type.dump(object, check: true))
      same("===", true, @type === object) unless bytes.include?("\x7F\xF8\0".b) # NaN
      same("from an object", text(object), text(@type.from(object))) if @type.spec[0] == :record
      return unless bytes.getbyte(0).between?(0x80, 0x8f)

      hash = Manypack.unpack(bytes, symbolize_keys: true, timestamp: true)
      same("to_h", text(hash), text(@type.to_h(object)))
    end

    def outcome
      text(yield)
    rescue Manypack::RecordError => e
      @error = e
      Refused.new(e.path, e.code)
    end

    def text(object)
      case object
      when Array then "[#{object.map { |one| text(one) }.join(",")}]"
      when Hash then "{#{object.map { |pair| pair.map { |part| text(part) }.join("=>") }.join(",")}}"
      when Float then [object].pack("G").unpack1("H*")
      when String then "#{object.encoding} #{object.b.inspect}"
      when Set then "set #{text(object.to_a)}"
      when Time then "time #{object.to_r}"
      when nil, true, false, Integer, Symbol, Manypack::ABSENT then object.inspect
      when Date, BigDecimal, URI, IPAddr then "#{object.class} #{object}"
      else "#{object.class} #{text(object.respond_to?(:to_a) ? object.to_a : object.to_h)}"
      end
    end

    def same(door, expected, actual)
      law("#{door}: #{actual.inspect} in place of #{expected.inspect}") { expected == actual }
    end

    def law(what)
      raise "seed #{@seed}, #{@type.inspect} of #{@plain.inspect}: #{what}" unless yield
    end
  end

  def self.check_schemas(count, seed)
    tried = 0
    (seed..).each do |number|
      tried += SchemaLaws.new(number).check(10)
      return tried if tried >= count
    end
  end
end

if $PROGRAM_NAME == __FILE__
  Warning[:experimental] = false
  puts "#{Fuzz.check_schemas(Integer(ARGV[0] || 10_000), Integer(ARGV[1] || 1))} values are of one mind"
end

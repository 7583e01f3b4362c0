# frozen_string_literal: true

# Compares what a Type loads from JSON with what its JSON Schema allows, for random types and values. json_schemer is
# the judge, which has to be installed. No values are tried of which both are known to think otherwise: whole floats,
# which are integers in JSON Schema, and integers that no Float has.
#
#   ruby -Ilib fuzz/json_schema.rb 100000 [SEED]
require "json"
require "json_schemer"
require "manypack"

module Fuzz
  class JSONSchema
    Type = Manypack::Type
    Record = Manypack::Record
    SCALARS = [Integer, Float, String, Symbol, nil, true, false, Object, 1..9, -5.., 0.0..1.0, 0.5...2.5, %w[a b],
               ["a", nil], [1, 2.5], %i[a c], Numeric, Array, Hash, Manypack::View].freeze
    VALUES = [nil, true, false, 0, 1, 2, 9, -5, 0.25, 0.5, 2.5, 7.5, "a", "b", "c", "", "é", "5", [], [nil], [1],
              ["a"], {}, { "a" => 1 }, { "id" => "a" }, { "5" => true }].freeze
    NAMES = %i[id name tags].freeze

    def initialize(random)
      @random = random
    end

    def one_of(*values) = values.sample(random: @random)

    # Returns a type, and a function that makes values, of which many are of that type.
    def pair(levels)
      case levels.positive? ? @random.rand(8) : 0
      when 0..2 then [one_of(*SCALARS), -> { one_of(*VALUES) }]
      when 3 then list(*pair(levels - 1))
      when 4 then map(*pair(levels - 1))
      when 5 then either(pair(levels - 1), [one_of(nil, true, 1..9), -> { one_of(*VALUES) }])
      when 6 then union(record(levels - 1), record(levels - 1))
      else record(levels)
      end
    end

    def list(type, make) = [[Type[type]], -> { Array.new(@random.rand(4)) { make.call } }]

    def map(type, make)
      keys = -> { %w[id a b].sample(@random.rand(3), random: @random) }
      [{ one_of(String, Symbol, %w[id a]) => type }, -> { keys.call.to_h { |key| [key, make.call] } }]
    end

    def either(one, other) = [Type[one[0], other[0]], -> { one_of(one, other)[1].call }]

    def record(levels)
      members = NAMES.sample(@random.rand(1..3), random: @random).to_h { |name| [name, pair(levels - 1)] }
      record = Record.new(Struct.new(*members.keys), **members.transform_values(&:first)).with(**options(members.keys))
      keys = record.keys
      if one_of(true, false, false)
        return [record.array, -> { members.values.first(@random.rand(4)).map { |_, make| make.call } }]
      end

      [record, -> { members.to_h { |name, (_, make)| [one_of(*keys[name]), make.call] }.first(one_of(3, 3, 2)).to_h }]
    end

    def options(names)
      { unknown: one_of(:skip, :raise), defaults: one_of([], names.first(1)).to_h { |name| [name, nil] },
        keys: one_of({}, {}, { names.last => ["key", names.last.name] }) }
    end

    def union(one, other)
      one, other = [one, other].map { |type, make| [type.form == :array ? plain : type, make] }
      make = -> { tagged(one_of(one, other)[1].call) }
      [Record.union("type", { "x" => one[0], "y" => other[0] }, **one_of({}, { else: Object })), make]
    end

    def plain = Record.new(Struct.new(:a), a: Integer)
    def tagged(value) = value.is_a?(Hash) ? { "type" => one_of("x", "y", "z"), **value } : value

    # Returns the type, the value and the answers that differ, or nil.
    def differing(count)
      type, make = pair(3)
      type = Type[type]
      schema = JSONSchemer.schema(type.json_schema)
      count.times do
        value = make.call
        loads = begin
          type.load_json(JSON.generate(value))
          true
        rescue Manypack::DecodeError
          false
        end
        return [type.json_schema, value, { load: loads, schema: !loads }] if schema.valid?(value) != loads
      end
      nil
    rescue ArgumentError
      nil # two parts of a union are maps
    end

    def self.run(count, seed)
      compared = 0
      (seed..).each do |number|
        found = new(Random.new(number)).differing(20)
        abort "seed #{number}: #{found.map(&:inspect).join("\n")}" if found
        return compared if (compared += 20) >= count
      end
    end
  end
end

if $PROGRAM_NAME == __FILE__
  puts "#{Fuzz::JSONSchema.run(Integer(ARGV[0] || 100_000), Integer(ARGV[1] || 1))} pairs agree"
end

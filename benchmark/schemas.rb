# frozen_string_literal: true

# Records and JSON beside Ruby's schema gems, and Python's, by schemas.py: microseconds of processor time for each task,
# the least of nine rounds.
#   gem install activemodel dry-schema dry-struct literal
#   ruby --yjit -Ilib benchmark/schemas.rb FOLDER    FOLDER has JSON files; python3 benchmark/schemas.py FOLDER likewise

require "json"
require "manypack"
%w[active_model dry-struct dry-schema literal].each { |gem| require gem }

ROWS = Array.new(1_000) do |i|
  { id: i, name: "Name #{i}", email: "user#{i}@example.com", active: i.odd?, score: i * 0.5, age: 20 + i % 60,
    city: "Tokyo", zip: "100-#{i}", country: "JP", created: 1_700_000_000 + i, tags: %w[a b] }
end
CLASSES = ROWS.first.transform_values(&:class).except(:active, :tags)
LENGTHS = { name: 1..30, email: 3..100, city: 0..40, zip: 1..10, country: 2..2 }.freeze
RANGES = { id: 0.., score: 0.0..1e6, age: 0..150, created: 0.. }.freeze

# This gem.
module Ours
  Row = Data.define(*ROWS.first.keys)
  T = Manypack::Type
  PLAIN = { **CLASSES, active: T[true, false], tags: [String] }.freeze
  RULED = { **PLAIN, **RANGES, **LENGTHS.transform_values { |length| T[String, length: length] },
            tags: T[[T[String, length: 1..10]], length: ..3] }.freeze
  TYPES = { "plain" => PLAIN, "ruled" => RULED }.transform_values { |types| T[[Manypack::Record.new(Row, **types)]] }
end

# dry-struct, with types that convert nothing, as ours.
module DryStruct
  STRICT = Dry.Types()::Strict
  PLAIN = { **CLASSES.transform_values { |kind| STRICT.const_get(kind.name) }, active: STRICT::Bool,
            tags: STRICT::Array.of(STRICT::String) }.freeze
  BOUNDS = { **RANGES.transform_values { |range| { gteq: range.begin, lteq: range.end }.compact },
             **LENGTHS.transform_values { |length| { min_size: length.begin, max_size: length.end } } }.freeze
  TAGS = STRICT::Array.of(STRICT::String.constrained(min_size: 1, max_size: 10)).constrained(max_size: 3)
  RULED = { **PLAIN, **BOUNDS.to_h { |name, bounds| [name, PLAIN[name].constrained(**bounds)] }, tags: TAGS }.freeze
  ALL = { "plain" => PLAIN, "ruled" => RULED }.transform_values do |types|
    Class.new(Dry::Struct) { types.each { |name, type| attribute name, type } }
  end
end

# literal's Data.
module LiteralData
  extend Literal::Types

  PLAIN = { **CLASSES, active: _Boolean, tags: _Array(String) }.freeze
  RULED = { **PLAIN, **RANGES.to_h { |name, range| [name, _Constraint(CLASSES[name], range)] },
            **LENGTHS.transform_values { |length| _String(length: length) },
            tags: _Constraint(_Array(_String(length: 1..10)), length: ..3) }.freeze
  ALL = { "plain" => PLAIN, "ruled" => RULED }.transform_values do |types|
    Class.new(Literal::Data) { types.each { |name, type| prop name, type } }
  end
end

# It makes Hashes.
DRY_SCHEMA = Dry::Schema.define do
  DryStruct::RULED.each { |name, type| required(name).value(type) }
end

# It converts, and checks no class.
class Active
  include ActiveModel::Model
  include ActiveModel::Attributes

  CLASSES.each { |name, kind| attribute name, kind.name.downcase.to_sym }
  attribute :active, :boolean
  attribute :tags
  LENGTHS.each { |name, length| validates name, length: { in: length } }
  RANGES.each do |name, range|
    validates name, numericality: { greater_than_or_equal_to: range.begin, less_than_or_equal_to: range.end }.compact
  end
  validates :tags, length: { maximum: 3 }
end

def cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_microsecond)

def measure(task, peer, times)
  rounds = Array.new(9) do
    GC.start
    before = cpu
    times.times { yield }
    (cpu - before) / times
  end
  printf("%-27s %-22s %9.2f\n", task, peer, rounds.min)
end

puts RUBY_DESCRIPTION, Gem.loaded_specs.values_at("activemodel", "dry-schema", "dry-struct", "literal").map(&:full_name)
texts = %w[twitter citm_catalog canada].to_h { |name| [name, File.read("#{ARGV.fetch(0)}/#{name}.json")] }
{ **texts, "rows" => JSON.generate(ROWS), "small" => '{"id":1,"name":"Ada"}' }.each do |name, text|
  bytes, times = Manypack.from_json(text), [2_000_000 / text.bytesize, 4].max
  measure("#{name} from JSON", "from_json", times) { Manypack.from_json(text) }
  measure("#{name} to JSON", "to_json", times) { Manypack.to_json(bytes) }
end
Ours::TYPES.each do |kind, type|
  text, packed, objects = JSON.generate(ROWS), Manypack.pack(ROWS), type.from(ROWS)
  measure("#{kind} rows from JSON", "load_json", 20) { type.load_json(text) }
  measure("#{kind} rows from MessagePack", "load", 20) { type.load(packed) }
  measure("#{kind} rows to JSON", "dump_json", 20) { type.dump_json(objects) }
  measure("#{kind} rows to MessagePack", "dump", 20) { type.dump(objects) }
  measure("#{kind} rows from Hashes", "from", 20) { type.from(ROWS) }
  measure("#{kind} rows from Hashes", "dry-struct", 4) { ROWS.map { |row| DryStruct::ALL[kind].new(row) } }
  measure("#{kind} rows from Hashes", "literal", 4) { ROWS.map { |row| LiteralData::ALL[kind].new(**row) } }
end
measure("ruled rows from Hashes", "dry-schema", 4) { raise unless ROWS.all? { |row| DRY_SCHEMA.call(row).success? } }
measure("ruled rows from Hashes", "ActiveModel, valid?", 4) { raise unless ROWS.all? { |row| Active.new(row).valid? } }

# frozen_string_literal: true

# `duplicate_keys: :first` at every front: what looks for a key finds the first of equal keys, and what builds all of a
# message refuses the option. Without it every front finds the last.
require "test_helper"
require "support/in_file"
require "stringio"

class FirstKeyTest < Minitest::Test
  include InFile

  FIRST = { duplicate_keys: :first }.freeze
  TWICE = "\x84\xA1a\x01\xA1b\x02\xA1a\x03\xA1c\x04".b.freeze

  # A View makes a table of the keys of such a map.
  MANY = ["\xDE\x00\x42\xA1a\x01".b, *Array.new(64) { |i| Manypack.pack("k#{i}") + "\x00".b }, "\xA1a\x03".b].join.freeze

  Held = Struct.new(:a, :b, :c)
  HELD = Manypack::Record.new(Held, a: Integer, b: Integer, c: Integer).with(defaults: { b: 0, c: 0 })
  PATH = Manypack::Path.new("$.a")

  # Each finds "a" in the message and returns its value.
  LOOKS = {
    "dig" => ->(m, **o) { Manypack.dig(m, "a", **o) },
    "View#[]" => ->(m, **o) { Manypack::View.new(m, **o)["a"] },
    "View#[] of a frozen View" => ->(m, **o) { Manypack::View.new(m, freeze: true, **o).then { |v| [v["a"], v[:a]].uniq.first } },
    "View#[] again" => ->(m, **o) { Manypack::View.new(m, **o).then { |v| Array.new(3) { v["a"] }.uniq.then { |all| all.one? ? all[0] : all } } },
    "View#dig" => ->(m, **o) { Manypack::View.new(m, **o).dig("a") },
    "View#fetch" => ->(m, **o) { Manypack::View.new(m, **o).fetch("a") },
    "View#values_at" => ->(m, **o) { Manypack::View.new(m, **o).values_at("a", "b").first },
    "View#dig_many" => ->(m, **o) { Manypack::View.new(m, **o).dig_many("$.a", "$.b").first },
    "View#query" => ->(m, **o) { Manypack::View.new(m, **o).query("$.a").first },
    "a pattern" => ->(m, **o) { Manypack::View.new(m, **o).then { |v| v in { a: } and a } },
    "a pattern of two" => ->(m, **o) { Manypack::View.new(m, **o).deconstruct_keys(%i[a d])[:a] },
    "an inner View" => ->(m, **o) { Manypack::View.new("\x91".b + m, **o)[0]["a"] },
    "View#each" => ->(m, **o) { Manypack::View.new("\x91".b + m, **o).each.map { |v| v["a"] }.first },
    "View#select" => ->(m, **o) { Manypack::View.new("\x91".b + m, **o).select { |v| v["a"] }.first["a"] },
    "View#as" => ->(m, **o) { Manypack::View.new(m, **o).as(HELD).a },
    "Path#to_a" => ->(m, **o) { PATH.to_a(m, **o).first },
    "Path#first" => ->(m, **o) { PATH.first(m, **o) },
    "Path#each" => ->(m, **o) { PATH.each(m, **o).first },
    "Path#each_with_path" => ->(m, **o) { PATH.each_with_path(m, **o).first.first },
    "Path#any? of a condition" => ->(m, **o) { Manypack::Path.new("$[?@.a == 1]").any?("\x91".b + m, **o) ? 1 : 3 },
    "Path#count of a condition" => ->(m, **o) { Manypack::Path.new("$[?@.a == 1]").count("\x91".b + m, **o).then { |n| n == 1 ? 1 : 3 } },
    "Path#paths" => ->(m, **o) { Manypack::Path.new("$[?@.a == 1]").paths("\x91".b + m, **o).then { |all| all.one? ? 1 : 3 } },
    "Path.all" => ->(m, **o) { Manypack::Path.all(x: "$.a", y: "$.b").read(m, **o)[:x].first },
    "a Path of an io" => ->(m, **o) { PATH.to_a(StringIO.new(m), **o).first },
    "a Path of many messages" => ->(m, **o) { PATH.each(StringIO.new(m * 3), **o).to_a.uniq.then { |all| all.one? ? all[0] : all } },
    "unpack as a View" => ->(m, **o) { Manypack.unpack(m, as: :view, **o)["a"] },
    "unpack as a lazy Record" => ->(m, **o) { Manypack.unpack(m, as: HELD.lazy, **o).a },
    "Type#load" => ->(m, **o) { HELD.load(m, **o).a },
    "Type#with" => ->(m, **o) { Manypack::Type[[HELD]].with(**o).load("\x91".b + m).first.a },
    "a lazy Record" => ->(m, **o) { HELD.lazy.load(m, **o).then { |held| [held.a, held[:a], held.to_h[:a], held.load.a].uniq.then { |all| all.one? ? all[0] : all } } },
    "a Record with a union's tag" => ->(m, **o) { Manypack::Record.union("a", 1 => HELD, 3 => HELD.inherited_by(Class.new(Held))).load(m, **o).a },
    "split" => ->(m, **o) { Manypack.split(m * 2, as: :view, **o).map { |v| v["a"] }.last },
    "foreach" => ->(m, **o) { in_file(m) { |path| Manypack.foreach(path, as: :view, **o).map { |v| v["a"] }.first } },
    "load_file" => ->(m, **o) { in_file(m) { |path| Manypack.load_file(path, as: HELD, **o).a } },
    "an Unpacker" => ->(m, **o) { Manypack::Unpacker.new(as: :view, **o).feed(m).read["a"] },
    "Parallel.map" => ->(m, **o) { Manypack::Parallel.map(m, as: :view, ractors: 0, **o) { |v| v["a"] }.first }
  }.freeze

  LOOKS.each do |name, look|
    define_method("test_#{name.tr(" ", "_")}_finds_the_first_or_the_last_of_equal_keys") do
      codec = Manypack::Codec.new(**FIRST)
      [TWICE, MANY].each do |message|
        exercise do
          assert_equal [3, 3], [{}, { codec: Manypack::Codec.new }].map { |options| instance_exec(message, **options, &look) }
          assert_equal [1, 1], [FIRST, { codec: codec }].map { |options| instance_exec(message, **options, &look) }
        end
      end
    end
  end

  def test_a_second_value_of_a_member_is_skipped_whatever_it_is
    message = "\x82\xA1a\x01\xA1a\xA1x".b
    [HELD, HELD.lazy].each do |type|
      assert_equal 1, type.load(message, **FIRST).a
      assert_raises(Manypack::RecordError) { type.load(message).a }
    end
  end

  def test_what_builds_all_of_a_message_refuses_it
    [-> { Manypack.unpack(TWICE, **FIRST) }, -> { Manypack.load(TWICE, **FIRST) }, -> { Manypack::Unpacker.new(**FIRST) }, -> { Manypack::View.new(TWICE).value(**FIRST) },
     -> { Manypack.foreach("x", **FIRST) { nil } }, -> { Manypack.split(TWICE, **FIRST) { nil } }, -> { Manypack.pack(1, **FIRST) }, -> { HELD.dump(Held.new, **FIRST) },
     -> { Manypack.load_file("x", **FIRST) }, -> { Manypack::Parallel.map(TWICE, ractors: 0, **FIRST) { nil } },
     -> { Manypack::Parallel.filter(TWICE, StringIO.new, ractors: 0, **FIRST) { nil } }].each_with_index do |call, index|
      assert_match(/duplicate_keys.* has no effect/, assert_raises(ArgumentError, index.to_s, &call).message)
    end
  end

  def test_a_codec_carries_it_and_unpacks_the_last_all_the_same
    codec = Manypack::Codec.new(**FIRST)
    assert_equal [FIRST, 3, 1], [codec.options, codec.unpack(TWICE)["a"], codec.with(freeze: true).view(TWICE)["a"]]
    assert_equal "duplicate_keys must be :last, :first or :error, got :one", assert_raises(ArgumentError) { codec.with(duplicate_keys: :one) }.message
  end
end

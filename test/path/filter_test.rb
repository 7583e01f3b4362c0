# frozen_string_literal: true

# Conditions on rows, which are read in one walk each: the same as a plain implementation finds in the unpacked rows,
# whatever the keys, their order and their encodings.
require "test_helper"
require "path/plain_query"

class FilterTest < Minitest::Test
  include CorePart

  Path = Manypack::Path
  View = Manypack::View

  # Names that begin alike, that differ in one byte, and of each size that is compared in another way.
  NAMES = ["a", "b", "", "name", "names", "long_name", "long_namf", "long_names_are_compared_in_parts", "é", "x" * 31, "x" * 32, "x" * 40].freeze
  VALUES = [0, 1, 5, -1, -40, 200, 2**31, 2**63, 2**64 - 1, -2**63, 1.0, 1.5, "", "a", "ab", "b", "x" * 31, "x" * 40, "é", "a".b, nil, true, false, [], [1], {}, { "a" => 1 }, { "a" => [2] }].freeze
  LITERALS = ["0", "1", "5", "-1", "200", "1.0", "1.5", "2147483648", "''", "'a'", "'ab'", "'é'", "'#{"x" * 31}'", "'#{"x" * 40}'", "null", "true"].freeze

  def plain(value) = value.is_a?(View) ? value.value : value

  def key_step(random) = "['#{NAMES.sample(random: random)}']"

  def condition(random, depth = 2)
    case random.rand(depth.zero? ? 4 : 8)
    when 0 then "@#{key_step(random)}"
    when 1 then "@#{key_step(random)}['a']#{%w[== <].sample(random: random)}#{%w[1 2].sample(random: random)}"
    when 2, 3 then "@#{key_step(random)}#{%w[== != < <= > >=].sample(random: random)}#{LITERALS.sample(random: random)}"
    when 4 then "#{condition(random, depth - 1)} && #{condition(random, depth - 1)}"
    when 5 then "(#{condition(random, depth - 1)} || !(#{condition(random, depth - 1)}))"
    when 6 then ["count(@#{key_step(random)}.*) == 1", "value(@#{key_step(random)}..a) == 1", "length(@#{key_step(random)}) < 3", "@#{key_step(random)} == @#{key_step(random)}"].sample(random: random)
    else "@#{key_step(random)}[?@#{random.rand(2).zero? ? "" : "['a']"} #{%w[== >].sample(random: random)} #{LITERALS.sample(random: random)}]"
    end
  end

  # A row as bytes: its keys may have longer heads than they need, and may come twice.
  def row(random)
    return pack(VALUES.sample(random: random)) if random.rand(8).zero?

    pairs = Array.new(random.rand(12)) { [random.rand(9).zero? ? [1, nil, 1.5, "bin".b].sample(random: random) : NAMES.sample(random: random), VALUES.sample(random: random)] }
    head = pairs.size < 16 ? [0x80 | pairs.size].pack("C") : [0xde, pairs.size].pack("Cn")
    head + pairs.map { |key, value| (key.is_a?(String) && key.encoding == Encoding::UTF_8 && random.rand(4).zero? ? [0xd9, key.bytesize].pack("CC") + key.b : pack(key)) + pack(value) }.join
  end

  def query(random)
    step = ["", key_step(random), ".*", "[0]", "..a", "[?@.a]", "[#{NAMES.first.inspect},'b']"].sample(random: random)
    "#{["$[?", "$..[?", "$[1:][?", "$[*][?"].sample(random: random)}#{condition(random)}]#{step}"
  end

  SEEDS = Integer(ENV.fetch("MANYPACK_QUERIES", FEW_CASES ? 60 : 600))

  def test_any_condition_finds_what_the_plain_implementation_finds
    found = 0
    SEEDS.times do |seed|
      random = Random.new(seed)
      rows = Array.new(random.rand(1..6)) { row(random) }
      bytes = [0x90 | rows.size].pack("C") + rows.join
      path = Path.new(query(random))
      found += same_found(path, bytes, "seed #{seed}: #{path} in #{hex(bytes)}")
    end
    assert_operator found, :>, SEEDS / 2
  end

  # A path that visits all values of a map sees both of two equal keys, the unpacked row only one.
  def same_found(path, bytes, message)
    expected = PlainQuery.find(path, unpack(bytes)).map(&:first)
    once = Manypack.pack(unpack(bytes))
    [once, View.new(once), View.new(once, check: true), View.new(once, check: true).freeze].each do |source|
      assert_equal expected, path.to_a(source).map { |value| plain(value) }, message
    end
    assert_equal expected.size, path.count(once), message
    assert_equal expected, path.each_with_path(once).map { |value, _| plain(value) }, message
    twice = path.to_a(bytes).map { |value| plain(value) }
    assert_equal expected, twice, message unless path.to_s.match?(/\*|\.\.|1:|\[\?.*\[\?/)
    twice.size
  end

  def test_more_keys_than_one_walk_looks_for
    keys = Array.new(30) { |i| "key#{i}" }
    rows = Array.new(4) { |i| keys.to_h { |key| [key, key == "key29" && i == 3 ? 0 : 1] }.merge("last" => i) }
    path = Path.new("$[?#{keys.map { |key| "@.#{key} == 1" }.join(" && ")}].last")
    exercise { assert_equal [0, 1, 2], path.to_a(pack(rows)) }
  end

  def test_a_condition_in_a_condition_has_its_own_row
    rows = [{ "a" => [{ "a" => 1, "b" => 2 }, 7], "b" => 3 }, { "a" => [{ "b" => 3 }], "b" => 2 }]
    [["$[?@.a[?@.b == 2] && @.b == 3].b", [3]], ["$[?@.a[?@.b == 3]].b", [2]], ["$[?@.a[?@.b == $[0].b] && @.b == 2].a[0].b", [3]],
     ["$[?count(@.a[?@.b]) == 1 && @.b > 2].b", [3]], ["$[?@.a[?@ == 7]].b", [3]]].each do |text, expected|
      exercise { assert_equal expected, Path.new(text).to_a(pack(rows)), text }
    end
  end

  def test_functions_of_the_user_take_what_the_walk_has_found
    nodes = Path::Function.new(:nodes) { |values| values.sum { |value| value.is_a?(Integer) ? value : 0 } }
    same = Path::Function.new(:value) { |value| value.tap { GC.start } }
    path = Path.new("$[?nodes(@.a[*]) == 3 && same(@.b) == 'x'].c", functions: { nodes: nodes, same: same })
    assert_equal [1], path.to_a(pack([{ "a" => [1, 2], "b" => "x", "c" => 1 }, { "a" => [1], "b" => "x", "c" => 2 }, { "a" => [3], "c" => 3 }]))
  end

  def test_a_row_that_ends_early_or_is_malformed_is_an_error_also_behind_what_the_condition_needs
    row = pack({ "a" => 1, "b" => { "c" => [1, "x" * 40] }, "d" => 2 })
    (1...row.bytesize).each do |n|
      [{}, { check: true }].each do |options|
        assert_raises(Manypack::TruncatedError) { Path.new("$[?@.a == 1].a").to_a("\x92".b + row.byteslice(0, n), **options) }
      end
    end
    assert_raises(Manypack::MalformedFormatError) { Path.new("$[?@.a == 1]").count("\x91\x82\xA1a\x01\xA1b\xC1".b) }
    assert_raises(Manypack::StackError) { Path.new("$[?@.a]").count(pack([{ "a" => [[[[1]]]] }]), max_depth: 4) }
  end

  def test_the_last_of_equal_keys_counts_for_the_condition_and_the_next_step
    twice = "\x91\x84\xA1a\x01\xA1n\x05\xA1a\x02\xA1n\x06".b
    assert_equal [[], [6]], ["$[?@.a == 1].n", "$[?@.a == 2].n"].map { |text| Path.new(text).to_a(twice) }
    assert_equal [["$[0]['n']"], [6]], [Path.new("$[?@.a == 2].n").paths(twice), Path.new("$[?@.a == 2].n").each_with_path(twice).to_a.map(&:first)]
  end

  def test_keys_that_a_codec_makes_of_exts
    codec = Manypack::Factory.new.tap { |f| f.register_type(7, Range, packer: :to_s, unpacker: ->(body) { body.tap { GC.start } }) }.codec
    view = codec.view("\x92\x82\xD4\x07a\x01\xA1n\x05\x82\xA1a\x01\xD4\x07n\x06".b)
    assert_equal [5, 6], Path.new("$[?@.a == 1].n").to_a(view)
  end

  def test_a_condition_counts_what_it_looks_at_in_what_the_walk_has_found
    rows = [{ "a" => [*1..100] }] * 5
    assert_raises(Manypack::LimitError) { Path.new("$[?count(@.a[*]) == 100]", max_looks: 300).to_a(pack(rows)) }
    assert_equal 5, Path.new("$[?count(@.a[*]) == 100]", max_looks: 505).count(pack(rows))
    assert_raises(Manypack::LimitError) { Path.new("$[?count(@.a[*]) == 100]", max_looks: 504).count(pack(rows)) }
  end
end

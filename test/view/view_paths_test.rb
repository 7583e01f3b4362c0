# frozen_string_literal: true

# Paths in Views: what they find, and what splice changes there.
require "test_helper"
require "view/views"

class ViewPathsTest < Minitest::Test
  include CorePart
  include Views

  # --- paths --------------------------------------------------------------------------------------------

  def test_query_and_dig_many
    v = view({ "a" => [{ "b" => 1 }, {}, { "b" => 2 }], 1 => "one" })
    assert_equal [1, 2], v.query("$.a[*].b")
    found = []
    assert_same v, v.query("$.a[*].b") { |x| found << x }
    assert_equal [1, 2], found
    assert_equal [1, 2, nil, "one"], v.dig_many("$.a[*].b", ["a", -1, "b"], Path.new("$.x"), "$[1]")
    assert_equal [1, 2], v.query("a..b")
    assert_raises(ArgumentError) { v.query("a...b") }
    assert_equal [1, 2], Path.new("$.a[*].b").to_a(view({ "a" => [{ "b" => 1 }, { "b" => 2 }] }, symbolize_keys: true))
    assert_equal 1, Path.new("$.a[*].b").first(v)
    assert_equal [1, 2], Path.new("$.a[*].b").each(v).to_a
    assert_raises(ArgumentError) { Path.new("$.a").first(v, freeze: true) }
  end

  def test_what_is_no_path_is_a_type_error_that_says_so
    [-> { Path.new(1) }, -> { Path.of(Object) }, -> { view({}).query(1.5) }, -> { view({}).query(["a", Object]) }].each do |call|
      assert_match(/a (?:step of a )?path is a String/, assert_raises(TypeError, &call).message)
    end
  end

  def test_all_kinds_of_paths
    v = view({ "a" => [{ "b" => 1 }] })
    [Path.new("$.a[0].b"), "$.a[0].b", "a[0].b", ["a", 0, "b"]].each do |path|
      assert_equal [[1], [1], 2], [v.query(path), v.dig_many(path), v.splice(path => 2)["a"][0]["b"]]
    end
    assert_equal [[1], [v["a"]], { "a" => nil }], [v.query([:a, 0, :b]), v.query(:a), v.splice(a: nil).value]
    assert_equal [1], v["a"].query("[*].b")
  end

  # --- splice -------------------------------------------------------------------------------------------

  SPLICES = [
    [{ "a" => { "b" => 1 } }, { "a.b" => 2 }, { "a" => { "b" => 2 } }],
    [{ "a" => { "b" => 1 } }, { "a.c" => [2] }, { "a" => { "b" => 1, "c" => [2] } }],
    [{ "a" => 1, "b" => 2 }, { "a" => REMOVED, "x" => REMOVED }, { "b" => 2 }],
    [[1, 2, 3], { "[0]" => REMOVED, "[-1]" => 9 }, [2, 9]],
    [[1, 2, 3], { "[0]" => REMOVED, "[3]" => 4, "[4]" => 5 }, [2, 3, 4, 5]],
    [[[1], [2]], { "[0][1]" => 8, "[1][1]" => 9 }, [[1, 8], [2, 9]]],
    [[[1], [2]], { "[1][1]" => 9, "[0][1]" => 8, "[2]" => 7 }, [[1, 8], [2, 9], 7]],
    [[[[]]], { "[0][0][0]" => 1, "[0][1]" => 2, "[1]" => 3 }, [[[1], 2], 3]],
    [[[], []], { "[0][0]" => 1, "[1]" => REMOVED }, [[1]]],
    [{ "a b" => 1 }, { '$["a b"]' => 2 }, { "a b" => 2 }],
    [{ 1 => 1 }, { "[1]" => 2, "[5]" => 3 }, { 1 => 2, 5 => 3 }],
    [{ "a" => [{ "b" => 1 }] }, { Path.new("$.a[0].b") => View.new("\x91\x05") }, { "a" => [{ "b" => [5] }] }],
    [[1], {}, [1]]
  ].freeze

  SPLICES.each_with_index do |(before, changes, after), i|
    define_method("test_splice_#{i}_changes_these_and_nothing_else") do
      exercise { assert_equal after, view(before).splice(changes).value }
      assert_equal after, view([0, before, 0])[1].splice(changes).value
    end
  end

  [15, 16, 65_535, 65_536].each do |size|
    define_method("test_splice_grows_and_shrinks_heads_of_#{size}") do
      array = [0] * size
      assert_equal pack(array + [1]), view(array).splice("[#{size}]" => 1).bytes
      assert_equal pack(array.drop(1)), view(array).splice("[0]" => REMOVED).bytes
      map = Array.new(size) { |n| [n, nil] }.to_h
      assert_equal pack(map.merge("a" => 1)), view(map).splice("a" => 1).bytes
      assert_equal pack(map.except(0)), view(map).splice("[0]" => REMOVED).bytes
    end
  end

  def test_splice_removes_nothing_below_what_is_not_there
    object = { "nil" => nil, "n" => 5, "s" => "x", "list" => [nil, [1], 2], "map" => {} }
    bytes = pack(object)
    ["nil.a", "nil.a[0].b", "no", "no.a", "no[3].a.b", "list[0].a", "list[7]", "list[7].a", "list[-9][0]", "list.a", "list.a.b", "map.a", "map.a.b",
     "map[0][1]"].each { |path| assert_equal bytes, view(object).splice(path => REMOVED).bytes, path }
    ["n.a", "n.a.b", "s[0]", "list[2].a"].each { |path| assert_raises(KeyError, path) { view(object).splice(path => REMOVED) } }
    ["nil.a", "no.a", "list[0].a", "list[7].a"].each { |path| assert_raises(KeyError, path) { view(object).splice(path => 1) } }
    assert_equal object.merge("n" => 6).except("s"), view(object).splice("nil.a" => REMOVED, "s" => REMOVED, "n" => 6).value
    assert_equal bytes("c0"), view(nil).splice("a.b" => REMOVED).bytes
    assert_raises(KeyError) { view(5).splice("a" => REMOVED) }
  end

  def test_splice_finds_str_keys_with_symbolize_keys
    v = view({ "a" => { "b" => 1 } }, symbolize_keys: true).splice("a.b" => 2, "a.c" => 3)
    assert_equal({ a: { b: 2, c: 3 } }, v.value)
  end

  def test_splice_refuses_changes_that_replace_one_another
    v = view({ "a" => { "b" => {} } })
    [{ "a" => 1, "a.b" => 2 }, { "a" => 1, "a.c" => 2 }, { "a.b.c" => 1, "a" => REMOVED }, { "a" => 1, "$.a" => 2 },
     { "c" => 1, "$.c" => 2 }].each do |changes|
      error = assert_raises(ArgumentError, changes.inspect) { v.splice(changes) }
      assert_match(/\A\$\./, error.message)
    end
  end

  # The change of one of them would bring the other one to light.
  def test_splice_refuses_a_key_that_its_map_has_twice
    twice = "\x82\xA1a\x81\xA1b\x01\xA1a\x81\xA1b\x02".b
    ["a", "a.b", "a.c"].each do |path|
      [{}, { duplicate_keys: :last }].each do |options|
        [REMOVED, 1].each { |value| assert_raises(Manypack::MalformedFormatError) { View.new(twice, **options).splice(path => value) } }
      end
    end
    codec = Manypack::Factory.new.tap { |f| f.register_type(7, Range, packer: :to_s, unpacker: ->(_) { "a" }) }.codec
    ["\x82\xD4\x07x\x01\xD4\x07x\x02", "\x82\xD4\x07x\x01\xA1a\x02", "\x82\xA1a\x01\xD4\x07x\x02"].each do |bytes|
      assert_raises(Manypack::MalformedFormatError) { codec.view(bytes.b).splice("a" => REMOVED) }
    end
    assert_equal({ "a" => { "b" => 2 }, "c" => 1 }, View.new(twice).splice("c" => 1).value)
  end

  def test_splice_refuses_places_that_are_not_there
    v = view({ "a" => [1], "s" => "x" })
    assert_raises(KeyError) { v.splice("x.y" => 1) }
    assert_raises(KeyError) { v.splice("s.y" => 1) }
    assert_raises(KeyError) { v.splice("a.b.c" => 1) }
    assert_raises(IndexError) { v.splice("a[2]" => 1) }
    assert_raises(IndexError) { v.splice("a[-2]" => 1) }
    assert_raises(IndexError) { v.splice("a.b" => 1) }
    assert_raises(IndexError) { v.splice("a[99999999999999999999]" => 1) }
    assert_raises(ArgumentError) { v.splice("$" => 1) }
    assert_raises(TypeError) { v.splice(1 => 1) }
    assert_raises(KeyError) { view(1).splice("a" => 1) }
    assert_raises(NoMethodError) { v.splice("a" => Object.new) }
  end

  # A Ractor keeps the Paths that it has parsed of Strings.
  def test_a_string_means_the_same_path_each_time
    v = view({ "a" => { "b" => 1 }, "é" => 2, "\xC3\xA9".b => 3 })
    2.times do
      assert_equal [[1], [2], [1], []], [v.query("a.b"), v.query("é"), v.query("$.a['b']"), v.query("b")]
      assert_equal [1, nil, { "b" => 1 }], v.dig_many("a.b", "x", "a").map { |found| found.is_a?(Manypack::View) ? found.value : found }
      assert_raises(ArgumentError) { v.query("a..") }
      assert_raises(ArgumentError) { v.query("\xC3\xA9".b) }
    end
    text = +"a.b"
    v.query(text)
    text.replace("é")
    assert_equal [2], v.query(text)
    assert_equal (0...200).map { |i| ["k#{i}"] }, (0...200).map { |i| Manypack::Path.from("k#{i}").steps }
    own = Class.new(String) { def hash = raise("called") }
    assert_equal [1], v.query(own.new("a.b"))
  end

  # Path.of makes the steps that the parser would read.
  def test_steps_are_those_of_the_text
    names = ["a", "é", "", "a b", "a\"b", "\u202e", "\u007f", "\0", "é".encode("ISO-8859-1"), "a".encode("UTF-16LE"), "\xFF", "\xFFa".b, "a".b, :sym, :"é", 1, -1, 2**70, 1.5, -0.0, 1e300, Float::INFINITY, -Float::INFINITY, true, false, nil, Manypack::Path::ALL]
    names.each do |name|
      made = Manypack::Path.of(name)
      assert_equal Manypack::Path.from(made.to_s), made
      assert_equal made.steps.map { |step| [step.class, step.is_a?(String) && step.encoding] }, Manypack::Path.from(made.to_s).steps.map { |step| [step.class, step.is_a?(String) && step.encoding] }
      assert Ractor.shareable?(made)
    end
    mutable = +"a"
    path = Manypack::Path.of(mutable)
    mutable << "b"
    assert_equal ["a"], path.steps
    assert_raises(ArgumentError) { Manypack::Path.of(Float::NAN) }
    [[1], Object.new, {}].each { |other| assert_raises(TypeError) { Manypack::Path.of(other) } }
  end

  def test_first_is_the_first_that_each_yields
    v = view({ "b" => [1, { "a" => nil }, { "a" => 2 }], "a" => [[3, { "a" => 4 }]] })
    %w[$..a $..* $[*] $.b[::-1] $.b[?@.a] $..[?@.a] $.x $ $.b[1].a $..a[0]].each do |text|
      path = Manypack::Path.new(text)
      expected = path.each(v).first
      found = path.first(v)
      assert_equal [expected.class, expected.inspect], [found.class, found.inspect], text
      assert_equal found.inspect, path.first(v.bytes).inspect
    end
  end
end

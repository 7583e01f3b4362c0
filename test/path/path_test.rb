# frozen_string_literal: true

# Manypack::Path: what a path's text means.
require "test_helper"

class PathTest < Minitest::Test
  Path = Manypack::Path

  STEPS = {
    "$" => [],
    "$.a" => ["a"],
    "$.statuses[*].user.screen_name" => ["statuses", Path::ALL, "user", "screen_name"],
    "$.*" => [Path::ALL],
    "$[0][-1][10]" => [0, -1, 10],
    '$["a"]' => ["a"],
    "$['a']" => ["a"],
    '$["a.b[c] \\"d\\" \\\\ \\n \\/"]' => ["a.b[c] \"d\" \\ \n /"],
    "$['it\\'s']" => ["it's"],
    '$["\\u00e9\\ud83d\\ude00"]' => ["é😀"],
    '$[""]' => [""],
    "$.a-b.@c.é" => ["a-b", "@c", "é"],
    "$[nil][true][false][1.5][-1e300][Infinity]" => [nil, true, false, 1.5, -1e300, Float::INFINITY],
    '$["\\xFFa\\u0001"]' => ["\xFFa\u0001".b],
    "$ .a\n[ 'b' ]\t[*]" => ["a", "b", Path::ALL]
  }.freeze

  STEPS.each do |text, steps|
    define_method("test_the_steps_of_#{text}") { assert_equal steps, Path.new(text).steps }
    define_method("test_the_text_of_#{text}_names_the_same_path") { assert_equal Path.new(text), Path.new(Path.new(text).to_s) }
  end

  # Of each bad path the column where it goes wrong.
  BAD = {
    "" => 0, "a" => 0, " $" => 0, "$a" => 1, "$." => 2, "$.." => 3, "$.. a" => 3, "$.a " => 3, "$.a b" => 3, "$[" => 2, "$[]" => 2,
    "$[a]" => 2, "$[01]" => 3, "$[1.]" => 3, "$[array]" => 2, "$[ext]" => 2, "$[float64]" => 2, "$.a...b" => 3, "$[--1]" => 2, "$[*" => 3, "$[1" => 3, '$["a' => 4, '$["a"' => 5,
    '$["\\q"]' => 4, '$["\\ud800"]' => 4, "$.é[x]" => 4, "$.$" => 2,
    "$.0" => 2, "$.&" => 2, "$[1.0]" => 3, "$[9007199254740992]" => 2, "$[-0]" => 2, "$[+1]" => 2, "$[0,]" => 4, "$[,0]" => 2, "$[0 1]" => 4,
    "$[1:2:3:4]" => 7, "$[1:-9007199254740992]" => 4, "$[\"\\'\"]" => 4, '$["\\x12"]' => 4, "$[\"\u0001\"]" => 3,
    "$[?]" => 3, "$[?@.a" => 6, "$[?1]" => 3, "$[?true]" => 3, "$[?@.a==]" => 8, "$[?@.a=1]" => 6, "$[?@.*==1]" => 3, "$[?1==@..a]" => 6, "$[?@.a==01]" => 9,
    "$[?@.a==1.]" => 9, "$[?@.a==1e]" => 9, "$[?(@.a]" => 7, "$[?!1]" => 4, "$[?é(@)]" => 3, "$[?no(@)]" => 3, "$[?length(@.a)]" => 3, "$[?length(@.*)==1]" => 10,
    "$[?length()==1]" => 3, "$[?length(@.a,@.b)==1]" => 3, "$[?count(1)==1]" => 9, "$[?count (@.a)==1]" => 3, "$[?match(@.a,'x')==true]" => 3,
    "$[?length(@.a==1)==1]" => 10, "$.status>=500" => 8, "$.a == 1" => 3, "$.a,b" => 3, "$.a?" => 3, "$.a|b" => 3, "$.a(1)" => 3, "$..a=1" => 4, "$.a&&b" => 3, "$.a!=1" => 3, "$.a*2" => 3, "$[?@.a-b==1]" => 6, "$[?@.a && ]" => 10
  }.freeze

  BAD.each do |text, column|
    define_method("test_#{text.inspect}_is_refused_with_a_caret_under_the_place") do
      lines = assert_raises(ArgumentError) { Path.new(text) }.message.lines(chomp: true)
      assert_equal ["  #{text}", "  #{" " * column}^"], lines.last(2)
    end
  end

  def test_a_path_is_a_string
    [nil, :a, 1, ["a"]].each { |path| assert_raises(TypeError) { Path.new(path) } }
  end

  def test_a_path_of_steps
    assert_equal "$.users[0][*][\"first name\"].id", Path.of("users", 0, Path::ALL, "first name", :id).to_s
    assert_equal ["\u0001\"\\"], Path.of("\u0001\"\\").steps
    [["a"], {}, 1r].each { |step| assert_raises(TypeError) { Path.of(step) } }
    assert_equal ["0", 2**64 - 1, 1.0], Path.of("0", 2**64 - 1, 1.0).steps
    { 2**63 => 2, 2**64 - 1 => 3, -2**63 => 4 }.then { |map| map.each { |key, value| assert_equal value, Path.of(key).first(pack(map)) } }
    [2**64, -2**63 - 1, 2**200].each { |key| assert_empty Path.of(key).to_a(pack({ 1 => 2, 0 => 3, 2.0**64 => 4 })) }
    steps = [nil, true, false, 1.5, -1e300, Float::INFINITY, "\xFF".b, "\u0085\u202e\ufeff"]
    assert_equal '$[nil][true][false][1.5][-1.0e+300][Infinity]["\xFF"]["\u0085\u202e\ufeff"]', Path.of(*steps).to_s
    assert_equal steps, Path.of(*steps).steps
  end

  # What could be read before the standard came, and is in no doubt.
  LOOSE = {
    "a.b" => ["a", "b"], "[0].b" => [0, "b"], "a-b.@c.é.0" => ["a-b", "@c", "é", "0"], "$.0.&" => ["0", "&"], "$[1.0]" => [1.0], :"a b" => ["a b"],
    "$[18446744073709551615]" => [2**64 - 1], '$["it\\\'s\\x12"]' => ["it's\u0012".b], "$.a" => ["a"], ["a", 0] => ["a", 0]
  }.freeze

  LOOSE.each do |text, steps|
    define_method("test_path_from_#{text.inspect}") { assert_equal steps, Path.from(text).steps }
  end

  def test_path_from_finds_what_to_s_says
    LOOSE.each_value { |steps| assert_equal steps, Path.from(Path.of(*steps).to_s).steps }
    path = Path.new("$..a")
    assert_same path, Path.from(path)
    assert_raises(TypeError) { Path.from(1) }
    ["a b", "[99999999999999999999:]", "[:99999999999999999999]", "a[?@.0]", "$[?@.a=='\\x']"].each { |text| assert_raises(ArgumentError, text) { Path.from(text) } }
    assert_match(/\Aa path starts with \$; Path\.from takes one without\n/, assert_raises(ArgumentError) { Path.new("a.b") }.message)
  end

  # Each is written so that the parser reads the same again.
  [
    "$..a", "$..[*]", "$..*", "$..['a',0]", "$[1:2]", "$[:]", "$[::-1]", "$[-3:]", "$['a',\"b\",0,*,1:2]", "$[?@.a]", "$[?!@.a]", "$[?@.a&&(@.b||@.c)]", "$[?(@.a||@.b)&&@.c]",
    "$[?!(@.a==1)]", "$[?@['a b']<=-1.5e3]", "$[?@==null||@==true||@=='it\\'s']", "$[?length(@.a)>1]", "$[?count(@..*)==0]", "$[?match(@.a,'a.*')]", "$[?!search(@.a,'b')]",
    "$[?value(@..a)!=$['x'][0]]", "$[?@[?@.a>1]]", "$[?1==1]"
  ].each do |text|
    define_method("test_the_text_of_#{text}_means_the_same") { assert_equal Path.new(text), Path.new(Path.new(text).to_s) }
  end

  def test_only_names_and_indices_find_one_value_at_most
    ["$", "$.a", "$[0]['b']", "$[-1][1.5]"].each { |text| refute Path.new(text).all?, text }
    ["$.*", "$..a", "$[0,1]", "$[0:1]", "$[?@.a]"].each { |text| assert Path.new(text).all?, text }
  end

  def test_conditions_are_nested_only_so_deep
    ["#{"(" * 5000}@#{")" * 5000}", "#{"@[?" * 5000}@#{"]" * 5000}", "#{"length(" * 5000}@#{")" * 5000}", "#{"!(" * 5000}@#{")" * 5000}"].each do |condition|
      assert_match(/too many conditions/, assert_raises(ArgumentError) { Path.new("$[?#{condition}]") }.message)
    end
    assert Path.new("$[?#{(["@.a"] * 5000).join("||")}]")
  end

  def test_paths_are_equal_by_their_steps
    assert_equal 1, [Path.new("$.a[0]"), Path.new("$['a'][0]"), Path.of("a", 0)].uniq.size
    refute_equal Path.new("$.a"), Path.new("$.b")
    refute_equal Path.of("0"), Path.of(0)
    refute_equal Path.new("$.a"), "$.a"
  end

  # One of them raises where the other does not.
  def test_paths_that_may_look_at_fewer_objects_are_other_paths
    few, more = [1, 2].map { |looks| Path.new("$..[?@..a]", max_looks: looks) }
    [[few, more], [Path.all(a: few), Path.all(a: more)]].each do |one, other|
      refute_equal one, other
      assert_equal [one, other], [one, other, one.clone, Marshal.load(Marshal.dump(other))].uniq
      refute_equal one.hash, other.hash
    end
    assert_equal Path.new("$.a"), Path.new("$.a", max_looks: Path.new("$").max_looks)
  end

  def test_a_path_is_frozen_and_shareable
    assert Ractor.shareable?(Path.new("$.a[*][1]['b c']"))
  end

  def test_a_path_shows_itself
    assert_equal "#<Manypack::Path $.a[*]>", Path.new("$['a'].*").inspect
  end
end

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
    "$.a-b.@c.é.0" => ["a-b", "@c", "é", "0"]
  }.freeze

  STEPS.each do |text, steps|
    define_method("test_the_steps_of_#{text}") { assert_equal steps, Path.new(text).steps }
    define_method("test_the_text_of_#{text}_names_the_same_path") { assert_equal Path.new(text), Path.new(Path.new(text).to_s) }
  end

  # Of each bad path the column where it goes wrong.
  BAD = {
    "" => 0, "a" => 0, " $" => 0, "$a" => 1, "$." => 2, "$..a" => 2, "$.a " => 3, "$.a b" => 3, "$[" => 2, "$[]" => 2,
    "$[a]" => 2, "$[01]" => 3, "$[1.]" => 3, "$[array]" => 2, "$[ext]" => 2, "$[float64]" => 2, "$.a...b" => 3, "$[--1]" => 2, "$[*" => 3, "$[1" => 3, '$["a' => 4, '$["a"' => 5,
    '$["\\q"]' => 4, '$["\\ud800"]' => 4, "$.é[x]" => 4, "$.$" => 2
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
    steps = [nil, true, false, 1.5, -1e300, Float::INFINITY, "\xFF".b, "\u0085\u202e\ufeff"]
    assert_equal '$[nil][true][false][1.5][-1.0e+300][Infinity]["\xFF"]["\u0085\u202e\ufeff"]', Path.of(*steps).to_s
    assert_equal steps, Path.of(*steps).steps
  end

  def test_paths_are_equal_by_their_steps
    assert_equal 1, [Path.new("$.a[0]"), Path.new("$['a'][0]"), Path.of("a", 0)].uniq.size
    refute_equal Path.new("$.a"), Path.new("$.b")
    refute_equal Path.of("0"), Path.of(0)
    refute_equal Path.new("$.a"), "$.a"
  end

  def test_a_path_is_frozen_and_shareable
    assert Ractor.shareable?(Path.new("$.a[*][1]['b c']"))
  end

  def test_a_path_shows_itself
    assert_equal "#<Manypack::Path $.a[*]>", Path.new("$['a'].*").inspect
  end
end

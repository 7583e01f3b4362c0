# frozen_string_literal: true

# A look into a value of another shape is a DecodeError with a place, whichever method looks; or nil, or [], as the table
# in docs/views.md says.
require "test_helper"

class ShapeTest < Minitest::Test
  View = Manypack::View

  # Each look, and the kinds of Views that it takes.
  LOOKS = {
    "view[key]" => [->(view) { view["a"] }, [:map]], "view[symbol]" => [->(view) { view[:a] }, [:map]],
    "view[nil]" => [->(view) { view[nil] }, [:map]], "view[[1]]" => [->(view) { view[[1]] }, [:map]],
    "view[index]" => [->(view) { view[0] }, %i[map array]], "fetch" => [->(view) { view.fetch("a", 1) }, [:map]],
    "key?" => [->(view) { view.key?("a") }, [:map]], "values_at" => [->(view) { view.values_at("a") }, [:map]],
    "dig" => [->(view) { view.dig("a") }, [:map]], "dig index" => [->(view) { view.dig(0) }, %i[map array]],
    "Manypack.dig" => [->(view) { Manypack.dig(view.bytes, "a") }, [:map]],
    "Manypack.dig, untrusted" => [->(view) { Manypack.dig(view.bytes, "a", untrusted: true) }, [:map]],
    "keys" => [:keys.to_proc, [:map]], "values" => [:values.to_proc, [:map]], "to_h" => [:to_h.to_proc, [:map]],
    "each_pair" => [->(view) { view.each_pair { nil } }, [:map]], "last" => [:last.to_proc, [:array]],
    "deconstruct_keys" => [->(view) { view.deconstruct_keys(%i[a]) }, [:map]],
    "each" => [->(view) { view.each { nil } }, %i[map array]], "map" => [->(view) { view.map(&:itself) }, %i[map array]],
    "size" => [:size.to_proc, %i[map array]], "empty?" => [:empty?.to_proc, %i[map array]], "first" => [:first.to_proc, %i[map array]],
    "to_a" => [:to_a.to_proc, %i[map array]], "include?" => [->(view) { view.include?(1) }, %i[map array]]
  }.freeze

  # Each kind, with an object of it, and with an element that has steps of its own.
  OBJECTS = { map: { "a" => 1 }, array: [1], integer: 1, float: 1.5, str: "text", nil: nil, boolean: true, bin: "\xFF".b }.freeze

  LOOKS.each do |name, (look, kinds)|
    OBJECTS.each do |kind, object|
      next look.call(View.new(Manypack.pack(object))) if kinds.include?(kind)
      next if object.nil? && name.include?("dig") # nil ends a dig, as that of Hash

      define_method("test_#{name}_of_#{kind}") do
        error = assert_raises(Manypack::DecodeError) { look.call(View.new(Manypack.pack(object))) }
        assert_kind_of TypeError, error
        assert_kind_of Manypack::TypeError, error
        assert_equal [0, "$"], [error.offset, error.path]
        assert_match(/\Aexpected an? #{kinds.size == 1 ? "(map|array)|a map or an array" : "map or an array"}.*, got #{kind}, at \$, byte 0\z/, error.message)
      end
    end
  end

  def test_the_place_is_that_in_the_whole_message
    message = Manypack.pack({ "users" => [1, { "name" => "Ada" }] })
    users = View.new(message)["users"]
    { -> { users["name"] } => ["$.users", 7], -> { users.dig(1, "name", "first") } => ["$.users[1].name", 15], -> { users[1].last } => ["$.users[1]", 9],
      -> { Manypack.dig(message, "users", "name") } => ["$.users", 7] }.each do |look, place|
      2.times do # the second look has an index
        error = assert_raises(Manypack::ShapeError, &look)
        assert_equal place, [error.path, error.offset]
        assert_includes error.message, ", at #{place[0]}, byte #{place[1]}"
      end
    end
  end

  def test_paths_and_patterns_find_nothing_in_another_shape
    view = View.new(Manypack.pack([1]))
    assert_equal [nil], view.dig_many("$.a")
    assert_empty view.query("$.a")
    assert_nil Manypack::Path.new("$.a").first(view)
    matched = case view
              in { a: } then a
              else :nothing
              end
    assert_equal :nothing, matched
    assert_nil view.to_hash
    assert_nil View.new("\xC0").dig("a")
  end

  def test_bytes_that_are_wrong_remain_other_errors
    assert_raises(Manypack::TruncatedError) { View.new("\x91")[0] }
    assert_raises(Manypack::MalformedFormatError) { View.new("\xC1").size }
  end

  # A missing key is nil. A path in place of the steps is a mistake, unless there is such a key.
  PATHS = ["$.users", "$.users[0].name", "$['users']", "users[0].name", "users[10]", "a.b[3]", "users[*].name", "[0]", "[0].name"].freeze
  KEYS = ["users.name", "a.b", "user[name]", "items[]", "$", "$oid", "$type", "[", "a]", "[a]", "[1", "1]", "[-1]", "", "é[", "*"].freeze

  def test_dig_refuses_a_path_in_place_of_steps
    map = Manypack.pack({ "users" => [{ "name" => "Ada" }] })
    PATHS.each do |path|
      digs(map).each do |dig|
        assert_equal "there is no key #{path.inspect}: dig takes a step as each argument, as in dig(\"users\", 0, \"name\"); View#dig_many, " \
                     "View#query and Path take a path", assert_raises(ArgumentError) { dig.call(path) }.message
        assert_nil dig.call(:absent)
      end
      [{ path => nil }, { path => 1 }].each { |own| digs(Manypack.pack(own)).each { |dig| assert_equal [own[path]], [dig.call(path)] } }
      digs("\xC0").each { |dig| assert_nil dig.call(path) }
      assert_equal [nil, [], nil], [Manypack::View.new(map)[path], Manypack::View.new("\x80").query(path.sub("$", "$.no")), Manypack::View.new(map).dig("no", path)]
    end
  end

  def test_a_key_that_is_merely_absent_is_nil
    [{}, { "id" => 1 }, (1..50).to_h { |i| [i.to_s, i] }].each { |map| KEYS.each { |key| digs(Manypack.pack(map)).each { |dig| assert_nil dig.call(key), key } } }
  end

  def digs(bytes)
    indexed = Manypack::View.new(bytes, check: true).freeze
    [->(step) { Manypack.dig(bytes, step) }, ->(step) { Manypack.dig(bytes, step, untrusted: true) }, ->(step) { Manypack::View.new(bytes).dig(step) }, ->(step) { indexed.dig(step) }]
  end
end

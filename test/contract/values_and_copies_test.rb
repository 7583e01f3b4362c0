# frozen_string_literal: true

# What never changes behaves as Ruby's own values do: copies, equality, inspect, Marshal, YAML and allocate work or say
# why not.
require "test_helper"
require "yaml"

class ValuesAndCopiesTest < Minitest::Test
  Point = Struct.new(:x, :tags)
  POINT = Manypack::Record.new(Point, x: Integer, tags: [String]).with(defaults: { tags: [].freeze })
  LAZY = POINT.lazy.load(Manypack.pack({ "x" => 1, "tags" => ["a"] }))

  # A value and another one that is made in the same way.
  VALUES = {
    "Codec" => -> { Manypack::Codec.new(symbolize_keys: true) }, "Type" => -> { Manypack::Type[[Integer]] },
    "Record" => -> { POINT.with(unknown: :raise) }, "Path" => -> { Manypack::Path.new("$.a[*]") },
    "All" => -> { Manypack::Path.all(a: "$.a", "b" => "$.b") }, "Timestamp" => -> { Manypack::Timestamp.new(5, 7) },
    "LazyRecord" => -> { POINT.lazy.load(Manypack.pack({ "x" => 1, "tags" => ["a"] })) }
  }.freeze

  VALUES.each do |name, make|
    define_method("test_a_#{name}_is_equal_to_another_one_and_a_key_of_a_hash") do
      one, other = make.call, make.call
      assert_equal one, other
      assert one.eql?(other)
      assert_equal one.hash, other.hash
      assert_equal [1], { one => 1 }.values_at(other)
      VALUES.each { |another, made| refute_equal one, made.call unless another == name }
      [nil, 1, "a", Object.new].each { |object| refute_equal one, object }
    end

    define_method("test_a_copy_of_a_#{name}_is_the_#{name}_itself") do
      one = make.call
      assert_same one, one.dup
      assert_same one, one.clone
      assert_same one, one.clone(freeze: true)
      assert_match(/can't unfreeze/, assert_raises(ArgumentError) { one.clone(freeze: false) }.message)
      assert_same one, one.freeze
    end

    define_method("test_a_#{name}_is_inspected_in_full") do
      text = make.call.inspect
      refute_match(/0x\h{8}/, text)
      refute_match(/Class:/, text)
    end

    define_method("test_marshal_and_yaml_write_a_#{name}_or_say_why_not") do
      one = make.call
      [-> { Marshal.load(Marshal.dump(one)) }, -> { Psych.unsafe_load(one.to_yaml) }].each do |copied|
        copy = copied.call
        copy = { "Path" => ->(text) { Manypack::Path.from(text) }, "LazyRecord" => ->(hash) { hash.then { one } } }
               .fetch(name, :itself.to_proc).call(copy)
        assert_equal [one, true], [copy, copy.frozen?]
      rescue TypeError => error
        assert_match(/cannot write a/, error.message)
      end
    end
  end

  def test_what_was_only_allocated_raises
    [Manypack::Codec, Manypack::View].each { |klass| assert_raises(TypeError) { klass.allocate } }
    [[Manypack::Type, :spec], [Manypack::Record, :klass], [Manypack::Path, :steps], [Manypack::Path::All, :to_h]].each do |klass, method|
      allocated = klass.allocate
      assert_raises(ArgumentError) { allocated.public_send(method) }
      assert_kind_of String, allocated.inspect
    end
  end

  def test_equal_lazy_records_are_found_whatever_the_bytes
    one = POINT.lazy.load("\x82\xA1x\x01\xA4tags\x90".b)
    other = POINT.lazy.load("\x82\xA1x\xCC\x01\xA4tags\x90".b)
    assert_equal [one, 1], [other, [one, other].uniq.size]
    refute LAZY.eql?(one)
    assert_equal({ "x" => 1, "tags" => ["a"] }, YAML.load(LAZY.to_yaml))
  end

  def test_a_path_taken_apart_is_one_path
    path = Manypack::Path.new("$.a")
    assert_equal [path, path], [*path, *[path]]
    assert_equal [[path], [1]], [Array(path), path.to_a(Manypack.pack({ "a" => 1 }))]
    assert_raises(ArgumentError) { path.to_a(max_bytes: 5) }
  end

  def test_an_all_says_its_paths
    assert_equal "#<Manypack::Path::All a: $.a, b: $.b>", VALUES["All"].call.inspect
    assert_equal Manypack::Path.all(a: "a", b: "b"), Manypack::Path.all(b: "b", a: "a")
  end

  def test_inspect_says_everything_of_a_record_and_a_type
    { POINT => "Point x: Integer, tags: [String] with defaults: #{{ tags: [] }}",
      POINT.with(unknown: :raise, untrusted: true, check: true, keys: { x: 7 }).array =>
        "Point as array x: Integer, tags: [String] with keys: #{{ x: [7] }}, defaults: #{{ tags: [] }}, unknown: :raise, check: true, untrusted: true" }
      .each { |record, words| assert_equal "#<Manypack::Record ValuesAndCopiesTest::#{words}>", record.inspect }
    { [[[Integer]]] => "[[Integer]]", [{ String => [1..3] }, nil] => "{String => [Integer in 1..3]} or nil", [%i[a b]] => "[:a, :b]",
      [[:Node]] => "[:Node]", [[Object]] => "[Object]", [POINT] => "ValuesAndCopiesTest::Point", [Time] => "Time" }
      .each { |types, words| assert_equal "#<Manypack::Type #{words}>", Manypack::Type[*types].inspect }
    assert_equal "#<Manypack::Type Time with timestamp: true>", Manypack::Type[Time].with(timestamp: true).inspect
  end

  def test_a_type_is_made_by_brackets_alone
    [Integer, [:list, [:integer, 1..3]], nil].each do |given|
      error = assert_raises(ArgumentError) { Manypack::Type.new(given) }
      assert_equal "a Type is made by Manypack::Type[...], such as Manypack::Type[Integer], and a Record by Manypack::Record.new", error.message
    end
  end

  def test_a_symbol_that_names_no_record_is_refused_when_the_type_is_made
    { integer: "Integer is", string: "String is", object: "Object is" }.each do |name, words|
      error = assert_raises(ArgumentError) { Manypack::Record.new(Point, x: name, tags: Object) }
      assert_equal "#{name.inspect} is no type: #{words}; a Symbol names a Record, as :Point and :self do, or is one of the literals in an Array", error.message
    end
    assert_raises(ArgumentError) { Manypack::Type[:foo] }
    error = assert_raises(ArgumentError) { Manypack::Type[[:Draft]].load("\x91\xA5Draft") }
    assert_match(/\[:Draft, :Draft\]/, error.message)
    assert_equal :Draft, Manypack::Type[%i[Draft Draft]].load("\xA5Draft")
  end

  def test_a_type_is_a_pattern
    case [1, 2]
    in ^(Manypack::Type[[1..3]]) then assert true
    end
    { Manypack::Type[Integer] => [[1, 2**64 - 1], ["1", 1.5, nil, 2**70, Object.new, BasicObject.new]],
      Manypack::Type[String] => [["a"], [:a, nil, 1]], Manypack::Type[{ String => Integer }] => [[{ "a" => 1 }], [{ a: 1 }, { "a" => "1" }]],
      Manypack::Type[%w[on off]] => [["on"], ["of", :on]], Manypack::Type[String, nil] => [["a", nil], [1]],
      POINT => [[Point.new(1, ["a"])], [Point.new("1", []), Point.new(1, [:a]), { "x" => 1, "tags" => [] }, nil]] }
      .each do |type, (good, bad)|
      good.each { |object| assert_operator type, :===, object }
      bad.each { |object| refute type === object, type.inspect } # rubocop:disable Style/CaseEquality
    end
  end

  class Account
    attr_accessor :id
  end

  def test_a_record_is_a_pattern_for_objects_that_are_equal_to_nothing
    record = Manypack::Record.ivars(Account, id: Integer)
    account = Account.new
    refute_operator record, :===, account
    account.id = 1
    assert_operator record, :===, account
  end
end

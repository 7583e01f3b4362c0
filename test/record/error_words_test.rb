# frozen_string_literal: true

# What a RecordError tells a program and whoever sent the message: code, pointer, words, sentence and details.
require "test_helper"
require "json"

class ErrorWordsTest < Minitest::Test
  include Manypack

  User = Struct.new(:id, :name, :tags, :kind)
  USER = Record.new(User, id: 1.., name: Type[String].or(nil), tags: [Integer], kind: %i[admin guest])
  GOOD = { "id" => 1, "name" => nil, "tags" => [], "kind" => "guest" }.freeze

  def error_of(type, object, json: false)
    assert_raises(RecordError) do
      json ? type.load_json(JSON.generate(object), collect: true) : type.load(Manypack.pack(object), collect: true)
    end
  end

  # By the sentence: a type, an object, the code, the pointer and the member.
  SENTENCES = {
    'id must be at least 1, is 0' => [USER, GOOD.merge("id" => 0), :range, "/id", :id],
    'id must be an integer of at least 1, is "1"' => [USER, GOOD.merge("id" => "1"), :type, "/id", :id],
    'id must be an integer of at least 1, is null' => [USER, GOOD.merge("id" => nil), :type, "/id", :id],
    'id must be an integer of at least 1, is 1.5' => [USER, GOOD.merge("id" => 1.5), :type, "/id", :id],
    'name must be a string or null, is an object' => [USER, GOOD.merge("name" => {}), :type, "/name", :name],
    'tags must be an array, is an object' => [USER, GOOD.merge("tags" => {}), :type, "/tags", :tags],
    'tags[1] must be an integer, is true' => [USER, GOOD.merge("tags" => [1, true]), :type, "/tags/1", :tags],
    'kind must be "admin" or "guest", is "root"' => [USER, GOOD.merge("kind" => "root"), :type, "/kind", :kind],
    "id is missing" => [USER, GOOD.except("id"), :missing, "/id", :id],
    "users[1].id is missing" => [Type[{ String => [USER] }], { "users" => [GOOD, GOOD.except("id")] }, :missing, "/users/1/id", :id],
    "[1] is missing" => [Record.new(Struct.new(:x, :y), x: Integer, y: Integer).array, [1], :missing, "/1", :y],
    "[1] is unknown" => [Record.new(Struct.new(:x), x: Integer).with(unknown: :raise).array, [1, 2], :unknown, "/1", nil],
    "zip is unknown" => [USER.with(unknown: :raise), GOOD.merge("zip" => 1), :unknown, "/zip", nil],
    "the value must be an object, is an array" => [USER, [], :type, "", nil],
    "x must be below 10, is 10" => [Type[{ String => Type[...10, nil] }], { "x" => 10 }, :range, "/x", nil],
    "x must be from 0.5 to 1.5, is 2" => [Type[{ String => 0.5..1.5 }], { "x" => 2 }, :range, "/x", nil],
    'code must match /\A\d{4}\z/, is "x"' => [Type[{ String => Type[String, pattern: /\A\d{4}\z/] }], { "code" => "x" }, :pattern, "/code", nil],
    'name must have 1 to 3 characters, is "abcd"' => [Type[{ String => Type[String, length: 1..3] }], { "name" => "abcd" }, :length, "/name", nil],
    "ids must have at most 2 elements, has 3" => [Type[{ String => Type[[Integer], length: ..2] }], { "ids" => [1, 2, 3] }, :length, "/ids", nil],
    "map must have 1 pair, has 2" => [Type[{ String => Type[{ String => Integer }, length: 1] }], { "map" => { "a" => 1, "b" => 2 } }, :length, "/map", nil],
    "ids must have unique elements" => [Type[{ String => Type[[Integer], unique: true] }], { "ids" => [1, 1] }, :unique, "/ids", nil],
    "x must be at least 2, is 1" => [Type[{ String => Type[Numeric, range: 2..] }], { "x" => 1 }, :range, "/x", nil],
    'at must be from 2030-01-01 00:00:00 UTC and below 2031-01-01 00:00:00 UTC, is "2029-01-01T00:00:00Z"' =>
      [Type[{ String => Type[Type.text(::Time), range: ::Time.utc(2030)...::Time.utc(2031)] }], { "at" => "2029-01-01T00:00:00Z" }, :range, "/at", nil],
    'id must be a UUID, is "x"' => [Record.new(Struct.new(:id), id: Type.uuid), { "id" => "x" }, :pattern, "/id", :id],
    "up must be null or an object, is 1" => [Record.new(Struct.new(:up), up: Type[nil, :self]), { "up" => 1 }, :type, "/up", :up],
    "[0] must be null or an array, is 1" => [Record.new(Up = Struct.new(:up), up: Type[nil, :Up]).array, [1], :type, "/0", :up],
    "up must be null or an integer or an array, is an object" => [Record.new(Struct.new(:up), up: Type[nil, Type.recursive { |up| Type[nil, Integer, [up]] }]), { "up" => {} }, :type, "/up", :up],
    "from must be before to" => [Type[Object].check("from must be before to") { false }, 1, :check, "", nil],
    "a: from must be before to" => [Type[{ String => Type[Object].check("from must be before to") { false } }], { "a" => 1 }, :check, "/a", nil],
    "a must be even" => [Type[{ String => Type[Integer].check("must be even") { |number| number.even? } }], { "a" => 1 }, :check, "/a", nil],
    'type must be "u" or "v", is "w"' => [Record.union("type", "u" => USER, "v" => Record.new(Struct.new(:a), a: 1..2)), { "type" => "w" }, :tag, "/type", nil],
    "type is missing" => [Record.union("type", "u" => USER), {}, :missing, "/type", nil],
    "the value must be an object, is 4" => [Record.union("type", "u" => USER), 4, :type, "", nil],
    '["a/~b"]["é\"\u0001"] must be an integer, is "x"' => [Type[{ String => { String => Integer } }], { "a/~b" => { "é\"\u0001" => "x" } }, :type, "/a~1~0b/é\"\u0001", nil]
  }.freeze

  SENTENCES.each_with_index do |(sentence, (type, object, code, pointer, member)), number|
    [false, true].each do |json|
      define_method("test_the_sentence_#{number}_in_#{json ? "json" : "bytes"}") do
        error = error_of(type, object, json: json)
        assert_equal [sentence, code, pointer, member], [error.sentence, error.code, error.pointer, error.member]
        assert_equal error.details.first[:message], code == :check && !sentence[/\Aa must/] ? "from must be before to" : sentence[/\b(must|is) .*\z/]
        assert_equal [code, error.path, pointer, error.expected, error.got, member], error.details.first.values.first(6)
      end
    end
  end

  def test_what_json_has_not_got
    assert_equal "the value must be an integer, is binary data", error_of(Type[Integer], "\xFF".b).sentence
    assert_equal "the value must be an integer, is something else", error_of(Type[Integer].with(allow_unknown_ext: true), ExtensionValue.new(5, "")).sentence
    long = error_of(Type[Integer], "é" * 100).sentence
    assert_equal "the value must be an integer, is #{("é" * 20).inspect}...", long
  end

  def test_all_errors_have_their_words_and_the_sentence_says_three
    error = error_of(USER, { "id" => "1", "name" => 1 })
    assert_equal %i[type type missing missing], error.details.map { |one| one[:code] }
    assert_equal %w[/id /name /tags /kind], error.errors.map(&:pointer)
    assert_match(/\A4 errors: id must be .*; name must be .*; tags is missing; \.\.\.\z/, error.sentence)
  end

  def test_a_pointer_is_whole_where_the_path_is_cut_and_nil_where_no_pointer_is
    tree = Struct.new(:next, :id)
    record = Record.new(tree, next: [:self], id: Integer)
    deep = 20.times.inject({ "next" => [], "id" => "x" }) { |inner, _| { "next" => [inner], "id" => 1 } }
    assert_equal "#{"/next/0" * 20}/id", error_of(record, deep).pointer
    assert_nil error_of(Type[{ String => Integer }], { "a" * 200 => "x" }).pointer
  end

  def test_an_error_of_the_class_is_shown_only_if_it_is_an_argument_error
    picky = Struct.new(:x) do
      def initialize(x)
        super
        raise ArgumentError, "x is odd" if x == 1
        raise KeyError, "secret" if x == 2
      end
    end
    record = Record.new(picky, x: Integer)
    odd, secret = [1, 2].map { |x| error_of(Type[[record]], [{ "x" => x }]) }
    assert_equal [:constructor, "[0] is not valid: x is odd"], [odd.code, odd.sentence]
    assert_equal [:constructor, "[0] is not valid"], [secret.code, secret.sentence]
    assert_equal KeyError, secret.cause.class
  end

  def test_the_words_survive_marshal_and_a_stream
    error = Marshal.load(Marshal.dump(error_of(USER, {})))
    assert_equal error_of(USER, {}).details, error.details
    error = assert_raises(RecordError) { Manypack.split(Manypack.pack(GOOD) + Manypack.pack(GOOD.merge("id" => 0)), as: USER) {} }
    assert_equal [:range, "id must be at least 1, is 0", "/id"], [error.code, error.sentence, error.pointer]
  end
end

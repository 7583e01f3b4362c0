# frozen_string_literal: true

# Members that a message does not have: ABSENT, and the options omit, load_only and dump_only.
require "test_helper"
require "json"

class RecordAbsentTest < Minitest::Test
  Record = Manypack::Record
  RecordError = Manypack::RecordError
  Type = Manypack::Type
  ABSENT = Manypack::ABSENT

  User = Struct.new(:id, :name, :email)
  USER = Record.new(User, id: Integer, name: String, email: Type[String, nil])
  PATCH = USER.with(defaults: { id: ABSENT, name: ABSENT, email: ABSENT })

  class Plain
    attr_reader :id, :name, :email

    def initialize(id:, name:, email:) = [@id = id, @name = name, @email = email]
  end

  def plain(record) = Record.new(Plain, **record.types).with(**record.send(:options).to_h)

  # --- ABSENT -------------------------------------------------------------------------------------------

  def test_an_absent_member_is_told_from_nil_and_left_out_again
    { {} => [ABSENT, ABSENT, ABSENT], { "email" => nil } => [ABSENT, ABSENT, nil], { "id" => 1, "name" => "a" } => [1, "a", ABSENT] }.each do |hash, values|
      [PATCH, plain(PATCH), PATCH.with(omit: :nil), PATCH.with(omit: :defaults)].each do |record|
        object = record.load(pack(hash))
        assert_equal values, %i[id name email].map { |name| object.public_send(name) }
        assert_equal [hash, hash, hash], [unpack(record.dump(object)), JSON.parse(record.dump_json(object)), unpack(record.dump(object, check: true))]
        assert_equal [hash] * 2, unpack(Type[[record]].dump([object] * 2))
        assert_equal values.last(1), [record.lazy.load(record.dump(object)).email]
        assert_equal({ "type" => "a", **hash }, unpack(Record.union("type", "a" => record).dump(object)))
      end
    end
  end

  def test_absent_anywhere_else_is_an_error_with_the_path
    user = User.new(1, ABSENT, nil)
    { -> { USER.dump(user) } => "$.name", -> { PATCH.with(defaults: { name: "x" }).dump(user) } => "$.name",
      -> { Type[[USER]].dump([user]) } => "$[0].name", -> { pack([1, { "a" => ABSENT }]) } => "$[1].a",
      -> { PATCH.dump(User.new(1, "a", [ABSENT])) } => "$.email[0]", -> { PATCH.array.dump(User.new(ABSENT, "a", nil)) } => "$[0]" }.each do |call, path|
      error = assert_raises(Manypack::EncodeError::TypeError) { call.call }
      assert_match(/\AManypack::ABSENT is no value.*, at #{Regexp.escape(path)}\z/, error.message)
    end
    assert_raises(Manypack::EncodeError::TypeError) { JSON.generate([ABSENT]) }
    assert_raises(ArgumentError) { Type[String, ABSENT] }
  end

  def test_absent_is_one_object
    assert_equal "[Manypack::ABSENT]", [ABSENT].inspect
    copies = [ABSENT.dup, ABSENT.clone, Marshal.load(Marshal.dump([ABSENT]))[0], Ractor.make_shareable(ABSENT, copy: true)]
    assert(copies.all? { |copy| ABSENT.equal?(copy) })
    assert Ractor.shareable?(PATCH)
    assert_raises(NoMethodError) { ABSENT.class.new }
  end

  def test_an_array_is_shorter_if_its_last_members_are_left_out
    array = PATCH.array
    [[], [1], [1, "a"], [1, "a", nil]].each { |elements| assert_equal elements, unpack(array.dump(array.load(pack(elements)))) }
    assert_equal [1, "a"], unpack(USER.with(omit: :nil).array.dump(User.new(1, "a", nil)))
    assert_equal [0, "a"], unpack(USER.with(omit: :defaults, defaults: { id: 0, email: nil }).array.dump(User.new(0, "a", nil)))
  end

  # --- omit ---------------------------------------------------------------------------------------------

  def test_nil_is_left_out_where_loading_gives_it_back
    record = USER.with(omit: :nil)
    [record, plain(USER).with(omit: :nil)].each do |one|
      object = one.load(pack({ "id" => 1, "name" => "a" }))
      assert_nil object.email
      assert_equal({ "id" => 1, "name" => "a" }, unpack(one.dump(object)))
    end
    assert_equal [true, false], [record.optional?(:email), record.optional?(:name)]
    assert_equal %w[id name], record.json_schema["$defs"].values[0]["required"]
    assert_raises(RecordError) { record.dump(User.new(1, nil, nil)) } # its type has no nil
    other = USER.with(omit: :nil, defaults: { email: "none" })
    assert_equal({ "id" => 1, "name" => "a", "email" => nil }, unpack(other.dump(User.new(1, "a", nil))))
    own = Class.new { attr_reader :email; def initialize(email: "none") = @email = email }
    assert_equal({ "email" => nil }, unpack(Record.new(own, email: Type[String, nil]).with(omit: :nil).dump(own.new(email: nil))))
  end

  def test_defaults_are_left_out_and_what_only_equals_them_is_not
    tags, calls = [], 0
    klass = Struct.new(:a, :b, :c, :d)
    record = Record.new(klass, a: Object, b: [String], c: Object, d: Object)
                   .with(omit: :defaults, defaults: { a: 1, b: tags, c: { "x" => [1] }, d: -> { calls += 1 } })
    assert_equal({ "d" => 5 }, unpack(record.dump(klass.new(1, [], { "x" => [1] }, 5))))
    assert_equal({ "a" => 1.0, "b" => ["x"], "c" => { "x" => [1.0] }, "d" => 1 }, unpack(record.dump(klass.new(1.0, ["x"], { "x" => [1.0] }, 1))))
    loaded = record.load(record.dump(klass.new(1, [], { "x" => [1] }, 5)))
    loaded.b << "y"
    assert_equal [[], ["y"]], [record.load(pack({})).b, unpack(record.dump(loaded))["b"]]
  end

  # --- load_only and dump_only -----------------------------------------------------------------------------

  ONE_WAY = USER.with(load_only: [:name], dump_only: ["id"])

  def test_load_only_is_read_and_never_written
    [ONE_WAY, plain(USER).with(load_only: [:name], dump_only: [:id])].map { |one| one.with(defaults: { id: 0 }) }.each do |record|
      object = record.load(pack({ "name" => "secret", "email" => nil }))
      assert_equal "secret", object.name
      assert_equal %w[id email], unpack(record.dump(object)).keys
      refute_includes record.dump_json(object) + Type[[record]].dump([object]) + Record.union("t", "a" => record).dump(object), "secret"
    end
    assert_raises(RecordError) { ONE_WAY.load(pack({ "email" => nil })) }
  end

  def test_dump_only_is_written_and_never_read
    message = { "id" => "of another type", "name" => "a", "email" => nil }
    assert_nil ONE_WAY.load(pack(message)).id
    assert_equal 0, ONE_WAY.with(defaults: { id: 0 }).load(pack(message)).id
    assert_match(/unknown key "id"/, assert_raises(RecordError) { ONE_WAY.with(unknown: :raise).load(pack(message)) }.message)
    assert_equal 5, unpack(ONE_WAY.dump(User.new(5, "a", nil)))["id"]
    rest = Record.new(Struct.new(:id, :rest), id: Integer, rest: Hash).with(unknown: { into: :rest }, dump_only: [:id])
    assert_equal [nil, { "q" => 1 }], rest.load(pack({ "id" => 1, "q" => 1 })).to_a
    assert_raises(ArgumentError) { rest.dump(rest.klass.new(1, { "id" => 2 })) }
  end

  def test_no_door_reads_dump_only_in_any_order_of_keys
    klass = Struct.new(:name, :id, :rest)
    record = Record.new(klass, name: String, id: Integer, rest: Hash).with(dump_only: [:id], defaults: { rest: nil })
    types = [record.with(unknown: { into: :rest }), Record.new(Struct.new(:name, :id), name: String, id: Integer).with(dump_only: [:id])]
    types.product([{ "name" => "a", "id" => 5 }, { "id" => 5, "name" => "a" }, { "name" => "a", "id" => "x" }]).each do |type, hash|
      [hash, hash.transform_keys(&:to_sym)].each do |one|
        assert_equal [["a", nil]], [type.load(pack(one)), type.from(one), type.from(one, lax: true)].map { |made| made.to_a.first(2) }.uniq
        assert_empty type.from(one).to_a.drop(2).compact.map(&:to_a).flatten
      end
    end
  end

  def test_false_is_no_key_of_a_member_whose_key_is_an_integer
    assert_nil Record.new(Struct.new(:name), name: String).with(keys: { name: 1 }, defaults: { name: nil }).from({ false => "a" }).name
  end

  def test_a_check_of_what_is_dumped_knows_both
    record = ONE_WAY.with(unknown: :raise, check: true)
    assert_equal({ "id" => 1, "email" => nil }, unpack(record.dump(User.new(1, "a", nil))))
    assert_equal "$.id", assert_raises(RecordError) { record.dump(User.new("1", "a", nil)) }.path.to_s
    own = Class.new(User) { def initialize(id, name, email) = name.empty? ? raise(ArgumentError) : super }
    assert_equal({ "id" => 1, "email" => nil }, unpack(record.inherited_by(own).dump(own.new(1, "a", nil))))
  end

  def test_keys_of_members_that_are_never_read_are_keys_of_members
    tagged = Record.new(Struct.new(:kind, :x), kind: String, x: Integer).with(dump_only: [:kind], keys: { kind: "type" })
    union = Record.union("type", "a" => tagged)
    assert_equal "\x82\xA4type\xA1a\xA1x\x01".b, union.dump(union.load(union.dump(tagged.klass.new("z", 1))))
    assert_raises(ArgumentError) { tagged.with(keys: { x: "type" }) }
  end

  def test_the_schema_says_which_way
    schema = ONE_WAY.json_schema["$defs"].values[0]
    assert_equal [true, true], [schema["properties"]["id"]["readOnly"], schema["properties"]["name"]["writeOnly"]]
    assert_equal %w[name email], schema["required"]
  end

  Pair = Struct.new(:user, :name)

  def test_no_rule_and_no_constructor_gets_an_object_that_lacks_what_is_load_only
    user = USER.check("id must be even") { |object| object.id.even? }.with(load_only: [:name], check: true)
    pair = Record.new(Pair, user: user.check("a") { |object| object.id }, name: String).check("b") { |object| object.user.id }.with(check: true)
    assert_equal [2, "x"], unpack(pair.dump(Pair.new(User.new(2, "n"), "x"))).then { |map| [map["user"]["id"], map["name"]] }
    assert_raises(Manypack::Error) { pair.dump(Pair.new(User.new(2, "n"), 1)) }
  end

  Numbered = Struct.new(:id, :name, :rest)

  def test_from_reads_the_keys_that_load_reads
    plain = Record.new(Numbered, id: Integer, name: String, rest: Hash)
    skips = plain.with(dump_only: [:id], defaults: { id: 7, rest: {} })
    keeps = skips.with(unknown: { into: :rest })
    [{ "id" => 1, "name" => "a", "z" => 2 }, { "name" => "a", "z" => 2, "id" => 1 }].each do |hash|
      [hash, hash.transform_keys(&:to_sym)].product([skips, keeps]) do |given, record|
        assert_equal record.load(pack(given)), record.from(given)
      end
      assert_equal :unknown, assert_raises(RecordError) { skips.with(unknown: :raise).from(hash) }.code
    end
    assert_equal({ false => 1, "z" => 2 }, keeps.from({ false => 1, "name" => "a", "z" => 2 }).rest)
    assert_raises(RecordError) { plain.with(keys: { id: 1 }).from({ false => 1, "name" => "a", "rest" => {} }) }
  end

  def test_omit_nil_knows_that_a_type_with_rules_may_be_nil
    record = USER.with(omit: :nil)
    ruled = Record.new(User, id: Integer, name: String, email: Type[String, nil].check("a") { |mail| mail != "a" }).with(omit: :nil)
    [record, ruled].each do |one|
      assert_equal %w[id name], unpack(one.dump(User.new(1, "n", nil))).keys
      assert_nil one.load(pack({ "id" => 1, "name" => "n" })).email
    end
  end

  def test_a_wrong_definition_is_refused
    { { omit: true } => /omit must be :nil or :defaults, got true/, { load_only: [:nmae] } => /no member nmae, did you mean name\?/,
      { load_only: [:id], dump_only: ["id"] } => /id cannot be both load_only and dump_only/ }.each do |options, message|
      assert_match(message, assert_raises(ArgumentError) { USER.with(**options) }.message)
    end
    assert_raises(::TypeError) { USER.with(load_only: :id) }
    [-> { ONE_WAY.array }, -> { ONE_WAY.lazy }, -> { USER.lazy.with(dump_only: [:id]) }, -> { USER.array.with(load_only: [:id]) }].each do |call|
      assert_match(/need a map that is read and written/, assert_raises(ArgumentError) { call.call }.message)
    end
  end

  def test_inspect_and_equality_know_the_options
    assert_equal ONE_WAY, USER.with(load_only: [:name], dump_only: [:id])
    refute_equal ONE_WAY, USER.with(load_only: [:name])
    assert_includes ONE_WAY.inspect, "with load_only: [:name], dump_only: [:id]>"
  end

  class Note < Struct.new(:text, :by); end
  Record.new(Note, text: String, by: Type[String, nil]).with(omit: :nil).attach

  def test_attached_objects_leave_out_what_their_record_does
    notes = [Note.new("a", nil), Note.new("b", "c")]
    assert_equal [{ "text" => "a" }, { "text" => "b", "by" => "c" }], unpack(Manypack.pack(notes))
    assert_equal ['{"text":"a"}', notes[0]], [notes[0].to_json, Note.load(notes[0].dump)]
  end
end

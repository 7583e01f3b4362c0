# frozen_string_literal: true

# Classes that are neither a Struct nor a Data: new makes the objects, and public methods read their members.
require "test_helper"
require "json"

class RecordOrdinaryTest < Minitest::Test
  Record = Manypack::Record
  RecordError = Manypack::RecordError
  Type = Manypack::Type

  # The same class with constructors of all kinds. Each refuses an empty name.
  class User
    attr_reader :id, :name

    def ==(other) = other.instance_of?(self.class) && [id, name] == [other.id, other.name]

    def self.with(body)
      Class.new(self) { class_eval(body) }
    end

    private

    def set(id, name)
      raise ArgumentError, "no name" if name.to_s.empty?

      @id = id
      @name = name
    end
  end

  CONSTRUCTORS = {
    keywords: ["def initialize(id:, name: 'Ada') = set(id, name)", "def initialize(id:, **rest) = set(id, rest.fetch(:name, 'Ada'))",
               "def initialize(hash = {}) = set(hash[:id], hash.fetch(:name, 'Ada'))", "def initialize(*args) = set(*args[0].values_at(:id, :name))",
               "def self.new(...) = super\ndef initialize(id:, name:, more: 1) = set(id, name)"],
    new: ["def initialize(id, name = 'Ada') = set(id, name)", "def initialize(name, id) = set(id, name)",
          "def self.new(id, name) = allocate.tap { |user| user.send(:set, id, name) }"]
  }.freeze

  CONSTRUCTORS.each do |build, bodies|
    bodies.each do |body|
      define_method("test_load_calls_#{body}") { assert_every_door(User.with(body), build) }
    end
  end

  def assert_every_door(klass, build)
    record = Record.new(klass, id: Integer, name: String)
    user = record.load(pack({ "id" => 1, "name" => "Ada" }))
    assert_equal [build, 1, "Ada"], [record.build, user.id, user.name]
    [record, record.array, Type[record, nil], Type[[record]], Type[{ String => record }]].each do |type|
      object = { "[" => [user], "{" => { "a" => user } }.fetch(type.inspect[/\A#<Manypack::Type (.)/, 1], user)
      assert_equal object, type.load(type.dump(object))
      assert_equal object, type.load_json(type.dump_json(object))
    end
    assert_equal [user, "Ada"], record.lazy.load(record.dump(user)).then { |lazy| [lazy.load, lazy.name] }
  end

  def test_what_the_class_refuses_is_a_record_error_with_the_path
    CONSTRUCTORS.values.flatten.each do |body|
      type = Type[[Record.new(User.with(body), id: Integer, name: String)]]
      error = assert_raises(RecordError, body) { type.load(pack([{ "id" => 1, "name" => "Ada" }, { "id" => 1, "name" => "" }])) }
      assert_equal ["$[1]", ArgumentError, false], [error.path.to_s, error.cause.class, type.valid?(pack([{ "id" => 1, "name" => "" }]))]
    end
  end

  def test_a_member_may_be_missing_if_its_parameter_has_a_default
    [CONSTRUCTORS[:keywords][0], CONSTRUCTORS[:new][0]].each do |body|
      record = Record.new(User.with(body), id: Integer, name: String)
      assert_equal ["Ada", "Eve"], [{}, { "name" => "Eve" }].map { |more| record.load(pack({ "id" => 1, **more })).name }
      assert_equal [true, ["id"]], [record.optional?(:name), record.json_schema["$defs"].values[0]["required"]]
      assert_raises(RecordError) { record.load(pack({ "name" => "Eve" })) }
    end
  end

  # Some can stand in Ruby's code before a colon, where others would be code themselves.
  def test_keywords_may_have_any_name
    klass = Class.new do
      attr_reader :all

      define_method(:initialize) { |**all| @all = all }
    end
    names = [%i[if self value0 _1 Upper __FILE__], [:é], [:"a b"], [:"a: exit, b"], [:"a\nexit"], [:a?], [:[]=]]
    [*names, names.flatten].each do |some|
      members = some.to_h { |name| [name, Integer] }
      assert_equal members.transform_values { 1 }, Record.new(klass, members).load(pack(members.transform_values { 1 })).all
    end
  end

  # Records of one class with other members: what is remembered of its constructor is that of the Record.
  def test_records_of_one_class_may_have_other_members
    klass = User.with("def initialize(id: 0, name: 'Ada') = set(id, name)")
    records = [Record.new(klass, id: Integer), Record.new(klass, name: String), Record.new(klass, id: Integer, name: String)]
    2.times do
      assert_equal([[0, "Ada"]] * 3, records.map { |record| record.load(pack({})).then { |user| [user.id, user.name] } })
      assert_equal [[5, "Ada"], [0, "Eve"], [5, "Eve"]], records.map { |one| one.load(pack({ "id" => 5, "name" => "Eve" })).then { |user| [user.id, user.name] } }
    end
  end

  def test_a_constructor_defined_later_decides
    klass = User.with("def initialize(id:) = set(id, 'Ada')")
    record = Record.new(klass, id: Integer)
    assert_equal 1, record.load(pack({ "id" => 1 })).id
    klass.prepend(Module.new { def initialize(id, name = "Eve") = set(id, name) })
    assert_equal [1, "Eve", :new], record.load(pack({ "id" => 1 })).then { |user| [user.id, user.name, record.build] }
    klass.prepend(Module.new { def initialize = nil })
    assert_match(/does not take/, assert_raises(ArgumentError) { record.load(pack({ "id" => 1 })) }.message)
  end

  def test_classes_written_in_c_take_members_by_position
    record = Record.new(Range, begin: Integer, end: Integer)
    assert_equal [1..5, :new], [record.load(record.dump(1..5)), record.build]
  end

  UNSUITABLE = {
    "" => /has no initialize that takes members: Record.ivars/,
    "def initialize = nil" => /initialize does not take the member id: it is called with all members, as keywords/,
    "def initialize(id) = nil" => /does not take 2 positional arguments/,
    "def initialize(id, text) = nil" => /takes text in the place of the member name/,
    "def initialize(id, name:) = nil" => /needs the keyword name: it is called with all members, by position/,
    "def initialize(id:) = nil" => /does not take the member name/,
    "def initialize(id:, name:, age:) = nil" => /needs the keyword age, which is no member/,
    "private_class_method :new" => /has no public method new/,
    "singleton_class.undef_method :new" => /has no public method new/,
    "def initialize(id:, name:) = nil\ndef name(short) = short" => /name needs an argument: dump reads the member by calling it without any/
  }.freeze

  def test_an_unsuitable_class_is_refused_when_its_record_is_made
    UNSUITABLE.each do |body, message|
      assert_match(message, assert_raises(ArgumentError, body) { Record.new(User.with(body), id: Integer, name: String) }.message)
    end
    klass = Class.new { def initialize(amount) = @amount = amount }
    assert_match(/takes amount, which should have the name of the member cents/, assert_raises(ArgumentError) { Record.new(klass, cents: Integer) }.message)
    assert_match(/has no method hash of its own/, assert_raises(ArgumentError) { Record.new(Class.new { def initialize(hash:) = nil }, hash: String) }.message)
    [String, Class.new(Hash), Array].each { |core| assert_match(/is packed as any/, assert_raises(ArgumentError) { Record.new(core, size: Integer) }.message) }
  end

  # --- dump ----------------------------------------------------------------------------------------------

  def test_dump_reads_public_methods_and_says_which_is_missing
    klass = Class.new(User) { def initialize(**values) = values.each { |name, value| instance_variable_set("@#{name}", value) } }
    record = Record.new(klass, id: Integer, password: String)
    user = record.load(pack({ "id" => 1, "password" => "x" }))
    klass.class_eval { private attr_reader :password }
    [record, Type[[record]], record.array].zip(["$.password", "$[0].password", "$[1]"]).each do |type, path|
      object = type.is_a?(Record) ? user : [user]
      error = assert_raises(Manypack::EncodeError::TypeError) { type.dump(object) }
      assert_match(/ has no public method password, by which dump reads the member, at #{Regexp.escape(path)}\z/, error.message)
    end
    klass.class_eval { public :password }
    assert_equal({ "id" => 1, "password" => "x" }, unpack(record.dump(user)))
  end

  def test_dump_calls_each_reader_once_and_passes_on_what_it_raises
    klass = Class.new { attr_reader :calls; def initialize(id:) = @calls = id; def id = @calls += 1 }
    object = klass.new(id: 0)
    Record.new(klass, id: Integer).then { |record| record.dump(object) + record.array.dump(object) }
    assert_equal 2, object.calls
    object.define_singleton_method(:id) { raise IOError, "gone" }
    assert_equal "gone", assert_raises(IOError) { Record.new(klass, id: Integer).dump(object) }.message
  end

  def test_a_reader_may_pack_and_fail_and_leave_by_throw
    klass = Class.new { def initialize(id:) = @id = id; def id = @id.call }
    record = Record.new(klass, id: Object)
    assert_equal "\x81\xA2id\xC4\x01\x05".b, record.dump(klass.new(id: -> { Manypack.pack(5) }))
    assert_equal :left, catch(:out) { record.dump(klass.new(id: -> { throw :out, :left })) }
    error = assert_raises(Manypack::EncodeError) { Type[[record]].dump([klass.new(id: -> { Manypack.pack([Object.new]) })]) }
    assert_equal "$[0].id[0]", error.path.to_s
    assert_equal "\x81\xA2id\x01".b, record.dump(klass.new(id: -> { 1 }))
  end

  def test_a_class_that_answers_by_method_missing_is_read
    klass = Class.new do
      def initialize(values = {}) = @values = values
      def respond_to_missing?(name, _all) = @values.key?(name)
      def method_missing(name) = @values.fetch(name)
    end
    record = Record.new(klass, id: Integer, name: String)
    assert_equal({ "id" => 1, "name" => "Ada" }, unpack(record.dump(record.load(pack({ "id" => 1, "name" => "Ada" })))))
  end

  # --- the rest -------------------------------------------------------------------------------------------

  class Account
    attr_reader :owner

    def initialize(owner:) = @owner = owner
    def ==(other) = other.is_a?(Account) && owner == other.owner
  end
  Record.new(Account, owner: String).attach
  class Savings < Account; end

  def test_attach_and_subclasses
    account, savings = Account.new(owner: "Ada"), Savings.new(owner: "Eve")
    assert_equal account, Account.load(Manypack.pack(account))
    assert_equal [{ "owner" => "Ada" }, { "owner" => "Eve" }], unpack(Manypack.pack([account, savings]))
    assert_instance_of Savings, Savings.load(savings.dump)
    assert_equal account, Type[[Account]].load(pack([account]))[0]
    assert_equal '{"owner":"Ada"}', account.to_json
    assert_equal "attr_reader owner: String", Account.record.to_rbs.lines[1].strip
    assert Ractor.shareable?(Account.record)
    assert_raises(RecordError) { Account.record.with(check: true).dump(Account.new(owner: 1)) }
  end

  # --- ivars ------------------------------------------------------------------------------------------------

  def test_ivars_refuses_a_class_whose_readers_need_initialize
    readers = ["@values[:id]", "@values.fetch(:id)", "@values.id", "set.first"]
    readers.each do |body|
      klass = Class.new { class_eval("def initialize(id:) = @values = { id: id }\ndef set = @values.values\ndef id = #{body}", __FILE__, __LINE__) }
      error = assert_raises(ArgumentError, body) { Record.ivars(klass, id: Integer) }
      assert_match(/Record.ivars does not call the initialize of .*, without which id raises undefined method/, error.message)
      assert_equal({ id: 5 }, Record.new(klass, id: Integer).load(pack({ "id" => 5 })).instance_variable_get(:@values))
    end
  end

  def test_ivars_takes_readers_that_change_their_value
    klass = Class.new { def id = @id.upcase; def at = @at.year; def tags = @tags.first.to_s.upcase; def none = @other.size }
    record = Record.ivars(klass, id: Type[nil, String], at: Object, tags: [String], size: 1..5)
    assert_equal "A", record.load(pack({ "id" => "a", "at" => 1, "tags" => [], "size" => 1 })).id
  end
end

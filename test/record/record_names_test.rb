# frozen_string_literal: true

# Names of members and keys: styles, aliases, options in the definition, Records that extend another one, and which
# methods a class with a Record has.
require "test_helper"
require "json"
require "tempfile"
require "record/records"

class RecordNamesTest < Minitest::Test
  include Records

  Page = Struct.new(:first_name, :html_url, :id2, :_private, :a__b, :ok?)
  PAGE = Record.new(Page, **Page.members.to_h { |member| [member, Object] })
  STYLES = {
    camel: %w[firstName htmlUrl id2 _private aB ok], pascal: %w[FirstName HtmlUrl Id2 _Private AB Ok],
    kebab: %w[first-name html-url id2 _private a-b ok], screaming: %w[FIRST_NAME HTML_URL ID2 _PRIVATE A_B OK]
  }.freeze
  USER = Record.define(id: Integer, full_name: String, friends: [:self],
                       with: { keys: :camel, aliases: { full_name: ["name", :nick, 5] }, defaults: { friends: [] }, unknown: :raise })
  ADMIN = Record.define(USER, role_name: String)
  Branch = Struct.new(:name, :children)

  # --- keys ---------------------------------------------------------------------------------------------------

  def test_a_style_makes_the_keys_of_all_members
    page = Page.new(*1..6)
    STYLES.each do |style, keys|
      record = PAGE.with(keys: style)
      message = keys.zip(1..6).to_h
      assert_equal [message, page], [unpack(record.dump(page)), record.load(pack(message))], style
      assert_equal [JSON.generate(message), page], [record.dump_json(page), record.load_json(JSON.generate(message))]
      assert_equal [page, message.keys], [record.lazy.load(pack(message)).load, record.json_schema.dig("$defs", "RecordNamesTest.Page", "required")]
      assert_equal pack([*1..6]), record.array.dump(page)
      assert_includes record.inspect, "keys: #{style.inspect}"
    end
  end

  def test_names_that_are_all_underscores_or_have_capitals_or_other_letters
    names = { _: "_", __: "__", URL: "URL", userID: "userID", trailing_: "trailing", größe_ähnlich: "größeÄhnlich", line_2: "line2" }
    record = Record.new(Struct.new(*names.keys), **names.transform_values { Object }, with: { keys: :camel })
    assert_equal names, record.keys.transform_values(&:first)
  end

  def test_keys_of_a_hash_win_over_a_style_whenever_they_are_given
    both = [PAGE.with(keys: [:camel, { html_url: %w[htmlURL url], id2: 7 }]), PAGE.with(keys: :camel).with(keys: { html_url: %w[htmlURL url], id2: 7 }),
            PAGE.with(keys: { html_url: %w[htmlURL url], id2: 7 }).with(keys: :camel), PAGE.with(keys: :kebab).with(keys: [:camel, { html_url: %w[htmlURL url], id2: 7 }])]
    assert_equal [both[0]], both.uniq
    assert_equal [%w[htmlURL url], [7], ["firstName"]], both[0].keys.values_at(:html_url, :id2, :first_name)
    assert_equal STYLES[:pascal], PAGE.with(keys: :kebab).with(keys: :pascal).keys.values.flatten
  end

  def test_a_proc_makes_a_key_of_each_member
    prefix = +"x-"
    [->(member) { prefix + member.name }, ->(member) { :"x-#{member}" }].each do |style|
      record = PAGE.with(keys: style)
      assert_equal %w[x-first_name x-ok?], record.keys.values_at(:first_name, :ok?).flatten
      assert Ractor.shareable?(record)
    end
    assert_equal Page.members.each_index.map { |i| [i] }, PAGE.with(keys: Page.members.method(:index)).keys.values
    assert_match(/keys of first_name must be/, assert_raises(ArgumentError) { PAGE.with(keys: ->(_) { 1.5 }) }.message)
    assert_raises(KeyError) { PAGE.with(keys: ->(member) { {}.fetch(member) }) }
  end

  def test_aliases_are_read_and_never_written
    user = USER.load(pack({ "id" => 1, "fullName" => "Ada" }))
    ["name", "nick", 5].each do |key|
      assert_equal user, USER.load(pack({ "id" => 1, key => "Ada" }))
      assert_equal "Ada", USER.lazy.load(pack({ "id" => 1, key => "Ada" })).full_name
    end
    assert_equal %w[id fullName friends], unpack(user.dump).keys
    record = USER.record.with(aliases: { id: "_id" }).with(keys: { id: %w[ID Id] }, aliases: { full_name: "name" })
    assert_equal [%w[ID Id _id], %w[fullName name]], record.keys.values_at(:id, :full_name)
    assert_equal({ "deprecated" => true, "type" => "integer" }, record.json_schema["$defs"].values[0]["properties"]["_id"])
  end

  def test_two_names_of_one_field_are_refused_with_the_members
    { { keys: { id2: "html_url" } } => /html_url and id2 have the same key "html_url"/, { aliases: { id2: %w[ok? id] } } => /id2 and ok\? have the same key "ok\?"/,
      { aliases: { id2: "id2" } } => /id2 has the key "id2" twice/, { keys: :camel, aliases: { _private: "aB" } } => /_private and a__b have the same key "aB"/,
      { keys: ->(_) { "x" } } => /first_name and html_url have the same key "x"/, { aliases: { nope: "x" } } => /no member nope/ }.each do |options, message|
      assert_match(message, assert_raises(ArgumentError) { PAGE.with(**options) }.message)
      assert_match(message, assert_raises(ArgumentError) { Record.new(Page, **PAGE.types, with: options) }.message)
    end
    assert_match(/ok and ok\? have the same key "ok"/, assert_raises(ArgumentError) { Record.define(ok: 1.., ok?: 1.., with: { keys: :camel }) }.message)
    assert_match(/did you mean :camel/, assert_raises(TypeError) { PAGE.with(keys: :camle) }.message)
  end

  def test_the_member_of_unknown_pairs_has_no_key
    record = Record.define(first_name: String, the_rest: Object, firstName: Integer, with: { keys: [:camel, { firstName: "n" }], unknown: { into: :the_rest } })
    message = { "firstName" => "a", "n" => 1, "theRest" => 2 }
    assert_equal({ "theRest" => 2 }, record.load(pack(message)).the_rest)
    assert_equal message, unpack(record.load(pack(message)).dump)
  end

  def test_a_style_reaches_subclasses_and_unions
    klass = Class.new(USER)
    assert_equal USER.record.keys, klass.record.keys
    event = Record.new(Struct.new(:event_type, :at_time), event_type: String, at_time: Integer, with: { keys: :camel })
    union = Record.union("eventType", "a" => event)
    assert_equal({ "eventType" => "a", "atTime" => 1 }, unpack(union.dump(event.klass.new("ignored", 1))))
  end

  # --- options in the definition --------------------------------------------------------------------------------

  def test_options_may_be_given_where_a_record_is_defined
    klass = Struct.new(:a_b)
    records = [Record.new(klass, a_b: Integer, with: { keys: :camel, check: true, untrusted: true }), Record.new(klass, { "a_b" => Integer, with: { keys: :camel, check: true, untrusted: true } }),
               Record.new(klass, a_b: Integer).with(keys: :camel, check: true, untrusted: true)]
    assert_equal [records[0]], records.uniq
    assert_equal({ "aB" => 1 }, unpack(Record.ivars(Class.new, a_b: Integer, with: { keys: :camel }).then { |record| record.dump(record.load("\x81\xA2aB\x01".b)) }))
    assert_equal Record.new(klass, a_b: Integer), Record.new(klass, a_b: Integer, with: {})
    error = assert_raises(ArgumentError) { Record.new(klass, a_b: Integer, with: { key: :camel }) }
    assert_match(/unknown option key, did you mean keys/, error.message)
    assert_equal __FILE__, error.backtrace[0][/\A[^:]+/]
  end

  def test_a_member_may_be_named_with
    [Integer, [String], { String => Integer }, :self].each do |type|
      assert_equal [:with], Record.new(Struct.new(:with), with: type).members
    end
    assert_equal [:a], Record.new(Struct.new(:a), a: 1.., with: { defaults: { a: 1 } }).members
  end

  # --- extending ------------------------------------------------------------------------------------------------

  def test_a_record_extends_another
    assert_equal [[*USER.members, :role_name], [["roleName"], %w[fullName name nick] + [5]]], [ADMIN.members, ADMIN.record.keys.values_at(:role_name, :full_name)]
    message = { "id" => 1, "name" => "Ada", "friends" => [{ "id" => 2, "fullName" => "Bob" }], "roleName" => "root" }
    admin = ADMIN.load(pack(message))
    assert_equal [ADMIN, USER, "root", []], [admin.class, admin.friends[0].class, admin.role_name, admin.friends[0].friends]
    assert_equal admin, ADMIN.load_json(JSON.generate(message))
    assert_equal admin, ADMIN.load(admin.dump)
    assert_raises(RecordError) { ADMIN.load(pack({ **message, "other" => 1 })) }
    assert_equal %w[id fullName friends roleName], unpack(pack(admin)).keys
  end

  def test_any_class_can_be_of_an_extended_record
    place = Struct.new(:name, :y, :x)
    record = Record.new(place, POINT.with(check: true, max_depth: 9).array, name: String)
    assert_equal [place.new("a", 2.0, 1.0), :array, true, { max_depth: 9 }], [record.load(pack([1, 2, "a"])), record.form, record.check?, record.codec.options]
    assert_equal [:ivars, 1.0], Record.ivars(Class.new, POINT, z: Float).then { |one| [one.build, one.load(pack({ "x" => 1, "y" => 2, "z" => 3 })).instance_variable_get(:@x)] }
    assert_equal POINT.types, Record.define(POINT).record.types
  end

  def test_a_member_that_is_given_again_has_its_new_type
    assert_match(/keys of full_name/, assert_raises(ArgumentError) { Record.define(USER, with: { aliases: { full_name: [] } }) }.message)
    record = Record.define(USER, full_name: %w[Ada Bob], with: { aliases: { full_name: "n" } }).record
    assert_equal [USER.members, [:enum, %w[Ada Bob]], %w[fullName n]], [record.members, record.types[:full_name].spec, record.keys[:full_name]]
    assert_match(/the default of friends is of another type/, assert_raises(ArgumentError) { Record.define(USER, friends: Integer) }.message)
    assert_equal({ friends: 1 }, Record.define(USER, friends: Integer, with: { defaults: { friends: 1 } }).record.defaults)
  end

  def test_names_in_the_types_of_an_extended_record_mean_it
    base = Record.new(Branch, name: String, children: Type[[:Branch], { String => :self }, nil])
    leaf = Record.new(Struct.new(:name, :children, :size), base, size: Integer)
    loaded = leaf.load(pack({ "name" => "a", "size" => 1, "children" => [{ "name" => "b", "children" => { "x" => { "name" => "c", "children" => nil } } }] }))
    assert_equal [leaf.klass, Branch, Branch], [loaded.class, loaded.children[0].class, loaded.children[0].children["x"].class]
    assert_kind_of Hash, leaf.json_schema
  end

  def test_what_cannot_be_extended_is_refused
    { String => /String has no Record that could be extended/, Type[String] => /is no Record that could be extended/, 5 => /expected a Hash of members/ }.each do |other, message|
      [-> { Record.define(other, x: Integer) }, -> { Record.new(Struct.new(:x), other, x: Integer) }].each do |call|
        assert_match(message, assert_raises(TypeError, &call).message)
      end
    end
    suffix = 5
    base = Record.define(a: Integer, with: { keys: ->(member) { "#{member}#{suffix}" } })
    assert_match(/give keys: for b, too/, assert_raises(ArgumentError) { Record.define(base, b: Integer) }.message)
    assert_equal [["a5"], ["b"]], Record.define(base, b: Integer, with: { keys: { b: "b" } }).record.keys.values
  end

  # --- methods of the class -------------------------------------------------------------------------------------

  def test_a_class_has_what_makes_checks_and_describes_objects
    bytes = pack({ "id" => 1, "fullName" => "Ada" })
    assert_equal [true, false], [USER.valid?(bytes), USER.valid?("\x80".b)]
    assert_equal [USER.record.lazy, USER.record.array, USER.record.json_schema], [USER.lazy, USER.array, USER.json_schema]
    Tempfile.create("users") do |file|
      file.binmode.write(bytes * 2)
      file.flush
      assert_equal [USER.load(bytes)] * 2, USER.foreach(file.path).to_a
    end
    assert_raises(ArgumentError) { USER.valid?(bytes, zork: 1) }
    assert_raises(ArgumentError) { USER.foreach("x", as: USER) }
  end

  def test_a_wrong_guess_names_the_record_or_the_class
    %i[with or view types to_rbs keys check?].each do |name|
      assert_match(/method of its Record: .*\.record\.#{Regexp.escape(name.name)}\z/, assert_raises(NoMethodError) { USER.public_send(name) }.message)
    end
    assert_match(/method of the class: .*\.new\z/, assert_raises(NoMethodError) { POINT.new(1, 2) }.message)
    refute_respond_to USER, :with
    refute_match(/record/, assert_raises(NoMethodError) { USER.zork }.message.sub("Record.define", ""))
  end

  def test_a_class_keeps_its_own_methods_and_those_of_its_superclass
    parent = Class.new(Struct.new(:x)) do
      def self.array = "its own"
      def self.method_missing(name, *) = name == :with ? "missing" : super
      def self.respond_to_missing?(name, *) = name == :with || super
    end
    [parent, Class.new(parent)].each do |klass|
      Record.new(klass, x: Integer).attach
      assert_equal ["its own", true], [klass.array, klass.valid?(pack({ "x" => 1 }))]
    end
  end
end

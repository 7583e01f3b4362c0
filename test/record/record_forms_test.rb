# frozen_string_literal: true

# The other forms of a Record: an array, and a LazyRecord, which decodes a member when it is read.
require "test_helper"
require "record/records"
require "json"

class RecordFormsTest < Minitest::Test
  include Records

  def test_the_positional_form
    positional = USER.with(defaults: { raw: nil, home: nil, tags: [] }).array
    user = USER.load(pack(ADA))
    assert_equal ADA.values, unpack(USER.array.dump(user))
    assert_equal ["Ada", nil], positional.load(pack([1, "Ada"])).to_a.values_at(1, 4)
    assert_equal [1.0, 2.0], POINT.array.load(pack([1, 2, "later", [5]])).to_a
    error = error_of(POINT.array, [1])
    assert_match(/\A"y" is missing, at \$, byte 0/, error.message)
    assert_equal "$[1]", error_of(POINT.array, [1, "x"]).path.to_s
    assert_raises(RecordError) { POINT.array.load(pack({ "x" => 1, "y" => 2 })) }
    assert_raises(RecordError) { POINT.load(pack([1, 2])) }
    assert_equal :array, POINT.array.form
    assert_match(/a lazy Record is a map: call lazy/, assert_raises(ArgumentError) { POINT.array.lazy }.message)
    assert_match(/a lazy Record is a map: call array/, assert_raises(ArgumentError) { POINT.lazy.array }.message)
  end

  def test_the_positional_form_inside_of_others
    record = Record.new(Struct.new(:points), points: [POINT.array])
    binary = pack({ "points" => [[1, 2], [3, 4]] })
    assert_equal [Point.new(1.0, 2.0), Point.new(3.0, 4.0)], record.load(binary).points
    assert_equal({ "points" => [[1.0, 2.0], [3.0, 4.0]] }, unpack(record.dump(record.load(binary))))
  end

  def lazy = USER.lazy.load(pack(ADA))

  def test_a_lazy_record_decodes_what_is_read
    user = lazy
    assert_kind_of Manypack::LazyRecord, user
    assert_equal [1, "Ada", ["a"], Point.new(1.5, 2.5)], [user.id, user.name, user.tags, user.home]
    assert_equal [1, "Ada"], [user[:id], user[:name]]
    assert_equal [1], user.raw.value
    assert_equal User, user.load.class
    assert_equal 1, user.load.id
    assert_equal %i[id name tags home raw], user.to_h.keys
    assert_equal "Ada", user.to_h[:name]
    assert_includes user.inspect, "User"
    assert_respond_to user, :id
    refute_respond_to user, :nmae
    assert_raises(NoMethodError) { user.nmae }
  end

  def test_lazy_records_are_dumped_wherever_they_are_loaded
    point = pack({ "x" => 1.5, "y" => 2.5 })
    circle = pack({ "type" => "circle", "radius" => 1.5 })
    { POINT.lazy => point, Type[POINT.lazy, nil] => point, Type[[POINT.lazy]] => bytes("91") + point,
      Record.union("type", "circle" => CIRCLE.lazy, "square" => SQUARE) => circle }.each do |type, binary|
      assert_equal binary, type.dump(type.load(binary), check: true)
    end
    assert_equal point, POINT.lazy.dump(POINT.lazy.load(point))
    assert_equal point, POINT.lazy.dump(Point.new(1.5, 2.5))
    [POINT, CIRCLE.lazy, POINT.lazy.with(keys: { x: "z" })].each do |other|
      assert_raises(TypeError) { other.dump(POINT.lazy.load(point)) }
    end
  end

  def test_a_lazy_record_is_json_of_its_fields
    lazy = Record.new(Struct.new(:id, :to_h), id: Integer, to_h: [String]).lazy
    objects = Type[[lazy]].load(pack([{ "id" => 1, "to_h" => ["a"] }]))

    assert_equal %([{"id":1,"to_h":["a"]}]), JSON.generate(objects)
  end

  def test_members_of_a_lazy_record_may_have_the_names_of_its_methods
    names = %i[record bytes field load class hash]
    klass = Struct.new(*names)
    record = Record.new(klass, **names.to_h { |name| [name, Integer] })
    first, second = Array.new(2) { record.lazy.load(record.dump(klass.new(*1..6))) }
    assert_equal [1, 2, 3, 4, 5, 6], names.map { |name| first.public_send(name) }
    assert_equal [1, 6], [first[:record], first["hash"]]
    assert_equal names.zip(1..6).to_h, first.to_h
    assert_operator first, :==, second
    assert_includes Manypack::LazyRecord.instance_method(:inspect).bind_call(first), "bytes=2"
  end

  # Its own methods, and those of Object that they might call.
  def methods_of_lazy_records
    Manypack::LazyRecord.instance_methods(false) + Manypack::LazyRecord.private_instance_methods(false) + %i[class is_a? hash inspect]
  end

  def test_no_member_changes_what_the_methods_of_a_lazy_record_do
    methods = Manypack::LazyRecord.instance_methods(false).to_h { |name| [name, Manypack::LazyRecord.instance_method(name)] }
    (methods_of_lazy_records.grep(/\A\w+\??\z/).uniq - [:eql?]).each do |name|
      record = Record.new(Struct.new(name), name => String)
      binary = pack({ name.name => "xyz" })
      lazy = record.lazy.load(binary)
      call = ->(method, *arguments) { methods[method].bind_call(lazy, *arguments) }
      assert_equal [bytes("91") + binary, binary, binary, binary], [pack([lazy]), pack(lazy), lazy.to_msgpack, record.lazy.dump(lazy)], name
      assert_equal [{ name => "xyz" }] * 3, [call[:to_h], call[:deconstruct_keys, nil], call[:deconstruct_keys, [name]]], name
      assert_equal ["xyz", "xyz", true], [call[:[], name], call[:load].to_a[0], call[:==, record.lazy.load(binary)]], name
      assert_includes call[:inspect], 'xyz'
    end
  end

  def test_a_shareable_lazy_record_refers_to_nothing_that_is_not
    shared = POINT.lazy.with(shareable: true).load(pack({ "x" => 1.0, "y" => 2.0 }))
    assert Ractor.shareable?(shared)
    factory = Manypack::Factory.new
    state = +""
    factory.register_type(1, Pet, packer: ->(_) { state }, unpacker: ->(_) { state })
    record = POINT.lazy.with(codec: factory.codec, shareable: true)
    assert_raises(Ractor::Error) { record.load(pack({ "x" => 1.0, "y" => 2.0 })) }
  end

  def test_a_lazy_record_does_not_collect_keys
    assert_raises(ArgumentError) { REST.lazy }
    assert_raises(ArgumentError) { POINT.lazy.with(unknown: { into: :x }) }
  end

  def test_a_lazy_record_refuses_a_key_beside_its_alias_if_it_is_asked_to
    twice = pack({ "id" => 1, "name" => "a", "full_name" => "b", "home" => nil, "raw" => 1 })
    [USER, USER.lazy].each do |record|
      assert_equal "b", record.load(twice).name
      assert_raises(Manypack::DecodeError) { record.with(duplicate_keys: :error).load(twice) }
    end
  end

  def test_lazy_records_are_equal_by_what_they_have
    assert_equal lazy, lazy
    refute_equal lazy, USER.lazy.load(pack({ **ADA, "id" => 2 }))
    refute_equal lazy, 5
  end

  def test_a_lazy_record_has_defaults_and_finds_errors_when_it_reads
    assert_equal [], USER.lazy.load(pack(ADA.except("tags"))).tags
    wrong = USER.lazy.load(pack({ **ADA, "id" => "12" }))
    assert_equal "Ada", wrong.name
    error = assert_raises(RecordError) { wrong.id }
    assert_equal ["$.id", :id, 4], [error.path.to_s, error.member, error.offset]
    assert_raises(RecordError) { USER.lazy.load(pack(ADA.except("name"))).name }
  end

  def test_a_lazy_record_does_not_see_what_becomes_of_its_source
    [ADA, { **ADA, "name" => "x" * 1000 }].each do |hash|
      source = pack(hash)
      user = USER.lazy.load(source)
      source.replace("\xC1" * 5)
      assert_equal hash["name"], user.name
    end
  end

  def test_lazy_records_in_a_list
    rows = Type[[POINT.lazy]].load(pack([{ "x" => 1, "y" => 2 }, { "y" => 4, "x" => 3 }]))
    assert_equal [[1.0, 2.0], [3.0, 4.0]], rows.map { |row| [row.x, row.y] }
    assert_equal pack([{ "x" => 1.0, "y" => 2.0 }]), Type[[POINT]].dump(rows.first(1).map(&:load))
  end
end

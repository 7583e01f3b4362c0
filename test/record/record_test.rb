# frozen_string_literal: true

# A Record as a whole: what it is, what it loads, dumps and checks, its options, and what it does in Views, streams,
# Ractors and ext types.
require "test_helper"
require "record/records"
require "stringio"
require "timeout"

class RecordTest < Minitest::Test
  include Records

  HANDLERS = { a: ->(_) { "a" }, b: ->(_) { "b" }, unpacker: ->(_) { Pet.new } }.freeze

  # --- the guide's example -------------------------------------------------------------------------------------

  def test_a_message_becomes_objects
    user = USER.load(pack(ADA))
    assert_instance_of User, user
    assert_equal [1, "Ada", ["a"], Point.new(1.5, 2.5)], user.to_a.first(4)
    assert_instance_of View, user.raw
    assert_equal [1], user.raw.value
    assert_equal ADA, unpack(USER.dump(user))
    assert_equal Encoding::BINARY, USER.dump(user).encoding
  end

  def test_a_record_tells_what_it_is
    assert_equal [User, %i[id name tags home raw]], [USER.klass, USER.members]
    assert_equal USER.members, USER.types.keys
    assert_equal({ id: ["id"], name: %w[name full_name], tags: ["tags"], home: ["home"], raw: ["raw"] }, USER.keys)
    assert_equal({ tags: [] }, USER.defaults)
    assert_equal %i[raise skip], [USER.unknown, POINT.unknown]
    assert_includes USER.inspect, "User"
    assert_kind_of Type, USER
  end

  def test_a_record_tells_how_it_makes_objects
    own = Struct.new(:x) { def initialize(x = 1) = super }
    keywords = Struct.new(:x, keyword_init: true) { def initialize(x:) = super }
    plain = Class.new { attr_reader :x }
    records = [POINT, Record.new(own, x: Object), Record.new(keywords, x: Object), Record.ivars(plain, x: Object)]
    assert_equal %i[struct new keywords ivars], records.map(&:build)
    assert_equal %i[struct new keywords ivars], records.map { |record| record.lazy.with(unknown: :raise).build }
    assert_raises(ArgumentError) { Record.allocate.build }
  end

  def test_a_record_tells_which_members_may_be_missing
    own = Record.new(Struct.new(:x, :y) { def initialize(x, y = 1) = super }, x: Object, y: Object)
    assert_equal [false, true], %i[x y].map { |member| own.optional?(member) }
    assert_equal [true, true], %i[x y].map { |member| own.with(defaults: { x: nil }).optional?(member) }
    assert_equal [false, false, true], %i[id name tags].map { |member| USER.optional?(member) }
    refute USER.optional?(:other)
  end

  def test_a_lazy_record_tells_the_class_of_what_it_loads
    lazy = POINT.lazy
    assert_nil POINT.lazy_class
    assert_nil POINT.array.lazy_class
    assert_operator lazy.lazy_class, :<, Manypack::LazyRecord
    bytes = POINT.dump(Point.new(1.0, 2.0))
    [lazy.load(bytes), Type[[lazy]].load("\x91".b + bytes)[0]].each { |object| assert_same lazy.lazy_class, object.class }
    assert_raises(ArgumentError) { Record.allocate.lazy_class }
  end

  # The hash of a Proc changes on Ruby 3.1 when a compaction moves it.
  def test_records_with_a_default_that_is_called_stay_equal_when_it_moves
    records = Array.new(1_000) { |i| POINT.with(defaults: { x: eval("-> { #{i} }", binding, __FILE__, __LINE__) }) }
    GC.start
    GC.compact if GC.respond_to?(:compact)
    records.each do |record|
      same = record.with(unknown: :raise).with(unknown: :skip)
      assert_equal [record, record.hash], [same, same.hash]
    end
  end

  def test_types_and_records_are_frozen_shareable_and_equal_by_what_they_are
    [POINT, USER, NODE, Type[Integer], USER.array, USER.lazy, Record.union("t", "a" => POINT)].each do |type|
      assert_predicate type, :frozen?
      assert Ractor.shareable?(type), type.inspect
    end
    assert_equal POINT, Record.new(Point, x: Float, y: Float)
    refute_equal POINT, Record.new(Point, x: Float, y: Integer)
    refute_equal POINT, POINT.with(unknown: :raise)
    refute_equal POINT, POINT.array
    assert_equal Type[Integer, nil], Type[Integer].or(nil)
    assert_equal POINT.hash, Record.new(Point, x: Float, y: Float).hash
  end

  def test_types_with_other_handlers_or_options_are_others
    first, same, second = [:a, :a, :b].map do |name|
      factory = Manypack::Factory.new
      factory.register_type(1, Pet, packer: HANDLERS[name], unpacker: HANDLERS[:unpacker])
      factory.codec
    end
    unpacker, method = [[HANDLERS[:a], HANDLERS[:b]], [HANDLERS[:a], :to_s.to_proc.method(:call)]].map do |packer, unpacker|
      Manypack::Factory.new.tap { |factory| factory.register_type(1, Pet, packer: packer, unpacker: unpacker) }.codec
    end
    [Type[Object], Type[[Pet]], box(Object)].each do |type|
      one = type.with(codec: first)
      assert_equal [one, one.hash], [type.with(codec: same), type.with(codec: same).hash]
      [second, unpacker, method, first.with(freeze: true), Manypack::Codec.new].each do |codec|
        refute_equal one, type.with(codec: codec)
      end
      assert_equal 2, { one => 1, type.with(codec: second) => 2 }.size
    end
  end

  def test_a_record_that_many_others_share_is_not_made_for_each_way_to_it
    Timeout.timeout(20) do
      record = box(Integer)
      30.times { |i| record = Record.new(Struct.new(:a, :b, :c), a: record, b: [record], c: i.even? ? record.or(nil) : record.lazy) }
      assert_equal [true, 1], [Ractor.shareable?(record), { record => 1 }[record]]
      refute_equal record, record.with(unknown: :raise)
      assert_includes Type[record, nil].inspect, "nil"
    end
  end

  def test_another_ractor_loads_and_dumps
    user = in_ractor(USER, pack(ADA)) { |record, bytes| record.dump(record.load(bytes)) }
    assert_equal ADA, unpack(user)
  end

  # --- dump ----------------------------------------------------------------------------------------------------

  def test_a_type_tells_whether_it_checks_what_it_dumps
    [Type[Integer], POINT, Record.union("t", "a" => POINT)].each do |type|
      assert_equal [false, true, false], [type, type.with(check: true), type.with(check: true).with(check: false)].map(&:check?)
    end
    assert_predicate Type[[POINT.with(check: true)]], :check?
    assert_predicate Record.new(Struct.new(:at), at: POINT.with(check: true)), :check?
    assert_raises(ArgumentError) { Type.allocate.check? }
  end

  def test_dump_checks_when_it_is_asked
    wrong = User.new("12", "Ada", [], nil, nil)
    error = assert_raises(RecordError) { USER.dump(wrong, check: true) }
    assert_equal ["$.id", :id, USER], [error.path.to_s, error.member, error.record]
    assert_match(/\Aexpected Integer, got .*"12".*, at \$\.id.*\(#{NAME}#id\)\z/, error.message)
    right = User.new(1, "Ada", ["a"], Point.new(1.0, 2.0), nil)
    assert_equal USER.dump(right), USER.dump(right, check: true)
    error = assert_raises(RecordError) { Type[[1..5]].dump([1, 9], check: true) }
    assert_equal "$[1]", error.path.to_s
  end

  def test_dump_packs_the_parts_of_each_type
    assert_equal pack([1, "a", nil]), Type[[Object]].dump([1, "a", nil])
    assert_equal pack({ "a" => [1.5] }), Type[{ String => [Float] }].dump({ "a" => [1.5] })
    assert_equal pack("a"), Type[%i[a b]].dump(:a)
    user = USER.load(pack({ **ADA, "raw" => { "deep" => [1, 2] } }))
    assert_equal({ "deep" => [1, 2] }, unpack(USER.dump(user))["raw"])
  end

  def test_dump_of_what_the_record_is_not_for
    [nil, 5, Box.new(1), { "x" => 1 }].each { |object| assert_raises(TypeError, ArgumentError, RecordError, object.inspect) { POINT.dump(object) } }
  end

  # --- options -------------------------------------------------------------------------------------------------

  def test_options_of_unpacking
    assert_predicate POINT.with(freeze: true).load(pack({ "x" => 1, "y" => 2 })), :frozen?
    assert Ractor.shareable?(USER.with(shareable: true).load(pack(ADA)))
    assert_equal({ a: 1 }, taken(Object, { "a" => 1 }, symbolize_keys: true))
    assert_raises(Manypack::LimitError) { box([Integer]).with(max_array_size: 2).load(pack({ "value" => [1, 2, 3] })) }
    assert_raises(Manypack::LimitError) { box([Integer]).with(max_bytes: 4).load(pack({ "value" => [] })) }
    assert_raises(Manypack::LimitError) { POINT.with(max_map_size: 2).load(pack({ "x" => 1, "y" => 2, "z" => 3 })) }
    assert_raises(Manypack::LimitError) { POINT.with(max_array_size: 2).load(pack({ "x" => 1, "y" => 2, "z" => [1, 2, 3] })) }
    assert_raises(Manypack::LimitError) { box([Integer]).with(max_objects: 5).load(pack({ "value" => [1, 2, 3, 4, 5] })) }
    assert_raises(Manypack::LimitError) { box(String).with(max_string_bytes: 2).load(pack({ "value" => "abc" })) }
    assert_raises(Manypack::MalformedFormatError) { box(String).with(utf8: :strict).load(bytes("81 a5 76 61 6c 75 65 a1 ff")) }
  end

  def test_with_keeps_what_it_does_not_change
    record = USER.with(max_bytes: 1_000).with(unknown: :skip)
    assert_equal [{ tags: [] }, :skip], [record.defaults, record.unknown]
    assert_raises(Manypack::LimitError) { record.load(pack({ **ADA, "raw" => "x" * 1_000 })) }
    assert_raises(ArgumentError) { USER.with(unknwon: :skip) }
    assert_raises(ArgumentError) { Type[Integer].with(defaults: {}) }
    assert_raises(ArgumentError) { Type[Integer].with(untrustd: true) }
  end

  # --- with everything else ------------------------------------------------------------------------------------

  def test_ext_types_of_a_record
    factory = Manypack::Factory.new
    factory.register_type(1, Point, record: POINT)
    assert_equal [Point.new(1.5, 2.5)], factory.load(factory.dump([Point.new(1.5, 2.5)]))
    assert_raises(Manypack::DecodeError) { factory.load(bytes("d4 01 c0")) }
  end

  def test_views_become_objects
    view = View.new(pack({ "users" => [ADA] }))
    assert_equal "Ada", view["users"][0].as(USER).name
    assert_equal [1], view["users"].as(Type[[USER]]).map(&:id)
    error = assert_raises(RecordError) { view["users"].as(USER) }
    assert_equal 7, error.offset
    [User, Integer, [USER], nil].each { |type| assert_raises(TypeError) { view.as(type) } }
  end

  def test_streams_of_records
    io = StringIO.new(pack(ADA) * 3)
    unpacker = Manypack::Unpacker.new(io, as: USER)
    assert_equal %w[Ada Ada Ada], unpacker.each.map(&:name)
    unpacker = Manypack::Unpacker.new(as: POINT)
    fed = pack({ "x" => 1, "y" => 2 }).each_char.flat_map { |byte| unpacker.feed_each(byte).to_a }
    assert_equal [Point.new(1.0, 2.0)], fed
  end

  def test_a_stream_goes_on_after_what_is_not_of_the_type
    unpacker = Manypack::Unpacker.new(as: POINT).feed(pack({ "x" => 1 }) + pack({ "x" => 1, "y" => 2 }))
    assert_raises(RecordError) { unpacker.read }
    assert_equal Point.new(1.0, 2.0), unpacker.read
  end

  def test_parallel_work_on_records
    source = pack({ "x" => 1, "y" => 2 }) * 5
    [0, 2].each { |ractors| assert_equal [3.0] * 5, Manypack::Parallel.map(source, ractors: ractors, as: POINT) { |point| point.x + point.y } }
  end
end

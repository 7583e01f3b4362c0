# frozen_string_literal: true

# collect: true reports all errors of a message at every door that takes as:.
require "test_helper"
require "manypack/base/front_codec"
require "stringio"
require "tempfile"

class CollectTest < Minitest::Test
  include Manypack

  USER = Record.define(id: Integer, name: String)
  WRONG = Manypack.pack({ "id" => "1", "name" => 2 })
  RECORD = USER.record

  DOORS = {
    unpack: ->(as, **options) { Manypack.unpack(WRONG, as: as, **options) },
    unpack_io: ->(as, **options) { Manypack.unpack(StringIO.new(WRONG), as: as, **options) },
    load: ->(as, **options) { Manypack.load(WRONG, as: as, **options) },
    codec: ->(as, **options) { Codec.new(max_depth: 9).unpack(WRONG, as: as, **options) },
    split: ->(as, **options) { Manypack.split(WRONG, as: as, **options) {} },
    split_lazily: ->(as, **options) { Manypack.split(WRONG, as: as, **options).to_a },
    foreach: ->(as, **options) { in_file { |path| Manypack.foreach(path, as: as, **options) {} } },
    foreach_by_codec: ->(as, **options) { in_file { |path| Codec.new(max_depth: 9).foreach(path, as: as, **options) {} } },
    load_file: ->(as, **options) { in_file { |path| Manypack.load_file(path, as: as, **options) } },
    unpacker: ->(as, **options) { Unpacker.new(StringIO.new(WRONG), as: as, **options).read },
    unpacker_of_codec: ->(as, **options) { Codec.new(max_depth: 9).unpacker(StringIO.new(WRONG), as: as, **options).read },
    unpacker_open: ->(as, **options) { in_file { |path| Unpacker.open(path, as: as, **options, &:read) } },
    unpacker_that_learns: lambda { |as, **options|
      unpacker = Unpacker.new(StringIO.new(WRONG), as: as, **options)
      unpacker.register_type(1, Comparable, :to_s)
      unpacker.read
    },
    parallel: ->(as, **options) { Parallel.map(WRONG, as: as, ractors: 0, **options) { _1 } },
    front: ->(as, **options) { Manypack.const_get(:FrontLoader).new(as, nil, options, defaults: { untrusted: true }).load(WRONG) },
    view: ->(as, **options) { View.new(WRONG).as(as, **options) },
    record: ->(as, **options) { as.load(WRONG, **options) },
    json: ->(as, **options) { as.load_json('{"id":"1","name":2}', **options) },
    json_file: ->(as, **options) { in_file('{"id":"1","name":2}') { |path| as.load_json_file(path, **options) } },
    foreach_json: ->(as, **options) { as.foreach_json(StringIO.new('{"id":"1","name":2}'), **options) {} }
  }.freeze

  def self.in_file(bytes = WRONG)
    Tempfile.create(binmode: true) do |file|
      file.write(bytes)
      file.close
      yield file.path
    end
  end

  DOORS.each do |name, call|
    define_method("test_all_errors_at_#{name}") do
      [USER, RECORD].each do |as|
        assert_equal %w[/id], assert_raises(RecordError) { call.call(as) }.errors.map(&:pointer)
        assert_equal %w[/id /name], assert_raises(RecordError) { call.call(as, collect: true) }.errors.map(&:pointer)
      end
    end
  end

  def test_other_options_and_types_that_are_registered_later_keep_it
    front = Manypack.const_get(:FrontLoader).new(RECORD, nil, { collect: true, max_bytes: 100 }, defaults: { untrusted: true })
    assert_equal [100, 2], [front.max_bytes, assert_raises(RecordError) { front.load(WRONG) }.errors.size]
    options = { as: RECORD, collect: true, symbolize_keys: true }
    assert_equal 2, assert_raises(RecordError) { Manypack.unpack(WRONG, **options) }.errors.size
  end

  def test_it_is_refused_where_nothing_checks
    [nil, :view, Marshal].each do |as|
      [-> { Manypack.unpack("\x01", as: as, collect: true) }, -> { Unpacker.new(as: as, collect: true) },
       -> { Manypack.split("\x01", as: as, collect: true) {} }, -> { Parallel.map("\x01", as: as, collect: true, ractors: 0) { _1 } }].each do |call|
        assert_match(/collect/, assert_raises(ArgumentError, &call).message)
      end
    end
    assert_match(/collect/, assert_raises(ArgumentError) { Manypack.unpack("\x01", collect: true) }.message)
  end

  def test_a_file_of_json_is_loaded_within_the_limits
    CollectTest.in_file('{"id":1,"name":"Ada"}') do |path|
      assert_equal "Ada", USER.load_json_file(path).name
      assert_equal "Ada", RECORD.load_json_file(path, untrusted: true).name
      assert_raises(LimitError) { RECORD.load_json_file(path, max_bytes: 10) }
    end
    assert_raises(Errno::ENOENT) { USER.load_json_file("/none.json") }
    assert_match(/foreach_json/, assert_raises(::TypeError) { USER.load_json_file(StringIO.new("1")) }.message)
  end
end

# frozen_string_literal: true

# A message is indexed once: all Views of it share the Index, also those in objects that are loaded from it.
require "test_helper"
require "objspace"

class ViewIndexTest < Minitest::Test
  include CorePart

  View = Manypack::View
  Type = Manypack::Type
  Row = Struct.new(:id, :v)
  ROW = Manypack::Record.new(Row, id: Integer, v: View)
  MANY = { max_objects: nil, max_array_size: nil, max_bytes: nil }.freeze

  OPTIONS = [{}, { freeze: true }, { shareable: true }, { untrusted: true, **MANY }, { untrusted: true, freeze: true, **MANY },
             { untrusted: true, shareable: true, **MANY }, { max_depth: 9, freeze: true }].freeze

  # By how rows are loaded: the type, and the Views in the rows. With a collection at every allocation, making a type takes
  # much longer than loading three rows.
  WAYS = {
    "View#as" => [ROW, ->(bytes, type) { View.new(bytes).map { |row| row.as(type).v } }],
    "View#as of a frozen View" => [ROW, ->(bytes, type) { View.new(bytes).freeze.map { |row| row.as(type).v } }],
    "View#as of a lazy Record" => [ROW.lazy, ->(bytes, type) { View.new(bytes).map { |row| row.as(type).v } }],
    "View#as of a View" => [Type[View], ->(bytes, type) { View.new(bytes).map { |row| row["v"].as(type) } }],
    "a list" => [Type[[ROW]], ->(bytes, type) { type.load(bytes).map(&:v) }],
    "a list of lazy Records" => [Type[[ROW.lazy]], ->(bytes, type) { type.load(bytes).map(&:v) }],
    "a lazy Record, read twice" => [Type[[ROW.lazy]], ->(bytes, type) { type.load(bytes).flat_map { |row| [row.v, row[:v]] } }],
    "a lazy Record, loaded" => [Type[[ROW.lazy]], ->(bytes, type) { type.load(bytes).map { |row| row.load.v } }],
    "a union" => [Type[[Manypack::Record.new(Row, id: Integer, v: Type[View, nil])]], ->(bytes, type) { type.load(bytes).map(&:v) }],
    "a list of Views" => [Type[[View]], ->(bytes, type) { type.load(bytes).map { |row| row["v"] } }]
  }.freeze

  def bytes_of(count) = Manypack.pack(Array.new(count) { |i| { "id" => i, "v" => { "a" => [i] } } })

  # The ids of the Indexes that Views have.
  def indexes(views)
    roots = views | views.flat_map { |view| ObjectSpace.reachable_objects_from(view).grep(View) }
    roots.flat_map { |root| ObjectSpace.reachable_objects_from(root).grep(ObjectSpace::InternalObjectWrapper) }.map(&:internal_object_id).uniq
  end

  WAYS.each do |name, (type, rows)|
    define_method("test_one_index_for_one_message_by_#{name.tr(" ", "_")}") do
      OPTIONS.each do |options|
        with_options = type.with(**options)
        [60, 6_000].each do |count|
          views = rows.call(bytes_of(count), with_options)
          views = views.first(50) + views.last(50)
          4.times { views.each { |view| view["a"] } }
          assert_equal 1, indexes(views).size, options
          assert_equal [[0], [count - 1]], [views.first, views.last].map { |view| view["a"].value }
        end
      end
    end

    define_method("test_small_messages_are_the_same_by_#{name.tr(" ", "_")}") do
      OPTIONS.each do |options|
        with_options = type.with(**options)
        views = exercise { rows.call(bytes_of(3), with_options) }
        assert_equal [{ "a" => [0] }, { "a" => [2] }], [views.first.value, views.last.value]
        frozen = options.key?(:freeze) || options.key?(:shareable)
        assert views.all?(&:frozen?) if frozen
        assert views.all? { |view| Ractor.shareable?(view) && Ractor.shareable?(view["a"]) } if options[:shareable]
        refute views.first.frozen? unless frozen || name.include?("frozen")
      end
    end
  end

  def test_a_view_that_is_loaded_from_is_not_frozen_by_that
    view = View.new(bytes_of(60))
    assert view[3].as(ROW.with(freeze: true)).v.frozen?
    refute view.frozen?
    assert_equal 4, view[4]["id"]
    assert_equal [5], view[5].as(ROW.with(shareable: true)).v["a"].value
    assert_equal 60, view.each_with_index.count { |row, i| row["id"] == i && row.as(ROW.with(freeze: true)).v["a"][0] == i }
  end

  def test_what_is_refused_in_a_part_is_refused
    view = View.new(Manypack.pack([{ "id" => 1, "v" => [1] }, { "id" => 2, "v" => [Manypack::ExtensionValue.new(5, "x")] }]))
    assert_equal [1], view[0].as(ROW.with(shareable: true)).v.value
    assert_raises(Manypack::UnknownExtTypeError) { view[1].as(ROW.with(shareable: true)) }
    assert_raises(Manypack::UnknownExtTypeError) { view[1].as(ROW.with(untrusted: true)) }
  end
end

# frozen_string_literal: true

# What a program does once for each element of a message, as programs are written, takes linear time altogether: eight
# times as many elements take about eight times as long. LinearTimeTest calls each method once.
require "test_helper"
require "support/costs"

class GrowthTest < Minitest::Test
  include Costs

  View = Manypack::View
  SIZE = 1_000
  Row = Struct.new(:id, :t)
  ROW = Manypack::Record.new(Row, id: Integer, t: Integer)
  ROWS = ->(n) { Manypack.pack(Array.new(n) { |i| { "id" => i, "t" => "bad" } }) }
  LONG_ROWS = ->(n) { Manypack.pack(Array.new(n) { |i| { "id" => i, "t" => "bad", "more" => ["more"] * 10 } }) }
  WIDE = ->(n) { Manypack.pack((0...n).to_h { |i| ["key #{i}", { "id" => i, "t" => "bad" }] }) }
  UNKNOWN_EXTS = ->(n) { "\xDD".b + [n].pack("N") + "\x81\xA1t\xC7\x00\x05".b * n }

  # What the errors of a block say.
  def failing(kind = Manypack::DecodeError)
    yield
    flunk "no error"
  rescue kind => error
    [error.path, error.message]
  end

  # --- an error in each element ---------------------------------------------------------------------------

  ERRORS = {
    views_as_a_record: [ROWS, ->(t, bytes) { View.new(bytes).map { |row| t.failing { row.as(ROW) } } }],
    views_in_a_wide_map: [WIDE, ->(t, bytes) { View.new(bytes).map { |_, row| t.failing { row.as(ROW) } } }],
    views_of_two_messages_in_turn: [ROWS, lambda do |t, bytes|
      View.new(bytes).zip(View.new(bytes + "")).map { |rows| rows.map { |row| t.failing { row.as(ROW) } } }
    end],
    views_of_two_long_messages_in_turn: [LONG_ROWS, lambda do |t, bytes|
      View.new(bytes).zip(View.new(bytes + "")).map { |rows| rows.map { |row| t.failing { row.as(ROW) } } }
    end],
    looks_that_find_an_unknown_ext: [UNKNOWN_EXTS, ->(t, bytes) { View.new(bytes).map { |row| t.failing { row["t"] } } }],
    fields_of_lazy_records: [ROWS, ->(t, bytes) { Manypack::Type[[ROW.lazy]].load(bytes).map { |row| t.failing { row.t } } }],
    an_unpacker_that_goes_on: [->(n) { Array.new(n) { |i| Manypack.pack({ "id" => i, "t" => "bad" }) }.join }, lambda do |t, bytes|
      unpacker = Manypack::Unpacker.new(as: ROW).feed(bytes)
      Array.new(bytes.bytesize / 13) { t.failing { unpacker.read } }
    end]
  }.freeze

  ERRORS.each do |name, (message, work)|
    define_method("test_errors_of_#{name}_take_linear_time") do
      assert_linear(SIZE) { |size| message.call(size).then { |bytes| -> { work.call(self, bytes) } } }
    end
  end

  # --- changes of each element ------------------------------------------------------------------------------

  # Changes of n rows, of each ten fields by its index and ten by its index from the end.
  def changes_from_both_ends(size)
    size.times.flat_map { |i| [i, i - size].flat_map { |index| Array.new(10) { |k| [[index, "k#{index.negative? ? k + 10 : k}"], 1] } } }.to_h
  end

  def test_changes_of_rows_by_indices_from_both_ends_take_linear_time
    assert_linear(100) do |size|
      changes = changes_from_both_ends(size)
      bytes = Manypack.pack(Array.new(size) { (0...20).to_h { |k| ["k#{k}", 0] } })
      -> { View.new(bytes).splice(changes) }
    end
  end

  def test_changes_deep_inside_by_indices_from_the_end_take_linear_time
    assert_linear(50) do |depth|
      bytes = Manypack.pack((0...depth).reduce([*0...40]) { |inside, _| [inside] }, max_depth: 1_000)
      changes = 40.times.to_h { |i| [[-1] * depth + [i - 40], i] }
      -> { View.new(bytes, max_depth: 1_000).splice(changes) }
    end
  end

  # --- unions in unions -----------------------------------------------------------------------------------------

  # A map of a union in a map of a union, to a depth, with the tag first, last or missing, and a long value at the bottom.
  def nested_union(depth, other: false)
    (0...depth).reduce(Manypack::Type[[Integer]]) do |inside, _|
      record = Manypack::Record.new(Struct.new(:c), c: inside)
      other ? Manypack::Record.union("t", { "n" => Manypack::Record.new(Struct.new(:z), z: nil) }, else: record) : Manypack::Record.union("t", "n" => record)
    end
  end

  def nested_map(depth, pair, bottom)
    (0...depth).reduce(bottom) { |inside, _| pair == :first ? { "t" => "n", "c" => inside } : { "c" => inside, **(pair == :last ? { "t" => "n" } : {}) } }
  end

  def test_a_tag_at_the_end_of_each_of_many_levels_is_found_in_one_walk
    bottom = Array.new(20_000) { |i| i }
    [[:last, false], [:missing, true]].each do |place, other|
      union, flat = [100, 1].map { |depth| nested_union(depth, other: other).with(max_depth: 1_000) }
      deep, shallow = [100, 1].map { |depth| Manypack.pack(nested_map(depth, place, bottom), max_depth: 1_000) }
      [[union, deep], [flat, shallow]].each { |type, bytes| assert_equal bottom, innermost(type.load(bytes)) }
      assert_linear_seconds("of one level eight times, and of a hundred levels, #{place}",
                            -> { cpu_seconds { 160.times { flat.load(shallow) } } }, -> { cpu_seconds { 20.times { union.load(deep) } } })
    end
  end

  def innermost(object) = object.is_a?(Struct) ? innermost(object.c) : object

  def test_what_an_index_passes_is_loaded_as_without_one
    [1, 2, 3, 9].each do |depth|
      %i[first last missing].each do |place|
        union = nested_union(depth, other: place == :missing)
        [[], [1] * 30, [1] * 600].each do |bottom|
          bytes = Manypack.pack(nested_map(depth, place, bottom))
          assert_equal bottom, innermost(union.load(bytes))
          assert_equal bottom, innermost(View.new(Manypack.pack([0] * 40).sub("\xDC\0\x28".b, "\xDC\0\x29".b) + bytes)[40].as(union))
          ([bytes.bytesize - 40, 1].max..bytes.bytesize - 1).each { |cut| assert_raises(Manypack::DecodeError) { union.load(bytes.byteslice(0, cut)) } }
          error = assert_raises(Manypack::RecordError) { union.load(Manypack.pack(nested_map(depth, place, bottom + ["x"]))) }
          assert_equal "$#{".c" * depth}[#{bottom.size}]", error.path
        end
      end
    end
  end
end

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
      View.new(bytes).zip(View.new(bytes.dup)).map { |rows| rows.map { |row| t.failing { row.as(ROW) } } }
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
end

# frozen_string_literal: true

# Records and the collector: at every allocation, while objects move, and how many objects a row costs.
require "test_helper"
require "rbconfig/sizeof"
require "support/costs"
require "support/program"

class RecordMemoryTest < Minitest::Test
  include CorePart
  include Costs
  include ProgramHelper

  Record = Manypack::Record
  Type = Manypack::Type
  View = Manypack::View

  Inner = Struct.new(:x, :tags)
  Row = Struct.new(:id, :name, :inner, :any, :raw)
  INNER = Record.new(Inner, x: Float, tags: [String]).with(defaults: { tags: [].freeze })
  ROW = Record.new(Row, id: Integer, name: String, inner: Type[INNER, nil], any: Object, raw: View)
  ROWS = Type[[ROW]]
  MESSAGE = Array.new(6) do |i|
    { "id" => 2**62 + i, "name" => "n" * (i * 9), "inner" => i.even? ? { "x" => 1.5, "tags" => ["t" * 30, "u"] } : nil,
      "any" => { "k" => ["v" * i] }, "raw" => [i], "unknown" => { "skip" => i } }
  end.freeze

  def plain(rows)
    rows.map { |row| [row.id, row.name, row.inner&.to_a, row.any, row.raw.value] }
  end

  EXPECTED = MESSAGE.map do |row|
    [row["id"], row["name"], row["inner"]&.values, row["any"], row["raw"]]
  end.freeze

  # --- the collector ----------------------------------------------------------------------------------------------

  def test_loads_and_dumps_under_a_collection_at_every_allocation
    binary = pack(MESSAGE)
    rows = exercise { ROWS.load(binary) }
    assert_equal EXPECTED, plain(rows)
    assert_equal ROWS.dump(rows), exercise { ROWS.dump(rows, check: true) }
    exercise { assert_equal EXPECTED.size, Type[[ROW.lazy]].load(binary).map { |row| [row.name, row.id, row.inner] }.size }
    exercise { assert_equal EXPECTED, plain(ROWS.with(shareable: true).load(binary)) }
  end

  def test_errors_under_a_collection_at_every_allocation
    binary = pack([*MESSAGE, { "id" => "x", "inner" => { "x" => "y", "tags" => [1] } }])
    errors = exercise { assert_raises(Manypack::RecordError) { ROWS.load(binary, collect: true) }.errors }
    assert_operator errors.size, :>=, 3
    assert(errors.all? { |error| error.path.to_s.start_with?("$[6]") })
  end

  def test_a_type_made_under_a_collection_at_every_allocation
    type = exercise { Record.new(Row, id: Integer, name: String, inner: Type[INNER, nil], any: Object, raw: View).array }
    assert_equal ROW.array, type
    assert_equal 1, exercise { type.load(pack([1, "a", nil, 5, 6])) }.id
  end

  # ObjectSpace shows them. Only those of this test are asked: a class of its own tells them apart.
  def test_objects_that_are_not_complete_are_not_used
    types = Class.new(Type)
    nodes = [{ kind: :list, parts: [1], words: "x" }, { kind: :no_kind, parts: [], words: "x" }]
    type = types.allocate
    assert_raises(ArgumentError) { exercise { type.__send__(:compile, nodes, Manypack::DefaultFactory.codec) } }
    assert_raises(ArgumentError) { type.load("\x91\x01".b) }
    lazy = INNER.lazy
    assert_raises(Manypack::RecordError) { lazy.load(pack({ "tags" => [] })) }
    ObjectSpace.each_object(Manypack::LazyRecord) do |one|
      next if one.frozen?

      assert_raises(ArgumentError) { one.__send__(:__field__, 0) }
      assert_raises(ArgumentError) { one.bytes }
    end
  end

  def test_loading_a_lazy_record_compiles_nothing
    lazy = INNER.lazy.load(pack({ "x" => 1.0, "tags" => [] }))
    lazy.load
    assert_operator allocations { lazy.load }, :<, 12
  end

  # In a process of their own: Ruby 3.1 can crash where it compacts after classes were collected, as other tests' are.

  def test_records_and_lazy_records_follow_what_moves
    assert_program <<~'RUBY', "[true, true, true, true]"
      Row = Struct.new(:id, :name, :inner)
      Inner = Struct.new(:tags)
      INNER = Manypack::Record.new(Inner, tags: [String])
      ROW = Manypack::Record.new(Row, id: Integer, name: String, inner: INNER).with(defaults: { name: "none" })
      TYPE = Manypack::Type[[ROW]]
      LAZY = Manypack::Type[[ROW.lazy]]
      GC.compact
      rows = Array.new(20) { |i| Row.new(i, "n" * i, Inner.new(["t" * 40, "u"])) }
      bytes = TYPE.dump(rows)
      lazy = LAZY.load(bytes)
      GC.compact
      read = lazy.map { |row| GC.compact if row.id == 9; Row.new(row.id, row.name, row.inner) }
      error = begin
        TYPE.load(bytes.sub("\xA2id\x07".b, "\xA2id\xC0".b))
      rescue Manypack::RecordError => e
        e
      end
      GC.compact
      p [TYPE.load(bytes) == rows, read == rows, lazy.map(&:load) == rows, error.record == ROW && error.path.to_s == "$[7].id"]
    RUBY
  end

  def test_records_load_while_objects_move
    assert_program <<~'RUBY', "true"
      Row = Struct.new(:id, :name, :list)
      ROW = Manypack::Record.new(Row, id: Integer, name: String, list: [Float])
      TYPE = Manypack::Type[[ROW]]
      rows = Array.new(5) { |i| Row.new(i, "n" * (i * 20), [1.5, 2e300]) }
      bytes = TYPE.dump(rows)
      GC.start # Ruby 3.1 may crash, without us, where the first collection that compacts frees a Symbol
      GC.auto_compact = true
      GC.stress = true
      loaded = TYPE.load(bytes)
      dumped = TYPE.dump(loaded)
      GC.stress = false
      p loaded == rows && dumped == bytes
    RUBY
  end

  # Whatever a constructor does to the Ruby around it.
  def test_constructors_may_collect_raise_and_load_again
    assert_program <<~'RUBY', "[[1, 2, 3], :raised, 3]"
      Row = Struct.new(:id) do
        def initialize(id)
          GC.compact
          ROW.load(Manypack.pack({ "id" => id - 1 })) if id > 1
          raise ArgumentError if id == 9
          super
        end
      end
      ROW = Manypack::Record.new(Row, id: Integer)
      TYPE = Manypack::Type[[ROW]]
      load = ->(*ids) { TYPE.load(Manypack.pack(ids.map { |id| { "id" => id } })).map(&:id) }
      p [load.(1, 2, 3), (load.(1, 9) rescue :raised), load.(3).first]
    RUBY
  end

  def test_a_type_keeps_its_classes_and_defaults_alive
    types = Array.new(50) do |i|
      klass = Struct.new(:a, :b)
      Record.new(klass, a: [Integer], b: String).with(defaults: { b: "default #{i}" })
    end
    GC.start
    types.each_with_index { |type, i| assert_equal "default #{i}", type.load(pack({ "a" => [1] })).b }
  end

  # --- objects ----------------------------------------------------------------------------------------------------

  Flat = Struct.new(:a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k)
  FLAT = Record.new(Flat, **Flat.members.to_h { |name| [name, Integer] })
  TEXTS = Record.new(Flat, **Flat.members.to_h { |name| [name, String] })

  def rows_of(value) = pack(Array.new(100) { Flat.members.to_h { |name| [name, value] } })

  def test_a_row_is_one_object_beside_its_values
    positional = pack(Array.new(100) { (1..11).to_a })
    { FLAT => rows_of(5), TEXTS => rows_of("text"), FLAT.array => positional }.each do |record, binary|
      type = Type[[record]]
      binary.freeze
      values = record == TEXTS ? 1_100 : 0
      assert_equal 101 + values, allocations { type.load(binary) }, record.inspect
    end
  end

  def test_a_lazy_row_is_one_object_until_it_is_read
    type = Type[[TEXTS.lazy]]
    binary = rows_of("text").freeze
    assert_operator allocations { type.load(binary) }, :<=, 102
    rows = type.load(binary)
    assert_operator allocations { rows.each(&:c) }, :<=, 101
  end

  # Where an offset there is no Fixnum; elsewhere it would take a message of 2**62 bytes.
  if RbConfig::LIMITS["FIXNUM_MAX"] < 2**31
    def test_a_lazy_row_behind_a_gibibyte
      binary = String.new("\x92\xC6\x40\0\0\0", capacity: 2**30 + 1_000, encoding: Encoding::BINARY)
      zeros = "\0" * 2**20
      1_024.times { binary << zeros }
      binary << pack(Flat.members.to_h { |name| [name, "text"] })
      row = Record.new(Struct.new(:zeros, :row), zeros: View, row: TEXTS.lazy).array.load(binary.freeze).row
      assert_equal %w[text text], [row.a, row.k]
    end
  end

  def test_what_no_member_has_makes_no_object
    type = Type[[FLAT]]
    plain = rows_of(5).freeze
    more = pack(Array.new(100) { { **Flat.members.to_h { |name| [name, 5] }, "unknown" => ["text", { "deep" => [1.5] }] } }).freeze
    assert_equal allocations { type.load(plain) }, allocations { type.load(more) }
  end

  def test_a_dump_allocates_its_result_and_nothing_else
    type = Type[[FLAT]]
    rows = type.load(rows_of(5))
    assert_operator allocations { type.dump(rows) }, :<=, 2
  end

  def test_frozen_defaults_are_one_object
    type = Type[[INNER]]
    binary = pack(Array.new(100) { { "x" => 1.5 } })
    numbers = pack([1.5] * 100).freeze
    floats = allocations { unpack(numbers) } - 1 # where a VALUE has 32 bits each is an object
    assert_operator allocations { type.load(binary) }, :<=, 102 + floats
  end

  def test_declared_lengths_allocate_nothing
    ["\xDD\x7F\xFF\xFF\xFF".b, "\xDF\x7F\xFF\xFF\xFF".b, "\x81\xA1a\xDB\x7F\xFF\xFF\xFF".b].each do |binary|
      [Type[[FLAT]], Type[{ String => Integer }], FLAT, TEXTS, FLAT.array, TEXTS.lazy].each do |type|
        size = allocated_bytes { assert_raises(Manypack::DecodeError) { type.load(binary) } }
        assert_operator size, :<, 100_000, type.inspect
      end
    end
  end
end

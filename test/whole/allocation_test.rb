# frozen_string_literal: true

# How many objects a pack and an unpack make, and how much memory bytes can claim.
require "test_helper"
require "support/costs"
require "support/shareable_mark"

class AllocationTest < Minitest::Test
  include Costs

  DOCUMENT = { "id" => 7, "name" => "n" * 50, "tags" => %w[a b], "at" => 1.5, ok: nil, "n" => [[1], { "k" => 2**62 }] }.freeze

  def test_a_pack_allocates_its_result_and_nothing_else
    [nil, 1, 2**64 - 1, 1.5, "s", "b".b, :sym, [], {}, DOCUMENT, [DOCUMENT] * 100, "l" * 5_000, ["l" * 100_000] * 3].each do |obj|
      assert_equal 1, allocations { Manypack.pack(obj) }, "of #{obj.inspect[0, 40]}"
    end
  end

  def test_a_pack_with_a_hash_of_options_allocates_its_result_and_nothing_else
    options = { timestamp: true, max_depth: 10 }
    assert_equal 1, allocations { Manypack.pack(DOCUMENT, options) }
  end

  def test_packing_an_extension_value_allocates_nothing_more
    ext = Manypack::ExtensionValue.new(1, "a".b)
    assert_equal 1, allocations { Manypack.pack(ext) }
  end

  def test_packing_foreign_objects_allocates_one_packer_and_buffer_for_all_of_them
    point = Class.new { def to_msgpack(packer) = packer.write_int(1) }.new
    assert_operator allocations { Manypack.pack([point] * 100) }, :<=, 5
  end

  def test_reading_recursive_ext_types_allocates_one_unpacker_and_buffer_for_each_depth
    factory = Manypack::Factory.new
    factory.register_type(1, Object, packer: nil, unpacker: ->(unpacker) { unpacker.read }, recursive: true)
    inner = bytes("c7 03 01 d4 01 05")
    rows = bytes("dc 00 64") + (inner * 100)
    assert_equal [5] * 100, factory.load(rows)
    assert_operator allocations { factory.load(rows) }, :<=, 10
  end

  def test_an_unpack_allocates_the_objects_of_its_result
    { [1, 2, 3] => 1, [[], {}] => 3, "s" => 1, "b".b => 1, %w[a b] => 3, { "k" => "v" } => 2, 1 => 0, 2**64 - 1 => 1 }.each do |obj, count|
      packed = Manypack.pack(obj)
      assert_equal count, allocations { Manypack.unpack(packed) }, "of #{obj.inspect}"
    end
  end

  def test_a_born_shareable_tree_allocates_no_more_than_another
    packed = Manypack.pack(DOCUMENT)
    plain = allocations { Manypack.unpack(packed) }
    walk = ShareableMark.possible? ? 0 : allocations { Ractor.make_shareable(Array.new(1)) } - 1
    assert_operator allocations { Manypack.unpack(packed, shareable: true) }, :<=, plain + 1 + (plain * walk)
    assert Ractor.shareable?(Manypack.unpack(packed, shareable: true))
  end

  def test_keys_of_many_rows_are_allocated_once
    packed = Manypack.pack(Array.new(100) { { "user_name" => 1, "a long key of more than sixteen bytes" => 2 } })
    assert_equal 101, allocations { Manypack.unpack(packed) }
    rows = Manypack.unpack(packed)
    assert_equal [1, 1], rows.map(&:keys).transpose.map { |keys| keys.map(&:object_id).uniq.size }
  end

  def test_declared_lengths_allocate_nothing
    %w[dbffffffff c6ffffffff c9ffffffff05 ddffffffff dfffffffff dfffffffff81 dd7fffffff dcffff].each do |input|
      before = malloc_increase
      allocated = allocations { assert_raises(EOFError) { Manypack.unpack([input].pack("H*")) } }
      assert_operator allocated, :<, 100
      assert_operator malloc_increase - before, :<, 100_000
    end
  end

  def test_many_declared_containers_allocate_nothing
    bomb = "\xDF\xFF\xFF\xFF\xFF\xC0".b * 127
    grown = resident_kilobytes { 200.times { assert_raises(EOFError) { Manypack.unpack(bomb) } } }
    assert_operator grown, :<, 20_000
  end

  def test_raising_leaks_nothing
    input = [[*1..2_000], "x"].then { |obj| Manypack.pack(obj)[0..-3] + "\xC1".b }
    deep = "\x91".b * 3_000
    work = proc do
      assert_raises(Manypack::DecodeError) { Manypack.unpack(input) }
      assert_raises(Manypack::DecodeError) { Manypack.unpack(deep, max_depth: 100_000) }
      assert_raises(NoMethodError) { Manypack.pack(["x" * 30_000, Object.new]) }
    end
    sizes = Array.new(12) do
      500.times(&work)
      GC.start
      resident
    end
    # One block of 16 KB lost each time would be 8 MB in each round, 40 MB in five. Ruby's own heap may grow and shrink in
    # turn, so that only the least of several rounds says what stays.
    early, late = sizes.drop(2).each_slice(5).map(&:min)
    assert_operator late - early, :<, 20_000, sizes.inspect
  end

  private

  # Counted by Ruby's default collector only.
  def malloc_increase
    GC.stat.fetch(:malloc_increase_bytes, 0)
  end

  def resident_kilobytes
    before = resident
    yield
    resident - before
  end
end

# frozen_string_literal: true

# The collector at its worst moments: at every allocation, moving everything, checking everything.
require "test_helper"
require "objspace"
require "stringio"

class GcTest < Minitest::Test
  include CorePart

  # Collects, and moves what can be moved, in the middle of a pack.
  class Collecting
    def to_msgpack(packer)
      packer.write_array_header(2).write("before" * 10)
      GC.start
      GC.compact if GC.respond_to?(:compact)
      packer.write("after" * 10)
    end
  end

  TREE = { "s" => %w[one two] * 5, "m" => { 1 => { "deep" => ["x" * 100, "b".b, 1e300, 2**64 - 1] } } }.freeze

  def test_unpacking_at_every_allocation
    [{}, { freeze: true }, { shareable: true }, { symbolize_keys: true }].each do |opts|
      packed = exercise { pack(TREE) }
      expected = unpack(packed, **opts)
      assert_equal expected, exercise { unpack(packed, **opts) }
    end
  end

  def test_more_values_in_flight_than_the_c_stack_holds
    wide = Array.new(600) { |i| "value #{i}" }
    packed = exercise { pack(wide) }
    assert_equal wide, exercise { unpack(packed) }
  end

  def test_more_frames_than_the_c_stack_holds
    deep = 70.times.inject("core") { |inner, i| ["level #{i}", inner] }
    packed = exercise { pack(deep) }
    assert_equal deep, exercise { unpack(packed) }
  end

  def test_packing_what_has_to_be_transcoded
    latin = ["é".encode("ISO-8859-1")] * 20
    assert_equal ["é"] * 20, unpack(exercise { pack(latin) })
    assert_equal ["é"] * 20, unpack(exercise { pack(latin.map(&:to_sym)) })
  end

  def test_a_collection_inside_to_msgpack
    expected = ["before" * 10, "after" * 10]
    assert_equal [1, expected, { "k" => expected }], unpack(pack([1, Collecting.new, { "k" => Collecting.new }]))
  end

  def test_compaction_keeps_packers_and_keys
    packer = Manypack::Packer.new.write("kept" * 100)
    maps = Array.new(50) { |i| unpack(pack({ "key #{i}" => ["v#{i}"] })) }
    GC.compact if GC.respond_to?(:compact)
    assert_equal "kept" * 100, unpack(packer.to_s)
    maps.each_with_index { |map, i| assert_equal({ "key #{i}" => ["v#{i}"] }, map) }
    50.times { |i| assert_equal({ "key #{i}" => 1 }, unpack(pack({ "key #{i}" => 1 }))) }
  end

  # The object goes on after its Unpacker was moved, and its values outgrow their place: old objects get young ones.
  def test_an_unpacker_that_was_moved_in_the_middle_of_an_object
    unpackers = Array.new(FEW_CASES ? 20 : 200) do
      Manypack::Unpacker.new.feed("\x92\x01\xdd\x00\x00\x10\x00\xa1a".b).tap { |unpacker| assert_raises(EOFError) { unpacker.read } }
    end
    4.times { GC.start }
    GC.compact if GC.respond_to?(:compact)
    unpackers.each do |unpacker|
      unpacker.feed("\xa5hello".b * 2_000)
      assert_raises(EOFError) { unpacker.read }
      GC.start(full_mark: false)
    end
    assert_equal [1, ["a", *["hello"] * 4_095]], unpackers.last.feed("\xa5hello".b * 2_095).read
  end

  # The write barrier of a Buffer for what is written: from write_reference_threshold on, it refers to the String.
  def test_an_old_packer_may_refer_to_a_young_string
    packer = Manypack::Packer.new(write_reference_threshold: 256)
    4.times { GC.start }
    packer.write("young " * 100)
    GC.verify_internal_consistency
    GC.start(full_mark: false)
    assert_equal "young " * 100, unpack(packer.to_s)
  end

  # The write barrier of a Buffer for its bridge, a String of its own in which it joins a head's bytes from two chunks.
  def test_an_old_unpacker_may_get_a_young_bridge
    unpacker = Manypack::Unpacker.new
    unpacker.feed("\xDA".b).feed("\x02\x58".b + ("b" * 300))
    4.times { GC.start } # after all other references, each of which would have the Buffer remembered
    assert_raises(EOFError) { unpacker.read }
    GC.verify_internal_consistency
    GC.start(full_mark: false)
    assert_equal "b" * 600, unpacker.feed("b" * 300).read
  end

  # The write barrier of a Buffer for its io.
  def test_an_old_buffer_may_get_a_young_io
    buffer = Manypack::Buffer.allocate
    4.times { GC.start }
    buffer.__send__(:initialize, StringIO.new("young"))
    GC.verify_internal_consistency
    GC.start(full_mark: false)
    assert_equal "young", buffer.read
  end

  def test_the_heap_is_consistent
    kept = [unpack(pack(TREE)), unpack(pack(TREE), shareable: true), Manypack::Packer.new.write(TREE)]
    GC.verify_internal_consistency
    assert_equal TREE, kept.first
  end

  def test_compaction_leaves_no_stale_reference
    skip "GC.verify_compaction_references is not in this Ruby" unless GC.respond_to?(:verify_compaction_references)
    kept = [unpack(pack(TREE)), unpack(pack(TREE), shareable: true), Manypack::Packer.new.write(TREE)]
    GC.verify_compaction_references(toward: :empty, **(RUBY_VERSION < "3.2" ? { double_heap: true } : { expand_heap: true }))
    assert_equal [TREE, TREE, TREE], [kept[0], kept[1], unpack(kept[2].to_s)]
  end

  def test_a_packer_tells_its_size
    empty = Manypack::Packer.new
    full = Manypack::Packer.new.write("x" * 1_000)
    size = ->(packer) { ObjectSpace.memsize_of(packer) + ObjectSpace.memsize_of(packer.buffer) }
    assert_operator size.call(full), :>, size.call(empty) + 1_000
  end
end

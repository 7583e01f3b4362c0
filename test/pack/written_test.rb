# frozen_string_literal: true

# to_msgpack has to write one object, and a recursive handler whole ones, in every way to pack.
require "test_helper"
require "support/writing"

class WrittenTest < Minitest::Test
  include CorePart

  Foreign = Class.new(Writing)

  Holder = Struct.new(:value)
  RECORD = Manypack::Record.new(Holder, value: Object)
  FACTORY = Manypack::Factory.new

  # Wrong ways to write, and what the error says.
  WRONG = {
    nothing: [->(_) {}, "nothing"],
    returned: [->(_) { "\xC0".b }, "nothing"],
    two: [->(packer) { packer.write(1).write(2) }, "more"],
    half_array: [->(packer) { packer.write_array_header(2).write(1) }, "only a part of one"],
    half_map: [->(packer) { packer.write_map_header(1).write("k") }, "only a part of one"],
    half_bin: [->(packer) { packer.write_bin_header(3).buffer << "ab" }, "only a part of one"],
    dangling_head: [->(packer) { packer.write([1]).write_array_header(1) }, "more"],
    no_object: [->(packer) { packer.buffer << "\xC1" }, "bytes that are no object"],
    long_and_more: [->(packer) { packer.write("x" * 100_000).write_nil }, "more"],
    deep_part: [->(packer) { 100.times { packer.write_array_header(1) } }, "only a part of one"],
    nested_and_more: [->(packer) { packer.write(Foreign.new { |inner| inner.write("y" * 100) }).write(1) }, "more"]
  }.freeze

  # Ways to pack an object in an Array.
  FRONTS = {
    pack: ->(object) { Manypack.pack([object]) },
    io: ->(object) { Manypack.pack([object], StringIO.new("".b)) },
    canonical: ->(object) { Manypack.pack([object], canonical: true) },
    codec: ->(object) { Manypack::Codec.new.pack([object]) },
    write: ->(object) { Manypack::Packer.new.write([object]) },
    write_array: ->(object) { Manypack::Packer.new.write_array([object]) },
    pool: ->(object) { FACTORY.pool(1).packer { |packer| packer.write([object]) } },
    dump: ->(object) { FACTORY.dump([object]) }
  }.freeze

  FRONTS.each do |front, packing|
    WRONG.each do |wrong, (write, words)|
      define_method("test_#{front}_refuses_#{wrong}") do
        error = assert_raises(ArgumentError) { exercise { packing.call(Foreign.new(&write)) } }
        expected = "to_msgpack of WrittenTest::Foreign must write exactly one object to the Packer, but wrote #{words}, at $[0]"
        assert_equal expected, error.message[0, expected.size]
        assert_equal wrong == :returned, error.message.end_with?("; it returned a String: call packer.write instead")
      end
    end
  end

  def test_a_record_refuses_it_at_its_field
    WRONG.each_value do |write, words|
      error = assert_raises(ArgumentError) { RECORD.dump(Holder.new(Foreign.new(&write))) }
      assert_match(/ wrote #{words}, at \$\.value/, error.message)
    end
  end

  def test_a_refused_write_leaves_nothing_behind
    packer = Manypack::Packer.new.write(1)
    WRONG.each_value { |write, _| assert_raises(ArgumentError) { packer.write([2, Foreign.new(&write)]) } }
    assert_equal "01 03", hex(packer.write(3).to_s)
  end

  def recursive(&write)
    Manypack::Factory.new.tap do |factory|
      factory.register_type(1, Holder, packer: ->(_, packer) { write.call(packer) }, unpacker: ->(unpacker) { unpacker }, recursive: true)
    end
  end

  def test_the_body_of_a_recursive_type_is_any_number_of_whole_objects
    bodies = { "c7 00 01" => ->(_) {}, "d5 01 01 02" => ->(packer) { packer.write(1).write(2) }, "d4 01 90" => ->(packer) { packer.write([]) } }
    bodies.each { |expected, write| assert_equal "91 #{expected}", hex(exercise { recursive(&write).dump([Holder.new]) }) }
  end

  def test_the_body_of_a_recursive_type_has_no_part_of_an_object
    WRONG.slice(:half_array, :half_map, :half_bin, :dangling_head, :no_object, :deep_part).each do |name, (write, words)|
      words = "only a part of one" if name == :dangling_head
      error = assert_raises(ArgumentError) { exercise { recursive(&write).dump([0, Holder.new]) } }
      assert_equal "the packer of ext type 1 for WrittenTest::Holder must write whole objects to the Packer, but wrote #{words}, at $[1]", error.message
    end
  end

  def test_headers_and_bytes_that_are_one_object_are_fine
    bin = Foreign.new { |packer| packer.write_bin_header(2).buffer << "ab" }
    long = Foreign.new { |packer| packer.write("z" * 100) }
    inside = Foreign.new { |packer| packer.write_bin_header(102).write(long) } # its bytes are a payload
    deep = Foreign.new { |packer| 128.times { packer.write_array_header(1) } && packer.write_nil }
    pieces = Foreign.new { |packer| packer.write_map_header(2).write(1).write(bin).write(bin).write([long, long]) }
    assert_packs "c4 02 61 62", bin
    assert_packs "91 c4 66 d9 64 #{(["7a"] * 100).join(" ")}", [inside]
    assert_packs "#{(["91"] * 128).join(" ")} c0", deep
    assert_equal({ 1 => "ab", "ab" => ["z" * 100] * 2 }, Manypack.unpack(Manypack.pack(pieces)))
  end

  def test_several_objects_that_were_checked_are_passed_one_after_the_other
    long = %w[a b c].map { |text| Foreign.new { |packer| packer.write(text * 100) } }
    { [0, 1, 2] => 3, [0, 1] => 3, [2, 1, 0, 0] => 3, [1] => 1, [] => 1 }.each do |written, declared|
      object = Foreign.new { |packer| written.each_with_object(packer.write_array_header(declared)) { |i, to| to.write(long[i]) } }
      if written.size == declared
        assert_equal [written.map { |i| %w[a b c][i] * 100 }], Manypack.unpack(exercise { Manypack.pack([object]) })
      else
        assert_raises(ArgumentError, written.inspect) { exercise { Manypack.pack([object]) } }
      end
    end
  end

  # The failed part had a long object in it, and other bytes are in its place now.
  def test_a_rescued_write_does_not_vouch_for_the_bytes_that_replace_it
    long = Foreign.new { |packer| packer.write("z" * 100) }
    writes = { "part" => ->(packer) { packer.write_array_header(2).write("x" * 120) }, "whole" => ->(packer) { packer.write("x" * 120) } }
    writes.each do |name, write|
      object = Foreign.new do |packer|
        assert_raises(NoMethodError) { packer.write([long, BasicObject.new]) }
        write.call(packer)
      end
      outer = Foreign.new { |packer| packer.write([object]) }
      if name == "whole" then assert_equal [["x" * 120]], Manypack.unpack(Manypack.pack([outer]))
      else assert_raises(ArgumentError) { Manypack.pack([outer]) }
      end
    end
  end

  def test_top_level_writes_of_pieces_stay_free
    packer = Manypack::Packer.new.write_array_header(2)
    assert_equal "92 01", hex(packer.write(1).to_s)
  end
end

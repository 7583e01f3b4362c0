# frozen_string_literal: true

# Manypack::Packer as an object of its own: every write method, the output, what failed writes leave.
require "test_helper"

class PackerTest < Minitest::Test
  include CorePart

  Opaque = Class.new

  class Failing
    def to_msgpack(packer)
      packer.write("half")
      raise IOError, "no more"
    end
  end

  def setup
    @packer = Manypack::Packer.new
  end

  def test_write_and_pack_append_an_object_and_return_the_packer
    assert_same @packer, exercise { @packer.write([1]) }
    assert_same @packer, exercise { @packer.pack({ "a" => nil }) }
    assert_output "91 01 81 a1 61 c0"
  end

  def test_constants
    assert_same @packer, exercise { @packer.write_nil.write_true.write_false }
    assert_output "c0 c3 c2"
  end

  def test_write_int
    exercise { @packer.write_int(1).write_int(-129).write_int(2**64 - 1) }
    assert_output "01 d1 ff 7f cf ff ff ff ff ff ff ff ff"
    ["1", 1.0, nil].each { |obj| assert_raises(TypeError) { @packer.write_int(obj) } }
    assert_raises(RangeError) { @packer.write_int(2**64) }
  end

  def test_write_float
    exercise { @packer.write_float(1.5).write_float(1).write_float(1r / 2) }
    assert_output "cb 3f f8 00 00 00 00 00 00 cb 3f f0 00 00 00 00 00 00 cb 3f e0 00 00 00 00 00 00"
    ["1", nil].each { |obj| assert_raises(TypeError) { @packer.write_float(obj) } }
  end

  def test_write_float32
    exercise { @packer.write_float32(1.5).write_float32(-1).write_float32(0.1) }
    assert_output "ca 3f c0 00 00 ca bf 80 00 00 ca 3d cc cc cd"
    ["1", nil].each do |obj|
      error = assert_raises(ArgumentError) { @packer.write_float32(obj) }
      assert_equal "Expected numeric", error.message
    end
  end

  def test_write_string
    exercise { @packer.write_string("é").write_string("é".b).write_string("é".encode("ISO-8859-1")) }
    assert_output "a2 c3 a9 c4 02 c3 a9 a2 c3 a9"
    [:a, nil, 1].each { |obj| assert_raises(TypeError) { @packer.write_string(obj) } }
  end

  def test_write_bin_of_all_sizes
    [0, 1, 31, 32, 255, 256, 65_535, 65_536, 600_000].each do |size|
      text = "a" * size
      [text, text.b, text.encode("ISO-8859-1")].each do |string|
        assert_equal Manypack.pack(text.b), exercise { Manypack::Packer.new.write_bin(string).to_s }, size
      end
    end
  end

  def test_write_bin
    exercise { @packer.write_bin("a").write_bin("\xFF".b).write_bin("") }
    assert_output "c4 01 61 c4 01 ff c4 00"
    assert_raises(EncodingError) { @packer.write_bin("é") }
    [:a, nil].each { |obj| assert_raises(TypeError) { @packer.write_bin(obj) } }
  end

  def test_write_array_hash_and_symbol
    exercise { @packer.write_array([1]).write_hash({ 1 => 2 }).write_symbol(:ab).write_symbol("dynamic".to_sym) }
    assert_output "91 01 81 01 02 a2 61 62 a7 64 79 6e 61 6d 69 63"
    assert_raises(TypeError) { @packer.write_array({}) }
    assert_raises(TypeError) { @packer.write_hash([]) }
    assert_raises(TypeError) { @packer.write_symbol("a") }
  end

  def test_headers_take_their_shortest_form
    { write_array_header: ["90", "9f", "dc 00 10", "dc ff ff", "dd 00 01 00 00", "dd ff ff ff ff"],
      write_map_header: ["80", "8f", "de 00 10", "de ff ff", "df 00 01 00 00", "df ff ff ff ff"],
      write_bin_header: ["c4 00", "c4 0f", "c4 10", "c5 ff ff", "c6 00 01 00 00", "c6 ff ff ff ff"] }.each do |method, heads|
      [0, 15, 16, 65_535, 65_536, 2**32 - 1].zip(heads) do |count, head|
        exercise { @packer.public_send(method, count) }
        assert_output head
        @packer.reset
      end
    end
  end

  def test_a_header_count_outside_32_bits_is_a_range_error
    %i[write_array_header write_map_header write_bin_header].each do |method|
      [-1, -(2**31), 2**32, 2**64, -(2**64), 1e20, -0.5].each do |count|
        assert_raises(RangeError, "#{method}(#{count})") { @packer.public_send(method, count) }
      end
      [nil, "1", [1]].each { |count| assert_raises(TypeError) { @packer.public_send(method, count) } }
    end
    assert_output ""
  end

  def test_a_header_count_may_be_a_float
    assert_equal "91", hex(@packer.write_array_header(1.7).to_s)
  end

  def test_write_ext_and_write_extension
    exercise { @packer.write_ext(-128, "a").write_ext(127, "") }
    exercise { @packer.write_extension(Manypack::ExtensionValue.new(5, "ab")).write_extension(Struct.new(:t, :p).new(6, "c")) }
    assert_output "d4 80 61 c7 00 7f d5 05 61 62 d4 06 63"
    [-129, 128].each { |type| assert_raises(RangeError) { @packer.write_ext(type, "") } }
    assert_raises(TypeError) { @packer.write_ext("1", "") }
    assert_raises(TypeError) { @packer.write_ext(1, nil) }
    assert_raises(TypeError) { @packer.write_extension([1, "a"]) }
    assert_raises(TypeError) { @packer.write_extension(Struct.new(:t, :p).new(1, nil)) }
  end

  def test_to_s_is_a_copy
    @packer.write(1)
    copy = @packer.to_s
    @packer.write(2)
    copy << "x"
    assert_output "01 02"
    assert_equal Encoding::BINARY, @packer.to_s.encoding
    assert_equal "01 02", hex("".b + @packer)
  end

  def test_full_pack_returns_the_output_and_empties_the_packer
    @packer.write([1, 2])
    packed = @packer.full_pack
    assert_equal "92 01 02", hex(packed)
    assert_predicate @packer, :empty?
    @packer.write(3)
    assert_equal "92 01 02", hex(packed)
    assert_output "03"
  end

  def test_reset_and_clear_forget
    assert_nil @packer.write(1).reset
    assert_predicate @packer, :empty?
    assert_nil @packer.write(1).clear
    assert_output ""
  end

  def test_size_counts_bytes
    assert_predicate @packer, :empty?
    assert_equal 0, @packer.size
    assert_equal 3, @packer.write([1, 2]).size
    refute_predicate @packer, :empty?
  end

  def test_options
    refute_predicate @packer, :compatibility_mode?
    assert_predicate Manypack::Packer.new(compatibility_mode: true), :compatibility_mode?
    assert_equal "a1 ff", hex(Manypack::Packer.new({ compatibility_mode: true }).write("\xFF".b).to_s)
    assert_equal "d6 ff 00 00 00 00", hex(Manypack::Packer.new(timestamp: true).write(Time.at(0)).to_s)
    assert_raises(Manypack::NestingError) { Manypack::Packer.new(max_depth: 1).write([[1]]) }
    assert_equal "c0", hex(Manypack::Packer.new(nil).write_nil.to_s)
  end

  def test_a_failed_write_is_taken_back
    @packer.write("kept")
    before = hex(@packer.to_s)
    assert_raises(NoMethodError) { exercise { @packer.write([1, 2, Opaque.new]) } }
    assert_raises(RangeError) { exercise { @packer.write([1, 2**70]) } }
    assert_raises(IOError) { exercise { @packer.write([1, Failing.new]) } }
    assert_raises(Manypack::NestingError) { exercise { @packer.write([].tap { |a| a << a }) } }
    catch(:out) { exercise { @packer.write([1, Throwing.new]) } }
    assert_output before
    @packer.write("more")
    assert_output "#{before} a4 6d 6f 72 65"
  end

  class Throwing
    def to_msgpack(packer)
      packer.write("half")
      throw :out
    end
  end

  def test_a_failed_write_of_much_is_taken_back
    @packer.write("kept")
    assert_raises(NoMethodError) { @packer.write(["x" * 100_000, Opaque.new]) }
    assert_output "a4 6b 65 70 74"
  end

  def test_a_packer_outlives_many_messages
    100.times { |i| @packer.write("message #{i}" * 100) }
    assert_equal (0...100).sum { |i| "message #{i}".bytesize * 100 + 3 }, @packer.size
  end

  def test_a_frozen_packer_packs_but_takes_no_types
    @packer.freeze.write(1)
    assert_equal "01", hex(@packer.to_s)
    assert_raises(FrozenError) { @packer.register_type(1, Object) { "" } }
  end

  def test_a_packer_that_was_not_initialized_raises
    packer = Manypack::Packer.allocate
    %i[write_nil to_s size empty? reset full_pack].each { |method| assert_refused { packer.public_send(method) } }
  end

  def test_a_packer_is_initialized_once
    assert_refused { @packer.send(:initialize) }
    assert_output ""
  end

  def test_a_packer_is_not_copied
    assert_raises(NoMethodError) { @packer.dup }
    assert_raises(NoMethodError) { @packer.clone }
    %i[dup clone].each { |method| assert_match(/; create another one, with the same options/, assert_raises(NoMethodError) { @packer.public_send(method) }.message) }
    assert_raises(TypeError) { Marshal.dump(@packer) }
  end

  def test_a_subclass_is_a_packer
    assert_equal "01", hex(Class.new(Manypack::Packer).new.write(1).to_s)
  end

  private

  def assert_output(expected)
    assert_equal expected, hex(@packer.to_s)
  end
end

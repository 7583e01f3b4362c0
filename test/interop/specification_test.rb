# frozen_string_literal: true

# Each format of the MessagePack specification, from the layout that its table gives, byte by byte.
require "test_helper"

class SpecificationTest < Minitest::Test
  Ext = Manypack::ExtensionValue

  # Name, bytes, object, and whether it is the shortest form of the object, the one that is packed.
  VECTORS = [
    ["positive fixint, first", "00", 0, true], ["positive fixint, last", "7f", 127, true],
    ["negative fixint, first", "e0", -32, true], ["negative fixint, last", "ff", -1, true],
    ["nil", "c0", nil, true], ["false", "c2", false, true], ["true", "c3", true, true],
    ["uint 8, least", "cc 00", 0, false], ["uint 8, first of its own", "cc 80", 128, true], ["uint 8, most", "cc ff", 255, true],
    ["uint 16, least", "cd 00 00", 0, false], ["uint 16, first of its own", "cd 01 00", 256, true],
    ["uint 16, big-endian", "cd 12 34", 0x1234, true], ["uint 16, most", "cd ff ff", 65_535, true],
    ["uint 32, least", "ce 00 00 00 00", 0, false], ["uint 32, first of its own", "ce 00 01 00 00", 65_536, true],
    ["uint 32, big-endian", "ce 12 34 56 78", 0x12345678, true], ["uint 32, most", "ce ff ff ff ff", 4_294_967_295, true],
    ["uint 64, least", "cf 00 00 00 00 00 00 00 00", 0, false],
    ["uint 64, first of its own", "cf 00 00 00 01 00 00 00 00", 4_294_967_296, true],
    ["uint 64, big-endian", "cf 12 34 56 78 9a bc de f0", 0x123456789abcdef0, true],
    ["uint 64, most", "cf ff ff ff ff ff ff ff ff", 18_446_744_073_709_551_615, true],
    ["int 8, least", "d0 80", -128, true], ["int 8, last of its own", "d0 df", -33, true], ["int 8, most", "d0 7f", 127, false],
    ["int 16, least", "d1 80 00", -32_768, true], ["int 16, last of its own", "d1 ff 7f", -129, true],
    ["int 16, most", "d1 7f ff", 32_767, false], ["int 32, least", "d2 80 00 00 00", -2_147_483_648, true],
    ["int 32, last of its own", "d2 ff ff 7f ff", -32_769, true], ["int 32, most", "d2 7f ff ff ff", 2_147_483_647, false],
    ["int 64, least", "d3 80 00 00 00 00 00 00 00", -9_223_372_036_854_775_808, true],
    ["int 64, last of its own", "d3 ff ff ff ff 7f ff ff ff", -2_147_483_649, true],
    ["int 64, most", "d3 7f ff ff ff ff ff ff ff", 9_223_372_036_854_775_807, false],
    ["float 32, zero", "ca 00 00 00 00", 0.0, false], ["float 32", "ca 40 49 0f db", 3.1415927410125732, false],
    ["float 32, negative", "ca c0 20 00 00", -2.5, false], ["float 32, infinite", "ca 7f 80 00 00", Float::INFINITY, false],
    ["float 64, zero", "cb 00 00 00 00 00 00 00 00", 0.0, true], ["float 64", "cb 40 09 21 fb 54 44 2d 18", Math::PI, true],
    ["float 64, negative", "cb c0 04 00 00 00 00 00 00", -2.5, true],
    ["fixstr, empty", "a0", "", true], ["fixstr, last", "bf #{"61 " * 31}", "a" * 31, true],
    ["str 8, least", "d9 00", "", false], ["str 8, first of its own", "d9 20 #{"61" * 32}", "a" * 32, true],
    ["str 8, most", "d9 ff #{"61" * 255}", "a" * 255, true], ["str 16, least", "da 00 00", "", false],
    ["str 16, first of its own", "da 01 00 #{"61" * 256}", "a" * 256, true], ["str 16, most", "da ff ff #{"61" * 65_535}", "a" * 65_535, true],
    ["str 32, least", "db 00 00 00 00", "", false], ["str 32, first of its own", "db 00 01 00 00 #{"61" * 65_536}", "a" * 65_536, true],
    ["str of UTF-8", "a7 e3 81 82 f0 9f 98 80", "あ😀", true],
    ["bin 8, least", "c4 00", "".b, true], ["bin 8, most", "c4 ff #{"00" * 255}", "\0".b * 255, true],
    ["bin 16, least", "c5 00 00", "".b, false], ["bin 16, first of its own", "c5 01 00 #{"00" * 256}", "\0".b * 256, true],
    ["bin 32, least", "c6 00 00 00 00", "".b, false], ["bin 32, first of its own", "c6 00 01 00 00 #{"00" * 65_536}", "\0".b * 65_536, true],
    ["fixarray, empty", "90", [], true], ["fixarray, last", "9f #{"c0" * 15}", [nil] * 15, true],
    ["array 16, least", "dc 00 00", [], false], ["array 16, first of its own", "dc 00 10 #{"c0" * 16}", [nil] * 16, true],
    ["array 16, most", "dc ff ff #{"c0" * 65_535}", [nil] * 65_535, true], ["array 32, least", "dd 00 00 00 00", [], false],
    ["array 32, first of its own", "dd 00 01 00 00 #{"c0" * 65_536}", [nil] * 65_536, true],
    ["fixmap, empty", "80", {}, true], ["fixmap, last", "8f #{(1..15).map { |i| format("%02x c0", i) }.join}", (1..15).to_h { |i| [i, nil] }, true],
    ["map 16, least", "de 00 00", {}, false],
    ["map 16, first of its own", "de 00 10 #{(1..16).map { |i| format("%02x c0", i) }.join}", (1..16).to_h { |i| [i, nil] }, true],
    ["map 32, least", "df 00 00 00 00", {}, false],
    ["map 32, first of its own", "df 00 01 00 00 #{(0..65_535).map { |i| format("ce%08xc0", 65_536 + i) }.join}",
     (0..65_535).to_h { |i| [65_536 + i, nil] }, true],
    ["fixext 1", "d4 05 01", Ext.new(5, "\x01"), true], ["fixext 2", "d5 05 01 02", Ext.new(5, "\x01\x02"), true],
    ["fixext 4", "d6 05 01 02 03 04", Ext.new(5, "\x01\x02\x03\x04"), true],
    ["fixext 8", "d7 05 #{"07" * 8}", Ext.new(5, "\x07" * 8), true], ["fixext 16", "d8 05 #{"07" * 16}", Ext.new(5, "\x07" * 16), true],
    ["ext 8, empty", "c7 00 05", Ext.new(5, ""), true], ["ext 8, three", "c7 03 05 07 07 07", Ext.new(5, "\x07" * 3), true],
    ["ext 8, most", "c7 ff 05 #{"07" * 255}", Ext.new(5, "\x07" * 255), true], ["ext 16, least", "c8 00 00 05", Ext.new(5, ""), false],
    ["ext 16, first of its own", "c8 01 00 05 #{"07" * 256}", Ext.new(5, "\x07" * 256), true],
    ["ext 32, least", "c9 00 00 00 00 05", Ext.new(5, ""), false],
    ["ext 32, first of its own", "c9 00 01 00 00 05 #{"07" * 65_536}", Ext.new(5, "\x07" * 65_536), true],
    ["ext type, least", "d4 80 00", Ext.new(-128, "\0"), true], ["ext type, most", "d4 7f 00", Ext.new(127, "\0"), true]
  ].freeze

  VECTORS.each do |name, input, object, shortest|
    define_method("test_#{name.tr(" -", "_").delete(",")}") do
      unpacked = Manypack.unpack(bytes(input), allow_unknown_ext: true)
      object.nil? ? assert_nil(unpacked) : assert_equal(object, unpacked)
      assert_equal object.encoding, unpacked.encoding if object.is_a?(String)
      assert_same object.class, unpacked.class
      assert_equal bytes(input), Manypack.pack(object) if shortest
    end
  end

  # Seconds and nanoseconds of the three timestamp layouts.
  TIMESTAMPS = {
    "d6 ff 00 00 00 01" => [1, 0], "d6 ff ff ff ff ff" => [4_294_967_295, 0],
    "d7 ff 00 00 00 04 00 00 00 00" => [0, 1], "d7 ff ee 6b 27 ff ff ff ff ff" => [17_179_869_183, 999_999_999],
    "c7 0c ff 00 00 00 01 00 00 00 04 00 00 00 00" => [17_179_869_184, 1],
    "c7 0c ff 3b 9a c9 ff ff ff ff ff ff ff ff ff" => [-1, 999_999_999]
  }.freeze

  def test_timestamps
    TIMESTAMPS.each do |layout, (sec, nsec)|
      assert_equal bytes(layout), Manypack.pack(Manypack::Timestamp.new(sec, nsec), timestamp: true)
      assert_equal Time.at(sec, nsec, :nsec), Manypack.unpack(bytes(layout), timestamp: true)
    end
  end

  def test_the_byte_that_is_never_used
    assert_raises(Manypack::MalformedFormatError) { Manypack.unpack("\xC1".b) }
  end
end

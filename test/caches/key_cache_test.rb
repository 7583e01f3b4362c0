# frozen_string_literal: true

# Map keys out of the cache of their Ractor: the right ones, whatever was there before.
require "test_helper"

class KeyCacheTest < Minitest::Test
  include CorePart

  def test_the_same_key_is_the_same_object
    first, second = Array.new(2) { exercise { unpack(bytes("81 a3 61 62 63 01")) }.keys.first }
    assert_same first, second
  end

  def test_a_key_is_frozen_and_shareable
    [1, 16, 17, 22, 23, 64, 65, 300].each do |size|
      2.times do
        key = exercise { unpack(pack({ "k" * size => 1 })) }.keys.first
        assert_equal "k" * size, key
        assert_predicate key, :frozen?
        assert Ractor.shareable?(key)
      end
    end
  end

  def test_strings_and_symbols_of_the_same_bytes_are_kept_apart
    packed = bytes("81 a4 62 6f 74 68 01")
    3.times do
      assert_equal({ "both" => 1 }, exercise { unpack(packed) })
      assert_equal({ both: 1 }, exercise { unpack(packed, symbolize_keys: true) })
    end
  end

  def test_more_keys_than_it_holds
    keys = Array.new(3_000) { |i| "attribute_#{i}" }
    packed = pack(keys.to_h { |key| [key, key] })
    3.times do
      map = unpack(packed)
      assert_equal keys, map.keys
      assert_equal keys, map.values
      assert_equal keys.map(&:to_sym), unpack(packed, symbolize_keys: true).keys
    end
  end

  def test_keys_that_differ_in_one_byte_are_kept_apart
    (1..65).each do |size|
      keys = ["a" * size] + Array.new(size) { |at| ("a" * size).tap { |key| key.setbyte(at, 98) } }
      packed = pack(keys.to_h { |key| [key, nil] })
      2.times { assert_equal keys, unpack(packed).keys }
      2.times { assert_equal keys.map(&:to_sym), unpack(packed, symbolize_keys: true).keys }
    end
  end

  def test_keys_of_the_same_bytes_and_another_length_are_kept_apart
    keys = (0..65).map { |size| "\0" * size }
    packed = pack(keys.to_h { |key| [key, nil] })
    2.times { assert_equal keys, unpack(packed).keys }
    2.times { assert_equal keys.map(&:to_sym), unpack(packed, symbolize_keys: true).keys }
  end

  def test_an_invalid_key_is_no_hit_for_a_symbol
    assert_equal [0xff], exercise { unpack(bytes("81 a1 ff c0")) }.keys.first.bytes
    2.times { assert_raises(Manypack::MalformedFormatError) { unpack(bytes("81 a1 ff c0"), symbolize_keys: true) } }
  end

  def test_symbols_of_strangers_are_collected
    unpack(pack((0...5_000).to_h { |i| ["stranger #{object_id} #{i}", 1] }), symbolize_keys: true)
    unpack(pack((0...300).to_h { |i| ["other #{i}", 1] }), symbolize_keys: true)
    before = Symbol.all_symbols.size
    unpack(pack((0...5_000).to_h { |i| ["another stranger #{object_id} #{i}", 1] }), symbolize_keys: true)
    3.times { GC.start }
    assert_operator Symbol.all_symbols.size - before, :<, 1_000
  end

  def test_each_ractor_has_one_of_its_own
    packed = pack(Array.new(300) { |i| { "key_#{i}" => i, "shared" => i } })
    expected = unpack(packed)
    ractors = Array.new(4) { Ractor.new(packed) { |input| Array.new(20) { Manypack.unpack(input) }.uniq } }
    ractors.each { |ractor| assert_equal [expected], ractor.respond_to?(:value) ? ractor.value : ractor.take }
  end

  def test_keys_outlive_their_ractor
    maps = Array.new(10) { |i| in_ractor(pack({ "of ractor #{i}" => 1 }), &->(input) { Manypack.unpack(input) }) }
    GC.start
    assert_equal Array.new(10) { |i| { "of ractor #{i}" => 1 } }, maps
  end
end

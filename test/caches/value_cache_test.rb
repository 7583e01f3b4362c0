# frozen_string_literal: true

# Frozen Strings out of the cache of their Ractor: the right ones, whatever was there before.
require "test_helper"

class ValueCacheTest < Minitest::Test
  include CorePart

  FROZEN = [{ shareable: true }, { freeze: true }].freeze
  LONGEST = 128 # that are kept

  # So that it looks for Strings: it does not after a test in which none came again.
  def setup
    super
    unpack(pack(["again"] * 1_000), shareable: true)
  end

  def test_a_frozen_string_that_comes_again_is_the_same_object
    FROZEN.each do |options|
      [1, 3, 4, 8, 16, 17, 22, 23, 64, LONGEST].each do |size|
        first, second = exercise { unpack(pack(["s" * size, "s" * size]), **options) }
        assert_equal "s" * size, first
        assert_same first, second, [size, options]
        assert_predicate first, :frozen?
      end
    end
  end

  def test_strings_that_are_not_kept
    FROZEN.each do |options|
      [0, LONGEST + 1, 300, 5_000].each do |size|
        strings = exercise { unpack(pack(["s" * size, "s" * size]), **options) }
        assert_equal ["s" * size] * 2, strings, [size, options]
        strings.each { |string| assert_predicate string, :frozen? }
      end
    end
  end

  def test_strings_that_may_be_changed_are_never_one
    packed = pack(%w[same same])
    FROZEN.each { |options| unpack(packed, **options) }
    first, second = exercise { unpack(packed) }
    refute_same first, second
    assert_equal "same, changed", first << ", changed"
    assert_equal "same", second
    assert_equal %w[same same], unpack(packed, shareable: true)
  end

  def test_with_freeze_strings_are_interned_whatever_was_shareable_before
    %w[interned after].push("longer than an entry of the cache is", "ü" * 9).each do |string|
      unpack(pack(string), shareable: true)
      2.times { assert_same(-string, exercise { unpack(pack(string), freeze: true) }) }
    end
  end

  def test_keys_and_values_of_the_same_bytes
    packed = pack({ "both" => "both" })
    FROZEN.each do |options|
      2.times { assert_equal({ "both" => "both" }, exercise { unpack(packed, **options) }) }
      2.times { assert_equal({ both: "both" }, exercise { unpack(packed, symbolize_keys: true, **options) }) }
    end
  end

  def test_more_strings_than_it_holds
    strings = Array.new(5_000) { |i| "value #{i}#{" and more" * (i % 7)}" }
    packed = pack(strings.flat_map { |string| [string, string] })
    FROZEN.each do |options|
      3.times { assert_equal strings, unpack(packed, **options).each_slice(2).map(&:first) }
    end
  end

  def test_strings_that_differ_in_one_byte_or_in_length_alone_are_kept_apart
    FROZEN.each do |options|
      (1..LONGEST + 1).each do |size|
        assert_equal each_byte_changed(size), unpack_looking(each_byte_changed(size), **options), [size, options]
      end
      sizes = (0..LONGEST + 1).map { |size| "\0" * size }
      2.times { assert_equal sizes, unpack_looking(sizes, **options) }
    end
  end

  def test_it_grows_until_it_has_what_comes_again
    strings = Array.new(500) { |i| "one of #{i}" }
    3.times { unpack_looking(strings, shareable: true) }
    first, second = Array.new(2) { unpack_looking(strings, shareable: true) }
    assert_operator first.zip(second).count { |one, other| one.equal?(other) }, :>, 300
  end

  def test_bins_are_not_kept
    first, second = exercise { unpack(pack(["bin".b, "bin".b]), shareable: true) }
    refute_same first, second
    assert_equal [Encoding::BINARY] * 2, [first.encoding, second.encoding]
  end

  def test_bytes_that_are_not_text
    strings = ["\xff", "\xff" * 20, "a\xff" * 40, "\xe4\xb8"]
    packed = pack(strings)
    FROZEN.each do |options|
      2.times do
        exercise { unpack(packed, **options) }.zip(strings) do |string, expected|
          assert_equal expected, string
          assert_equal Encoding::UTF_8, string.encoding
          refute_predicate string, :valid_encoding?
        end
      end
    end
  end

  def test_strings_that_come_again_are_found_after_many_that_do_not
    unpack(pack(Array.new(3_000) { |i| "once #{i}" }), shareable: true)
    setup
    assert_equal 1, unpack(pack(["found"] * 10), shareable: true).map(&:__id__).uniq.size
  end

  def test_strings_that_nobody_has_any_more_are_collected_but_for_a_table_of_them
    FROZEN.each do |options|
      # On a stack that is gone afterwards: the collector finds on this one what was there before.
      Thread.new { unpack(pack(Array.new(10_000) { |i| "gone with #{i}" }), **options) && nil }.join
    end
    3.times { GC.start }
    left = ObjectSpace.each_object(String).count { |string| string.b.start_with?("gone with ") }
    assert_operator left, :<, 5_000
  end

  def test_each_ractor_has_one_of_its_own
    packed = pack(Array.new(2_000) { |i| "value #{i % 300}" })
    expected = unpack(packed)
    ractors = Array.new(4) do
      Ractor.new(packed) { |input| Array.new(20) { Manypack.unpack(input, shareable: true) }.uniq }
    end
    ractors.each { |ractor| assert_equal [expected], ractor.respond_to?(:value) ? ractor.value : ractor.take }
  end

  def test_strings_outlive_their_ractor
    strings = Array.new(10) do |i|
      in_ractor(pack(["of ractor #{i}"] * 2), &->(input) { Manypack.unpack(input, shareable: true) })
    end
    GC.start
    assert_equal(Array.new(10) { |i| ["of ractor #{i}"] * 2 }, strings)
  end

  private

  # Of so many bytes, and the same with one other byte at each place.
  def each_byte_changed(size)
    ["a" * size] + Array.new(size) { |at| ("a" * size).tap { |string| string.setbyte(at, 98) } }
  end

  # The Strings, with others between them that come again, so that the cache is asked for each.
  def unpack_looking(strings, **options)
    unpack(pack(strings.flat_map { |string| [string, "again"] }), **options).each_slice(2).map(&:first)
  end
end

# frozen_string_literal: true

# Hashes copied from a template: as if each key had been put in, whatever came before.
require "test_helper"
require "objspace"
require "support/program"

class HashTemplateTest < Minitest::Test
  include CorePart

  # Below and at the fewest pairs of a row, where Ruby's own tables of hashes begin and grow, and at and above the most.
  SIZES = [8, 9, 10, 15, 16, 17, 32, 33, 64, 65, 255, 256, 257].freeze

  def test_each_row_has_its_own_values_under_the_same_keys
    SIZES.each do |size|
      rows = rows(size, 6)
      assert_equal rows, unpack(pack(rows))
      assert_equal rows.map(&:to_a), unpack(pack(rows)).map(&:to_a), "in the order of the message"
    end
  end

  def test_each_row_is_found_by_its_keys_and_changes_alone
    SIZES.each do |size|
      rows = rows(size, 6)
      unpack(pack(rows)).each_with_index do |row, i|
        rows[i].each { |key, value| assert_equal value, row.fetch(key.dup) }
        row.delete("key 3")
        row["key 4"] = "changed"
        row["more"] = i
        assert_equal rows[i].except("key 3").merge("key 4" => "changed", "more" => i), row
        row.clear
      end
      assert_equal rows, unpack(pack(rows)), "after others were changed"
    end
  end

  def test_a_row_is_an_ordinary_hash
    exercise { unpack(pack(rows(20, 5))) }.each do |row|
      assert_instance_of Hash, row
      assert_nil row.default
      assert_nil row.default_proc
      refute_predicate row, :frozen?
      refute_predicate row, :compare_by_identity?
      assert_equal row, Marshal.load(Marshal.dump(row))
    end
  end

  def test_rows_with_other_keys_in_between
    base = rows(12, 1).first
    others = [base, base.to_a.reverse.to_h, base.except("key 5"), base.merge("key 99" => 1), base.transform_keys(&:upcase),
              base.to_a.rotate.to_h, base.except("key 5").merge("key 99" => 1)]
    lists = Array.new(28) { |i| others[i % others.size].transform_values { |value| [value, i] } }
    assert_equal lists.map(&:to_a), exercise { unpack(pack(lists)) }.map(&:to_a)
    lists.shuffle!(random: Random.new(1))
    assert_equal lists.map(&:to_a), unpack(pack(lists)).map(&:to_a)
  end

  def test_more_lists_of_keys_than_there_are_templates
    lists = Array.new(200) { |i| rows(9 + (i % 5), 1).first.transform_keys { |key| "#{key} of #{i}" } }
    3.times { assert_equal lists * 3, unpack(pack(lists * 3)) }
  end

  def test_the_last_of_the_same_keys_wins_in_each_row
    pairs = Array.new(10) { |i| pack("key #{i % 9}") + pack(i) }.join
    expected = (0..8).to_h { |i| ["key #{i}", i.zero? ? 9 : i] }
    rows = exercise { unpack(bytes("95") + ((bytes("8a") + pairs) * 5)) }
    assert_equal [expected.to_a] * 5, rows.map(&:to_a)
  end

  def test_the_same_key_twice_is_refused_after_rows_without
    good = pack(rows(9, 1).first)
    bad = bytes("89") + (pack("key 0") + pack(1)) * 9
    3.times { unpack(good, duplicate_keys: :error) }
    3.times { assert_raises(Manypack::MalformedFormatError) { unpack(bad, duplicate_keys: :error) } }
    assert_equal rows(9, 1).first, unpack(good, duplicate_keys: :error)
  end

  def test_keys_of_every_kind
    [
      (0..9).to_h { |i| [i, i] }, (0..9).to_h { |i| [i + 0.5, i] }, (0..9).to_h { |i| [(2**64) - 1 - i, i] },
      (0..9).to_h { |i| ["bin #{i}".b, i] }, (0..9).to_h { |i| [[i], i] }, (0..9).to_h { |i| [{ "k" => i }, i] },
      (0..9).to_h { |i| ["ключ #{i}", i] }, (0..9).to_h { |i| ["#{i} is long" * 20, i] },
      { nil => 1, true => 2, false => 3, "a" => 4, 1 => 5, 1.5 => 6, "b".b => 7, [1] => 8, "c" => 9 }
    ].each do |row|
      unpacked = exercise { unpack(pack([row] * 4)) }
      assert_equal [row.to_a] * 4, unpacked.map(&:to_a)
      unpacked.each { |hash| row.each { |key, value| assert_equal value, hash[key] } }
    end
  end

  def test_keys_that_a_handler_gives_again_and_changes
    key = [0]
    factory = Manypack::Factory.new
    factory.register_type(1, Rational, packer: ->(_) { "" }, unpacker: ->(_) { key })
    row = bytes("89") + bytes("c7 00 01") + pack(0) + (1..8).map { |i| pack(i) * 2 }.join
    5.times do |i|
      key[0] = i
      assert_equal 0, exercise { factory.load(row) }[[i]]
    end
  end

  # So that under GC.stress the collector runs while a template is copied: nothing else is allocated between two rows.
  def test_rows_of_values_that_are_there_already
    row = rows(12, 1).first.transform_values { |value| value.is_a?(String) ? value : 1 }
    assert_equal [row] * 20, exercise { unpack(pack([row] * 20), shareable: true) }
  end

  def test_symbols_and_strings_are_kept_apart
    packed = pack(rows(12, 3))
    3.times do
      assert_equal rows(12, 3), unpack(packed)
      assert_equal rows(12, 3).map { |row| row.transform_keys(&:to_sym) }, unpack(packed, symbolize_keys: true)
    end
  end

  def test_frozen_and_shareable_rows
    rows = Array.new(5) { |i| rows(12, 1).first.merge("row" => ["value #{i}", i]) }
    { freeze: true, shareable: true }.each do |option, on|
      unpacked = exercise { unpack(pack(rows), option => on) }
      assert_equal rows, unpacked
      unpacked.each { |row| assert_predicate row, :frozen? }
      assert_raises(FrozenError) { unpacked.last["key 1"] = 2 }
    end
    assert Ractor.shareable?(unpack(pack(rows), shareable: true))
    assert_equal rows, unpack(pack(rows)).each { |row| row["key 1"] = row["key 1"] }, "and others are not"
  end

  def test_rows_inside_of_rows
    inner = rows(10, 1).first
    rows = Array.new(5) { |i| inner.merge("key 1" => inner.merge("key 2" => inner.merge("key 3" => i))) }
    assert_equal rows, exercise { unpack(pack(rows)) }
  end

  def test_rows_that_come_in_pieces
    packed = pack(rows(12, 4)) * 2
    unpacked = []
    unpacker = Manypack::Unpacker.new
    packed.each_char { |byte| unpacker.feed_each(byte) { |object| unpacked << object } }
    assert_equal [rows(12, 4)] * 2, unpacked
  end

  def test_rows_that_do_not_get_to_their_end
    packed = pack(rows(12, 3))
    (1...packed.bytesize).step(7) do |size|
      assert_raises(Manypack::TruncatedError) { unpack(packed.byteslice(0, size)) }
      assert_equal rows(12, 3), unpack(packed)
    end
  end

  # Its sum is of the addresses of keys: where one is higher and the next one lower by 31 times that, it is the same.
  def test_lists_of_keys_that_have_the_same_sum
    one, other = keys_of_the_same_sum(unpack(pack(Array.new(4_000) { |i| ["summed #{i}", i] }.to_h)).keys)
    more = (1..8).to_h { |i| ["key #{i}", i] }
    lists = [one, other].map { |keys| { **keys.to_h { |key| [key, key] }, **more } }
    3.times { assert_equal lists * 3, unpack(pack(lists * 3)) }
    assert_equal lists.flat_map { |row| [row] * 3 } * 2, unpack(pack(lists.flat_map { |row| [row] * 3 } * 2))
  end

  # What an Integer adds is known; where the longer list is longer, the sum is put right by its last key.
  def test_lists_of_keys_of_other_lengths_that_have_the_same_sum
    nine = (1..9).to_a
    ten = (10..99).map { |key| [*nine, key] }.find { |keys| (sum_of(nine) - (sum_of(keys, 22) * 31)).odd? }
    last = [(sum_of(nine) - (sum_of(ten, 22) * 31)) % (2**64)].pack("Q").unpack1("q") >> 1
    eleven = [*ten, last]
    assert_equal sum_of(nine), sum_of(eleven)
    rows = [eleven, nine, eleven, nine].flat_map { |keys| [keys.to_h { |key| [key, "#{keys.size}: #{key}"] }] * 3 }
    assert_equal rows, exercise { unpack(pack(rows)) }
  end

  # Now and then one begins when a template is filled and about to be copied.
  def test_rows_across_many_collections
    packed = pack(rows(12, 500))
    before = GC.count
    unpack(packed) until GC.count > before + (FEW_CASES ? 5 : 50)
    assert_equal rows(12, 500), unpack(packed)
    GC.verify_internal_consistency
  end

  def test_rows_across_compactions
    skip "no compaction here" unless GC.respond_to?(:compact)

    rows = rows(20, 5)
    3.times do
      assert_equal rows, unpack(pack(rows))
      GC.compact
    end
  end

  def test_each_ractor_has_its_own
    packed = pack(rows(12, 50))
    ractors = Array.new(4) { Ractor.new(packed) { |input| Array.new(20) { Manypack.unpack(input) }.uniq } }
    ractors.each do |ractor|
      assert_equal [rows(12, 50)], ractor.respond_to?(:value) ? ractor.value : ractor.take
    end
  end

  private

  def sum_of(integers, start = integers.size * 2)
    integers.inject(start) { |sum, integer| ((sum * 31) + (integer * 2) + 1) % (2**64) }
  end

  def keys_of_the_same_sum(keys)
    by_address = keys.to_h { |key| [ObjectSpace.dump(key)[/"address":"0x(\h+)"/, 1].hex, key] }
    by_address.each_key.each_cons(2) do |first, next_one|
      step = next_one - first
      last = by_address.each_key.find { |address| address != first && by_address[address - (31 * step)] }
      return [[first, last], [next_one, last - (31 * step)]].map { by_address.values_at(*_1) } if last
    end
    flunk "no such keys among #{keys.size}"
  end

  def rows(size, count)
    Array.new(count) { |i| (0...size).to_h { |key| ["key #{key}", key.even? ? "#{i}: #{key}" : [i, key]] } }
  end
end

# How many there are and for how long, where no other test has left some.
class HashTemplateLifeTest < Minitest::Test
  include ProgramHelper

  PRELUDE = <<~'RUBY'
    def row(list, size = 12) = (0...size).to_h { |key| ["key #{key} of #{list}", 1] }
    def pack(rows) = Manypack.pack(rows)

    COUNTS = ObjectSpace.count_objects
    def hashes = ObjectSpace.count_objects(COUNTS)[:T_HASH]

    # Hashes that are there after so many rows are unpacked, beside these.
    def more_hashes(packed, count, codec = Manypack::Codec.new)
      before = hashes
      codec.unpack(packed)
      hashes - before - count
    end
  RUBY

  def test_a_list_of_keys_leaves_a_template_when_it_comes_again
    assert_program "#{PRELUDE}#{<<~'RUBY'}", "0, 40, 0, 20 of 100, 1 of 5"
      GC.disable
      once = pack(Array.new(200) { |i| row("once #{i}") })
      twice = pack(Array.new(80) { |i| row("twice #{i / 2}") })
      small = pack(Array.new(50) { |i| row("small #{i / 5}", 8) })
      turns = pack(Array.new(100) { |i| row("turns #{i % 20}") })
      symbols = pack([row("symbols")] * 5)
      print more_hashes(once, 200), ", ", more_hashes(twice, 80), ", ", more_hashes(small, 50), ", "
      print more_hashes(turns, 100), " of 100, ", more_hashes(symbols, 5, Manypack::Codec.new(symbolize_keys: true)), " of 5"
    RUBY
  end

  def test_a_key_twice_in_a_map_leaves_none
    assert_program "#{PRELUDE}#{<<~'RUBY'}", "0"
      GC.disable
      map = "\x8A".b + Array.new(10) { |i| pack("key #{i % 9}") + pack(1) }.join
      print more_hashes("\xDC\0\x14".b + (map * 20), 20)
    RUBY
  end

  # A list of keys is found by a sum over the words of its objects, which Integers can be chosen by: 1 more in one place
  # is 31 less in the next.
  def test_keys_chosen_to_have_the_sum_of_others_leave_one_template_in_all
    assert_program "#{PRELUDE}#{<<~'RUBY'}", "1"
      GC.disable
      rows = Array.new(200) { |i| [*1..20, 1_000 + i, 1_000_000 - (31 * i)].to_h { |key| [key, i] } }
      print more_hashes(pack(rows), 200)
    RUBY
  end

  def test_nobody_meets_a_template
    assert_program "#{PRELUDE}#{<<~'RUBY'}", "1"
      GC.disable
      source = row("hidden")
      rows = Manypack.unpack(pack([source] * 50))
      print ObjectSpace.each_object(Hash).count { |hash| hash.key?("key 0 of hidden") } - rows.size
    RUBY
  end

  def test_no_template_holds_anything_beyond_a_collection
    assert_program "#{PRELUDE}#{<<~'RUBY'}", "[]"
      # On stacks that are gone afterwards: the collector finds on this one what was there before.
      packed = Thread.new do
        [2, 4, 4].each_with_index.map do |count, list|
          pack(Array.new(count) { |i| row(list).merge("value" => "forget #{list} #{i}", "a long key " * 50 * list => 1) })
        end
      end.value
      Thread.new { 3.times { packed.each { |rows| Manypack.unpack(rows) } } && nil }.join
      3.times { GC.start }
      p(ObjectSpace.each_object(String).select { |one| one.b.match?(/\A(forget \d \d|(a long key ){2,})\z/n) })
    RUBY
  end
end

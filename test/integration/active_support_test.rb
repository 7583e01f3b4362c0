# frozen_string_literal: true

# Factory#register_common beside the real ActiveSupport::MessagePack: the same bytes, read by both.
require "test_helper"
require "active_support"
require "active_support/core_ext/string/output_safety"
require "active_support/message_pack"

class ActiveSupportTest < Minitest::Test
  NAMES = %i[symbol bigint bigdecimal rational complex datetime date time range set uri ipaddr pathname regexp].freeze
  FACTORY = Manypack::Factory.new.tap { |factory| factory.register_common(*NAMES) }.freeze
  SIGNATURE = "\xCC\x80".b

  VALUES = [
    :ready, :"with space", :é, 1 << 64, -(1 << 200), (1 << 64) - 1,
    BigDecimal("-1.5"), BigDecimal("0"), BigDecimal("-0"), BigDecimal("Infinity"), BigDecimal("1e-400"), BigDecimal("1" * 50),
    Rational(-3, 4), Rational(0), Rational(1 << 70, 3), Complex(1, 2.5), Complex(Rational(1, 2), BigDecimal("1.5")),
    DateTime.new(2026, 1, 31, 12, 30, Rational(3, 2), "+2"), DateTime.new(-4712, 1, 1), Date.new(2026, 1, 31), Date.new(-1),
    Time.at(1, 500, :nsec, in: "+09:00"), Time.at(-1, in: "-12:00"), Time.utc(2026), 1.., ..2, 1...3, "a".."z",
    Date.new(2026)..Date.new(2027), Set[], Set[1, :a, Set[nil]], URI("http://example.com/?a=1"), URI("mailto:a@b"),
    IPAddr.new("10.0.0.0/8"), IPAddr.new("127.0.0.1"), IPAddr.new("::1"), IPAddr.new("fe80::/10"), IPAddr.new("fe80::/48"),
    Pathname("/tmp/file"), { "list" => [Set[Date.new(2026)], { key: Rational(1, 3) }] }
  ].freeze

  def test_both_write_the_same_bytes
    VALUES.each { |value| assert_equal from_rails(value).unpack1("H*"), FACTORY.dump(value).unpack1("H*"), value.inspect }
  end

  def test_both_read_what_the_other_one_writes
    VALUES.each do |value|
      [FACTORY.load(from_rails(value)), ActiveSupport::MessagePack.load(SIGNATURE + FACTORY.dump(value))].each do |actual|
        assert_equal value, actual
        assert_same value.class, actual.class
      end
    end
  end

  def test_a_regexp_crosses_both_ways
    assert_equal from_rails(/a+\n/i), FACTORY.dump(/a+\n/i)
    assert_match FACTORY.load(from_rails(/A+/i)), "aa"
    assert_match ActiveSupport::MessagePack.load(SIGNATURE + FACTORY.dump(/A+/i)), "aa"
  end

  # Also of a class that a newer ActiveSupport might add.
  def test_no_number_means_another_class_in_rails
    ActiveSupport::MessagePack.warmup
    theirs = ActiveSupport::MessagePack.message_pack_factory.registered_types.to_h { |entry| entry.values_at(:type, :class) }
    ours = FACTORY.registered_types.to_h { |entry| entry.values_at(:type, :class) }
    assert_equal ours, theirs.slice(*ours.keys)
  end

  private

  def from_rails(value)
    ActiveSupport::MessagePack.dump(value).delete_prefix(SIGNATURE)
  end
end

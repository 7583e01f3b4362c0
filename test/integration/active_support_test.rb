# frozen_string_literal: true

# Factory#register_common beside the real ActiveSupport::MessagePack: the same bytes, read by both.
require "test_helper"
require "active_support"
require "active_support/core_ext/object/json"
require "active_support/core_ext/string/output_safety"
require "active_support/message_pack"
require "manypack/active_support"

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
    ours = by_type(FACTORY)
    assert_equal ours, theirs_by_type.slice(*ours.keys)
  end

  RAILS_FACTORY = Manypack::Factory.new.tap { |factory| Manypack::ActiveSupport.register_types(factory) }.freeze
  RAILS_VALUES = [
    ActiveSupport::TimeZone["Berlin"].local(2026, 7, 1, 12, 30, 1.5), ActiveSupport::TimeZone["UTC"].at(-1, 5, :nsec),
    ActiveSupport::TimeZone["Hawaii"], ActiveSupport::TimeZone["Europe/Berlin"], 3.days, 1.year - 2.months + 3.5.hours, 0.seconds,
    -5.minutes, 5.minutes / 7, 1.day / 5, 1.month / 2, 1.month * 1.5, 5.minutes / 7.0, 1.year / 3, { a: 1, "b" => { c: [1.day] } }.with_indifferent_access
  ].freeze

  def test_rails_own_classes_too
    ActiveSupport::MessagePack.warmup
    (RAILS_VALUES + (theirs_by_type.key?(18) ? ["<é>".html_safe] : [])).each do |value|
      assert_equal from_rails(value).unpack1("H*"), RAILS_FACTORY.dump(value).unpack1("H*"), value.inspect
      ours = RAILS_FACTORY.load(from_rails(value))
      assert_equal [value.class, value.inspect], [ours.class, ours.inspect]
      assert_equal value, ours
    end
  end

  # Also one that a newer Rails adds. Rails 7.2 does not know SafeBuffer.
  def test_every_type_of_rails_is_known
    ActiveSupport::MessagePack.warmup
    assert_equal({ 18 => ActiveSupport::SafeBuffer }.merge(theirs_by_type.except(127)), by_type(RAILS_FACTORY))
  end

  # Enumerable and Object have an as_json of their own, which knows neither keys nor fields.
  def test_views_and_lazy_records_render_as_json
    bytes = Manypack.pack({ "id" => 1, "tags" => ["a"] })
    lazy = Manypack::Record.new(Struct.new(:id, :tags), id: Integer, tags: [String]).lazy.load(bytes)

    [Manypack::View.new(bytes), lazy].each do |one|
      assert_equal({ "id" => 1, "tags" => ["a"] }, one.as_json)
      assert_equal({ "tags" => ["a"] }, one.as_json(except: "id"))
      assert_equal({ "tags" => ["a"] }, one.as_json(only: :tags)) unless one.is_a?(Manypack::View)
      assert_equal %({"all":[{"id":1,"tags":["a"]}]}), { all: [one] }.to_json
    end
  end

  private

  def theirs_by_type
    by_type(ActiveSupport::MessagePack.message_pack_factory)
  end

  def by_type(factory)
    factory.registered_types.to_h { |entry| entry.values_at(:type, :class) }
  end

  def from_rails(value)
    ActiveSupport::MessagePack.dump(value).delete_prefix(SIGNATURE)
  end
end

# frozen_string_literal: true

# Equal objects have one canonical form, including those of ready-made types, which order their own bodies.
require "test_helper"
require "bigdecimal"
require "date"
require "ipaddr"
require "pathname"
require "set"
require "uri"

class CanonicalEqualTest < Minitest::Test
  include CorePart

  FACTORY = Manypack::Factory.new.tap { |factory| factory.register_common(*Manypack.const_get(:CommonTypes)::TABLE.keys) }

  HASH, TURNED = { "a" => 1, "b" => [2] }, { "b" => [2], "a" => 1 }
  LONG_ONE = BigDecimal("1") + BigDecimal("1e-60") - BigDecimal("1e-60")

  EQUAL = [
    [Set[1, 2, 300], Set[300, 2, 1]], [Set["b", :a, nil, 1.5], Set[1.5, nil, :a, "b"]], [Set[HASH, 1], Set[1, TURNED]],
    [Set[Set[1, 2], Set[3]], Set[Set[3], Set[2, 1]]], [{ Set[1, 2] => Set[4, 3] }, { Set[2, 1] => Set[3, 4] }],
    [[Set[*1..99]], [Set[*(1..99).to_a.reverse]]], [Set[2**70, -1], Set[-1, 2**70]], [Set[1..2, 3..], Set[3.., 1..2]],
    [{ Set[:x] => 1, [Set[1, "y"]] => 2 }, { [Set["y", 1]] => 2, Set[:x] => 1 }],
    [BigDecimal("1.0"), BigDecimal("1.00")], [BigDecimal("1"), LONG_ONE], [BigDecimal("100"), BigDecimal("1e2")],
    [Rational(2, 4), Rational(1, 2)], [Complex(Rational(2, 4), 1), Complex(Rational(1, 2), 1)], [1..2, Range.new(1, 2)],
    [/a/i, Regexp.new("a", Regexp::IGNORECASE)], [URI("http://a/"), URI("http://a:80/")], [URI("HTTP://a/"), URI("http://a/")],
    [IPAddr.new("10.1.2.3/8"), IPAddr.new("10.0.0.0/8")], [IPAddr.new("0:0::1"), IPAddr.new("::1")],
    [Date.new(2020, 1, 1), Date.jd(2_458_850)], [DateTime.new(2020, 1, 1, 12, 0, Rational(2, 4)), DateTime.new(2020, 1, 1, 12, 0, 0.5)],
    [Time.at(5, 500, :millisecond, in: "+01:00"), Time.at(5, 500_000_000, :nsec, in: 3_600)], [Pathname("a"), Pathname("a")]
  ].freeze

  EQUAL.each_with_index do |(one, other), i|
    define_method("test_equal_objects_have_one_form_#{i}_#{one.class}") do
      assert one.eql?(other), one.inspect
      forms = exercise { [one, other].map { |object| FACTORY.dump([object], canonical: true) } }
      assert_equal(*forms)
      assert Manypack.canonical?(forms[0])
      assert_equal [one], FACTORY.load(forms[0]) unless one.is_a?(Regexp)
    end
  end

  def test_sets_keep_their_order_without_the_option
    assert_equal [2, 1], FACTORY.load(FACTORY.dump(Set[2, 1])).to_a
    assert_equal [1, 2], FACTORY.load(FACTORY.dump(Set[2, 1], canonical: true)).to_a
  end

  def test_what_has_no_canonical_form_has_none_in_a_set
    assert_raises(EncodingError) { FACTORY.dump(Set["\xFF"], canonical: true) }
    itself = Set[]
    itself << itself
    assert_raises(Manypack::NestingError) { FACTORY.dump(itself, canonical: true) }
  end
end

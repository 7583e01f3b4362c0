# frozen_string_literal: true

# Packed bytes straight from JSON: what comes out is what packing the parsed objects gives, or nothing comes out.
require "test_helper"
require "json"
require "support/terminal_classes"

class JSONParseTest < Minitest::Test
  include CorePart

  JSONText = Manypack.const_get(:JSONText)
  ROUNDS = FEW_CASES ? 5 : 1_000

  # What every parser takes, and takes as the same.
  PLAIN = ["null", "true", "false", "0", "-0", "-1", "127", "128", "-32", "-33", "65536", (2**63 - 1).to_s, (-(2**63) + 1).to_s, "1.5",
           "-0.0", "0.1e1", "1E+2", "1e-3", "0.1", "2.2250738585072014e-308", "179769313486231570000000000000000000000.0",
           '""', '"a"', "\"#{"é" * 40}\"", "\"#{"x" * 70_000}\"", '"\"\\\\\/\b\f\n\r\t"', '"\u00e9\u20AC\ud83d\ude00\u0041"',
           "\"#{'\u0041' * 32}\"", "[]", "{}", "[[],{}]", "[#{(["1"] * 15).join(",")}]", "[#{(["[2]"] * 16).join(",")}]",
           "[#{(["3"] * 70_000).join(",")}]", "{#{(0..15).map { |i| "\"k#{i}\":[#{i}]" }.join(",")}}",
           "{#{(0..70_000).map { |i| "\"k#{i}\":#{i}" }.join(",")}}", '{"a":{"b":{"a":[{"a":1},{"a":2}]}},"b":1}', '{"":0}',
           " [ 1 , { \"a\"\t:\r 2 } ] ", "#{"[" * 512}#{"]" * 512}"].freeze

  # Each is an error, or says something that is not for JSONText.
  OTHERS = ["", " ", "x", "nul", "truex", "01", "-", "+1", "1.", ".5", "1e", "1e+", "-a", "NaN", "Infinity", '"', '"\\', '"\q"', '"\u12"',
            '"\u12g4"', '"\ud800"', '"\ud800\u0041"', '"\udc00"', "\"\n\"", "\"\u0001\"", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]",
            "{", "}", "{1:2}", '{"a"', '{"a":', '{"a":1', '{"a":1,}', '{"a" 1}', '{"a":1 "b":2}', "[}", "{]", "1 2", "[] []", "/**/1",
            (2**64).to_s, (-(2**64)).to_s, "0.#{"1" * 70}", '{"$":1}', '{"$bin":"YQ=="}', '{"\u0024bin":"YQ=="}', '[{"b":1,"$null":1}]',
            '{"a":1,"a":2}', '{"a":1,"\u0061":2}', "{#{(0..99).map { |i| "\"k#{i % 99}\":1" }.join(",")}}", '[1,{"x":[],"y":{},"x":0}]',
            "#{"[" * 513}#{"]" * 513}", "\u{feff}1", "\0", "1\0"].freeze

  def test_what_has_one_meaning
    PLAIN.each { |text| assert_equal [packed(text), text.bytesize], parse(text), text[0, 60] }
  end

  def test_everything_else_is_left_to_others
    OTHERS.each do |text|
      bytes, stop = parse(text)
      assert_equal "", bytes, text[0, 60]
      assert_includes text.strip.empty? ? [0, text.bytesize] : [0], stop, text[0, 60]
    end
  end

  def test_lines
    text = "1\n\n [2]\r\n{\"a\":\t3}\n\"last\""
    assert_equal [stream(1, [2], {"a" => 3}, "last"), text.bytesize], parse(text, lines: true)
    assert_equal [stream([2], {"a" => 3}, "last"), text.bytesize], parse(text, 2, lines: true)
    assert_equal ["\x01", 2], parse("1\n[\n2]\n3\n", lines: true)
    assert_equal ["\x01", 2], parse("1\n2 3\n4\n", lines: true)
    assert_equal ["\x01\x02".b, 4], parse("1\n2\n[3,{\"a\":[4],\"a\":5}]\n6\n", lines: true)
    assert_equal ["", 0], parse("", lines: true)
    assert_equal ["", 3], parse("1\n2", 3, lines: true)
    assert_raises(RangeError) { parse("1", 2, lines: true) }
    assert_raises(TypeError) { parse(nil) }
  end

  # Whatever text comes, whole or changed.
  def test_random_texts
    random = Random.new(18)
    ROUNDS.times do
      text = random_text(random, 4)
      assert_equal [packed(text), text.bytesize], parse(text), text
      3.times do
        changed = text.b
        changed[random.rand(changed.bytesize)] = ['"', "\\", ",", "]", "}", "1", "\n", "$", "\x80", "\xff", "u"].sample(random: random).b
        assert_same_or_left changed.force_encoding("UTF-8")
        assert_same_or_left text.byteslice(0, random.rand(text.bytesize))
      end
    end
  end

  def test_random_numbers
    random = Random.new(19)
    ROUNDS.times do
      float = [random.rand(1 << 64)].pack("Q").unpack1("d")
      texts = [random.rand(-1e3..1e3).to_s, "#{random.rand(1 << 70)}e#{random.rand(-330..286)}", "-#{random.rand(1 << 65)}.#{random.rand(1 << 30)}"]
      texts << float.to_s if float.finite?
      texts.each { |text| assert_same_or_left text }
    end
  end

  private

  def parse(text, start = 0, lines: false)
    exercise { JSONText.parse(text, start, lines) }
  end

  def stream(*objects) = objects.map { |object| Manypack.pack(object) }.join

  def packed(text) = Manypack.pack(JSON.parse(text, max_nesting: 512), max_depth: 512)

  def assert_same_or_left(text)
    bytes, stop = parse(text)
    return assert_equal packed(text), bytes, text unless bytes.empty?

    assert_includes text.b.strip.empty? ? [0, text.bytesize] : [0], stop, text
  end

  def random_text(random, depth)
    case random.rand(depth.zero? ? 4 : 6)
    when 0 then %w[null true false 0 -7 300 70000 5000000000 1.25 -3e2].sample(random: random)
    when 1, 2, 3 then random_string(random)
    when 4 then "[#{Array.new(random.rand(20)) { random_text(random, depth - 1) }.join([",", ", "].sample(random: random))}]"
    else "{#{Array.new(random.rand(20)) { |i| "#{random_string(random, i)}: #{random_text(random, depth - 1)}" }.join(",")}}"
    end
  end

  # A number makes it differ from others.
  def random_string(random, number = nil)
    text = Array.new(random.rand(40)) do
      ["a", "é", "€", "😀", '\n', '\"', '\\\\', '\u00e9', '\u20ac', '\ud83d\ude00', " ", "/"].sample(random: random)
    end
    "\"#{number}#{text.join}\""
  end
end

# frozen_string_literal: true

# Every count, length and place that code which looks at 8 or 16 bytes at once might take for another, and every
# distance from the end of the text or the message. No luck: a build with sanitizers sees each read.
require "test_helper"
require "json"

class JSONEdgesTest < Minitest::Test
  # Longer than what Ruby keeps in the object of a String, and what to_json copies to the C stack.
  BEFORE = "[#{"0," * 150}"
  PADS = [*0..18, 23, 24, 25, 31, 32, 33, 39, 40, 41, 63, 64, 95, 96, 97].freeze
  DIGITS = "1234567890987654321012"
  SIGNS = ["", "-"].freeze

  # What stands for a character: an escape, and characters of one to four bytes.
  SPECIAL = ["\\n", "\\\"", "\\u00e9", "\\ud83d\\ude00", "\x7f", "é", "€", "😀"].freeze

  NUMBERS = (1..DIGITS.size).flat_map do |size|
    digits = DIGITS[0, size]
    [digits, "0.#{digits}", "0.00#{digits}", *(1...size).map { |place| digits.dup.insert(place, ".") }]
  end.product(SIGNS).map { |number, sign| sign + number }.select { |number| number.include?(".") || number.to_i.bit_length < 64 }.freeze

  def test_numbers_of_every_count_of_digits_and_place_of_the_point
    numbers = NUMBERS.product(["", "e3", "E-7"]).map(&:join).reject { |number| number.match?(/\A-?\d{19,}\z/) }
    text = "[#{numbers.join(",")}]"
    expected = JSON.parse(text)
    assert_equal Manypack.pack(expected), Manypack.from_json(text)
    numbers.zip(expected) { |number, value| assert_packed value, "#{number} ".ljust(64) }
    assert_operator numbers.size, :>, 1_500
  end

  def test_numbers_at_every_distance_from_the_end
    NUMBERS.each_slice(3) do |number, *|
      packed = Manypack.pack(JSON.parse(number))
      PADS.each { |pad| assert_last packed, number, pad }
    end
  end

  def test_digits_are_not_taken_for_what_follows_them
    ["/", ":", "\xff", "\0", "e", "x", "..", ".5.", "-"].each do |after|
      (1..20).each do |size|
        assert_raises(Manypack::JSONError) { Manypack.from_json("#{BEFORE}#{DIGITS[0, size]}#{after}]".ljust(400)) }
        assert_raises(Manypack::JSONError) { Manypack.from_json("#{BEFORE}#{DIGITS[0, size]}.#{DIGITS[0, 21 - size]}#{after}]") }
      end
    end
  end

  def test_strings_of_every_length_with_anything_at_each_place
    each_string do |string|
      packed = Manypack.pack(JSON.parse(string))
      [0, 1, 14, 15, 16, 30, 31, 64].each { |pad| assert_last packed, string, pad }
    end
  end

  def test_strings_that_are_wrong_at_each_place
    ["\x01", "\xff", "\xed\xa0\x80", "\\x", "\\ud800", "\\u12"].product([*0..40]) do |wrong, place|
      text = "#{BEFORE}\"#{"a" * place}#{wrong}#{"z" * (40 - place)}\"]".b
      error = assert_raises(Manypack::JSONError, text) { Manypack.from_json(text) }
      assert_equal BEFORE.bytesize + 1 + place, error.offset, text
    end
  end

  def test_a_text_that_ends_anywhere
    text = %({"a\\u00e9€":[1.5,-12345678901234567,true,null,{"":"#{"é" * 20}\\n"}],"b":"\\ud83d\\ude00"})
    (0...text.bytesize).each do |size|
      [text.byteslice(0, size), "#{" " * 32}#{text.byteslice(0, size)}"].each { |part| assert_raises(Manypack::JSONError) { Manypack.from_json(part.b) } }
    end
    PADS.each { |pad| assert_equal Manypack.pack(JSON.parse(text)), Manypack.from_json("#{" " * pad}#{text}#{"\n" * pad}") }
  end

  # Known keys are compared with the text ahead of them, up to their longest.
  def test_keys_of_every_length_that_come_again
    (0..70).each do |size|
      key = "k" * size
      maps = Array.new(30) { |i| { key => i, "#{key}x" => 0, "#{key}é" => 0 } } + [{ "#{key}y" => 1, key => 2 }, { key => 3 }]
      assert_equal Manypack.pack(maps), Manypack.from_json(JSON.generate(maps)), size
      assert_equal Manypack.pack(maps), Manypack.from_json(JSON.generate(maps, ascii_only: true)), size
    end
  end

  def test_space_of_every_length
    [" ", "\n", "\t", "\r", " \n"].product([*0..40]) do |space, n|
      run = space * n
      assert_equal "\x92\x01\x81\xA1a\x02".b, Manypack.from_json("#{run}[#{run}1#{run},#{run}{#{run}\"a\"#{run}:#{run}2#{run}}#{run}]#{run}")
    end
  end

  def test_strings_written_of_every_length_with_anything_at_each_place
    zeros = [0] * 300
    each_string do |text|
      string = JSON.parse(text)
      [[string], [*zeros, string], [{ string => string }], [*zeros, { string => 1 }]].each do |object|
        assert_equal JSON.generate(object), Manypack.to_json(Manypack.pack(object))
      end
      expected = [JSON.generate([*zeros, string], script_safe: true), JSON.generate([*zeros, string], ascii_only: true)]
      bytes = Manypack.pack([*zeros, string])
      assert_equal expected, [Manypack.to_json(bytes, script_safe: true), Manypack.to_json(bytes, ascii_only: true)]
    end
  end

  def test_strings_that_are_no_text_are_not_written
    ["\xff", "\xe2\x82", "\xed\xa0\x80", "\xc0\x80"].product([*0..40]) do |wrong, place|
      string = "a" * place + wrong
      [[], [0] * 300].each do |before|
        bytes = Manypack.pack([*before, string])
        error = assert_raises(Manypack::MalformedFormatError) { Manypack.to_json(bytes) }
        assert_equal bytes.bytesize - Manypack.pack(string).bytesize, error.offset, string
        assert_raises(Manypack::MalformedFormatError) { Manypack.to_json(Manypack.pack([*before, { string => 1 }])) }
      end
    end
  end

  def test_numbers_written_at_every_distance_from_the_end
    (0..19).flat_map { |n| [10**n, 10**n - 1, -(10**n), DIGITS[0, n + 1].to_i / 10.0**(n / 2)] }.each do |number|
      next unless number.is_a?(Float) || number.between?(-(2**63), 2**64 - 1)

      [[number], [*[0] * 300, number], [*[0] * 300, number, *[7] * 60]].each do |object|
        assert_equal object, JSON.parse(Manypack.to_json(Manypack.pack(object)))
      end
    end
  end

  private

  # Strings of JSON of up to 40 characters, with each kind of special character at each place.
  def each_string
    (0..40).each do |size|
      yield "\"#{"a" * size}\""
      size.times do |place|
        yield "\"#{"a" * place}#{SPECIAL[(place + size) % SPECIAL.size]}#{"b" * (size - place - 1)}\""
        yield "\"#{"a" * place}\\t#{"b" * (size - place - 1)}\"" if place % 8 > 5 || size < 18
      end
    end
  end

  # The value is the last one in the text, followed by a bracket and white space.
  def assert_last(packed, value, pad)
    assert_equal packed, Manypack.from_json("#{BEFORE}#{value}]#{" " * pad}").byteslice(153..), "#{value} #{pad}"
  end

  def assert_packed(value, text)
    assert_equal Manypack.pack(value), Manypack.from_json(text), text
  end
end

# frozen_string_literal: true

# Manypack.from_json: the bytes are those that packing the parsed objects gives, and what is refused says where.
require "test_helper"
require "json"
require "stringio"

class FromJSONTest < Minitest::Test
  include CorePart

  ROUNDS = FEW_CASES ? 5 : 400

  # What every parser takes, and takes as the same.
  PLAIN = ["null", "true", "false", "0", "-0", "-1", "127", "128", "-32", "-33", "65536", (2**63 - 1).to_s, (2**64 - 1).to_s, (-(2**63)).to_s, "1.5",
           "-0.0", "0.1e1", "1E+2", "1e-3", "0.1", "5e-324", "2.2250738585072014e-308", "2.2250738585072011e-308", "1.7976931348623157e308",
           "179769313486231570000000000000000000000.0", "0.#{"1" * 70}", "9007199254740993.0", "0e999", "1#{"0" * 400}e-400",
           '""', '"a"', "\"#{"é" * 40}\"", "\"#{"x" * 70_000}\"", '"\"\\\\\/\b\f\n\r\t"', '"\u00e9\u20AC\ud83d\ude00\u0041\u0000"',
           "\"#{'\u0041' * 32}\"", "[]", "{}", "[[],{}]", "[#{(["1"] * 15).join(",")}]", "[#{(["[2]"] * 16).join(",")}]",
           "[#{(["3"] * 70_000).join(",")}]", "{#{(0..15).map { |i| "\"k#{i}\":[#{i}]" }.join(",")}}",
           "{#{(0..70_000).map { |i| "\"k#{i}\":#{i}" }.join(",")}}", '{"a":{"b":{"a":[{"a":1},{"a":2}]}},"b":1}', '{"":0}',
           " [ 1 , { \"a\"\t:\r 2 } ]\n", "#{"[" * 90}#{"]" * 90}", '{"$bin":"YQ=="}', '{"$":1}'].freeze

  REFUSED = ["", " ", "x", "nul", "truex", "01", "-01", "-", "+1", "1.", ".5", "1.e1", "1e", "1e+", "-a", "NaN", "Infinity", "-Infinity", '"', '"\\', '"\q"',
             '"\u12"', '"\u12g4"', '"\ud800"', '"\ud800\u0041"', '"\udc00"', '"\ud800\ud800"', "\"\n\"", "\"\u0001\"", "\"\0\"", "[", "]", "[1", "[1,", "[1,]",
             "[,1]", "[1 2]", "{", "}", "{1:2}", '{"a"', '{"a":', '{"a":1', '{"a":1,}', '{"a" 1}', '{"a":1 "b":2}', "[}", "{]", "1 2", "[] []", "/**/1", "[1]//",
             (2**64).to_s, (-(2**63) - 1).to_s, "9" * 1000, '{"a":1,"a":2}', '{"a":1,"\u0061":2}', '{"\u0061":1,"a":2}', "1e400", "-1e400",
             "{#{(0..99).map { |i| "\"k#{i % 99}\":1" }.join(",")}}", '[1,{"x":[],"y":{},"x":0}]', "[#{"[" * 128}1#{"]" * 128}]", "\u{feff}1", "\0", "1\0",
             "\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "[\"\xf5\x80\x80\x80\"]", "\xff\xfe1\0", "'a'", "[1\u00a0]"].freeze

  def test_the_bytes_are_those_of_the_parsed_objects
    PLAIN.each { |text| assert_equal packed(text), from_json(text), text[0, 60] }
  end

  def test_what_is_no_json_is_refused
    REFUSED.each do |text|
      error = assert_raises(Manypack::UnpackError, text[0, 60]) { from_json(text) }
      assert_match(/, line 1, column \d+\z/, error.message)
      assert_equal [1, true], [error.line, error.offset <= text.bytesize], text[0, 60]
    end
  end

  def test_errors_say_where
    { "[1,\n 2,\n \"é\", x]" => ['expected a value, got "x]", at $[3], line 3, column 7', 3, 7, 15, "$[3]"],
      '{"users":[{"id":1},{"id":tru}]}' => ['expected a value, got "tru}]}", at $.users[1].id, line 1, column 26', 1, 26, 25, "$.users[1].id"],
      '{"a":{"b":1,"b":2}}' => ['the key "b" is there twice, at $.a, line 1, column 13', 1, 13, 12, "$.a"],
      "[\"é\n\"]" => ["a string has the control character \\u000a, which must be escaped, at $[0], line 1, column 4", 1, 4, 4, "$[0]"],
      '{"a":[1' => ["expected a comma or ], got the end of the text, at $.a, line 1, column 8", 1, 8, 7, "$.a"],
      "[1e999]" => ["1e999 is too large for a Float, at $[0], line 1, column 2", 1, 2, 1, "$[0]"],
      '["a\ud800"]' => ["half of a pair of surrogates, at $[0], line 1, column 4", 1, 4, 3, "$[0]"],
      "[99999999999999999999]" => ["the Integer 99999999999999999999 has more than 64 bits; register_common(:bigint) on a Factory packs it, at $[0], line 1, column 2", 1, 2, 1, "$[0]"] }
      .each do |text, expected|
        error = assert_raises(Manypack::JSONError) { from_json(text) }
        assert_equal expected, [error.message, error.line, error.column, error.offset, error.path]
        assert_kind_of Manypack::DecodeError, error
      end
    assert_nil assert_raises(Manypack::DecodeError) { Manypack.unpack("\xC1") }.line
  end

  # Of the second key, whichever way it was found.
  def test_a_key_that_comes_twice_is_found_where_it_stands
    long = "x" * 600
    ["", ",\"#{long}\":[]", ",#{(0..300).map { |i| "\"k#{i}\":#{i}" }.join(",")}"].each do |between|
      [%w[a a], %w[a \u0061], %w[\u0061 a]].each do |one, other|
        text = "[{\"#{one}\":{\"a\":1}#{between},\"#{other}\":2}]"
        error = assert_raises(Manypack::JSONError) { from_json(text) }
        assert_equal [text.rindex("\"#{other}\":2") + 1, "$[0]"], [error.column, error.path]
      end
    end
  end

  def test_the_last_of_equal_keys_counts_if_that_is_asked_for
    ['{"a":1,"b":2,"a":[3],"c":{"x":1,"x":{"y":[],"y":{}}},"b":0}', "{#{(0..999).map { |i| "\"k#{i % 10}\":[#{i}]" }.join(",")}}", '{"a":1,"\u0061":2}'].each do |text|
      expected = Manypack.pack(JSON.parse(text, **(JSON::VERSION >= "2.13" ? { allow_duplicate_key: true } : {})))
      assert_equal expected, from_json(text, allow_duplicate_key: true)
    end
    deep = "{\"a\":1,\"a\":" * 20 + "[]" + "}" * 20
    assert_equal Manypack.pack(JSON.parse(deep.gsub('"a":1,', ""))), from_json(deep, allow_duplicate_key: true)
    factory = Manypack::Factory.new
    factory.register_common(:bigint)
    assert_equal factory.dump({ "a" => 2**70 }), factory.from_json("{\"a\":1,\"a\":#{2**70}}", allow_duplicate_key: true)
    long = "x" * 40
    assert_equal Manypack.pack({ "a" => long }, compatibility_mode: true), from_json("{\"a\":1,\"a\":\"#{long}\"}", allow_duplicate_key: true, compatibility_mode: true)
    assert_equal ["\x81\xA1a\x02".b, "\x81\xA1b\x03".b], Manypack.foreach_json(StringIO.new('{"a":1,"a":2} {"b":1,"b":3}'), allow_duplicate_key: true).to_a
  end

  def test_numbers_that_json_has_not
    back = Manypack.unpack(from_json("[NaN,Infinity,-Infinity,1e400,-1e400]", allow_nan: true))
    assert_predicate back.shift, :nan?
    assert_equal [Float::INFINITY, -Float::INFINITY, Float::INFINITY, -Float::INFINITY], back
    ["nan", "NaNx", "-NaN", "Infinit", "+Infinity"].each { |text| assert_raises(Manypack::JSONError) { from_json(text, allow_nan: true) } }
  end

  def test_an_integer_of_more_than_64_bits_takes_an_ext_type
    factory = Manypack::Factory.new
    factory.register_common(:bigint)
    [2**64, -(2**63) - 1, 10**3000].each { |number| assert_equal factory.dump([number]), factory.from_json("[#{number}]") }
    assert_equal factory.dump(2**64 - 1), factory.codec.from_json((2**64 - 1).to_s)
    assert_raises(Manypack::JSONError) { factory.from_json("1" * 1_000_000) }
  end

  LIMITS = { max_depth: [2, "[[1]]", "[[[1]]]"], max_array_size: [2, "[1,2]", "[1,2,3]"], max_map_size: [1, '{"a":1}', '{"a":1,"b":2}'],
             max_string_bytes: [2, '"é"', '"éa"'], max_objects: [5, '{"a":[1,2]}', '{"a":[1,2,3]}'], max_bytes: [3, "[1]", "[1] "] }.freeze

  def test_limits
    LIMITS.each do |option, (limit, good, bad)|
      assert_equal packed(good), from_json(good, option => limit), option
      error = assert_raises(option == :max_depth ? Manypack::StackError : Manypack::LimitError, option.to_s) { from_json(bad, option => limit) }
      assert_equal option, error.limit unless option == :max_depth
      assert_equal [1, true], [error.line, error.message.end_with?("line 1, column #{error.column}")], option
      assert_raises(Manypack::UnpackError) { Manypack::Codec.new(option => limit).from_json(bad) }
    end
    ["[" * 33 + "1" + "]" * 33, "[#{(["1"] * 10_001).join(",")}]", "\"#{"x" * 262_145}\"", " " * (1 << 20) + "1"].each do |text|
      assert Manypack.from_json(text)
      assert_raises(Manypack::UnpackError) { from_json(text, untrusted: true) }
    end
  end

  # As bytes that unpack takes.
  def test_an_empty_container_needs_no_depth
    assert_equal [[[[]]]].to_s, Manypack.unpack(from_json("[[[[]]]]", max_depth: 3)).to_s
    assert_equal 127, Manypack.unpack(from_json("#{"[" * 128}#{"]" * 128}")).flatten(126).inspect.count("[") + 125
  end

  def test_the_forms_of_packing
    text = '{"b":1.5,"a":"' + "x" * 40 + '"}'
    assert_equal Manypack.pack(JSON.parse(text), canonical: true), from_json(text, canonical: true)
    assert_equal Manypack.pack(JSON.parse(text), compatibility_mode: true), from_json(text, compatibility_mode: true)
  end

  def test_texts_in_other_encodings_are_read_as_json_reads_them
    [Encoding::UTF_16LE, Encoding::UTF_16BE, Encoding::UTF_32LE, Encoding::ISO_8859_1].each do |encoding|
      assert_equal packed('["é"]'), from_json('["é"]'.encode(encoding)), encoding
    end
    assert_equal packed('["é"]'), from_json('["é"]'.b)
    assert_raises(Manypack::JSONError) { from_json("\xFF\xFE1\0") }
  end

  def test_what_cannot_be_read
    [nil, 1, :a, [], {}].each { |source| assert_raises(TypeError) { Manypack.from_json(source) } }
    assert_raises(ArgumentError) { Manypack.from_json }
    assert_raises(TypeError) { Manypack.from_json("1", Object.new) }
    assert_equal "unknown option max_nesting, did you mean max_depth?", assert_raises(ArgumentError) { from_json("1", max_nesting: 1) }.message
    assert_equal "pretty has no effect on from_json: it is an option of Manypack.to_json and of a Codec",
                 assert_raises(ArgumentError) { from_json("1", pretty: true) }.message
  end

  def test_every_beginning_of_a_text_is_refused
    text = '{"id":-12.5e3,"é":["a\u00e9\n\ud83d\ude00",true,null,{}],"list":[[1],[{"x":"' + "y" * 40 + '"}]]}'
    (0...text.bytesize).each do |n|
      error = assert_raises(Manypack::JSONError) { from_json(text.byteslice(0, n)) }
      assert_operator error.offset, :<=, n
    end
    assert_equal packed(text), from_json(text)
  end

  # Whatever text comes, whole or changed.
  # Short texts in UTF-8 are read from the C stack, with zeros after them; longer ones and others from a String.
  def test_a_short_text_is_read_as_from_a_string_wherever_it_ends
    texts = [*PLAIN, *REFUSED, "[#{'"é", -12.75e1 ,' * 20}null]", *(236..240).map { |n| "[#{" " * n}true, 1.25,\"\\u00e9\" ]" }]
    beginnings = texts.map { |text| text.dup.force_encoding("UTF-8") }.select(&:valid_encoding?).flat_map { |text| (0..[text.size, 300].min).map { |n| text[0, n] } }
    beginnings.uniq.each { |text| assert_equal outcome(text.encode("UTF-16LE")), outcome(text), text }
  end

  def test_random_texts
    random = Random.new(18)
    ROUNDS.times do
      text = random_text(random, 4)
      assert_equal packed(text), from_json(text), text
      3.times do
        changed = text.b
        changed[random.rand(changed.bytesize)] = ['"', "\\", ",", "]", "}", "1", "\n", "$", "\x80", "\xff", "u"].sample(random: random).b
        assert_same_or_refused changed.force_encoding("UTF-8")
        assert_same_or_refused text.byteslice(0, random.rand(text.bytesize))
      end
    end
  end

  # Digits are read by 16 at once, and what is beside them is not theirs.
  def test_numbers_of_every_count_of_digits_before_the_point_and_after_it
    0.upto(36).to_a.product(0.upto(36).to_a) do |whole, others|
      text = ("9876543210" * 4)[0, whole] + ("." if others.positive?).to_s + ("1234567890" * 4)[0, others]
      ["[#{text}]", "[-#{text},\"#{"x" * 40}\"]", "[#{text}e5,\"#{"x" * 40}\"]"].each { |number| assert_same_or_refused number }
    end
  end

  def test_random_numbers
    random = Random.new(19)
    ROUNDS.times do
      float = [random.rand(1 << 64)].pack("Q").unpack1("d")
      texts = [random.rand(-1e3..1e3).to_s, "#{random.rand(1 << 70)}e#{random.rand(-330..286)}", "-#{random.rand(1 << 65)}.#{random.rand(1 << 30)}",
               "#{random.rand(1 << 53)}.5", random.rand(1 << random.rand(64)).to_s]
      texts << float.to_s if float.finite?
      texts.each { |text| [text, "[#{text},\"#{"x" * 40}\"]"].each { |whole| assert_same_or_refused whole } }
    end
  end

  # Half-way between two Floats, and a little more or less, far behind the digits that matter.
  def test_the_nearest_float_is_chosen_however_many_digits_there_are
    [1.0, 0.1, 123456.789, 2.0**-1074, 2.0**-1022, 1e22, 9.5e300].each do |float|
      middle = (float.to_r + float.next_float.to_r) / 2
      scale = 10**1200
      digits = (middle * scale).to_i
      even = [float, float.next_float].find { |one| [one].pack("G").unpack1("Q>").even? }
      assert_equal [even], Manypack.unpack(from_json("[#{digits}e-1200]")) if middle * scale == digits
      assert_equal [float.next_float], Manypack.unpack(from_json("[#{digits}#{"0" * 900}1e-2101]"))
      assert_equal [float], Manypack.unpack(from_json("[#{digits - 1}e-1200]"))
    end
  end

  def test_a_number_of_a_million_digits_takes_no_time
    assert_equal [0.1], Manypack.unpack(from_json("[0.1#{"0" * 1_000_000}]"))
    assert_equal [1.0], Manypack.unpack(from_json("[1#{"0" * 1_000_000}e-1000000]"))
    assert_equal [0.0], Manypack.unpack(from_json("[1e-#{"9" * 1_000_000}]"))
    assert_raises(Manypack::JSONError) { from_json("[#{"1" * 1_000_000}]") }
  end

  # Wherever it is in the 16 bytes that are looked at together, and whatever is before and after it.
  def test_a_byte_that_is_not_utf8_is_the_one_to_blame
    ["\x80", "\xBF\xBF", "\xC0\x80", "\xC3", "\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF0\x9F\x98", "\xF4\x90\x80\x80", "\xFF"].each do |wrong|
      (0..33).to_a.product(["", "a", "é", "😀", "\\n"], ["", "z", "é"]).each do |n, before, after|
        good = "[\"#{"x" * n}#{before}"
        error = assert_raises(Manypack::JSONError) { Manypack.from_json("#{good}#{wrong}#{after}\"]") }
        assert_equal ["byte 0x%02x is not UTF-8, at $[0], line 1, column %d" % [wrong.getbyte(0), good.size + 1], good.bytesize], [error.message, error.offset]
      end
    end
  end

  def test_the_message_about_a_number_shows_the_number_and_nothing_after_it
    ["\xFF", "\0", "\e[31m", "\"x", "é", "\u202E"].product(["01", "-1e400", "1#{"0" * 20}"]).each do |after, number|
      message = assert_raises(Manypack::JSONError) { Manypack.from_json("[#{number}#{after}]") }.message
      assert_match(/(\A|[ ])#{number} (has|is|does)/, message)
      assert_predicate message, :valid_encoding?
      refute_match(/[^ -~]/, message)
    end
  end

  def test_an_integer_of_very_many_digits_is_refused_also_where_larger_ones_have_a_type
    factory = Manypack::Factory.new.tap { |one| one.register_common(:bigint) }
    assert_equal [10**9_999], factory.load(factory.from_json("[1#{"0" * 9_999}]"))
    error = assert_raises(Manypack::JSONError) { factory.from_json("[1#{"0" * 10_000}]") }
    assert_equal "the Integer 1#{"0" * 39}... has more than 10000 digits, at $[0], line 1, column 2", error.message
  end

  def test_in_a_ractor
    assert_equal packed('{"a":[1]}'), Ractor.new('{"a":[1]}') { |text| Manypack.from_json(text) }.then { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take }
  end

  private

  def from_json(text, **options)
    exercise { Manypack.from_json(text, **options) }
  end

  def outcome(text)
    from_json(text)
  rescue Manypack::UnpackError => error
    [error.message, error.offset]
  end

  def packed(text) = Manypack.pack(JSON.parse(text, max_nesting: 512), max_depth: 512)

  # json takes 1e400, and bytes that are not UTF-8; its older versions take other control characters and more.
  def assert_same_or_refused(text)
    bytes = from_json(text)
    assert_equal packed(text), bytes, text
  rescue Manypack::DecodeError => error
    expected = begin
      JSON.parse(text, max_nesting: 512)
    rescue JSON::ParserError, EncodingError
      nil
    end
    refute expected && text.valid_encoding? && !error.message.match?(/too large|64 bits|twice|control|escape|surrogates/), "#{text}: #{error.message}"
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
    text = ["key"] if number && random.rand(2).zero?
    "\"#{number}#{text.join}\""
  end
end

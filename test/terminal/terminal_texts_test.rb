# frozen_string_literal: true

# What `manypack pack` takes and refuses, of all formats alike; and what `manypack diff` says.
require "test_helper"
require "support/terminal"
require "manypack/base/hidden"

class TerminalTextsTest < Minitest::Test
  include TerminalHelper

  def packed(text, from: "json")
    out, err, status = manypack("pack", "--from", from, input: text)
    [Manypack::Unpacker.new(allow_unknown_ext: true).feed(out).each.to_a, err, status]
  end

  # --- JSON

  def test_documents_follow_each_other_in_any_way
    ["{\"a\":1}\n{\"a\":\n2} [3]", "{\"a\":1}{\"a\":2}[3]", "\u{feff}{\"a\":1}\n\n{\n  \"a\": 2\n}\n\n[\n 3\n]\n"].each do |text|
      assert_equal [[{"a" => 1}, {"a" => 2}, [3]], "", 0], packed(text), text
    end
    assert_equal [[1, nil, "a", 2.5, true], "", 0], packed("1 null\"a\"2.5\ntrue")
    assert_equal [[], "", 0], packed(" \n")
    pretty = output_of("cat", "--to", "pretty", input: stream({"a" => [1, {"b" => "}\"{"}]}, {5 => "x".b}, 7, 8))
    assert_equal stream({"a" => [1, {"b" => "}\"{"}]}, {5 => "x".b}, 7, 8), output_of("pack", input: pretty)
  end

  def test_documents_may_end_in_any_read
    text = "{\"a\":[1,\"}\\\"]\\\\\"]}12 [\"é\",{\"$5\":{\"$bin\":\"YQ==\"}}]\n\"\\\\\" null"
    IO.popen([ENVIRONMENT, *PROGRAM, "pack"], "r+b") do |program|
      program.sync = true
      text.each_byte { |byte| program.write(byte.chr) }
      program.close_write
      assert_equal stream({"a" => [1, "}\"]\\"]}, 12, ["é", {5 => "a".b}], "\\", nil), program.read
    end
  end

  def test_errors_of_json_name_line_and_column
    { "{\"a\n3\n" => "1: a string has the control character \\u000a, which must be escaped, at column 4", "1\n[1,2\n,]" => "3: expected a value, got \"]\", at column 2",
      "[1 2]" => "1: expected a comma or ], got \"2]\", at column 4", "{\"a\":1,}" => "1: expected a key in quotes, got \"}\", at column 8",
      "é 1\n" => "1: expected a value, got #{"é".inspect}, at column 1", "[\"é\" 1]" => "1: expected a comma or ], got \"1]\", at column 6",
      "[1\n \n" => "3: expected a comma or ], got the end of the text, at column 1", "1,2" => "1: expected the end of the text, got \",2\", at column 2", "NaN" => "1: expected a value, got \"NaN\", at column 1",
      "[/**/1]" => "1: expected a value, got \"/**/1]\", at column 2", "nulltrue" => "1: expected the end of the text, got \"true\", at column 5",
      "[01]" => "1: no number starts with a zero and another digit, as 01 does, at column 2", "\"\\ud800\"" => "1: half of a pair of surrogates, at column 2" }.each do |text, message|
      _, err, status = packed(text)
      assert_equal ["manypack: stdin:#{message}\n".b, 1], [err.b, status], text
    end
  end

  # --- one strictness

  def test_what_is_no_utf8_or_too_large_is_refused_in_every_format
    { "json" => "[1,\n \"caf\xe9\"]", "jsonl" => "1\n{\"caf\xe9\":1}", "yaml" => "- 1\n- caf\xe9\n", "csv" => "a\ncaf\xe9\n" }.each do |from, text|
      _, err, status = packed(text, from: from)
      assert_equal [true, 1], [err.start_with?("manypack: stdin:2: "), status], err
      assert_match(/not UTF-8|invalid byte sequence in UTF-8/, err)
    end
    %w[json yaml].each do |from|
      assert_match(/\Amanypack: stdin:2: 1\.0E\+400 is too large for a Float, at column 2/, packed("[\n 1.0E+400]", from: from)[1])
      assert_match(/\Amanypack: stdin:1: .*Integer/, packed("[18446744073709551616]", from: from)[1])
    end
    { "json" => "\u{feff}{\"a\":\"1\"}", "yaml" => "\u{feff}a: '1'\n", "csv" => "\u{feff}a\n1\n" }.each do |from, text|
      assert_equal [[{"a" => "1"}], "", 0], packed(text, from: from)
    end
    ["\x81\xa1a\x01\xc0".b, "\u{feff}a".encode("UTF-16LE"), "\x1f\x8b\x08\0".b].each do |bytes|
      %w[json yaml csv].each do |from|
        objects, err, status = packed(bytes, from: from)
        assert_equal [[], 1, 1], [objects, err.lines.size, status], "#{from}: #{err}"
      end
    end
  end

  # Ruby's YAML takes numbers without a point or a sign in the exponent for text.
  def test_numbers_are_the_same_in_json_and_yaml
    %w[1e5 1E5 -2e-3 1.5e3 1.5E+3 0e0 12e03].each do |number|
      assert_equal packed("{\"a\": [#{number}]}", from: "json"), packed("{\"a\": [#{number}]}", from: "yaml"), number
      assert_equal packed("{\"a\": [#{number}]}", from: "json"), packed("a:\n- #{number}\n", from: "yaml"), number
      assert_equal [["#{number}"], "", 0], packed("'#{number}'", from: "yaml")
    end
    %w[1E400 -1e400 1.0e400 1.0e+400].each do |number|
      %w[json yaml].each { |from| assert_match(/too large for a Float, at column 2\n\z/, packed("[#{number}]", from: from)[1], [number, from].inspect) }
    end
    texts = stream(%w[1e5 1E400 -1.0e400 1.5e3 x], {"1e5" => "2e5"})
    assert_equal texts, output_of("pack", "--from", "yaml", input: output_of("cat", "--to", "yaml", input: texts))
  end

  # Marks of the writing direction and line separators, which JSON and YAML allow.
  def test_no_format_shows_hidden_characters
    hidden = (0..0xffff).reject { |c| c.between?(0xd800, 0xdfff) }.map { |c| [c].pack("U") }.grep(Manypack.const_get(:HIDDEN))
    messages = stream(*hidden.map { |char| {"a#{char}b" => ["#{char}1e5", "“é”#{char}"]} })
    [[], %w[--to pretty], %w[--to yaml], %w[--to ruby]].each do |arguments|
      text = output_of("cat", *arguments, input: messages).force_encoding("UTF-8")
      refute_match(/[#{(hidden - ["\n"]).join}]/, text)
      next if arguments.last == "ruby"

      from = arguments.last == "yaml" ? "yaml" : "json"
      assert_equal messages, output_of("pack", "--from", from, input: text)
    end
  end

  def test_yaml_is_refused_in_words
    { "a: &x 1\nb: *x\n" => "2: *x repeats a value by its anchor, which pack does not; write the value again, at column 4",
      "a: :b\n" => "1: :b is a Symbol of Ruby, which MessagePack has not; in quotes it is a str, at column 4",
      "a: 1\na: 2\n" => "2: the key \"a\" is there twice, at column 1", "---\n- 1\n- !ruby/object:A {}\n" => "3: the tag !ruby/object:A is not supported, at column 3",
      "a: &x {b: 1}\n<<: {c: 1}\n" => "2: << merges another map, which pack does not; write its pairs here, or \"<<\" for a key, at column 1",
      "a: [1\n" => "1: did not find expected ',' or ']'",
      "a: !!binary '!'\n" => "1: !!binary is not followed by base64, at column 4" }.each do |text, message|
      _, err, status = packed(text, from: "yaml")
      assert_equal [true, 1], [err.start_with?("manypack: stdin:#{message}"), status], err
    end
    assert_equal [[{"a" => ":b", "<<" => {"c" => "<<"}, "d" => Float::INFINITY}], "", 0], packed("a: ':b'\n'<<': {c: <<}\nd: .inf\n", from: "yaml")
    assert_equal [[1, {"b" => 2}], "", 0], packed("1\n--- \nb: 2\n", from: "yaml")
    assert_equal [["ab".b, "2026-01-01 00:00:00.0123456789 Z"], "", 0], packed("--- !!binary |\n  YW\n  I=\n--- 2026-01-01 00:00:00.0123456789 Z\n", from: "yaml")
  end

  def test_a_key_twice_is_refused_in_json
    { '{"a":1,"a":2}' => "1: the key \"a\" is there twice, at column 8", "[{\"b\":{}},\n{\"a\":{\"b\":1},\"b\":2,\"\\u0062\":[]}]" => "2: the key \"\\u0062\" is there twice, at column 20",
      '{"$5":1,"$5":2}' => "1: the key \"$5\" is there twice, at column 9" }.each do |text, message|
      %w[json jsonl].each { |from| assert_equal [[], "manypack: stdin:#{message}\n", 1], packed(text, from: from), text if from == "json" || text.count("\n").zero? }
    end
    assert_equal [[[{ "a" => 1 }, { "a" => 2, "b" => { "a" => "$" } }]], "", 0], packed('[{"a":1},{"a":2,"b":{"a":"$"}}]', from: "json")
  end

  # By the resolvers of YAML 1.1 and 1.2, which Ruby's does not follow.
  def test_yaml_quotes_what_others_take_for_a_number_or_a_time
    ["52:54:00:44:49:56", "0o17", "190:20:30", "190:20:30.15", "1_000", "0b1010", "0x1F", "017", "1e5", ".5", "1.", "+12", "-0o7", "2026-13-45", "2026-1-1",
     "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5", "6:30", "1,000"].each do |text|
      yaml = output_of("cat", "--to", "yaml", input: stream([text]))
      assert_match(/\A---\n- ["']#{Regexp.escape(text)}["']\n\z/, yaml)
      assert_equal stream([text]), output_of("pack", "--from", "yaml", input: yaml)
    end
    ["7aCA", "abc", "v1.2", "a:1"].each { |text| assert_equal "---\n- #{text}\n", output_of("cat", "--to", "yaml", input: stream([text])) }
  end

  def test_a_blank_line_of_csv_is_no_row
    assert_equal [[{"a" => "1", "b" => nil}, {"a" => "2", "b" => "3"}], "", 0], packed("a,b\n1,\n\n\r\n2,3\n\n", from: "csv")
    assert_equal [[{"a" => "1"}, {"a" => ""}], "", 0], packed("a\n\n1\n\"\"\n", from: "csv")
    ["\n", "\r\n\n", "\u{feff}\n"].each { |blank| assert_equal [[{"a" => "1"}], "", 0], packed("#{blank}a\n1\n", from: "csv"), blank.inspect }
    assert_equal [[], "", 0], packed("\n\n", from: "csv")
  end

  def test_wrong_headers_of_csv
    { "a,,b\n1,2,3\n" => "1: column 2 has no name", "\n\na,\n" => "3: column 2 has no name", "\na,b\n1,2,3\n" => "3: 3 cells, but 2 column names", "a\n1,2\n" => "2: 2 cells, but 1 column name",
      "a,b,a\n" => "1: two columns are called a",
      "\na\xff\n".b => "2: invalid byte sequence in UTF-8", "\na\0\n1\n" => "2: a zero byte in the name of a column; is it UTF-16?" }.each do |text, message|
      assert_equal [[], "manypack: stdin:#{message}\n", 1], packed(text, from: "csv")
    end
  end

  # --- cat

  def test_bin_is_shown_as_text_or_opened_on_request
    bytes = stream({"key".b => "text".b, "more" => [Manypack.pack({"in" => [1, "x".b]}), "\0".b]})
    assert_equal "{\"key\":\"text\",\"more\":[{\"$packed\":{\"in\":[1,\"x\"]}},{\"$bin\":\"AA==\"}]}\n", output_of("cat", "--text", "--open", input: bytes)
    opened = output_of("cat", "--open", input: bytes)
    assert_includes opened, "{\"$packed\":{\"in\":[1,{\"$bin\":\"eA==\"}]}}"
    assert_equal bytes, output_of("pack", input: opened)
    assert_equal stream(["a"]), output_of("pack", input: output_of("cat", "--text", input: stream(["a".b])))
  end

  # --- maps that no Hash can hold

  TWINS = [["82a16101a16102", '{"a" => 1, "a" => 2}'], ["82a16101c4016102", '{"a" => 1, "a" => 2}'], ["82ca3f80000001cb3ff000000000000002", "{1.0 => 1, 1.0 => 2}"],
           ["82cb7ff800000000000001cb7ff800000000000002", "{NaN => 1, NaN => 2}"], ["82cb000000000000000001cb800000000000000002", "{0.0 => 1, -0.0 => 2}"],
           ["8282a16101a16202c0a16102", '{{"a" => 1, "b" => 2} => nil, "a" => 2}']].freeze

  def test_ruby_and_rows_lose_no_pair
    TWINS.each do |hex, ruby|
      map = [hex].pack("H*")
      values = hex.start_with?("8282") ? ",2" : "1,2"
      { map => ruby, "\x92\xc0".b + map => "[nil, #{ruby}]", "\x81\xa1x\x92\x91".b + map + "\x07".b => "{\"x\" => [[#{ruby}], 7]}" }.each do |message, expected|
        assert_equal "#{expected}\n1\n", output_of("cat", "--to", "ruby", input: message + "\x01".b).gsub(/ ?=> ?/, " => "), hex
      end
      assert_equal "#{values}\n#{values}\n1\n", output_of("query", "--to", "csv", "$", input: map * 2 + "\x01".b), hex
      assert_equal "#{values.tr(",", "\t")}\n", output_of("query", "--to", "tsv", "$", input: map), hex
      cell = output_of("query", "--to", "csv", "$", input: "\x92\x05".b + map)
      assert_equal "5,\"#{output_of("cat", input: map).chomp.gsub('"', '""')}\"\n", cell, hex
    end
  end

  def test_what_is_wrong_in_a_map_is_still_an_error_in_ruby
    time = "\xc7\x0c\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\0".b
    out, err, status = manypack("cat", "--to", "ruby", input: "\x01\x82\xa1a".b + time + "\xa1a\x01".b)
    assert_equal ["1\n", 1], [out, status]
    assert_match(/\Amanypack: stdin:\d+: /, err)
  end

  def test_csv_in_another_encoding_without_a_mark_is_refused
    %w[UTF-16LE UTF-16BE UTF-32LE UTF-32BE].product(["id,name\n1,Ada\n", "id\n", "id,name"]).each do |encoding, text|
      values, err, status = packed(text.encode(encoding).b, from: "csv")
      assert_equal [[], "manypack: stdin:1: a zero byte in the name of a column; is it UTF-16?\n", 1], [values, err, status], encoding
    end
  end

  # --- diff

  def differences(one, two)
    files(one, two) { |*names| manypack("diff", *names) }
  end

  def test_diff_takes_for_equal_what_has_one_canonical_form
    [["\xcb\x7f\xf8\0\0\0\0\0\0", "\xcb\x7f\xf8\0\0\0\0\0\1"], ["\xd6\xff\0\0\0\1", "\xc7\x0c\xff\0\0\0\0\0\0\0\0\0\0\0\1"], ["\xca\x3f\x80\0\0", "\xcb\x3f\xf0\0\0\0\0\0\0"],
     ["\x82\xa1a\1\xc4\1a\2", "\x82\xc4\1a\2\xa1a\1"], ["\x81\xca\x7f\xc0\0\1\1", "\x81\xcb\x7f\xf8\0\0\0\0\0\0\1"]].each do |pair|
      assert_equal ["", "", 0], differences(*pair.map(&:b)), pair
    end
    objects = [{"b" => 1, "a" => [Float::NAN, -0.0, {nil => "x".b, 1.5 => {}}]}, Manypack::Timestamp.new(1, 0)]
    assert_equal ["", "", 0], differences(stream(*objects), objects.map { |object| Manypack.canonicalize(Manypack.pack(object, timestamp: true)) }.join)
  end

  def test_diff_shows_what_a_hash_cannot
    assert_equal "message 0\n- $.a: 1\n+ $[{\"$bin\":\"YQ==\"}]: 1\n", differences(stream({"a" => 1}), stream({"a".b => 1})).first
    assert_equal "message 0\n- $[0.0]: 1\n+ $[-0.0]: 1\n", differences(stream({0.0 => 1}), stream({-0.0 => 1})).first
    assert_equal "message 0\n- $.a: 1\n", differences("\x82\xa1a\1\xa1a\2".b, stream({"a" => 2})).first
    assert_equal "message 0\n- $: -0.0\n+ $: 0.0\n", differences(stream(-0.0), stream(0.0)).first
    assert_equal "message 0\n- $[\"\\xFF\"].x[1]: 2\n+ $[\"\\xFF\"].x[1]: 3\n", differences(stream({"\xff".b => {"x" => [1, 2]}}), stream({"\xff".b => {"x" => [1, 3]}})).first
    assert_equal "message 0\n- $[\"\\xFF\"]: 1\n+ $[\"\\xFF\"]: 2\n", differences(stream({"\xff" => 1}), stream({"\xff" => 2})).first
    assert_equal "message 0\n- $[[1]]: 1\n+ $[[1]]: 2\n", differences(stream({[1] => 1}), stream({[1] => 2})).first
  end
end

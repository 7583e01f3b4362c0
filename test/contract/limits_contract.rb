# frozen_string_literal: true

# What any decoder refuses because of a limit or of strictness, and what it lets pass at the very edge of it.
module LimitsContract
  NAN = "cb 7f f8 00 00 00 00 00 00"

  # By option: a message that has as much as a limit of that value lets pass, and one that has one more, where, and in words.
  EDGES = {
    max_objects: [5, "94 01 02 03 04", "82 01 02 91 c0 c0", 3, "at least 6 objects"],
    max_map_size: [2, "82 01 02 03 04", "91 83 01 02 03 04 05 06", 1, "a map of 3 pairs"],
    max_array_size: [2, "92 01 02", "92 01 93 01 02 03", 2, "an array of 3 elements"],
    max_string_bytes: [3, "a3 61 62 63", "92 01 a4 61 62 63 64", 2, "a str of 4 bytes"],
    max_ext_bytes: [3, "c7 03 05 61 62 63", "91 d6 05 61 62 63 64", 1, "an ext of 4 bytes"]
  }.freeze

  EDGES.each do |option, (limit, fits, exceeds, offset, found)|
    define_method("test_#{option}_lets_as_much_pass") do
      assert_equal unpack(bytes(fits), allow_unknown_ext: true), unpack(bytes(fits), allow_unknown_ext: true, option => limit)
      assert_raises(Manypack::LimitError) { unpack(bytes(fits), allow_unknown_ext: true, option => limit - 1) }
      assert_equal 1, unpack(bytes("01"), option => 1)
      assert_equal unpack(bytes(fits), allow_unknown_ext: true), unpack(bytes(fits), allow_unknown_ext: true, option => 2**64 - 1)
    end

    define_method("test_above_#{option}_is_a_limit_error_that_says_what_and_where") do
      error = assert_unpack_error(Manypack::LimitError, "#{option} is #{limit}, but the input has #{found}, at byte #{offset}", exceeds,
                                  option => limit, allow_unknown_ext: true)
      assert_equal [option, limit + 1], [error.limit, error.value]
    end

    define_method("test_#{option}_is_a_size") do
      assert_raises(RangeError) { unpack(bytes("c0"), option => -1) }
      assert_raises(TypeError) { unpack(bytes("c0"), option => "many") }
      assert_nil unpack(bytes("c0"), option => nil)
    end
  end

  def test_what_is_declared_counts_before_it_is_there
    { "dd ff ff ff ff" => :max_array_size, "df ff ff ff ff" => :max_map_size, "db ff ff ff ff" => :max_string_bytes,
      "c6 ff ff ff ff" => :max_string_bytes, "c9 ff ff ff ff 05" => :max_ext_bytes }.each do |head, option|
      error = assert_raises(Manypack::LimitError) { unpack(bytes(head), option => 2**32 - 2) }
      assert_equal [option, 2**32 - 1, 0], [error.limit, error.value, error.offset]
    end
    error = assert_raises(Manypack::LimitError) { unpack(bytes("92 df ff ff ff ff"), max_objects: 2**33) }
    assert_equal [:max_objects, 2**33 + 1, 1], [error.limit, error.value, error.offset]
  end

  def test_bin_and_keys_count_as_strings
    ["c4 04 61 62 63 64", "81 a4 61 62 63 64 01", "81 c4 04 61 62 63 64 01", "91 da 00 04 61 62 63 64"].each do |message|
      error = assert_raises(Manypack::LimitError) { unpack(bytes(message), max_string_bytes: 3) }
      assert_equal [:max_string_bytes, 4], [error.limit, error.value]
      unpack(bytes(message), max_string_bytes: 4)
    end
  end

  def test_every_key_value_and_element_is_an_object
    { "c0" => 1, "90" => 1, "93 01 02 03" => 4, "82 01 02 03 04" => 5, "92 91 01 80" => 4, "81 91 01 81 01 02" => 6 }.each do |message, count|
      unpack(bytes(message), max_objects: count)
      assert_raises(Manypack::LimitError, message) { unpack(bytes(message), max_objects: count - 1) } if count > 1
    end
  end

  def test_utf8_strict_refuses_a_str_that_is_not
    { "a1 ff" => 0, "92 01 a2 c3 28" => 2, "81 a1 80 01" => 1, "a3 ed a0 80" => 0, "d9 02 c0 80" => 0 }.each do |message, offset|
      assert_unpack_error Manypack::MalformedFormatError, "a str is not valid UTF-8, at byte #{offset}", message, utf8: :strict
      unpack(bytes(message), utf8: :accept)
      unpack(bytes(message), utf8: nil)
    end
    assert_unpacks({ "é" => ["日本", "\xFF".b] }, "81 a2 c3 a9 92 a6 e6 97 a5 e6 9c ac c4 01 ff", utf8: :strict)
    assert_raises(ArgumentError) { unpack(bytes("c0"), utf8: :loose) }
  end

  def test_a_key_that_was_accepted_before_is_refused_by_utf8_strict
    2.times { unpack(bytes("81 a1 ff 01")) }
    assert_raises(Manypack::MalformedFormatError) { unpack(bytes("81 a1 ff 01"), utf8: :strict) }
  end

  def test_duplicate_keys_error_refuses_a_key_that_is_there_twice
    { "82 a1 61 01 a1 61 02" => 0, "93 01 02 83 01 01 a1 62 01 01 02" => 3, "82 91 01 01 91 01 02" => 0,
      "81 82 c0 01 c0 02 03" => 1, "91 82 c4 01 61 01 c4 01 61 02" => 1 }.each do |message, offset|
      assert_unpack_error Manypack::MalformedFormatError, "a map has the same key twice, at byte #{offset}", message, duplicate_keys: :error
      unpack(bytes(message), duplicate_keys: :last)
    end
    assert_unpacks({ "a" => 1, "b" => { "a" => 1 } }, "82 a1 61 01 a1 62 81 a1 61 01", duplicate_keys: :error)
    assert_raises(ArgumentError) { unpack(bytes("c0"), duplicate_keys: :one) }
  end

  def test_keys_that_become_the_same_symbol_are_duplicates
    message = "82 a1 61 01 c4 01 61 02"
    assert_equal({ a: 2 }, unpack(bytes(message), symbolize_keys: true))
    assert_unpack_error Manypack::MalformedFormatError, "a map has the same key twice, at byte 0", message,
                        duplicate_keys: :error, symbolize_keys: true
  end

  def test_duplicate_keys_error_refuses_a_nan_in_a_key
    ["81 #{NAN} 01", "81 91 #{NAN} 01", "81 82 01 02 03 #{NAN} 01", "81 92 91 01 #{NAN} 01", "81 ca 7f c0 00 00 01"].each do |message|
      offset = bytes(message).index(/\xCB|\xCA/n)
      assert_unpack_error Manypack::MalformedFormatError, "a map key is or contains NaN, at byte #{offset}", message,
                          duplicate_keys: :error
      assert_equal 1, unpack(bytes(message)).size
    end
    assert_predicate unpack(bytes("81 91 01 92 91 02 #{NAN}"), duplicate_keys: :error)[[1]].last, :nan?
  end

  def test_untrusted_is_all_of_it
    refused = { max_objects: "9a #{"dc 27 10 #{"c0" * 10_000}" * 10}", max_map_size: "de 03 e9", max_array_size: "dc 27 11",
                max_string_bytes: "db 00 04 00 01", max_ext_bytes: "c8 10 01 05" }
    refused.each do |limit, message|
      error = assert_raises(Manypack::LimitError) { unpack(bytes(message), untrusted: true) }
      assert_equal limit, error.limit
    end
    error = assert_raises(Manypack::LimitError) { unpack(bytes("9a") + pack("x" * 150_000) * 10, untrusted: true) }
    assert_equal :max_bytes, error.limit
    ["a1 ff", "82 01 01 01 02", "81 #{NAN} 01", "c7 0c ff 00 00 00 00 7f ff ff ff ff ff ff ff"].each do |message|
      assert_raises(Manypack::MalformedFormatError) { unpack(bytes(message), untrusted: true) }
    end
    assert_raises(Manypack::StackError) { unpack(bytes("#{"91" * 33}c0"), untrusted: true) }
    assert_equal OptionsContract::TREE, unpack(pack(OptionsContract::TREE), untrusted: true)
  end

  def test_explicit_options_override_untrusted
    { "de 03 e9 #{(0..1_000).map { |i| format("cd %04x c0", i) }.join}" => { max_map_size: 1_001 }, "dc 27 11 #{"c0" * 10_001}" => { max_array_size: 10_001 },
      "a1 ff" => { utf8: :accept }, "82 01 01 01 02" => { duplicate_keys: :last }, "81 #{NAN} 01" => { duplicate_keys: :last },
      "#{"91" * 33}c0" => { max_depth: 33 }, "9a #{"dc 27 10 #{"c0" * 10_000}" * 10}" => { max_objects: 200_000 } }.each do |message, option|
      assert_raises(Manypack::UnpackError, option.inspect) { unpack(bytes(message), untrusted: true) }
      unpack(bytes(message), untrusted: true, **option)
      unpack(bytes(message), **option, untrusted: true)
      unpack(bytes(message), untrusted: false)
    end
  end

  # Seconds at the edges of the years 1 and 9999, and one beyond.
  def test_untrusted_refuses_timestamps_out_of_range
    { "c7 0c ff 00 00 00 00 ff ff ff f1 88 6e 09 00" => 1, "c7 0c ff 3b 9a c9 ff 00 00 00 3a ff f4 41 7f" => 9999 }.each do |message, year|
      assert_equal year, unpack(bytes(message), timestamp: true, untrusted: true).utc.year
    end
    ["c7 0c ff 00 00 00 00 ff ff ff f1 88 6e 08 ff", "c7 0c ff 00 00 00 00 00 00 00 3a ff f4 41 80"].each do |message|
      unpack(bytes(message), timestamp: true)
      assert_unpack_error Manypack::MalformedFormatError, "a timestamp is outside the years 1 to 9999, at byte 0", message,
                          timestamp: true, untrusted: true
      assert_raises(Manypack::MalformedFormatError) { unpack(bytes(message), allow_unknown_ext: true, untrusted: true) }
    end
    assert_raises(Manypack::MalformedFormatError) { unpack(bytes("d5 ff 00 00"), allow_unknown_ext: true, untrusted: true) }
  end

  def test_a_few_keys_may_have_the_same_hash
    few = "de 00 10 #{"#{NAN} c0" * 16}"
    assert_equal 16, unpack(bytes(few)).size
    assert_equal 4, unpack(bytes("84 #{"91 #{NAN} c0" * 4}")).size
    assert_equal 8, unpack(bytes("88 #{"91 #{NAN} c0" * 4} #{"91 91 #{NAN} c0" * 4}")).size
    assert_equal 1, unpack(bytes("de 03 e8 #{"91 01 c0" * 1_000}")).size
    spread = (0...1_000).map { |i| "92 #{NAN} #{format("cd %04x", i)} c0" }.join
    assert_equal 1_000, unpack(bytes("de 03 e8 #{spread}")).size
  end

  def test_more_keys_of_one_hash_are_a_limit_error
    { NAN => 16, "91 #{NAN}" => 4, "81 01 #{NAN}" => 4 }.each do |key, most|
      [most + 1, 17].each do |count|
        message = "de #{format("%04x", count + 1)} #{"#{key} c0" * count} 01 02"
        error = assert_unpack_error(Manypack::LimitError, "max_same_hash is #{most}, but the input has a map with at least #{most + 1} different keys that " \
                                                          "have the same hash, at byte #{bytes(message).bytesize}", message)
        assert_equal [:max_same_hash, most + 1], [error.limit, error.value]
      end
    end
  end

  def test_containers_in_keys_of_keys_are_limited
    assert_equal 1, unpack(bytes("#{"81" * 5} c0 #{"01" * 5}")).size
    assert_unpack_error Manypack::StackError, "containers are nested too deeply in map keys, at byte 5", "#{"81" * 6} c0 #{"01" * 6}"
    assert_unpack_error Manypack::StackError, "containers are nested too deeply in map keys, at byte 9", "#{"8191" * 5} c0 #{"01" * 5}"
    assert_equal 3, unpack(bytes("83 #{"81 81 81 81 c0 01 01 01 01 01 #{"81 01" * 6} c0 01 81 91 90 01 02"}")).size
  end

  def test_a_key_has_at_most_32_containers_inside_each_other
    assert_equal 1, unpack(bytes("81 #{"91" * 32} c0 c0"), max_depth: 1_000).size
    assert_unpack_error Manypack::StackError, "containers are nested too deeply in map keys, at byte 33", "81 #{"91" * 33} c0 c0"
    assert_unpack_error Manypack::StackError, "containers are nested too deeply for max_depth, at byte 21", "81 #{"91" * 33} c0 c0", max_depth: 21
    assert_equal 2, unpack(bytes("82 91 01 #{"91" * 500} c0 c0 c0"), max_depth: 1_000).size
  end
end

# frozen_string_literal: true

# What any decoder says about bytes that are no message: class, words and offset.
module DecodeErrorsContract
  def test_0xc1_is_named_with_its_place
    assert_unpack_error Manypack::MalformedFormatError, "0xc1 is not a MessagePack head byte, at byte 0", "c1"
    assert_unpack_error Manypack::MalformedFormatError, "0xc1 is not a MessagePack head byte, at byte 17",
                        "92 af 31 31 31 31 31 31 31 31 31 31 31 31 31 31 31 c1"
    assert_unpack_error Manypack::MalformedFormatError, "0xc1 is not a MessagePack head byte, at byte 3", "81 01 92 c1"
  end

  def test_no_input_is_truncated_input
    assert_unpack_error Manypack::TruncatedError, "unexpected end of input, at byte 0", ""
  end

  def test_an_input_that_ends_between_two_objects_says_so
    assert_unpack_error Manypack::TruncatedError, "unexpected end of input, at byte 2", "93 01"
    assert_unpack_error Manypack::TruncatedError, "unexpected end of input, at byte 3", "81 a1 61"
  end

  def test_a_truncated_str_says_how_many_bytes_are_left
    assert_unpack_error Manypack::TruncatedError, "incomplete str: got 3 of 4294967295 bytes, at byte 0",
                        "db ff ff ff ff 61 62 63"
    assert_unpack_error Manypack::TruncatedError, "incomplete str: got 0 of 5 bytes, at byte 1", "91 a5"
    assert_unpack_error Manypack::TruncatedError, "incomplete str: got 1 of 2 bytes, at byte 1", "81 a2 61"
  end

  def test_a_truncated_bin_says_how_many_bytes_are_left
    assert_unpack_error Manypack::TruncatedError, "incomplete bin: got 1 of 4294967295 bytes, at byte 0",
                        "c6 ff ff ff ff 61"
    assert_unpack_error Manypack::TruncatedError, "incomplete bin: got 2 of 3 bytes, at byte 1", "81 c4 03 61 62"
  end

  def test_a_truncated_ext_says_how_many_bytes_are_left
    assert_unpack_error Manypack::TruncatedError, "incomplete ext: got 2 of 16 bytes, at byte 0", "d8 05 61 62"
    assert_unpack_error Manypack::TruncatedError, "incomplete ext: got 1 of 4294967295 bytes, at byte 0",
                        "c9 ff ff ff ff 05 61"
  end

  def test_a_truncated_head_says_how_long_it_is
    { "cc" => ["uint", 2], "cd 00" => ["uint", 3], "ce 00 00" => ["uint", 5], "cf 00" => ["uint", 9],
      "d0" => ["int", 2], "d3 00 00 00 00 00 00 00" => ["int", 9], "ca 00 00" => ["float32", 5],
      "cb 00 00 00" => ["float64", 9], "d9" => ["str", 2], "da 00" => ["str", 3], "c6 00 00 00" => ["bin", 5],
      "d4" => ["ext", 2], "c7 00" => ["ext", 3], "c8 00 00" => ["ext", 4], "c9 00 00 00 00" => ["ext", 6],
      "dc 00" => ["array", 3], "dd" => ["array", 5], "de" => ["map", 3], "df 00 00" => ["map", 5] }.each do |input, (kind, size)|
      left = bytes(input).bytesize
      assert_unpack_error Manypack::TruncatedError, "incomplete #{kind} head: got #{left} of #{size} bytes, at byte 0", input
    end
  end

  def test_counts_that_the_input_cannot_hold_are_truncated_input
    %w[dcffff ddffffffff dd80000000 deffff dfffffffff df80000000 df7fffffff].each do |input|
      size = bytes(input).bytesize
      assert_unpack_error Manypack::TruncatedError, "unexpected end of input, at byte #{size}", input
    end
  end

  def test_a_truncated_error_is_an_eof_error
    assert_operator Manypack::TruncatedError, :<, EOFError
    assert_raises(EOFError) { unpack(bytes("92 01")) }
  end

  def test_bytes_after_the_object_are_counted
    assert_unpack_error Manypack::MalformedFormatError, "2 extra bytes after the deserialized object, at byte 1; Manypack.split reads many messages, Manypack.foreach a file of them", "01 02 03"
    assert_unpack_error Manypack::MalformedFormatError, "1 extra bytes after the deserialized object, at byte 4; Manypack.split reads many messages, Manypack.foreach a file of them",
                        "93 01 02 03 c1"
  end

  def test_an_unknown_ext_is_named_by_its_type
    assert_unpack_error Manypack::UnknownExtTypeError, "ext type 5 is not registered; allow_unknown_ext: true keeps its bytes, at byte 2", "92 01 d4 05 61"
    assert_unpack_error Manypack::UnknownExtTypeError, "ext type -128 is not registered; allow_unknown_ext: true keeps its bytes, at byte 0", "d4 80 61"
    error = assert_unpack_error(Manypack::UnknownExtTypeError, "ext type -1 is not registered; timestamp: true unpacks it as a Time, at byte 0",
                                "d6 ff 00 00 00 00")
    assert_kind_of Manypack::TypeError, error
    assert_kind_of Manypack::UnpackError, error
  end

  def test_a_key_that_cannot_be_a_symbol_is_malformed
    error = assert_unpack_error(Manypack::MalformedFormatError,
                                "a map key is not valid UTF-8 and cannot become a Symbol, at byte 1", "81 a2 ff fe 01",
                                symbolize_keys: true)
    assert_kind_of EncodingError, error.cause
  end

  def test_too_many_containers_inside_each_other_are_a_stack_error
    assert_unpack_error Manypack::StackError, "containers are nested too deeply for max_depth, at byte 128", "#{"91" * 129}c0"
    assert_unpack_error Manypack::StackError, "containers are nested too deeply for max_depth, at byte 3", "#{"91" * 4}c0", max_depth: 3
    assert_unpack_error Manypack::StackError, "containers are nested too deeply for max_depth, at byte 1", "81 91 01 02", max_depth: 1
  end

  def test_input_above_max_bytes_is_a_limit_error
    error = assert_unpack_error(Manypack::LimitError, "max_bytes is 3, but the input has at least 4 bytes, at byte 3",
                                "93 01 02 03", max_bytes: 3)
    assert_equal :max_bytes, error.limit
    assert_equal 4, error.value
  end

  def test_a_decoder_works_after_every_kind_of_error
    ["", "c1", "91", "a5", "d4 05 61", "01 02", "#{"91" * 129}c0", "81 a2 ff"].each do |input|
      assert_raises(Manypack::DecodeError) { exercise { unpack(bytes(input)) } }
      assert_unpacks({ "a" => [1] }, "81 a1 61 91 01")
    end
  end
end

# frozen_string_literal: true

# RecordErrors as whoever gets them sees them: how long they are, where they say they are, and how they are written.
require "test_helper"

class RecordErrorsTest < Minitest::Test
  Record = Manypack::Record
  RecordError = Manypack::RecordError
  Type = Manypack::Type

  Box = Struct.new(:value)
  BOX = Record.new(Box, value: Integer)

  def error_of(type, binary, **options) = assert_raises(RecordError) { type.load(binary, **options) }

  # --- their size -------------------------------------------------------------------------------------------

  # Whatever a stranger makes long: a key on the way, or what is refused itself.
  LONG = "\x01" * 50_000
  LONG_MESSAGES = {
    a_key_on_the_way: [Type[{ String => Integer }], { LONG => nil }],
    a_symbol_on_the_way: [Type[{ Symbol => Integer }], { LONG => nil }],
    a_bin_on_the_way: [Type[{ String => Integer }], { "\xFF".b * 50_000 => nil }],
    letters: [Type[{ String => Integer }], { "a" * 50_000 => nil }],
    keys_on_the_way: [Type[{ String => { String => Integer } }], { LONG => { LONG => nil } }],
    a_value: [BOX, { "value" => LONG }],
    an_unknown_str: [BOX.with(unknown: :raise), { LONG => 1 }],
    an_unknown_bin: [BOX.with(unknown: :raise), { LONG.b => 1 }],
    an_unknown_ext: [BOX.with(unknown: :raise), { Manypack::ExtensionValue.new(5, LONG) => 1 }, { allow_unknown_ext: true }],
    an_unknown_array: [BOX.with(unknown: :raise), { ["a"] * 5_000 => 1 }],
    an_unknown_symbol: [BOX.with(unknown: :raise, symbolize_keys: true), { LONG => 1 }],
    an_unknown_key_of_a_lazy_record: [BOX.with(unknown: :raise).lazy, { LONG => 1 }]
  }.freeze

  LONG_MESSAGES.each do |name, (type, value, options)|
    define_method("test_the_size_of_an_error_does_not_grow_with_#{name}") do
      error = error_of(type.with(**options.to_h), pack(value))
      assert_operator error.message.bytesize + error.path.bytesize, :<, 4_000
      assert_predicate error.message, :valid_encoding?
    end
  end

  def test_many_errors_behind_a_long_key_take_little_memory
    error = error_of(Type[{ String => [Integer] }], pack({ LONG => [nil] * 1_000 }), collect: true)
    assert_operator error.errors.sum { |one| one.message.bytesize + one.path.bytesize }, :<, 2_000_000
  end

  def test_a_long_key_is_cut_between_characters
    path = error_of(Type[{ String => Integer }], pack({ "#{"a" * 127}é" => nil })).path
    assert_equal %($["#{"a" * 127}"...]), path
    assert_equal "$.#{"a" * 128}", error_of(Type[{ String => Integer }], pack({ "a" * 128 => nil })).path
  end

  def test_an_unknown_key_is_told_as_the_bytes_have_it
    { "nmae" => '"nmae"', 5 => "Integer 5", [1] => "array of 1", nil => "nil", "é".b => "bin of 2 bytes" }.each do |key, told|
      [{}, { symbolize_keys: true }].each do |options|
        error = error_of(BOX.with(unknown: :raise, **options), pack({ key => 1 }))
        assert_match(/\Aunknown key #{Regexp.escape(told)}, at \$/, error.message)
      end
    end
  end

  # --- their place ------------------------------------------------------------------------------------------

  Inner = Struct.new(:r)
  INNER = Record.new(Inner, r: Integer)
  LIST = Record.new(Struct.new(:r), r: [{ String => Integer }])

  # What can be wrong with the record in {"at" => [0, {"r" => ...}]}: bytes of the value, and options.
  FAULTS = {
    value: [INNER, "\xA1x"], unknown_ext: [Record.new(Inner, r: Object), "\xD4\x05\x00"], never: [INNER, "\xC1"],
    deep_value: [LIST, "\x91\x81\xA1a\xA1x"], never_inside: [LIST, "\x91\x81\xA1a\xC1"], missing: [INNER, nil],
    deep: [Record.new(Inner, r: Object), "\x91\x91\x91\x01", { max_depth: 3 }],
    long: [Record.new(Inner, r: String), "\xA3abc", { max_string_bytes: 2 }], text: [Record.new(Inner, r: String), "\xA1\xFF", { utf8: :strict }],
    many: [Record.new(Inner, r: Object), "\x93\x01\x02\x03", { max_objects: 4 }],
    bytes: [INNER, "\xCD\x00\x01", { max_bytes: 3 }]
  }.freeze

  # A message with the record in it, after some bytes in front of it.
  def around(value)
    "\x81\xA2at\x92\x00".b + (value ? "\x81\xA1r".b + value.b : "\x80".b)
  end

  def place(error)
    [error.class, error.path, error.offset]
  end

  def decode_error(&block) = assert_raises(Manypack::DecodeError, &block)

  def test_a_part_of_a_view_has_its_errors_where_the_whole_message_has_them
    FAULTS.each do |name, (record, value, options)|
      message = around(value)
      part = message[6..]
      type = record.with(**options.to_h)
      expected = decode_error { type.load(part) }
      found = decode_error { Manypack::View.new(message)["at"][1].as(type) }
      path = expected.path && "$.at[1]#{expected.path.delete_prefix("$")}"
      assert_equal [expected.class, path, expected.offset + 6], place(found), name
      assert_includes found.message, "byte #{found.offset}", name
    end
  end

  def test_a_lazy_record_has_its_errors_where_the_whole_message_has_them
    %i[value unknown_ext deep_value].each do |name|
      record, value = FAULTS[name]
      message = around(value)
      eager = decode_error { Type[{ String => [Type[Integer, record]] }].load(message) }
      [Type[{ String => [Type[Integer, record.lazy]] }].load(message)["at"][1], Manypack::View.new(message)["at"][1].as(record.lazy)].each do |lazy|
        [-> { lazy.r }, -> { lazy[:r] }, -> { lazy.to_h }, -> { lazy.load }].each do |read|
          assert_equal place(eager), place(decode_error(&read)), name
        end
        assert_includes lazy.inspect, eager.message
      end
    end
  end

  def test_a_part_of_a_message_is_checked_by_itself
    view = Manypack::View.new(pack({ "long" => "x" * 1000, "at" => [{ "r" => 1 }, [1] * 500] }))
    [{ max_bytes: 10 }, { max_objects: 5 }, { untrusted: true }, { max_string_bytes: 1 }, { max_depth: 1 }].each do |options|
      [INNER, INNER.lazy].each { |record| assert_equal 1, view["at"][0].as(record.with(**options)).r }
    end
    view = Manypack::View.new("\x93\x81\xA1r\x05\xC1\xC1".b)
    assert_equal [5, 5], [view[0].as(INNER).r, view[0].as(INNER.with(untrusted: true)).r]
  end

  class Collecting
    def self.load(bytes) = Type[[Integer]].load(bytes, collect: true)
  end

  def test_all_errors_of_a_message_in_a_stream_have_their_place_in_the_stream
    stream = pack([1]) + pack(["a", 2, "b"])
    unpacker = Manypack::Unpacker.new(as: Collecting).feed(stream)
    assert_equal [1], unpacker.read
    error = assert_raises(RecordError) { unpacker.read }
    assert_equal [[3, "$[0]"], [6, "$[2]"]], error.errors.map { |one| [one.offset, one.path] }
    assert_equal [3, "$[0]"], [error.offset, error.path]
    error.errors.each { |one| assert_match(/ in the message at byte 2\z/, one.message) }
    alone = assert_raises(RecordError) { Manypack::Unpacker.new(as: Collecting).feed(pack(1) + pack([nil])).each.to_a }
    assert_equal [alone], alone.errors
  end

  # --- their words ------------------------------------------------------------------------------------------

  # What an initialize may raise, and what becomes of it.
  WORDS = { "uh" => "uh", "né" => "né", "né".encode("UTF-16LE") => "né", "né".encode("UTF-16") => "né", "né".encode("ISO-8859-1") => "né",
            "\xFF".b => "\uFFFD", "n\xFF" => "n\uFFFD", "a\x00\xD8".dup.force_encoding("UTF-16LE") => nil }.freeze

  def test_what_an_initialize_says_is_utf8_whatever_it_was
    WORDS.each do |words, told|
      klass = Class.new(Struct.new(:a)) { define_method(:initialize) { |*| raise ArgumentError, words } }
      [false, true].each do |collect|
        error = error_of(Type[{ String => Record.new(klass, a: Object) }], pack({ "é" => { "a" => 1 } }), collect: collect)
        assert_equal [Encoding::UTF_8, true], [error.message.encoding, error.message.valid_encoding?]
        assert_operator error.message, :start_with?, "#{told}, at $" if told
        assert_includes "é: #{error.message}", "byte"
      end
    end
  end

  # Ruby quotes what it was given as a whole, in escapes if the locale has no such character.
  def test_what_an_initialize_says_of_a_long_text_is_shortened
    klass = Class.new(Struct.new(:a)) { define_method(:initialize) { |a| super(Integer(a)) } }
    error = assert_raises(Manypack::RecordError) { Record.new(klass, a: String).load(pack({ "a" => "é" * 500_000 })) }
    quoted = Regexp.escape("é".inspect.delete('"'))
    assert_match(/\Ainvalid value for Integer\(\): "#{quoted}.*\.\.\..*#{quoted}", at \$, byte 0/, error.message)
    assert_operator error.message.bytesize, :<, 500
  end

  # --- no error -------------------------------------------------------------------------------------------------

  def test_a_no_makes_no_error_and_no_object_for_it
    type = Type[[Integer]]
    bad, good = pack([1, "2"]), pack([1, 2])
    counts = [bad, good].map do |bytes|
      type.valid?(bytes)
      before = GC.stat(:total_allocated_objects)
      100.times { type.valid?(bytes) }
      GC.stat(:total_allocated_objects) - before
    end
    assert_operator counts[0], :<=, counts[1] + 100
    refute type.valid?(bad)
    assert_nil $!
  end

  def test_a_no_from_everywhere
    refuser = Class.new(Struct.new(:a)) { define_method(:initialize) { |*| raise ArgumentError, "no" } }
    inner = Record.new(Struct.new(:a), a: Integer)
    asker = Class.new(Struct.new(:a)) { define_method(:initialize) { |a| super(inner.valid?(Manypack.pack({ "a" => a }))) } }
    refute Record.new(refuser, a: Integer).valid?(pack({ "a" => 1 }))
    refute inner.valid?(pack({}))
    refute inner.with(unknown: :raise).valid?(pack({ "a" => 1, "b" => 1 }))
    refute inner.array.with(unknown: :raise).valid?(pack([1, 2]))
    refute inner.valid?(pack({ "a" => 1 }) + "\x01")
    refute inner.valid?("\x81\xA1a")
    assert inner.valid?(pack({ "a" => 1 }))
    assert_equal [true, false], [1, nil].map { |a| Record.new(asker, a: Object).load(pack({ "a" => a })).a }
  end
end

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
end

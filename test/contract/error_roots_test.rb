# frozen_string_literal: true

# Errors have two roots, one for each direction, below Manypack::Error; the classes below them stay what they were.
require "test_helper"
require "stringio"

class ErrorRootsTest < Minitest::Test
  LOOP = [].tap { |list| list << list }

  # What cannot be packed, under "a", and the class of the error.
  UNPACKABLE = {
    Object.new => NoMethodError, 2**70 => RangeError, LOOP => Manypack::NestingError,
    "\xFF".dup.force_encoding("UTF-16LE") => EncodingError
  }.freeze

  PACKING = {
    "pack" => ->(object) { Manypack.pack(object) },
    "pack to an io" => ->(object) { Manypack.pack(object, StringIO.new("".b)) },
    "Codec#pack" => ->(object) { Manypack::Codec.new.pack(object) },
    "canonical" => ->(object) { Manypack.pack(object, canonical: true) },
    "Packer#write" => ->(object) { Manypack::Packer.new.write(object) },
    "Factory#dump" => ->(object) { Manypack::Factory.new.dump(object) },
    "Type#dump" => ->(object) { Manypack::Type[Object].dump(object) }
  }.freeze

  def test_each_error_of_packing_is_an_encode_error_with_its_path
    PACKING.each do |name, front|
      UNPACKABLE.each do |object, klass|
        error = assert_raises(klass, name) { front.call({ "a" => [1, object] }) }
        assert_kind_of Manypack::EncodeError, error, name
        assert_kind_of Manypack::Error, error
        refute_kind_of Manypack::DecodeError, error
        assert_match(/\A\$\.a\[1\]/, error.path, name)
        assert_includes error.message, error.path
      end
    end
  end

  def test_each_error_of_unpacking_is_a_decode_error
    ["\xC1", "\x91", "\xD4\x07a", "\x91" * 200 + "\x01"].each do |bytes|
      error = assert_raises(Manypack::DecodeError) { Manypack.unpack(bytes.b) }
      assert_kind_of Manypack::Error, error
      refute_kind_of Manypack::EncodeError, error
    end
  end

  # A loop over a stream rescues EOFError, and would take nil for its end.
  def test_nil_is_no_input
    [-> { Manypack.unpack(nil) }, -> { Manypack.load(nil, freeze: true) }, -> { Manypack::Codec.new.unpack(nil) },
     -> { Manypack::Factory.new.load(nil) }].each do |call|
      assert_equal "expected a String or an IO, got nil", assert_raises(TypeError, &call).message
    end
  end

  def test_errors_about_arguments_have_neither_root
    refute_kind_of Manypack::Error, assert_raises(ArgumentError) { Manypack.pack(1, max_bytes: 1) }
    refute_kind_of Manypack::Error, assert_raises(TypeError) { Manypack.unpack(5) }
  end
end

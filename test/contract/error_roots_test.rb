# frozen_string_literal: true

# Errors have two roots, one for each direction, below Manypack::Error; the classes below them stay what they were.
require "test_helper"
require "support/in_file"
require "stringio"

class ErrorRootsTest < Minitest::Test
  extend InFile

  LOOP = [].tap { |list| list << list }

  # What cannot be packed, under "a", and the class of the error.
  UNPACKABLE = {
    Object.new => NoMethodError, 2**70 => RangeError, LOOP => Manypack::NestingError,
    "\xFF".dup.force_encoding("UTF-16LE") => EncodingError
  }.freeze

  Holding = Struct.new(:a)
  HOLDING = Manypack::Record.new(Holding, a: Object)

  PACKING = {
    "pack" => ->(object) { Manypack.pack(object) },
    "pack to an io" => ->(object) { Manypack.pack(object, StringIO.new("".b)) },
    "Codec#pack" => ->(object) { Manypack::Codec.new.pack(object) },
    "canonical" => ->(object) { Manypack.pack(object, canonical: true) },
    "Packer#write" => ->(object) { Manypack::Packer.new.write(object) },
    "Factory#dump" => ->(object) { Manypack::Factory.new.dump(object) },
    "Type#dump" => ->(object) { Manypack::Type[Object].dump(object) },
    "Record#dump" => ->(object) { HOLDING.dump(Holding.new(object["a"])) },
    "Pool#dump" => ->(object) { Manypack::Factory.new.pool.dump(object) },
    "Packer.open" => ->(object) { Manypack::Packer.open(File::NULL) { |packer| packer << object } },
    "dump_file" => ->(object) { Manypack.dump_file(object, File::NULL) },
    "splice" => ->(object) { Manypack::View.new("\x80").splice(object) },
    "Parallel.filter" => ->(object) { Manypack::Parallel.filter("\x01", StringIO.new("".b), ractors: 0) { object } },
    "Parallel.filter in processes" => ->(object) { Manypack::Parallel.filter("\x01", StringIO.new("".b), processes: 1) { object } }
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

  # What is wrong with bytes that are no object, with the path of it.
  WRONG = { "\x81\xA1a\x92\x01\xC1" => "$.a[1]", "\x81\xA1a\x91\xD4\x07a" => "$.a[0]", "\x81\xA1a\x92\x01" => "$.a[1]" }.transform_keys(&:b).freeze
  HELD = Manypack::Record.new(Holding, a: [Object])

  UNPACKING = {
    "unpack" => ->(bytes) { Manypack.unpack(bytes) },
    "unpack of an io" => ->(bytes) { Manypack.unpack(StringIO.new(bytes)) },
    "unpack as: :view" => ->(bytes) { Manypack.unpack(bytes, as: :view).to_h },
    "Unpacker#each" => ->(bytes) { Manypack::Unpacker.new.feed(bytes).each(strict: true) { nil } },
    "split" => ->(bytes) { Manypack.split(bytes, as: :view).map(&:value) },
    "foreach" => ->(bytes) { in_file(bytes) { |path| Manypack.foreach(path).to_a } },
    "load_file" => ->(bytes) { in_file(bytes) { |path| Manypack.load_file(path) } },
    "View.new" => ->(bytes) { Manypack::View.new(bytes).value },
    "View check: true" => ->(bytes) { Manypack::View.new(bytes, check: true) },
    "Path" => ->(bytes) { Manypack::Path.new("$..*").to_a(bytes) },
    "Type#load" => ->(bytes) { Manypack::Type[{ String => [Object] }].load(bytes) },
    "Record#load" => ->(bytes) { HELD.load(bytes) },
    "LazyRecord#to_h" => ->(bytes) { HELD.lazy.load(bytes).to_h },
    "Codec#unpack" => ->(bytes) { Manypack::Codec.new.unpack(bytes) },
    "Pool#load" => ->(bytes) { Manypack::Factory.new.pool.load(bytes) },
    "Parallel.map in the caller" => ->(bytes) { Manypack::Parallel.map(bytes, ractors: 0, &:itself) },
    "Parallel.map in processes" => ->(bytes) { Manypack::Parallel.map(bytes, processes: 2, &:itself) },
    "Parallel.map of Records" => ->(bytes) { Manypack::Parallel.map(bytes, processes: 2, as: HELD, &:itself) },
    "Parallel.filter" => ->(bytes) { Manypack::Parallel.filter(bytes, StringIO.new("".b), processes: 2, &:itself) }
  }.freeze

  STREAMS = ["unpack of an io", "Unpacker#each", "split", "foreach", "load_file", "Parallel.map of Records"].freeze

  UNPACKING.each do |name, front|
    define_method("test_each_error_of_#{name}_is_a_decode_error_with_its_place") do
      WRONG.each do |bytes, path|
        error = assert_raises(Manypack::DecodeError, name) { front.call(bytes) }
        assert_kind_of Manypack::Error, error
        refute_kind_of Manypack::EncodeError, error
        assert_includes [4, 5], error.offset
        # A stream that ends does not know what may come: it says where the message began.
        next assert_equal(0, error.start) if error.is_a?(Manypack::TruncatedError) && error.path.nil? && STREAMS.include?(name)

        assert_equal path, error.path, name
      end
    end
  end

  # A loop over a stream rescues EOFError, and would take nil for its end.
  def test_nil_is_no_input
    [-> { Manypack.unpack(nil) }, -> { Manypack.load(nil, freeze: true) }, -> { Manypack::Codec.new.unpack(nil) },
     -> { Manypack::Factory.new.unpack(nil) }].each do |call|
      assert_equal "expected a String or an IO, got nil", assert_raises(TypeError, &call).message
    end
  end

  def test_a_result_that_a_process_cannot_pack_is_an_encode_error
    error = assert_raises(TypeError) { Manypack::Parallel.map("\x01", processes: 1) { { "a" => [1, Object.new] } } }
    assert_kind_of Manypack::EncodeError, error
    assert_equal "$.a[1]", error.path
  end

  def test_errors_about_arguments_have_neither_root
    refute_kind_of Manypack::Error, assert_raises(ArgumentError) { Manypack.pack(1, max_bytes: 1) }
    refute_kind_of Manypack::Error, assert_raises(TypeError) { Manypack.unpack(5) }
  end
end

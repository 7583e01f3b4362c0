# frozen_string_literal: true

# If text or compressed bytes are passed as a message, the error says what they look like, and what to call.
require "test_helper"
require "zlib"

class LikenessTest < Minitest::Test
  MESSAGE = Manypack.pack({ "id" => 1, "name" => "Ada" })
  INPUTS = {
    "fac.msgpack" => "a file name", "/var/data/a b.mp" => "a file name", "tmp/x.msgpack.gz" => "a file name", '{"id": 1}' => "JSON",
    "{}" => "JSON", "{\n  \"a\": [1]\n}\n" => "JSON", "[1, 2]" => "JSON", "[{\"a\":1}]" => "JSON", '"text"' => "JSON",
    "<!DOCTYPE html><html></html>" => "HTML", "<html>\n<h1>502</h1></html>" => "HTML", "<?xml version='1.0'?>" => "HTML",
    "gaFhAQ==" => "Base64", [MESSAGE].pack("m") => "Base64", [MESSAGE].pack("m0") => "Base64", ["\xFB\xFF" * 6].pack("m0").tr("+/", "-_") => "Base64",
    MESSAGE.unpack1("H*") => "hexadecimal", MESSAGE.unpack1("H*").upcase => "hexadecimal",
    Zlib.gzip(MESSAGE) => "gzip", "\x28\xB5\x2F\xFD\x04\x00".b => "Zstandard", "{\"a\": \"#{"x" * 100_000}\"}" => "JSON"
  }.freeze

  FRONTS = {
    unpack: ->(input) { Manypack.unpack(input) },
    untrusted: ->(input) { Manypack.unpack(input, untrusted: true) },
    factory: ->(input) { Manypack::Factory.new.load(input) },
    io: ->(input) { Manypack::Unpacker.new(StringIO.new(input)).full_unpack },
    full_unpack: ->(input) { Manypack::Unpacker.new.feed(input).full_unpack },
    view: ->(input) { Manypack::View.new(input, check: true) },
    canonicalize: ->(input) { Manypack.canonicalize(input) },
    type: ->(input) { Manypack::Type[Integer].load(input) },
    record: ->(input) { Manypack::Record.new(Struct.new(:id), id: Integer).load(input) }
  }.freeze

  FRONTS.each do |name, front|
    define_method("test_#{name}") do
      INPUTS.each do |input, likeness|
        error = assert_raises(Manypack::UnpackError, input[0, 20]) { front.call(input) }
        assert_match(/, (?:at byte 1|byte 0[^;]*); the input looks like #{likeness}/, error.message)
        assert_operator error.message.bytesize, :<, 300
      end
    end
  end

  # Messages with more than one object that could be text.
  def test_real_messages_look_like_nothing_else
    ["\x01\x02", "AB", "\x7B\x7B", "{1", "[\x01", MESSAGE * 2, "1\x92\x01\x02", "\x1F\x8B", "\x0A\x0A\x0A", "abc\xC0"].each do |bytes|
      error = assert_raises(Manypack::MalformedFormatError) { Manypack.unpack(bytes.b) }
      assert_match(/\A\d+ extra bytes after the deserialized object, at byte \d+; Manypack.split/, error.message)
    end
  end

  def test_a_message_that_is_text_is_a_message
    assert_equal 123, Manypack.unpack("{")
  end
end

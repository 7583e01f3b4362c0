# frozen_string_literal: true

# What any decoder says of an ext whose handler finds its body bad: class, words, and the offset in the whole input.
module HandlerErrorsContract
  Read = Struct.new(:content)

  # Handlers of a user, which every Ractor may call.
  module Handlers
    CONSTANT = Ractor.make_shareable(Manypack::MalformedFormatError.new("refused"))

    def self.time(body) = Manypack::Time::Unpacker.call(body)
    def self.refuse(_body) = raise(Manypack::MalformedFormatError, "refused")
    def self.refuse_without_words(_body) = raise(Manypack::TruncatedError)
    def self.refuse_by_a_constant(_body) = raise(CONSTANT)
    def self.read(unpacker) = Read.new(unpacker.read)
    def self.unpack(body) = Read.new(Manypack.unpack(body))
    def self.unpack_limited(body) = Read.new(Manypack.unpack(body, max_bytes: 1))
    def self.feed(body) = Read.new(Manypack::Unpacker.new.feed(body).read)
    def self.unpack_what_it_reads(unpacker) = Read.new(Manypack.unpack(unpacker.read))
    def self.read_after_unpacking(unpacker) = Read.new([Manypack.unpack("\x91\x01"), unpacker.read])
    def self.refuse_after_reading(unpacker) = unpacker.read && refuse(nil)
  end

  # Registers everything that comes with Manypack and fails for some bodies, and the handlers above.
  def self.register(factory)
    factory.register_type(-1, Time, packer: Manypack::Time::Packer, unpacker: Manypack::Time::Unpacker)
    factory.register_type(1, Integer, packer: nil, unpacker: Manypack::Bigint.method(:from_msgpack_ext))
    factory.register_type(2, Manypack::Timestamp)
    factory.register_type(3, Time, packer: nil, unpacker: Handlers.method(:time))
    %i[refuse refuse_without_words refuse_by_a_constant unpack unpack_limited feed].each.with_index(10) do |handler, type|
      factory.register_type(type, Class.new, packer: nil, unpacker: Handlers.method(handler))
    end
    %i[read unpack_what_it_reads read_after_unpacking refuse_after_reading].each.with_index(20) do |handler, type|
      factory.register_type(type, Class.new, packer: nil, unpacker: Handlers.method(handler), recursive: true)
    end
    factory
  end

  FACTORY = register(Manypack::Factory.new).freeze

  # The class of the error and its message without the last place, by the ext.
  ERRORS = {
    "d5 ff 00 00" => [Manypack::MalformedFormatError, "a timestamp must have 4, 8 or 12 bytes, got 2"],
    "d5 01 00 00" => [Manypack::MalformedFormatError, "a bigint must have a sign byte and chunks of 4 bytes, got 2 bytes"],
    "c7 00 01" => [Manypack::MalformedFormatError, "a bigint must have a sign byte and chunks of 4 bytes, got 0 bytes"],
    "d5 02 00 00" => [Manypack::MalformedFormatError, "a timestamp must have 4, 8 or 12 bytes, got 2"],
    "d7 02 ff ff ff ff ff ff ff ff" => [Manypack::MalformedFormatError, "a timestamp must have at most 999999999 nanoseconds"],
    "d5 03 00 00" => [Manypack::MalformedFormatError, "a timestamp must have 4, 8 or 12 bytes, got 2"],
    "d4 0a 00" => [Manypack::MalformedFormatError, "refused"],
    "d4 0b 00" => [Manypack::MalformedFormatError, "Manypack::TruncatedError"],
    "d4 0c 00" => [Manypack::MalformedFormatError, "refused"],
    "d5 0d 91 c1" => [Manypack::MalformedFormatError, "0xc1 is not a MessagePack head byte, at byte 1, in the unpacker of ext type 13"],
    "d5 0e 91 01" => [Manypack::LimitError, "max_bytes is 1, but the input has at least 2 bytes, at byte 1, in the unpacker of ext type 14"],
    "d5 0f 92 01" => [Manypack::MalformedFormatError, "unexpected end of input, at byte 2, in the unpacker of ext type 15"],
    # Its offset in the nested message is that of the ext where the ext is in an array.
    "d6 15 a3 92 c1 c0" => [Manypack::MalformedFormatError, "0xc1 is not a MessagePack head byte, at byte 1, in the unpacker of ext type 21"],
    "d4 17 01" => [Manypack::MalformedFormatError, "refused"]
  }.freeze

  # The same where the place is inside of the ext, so many bytes behind its head.
  INNER_ERRORS = {
    "d5 14 91 c1" => [Manypack::MalformedFormatError, "0xc1 is not a MessagePack head byte", 3],
    "d5 14 92 01" => [Manypack::MalformedFormatError, "the unpacker of ext type 20 read past the end of its body", 4],
    "d5 14 01 02" => [Manypack::MalformedFormatError, "the unpacker of ext type 20 left 1 byte of its body unread", 3],
    "d6 16 92 01 d4 05" => [Manypack::MalformedFormatError, "the unpacker of ext type 22 read past the end of its body", 4],
    "c7 05 14 91 d5 01 00 00" => [Manypack::MalformedFormatError, "a bigint must have a sign byte and chunks of 4 bytes, got 2 bytes", 4],
    "c7 05 14 91 d5 0d 91 c1" =>
      [Manypack::MalformedFormatError, "0xc1 is not a MessagePack head byte, at byte 1, in the unpacker of ext type 13", 4]
  }.freeze

  # What may be before and after an ext.
  PLACES = {
    "alone" => [+"", ""], "in an array" => ["\x92".b, "\x01"], "a value" => ["\x81\xA1a".b, ""], "a key" => ["\x81".b, "\x01"],
    "far away" => ["\xDC\x01\x01".b + ("\x01" * 256), ""], "65 deep" => ["\x91".b * 65, ""]
  }.freeze

  # By the input class, message and offset of its error.
  EXPECTED = PLACES.each_value.with_object({}) do |(before, after), expected|
    ERRORS.to_h { |ext, error| [ext, [*error, 0]] }.merge(INNER_ERRORS).each do |ext, (error_class, words, behind)|
      offset = before.bytesize + behind
      expected[before + [ext.delete(" ")].pack("H*") + after] = [error_class, "#{words}, at byte #{offset}", offset]
    end
    body = before + "\xD4\x0A\x00".b + after
    ext = [0xc8, body.bytesize, 20].pack("CS>C") + body
    expected[ext] = [Manypack::MalformedFormatError, "refused, at byte #{before.bytesize + 4}", before.bytesize + 4]
  end.freeze

  # Class, message and offset of the error of a message that the block unpacks by the types above.
  def self.outcome
    yield
  rescue Manypack::DecodeError => e
    [e.class, e.message, e.offset]
  end

  def test_an_error_of_a_handler_has_its_place_in_the_whole_input
    EXPECTED.each do |input, expected|
      assert_equal expected, HandlerErrorsContract.outcome { restore(input) }, hex(input)[0, 100]
    end
  end
end

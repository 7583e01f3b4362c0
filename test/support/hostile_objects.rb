# frozen_string_literal: true

# Random messages as strangers write them: keys twice, in other widths, of all types; bytes that are no text; texts that
# look like the forms of the terminal.
class HostileObjects
  # The bytes of a message, and those of the same message as Manypack packs it.
  Message = Struct.new(:bytes, :normal)

  TEXTS = ["", "a", "b", "$", "$$a", "$5", "$05", "$-0", "$1.5", "$1.50", "$null", "$NaN", "$bin", "$hex", "$ext", "$map", "$packed", "$str", "$float",
           "$timestamp", "$msgpack:kQE=", "$msgpack:AQ==", "$msgpack:", "<<", "=", "~", "null", "yes", "0x1F", "1_000", "1e3", "2026-11-23", ":a", "*a", "&a",
           "!a", "- a", "a: b", "#", "\n", " a", "a ", "a\nb\n", "\t", "\e[2J", "\u007f", "\u0085", "\u009b", "\u2028", "\u{1f600}", "größe", "\"\\", "@", "`",
           "%a", "|", ">", "---", "...", "12:30:45", ".inf", "0o7", "\r\n", "a" * 40].freeze
  BYTES = ["\xff", "\xc3", "a\x80", "\xed\xa0\x80", "\0\xff"].map(&:b).freeze
  INTEGERS = [0, 1, 5, 127, 128, 255, 256, 65_535, 65_536, (2**32) - 1, 2**32, (2**63) - 1, 2**63, (2**64) - 1, -1, -32, -33, -128, -129, -32_769, -(2**63)].freeze
  FLOATS = [0.0, -0.0, 1.5, -1.5, 5.0, 0.1, 1e300, 5e-324, 1e16, 123_456_789.0, Float::INFINITY, -Float::INFINITY].freeze
  BODIES = ["", "x", "1234", "12345678", "123456789012", "\x93\x01\x02\x03", "\x81\xa1a\x01", "{\"a\":1}", "text"].map(&:b).freeze

  def initialize(random)
    @random = random
  end

  # Returns a random Message.
  def message(depth = 3)
    case @random.rand(depth.zero? ? 8 : 12)
    when 0 then same(Manypack.pack([nil, true, false].sample(random: @random)))
    when 1 then integer
    when 2 then float
    when 3, 4 then str(TEXTS.sample(random: @random).b)
    when 5 then str(BYTES.sample(random: @random))
    when 6 then bin((TEXTS + BYTES + BODIES).sample(random: @random).b)
    when 7 then ext
    when 8, 9 then array(depth)
    else map(depth)
    end
  end

  private

  def same(bytes) = Message.new(bytes, bytes)

  def integer
    value = INTEGERS.sample(random: @random)
    wide = value.negative? ? [0xd3, value].pack("Cq>") : [0xcf, value].pack("CQ>")
    Message.new([wide, Manypack.pack(value)].sample(random: @random), Manypack.pack(value))
  end

  def float
    return Message.new([0xcb, 0x7ff8000000000000 + @random.rand(5)].pack("CQ>"), Manypack.pack(Float::NAN)) if @random.rand(8).zero?

    value = FLOATS.sample(random: @random)
    single = [0xca, value].pack("Cg")
    exact = [value].pack("g").unpack1("g").eql?(value)
    Message.new(exact && @random.rand(2).zero? ? single : Manypack.pack(value), Manypack.pack(value))
  end

  def str(bytes)
    Message.new([0xd9, bytes.bytesize].pack("CC") + bytes, Manypack.pack(bytes.dup.force_encoding("UTF-8")))
  end

  def bin(bytes)
    Message.new([0xc5, bytes.bytesize].pack("Cn") + bytes, Manypack.pack(bytes))
  end

  def ext
    type = [-128, -1, 0, 5, 127].sample(random: @random)
    body = BODIES.sample(random: @random)
    return timestamp if type == -1 && @random.rand(2).zero?

    bytes = [0xc7, body.bytesize, type].pack("CCc") + body
    Message.new(bytes, normal_ext(type, body))
  end

  # A body that is a Timestamp is written at its shortest.
  def normal_ext(type, body)
    return Manypack.pack(Manypack::ExtensionValue.new(type, body)) unless type == -1

    Manypack.pack(Manypack.unpack([0xc7, body.bytesize, type].pack("CCc") + body, timestamp: true).then { |time| time.is_a?(Time) ? Manypack::Timestamp.new(time.to_i, time.nsec) : time }, timestamp: true)
  rescue Manypack::DecodeError
    Manypack.pack(Manypack::ExtensionValue.new(type, body))
  end

  def timestamp
    sec = [0, 1, -1, 2**33, 2**40, -(2**40), 253_402_300_799, 253_402_300_800].sample(random: @random)
    nsec = [0, 1, 500_000_000, 999_999_999].sample(random: @random)
    Message.new([0xc7, 12, -1, nsec, sec].pack("CCcNq>"), Manypack.pack(Manypack::Timestamp.new(sec, nsec), timestamp: true))
  end

  def array(depth)
    parts = Array.new(@random.rand(5)) { message(depth - 1) }
    Message.new([0xdc, parts.size].pack("Cn") + parts.map(&:bytes).join, [0x90 | parts.size].pack("C") + parts.map(&:normal).join)
  end

  def map(depth)
    pairs = Array.new(@random.rand(6)) { [key(depth), message(depth - 1)] }
    pairs += pairs.sample(@random.rand(3), random: @random).map { |key, _| [key, message(0)] }
    Message.new([0xde, pairs.size].pack("Cn") + pairs.flatten.map(&:bytes).join, [0x80 | pairs.size].pack("C") + pairs.flatten.map(&:normal).join)
  end

  # A key that is neither text nor a number keeps its bytes.
  def key(depth)
    key = message(@random.rand(6).zero? ? depth - 1 : 0)
    simple = key.normal.match?(/\A[\x00-\x7f\xc0-\xc3\xca-\xd3\xe0-\xff]/n)
    text = key.normal.match?(/\A[\xa0-\xbf\xd9-\xdb]/n) && Manypack.unpack(key.normal).valid_encoding?
    simple || text ? key : same(key.normal)
  end
end

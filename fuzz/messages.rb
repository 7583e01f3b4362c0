# frozen_string_literal: true

# Generates messages.
module Fuzz
  # Generates bytes for a decoder: valid messages in every encoding that the format allows, and messages that are cut,
  # changed, spliced or made only of headers.
  class Messages
    TIMESTAMP = -1

    # The kinds of messages, and how often each comes.
    KINDS = { one: 6, several: 2, truncated: 4, mutated: 8, spliced: 4, bomb: 1, deep: 1, keys: 1, noise: 1 }.freeze
    LOT = KINDS.flat_map { |kind, share| [kind] * share }.freeze

    SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 30, 31, 32, 33, 64].freeze
    LONG_SIZES = [255, 256, 257, 1000].freeze
    TEXTS = ["", "a", "id", "name", "é", "日本", "😀", "a\0b", "\xFF", "\xED\xA0\x80", "x" * 31, "y" * 32, "é" * 16]
            .map(&:b).freeze
    NANS = ["\x7F\xF8\0\0\0\0\0\0", "\xFF\xF8\0\0\0\0\0\1", "\x7F\xF0\0\0\0\0\0\1"].map(&:b).freeze
    NUMBERS = ["\x00", "\x7F", "\xE0", "\xFF", "\xCC\x80", "\xCC\x01", "\xCD\x01\x00", "\xCD\x00\x01",
               "\xCE\xFF\xFF\xFF\xFF", "\xCF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "\xCF\0\0\0\0\0\0\0\1",
               "\xD0\x80", "\xD0\x05", "\xD1\x80\0", "\xD1\0\1",
               "\xD2\x80\0\0\0", "\xD3\x80\0\0\0\0\0\0\0", "\xD3\0\0\0\0\0\0\0\1",
               "\xCA\x3F\xC0\0\0", "\xCA\x7F\xC0\0\1", "\xCB\x3F\xF8\0\0\0\0\0\0", "\xCB\x80\0\0\0\0\0\0\0",
               "\xC0", "\xC2", "\xC3"].map(&:b).freeze
    CONTAINERS = [0x90, 0x80, 0xDC, 0xDD, 0xDE, 0xDF].freeze
    HEADS = (0x80..0xFF).to_a.freeze
    COUNTS = [0, 1, 2, 15, 16, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff].freeze

    # random:: a Random
    # types:: an Array of the ext types that are registered
    # recursive:: an Array of the types among them whose bodies are MessagePack
    def initialize(random, types, recursive)
      @random = random
      @types = types
      @recursive = recursive
    end

    # Returns a message, a binary String.
    def message
      bytes = send(LOT.sample(random: @random))
      bytes << sized([0xC4, 0xC5, 0xC6], @random.bytes(300)) if @random.rand(12).zero? # long enough to be referenced
      bytes
    end

    # Returns a change of the first message, which may have a part of the second.
    def changed(first, second)
      case @random.rand(6)
      when 0, 1 then with_a_few_others(first.dup)
      when 2 then both(first, second)
      when 3 then container([0x90, 0xDC, 0xDD], 2) + first + second
      when 4 then container([0x80, 0xDE, 0xDF], 1) + key(1) + first
      else first.dup.tap { |bytes| bytes[@random.rand(bytes.bytesize + 1), @random.rand(3)] = object(2) }
      end
    end

    private

    def one = object(@random.rand(1..5))

    def several
      Array.new(@random.rand(2..5)) { object(@random.rand(1..3)) }.join
    end

    def truncated
      bytes = @random.rand(2).zero? ? one : several
      bytes.byteslice(0, @random.rand(bytes.bytesize + 1))
    end

    def mutated = with_a_few_others(@random.rand(3).zero? ? several : one)

    # Changes, inserts or removes a few bytes; prefers head bytes.
    def with_a_few_others(bytes)
      @random.rand(1..4).times do
        at = @random.rand(bytes.bytesize + 1)
        case @random.rand(4)
        when 0 then bytes[at, 1] = byte
        when 1 then bytes[at, 0] = byte * @random.rand(1..3)
        when 2 then bytes[at, @random.rand(1..4)] = ""
        else bytes[at, 1] = (bytes.getbyte(at).to_i ^ (1 << @random.rand(8))).chr
        end
      end
      bytes
    end

    def spliced = both(one, one)

    # The first with a part of the second.
    def both(first, second)
      at = @random.rand(first.bytesize + 1)
      from = @random.rand(second.bytesize + 1)
      inserted = second.byteslice(from, @random.rand(1..40))
      first.byteslice(0, at) + inserted + first.byteslice(at + @random.rand(4)..).to_s
    end

    # Nested headers that declare objects that never come.
    def bomb
      heads = Array.new(@random.rand(1..140)) do
        length(CONTAINERS.sample(random: @random), COUNTS.sample(random: @random))
      end
      heads.join + (@random.rand(2).zero? ? one : "")
    end

    # Containers nested about as deep as allowed, or ext types nested in the bodies of others.
    def deep
      levels = @random.rand(3).zero? ? @random.rand(1..300) : @random.rand(120..132)
      case @random.rand(4)
      when 0 then Array.new(levels) { ["\x91".b, "\x81\xA1k".b].sample(random: @random) }.join + one
      when 1 then "\x81".b * levels + one * (levels + 1)
      when 2 then "\x92\x90".b * levels + "\xC0".b
      else bodies(levels.clamp(1, 140), [@recursive, [@recursive.first]].sample(random: @random))
      end
    end

    # Nested ext types: each is the body of the next.
    def bodies(levels, types)
      levels.times.inject("\xC0".b) { |inner, _| ext(types.sample(random: @random), inner) }
    end

    # Maps with difficult keys: NaN, [NaN], equal keys, containers.
    def keys
      n = @random.rand(1..60)
      key = [-> { nan }, -> { "\x91".b + nan }, -> { "\x81".b + nan + nan }, -> { "\xA1a".b }, -> { object(2) },
             -> { ext(@types.sample(random: @random), @random.bytes(@random.rand(3))) }].sample(random: @random)
      length(0xDE, n) + Array.new(n) { key.call + object(0) }.join
    end

    def noise = @random.bytes(@random.rand(80))

    def nan = "\xCB".b + NANS.sample(random: @random)

    def byte = (@random.rand(3).zero? ? @random.rand(256) : HEADS.sample(random: @random)).chr.b

    # A complete object with at most this many levels of containers.
    def object(levels)
      case @random.rand(levels.positive? ? 13 : 8)
      when 0, 1 then NUMBERS.sample(random: @random).dup
      when 2 then "\xCB".b + @random.bytes(8)
      when 3, 4 then str(TEXTS.sample(random: @random))
      when 5 then sized([0xC4, 0xC5, 0xC6], payload)
      when 6, 7 then extension(levels)
      when 8, 9 then array(levels)
      else map(levels)
      end
    end

    def payload
      size = @random.rand(12).zero? ? LONG_SIZES.sample(random: @random) : SIZES.sample(random: @random)
      @random.bytes(size)
    end

    def str(text)
      return sized([0xD9, 0xDA, 0xDB], text) if text.bytesize > 31 || @random.rand(4).zero?

      (0xA0 | text.bytesize).chr.b + text
    end

    # A payload after a length of 8, 16 or 32 bits, which may be wider than necessary.
    def sized(heads, payload, type = nil)
      fits = payload.bytesize > 0xFF ? 1 : 0
      width = @random.rand(fits..2)
      [heads[width]].pack("C") + [payload.bytesize].pack(%w[C n N][width]) + (type ? [type].pack("c") : "") + payload
    end

    # The head of a container. The count is cut if the head has no room for it.
    def length(head, count)
      case head
      when 0x80, 0x90 then (head | (count & 15)).chr.b
      when 0xDC, 0xDE then [head, count & 0xFFFF].pack("Cn")
      else [head, count].pack("CN")
      end
    end

    def container(heads, count)
      head = count > 15 || @random.rand(5).zero? ? heads[@random.rand(1..2)] : heads[0]
      length(head, count)
    end

    def array(levels)
      n = @random.rand(40).zero? ? 20 : @random.rand(6)
      container([0x90, 0xDC, 0xDD], n) + Array.new(n) { object(levels - 1) }.join
    end

    def map(levels)
      n = @random.rand(40).zero? ? 20 : @random.rand(6)
      container([0x80, 0xDE, 0xDF], n) + Array.new(n) { key(levels - 1) + object(levels - 1) }.join
    end

    def key(levels)
      case @random.rand(8)
      when 0 then object([levels, 1].min)
      when 1 then nan
      when 2 then sized([0xC4, 0xC5, 0xC6], TEXTS.sample(random: @random))
      else str(TEXTS.sample(random: @random))
      end
    end

    def extension(levels)
      type = @random.rand(6).zero? ? @random.rand(-128..127) : @types.sample(random: @random)
      if type == TIMESTAMP && @random.rand(3).zero?
        return ext(type, @random.bytes([4, 8, 12, 0, 5].sample(random: @random)))
      end
      return ext(type, timestamp) if type == TIMESTAMP
      return ext(type, payload) unless @recursive.include?(type)

      body = Array.new(@random.rand(6).zero? ? 2 : 1) { object(levels.positive? ? levels - 1 : 0) }.join
      body = body.byteslice(0, @random.rand(body.bytesize + 1)) if @random.rand(10).zero?
      ext(type, body)
    end

    def timestamp
      case @random.rand(3)
      when 0 then [@random.rand(2**32)].pack("N")
      when 1 then [@random.rand(10**9 + 5) << 34 | @random.rand(2**34)].pack("Q>")
      else [@random.rand(10**9 + 5), @random.rand(2**63) * [1, -1].sample(random: @random)].pack("Nq>")
      end
    end

    def ext(type, body)
      fixed = [1, 2, 4, 8, 16].index(body.bytesize)
      return [0xD4 + fixed, type].pack("Cc") + body if fixed && @random.rand(4).positive?

      sized([0xC7, 0xC8, 0xC9], body, type)
    end
  end
end

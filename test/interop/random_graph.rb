# frozen_string_literal: true

# Object graphs from a seed, of everything that MessagePack has, with sizes at the edges of its size classes, and of
# Strings and Symbols in other encodings than its own.
class RandomGraph
  EDGES = [0, 1, 15, 16, 17, 31, 32, 33, 255, 256, 257].freeze
  INTEGER_EDGES = [0, 7, 8, 15, 16, 31, 32, 62, 63, 64].flat_map { |bits| [(1 << bits) - 1, 1 << bits, -(1 << bits)] }
                                                        .select { |n| n >= -(1 << 63) && n < (1 << 64) }.freeze
  FLOATS = [0.0, -0.0, 1.5, -1e300, 5e-324, Float::INFINITY, -Float::INFINITY, 1e-80].freeze
  LETTERS = ["a", "Z", " ", "é", "日", "😀", "\0"].freeze
  ENCODINGS = %w[BINARY US-ASCII ISO-8859-1 Windows-1252 EUC-JP Shift_JIS UTF-16LE UTF-16 UTF-32BE ISO-2022-JP].freeze
  FOREIGN_TEXTS = ENCODINGS.flat_map do |encoding|
    ["", "ascii", "é", "日本", "é" * 16, "日" * 90].filter_map do |text|
      encoding == "BINARY" ? text.b : text.encode(encoding)
    rescue EncodingError
      nil # not a character of this encoding
    end
  end.freeze

  # Symbols of a program's text, which are never collected; to_sym makes others.
  LITERALS = [*%i[id name é 日本 a_symbol_that_is_longer_than_a_fixstr_may_be],
              *[["BINARY", "\xFF\xFE"], ["ISO-8859-1", "\xE9"], ["EUC-JP", "\xC6\xFC"], ["Shift_JIS", "\x93\xFA" * 40]].map do |encoding, name|
                eval("# encoding: #{encoding}\n:".b.concat(name.b).force_encoding(encoding))
              end].freeze

  # ext makes an ext of a type and a payload; it is nil for graphs without ext.
  def initialize(random, ext: nil)
    @random = random
    @ext = ext
  end

  # Returns a graph of no more than so many levels.
  def graph(levels = 5)
    case @random.rand(levels.positive? ? 14 : 10)
    when 0 then [nil, true, false].sample(random: @random)
    when 1, 2, 3 then integer
    when 4 then float
    when 5, 6 then string
    when 7 then @random.rand(2).zero? ? symbol : foreign_text
    when 8 then binary
    when 9 then @ext ? extension : integer
    when 10, 11 then Array.new(count(levels)) { graph(levels - 1) }
    else Array.new(count(levels)) { [key(levels), graph(levels - 1)] }.to_h
    end
  end

  private

  # Long containers only where they do not multiply.
  def count(levels)
    levels == 1 ? EDGES.sample(random: @random) : @random.rand(6)
  end

  def integer
    return INTEGER_EDGES.sample(random: @random) if @random.rand(3).zero?

    n = @random.rand(1 << @random.rand(1..63))
    @random.rand(2).zero? ? n : -n
  end

  def float
    @random.rand(4).zero? ? FLOATS.sample(random: @random) : (@random.rand - 0.5) * 10**@random.rand(-20..20)
  end

  def string
    size = @random.rand(3).zero? ? EDGES.sample(random: @random) : @random.rand(40)
    Array.new(size) { LETTERS.sample(random: @random) }.join
  end

  def symbol
    return LITERALS.sample(random: @random) if @random.rand(2).zero?

    [string, binary, foreign_text].sample(random: @random).to_sym
  end

  def foreign_text
    FOREIGN_TEXTS.sample(random: @random)
  end

  def binary
    @random.bytes(EDGES.sample(random: @random))
  end

  def extension
    @ext.call(@random.rand(-128..127), @random.bytes([0, 1, 2, 3, 4, 8, 15, 16, 17, 255, 256].sample(random: @random)))
  end

  def key(levels)
    case @random.rand(10)
    when 0 then integer
    when 1 then levels > 1 ? [graph(0), graph(0)] : binary
    when 2 then nil
    when 3, 4 then symbol
    when 5 then foreign_text
    else string
    end
  end
end

# frozen_string_literal: true

# Object graphs from a seed, of everything that MessagePack has, with sizes at the edges of its size classes.
class RandomGraph
  EDGES = [0, 1, 15, 16, 17, 31, 32, 33, 255, 256, 257].freeze
  INTEGER_EDGES = [0, 7, 8, 15, 16, 31, 32, 62, 63, 64].flat_map { |bits| [(1 << bits) - 1, 1 << bits, -(1 << bits)] }
                                                        .select { |n| n >= -(1 << 63) && n < (1 << 64) }.freeze
  FLOATS = [0.0, -0.0, 1.5, -1e300, 5e-324, Float::INFINITY, -Float::INFINITY, 1e-80].freeze
  LETTERS = ["a", "Z", " ", "é", "日", "😀", "\0"].freeze

  # @param random [Random]
  # @param ext [#call] makes an ext of a type and a payload; nil for graphs without ext
  def initialize(random, ext: nil)
    @random = random
    @ext = ext
  end

  # @return [Object] a graph of no more than so many levels
  def graph(levels = 5)
    case @random.rand(levels.positive? ? 14 : 10)
    when 0 then [nil, true, false].sample(random: @random)
    when 1, 2, 3 then integer
    when 4 then float
    when 5, 6, 7 then string
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
    else string
    end
  end
end

# frozen_string_literal: true

# Deep and cyclic data, and places with a C stack of their own to handle it in.
module Nesting
  # Contains itself through to_msgpack.
  class Mirror
    def to_msgpack(packer)
      packer.write_array_header(1).write([self])
    end
  end

  class Mutual
    def to_msgpack(packer)
      packer.write({ "mirror" => Mirror.new, "self" => self })
    end
  end

  CYCLES = {
    "array" => -> { [].tap { |array| array << array } },
    "hash" => -> { {}.tap { |hash| hash["k"] = hash } },
    "hash as key" => -> { {}.compare_by_identity.tap { |hash| hash[hash] = 1 } },
    "mixture" => -> { [{}].tap { |array| array[0]["k"] = [[array]] } },
    "to_msgpack" => -> { Mirror.new },
    "to_msgpack of two" => -> { [Mutual.new] }
  }.freeze

  PLACES = {
    "the main thread" => ->(work) { work.call },
    "a Thread" => ->(work) { Thread.new { work.call }.value },
    "a Fiber" => ->(work) { Fiber.new { work.call }.resume },
    "a Fiber in a Thread" => ->(work) { Thread.new { Fiber.new { work.call }.resume }.value }
  }.freeze

  # Has another object in its body. By names of methods, so that every Ractor may call them.
  Wrapped = Struct.new(:content) do
    def to_msgpack_ext(packer)
      packer.write(content)
    end

    def self.from_msgpack_ext(unpacker)
      new(unpacker.read)
    end
  end

  # Type 1 is recursive.
  RECURSIVE = Manypack::Factory.new.tap { |factory| factory.register_type(1, Wrapped, packer: :to_msgpack_ext, unpacker: :from_msgpack_ext, recursive: true) }.freeze

  # Messages by how they are nested, each from a number of levels.
  MESSAGES = {
    "arrays" => ->(levels) { ("\x91".b * levels) + "\xC0".b },
    "maps as values" => ->(levels) { ("\x81\xC0".b * levels) + "\xC0".b },
    "maps as keys" => ->(levels) { ("\x81".b * levels) + "\xC0".b + ("\x01" * levels) },
    "arrays in a key" => ->(levels) { "\x81".b + ("\x91".b * (levels - 1)) + "\xC0\xC0".b },
    "recursive exts" => ->(levels) { (0...levels).map { |inner| [0xc9, (6 * inner) + 1, 1].pack("CL>c") }.reverse.join + "\xC0".b },
    "a mixture" => lambda do |levels|
      (0...levels).inject("\xC0".b) do |inner, level|
        ["\x91".b, "\x81\x01".b, [0xc9, inner.bytesize, 1].pack("CL>c")][level % 3] + inner
      end
    end
  }.freeze

  # Of what is nested too deep by far.
  VERY_DEEP = Hash.new(1_000_000).merge("recursive exts" => 200_000, "a mixture" => 2_000).freeze

  # Kind, levels, max_depth and whether it fits: one less than there may be, as many, one more, and very many more. Of maps
  # that are keys of each other there may be five, whatever max_depth; in a key containers are 32 deep at most.
  EDGES = MESSAGES.keys.product([3, 60, 1_000]).flat_map do |kind, max_depth|
    most = { "maps as keys" => [max_depth, 5].min, "arrays in a key" => [max_depth, 33].min }.fetch(kind, max_depth)
    [[most - 1, true], [most, true], [most + 1, false], [VERY_DEEP[kind], false]].map { |levels, fits| [kind, levels, max_depth, fits] }
  end.freeze

  def self.messages
    @messages ||= EDGES.to_h { |kind, levels| [[kind, levels], MESSAGES[kind].call(levels).freeze] }
  end

  # What becomes of a message: :value, or the class of the error.
  def self.decode(message, max_depth)
    RECURSIVE.load(message, max_depth: max_depth)
    :value
  rescue Exception => e # SystemStackError is no StandardError
    e.class
  end
end

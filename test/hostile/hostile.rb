# frozen_string_literal: true

# What the tests of hostile input share. Their names begin with the number of the requirement that they prove, of the
# list that SECURITY.md has: each of its rows has at least one (requirements_test.rb sees to that).
require "test_helper"
require "stringio"
require "support/costs"
require "support/nesting"
require "support/program"

module Hostile
  NAN = "\xCB\x7F\xF8\0\0\0\0\0\0".b.freeze

  # Of the errors of decoding there are no others.
  ERRORS = [Manypack::DecodeError, EncodingError].freeze

  # Whatever a decoder may be fed: read, skip, byte by byte, out of an io.
  WAYS = {
    "unpack" => ->(binary, opts) { Manypack.unpack(binary, opts) },
    "read" => ->(binary, opts) { Manypack::Unpacker.new(opts).feed(binary).full_unpack },
    "single bytes" => lambda do |binary, opts|
      unpacker = Manypack::Unpacker.new(opts)
      objects = []
      binary.each_byte { |byte| unpacker.feed_each(byte.chr) { |object| objects << object } }
      objects.empty? ? unpacker.read : objects.first
    end,
    "io" => ->(binary, opts) { Manypack.unpack(StringIO.new(binary), opts) },
    "skip" => ->(binary, opts) { Manypack::Unpacker.new(opts).feed(binary).skip },
    "skip of single bytes" => lambda do |binary, opts|
      unpacker = Manypack::Unpacker.new(opts)
      binary[0...-1].each_char { |byte| Hostile.skip_what_is_there(unpacker.feed(byte)) }
      unpacker.feed(binary[-1].to_s).skip
    end
  }.freeze

  READING = WAYS.except("skip", "skip of single bytes").freeze

  def self.skip_what_is_there(unpacker)
    unpacker.skip
  rescue EOFError
    nil
  end

  class Test < Minitest::Test
    include Costs
    include ProgramHelper

    # An attack costs less than so many times an honest message of its size, in time and memory, or raises; raising
    # costs no more. The least of several runs, as a busy machine only ever adds.
    FACTOR = 10

    def assert_cheap(attack, honest, &decode)
      assert_in_delta honest.bytesize, attack.bytesize, honest.bytesize * 0.2, "sizes"
      decode ||= ->(binary) { Manypack.unpack(binary) }
      outcomes = [attack, honest].map { |binary| outcome { decode.call(binary) } }
      refute_kind_of Exception, outcomes.last
      times = least_times(attack, honest, decode)
      assert_operator times.first, :<, times.last * FACTOR, "CPU seconds #{times.inspect}"
      memory = [attack, honest].map { |binary| allocated_bytes { outcome { decode.call(binary) } } }
      assert_operator memory.first, :<, (memory.last + 50_000) * FACTOR, "bytes #{memory.inspect}"
      outcomes.first
    end

    # What the block returns or raises, of errors that are for rescue without a class.
    def outcome
      yield
    rescue StandardError => e
      e
    end

    def least_times(attack, honest, decode)
      least = [Float::INFINITY, Float::INFINITY]
      8.times do |round|
        least = least.zip([attack, honest]).map { |before, binary| [before, cpu_seconds { outcome { decode.call(binary) } }].min }
        break if round > 1 && least.first < least.last * FACTOR
      end
      least
    end

    def map32(count, pairs)
      [0xdf, count].pack("CL>") + pairs
    end

    def array32(count, elements)
      [0xdd, count].pack("CL>") + elements
    end
  end
end

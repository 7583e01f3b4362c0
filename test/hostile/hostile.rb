# frozen_string_literal: true

# What the tests of hostile input share. Their names begin with the number of the requirement that they prove, of the
# list that SECURITY.md has: each of its rows has at least one (requirements_test.rb sees to that).
require "test_helper"
require "stringio"
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
    include ProgramHelper

    # What the block returns or raises, of errors that are for rescue without a class.
    def outcome
      yield
    rescue StandardError => e
      e
    end
  end
end

# frozen_string_literal: true

# Unpacker#read begins every object with a decoder that stops before it would call user code or raise. Unpacker#each has
# no such decoder: both have to find the same objects and the same errors, wherever in a message the stop is.
require "test_helper"
require "support/program"

class ReadTest < Minitest::Test
  include CorePart
  include ProgramHelper

  class Boom < StandardError; end

  # Each is one object, or an error.
  STOPS = {
    "an ext" => "d4 01 05", "an ext that fails" => "d4 01 78", "an unknown ext" => "d4 05 61", "a recursive ext" => "d5 02 91 07",
    "a recursive ext that leaves bytes" => "d5 02 01 02", "a head that does not exist" => "c1", "a NaN" => "cb 7f f8 00 00 00 00 00 00",
    "an array as a key" => "81 91 01 02", "a map as a key" => "81 81 01 02 03", "an empty array as a key" => "81 90 01",
    "an ext as a key" => "81 d4 01 05 01", "a NaN as a key" => "81 ca 7f c0 00 00 01", "a Bignum as a key" => "81 cf ff ff ff ff ff ff ff ff 01",
    "a negative Bignum as a key" => "81 d3 80 00 00 00 00 00 00 00 01", "a Float as a key" => "81 cb 00 00 00 00 00 00 00 01 02",
    "a Symbol that is not UTF-8" => "81 a1 ff 01", "too many levels" => ("91 " * 9) + "c0", "a bin as a key" => "81 c4 01 61 01",
    "keys of one hash" => "de 00 11#{" ca 7f c0 00 00 01" * 17}"
  }.freeze

  PLACES = {
    "alone" => "%s", "in an array" => "93 01 %s 02", "first in an array" => "92 %s a1 61", "as a value" => "82 a1 61 %s a1 62 02",
    "in maps of maps" => "81 a1 61 81 a1 62 92 a1 63 %s", "in the body of an ext" => nil
  }.freeze

  OPTIONS = { "by default" => {}, "with Symbols" => { symbolize_keys: true }, "frozen" => { freeze: true }, "shareable" => { shareable: true } }.freeze

  STOPS.each do |what, hex|
    define_method("test_read_finds_what_each_finds_with_#{what.tr(" -", "__")}") do
      PLACES.each do |where, format|
        message = format ? bytes(format % hex) : in_body(bytes(hex))
        OPTIONS.each do |how, options|
          stream = message + "\x92\xA1b\x07\x08".b
          expected = outcomes(unpacker(options).feed(stream), :each)
          assert_equal expected, outcomes(unpacker(options).feed(stream), :read), "#{what} #{where}, #{how}"
          pieces = stream.each_char.to_a
          assert_equal expected, outcomes(pieces.inject(unpacker(options)) { |all, piece| all.feed(piece) }, :read), "#{what} #{where}, #{how}, in pieces"
        end
      end
    end
  end

  def test_a_collection_at_every_allocation
    STOPS.each_value do |hex|
      stream = bytes(format(PLACES["in maps of maps"], hex)) + "\xA1b".b
      fed = unpacker({}).feed(stream)
      assert_equal outcomes(unpacker({}).feed(stream), :each), exercise { outcomes(fed, :read) }
    end
  end

  # What Ruby calls when it hashes a key, or compares two of them, and two equal keys for which it does.
  CALLED = {
    "Integer#eql?" => '"\xCF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"', "Integer#eql? below 0" => '"\xD3\x80\0\0\0\0\0\0\0"',
    "Array#hash" => '"\x91\x01"', "Hash#hash" => '"\x81\x01\x02"'
  }.freeze

  CALLED.each do |called, key|
    define_method("test_an_unpacker_is_in_use_while_ruby_calls_#{called.tr(" ", "_")}") do
      name, method = called[/\S+/].split("#")
      assert_program <<~RUBY, "[[RuntimeError], 1, 2]"
        $VERBOSE = nil
        unpacker = Manypack::Unpacker.new
        original = #{name}.instance_method(:#{method})
        seen = []
        #{name}.define_method(:#{method}) do |*other|
          seen << (unpacker.read rescue $!.class)
          original.bind_call(self, *other)
        end
        unpacker.feed("\\x82".b + #{key}.b + "\\x01".b + #{key}.b + "\\x02\\x02".b)
        object = unpacker.read
        #{name}.define_method(:#{method}, original)
        p [seen.uniq, object.size, unpacker.read]
      RUBY
    end
  end

  # Ruby calls eql? where a few bits of two keys' hashes are the same: which keys these are changes from run to run.
  def test_an_unpacker_is_in_use_while_ruby_compares_keys_of_two_classes
    assert_program <<~'RUBY', "[[RuntimeError, RuntimeError], 2, 3]"
      $VERBOSE = nil
      unpacker = Manypack::Unpacker.new
      seen = []
      armed = false
      original = Integer.instance_method(:eql?)
      Integer.define_method(:eql?) do |other|
        if armed && other.is_a?(String)
          armed = false
          seen << (unpacker.read rescue $!.class) << (unpacker.buffer.clear rescue $!.class)
        end
        original.bind_call(self, other)
      end
      10_000.times do |i|
        unpacker.feed("\x82".b + Manypack.pack("key #{i}") + "\x01".b + Manypack.pack(i + 1_000) + "\x02\x03".b)
        armed = true
        object = unpacker.read
        armed = false
        last = unpacker.read
        break p([seen, object.size, last]) unless seen.empty?
      end
    RUBY
  end

  private

  def unpacker(options)
    factory = Manypack::Factory.new
    factory.register_type(1, Boom, packer: nil, unpacker: ->(body) { body == "x" ? raise(Boom, "by the handler") : body })
    factory.register_type(2, Struct.new(:all), packer: nil, unpacker: ->(body) { [:body, body.read] }, recursive: true)
    factory.unpacker(max_depth: 8, **options)
  end

  def in_body(object)
    "\xC7".b + [object.bytesize, 2].pack("CC") + object
  end

  # All that comes out of an Unpacker until its input ends, or until it refuses, which it does with the same error.
  def outcomes(unpacker, method)
    found = []
    last = nil
    10.times do
      break unpacker.each { |object| found << object.inspect } if method == :each

      found << unpacker.read.inspect
    rescue EOFError
      break
    rescue StandardError => e
      found << [e.class, e.message, e.equal?(last)]
      break if e.equal?(last)

      last = e
    end
    found
  end
end

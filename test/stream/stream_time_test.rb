# frozen_string_literal: true

# A stream that comes in small pieces takes time in proportion to its bytes.
require "test_helper"
require "support/costs"

class StreamTimeTest < Minitest::Test
  include Costs

  # A message of so many bytes, all of which are in one object.
  LONG_OBJECTS = {
    "str" => ->(size) { Manypack.pack("s" * size) },
    "array" => ->(size) { Manypack.pack([1] * size) },
    "ext" => ->(size) { Manypack.pack(Manypack::ExtensionValue.new(1, "e" * size)) },
    "map key" => ->(size) { Manypack.pack({ "k" * size => 1 }) },
    "map" => ->(size) { Manypack.pack((0...size / 6).to_h { |i| [65_536 + i, nil] }) },
    "depth" => ->(size) { ("\x91".b * (size * 2 / 5)) + Manypack.pack("s" * (size / 2)) }
  }.freeze

  LONG_OBJECTS.each do |name, message|
    %i[read skip].each do |method|
      define_method("test_single_bytes_of_one_long_#{name.tr(" ", "_")}_take_linear_time_to_#{method}") do
        assert_linear(method == :read ? 25_000 : 10_000) { |size| in_pieces(message.call(size), 1, method) }
      end
    end
  end

  def test_pieces_of_300_bytes_of_one_long_str_take_linear_time
    %i[read skip].each { |method| assert_linear(2_000_000) { |size| in_pieces(LONG_OBJECTS["str"].call(size), 300, method) } }
  end

  def test_a_million_single_bytes_are_a_matter_of_moments
    string = "s" * 1_000_000
    unpacker = Manypack::Unpacker.new
    result = nil
    Manypack.pack(string).each_char { |byte| unpacker.feed_each(byte) { |object| result = object } }
    assert_equal string, result
  end

  def test_a_splitter_that_is_fed_single_bytes_of_one_long_message_takes_linear_time
    assert_linear(25_000) do |size|
      message = Manypack.pack([1] * size)
      -> { assert_equal [message.bytesize], split(message).map { |_bytes, _start, length| length } }
    end
  end

  private

  def in_pieces(message, step, method)
    -> { feed_in_pieces(message, step, method) }
  end

  def feed_in_pieces(message, step, method)
    unpacker = Manypack::Unpacker.new(max_depth: 100_000, allow_unknown_ext: true)
    objects = 0
    0.step(message.bytesize - 1, step) do |at|
      unpacker.feed(message.byteslice(at, step))
      if method == :read
        unpacker.each { objects += 1 }
      else
        begin
          unpacker.skip
          objects += 1
        rescue EOFError
          nil
        end
      end
    end
    assert_equal 1, objects
  end

  def split(message)
    splitter = Manypack::Parallel.const_get(:Splitter).new(Manypack::Codec.new)
    message.each_char.filter_map { |byte| splitter.feed(byte).take(1, 1_000_000, true) }
  end
end

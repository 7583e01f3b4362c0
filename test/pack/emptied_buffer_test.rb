# frozen_string_literal: true

# Taking bytes out of an Unpacker's Buffer by hand.
#
# The Unpacker forgets an object that it has read in part, and the next object starts with the next byte. While one of
# its methods reads, taking bytes raises RuntimeError.
require "test_helper"
require "stringio"

class EmptiedBufferTest < Minitest::Test
  # An io to read from and to write to.
  class Io
    attr_reader :written

    def initialize(*answers) = (@answers, @written = answers, "".b)
    def readpartial(_size) = @answers.shift || raise(EOFError)
    def write(bytes) = (@written << bytes) && bytes.bytesize
  end

  # Objects of each kind without their last one or few bytes.
  CUT = {
    "an array" => "\x93\x01", "nested arrays" => "\x92\x01\x92\x02", "a map before a key" => "\x82\x01\x02", "a map before a value" => "\x82\x01\x02\x03",
    "a key that is an array" => "\x81\x92\x01", "a str" => "\xA5ab", "a str in an array" => "\x92\xDA\x03\xE8ab", "a bin" => "\xC4\x05a",
    "an ext" => "\xC7\x05\x01a", "a float" => "\xCB\x00\x00", "a head" => "\xDC\x00", "many values" => "\xDC\x08\x00#{"\x01" * 1_000}",
    "deep arrays" => "\x91" * 100
  }.transform_values(&:b).freeze

  # All methods that take bytes out, each with the number of bytes that it leaves.
  REMOVALS = {
    clear: ->(buffer) { buffer.clear }, read: ->(buffer) { buffer.read }, read_n: ->(buffer) { buffer.read(10_000) },
    read_into: ->(buffer) { buffer.read(10_000, +"") }, read_all: ->(buffer) { buffer.read_all }, read_all_n: ->(buffer) { buffer.read_all(buffer.size) if buffer.size.positive? },
    skip: ->(buffer) { buffer.skip(10_000) }, skip_all: ->(buffer) { buffer.skip_all(buffer.size) if buffer.size.positive? },
    write_to: ->(buffer) { buffer.write_to(StringIO.new) }, flush: ->(buffer) { buffer.flush if buffer.io && buffer.size.positive? }
  }.freeze

  # All methods that have read a part of the object when the bytes end.
  READS = {
    read: ->(unpacker) { unpacker.read }, skip: ->(unpacker) { unpacker.skip }, each: ->(unpacker) { unpacker.each(strict: true) { flunk } }
  }.freeze

  def unpackers
    [Manypack::Unpacker.new, Manypack::Unpacker.new(max_depth: 1_000), Manypack::Unpacker.new(as: :view), Manypack::Unpacker.new(Io.new)]
  end

  # read_all_n, skip_all and flush are not called for nothing, because they would take nothing.
  def takes?(name, unpacker)
    !%i[read_all_n skip_all flush].include?(name) || (unpacker.buffer.size.positive? && (name != :flush || unpacker.buffer.io))
  end

  REMOVALS.each do |name, remove|
    define_method("test_#{name}_makes_the_unpacker_forget_what_it_has_begun") do
      CUT.each do |kind, bytes|
        READS.each_value do |read|
          unpackers.each do |unpacker|
            unpacker.feed("\xC0".b + bytes).skip
            assert_raises(Manypack::TruncatedError) { read.call(unpacker) }
            next unless takes?(name, unpacker)

            remove.call(unpacker.buffer)
            refute_predicate unpacker, :pending?, kind
            assert_equal 1 + bytes.bytesize, unpacker.position, kind
            unpacker.feed("\x92\x07\x08\x09")
            first = unpacker.read
            assert_equal "[7, 8]", first.to_a.inspect, "#{kind}, #{name}"
            unpacker.skip
            assert_equal 5 + bytes.bytesize, unpacker.position
          end
        end
      end
    end
  end

  def test_what_takes_nothing_out_forgets_nothing
    [->(buffer) { buffer.read(0) }, ->(buffer) { buffer.skip(0) }, ->(buffer) { buffer.read_all(0) }, ->(buffer) { buffer.skip_all(0) },
     ->(buffer) { assert_raises(EOFError) { buffer.read_all(1_000) } }, ->(buffer) { assert_raises(EOFError) { buffer.skip_all(1_000) } },
     ->(buffer) { assert_raises(FrozenError) { buffer.read(1, "frozen") } }, ->(buffer) { buffer << "" }, ->(buffer) { buffer.to_s },
     ->(buffer) { buffer.to_a }, ->(buffer) { buffer.size }, ->(buffer) { buffer.empty? }, ->(buffer) { buffer.io }, ->(buffer) { buffer.flush },
     ->(buffer) { buffer.close }].each do |use|
      unpacker = Manypack::Unpacker.new.feed("\x93\x01\xA2a")
      assert_raises(EOFError) { unpacker.read }
      use.call(unpacker.buffer)
      assert_equal [1, "ab", 3], unpacker.feed("b\x03").read
    end
  end

  def test_a_part_of_the_bytes_is_enough
    unpacker = Manypack::Unpacker.new.feed("\x93\x01\xA5abc")
    assert_raises(EOFError) { unpacker.read }
    assert_equal "\xA5".b, unpacker.buffer.read(1)
    assert_equal 3, unpacker.position
    assert_equal %w[a b c].map(&:ord), unpacker.each.to_a
  end

  def test_between_objects_and_after_headers_bytes_may_be_taken
    unpacker = Manypack::Unpacker.new.feed("\x92abc\x01\x02")
    assert_equal 2, unpacker.read_array_header
    assert_equal "abc", unpacker.buffer.read(3)
    assert_equal 1, unpacker.read
    assert_equal 5, unpacker.position
    unpacker.buffer.skip(1)
    assert_equal 6, unpacker.position
    refute_predicate unpacker, :pending?
  end

  def test_offsets_go_on_counting
    unpacker = Manypack::Unpacker.new.feed("\x93\x01")
    assert_raises(EOFError) { unpacker.read }
    unpacker.buffer.clear
    error = assert_raises(Manypack::MalformedFormatError) { unpacker.feed("\x92\x01\xC1").read }
    assert_equal 4, error.offset
    assert_raises(Manypack::MalformedFormatError) { unpacker.buffer.clear || unpacker.feed("\x01").read } # until reset
    unpacker.reset
    assert_equal 1, unpacker.feed("\x01").read
  end

  # Calls a block each time it is read from.
  class CallingIo < Io
    def initialize(*answers, &block)
      super(*answers)
      @block = block
    end

    def readpartial(size) = @block.call && super
  end

  def test_while_a_method_reads_nothing_is_taken
    REMOVALS.each do |name, remove|
      unpacker = nil
      refused = []
      io = CallingIo.new("\x93\x01\xA3a", "bc\x03") do
        next true unless takes?(name, unpacker)

        refused << (remove.call(unpacker.buffer) rescue $!.class)
      end
      unpacker = Manypack::Unpacker.new(io)
      assert_equal [1, "abc", 3], unpacker.read, name
      assert_includes [[RuntimeError], [RuntimeError, RuntimeError]], refused
    end
  end

  # --- skip ------------------------------------------------------------------------------------------------

  # The object still has to be skipped, wherever the bytes were cut, even if none of them had come.
  NEXT = {
    read: [[7], ->(unpacker) { unpacker.read }], each: [[7], ->(unpacker) { unpacker.each { |object| break object } }],
    read_array_header: [1, ->(unpacker) { unpacker.read_array_header }], skip_nil: [false, ->(unpacker) { unpacker.skip_nil }],
    skip: [[7], ->(unpacker) { unpacker.skip || unpacker.read }], full_unpack: [[7], ->(unpacker) { unpacker.full_unpack }]
  }.freeze

  def test_a_read_after_a_skip_that_met_the_end_starts_after_the_skipped_object
    object = "\x92\xA2ab\x81\x01\x02".b
    NEXT.each do |name, (expected, use)|
      (0...object.bytesize).each do |cut|
        unpacker = Manypack::Unpacker.new.feed(object.byteslice(0, cut))
        2.times { assert_raises(cut.zero? ? EOFError : Manypack::TruncatedError) { unpacker.skip } }
        assert_raises(cut.zero? ? EOFError : Manypack::TruncatedError) { use.call(unpacker) } unless name == :each
        assert_equal expected, use.call(unpacker.feed(object.byteslice(cut..)).feed("\x91\x07")), "#{name} after #{cut} bytes"
      end
    end
  end

  def test_a_map_header_after_a_skip_that_met_the_end
    unpacker = Manypack::Unpacker.new.feed("\x92\x01")
    assert_raises(EOFError) { unpacker.skip }
    assert_equal 1, unpacker.feed("\x02\x81\x03\x04").read_map_header
    assert_equal [3, 4], unpacker.each.to_a
  end

  def test_reset_forgets_an_object_that_skip_did_not_finish
    unpacker = Manypack::Unpacker.new
    assert_raises(EOFError) { unpacker.skip }
    unpacker.reset
    assert_equal 1, unpacker.feed("\x01").read
    assert_raises(EOFError) { unpacker.skip }
    unpacker.buffer.clear
    assert_equal 2, unpacker.feed("\x02").read
  end

  def test_a_header_or_skip_nil_that_met_the_end_has_taken_nothing
    [[:read_array_header, 300, "\xDC\x01\x2C"], [:read_map_header, 300, "\xDE\x01\x2C"], [:skip_nil, true, "\xC0"]].each do |name, expected, head|
      (0...head.bytesize).each do |cut|
        unpacker = Manypack::Unpacker.new.feed(head.byteslice(0, cut))
        2.times { assert_raises(EOFError) { unpacker.public_send(name) } }
        assert_equal cut, unpacker.buffer.size
        assert_equal expected, unpacker.feed(head.byteslice(cut..)).public_send(name)
      end
    end
  end
end

# frozen_string_literal: true

# Manypack::Buffer as an object of its own, and what a Packer puts there, long Strings by reference above all.
require "test_helper"
require "stringio"
require "objspace"

class BufferTest < Minitest::Test
  include CorePart

  def setup
    @buffer = Manypack::Buffer.new
  end

  def test_write_returns_how_many_bytes_and_append_the_buffer
    assert_equal 3, exercise { @buffer.write("abc") }
    assert_equal 2, @buffer.write("é")
    assert_same @buffer, exercise { @buffer << "d" << "" }
    assert_equal "abc\xC3\xA9d".b, @buffer.to_s
    assert_equal Encoding::BINARY, @buffer.to_s.encoding
    assert_equal 6, @buffer.size
    assert_raises(TypeError) { @buffer << 1 }
    assert_raises(TypeError) { @buffer.write(nil) }
  end

  def test_read_removes_up_to_so_many_bytes
    @buffer << "abcdef"
    assert_equal "ab", exercise { @buffer.read(2) }
    assert_equal "", @buffer.read(0)
    assert_equal "cdef", @buffer.read(100)
    assert_nil @buffer.read(1)
    assert_equal "", @buffer.read(0)
    assert_equal "", @buffer.read
    @buffer << "rest"
    assert_equal "rest", @buffer.read
    assert_predicate @buffer, :empty?
  end

  def test_read_into_a_string
    @buffer << "abcdef"
    into = +"old"
    assert_same into, exercise { @buffer.read(2, into) }
    assert_equal "ab", into
    assert_same into, @buffer.read_all(2, into)
    assert_equal "cd", into
    assert_raises(FrozenError) { @buffer.read(2, "frozen") }
    assert_raises(TypeError) { @buffer.read(2, 5) }
    assert_equal "ef", @buffer.read
  end

  def test_read_all_wants_all_of_them
    @buffer << "abc"
    assert_raises(EOFError) { @buffer.read_all(4) }
    assert_equal "abc", @buffer.read_all(3)
    assert_equal "", @buffer.read_all(0)
    assert_equal "", @buffer.read_all
    assert_raises(EOFError) { @buffer.read_all(1) }
  end

  def test_skip_and_skip_all
    @buffer << "abcdef"
    assert_equal 2, exercise { @buffer.skip(2) }
    assert_same @buffer, @buffer.skip_all(1)
    assert_raises(EOFError) { @buffer.skip_all(4) }
    assert_equal "def", @buffer.to_s
    assert_equal 3, @buffer.skip(10)
    assert_equal 0, @buffer.skip(1)
    assert_same @buffer, @buffer.skip_all(0)
  end

  # An io that changes the Buffer that reads from it, and then ends.
  { clear: 0, skip: 0, read: 0, write: 103 }.each do |change, left|
    define_method("test_an_io_that_calls_#{change}_and_ends") do
      arguments = { skip: [100], read: [100], write: ["xxx"] }.fetch(change, [])
      %i[read read_all skip skip_all].each do |method|
        io = Object.new
        buffer = nil
        io.define_singleton_method(:readpartial) do |_|
          buffer.public_send(change, *arguments)
          raise EOFError
        end
        buffer = Manypack::Buffer.new(io) << "x" * 100
        answer = begin
          buffer.public_send(method, 200)
        rescue EOFError => e
          e
        rescue RuntimeError => e
          assert_match REFUSAL, e.message
          e
        end
        taken = answer.is_a?(String) ? answer.bytesize : Integer(answer, exception: false) || 0
        assert_operator taken, :<=, left, "#{method} has more than there was"
        assert_operator buffer.size, :<=, left
      end
    end
  end

  def test_counts_outside_their_range_are_errors
    @buffer << "abc"
    %i[read read_all skip skip_all].each do |method|
      [-1, -(2**70), 2**70].each { |count| assert_raises(RangeError) { @buffer.public_send(method, count) } }
      ["1", :a].each { |count| assert_raises(TypeError) { @buffer.public_send(method, count) } }
    end
    assert_raises(EOFError) { @buffer.skip_all(2**60) }
    assert_raises(EOFError) { @buffer.read_all(2**60) }
    assert_equal "abc", @buffer.read(2**60)
  end

  # As IO#read does: what a caller gave does not keep bytes of an earlier read.
  def test_read_at_the_end_empties_the_string_that_it_got
    [3, nil].each do |count|
      assert_nil @buffer.read(count, bytes = +"old")
      assert_equal "", bytes
    end
    assert_same (into = +"old"), @buffer.read(0, into)
    assert_equal "", into
    assert_equal "", @buffer.read
    assert_equal [[""], [""]], [@buffer.to_a, Manypack::Packer.new.to_a]
  end

  def test_clear_drops_everything
    assert_nil (@buffer << "abc" << ("x" * 1_000_000)).clear
    assert_predicate @buffer, :empty?
    assert_equal "", @buffer.to_s
    assert_equal [""], @buffer.to_a
    assert_equal "d", (@buffer << "d").read
  end

  def test_to_a_and_to_s_leave_the_bytes_where_they_are
    long = "l" * 600_000
    @buffer << "head" << long << "tail"
    assert_equal ["head", long, "tail"], exercise { @buffer.to_a }
    assert_equal "head#{long}tail", @buffer.to_str
    assert_equal 600_008, @buffer.size
  end

  def test_what_leaves_the_buffer_cannot_change_it
    @buffer = Manypack::Buffer.new(write_reference_threshold: 256)
    long = +"l" * 300
    @buffer << "head" << long << "middle" << long << "tail"
    expected = @buffer.to_s
    long.clear
    @buffer.to_a.each { |string| string.clear unless string.frozen? }
    @buffer.to_s.clear
    GC.start
    assert_equal expected, exercise { @buffer.to_s }
  end

  def test_an_io_that_changes_what_it_gets_and_fails_changes_nothing
    spoiler = Class.new { def write(string) = string.frozen? ? raise(IOError) : string.clear && raise(IOError) }.new
    packer = Manypack::Packer.new(write_reference_threshold: 256)
    packer.write(["s" * 100, "l" * 300, "t"])
    expected = packer.to_s
    assert_raises(IOError) { packer.write_to(spoiler) }
    assert_equal expected, packer.to_s
  end

  def test_writing_to_an_io_that_fails_half_way_keeps_the_rest
    half = Class.new do
      attr_reader :got

      def write(string)
        raise IOError if @got

        @got = string.dup
      end
    end.new
    @buffer << "head" << ("l" * 600_000) << "tail"
    assert_raises(IOError) { @buffer.write_to(half) }
    assert_equal "head", half.got
    assert_equal "#{"l" * 600_000}tail", @buffer.to_s
  end

  def test_nil_is_all_there_is
    %i[read read_all].each do |method|
      assert_equal "abc", (Manypack::Buffer.new << "abc").public_send(method, nil)
      into = +"old"
      assert_same into, (Manypack::Buffer.new << "abc").public_send(method, nil, into)
      assert_equal "abc", into
      assert_equal "ab", (Manypack::Buffer.new << "abc").public_send(method, 2, nil)
    end
  end

  def test_write_to_and_flush_drain_into_an_io
    io = StringIO.new("".b)
    long = "l" * 600_000
    assert_equal 600_003, (@buffer << "abc" << long).write_to(io)
    assert_equal "abc#{long}", io.string
    assert_equal 0, @buffer.write_to(io)
    assert_same @buffer, @buffer.flush
    assert_nil @buffer.io
    own = Manypack::Buffer.new(io = StringIO.new("".b))
    assert_same own, (own << "abc").flush
    assert_equal "abc", io.string
    assert_same io, own.io
    assert_nil own.close
    assert_predicate io, :closed?
    assert_nil @buffer.close
  end

  def test_flush_writes_to_whatever_takes_bytes_and_leaves_its_buffering_alone
    io = Class.new { define_method(:write) { |string| writes << string } && define_method(:writes) { @writes ||= [] } && define_method(:flush) { raise } }.new
    Manypack::Packer.new(io).write(1).flush
    assert_equal ["\x01"], io.writes
    appending = []
    Manypack::Packer.new(appending).write(1).flush
    assert_equal ["\x01"], appending
  end

  def test_nothing_may_be_appended_at_any_time
    buffer = Manypack::Buffer.new
    3.times do
      buffer << ""
      4.times { buffer << "x" * 10 << "y" * 600_000 << "" }
      assert_equal 4 * 600_010, buffer.read.bytesize
    end
    assert_same 1, Manypack::Unpacker.new.feed("").feed("\x01").feed("").read
  end

  def test_a_packer_hands_whole_objects_to_its_io_before_they_are_many
    writes = []
    packer = Manypack::Packer.new(writes)
    10_000.times { packer.write("id" => 1, "name" => "widget") }
    assert_operator packer.size, :<, 12_288
    assert_operator writes.size, :<, 40
    assert_equal [{ "id" => 1, "name" => "widget" }] * 10_000, Manypack::Unpacker.new.feed((writes << packer.to_s).join).each.to_a
  end

  def test_of_an_object_that_fails_nothing_goes_to_the_io
    writes = []
    packer = Manypack::Packer.new(writes).write(1)
    assert_raises(NoMethodError) { packer.write(["x" * 100_000, "y" * 1_000_000, BasicObject.new]) }
    assert_equal "\x01", packer.to_s
    assert_empty writes
  end

  def test_reading_from_an_io_as_much_as_is_asked_for
    buffer = Manypack::Buffer.new(StringIO.new("abcdefgh"), io_buffer_size: 1_024)
    assert_equal "ab", exercise { buffer.read(2) }
    assert_equal 2, buffer.skip(2)
    assert_equal "ef", buffer.read_all(2)
    assert_raises(EOFError) { buffer.read_all(3) }
    assert_equal "gh", buffer.read
    assert_nil buffer.read(1)
    big = Manypack::Buffer.new(StringIO.new("x" * 100_000))
    assert_equal 70_000, big.read(70_000).bytesize
    assert_equal 30_000, big.skip(40_000)
  end

  def test_sizes_in_options
    [-1, -(2**70)].each do |size|
      %i[io_buffer_size read_reference_threshold write_reference_threshold].each do |option|
        assert_raises(RangeError) { Manypack::Buffer.new(option => size) }
        assert_raises(RangeError) { Manypack::Packer.new(option => size) }
        assert_raises(TypeError) { Manypack::Unpacker.new(option => "1") }
        assert_equal "", Manypack::Buffer.new(option => 0).to_s
      end
    end
    assert_equal "", Manypack::Buffer.new(nil).to_s
    assert_equal "", Manypack::Buffer.new(nil, nil).to_s
    assert_raises(TypeError) { Manypack::Buffer.new(nil, 5) }
  end

  def test_thresholds_decide_what_is_referenced
    { {} => [524_287, 524_288], { write_reference_threshold: 1_000 } => [999, 1_000], { write_reference_threshold: 1 } => [255, 256] }.each do |options, (copied, referenced)|
      string = ("s" * copied).b.freeze
      refute_includes Manypack::Buffer.new(options).tap { |buffer| buffer << string }.to_a.map(&:object_id), string.object_id
      string = ("s" * referenced).b.freeze
      assert_same string, Manypack::Buffer.new(options).tap { |buffer| buffer << string }.to_a.first
      assert_same string, Manypack::Packer.new(options).write([string]).to_a.last
    end
  end

  def test_long_strings_of_a_packer_are_kept_by_reference_and_in_place
    packer = Manypack::Packer.new
    string = "s" * 600_000
    binary = ("\xFF".b * 600_000).freeze
    object = ["a", string, { string => binary }, "z", binary]
    exercise { packer.write(object) }
    chunks = packer.to_a
    assert_equal [string, string, binary, binary], chunks.select { |chunk| chunk.bytesize == 600_000 }
    assert_same binary, chunks.last
    assert_operator chunks.sum { |chunk| ObjectSpace.memsize_of(chunk) }, :<, 1_300_000
    assert_equal [Encoding::BINARY], chunks.map(&:encoding).uniq
    assert_equal pack(object), chunks.join
    assert_equal pack(object), packer.to_s
    assert_equal pack(object).bytesize, packer.size
    assert_equal pack(object), packer.full_pack
    assert_predicate packer, :empty?
  end

  def test_a_string_that_is_changed_after_it_was_written
    packer = Manypack::Packer.new(write_reference_threshold: 256)
    string = +"s" * 1_000
    expected = pack(string)
    packer.write(string)
    string << "more"
    string.setbyte(0, 0)
    assert_equal expected, packer.full_pack
  end

  def test_transcoded_and_short_strings_beside_references
    packer = Manypack::Packer.new(write_reference_threshold: 256)
    objects = ["é" * 300, ("é" * 300).encode("ISO-8859-1"), "s" * 10, ("s" * 300).to_sym, "\xFF".b * 300, ["n" * 300] * 3]
    objects.each { |object| exercise { packer.write(object) } }
    assert_equal objects.map { |object| pack(object) }.join, packer.to_a.join
  end

  def test_a_failed_write_with_references_is_taken_back
    packer = Manypack::Packer.new(write_reference_threshold: 256).write("kept").write("k" * 300)
    before = packer.to_s
    3.times do
      assert_raises(NoMethodError) { exercise { packer.write(["a", "l" * 300, "b", "m" * 300, Object.new]) } }
      assert_equal before, packer.to_s
    end
    packer.write("x").write("y" * 300)
    assert_equal before + pack("x") + pack("y" * 300), packer.full_pack
  end

  def test_references_inside_to_msgpack_and_recursive_types
    long = "l" * 600_000
    point = Class.new { define_method(:to_msgpack) { |packer| packer.write_array_header(1).write(long) } }.new
    packer = Manypack::Packer.new
    assert_equal [1, [long], long], unpack(packer.write([1, point, long]).full_pack)
  end

  def test_bytes_written_straight_into_the_buffer_of_a_packer
    packer = Manypack::Packer.new
    packer.write_array_header(3).write(1)
    packer.buffer << "\x02"
    packer.buffer.write("\x03")
    assert_equal [1, 2, 3], unpack(packer.to_s)
    assert_equal "93", hex(packer.buffer.read(1))
    packer.write(4)
    assert_equal "01 02 03 04", hex(packer.full_pack)
  end

  def test_writing_goes_on_behind_what_was_read_out_of_the_buffer
    packer = Manypack::Packer.new
    written = "".b
    read = "".b
    random = Random.new(1)
    300.times do |i|
      object = i % 7 == 0 ? ["x" * random.rand(1_000), i] : i
      packer.write(object)
      written << pack(object)
      read << packer.buffer.read(random.rand(packer.size + 1))
    end
    assert_equal written, read + packer.full_pack
  end

  def test_a_packer_with_an_io
    io = StringIO.new("".b)
    packer = Manypack::Packer.new(io)
    packer.write(1)
    assert_equal "", io.string
    assert_same packer, packer.flush
    assert_equal "\x01", io.string
    assert_nil packer.write([2]).full_pack
    assert_equal "01 91 02", hex(io.string)
    other = StringIO.new("".b)
    assert_equal 2, packer.write([3]).write_to(other)
    assert_equal "91 03", hex(other.string)
    packer.write("l" * 600_000).flush
    assert_equal pack("l" * 600_000), io.string.byteslice(3..)
    assert_raises(IOError) { packer.write(1).tap { io.close }.flush }
    assert_equal "01", hex(packer.to_s)
  end

  def test_two_buffers_never_see_bytes_of_each_other
    first = Manypack::Packer.new.write("secret" * 100)
    first.reset
    second = Manypack::Packer.new.write("x")
    refute_includes second.to_s, "secret"
    second.reset
    assert_equal "", second.buffer.read
    assert_equal "", first.buffer.to_s
  end

  def test_a_buffer_is_not_copied_and_is_initialized_once
    assert_raises(NoMethodError) { @buffer.dup }
    assert_raises(NoMethodError) { @buffer.clone }
    assert_raises(TypeError) { Marshal.dump(@buffer) }
    assert_refused { @buffer.send(:initialize) }
    %i[size to_s read clear flush to_a close].each { |method| assert_refused { Manypack::Buffer.allocate.public_send(method) } }
  end

  def test_a_frozen_buffer_does_not_change
    @buffer << "abc"
    @buffer.freeze
    assert_raises(FrozenError) { @buffer << "d" }
    assert_raises(FrozenError) { @buffer.read(1) }
    assert_raises(FrozenError) { @buffer.clear }
    packer = Manypack::Packer.new
    packer.buffer.freeze
    assert_raises(FrozenError) { packer.write(1) }
  end

  def test_a_buffer_tells_its_size
    before = ObjectSpace.memsize_of(@buffer)
    string = ("x" * 600_000).b.freeze
    2_000.times { @buffer << string << "y" }
    assert_operator ObjectSpace.memsize_of(@buffer) - before, :>, 2_000 * 2 * 8
  end
end

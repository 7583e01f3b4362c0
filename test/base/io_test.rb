# frozen_string_literal: true

# Messages from and to IOs and what passes for one.
require "test_helper"
require "delegate"
require "socket"
require "stringio"
require "tempfile"
require "timeout"
require "zlib"

class IoTest < Minitest::Test
  MESSAGE = { "list" => [1, 2.5, nil, "x" * 300], "bin" => "\xFF".b * 70_000, "map" => { "k" => [[]] } }.freeze

  # Answers read alone, and waits, as a pipe does, when it is asked for more than there is.
  class ReadOnly
    attr_reader :left

    def initialize(binary)
      @left = binary.dup
    end

    def read(size)
      raise "would wait for #{size - @left.bytesize} bytes" if size > @left.bytesize && !@left.empty?

      @left.slice!(0, size) unless @left.empty?
    end
  end

  # Answers readpartial alone, with so many bytes at a time.
  class ReadPartialOnly
    def initialize(binary, step)
      @io = StringIO.new(binary)
      @step = step
    end

    def readpartial(size)
      @io.readpartial([size, @step].min)
    end
  end

  class Answering
    def initialize(answer)
      @answer = answer
    end

    def readpartial(_size)
      @answer
    end
  end

  class AppendOnly
    attr_reader :got

    def <<(binary)
      @got = binary
      self
    end
  end

  # Returns a whole segment, however little it was asked for.
  class Rude
    def initialize(segments)
      @segments = segments.dup
    end

    def readpartial(_size) = @segments.shift || raise(EOFError)
  end

  # Returns at most a segment at a time.
  class InSegments < Rude
    def readpartial(size)
      raise EOFError if @segments.empty?

      segment = @segments.shift
      @segments.unshift(segment.byteslice(size..)) if segment.bytesize > size
      segment.byteslice(0, size)
    end

    def read(_size) = @segments.join.tap { @segments.clear }
  end

  def self.sent(segments, from, to)
    sender = Thread.new { segments.each { |segment| to.write(segment) && Thread.pass } && to.close }
    yield from
  ensure
    sender.join
    from.close
  end

  # Opens an io of each kind with the bytes of some segments.
  ONE_OBJECT_WAYS = {
    "a pipe" => ->(segments, &use) { sent(segments, *IO.pipe(binmode: true), &use) },
    "a socket" => ->(segments, &use) { sent(segments, *UNIXSocket.pair, &use) },
    "a StringIO" => ->(segments, &use) { use.call(StringIO.new(segments.join.freeze)) },
    "a file" => ->(segments, &use) { Tempfile.create("io", binmode: true) { |file| file.write(segments.join) && file.rewind && use.call(file) } },
    "readpartial" => ->(segments, &use) { use.call(InSegments.new(segments)) },
    "read" => ->(segments, &use) { use.call(ReadOnly.new(segments.join)) },
    "gzip" => ->(segments, &use) { use.call(Zlib::GzipReader.new(StringIO.new(Zlib.gzip(segments.join)))) }
  }.freeze

  def test_from_a_string_io
    assert_equal MESSAGE, unpack(StringIO.new(pack(MESSAGE)))
  end

  def test_from_and_to_a_file
    Tempfile.create("manypack", binmode: true) do |file|
      assert_nil Manypack.pack(MESSAGE, file)
      file.rewind
      assert_equal pack(MESSAGE), file.read
      file.rewind
      assert_equal MESSAGE, unpack(file)
    end
  end

  def test_from_a_gzip_reader
    assert_equal MESSAGE, unpack(Zlib::GzipReader.new(StringIO.new(Zlib.gzip(pack(MESSAGE)))))
  end

  def test_from_an_object_with_only_read
    assert_equal MESSAGE, unpack(ReadOnly.new(pack(MESSAGE)))
  end

  # Its class has no method of an io, but it responds to them.
  def test_from_and_to_an_object_that_passes_calls_on
    assert_equal MESSAGE, unpack(SimpleDelegator.new(StringIO.new(pack(MESSAGE))))
    assert_equal MESSAGE, unpack(SimpleDelegator.new(ReadOnly.new(pack(MESSAGE))))
    [StringIO.new("".b), AppendOnly.new].each do |io|
      assert_nil Manypack.pack(MESSAGE, SimpleDelegator.new(io))
      assert_equal pack(MESSAGE), io.is_a?(StringIO) ? io.string : io.got
    end
  end

  def test_an_object_with_only_read_is_asked_for_no_byte_behind_the_message
    [MESSAGE, nil, [[], {}], "s" * 40_000, { 1 => { 2 => "three" } }, 2**64 - 1].each do |obj|
      io = ReadOnly.new("#{pack(obj)}next")
      obj.nil? ? assert_nil(unpack(io)) : assert_equal(obj, unpack(io))
      assert_equal "next", io.left
    end
  end

  def test_from_an_object_with_only_readpartial_in_pieces_of_any_size
    [1, 2, 7, 4_096, 100_000].each { |step| assert_equal MESSAGE, unpack(ReadPartialOnly.new(pack(MESSAGE), step)) }
  end

  def test_a_message_on_a_pipe_is_read_without_waiting_for_more
    IO.pipe(binmode: true) do |reader, writer|
      writer.write(pack([1, "two", { 3 => 4 }]))
      assert_equal [1, "two", { 3 => 4 }], in_time { unpack(reader) }
    end
  end

  def test_a_message_on_a_socket_is_read_without_waiting_for_more
    UNIXSocket.pair do |here, there|
      there.write(pack([1]))
      assert_equal [1], in_time { unpack(here) }
      there.write(pack([2]))
      assert_equal [2], in_time { unpack(here) }
    end
  end

  def test_a_message_that_comes_byte_by_byte_through_a_pipe
    IO.pipe(binmode: true) do |reader, writer|
      sender = Thread.new { pack([1, "two", 3.0]).each_char { |char| writer.write(char) && Thread.pass } }
      assert_equal [1, "two", 3.0], in_time { unpack(reader) }
      sender.join
    end
  end

  def test_the_end_inside_a_message_is_a_truncated_error
    whole = pack(["ab", { 1 => "\xFF".b }])
    (0...whole.bytesize).each do |size|
      [StringIO.new(whole.byteslice(0, size)), ReadPartialOnly.new(whole.byteslice(0, size), 1)].each do |io|
        assert_raises(Manypack::TruncatedError) { unpack(io) }
      end
    end
  end

  def test_a_bad_message_has_the_offset_in_what_was_read
    error = assert_raises(Manypack::MalformedFormatError) { unpack(StringIO.new("\x92\x01\xC1".b)) }
    assert_equal 2, error.offset
    assert_raises(Manypack::StackError) { unpack(StringIO.new("\x91".b * 200)) }
    assert_raises(Manypack::StackError) { unpack(ReadPartialOnly.new("\x91".b * 200, 1)) }
  end

  # Bytes after the message are still in the io, whatever its class is and however the bytes come.
  def test_an_io_is_read_to_the_end_of_its_message_and_no_further
    first, rest = pack({ "a" => [1, { "b" => "c" * 40 }], "z" => nil }), "\x05\x06".b
    bytes = first + rest
    (0..bytes.bytesize).step(5) do |from|
      (from..bytes.bytesize).step(9) do |to|
        segments = [bytes.byteslice(0, from), bytes.byteslice(from, to - from), bytes.byteslice(to..)].reject(&:empty?)
        ONE_OBJECT_WAYS.each do |way, open|
          open.call(segments) { |io| assert_equal [unpack(first), rest], [unpack(io), io.read(2)], "#{way} #{segments}" }
        end
        assert_equal unpack(first), unpack(Rude.new(segments)) # it gave away what it was not asked for
      end
    end
  end

  def test_one_message_after_the_other_comes_out_of_an_io
    messages = [1, "x" * 40_000, [nil] * 3, { "a" => {} }]
    packed = messages.map { |message| pack(message) }.join
    ONE_OBJECT_WAYS.each do |way, open|
      open.call([packed]) do |io|
        assert_equal messages, Array.new(4) { unpack(io) }, way
        assert_raises(Manypack::TruncatedError, way) { unpack(io) }
      end
    end
  end

  def test_every_method_that_unpacks_an_io_leaves_the_rest
    factory = Manypack::Factory.new
    [Manypack, Manypack::Codec.new, Manypack::Codec.new(untrusted: true), factory, factory.pool, Manypack::DefaultFactory].each do |front|
      io = StringIO.new("\x01\x02".b.freeze)
      assert_equal [1, 2], [front.load(io), front.load(io)]
    end
  end

  def test_max_bytes_ends_the_reading
    endless = ReadPartialOnly.new("\xDD\xFF\xFF\xFF\xFF#{"\x00" * 100_000}".b, 1_000)
    error = assert_raises(Manypack::LimitError) { unpack(endless, max_bytes: 10_000) }
    assert_equal :max_bytes, error.limit
    assert_equal "\x00", endless.readpartial(1)
    assert_equal [1], unpack(StringIO.new("\x91\x01".b), max_bytes: 2)
  end

  def test_options_hold_for_an_io
    assert_equal({ a: [] }, unpack(StringIO.new(pack({ "a" => [] })), symbolize_keys: true))
    tree = unpack(StringIO.new(pack(MESSAGE)), shareable: true)
    assert_equal MESSAGE, tree
    assert Ractor.shareable?(tree)
    assert_equal 1, Manypack.unpack(StringIO.new("\x01"), { freeze: true })
  end

  def test_deep_messages_from_an_io
    deep = unpack(StringIO.new("\x91".b * 100_000 + "\xC0".b), max_depth: 100_000)
    assert_instance_of Array, deep
  end

  def test_an_io_may_answer_with_any_string
    assert_equal "é", unpack(Answering.new("\xA2é"))
    assert_equal "é", unpack(Answering.new("\xA2é".encode("UTF-8").force_encoding("UTF-16LE").freeze))
  end

  def test_an_io_that_answers_with_no_string_is_a_type_error
    assert_raises(TypeError) { unpack(Answering.new(5)) }
    assert_raises(TypeError) { unpack(Answering.new([1])) }
    assert_raises(Manypack::TruncatedError) { unpack(Answering.new(nil)) }
  end

  def test_what_an_io_raises_comes_out
    io = StringIO.new("\x01")
    io.close_read
    assert_raises(IOError) { unpack(io) }
  end

  # A loop over a stream that rescues EOFError would take it for the end.
  def test_nil_is_no_source
    assert_raises(TypeError) { Manypack.unpack(nil) }
  end

  def test_what_converts_to_a_string_is_read
    source = Class.new { def to_str = "\x01" }.new
    assert_equal 1, unpack(source)
  end

  def test_what_is_neither_string_nor_io_is_a_type_error
    error = assert_raises(TypeError) { Manypack.unpack(1) }
    assert_equal "expected a String or an IO, got Integer", error.message
    assert_raises(TypeError) { Manypack.unpack(:"\x01") }
    assert_raises(TypeError) { Manypack.unpack(Object.new) }
  end

  def test_packing_to_an_io_returns_nil
    io = StringIO.new("".b)
    assert_nil Manypack.pack([1], io)
    assert_nil Manypack.dump("\xFF".b, io, compatibility_mode: true)
    assert_nil Manypack.pack(Time.at(0), io, { timestamp: true })
    assert_equal bytes("91 01 a1 ff d6 ff 00 00 00 00"), io.string
  end

  def test_packing_to_what_has_only_the_append_operator
    sink = AppendOnly.new
    assert_nil Manypack.pack([1], sink)
    assert_equal bytes("91 01"), sink.got
  end

  def test_packing_to_what_cannot_be_written_to_is_a_type_error
    assert_raises(TypeError) { Manypack.pack(1, Object.new) }
  end

  # Changes the Strings that are being written, and has what they were collected.
  class Meddling
    attr_reader :got

    def initialize(strings)
      @strings = strings
      @got = "".b
    end

    def write(binary)
      @strings.each { |string| string.replace("") }
      GC.start
      @got << binary
      binary.bytesize
    end
  end

  def test_an_io_that_changes_the_strings_that_are_written_gets_each_as_it_was_or_is
    [10, 300, 5_000, 40_000, 600_000].each do |size|
      strings = Array.new(10) { |i| (65 + i).chr * size }
      io = Meddling.new(strings)
      whole = strings.map { |string| Manypack.pack(string) }
      packer = strings.each_with_object(Manypack::Packer.new(io)) { |string, to| to.write(string) }.flush
      assert_empty packer.to_s
      objects = [].tap { |all| Manypack::Unpacker.new.feed_each(io.got) { |object| all << Manypack.pack(object) } }
      assert_equal 10, objects.size
      assert_empty objects - whole - [Manypack.pack("")]
    end
  end

  def test_nothing_is_written_of_what_cannot_be_packed
    io = StringIO.new("".b)
    assert_raises(NoMethodError) { Manypack.pack([1, Object.new], io) }
    assert_empty io.string
  end

  private

  def in_time(&block)
    Timeout.timeout(20, &block)
  end
end

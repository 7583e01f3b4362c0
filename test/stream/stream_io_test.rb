# frozen_string_literal: true

# An Unpacker and a Packer with an io: what they wait for, what an io may be, and what its errors leave.
require "test_helper"
require "open3"
require "rbconfig"
require "socket"
require "stringio"
require "tempfile"
require "timeout"
require "io/wait"
require "zlib"

class StreamIoTest < Minitest::Test
  OBJECTS = [1, "two", { "three" => [4.0, nil] }, "l" * 100_000, [[]] * 20, "\xFF".b * 300, nil, { 5 => { "k" => "v" } }].freeze
  STREAM = OBJECTS.map { |object| Manypack.pack(object) }.join.freeze

  # Answers what it was given, one after the other: Strings, nil, or an exception that it raises.
  class Script
    attr_reader :asked

    def initialize(*answers)
      @answers = answers
      @asked = []
    end

    def readpartial(size)
      @asked << size
      answer = @answers.shift
      raise answer if answer.is_a?(Exception) || answer.is_a?(Class)

      answer
    end
  end

  class ReadOnly
    def initialize(binary)
      @io = StringIO.new(binary)
    end

    def read(size)
      raise "asked for #{size} bytes" unless size.positive?

      @io.read(size)
    end
  end

  class PieceByPiece
    def initialize(binary, step)
      @io = StringIO.new(binary)
      @step = step
    end

    def readpartial(size)
      @io.readpartial([size, @step].min)
    end
  end

  def test_each_of_everything_that_passes_for_an_io
    Tempfile.create("manypack", binmode: true) do |file|
      file.write(STREAM)
      [file, StringIO.new(STREAM.dup), Zlib::GzipReader.new(StringIO.new(Zlib.gzip(STREAM))), ReadOnly.new(STREAM),
       PieceByPiece.new(STREAM, 1), PieceByPiece.new(STREAM, 300), PieceByPiece.new(STREAM, 100_000)].each do |io|
        file.rewind
        objects = []
        assert_nil(Manypack::Unpacker.new(io).each { |object| objects << object })
        assert_equal OBJECTS, objects, io.class.name
      end
    end
  end

  def test_read_of_everything_that_passes_for_an_io
    [StringIO.new(STREAM.dup), ReadOnly.new(STREAM), PieceByPiece.new(STREAM, 1)].each do |io|
      unpacker = Manypack::Unpacker.new(io)
      OBJECTS.each { |object| object.nil? ? assert_nil(unpacker.read) : assert_equal(object, unpacker.read) }
      2.times { assert_raises(EOFError) { unpacker.read } }
    end
  end

  def test_skip_of_everything_that_passes_for_an_io
    [StringIO.new(STREAM.dup), ReadOnly.new(STREAM), PieceByPiece.new(STREAM, 1)].each do |io|
      unpacker = Manypack::Unpacker.new(io)
      2.times { unpacker.skip }
      assert_equal 1, unpacker.read_map_header
      2.times { unpacker.skip }
      assert_equal "l" * 100_000, unpacker.read
      2.times { unpacker.skip }
      assert unpacker.skip_nil
      assert_equal OBJECTS.last, unpacker.read
      assert_raises(EOFError) { unpacker.skip }
    end
  end

  def test_an_io_with_only_read_is_asked_for_no_byte_behind_the_object
    OBJECTS.each do |object|
      %i[read skip].each do |method|
        io = StringIO.new("#{Manypack.pack(object)}next")
        io.singleton_class.undef_method(:readpartial)
        Manypack::Unpacker.new(io).public_send(method)
        assert_equal "next", io.read
      end
    end
  end

  def test_a_message_on_a_socket_is_read_without_waiting_for_more
    UNIXSocket.pair do |here, there|
      unpacker = Manypack::Unpacker.new(here)
      packer = Manypack::Packer.new(there)
      OBJECTS.each do |object|
        sender = Thread.new { packer.write(object).flush }
        received = in_time { unpacker.read }
        object.nil? ? assert_nil(received) : assert_equal(object, received)
        sender.join
      end
      there.write("\x93\x01\xC0".b)
      assert_equal 3, in_time { unpacker.read_array_header }
      assert_equal 1, in_time { unpacker.read }
      assert in_time { unpacker.skip_nil }
    end
  end

  def test_each_yields_a_message_before_the_next_one_is_there
    IO.pipe(binmode: true) do |reader, writer|
      objects = Queue.new
      thread = Thread.new { Manypack::Unpacker.new(reader).each { |object| objects << object } }
      3.times do |i|
        writer.write(Manypack.pack([i]))
        assert_equal [i], in_time { objects.pop }
      end
      writer.close
      in_time { assert_nil thread.value }
    end
  end

  def test_other_threads_run_while_one_waits
    IO.pipe(binmode: true) do |reader, writer|
      reading = Thread.new { Manypack::Unpacker.new(reader).read }
      Thread.pass until reading.status == "sleep"
      assert_equal 10, 10.times.count { Thread.pass || true }
      writer.write("\x92\x01".b)
      Thread.pass
      assert_predicate reading, :alive?
      writer.write("\x02")
      assert_equal [1, 2], in_time { reading.value }
    end
  end

  def test_a_killed_reader_leaves_the_unpacker_usable
    IO.pipe(binmode: true) do |reader, writer|
      asked = asked_of(reader)
      unpacker = Manypack::Unpacker.new(reader)
      writer.write("\x92\x01".b)
      reading = Thread.new { unpacker.read }
      2.times { in_time { asked.pop } } # a thread that is killed in readpartial takes with it what it has read
      reading.kill.join
      writer.write("\x02")
      assert_equal [1, 2], in_time { unpacker.read }
    end
  end

  def test_an_error_of_the_io_leaves_the_unpacker_where_it_was
    [IOError, Errno::ECONNRESET, Timeout::Error.new("slow"), IO::EAGAINWaitReadable, Interrupt].each do |error|
      unpacker = Manypack::Unpacker.new(Script.new("\x92\x01", error, "\x02\xA3ab".b, error, "c", error, "\x05\x06"))
      assert_raises(StandardError, Interrupt) { unpacker.read }
      assert_equal [1, 2], unpacker.read
      assert_raises(StandardError, Interrupt) { unpacker.read }
      assert_equal "abc", unpacker.read
      assert_raises(StandardError, Interrupt) { unpacker.skip_nil }
      assert_nil unpacker.skip
      assert_equal 6, unpacker.read
    end
  end

  # An error before its first byte leaves the object; one inside it does not, nor does the end of what has arrived.
  def test_a_skip_that_an_error_of_the_io_has_stopped
    [[[IOError, "\x01\x02"], 1], [["\xA2".b, IOError, "hi\x02"], 2]].each do |answers, object|
      unpacker = Manypack::Unpacker.new(Script.new(*answers))
      assert_raises(IOError) { unpacker.skip }
      assert_equal object, unpacker.read
    end
    unpacker = Manypack::Unpacker.new(Script.new(nil, IOError, "\x01\x02"))
    assert_raises(EOFError) { unpacker.skip }
    assert_raises(IOError) { unpacker.read }
    assert_equal 2, unpacker.read
  end

  def test_a_timeout_in_the_middle_of_a_message
    IO.pipe(binmode: true) do |reader, writer|
      asked = asked_of(reader)
      unpacker = Manypack::Unpacker.new(reader)
      writer.write("\x93\x01\x02".b)
      waiting = Thread.current
      Thread.new { 2.times { asked.pop } && waiting.raise(Timeout::Error) }
      assert_raises(Timeout::Error) { unpacker.read }
      writer.write("\x03")
      assert_equal [1, 2, 3], in_time { unpacker.read }
    end
  end

  def test_a_file_that_grows_after_its_end
    file = Tempfile.new("messages", binmode: true)
    writer = File.open(file.path, "ab")
    unpacker = Manypack::Unpacker.new(File.open(file.path, "rb"))
    ["\x01\x02", "", "\x03", "a".b * 40_000, "\x04"].each do |bytes|
      writer.write(bytes)
      writer.flush
      assert_equal bytes.bytes, unpacker.each.to_a
    end
    assert_raises(EOFError) { unpacker.read }
  end

  def test_a_file_that_is_rewound_is_read_again_and_again
    file = Tempfile.new("messages", binmode: true)
    file.write("\x01\x02")
    file.flush
    io = File.open(file.path, "rb")
    unpacker = Manypack::Unpacker.new(io)
    5.times do
      assert_equal [1, 2], [unpacker.read, unpacker.read]
      2.times { assert_raises(EOFError) { unpacker.read } }
      io.rewind
      assert_equal [1, 2], unpacker.each.to_a
      io.rewind
    end
  end

  def test_a_string_io_that_grows_after_its_end
    io = StringIO.new("\x01".b)
    unpacker = Manypack::Unpacker.new(io)
    [1, 2, 3].each do |n|
      assert_equal n, unpacker.read
      assert_raises(EOFError) { unpacker.read }
      assert_empty unpacker.each.to_a
      io.string << [n + 1].pack("C")
    end
    assert_nil unpacker.skip
    assert_raises(EOFError) { unpacker.skip }
  end

  def test_a_string_io_that_cannot_be_read_leaves_the_unpacker_usable
    io = StringIO.new("\x01".b)
    unpacker = Manypack::Unpacker.new(io)
    io.close_read
    %i[read skip skip_nil read_array_header].each { |name| assert_raises(IOError) { unpacker.public_send(name) } }
    assert_raises(IOError) { unpacker.each { flunk } }
    assert_equal 2, unpacker.feed("\x02").read
  end

  # Unpackers read into one String, of which long pieces are given away.
  def test_what_was_read_before_stays_as_it_was
    objects = [1, "s" * 40, "m" * 700, ["x" * 20_000], { "k" => "y" * 70_000 }, 2, "z" * 33_000, nil] * 3
    bytes = objects.map { |object| Manypack.pack(object) }.join
    Tempfile.create("ways", binmode: true) do |file|
      file.write(bytes)
      [{}, { freeze: true }, { as: :view }, { io_buffer_size: 1024 }, { io_buffer_size: 100_000 }].each do |options|
        [file.tap(&:rewind), StringIO.new(bytes), piped(bytes)].each do |io|
          got = Manypack::Unpacker.new(io, options).each.to_a
          got.map!(&:value) if options[:as]

          assert_equal objects, got
        end
      end
    end
  end

  def piped(bytes)
    reader, writer = IO.pipe(binmode: true)
    Thread.new { writer.write(bytes) && writer.close }
    reader
  end

  def test_unpackers_that_take_turns_each_have_their_own_bytes
    streams = Array.new(3) { |i| Array.new(50) { |j| [i, j, "a" * (i * j)] } }
    ios = streams.map { |objects| StringIO.new(objects.map { |object| Manypack.pack(object) }.join) }
    unpackers = ios.map { |io| Manypack::Unpacker.new(io, io_buffer_size: 1024) }

    assert_equal streams.transpose, Array.new(50) { unpackers.map(&:read) }
  end

  def test_an_ext_type_that_reads_a_file_while_a_file_is_read
    Tempfile.create("ways", binmode: true) do |file|
      file.write(Manypack.pack(["inner"] * 30))
      factory = Manypack::Factory.new
      factory.register_type(1, Struct.new(:a), unpacker: ->(_) { file.rewind && Manypack.unpack(file) }, packer: ->(_) { "" })
      bytes = [7, 0xD4, 1, 0, 0xD4, 1, 0, "s" * 9].map { |part| part.is_a?(String) ? Manypack.pack(part) : [part].pack("C") }.join

      assert_equal [7, ["inner"] * 30, ["inner"] * 30, "s" * 9], factory.unpacker(StringIO.new(bytes)).each.to_a
    end
  end

  # In a process of its own, because it changes StringIO.
  def test_a_redefined_read_of_every_string_io
    script = <<~RUBY
      StringIO.prepend(Module.new { def read(*) = super&.freeze })
      io = StringIO.new(Manypack.pack(1) + Manypack.pack("abc"))
      unpacker = Manypack::Unpacker.new(io)
      2.times { io.rewind; p unpacker.read, unpacker.read }
    RUBY
    output, status = Open3.capture2e(RbConfig.ruby, *$LOAD_PATH.flat_map { ["-I", _1] }, "-rmanypack", "-rstringio", "-e", script)

    assert_predicate status, :success?, output
    assert_equal %(1\n"abc"\n) * 2, output
  end

  def test_a_string_io_with_a_readpartial_of_its_own_is_asked_for_that
    io = StringIO.new("".b)
    def io.readpartial(_size) = "\x07"
    assert_equal 7, Manypack::Unpacker.new(io).read
    assert_equal 7, Manypack.load(io)
  end

  def test_an_io_that_goes_on_after_its_end
    io = Script.new("\x92\x01", EOFError, nil, "", "\x02")
    unpacker = Manypack::Unpacker.new(io)
    3.times { assert_raises(Manypack::TruncatedError) { unpacker.read } }
    assert_equal [1, 2], unpacker.read
  end

  def test_an_io_that_answers_with_no_string_is_a_type_error
    unpacker = Manypack::Unpacker.new(Script.new("\x92\x01", 5, :a, ["x"], "\x02"))
    3.times { assert_raises(TypeError) { unpacker.read } }
    assert_equal [1, 2], unpacker.read
  end

  def test_what_is_no_io_cannot_be_read_from
    [Object.new, [], 5, :path, "\x01", true].each { |io| assert_raises(TypeError) { Manypack::Unpacker.new(io) } }
    assert_equal 1, Manypack::Unpacker.new(Script.new).feed("\x01").read
  end

  def test_io_buffer_size_is_what_an_io_is_asked_for
    { {} => 32_768, { io_buffer_size: 5_000 } => 5_000, { io_buffer_size: 1 } => 1_024, { io_buffer_size: nil } => 32_768 }.each do |options, size|
      io = Script.new("\x01")
      assert_equal 1, Manypack::Unpacker.new(io, options).read
      assert_equal [size], io.asked
    end
  end

  def test_feed_and_io_together_are_one_stream
    unpacker = Manypack::Unpacker.new(StringIO.new("\x02\x03")).feed("\x92\x01")
    assert_equal [1, 2], unpacker.read
    assert_equal 3, unpacker.read
  end

  def test_reset_keeps_the_io
    unpacker = Manypack::Unpacker.new(Script.new("\x01\x02", "\x03"))
    assert_equal 1, unpacker.read
    unpacker.reset
    assert_equal 3, unpacker.read
  end

  def test_max_bytes_ends_the_reading
    io = PieceByPiece.new("\xDD\xFF\xFF\xFF\xFF".b + ("\x00" * 100_000), 1_000)
    assert_raises(Manypack::LimitError) { Manypack::Unpacker.new(io, max_bytes: 10_000).read }
    assert_operator io.readpartial(1).bytesize, :==, 1
    endless = Manypack::Unpacker.new(PieceByPiece.new("\xDB\xFF\xFF\xFF\xFF".b + ("\x00" * 100_000), 1_000), max_bytes: 10_000)
    assert_raises(Manypack::LimitError) { endless.skip }
  end

  def test_full_unpack_reads_an_io_to_its_end
    [["\x91\x01"], %W[\x91 \x01], %W[\x91 \x01 \x02], %W[\x91\x01 \x02], ["\x91\x01\x02"]].each do |segments|
      IO.pipe(binmode: true) do |reader, writer|
        sender = Thread.new { segments.each { |segment| writer.write(segment) && Thread.pass } && writer.close }
        result = begin
          Manypack::Unpacker.new(reader).full_unpack
        rescue Manypack::MalformedFormatError => e
          e.offset
        end
        assert_equal segments.join.bytesize == 2 ? [1] : 2, result
        sender.join
      end
    end
  end

  def test_full_unpack_of_an_io
    assert_equal [1], Manypack::Unpacker.new(StringIO.new("\x91\x01")).full_unpack
    assert_raises(Manypack::MalformedFormatError) { Manypack::Unpacker.new(StringIO.new("\x01\x02")).full_unpack }
  end

  private

  # A Queue that has an element for each time that the io was asked for bytes.
  def asked_of(io)
    Queue.new.tap do |asked|
      io.define_singleton_method(:readpartial) { |*arguments| asked.push(true) && super(*arguments) }
    end
  end

  def in_time(&block)
    Timeout.timeout(20, &block)
  end
end

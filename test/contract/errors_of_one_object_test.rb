# frozen_string_literal: true

# What reads one object from an io leaves the io at the next object also after an error, whatever the io and the error.
require "test_helper"
require "socket"
require "stringio"
require "tempfile"
require "timeout"
require "zlib"

class ErrorsOfOneObjectTest < Minitest::Test
  include CorePart

  Stop = Class.new(StandardError)
  Interruption = Class.new(Exception) # rubocop:disable Lint/InheritException -- as Interrupt

  # Answers read or readpartial alone, a few bytes at a time; refuses to be read after the bytes.
  class Sparing
    def initialize(bytes, method)
      @left = bytes.dup
      define_singleton_method(method) { |size| give([size, method == :read ? size : 30].min) }
    end

    private

    def give(size)
      raise "read beyond the object" if @left.empty?

      @left.slice!(0, size)
    end
  end

  def self.sent(bytes, from, to)
    to.write(bytes)
    yield from, to
  ensure
    [from, to].each { |io| io.close unless io.closed? }
  end

  IOS = {
    "a StringIO" => ->(bytes, &use) { use.call(StringIO.new(bytes)) },
    "a File" => ->(bytes, &use) { Tempfile.create("manypack", binmode: true) { |file| file.write(bytes) && file.rewind && use.call(file) } },
    "a pipe" => ->(bytes, &use) { sent(bytes, *IO.pipe(binmode: true), &use) },
    "a socket" => ->(bytes, &use) { sent(bytes, *UNIXSocket.pair, &use) },
    "a GzipReader" => ->(bytes, &use) { use.call(Zlib::GzipReader.new(StringIO.new(Zlib.gzip(bytes)))) },
    "read" => ->(bytes, &use) { use.call(Sparing.new(bytes, :read)) },
    "readpartial" => ->(bytes, &use) { use.call(Sparing.new(bytes, :readpartial)) }
  }.freeze

  USER = Manypack::Record.define(id: Integer)
  RAISING = Manypack::Factory.new
  RAISING.register_type(5, Class.new, unpacker: ->(_) { raise Stop })
  FORGED = Manypack::Factory.new
  FORGED.register_type(5, Class.new, unpacker: ->(_) { raise Manypack::TruncatedError, "of other bytes" })
  RAISING_RECURSIVELY = Manypack::Factory.new
  RAISING_RECURSIVELY.register_type(5, Class.new, unpacker: ->(unpacker) { unpacker.read && raise(Stop) }, recursive: true)

  TAIL = "\x2A\x93\x01\x02\xA3abc".b + "\xC5\x01\x90".b + ("\x01".b * 400)
  EXT = "\x94\xC7\x03\x05\x92\x01\x02".b + TAIL

  # The message that fails, the error, and the options.
  ERRORS = {
    "text that is not UTF-8" => ["\x94\xA1\xFF".b + TAIL, Manypack::MalformedFormatError, { untrusted: true }],
    "an unknown ext" => [EXT, Manypack::UnknownExtTypeError, {}],
    "a handler" => [EXT, Stop, { codec: RAISING.codec }],
    "a recursive handler" => [EXT, Stop, { codec: RAISING_RECURSIVELY.codec }],
    "a DecodeError of a handler" => [EXT, Manypack::MalformedFormatError, { codec: FORGED.codec }],
    "a Record" => [Manypack.pack({ "id" => "x" * 100 }), Manypack::RecordError, { as: USER }],
    "a View" => ["\x94\xA1\xFF".b + TAIL, Manypack::MalformedFormatError, { as: :view, untrusted: true }],
    "max_bytes of a whole message" => ["\x92\xD9\x20#{"x" * 32}\x05".b, Manypack::LimitError, { max_bytes: 34 }]
  }.freeze
  FIRST = Manypack.pack({ "id" => 1 })
  LAST = Manypack.pack({ "id" => 2 })

  def test_after_an_error_the_next_call_reads_the_next_object
    ERRORS.each do |why, (message, error, options)|
      IOS.each do |kind, open|
        open.call([message, FIRST, message, message, LAST].join) do |io|
          assert_equal [error, 1, error, error, 2], Array.new(5) { id_or_error(io, **options) }, "#{why}, #{kind}"
        end
      end
    end
  end

  def test_every_method_that_reads_one_object
    factory = Manypack::Factory.new
    [Manypack, Manypack::Codec.new, factory, factory.pool].each do |front|
      io = StringIO.new("\x93\xD4\x05z\x07\x08\x2B".b)
      assert_raises(Manypack::UnknownExtTypeError) { exercise { front.load(io) } }
      assert_equal 43, front.load(io)
    end
  end

  # The rest of the object that failed comes later, and is waited for.
  def test_the_rest_of_the_object_comes_later
    IO.pipe(binmode: true) do |reader, writer|
      writer.write("\x93\xD4\x05z\x07".b)
      sender = Thread.new { sleep(0.05) && writer.write("\xA2ab\x2B".b) }
      assert_raises(Manypack::UnknownExtTypeError) { Manypack.unpack(reader) }
      assert_equal 43, Manypack.unpack(reader)
      sender.join
    end
  end

  # Nobody waits for an io after an interrupt: the pipe stays open and silent.
  def test_after_an_interrupt_the_io_is_not_read
    [-> { raise Interruption }, -> { throw :stop }].each do |stop|
      codec = Manypack::Factory.new.tap { |factory| factory.register_type(5, Class.new, unpacker: ->(_) { stop.call }) }.codec
      IO.pipe(binmode: true) do |reader, writer|
        writer.write("\x92\xD4\x05z\x07\x2B".b)
        interrupted { Manypack.unpack(reader, codec: codec) }
        assert_equal 43, Manypack.unpack(reader, codec: codec)
        writer.write("\x92\xD4\x05z".b)
        Timeout.timeout(5) { interrupted { Manypack.unpack(reader, codec: codec) } }
      end
    end
  end

  def test_an_interrupt_before_any_byte_counts_keeps_all_bytes
    IO.pipe(binmode: true) do |reader, writer|
      writer.write("\xD9\x05ab".b)
      assert_raises(Timeout::Error) { Timeout.timeout(0.05) { Manypack.unpack(reader) } }
      writer.write("cde\x2B".b)
      assert_equal ["abcde", 43], [Manypack.unpack(reader), Manypack.unpack(reader)]
    end
  end

  # An interrupt while the rest is waited for is not lost.
  def test_an_interrupt_replaces_the_error
    IO.pipe(binmode: true) do |reader, writer|
      writer.write("\x92\xD4\x05z".b)
      assert_raises(Timeout::Error) { Timeout.timeout(0.05) { Manypack.unpack(reader) } }
    end
  end

  def test_an_error_of_the_io_does_not_replace_the_first_error
    io = Sparing.new("\x93\xD4\x05z\x07".b, :readpartial) # and then it raises
    assert_raises(Manypack::UnknownExtTypeError) { Manypack.unpack(io) }
    ["\x93\xD4\x05z\x07", "\x93\xD4\x05z\x07\xC1\x01"].each do |bytes|
      assert_raises(Manypack::UnknownExtTypeError) { exercise { Manypack.unpack(StringIO.new(bytes.b)) } }
    end
  end

  # Bytes that cannot be read, in an io that a loop reads to its end, are gone.
  def test_where_the_next_object_is_unknown_nothing_is_put_back
    ["\x92\xC1\x01\x2B", "\x93\x92\x01\x02\x2B\x2B", "\x92\x01", "\xD9\x05ab"].each do |bytes|
      io = StringIO.new(bytes.b)
      assert_raises(Manypack::DecodeError) { Manypack.unpack(io, max_array_size: 2) }
      assert_predicate io, :eof?
    end
  end

  # A huge object is passed over to max_bytes and no further.
  def test_max_bytes_ends_the_passing_over
    io = StringIO.new("\x92\xD4\x05z\xC6\x7F\xFF\xFF\xFF".b + ("\0" * 4_000_000))
    error = assert_raises(Manypack::UnknownExtTypeError) { Manypack.unpack(io, max_bytes: 100_000) }
    assert_equal 1, error.offset
    assert_operator io.pos, :<, 300_000
  end

  private

  def id_or_error(io, **options)
    object = Manypack.unpack(io, **options)
    object.is_a?(USER) ? object.id : object["id"]
  rescue Manypack::DecodeError, Stop => e
    e.class
  end

  def interrupted(&block)
    catch(:stop) { assert_raises(Interruption, &block) }
  end
end

# frozen_string_literal: true

# A Packer sends no byte twice and no message in pieces, however the write of its io ends.
require "test_helper"
require "io/wait"
require "stringio"
require "tmpdir"
require "zlib"

class InterruptedWriteTest < Minitest::Test
  MESSAGES = [{ "id" => 1 }, "s" * 700, ["l" * 600_000, 5], "m" * 700_000, "end"].freeze
  STREAM = MESSAGES.map { |message| Manypack.pack(message) }.join.freeze

  # An io that takes n bytes, and then does what a block does.
  class Short
    attr_reader :bytes, :calls

    def initialize(&answer)
      @answer = answer
      @bytes = "".b
      @calls = 0
    end

    def write(bytes)
      @calls += 1
      answer = @answer.call(bytes, @calls)
      @bytes << (answer.is_a?(Integer) ? bytes.byteslice(0, answer.clamp(0, bytes.bytesize)) : bytes)
      answer
    end
  end

  # Every way to have the bytes written.
  WAYS = {
    flush: ->(packer, _) { packer.flush },
    full_pack: ->(packer, _) { packer.full_pack },
    write_to: ->(packer, io) { packer.write_to(io) },
    buffer_flush: ->(packer, _) { packer.buffer.flush },
    buffer_write_to: ->(packer, io) { packer.buffer.write_to(io) },
    write: ->(packer, _) { packer.write("w" * 13_000) }
  }.freeze

  def packer_of(io)
    Manypack::Packer.new(io).tap { |packer| packer.buffer << STREAM.byteslice(0, 1_000) << STREAM.byteslice(1_000..) }
  end

  # Only clear and reset work, and methods that look.
  def assert_refuses(packer, io, size)
    [*WAYS.values, ->(*) { packer.write(1) }, ->(*) { packer.write([nil]) }, ->(*) { packer.write_nil }, ->(*) { packer.buffer << "x" },
     ->(*) { packer.buffer.read }, ->(*) { packer.buffer.read(1) }, ->(*) { packer.buffer.skip(1) }].each do |use|
      error = assert_raises(RuntimeError) { use.call(packer, io) }
      assert_match(/interrupted the io's read or write.+clear or reset the Packer/, error.message)
    end
    assert_equal size, packer.size
    assert_equal size, packer.to_s.bytesize
    assert_equal size, packer.to_a.sum(&:bytesize)
    refute_empty packer.buffer
  end

  def test_an_io_that_takes_a_part_at_a_time_gets_all_of_it_once
    [1_000, 65_536, 650_000].each do |part|
      WAYS.each do |name, way|
        io = Short.new { part }
        way.call(packer = packer_of(io), io)
        expected = name == :write ? STREAM + Manypack.pack("w" * 13_000) : STREAM
        assert_equal expected, io.bytes, name
        assert_predicate packer, :empty?
      end
      assert_nil Manypack.pack(MESSAGES, io = Short.new { part })
      assert_equal Manypack.pack(MESSAGES), io.bytes
    end
  end

  def test_a_block_of_megabytes_in_small_parts_takes_linear_time
    io = Short.new { 1_000 }
    packer = Manypack::Packer.new(io, write_reference_threshold: 1 << 30).write(["s" * 500] * 8_000)
    assert_equal 8_000, Manypack.unpack(io.bytes).size
    assert_predicate packer, :empty?
  end

  def test_answers_that_are_no_part
    [nil, true, :all, "12", 10**30, 1 << 40].each do |answer|
      io = Short.new { answer }
      packer = packer_of(io).flush
      assert_predicate packer, :empty?, answer.inspect
      assert_equal packer_of(nil).to_a.size, io.calls
    end
  end

  def test_an_io_that_takes_nothing_is_an_error_that_loses_nothing
    [0, -1].each do |none|
      io = Short.new { |bytes, calls| calls == 2 ? none : bytes.bytesize }
      packer = packer_of(io)
      assert_raises(IOError) { packer.flush }
      packer.flush
      assert_equal STREAM, io.bytes
    end
  end

  def test_an_io_that_would_block_has_taken_nothing
    io = Short.new { |bytes, calls| calls.odd? ? raise(IO::EAGAINWaitWritable) : [bytes.bytesize, 300_000].min }
    packer = packer_of(io)
    tries = 0
    begin
      tries += 1
      packer.flush
    rescue IO::WaitWritable
      retry
    end
    assert_operator tries, :>, 4
    assert_equal STREAM, io.bytes
  end

  def test_a_string_io_that_raises_gets_nothing_again
    WAYS.each_value do |way|
      io = StringIO.new("".b)
      packer = packer_of(io)
      io.close_write
      assert_raises(IOError) { way.call(packer, io) }
      assert_refuses packer, io, packer.size
      packer.reset
      assert_equal "\x01".b, packer.write(1).to_s
    end
  end

  # The error does not tell how many bytes were taken: it may come before them, in the middle, or after them.
  def test_an_io_that_raises_gets_nothing_again
    WAYS.each_value do |way|
      [->(_) { raise IOError }, ->(_) { throw :out }, ->(io) { io.bytes << "head" && raise(Errno::EPIPE) }, ->(_) { raise Interrupt }].each do |leave|
        [1, 2].each do |call|
          io = nil
          io = Short.new { |bytes, calls| calls == call ? leave.call(io) : bytes.bytesize }
          packer = packer_of(io)
          catch(:out) { assert_raises(IOError, Errno::EPIPE, Interrupt) { way.call(packer, io) } }
          taken = io.bytes.dup
          assert_refuses packer, io, packer.size
          assert_equal taken, io.bytes
          call.odd? ? packer.reset : packer.buffer.clear
          packer.write(1).flush
          assert_equal "#{taken}\x01".b, io.bytes
        end
      end
    end
  end

  def test_after_a_part_that_the_io_reported_only_the_rest_is_unknown
    io = Short.new { |bytes, calls| calls == 2 ? raise(IOError) : [bytes.bytesize, 500].min }
    packer = packer_of(io)
    assert_raises(IOError) { packer.flush }
    assert_refuses packer, io, STREAM.bytesize - 500
  end

  def test_a_thread_that_is_interrupted_while_a_pipe_is_full
    [["flush", "raise"], ["write", "kill"]].each do |way, ending|
      reader, writer = IO.pipe(binmode: true)
      packer = Manypack::Packer.new(writer)
      packer.buffer << STREAM if way == "flush"
      thread = Thread.new { way == "flush" ? packer.flush : packer.write("w" * 2_000_000) }
      thread.report_on_exception = false
      Thread.pass until thread.status == "sleep" && reader.wait_readable(0)
      ending == "raise" ? thread.raise(IOError) : thread.kill
      thread.join rescue assert_equal("raise", ending)
      assert_refuses packer, writer, packer.size
      packer.reset
      writer.close
      whole = way == "flush" ? STREAM : Manypack.pack("w" * 2_000_000)
      assert_operator whole, :start_with?, reader.read.b
    end
  end

  def test_the_buffer_of_an_unpacker
    unpacker = Manypack::Unpacker.new.feed("\x01\x02")
    assert_raises(IOError) { unpacker.buffer.write_to(Short.new { raise IOError }) }
    [-> { unpacker.read }, -> { unpacker.feed("\x03") }, -> { unpacker.skip }, -> { unpacker.each { flunk } }, -> { unpacker.buffer.flush }].each do |use|
      error = assert_raises(RuntimeError, &use)
      next if error.message.include?("clear or reset the Unpacker")

      flunk error.message
    end
    unpacker.reset
    assert_equal 3, unpacker.feed("\x03").read
  end

  def test_a_pool_gets_no_packer_that_was_interrupted
    pool = Manypack::Factory.new.pool
    2.times do
      assert_raises(IOError) { pool.packer { |packer| packer.write(1).write_to(Short.new { raise IOError }) } }
      assert_equal "\x02".b, pool.packer { |packer| packer.write(2).to_s }
    end
  end

  # --- Packer.open -----------------------------------------------------------------------------------------

  # Fails when it is closed or finished, as on a full file system.
  module Failing
    def close = super && raise(Errno::EDQUOT)
  end

  def in_directory(name)
    Dir.mktmpdir { |directory| yield File.join(directory, name) }
  end

  def test_the_error_of_the_block_comes_out
    full = Errno::ENOSPC
    %w[log log.gz].each do |name|
      in_directory(name) do |path|
        [ZeroDivisionError, Interrupt, NoMemoryError].each do |error|
          assert_raises(error) do
            Manypack::Packer.open(path) do |packer|
              io = packer.buffer.io
              io.define_singleton_method(:write) { |*| raise full }
              packer.write(1)
              raise error
            end
          end
        end
        assert_raises(full) { Manypack::Packer.open(path) { |packer| packer.write(1).buffer.io.define_singleton_method(:write) { |*| raise full } } }
        assert_equal :thrown, (catch(:out) { Manypack::Packer.open(path) { |packer| packer.write(1) && throw(:out, :thrown) } })
        assert_equal 1, Manypack.load_file(path)
      end
    end
  end

  def test_an_error_of_closing_hides_no_other
    in_directory("log") do |path|
      failing = ->(packer) { packer.write(1).buffer.io.define_singleton_method(:close) { super() || raise(Errno::EDQUOT) } }
      assert_raises(ZeroDivisionError) { Manypack::Packer.open(path) { |packer| failing.call(packer) && 1 / 0 } }
      assert_raises(Errno::EDQUOT) { Manypack::Packer.open(path) { |packer| failing.call(packer) } }
      assert_equal 1, Manypack.load_file(path)
    end
  end

  def test_appending_to_a_fifo_waits_for_nobody_who_writes
    in_directory("fifo") do |path|
      File.mkfifo(path)
      reader = Thread.new { Manypack.foreach(path).to_a }
      writer = Thread.new { Manypack::Packer.open(path, append: true) { |packer| packer.write(1).write([2]) && :done } }
      assert writer.join(60), "the writer still waits"
      assert_equal :done, writer.value
      assert_equal [1, [2]], reader.value
    ensure
      [reader, writer].each { |thread| thread&.kill }
    end
  end

  def test_appending_to_a_device
    assert_equal :done, (Manypack::Packer.open("/dev/null", append: true) { |packer| packer.write(1) && :done })
  end
end

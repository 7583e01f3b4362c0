# frozen_string_literal: true

# Each call of an io fails once, is interrupted, or passes only a part, in all that reads or writes by an io: who goes on
# gets every message once, and what was written is whole messages, but for the one at which the io itself stopped.
#
# MANYPACK_FAULTS=all, or rake test:faults   with every size of parts, not only with some
require "test_helper"
require "stringio"

class EveryIOTest < Minitest::Test
  OBJECTS = [1, "two", { "three" => [4.0, nil] }, "l" * 9_000, [[]] * 20, { 5 => { "k" => "v" } }, "m" * 300, nil].freeze
  MESSAGES = OBJECTS.map { |object| Manypack.pack(object).freeze }.freeze
  STREAM = MESSAGES.join.freeze
  WHOLE = Array.new(MESSAGES.size + 1) { |i| MESSAGES.take(i).join }.freeze
  PARTS = ENV["MANYPACK_FAULTS"] == "all" ? (1..64).to_a + [700, 5_000] : [1, 7, 700, 5_000]

  class Stop < Exception; end # rubocop:disable Lint/InheritException -- nobody rescues it in passing

  # What a call can do instead. An io that raises in reading has taken nothing from what it reads.
  FAULTS = [Errno::EINTR, IO::EAGAINWaitReadable, Errno::EIO, IOError, Stop, :throw].freeze

  # Passes +part+ bytes a call, but does a fault at the nth.
  class FaultyIO
    attr_reader :bytes, :calls, :at

    def initialize(bytes = +"".b, part: 500, at: 0, fault: nil, taken: 0)
      @source = StringIO.new(bytes)
      @bytes = +"".b
      @part, @at, @fault, @taken, @calls = part, at, fault, taken, 0
    end

    def readpartial(size, *)
      fail_at_its_turn
      @source.readpartial([size, @part].min)
    end

    def write(bytes)
      fail_at_its_turn { @bytes << bytes.byteslice(0, @taken) }
      @bytes << bytes.byteslice(0, @part)
      [bytes.bytesize, @part].min
    end

    private

    def fail_at_its_turn
      return if (@calls += 1) != @at

      yield if block_given?
      @fault == :throw ? throw(:stop) : raise(@fault)
    end
  end

  # What reads one stream from an io, and passes each object on.
  READERS = {
    "Unpacker#each" => ->(io, &block) { Manypack::Unpacker.new(io).each(&block) },
    "Unpacker#each of Views" => ->(io, &block) { Manypack::Unpacker.new(io, as: :view).each { |object| block.call(plain(object)) } },
    "split" => ->(io, &block) { Manypack.split(io) { |bytes| block.call(Manypack.unpack(bytes)) } },
    "Path#each" => ->(io, &block) { Manypack::Path.new("$").each(io) { |object| block.call(plain(object)) } },
    "Parallel" => ->(io, &block) { Manypack::Parallel.each(io, ractors: 0, map: ->(object) { object }, &block) }
  }.freeze

  def self.plain(object) = object.is_a?(Manypack::View) ? object.value : object

  def test_parts_of_any_size_are_the_same_stream
    READERS.each do |name, reader|
      PARTS.each { |part| assert_equal OBJECTS, read(reader, FaultyIO.new(STREAM, part: part)), "#{name}, parts of #{part}" }
    end
    PARTS.each { |part| assert_equal STREAM, FaultyIO.new(part: part).tap { |io| write(Manypack::Packer.new(io)) }.bytes }
  end

  # They end with the io's own error, after some of the objects.
  def test_a_failed_read_ends_what_reads_one_stream
    each_fault do |fault, at|
      READERS.each do |name, reader|
        io = FaultyIO.new(STREAM, at: at, fault: fault)
        got = []
        ended = ending { reader.call(io) { |object| got << object } }
        assert_equal fault, ended, "#{name}, call #{at}" if io.calls >= at
        assert_equal OBJECTS.take(got.size), got, "#{name}, call #{at}, #{fault}"
      end
    end
  end

  def test_who_reads_on_after_a_failed_read_gets_every_message_once
    each_fault do |fault, at|
      [:each, :read, :skip].each do |way|
        unpacker = Manypack::Unpacker.new(FaultyIO.new(STREAM, at: at, fault: fault))
        got = []
        2.times { ending { way == :each ? unpacker.each { |object| got << object } : (got << unpacker.public_send(way) while true) } }
        way == :skip ? assert_equal(OBJECTS.size, got.size) : assert_equal(OBJECTS, got, "#{way}, call #{at}, #{fault}")
      end
    end
  end

  # An io that says that it would block has taken nothing; after any other error a Packer does not know.
  def test_a_failed_write_is_made_up_for_or_refused_until_a_reset
    each_fault([IO::EAGAINWaitWritable, Errno::ENOSPC, Errno::EINTR, IOError, Stop, :throw]) do |fault, at|
      [0, 3, 400].each do |taken|
        io = FaultyIO.new(at: at, fault: fault, taken: fault == IO::EAGAINWaitWritable ? 0 : taken)
        packer = Manypack::Packer.new(io)
        next if ending { write(packer) } != fault

        assert STREAM.start_with?(io.bytes), "#{fault} at call #{at}"
        assert_goes_on(packer, io, fault)
      end
    end
  end

  def test_a_failed_write_ends_what_writes_one_message
    each_fault([IO::EAGAINWaitWritable, Errno::ENOSPC, IOError, Stop, :throw]) do |fault, at|
      io = FaultyIO.new(at: at, fault: fault, taken: 3)
      ended = ending { Manypack.pack(OBJECTS, io) }
      assert_equal fault, ended if io.calls >= at
      assert Manypack.pack(OBJECTS).start_with?(io.bytes)
    end
  end

  # What a filter has written when its source or its output fails.
  def test_a_filter_writes_whole_messages_or_ends_with_the_error_of_its_output
    each_fault do |fault, at|
      [[FaultyIO.new(STREAM, at: at, fault: fault), FaultyIO.new], [FaultyIO.new(STREAM), FaultyIO.new(at: at, fault: fault)]].each do |source, output|
        ended = ending { Manypack::Parallel.filter(source, output, ractors: 0) { |object| object } }
        assert_equal fault, ended if [source, output].any? { |io| io.at == at && io.calls >= at }
        output.at.zero? ? assert_includes(WHOLE, output.bytes) : assert(STREAM.start_with?(output.bytes))
      end
    end
  end

  private

  # Yields each fault at each call that there is for the stream in parts of 500 bytes, and at one more.
  def each_fault(faults = FAULTS)
    faults.each { |fault| (1..(STREAM.bytesize / 500) + MESSAGES.size + 2).each { |at| yield fault, at } }
  end

  def read(reader, io)
    got = []
    reader.call(io) { |object| got << object }
    got
  end

  def write(packer)
    OBJECTS.each { |object| packer.write(object).flush }
  end

  # Returns the class of the exception that ends the block, :throw, or :end.
  def ending
    ended = :throw
    catch(:stop) do
      yield
      ended = :end
    end
    ended
  rescue EOFError
    :end
  rescue Manypack::Error, SystemCallError, IOError, Stop => error
    error.class
  end

  def assert_goes_on(packer, io, fault)
    if fault == IO::EAGAINWaitWritable
      packer.flush
      assert_includes WHOLE, io.bytes
    else
      taken = io.bytes.dup
      assert_match(/clear or reset/, assert_raises(RuntimeError) { packer.flush }.message)
      assert_equal taken, io.bytes
      packer.reset
      packer.write(1).flush
      assert_equal "#{taken}\x01".b, io.bytes
    end
  end
end

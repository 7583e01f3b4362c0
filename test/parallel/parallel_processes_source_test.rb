# frozen_string_literal: true

# Worker processes inherit the other end of the pipe or socket that their parent reads from, and it ends all the same.
require "test_helper"
require "parallel/worker_processes"
require "socket"
require "support/program"
require "tmpdir"
require "zlib"

class ParallelProcessesSourceTest < Minitest::Test
  include ProgramHelper
  include WorkerProcesses

  def test_a_pipe_ends_although_workers_inherit_a_writing_end_that_no_io_object_has
    reader, writer = IO.pipe
    number = IO.sysopen("/dev/fd/#{writer.fileno}", "w")
    writer.write("\x01")
    seen = Timeout.timeout(10) do
      Parallel.each(reader, map: ->(n) { n }, processes: 2).map { |n| [writer, IO.for_fd(number)].each(&:close) && n }
    end
    assert_equal [1], seen
  ensure
    reader.close
  end

  # Otherwise the collector would close what the work opens under that number.
  def test_no_two_objects_of_a_worker_own_the_same_file
    reader, writer = IO.pipe
    writer.write("\x01")
    owned = ->(io) { (io.fileno if io.autoclose?) rescue nil } # rubocop:disable Style/RescueModifier -- it is closed
    owners = ->(_) { ObjectSpace.each_object(IO).filter_map(&owned).tally.values.max }
    assert_equal [1], Parallel.each(reader, map: owners, processes: 1).map { |most| most.tap { writer.close } }
  ensure
    [reader, writer].each(&:close)
  end

  GZIP = Class.new do
    def initialize(io) = @io = io
    def readpartial(size) = (@gzip ||= Zlib::GzipReader.new(@io)).readpartial(size)
  end
  READ_ONLY = Struct.new(:io) { def readpartial(size) = io.readpartial(size) }
  POPEN = Struct.new(:io) do
    def write(bytes) = io.write(bytes)
    def close = io.close_write
  end

  # Each returns the end to read and the end to write.
  SOURCES = {
    "a pipe" => -> { IO.pipe }, "one end of a socket pair" => -> { UNIXSocket.pair }, "the other end" => -> { UNIXSocket.pair.reverse },
    "an accepted UNIX socket" => ->(dir) { UNIXServer.open("#{dir}/socket") { |server| [UNIXSocket.new("#{dir}/socket"), server.accept].reverse } },
    "a UNIX socket" => ->(dir) { UNIXServer.open("#{dir}/other") { |server| [UNIXSocket.new("#{dir}/other"), server.accept] } },
    "a TCP socket" => -> { TCPServer.open("127.0.0.1", 0) { |server| [TCPSocket.new("127.0.0.1", server.addr[1]), server.accept] } },
    "a FIFO" => ->(dir) { File.mkfifo("#{dir}/fifo") && Thread.new { File.open("#{dir}/fifo", "wb") }.then { |other| [File.open("#{dir}/fifo", "rb"), other.value.tap { |io| io.sync = true }] } },
    "a wrapper" => -> { UNIXSocket.pair.then { |one, other| [READ_ONLY.new(one), other] } },
    "a command" => -> { IO.popen("cat", "r+b").then { |io| [io, POPEN.new(io)] } }
  }.freeze

  SOURCES.each do |name, make|
    define_method("test_the_end_of_#{name.tr(" ", "_")}_that_the_parent_closes") do
      Dir.mktmpdir do |dir|
        reader, writer = make.arity.zero? ? make.call : make.call(dir)
        assert_equal [*0...200], ended_by_the_parent(reader, writer, NUMBERS)
      ensure
        (reader.is_a?(READ_ONLY) ? reader.io : reader).close
      end
    end
  end

  def test_the_end_of_a_compressed_pipe_that_the_parent_closes
    reader, writer = IO.pipe(binmode: true)
    assert_equal [*0...200], ended_by_the_parent(GZIP.new(reader), writer, Zlib.gzip(NUMBERS))
    [reader, writer].each(&:close)
  end

  # The workers of each run inherit the ends of all runs.
  def test_the_ends_of_sockets_of_several_threads
    pairs = Array.new(3) { UNIXSocket.pair }
    results = Timeout.timeout(20) { pairs.map { |pair| Thread.new { ended_by_the_parent(*pair, NUMBERS) } }.map(&:value) }
    assert_equal [[*0...200]] * 3, results
  ensure
    pairs.flatten.each(&:close)
  end

  # Other sockets of the parent are as they were.
  def test_a_worker_uses_a_socket_that_is_not_the_other_end
    (reader, writer), (mine, workers) = UNIXSocket.pair, UNIXSocket.pair
    writer.write("\x01\x02")
    results = Parallel.each(reader, map: ->(n) { workers.write(n.to_s) && n }, processes: 1).map { |n| n.tap { writer.close if n == 2 } }
    assert_equal [[1, 2], "12"], [results, mine.readpartial(10)]
  ensure
    [reader, writer, mine, workers].each(&:close)
  end

  # As on a system that does not tell which socket is at the other end.
  def test_unix_sockets_that_are_found_by_their_addresses
    assert_program <<~'RUBY', "[1, 2]"
      require "socket"
      Manypack::Parallel.const_get(:Run) # loads it
      Manypack::Parallel.const_get(:OtherEnd).singleton_class.prepend(Module.new { def unix_peer(_) = nil })
      reader, writer = UNIXSocket.pair
      writer.write("\x01\x02")
      p Manypack::Parallel.each(reader, map: ->(n) { n }, processes: 2).map { |n| n.tap { writer.close if n == 2 } }
    RUBY
  end

  private

  # The results of a run whose source ends when the parent closes its other end, after it got the first result.
  def ended_by_the_parent(reader, writer, bytes)
    Timeout.timeout(20) do
      writing = Thread.new { writer.write(bytes) }
      start = Thread::Queue.new
      closing = Thread.new { start.pop && writing.join && writer.close }
      Parallel.each(reader, map: ->(n) { n }, processes: 2).map { |n| n.tap { start << true } }.tap { closing.join }
    end
  end
end

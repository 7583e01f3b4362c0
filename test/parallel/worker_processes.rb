# frozen_string_literal: true

# For tests whose workers are processes: each checks that it leaves no process, Thread or open file behind.
require "timeout"

module WorkerProcesses
  Parallel = Manypack::Parallel
  NUMBERS = (0...200).map { |i| Manypack.pack(i) }.join.freeze

  def setup
    Timeout.timeout(1) { nil } # has a Thread of its own, which stays
    @threads = Thread.list
    GC.start # closes files that nobody refers to
    @files = open_files
  end

  def teardown
    assert_raises(Errno::ECHILD, "a zombie") { Process.wait }
    assert_empty Thread.list - @threads
    assert_operator open_files, :<=, @files
  end

  private

  def open_files
    Dir.children("/dev/fd").size
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

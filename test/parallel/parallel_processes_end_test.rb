# frozen_string_literal: true

# How worker processes end: by themselves, by what they run, by whoever kills them; their at_exit blocks run, and none stays.
require "test_helper"
require "parallel/worker_processes"
require "stringio"
require "support/program"
require "tempfile"
require "tmpdir"

class ParallelProcessesEndTest < Minitest::Test
  include ProgramHelper
  include WorkerProcesses

  NUMBER_OFFSETS = (0...200).map { |i| i < 128 ? i : 128 + ((i - 128) * 2) }.freeze

  # --- ends

  ENDS = {
    "exit!" => [-> { exit!(3) }, "exited with status 3"], "Thread.exit" => [-> { Thread.exit }, "exited with status 1"],
    "kill" => [-> { Process.kill(:KILL, Process.pid) && sleep }, "was killed by SIGKILL"],
    "a crash" => [-> { [trap(:ABRT, "SYSTEM_DEFAULT"), Process.kill(:ABRT, Process.pid)] && sleep }, "was killed by SIGABRT"],
    "exec" => [-> { exec("exit 5") }, "exited with status 5"]
  }.freeze

  ENDS.each do |name, (way, words)|
    define_method("test_a_worker_that_ends_by_#{name.tr(" ,!", "___")}") do
      [true, false].each do |ordered|
        seen = []
        work = ->(n) { n == 100 ? way.call : n }
        error = assert_raises(Parallel::DeadWorker) { Timeout.timeout(10) { Parallel.each(NUMBERS, map: work, processes: 2, ordered: ordered) { |n| seen << n } } }
        had = /\Aworker process \d+ #{words}; it had (.+)\z/.match(error.message)[1]
        ranges = had.scan(/messages? (\d+)(?: to (\d+))? \(bytes? (\d+)(?: to (\d+))?\)/).map { |range| range.map { |number| number&.to_i } }
        assert(ranges.any? { |first, last,| (first..last || first).cover?(100) }, error.message)
        assert_equal [ranges[0][0], ranges[0][2]], [error.index, error.offset]
        assert_equal ranges[0][2], NUMBER_OFFSETS[ranges[0][0]]
        assert_equal [*0...error.index], seen if ordered
        assert_kind_of Parallel::Error, error
      end
    end
  end

  def test_a_worker_that_dies_without_work
    pids = []
    reads = ["\x01\x01"]
    io = Object.new
    io.define_singleton_method(:readpartial) do |_|
      reads.shift || begin
        sleep 0.01 until pids.size == 2
        pids.each { |pid| Process.kill(:KILL, pid) } && sleep(0.05)
        "\x01"
      end
    end
    error = assert_raises(Parallel::DeadWorker) { Timeout.timeout(10) { Parallel.each(io, map: ->(_) { sleep(0.02) && Process.pid }, processes: 2) { |pid| pids |= [pid] } } }
    assert_match(/was killed by SIGKILL; it had/, error.message)
  end

  # Each run ends, with all results or with the error.
  def test_workers_that_are_killed_at_any_moment
    random = Random.new(22)
    100.times do |i|
      seen = []
      killer = nil
      begin
        Timeout.timeout(20) do
          Parallel.each(piped(NUMBERS), map: ->(n) { [Process.pid, n] }, processes: 2) do |pid, n|
            seen << n
            Process.kill(:KILL, pid) if killer.nil? && random.rand(1 + i).zero? && (killer = pid)
          rescue Errno::ESRCH
            nil
          end
        end
        assert_equal [*0...200], seen
      rescue Parallel::DeadWorker => e
        assert_match(/\Aworker process #{killer} was killed by SIGKILL; it had/, e.message)
        assert_equal [*0...seen.size], seen
      end
    end
  end

  def test_no_more_files_may_be_open
    assert_program <<~'RUBY', "[Errno::EMFILE, 0]"
      Manypack::Parallel.map("\x01", processes: 1) { |n| n } # has loaded all that it needs
      Process.setrlimit(Process::RLIMIT_NOFILE, 30)
      result = (Manypack::Parallel.map("\x01" * 100, processes: 20) { |n| n } rescue $!.class)
      children = begin
        Process.wait(-1) && 1
      rescue Errno::ECHILD
        0
      end
      p [result, children]
    RUBY
  end

  def test_a_fork_that_raises_leaves_no_pipe_open
    assert_program <<~'RUBY', "[0, 0, 0]"
      ERRORS = [NotImplementedError, Interrupt, Errno::EAGAIN]
      Process.singleton_class.prepend(Module.new { def fork(&) = raise(ERRORS.first) })
      Manypack::Parallel.map("\x01", processes: 0) { |n| n } # has loaded all that it needs
      GC.disable
      files = -> { Dir.children("/dev/fd").size }
      before = files.call
      left = ERRORS.map do
        Manypack::Parallel.map("\x01", processes: 2) { |n| n }
      rescue Exception => error
        raise unless error.instance_of?(ERRORS.first)
        ERRORS.rotate!
        files.call - before
      end
      p left
    RUBY
  end

  def test_a_fork_that_raises_does_so_in_the_caller_alone
    assert_program <<~'RUBY', "Errno::EAGAIN"
      Thread.abort_on_exception = true
      Process.singleton_class.prepend(Module.new { def fork(&) = raise(Errno::EAGAIN) })
      caller = Thread.new { Manypack::Parallel.map("\x01", processes: 2) { |n| n } rescue $!.class }
      p caller.value
    RUBY
  end

  def test_somebody_else_who_waits_for_children
    [-> { Process.wait(-1) }, -> { Process.detach(Process.wait) }].each do |wait|
      waiting = Thread.new { loop { wait.call rescue Thread.pass } } # rubocop:disable Style/RescueModifier
      assert_equal [*0...200], Parallel.map(NUMBERS, processes: 2) { |n| n }
      error = assert_raises(Parallel::DeadWorker) { Parallel.map(NUMBERS, processes: 2) { |n| n == 9 ? exit!(3) : n } }
      assert_kind_of Manypack::Error, error
    ensure
      waiting.kill.join
      (Thread.list - @threads).grep(Process::Waiter).each(&:join) # of detach, above
    end
  end

  # A program that was started meanwhile may have inherited the other end of a worker's pipe.
  def test_a_worker_that_dies_and_whose_pipe_does_not_end
    holders = []
    work = lambda do |n|
      next n unless n == 3

      holder = Process.fork { sleep(5) && exit!(0) }
      File.write(ENV.fetch("MANYPACK_HOLDER"), holder.to_s)
      exit!(3)
    end
    Tempfile.create("manypack") do |file|
      ENV["MANYPACK_HOLDER"] = file.path
      started = now
      assert_raises(Parallel::DeadWorker) { Parallel.map("\x01\x02\x03", processes: 1, &work) }
      assert_operator now - started, :<, 4
      holders << file.read.to_i
    end
  ensure
    ENV.delete("MANYPACK_HOLDER")
    holders.each { |pid| Process.kill(:KILL, pid) }
  end

  # A process that the program forks meanwhile inherits both ends of every pipe. A worker that is killed because its
  # pipe does not end runs no at_exit block.
  def test_workers_end_by_themselves_although_another_process_has_their_pipes
    holder = nil
    assert_equal "ee", said_at_exit { |start| Parallel.each("\x00\x01", map: :succ.to_proc, processes: 2, on_worker_start: start) { holder ||= Process.fork { sleep } } }
  ensure
    Process.kill(:KILL, holder) && Process.wait(holder)
  end

  def test_pools_of_several_threads_end_by_themselves
    said = said_at_exit do |start|
      threads = Array.new(4) { Thread.new { Parallel.map(NUMBERS, processes: 2, on_worker_start: start) { |n| n } } }
      assert_equal [[*0...200]] * 4, threads.map(&:value)
    end
    assert_equal "e" * 8, said
  end

  def test_a_pool_inside_a_worker
    inner = ->(n) { Parallel.map([n, n + 1].pack("CC"), processes: 2) { |m| m * 10 } }
    assert_equal [[0, 10], [10, 20]], Timeout.timeout(20) { Parallel.map("\x00\x01", processes: 2, &inner) }
  end

  # The other workers send all the time, and nothing waits for the results of the dead one.
  def test_a_worker_that_dies_beside_a_busy_one_and_whose_pipe_does_not_end
    holder = nil
    endless = ["\x00", *["\x01"] * 20].cycle
    dies = lambda do |n|
      File.exist?(ENV.fetch("MANYPACK_HOLDER")) && n.zero? ? exit!(3) : n
    end
    Dir.mktmpdir do |dir|
      ENV["MANYPACK_HOLDER"] = File.join(dir, "there")
      assert_raises(Parallel::DeadWorker) do
        Timeout.timeout(20) do
          Parallel.each(endless, map: dies, processes: 2, ordered: false) { holder ||= Process.fork { sleep }.tap { File.write(ENV.fetch("MANYPACK_HOLDER"), "") } }
        end
      end
    end
  ensure
    ENV.delete("MANYPACK_HOLDER")
    Process.kill(:KILL, holder) && Process.wait(holder)
  end

  # --- at_exit

  def test_at_exit_blocks_of_workers_run_and_those_of_the_parent_do_not
    assert_program <<~'RUBY', "last, first\n[1]\ntrap\nparent"
      reader, writer = IO.pipe
      at_exit { writer.close; puts "parent" }
      trap(:EXIT) { puts "trap" }
      start = lambda do |_|
        at_exit { writer.write("first") }
        at_exit { writer.write("last, ") }
      end
      results = Manypack::Parallel.map("\x01", processes: 1, on_worker_start: start) { |n| n }
      puts reader.readpartial(100)
      p results
    RUBY
  end

  # A run ends with its last result, by break, by an error, and by an error of another at_exit block.
  def test_at_exit_blocks_run_however_a_run_ends
    ends = { "ee" => ->(start) { Parallel.map("\x00\x01", processes: 2, on_worker_start: start) { |n| n } },
             "e" => ->(start) { Parallel.each("\x00" * 50, map: ->(n) { n }, processes: 1, on_worker_start: start) { break } } }
    ends.each { |said, run| assert_equal said, said_at_exit(&run) }
    assert_equal("e", said_at_exit { |start| assert_raises(IOError) { Parallel.map("\x00", processes: 1, on_worker_start: start) { raise IOError } } })
  end

  def test_break_interrupts_work_and_ensure_clauses_run
    reader, writer = IO.pipe
    work = lambda do |n|
      next reader.read(1) if n.zero? # until the other one is at work

      begin
        writer.write("b")
        sleep
      ensure
        writer.write("e")
      end
    end
    Timeout.timeout(10) do
      Parallel.each("\x00\x01", map: work, processes: 2) { break }
      assert_equal "e", reader.readpartial(10)
    end
  ensure
    [reader, writer].each(&:close)
  end

  # Whoever listens is killed first, perhaps between reading that a process is ready and noting it. A process that seems
  # not to be ready is killed at once.
  def test_what_a_process_said_is_not_lost_with_the_thread_that_heard_it
    reader, writer = IO.pipe
    worker = idle_worker { writer.write("e") }
    writer.close
    has_read = Thread::Queue.new
    worker.define_singleton_method(:arrived) { super().tap { has_read << true && sleep(0.05) } }
    listener = Thread.new { IO.select([worker]) && worker.each_outcome { nil } }
    has_read.pop
    listener.kill.join
    worker.interrupt
    assert_equal "e", reader.read
  ensure
    worker.kill
    reader.close
  end

  def test_a_thread_that_reads_a_frame_without_end_can_be_killed
    pieces = ["\x92\x90\x91\xC6\xFF\xFF\xFF\xFF".b]
    started = Thread::Queue.new
    worker = idle_worker { nil }
    worker.define_singleton_method(:arrived) { pieces.shift || (started << true && ".") }
    listener = Thread.new { worker.each_outcome { nil } }
    started.pop
    assert listener.kill.join(10)
  ensure
    worker.kill
  end

  def test_work_that_will_not_be_interrupted_is_killed
    work = ->(n) { n.zero? ? 0 : Thread.handle_interrupt(Object => :never) { sleep } }
    started = now
    Parallel.each("\x00\x01", map: work, processes: 2) { sleep(0.05) && break }
    assert_operator now - started, :<, 30
  end

  private

  # Yields an object for on_worker_start:. Returns an e for each worker whose at_exit block ran.
  def said_at_exit
    reader, writer = IO.pipe
    yield ->(_) { at_exit { writer.write("e") } }
    writer.write("!") # there is something to read
    reader.readpartial(100).delete("!")
  ensure
    [reader, writer].each(&:close)
  end

  # A process that says it is ready, and has nothing to do but to call the block when it is interrupted.
  def idle_worker
    Parallel.const_get(:ChildProcess).new([]) do |_jobs, outcomes|
      Parallel.const_get(:Frame).write(outcomes, [], [])
      sleep
    ensure
      yield
    end
  end

  def piped(bytes)
    reads = bytes.scan(/.{1,20}/mn)
    Object.new.tap { |io| io.define_singleton_method(:readpartial) { |_| reads.shift || raise(EOFError) } }
  end
end

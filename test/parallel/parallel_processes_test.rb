# frozen_string_literal: true

# Worker processes: what they have of their parent, what comes back, how they end, and that nothing is left of them.
require "test_helper"
require "socket"
require "stringio"
require "support/program"
require "tempfile"
require "timeout"
require "tmpdir"
require "zlib"

class ParallelProcessesTest < Minitest::Test
  include ProgramHelper

  Parallel = Manypack::Parallel
  NUMBERS = (0...200).map { |i| Manypack.pack(i) }.join.freeze
  NUMBER_OFFSETS = (0...200).map { |i| i < 128 ? i : 128 + ((i - 128) * 2) }.freeze

  def setup
    Timeout.timeout(1) { nil } # has a Thread of its own, which stays
    @threads = Thread.list
    @files = open_files
  end

  def teardown
    assert_raises(Errno::ECHILD, "a zombie") { Process.wait }
    assert_empty Thread.list - @threads
    assert_operator open_files, :<=, @files
  end

  # --- what workers have

  def test_the_block_may_use_everything
    seen = Hash.new { |hash, key| hash[key] = [] }
    io = StringIO.new("here")
    results = Parallel.map(NUMBERS, processes: 2) { |n| seen[:all] << n and [n, io.string, seen[:all].include?(n), name] }
    assert_equal (0...200).map { |n| [n, "here", true, name] }, results
    assert_empty seen
  end

  def test_workers_have_no_pipes_of_each_other
    counts = Parallel.map(pack(0.05) * 4, processes: 4) { |seconds| sleep(seconds) && open_files }
    assert_equal [@files + 2] * 4, counts
  end

  def test_a_file_is_read_from_where_it_is
    Tempfile.create("manypack", binmode: true) do |file|
      file.write("\xC1junk", NUMBERS)
      file.rewind
      assert_equal "\xC1j".b, file.read(2)
      file.read(3)
      assert_equal [*0...200], Parallel.map(file, processes: 2) { |n| n }
      assert_predicate file, :eof?
      file.pos = 5 + 148
      file.write("\xC1".b)
      file.pos = 5
      error = assert_raises(Manypack::MalformedFormatError) { Parallel.map(file, processes: 2) { |n| n } }
      assert_equal [138, 148], [error.index, error.offset]
    end
  end

  def test_a_file_that_gets_shorter
    Tempfile.create("manypack", binmode: true) do |file|
      file.write(pack("x" * 50) * 100)
      file.rewind
      gone = ->(_) { file.truncate(0) && sleep(0.01) }
      error = assert_raises(EOFError, RangeError, Manypack::TruncatedError) { Parallel.each(file, map: gone, processes: 1).to_a }
      assert_kind_of Parallel::Error, error
      assert_operator error.index, :>, 0
    end
  end

  # --- what comes back

  Point = Struct.new(:x) do
    def to_msgpack_ext = [x].pack("c")
    def self.from_msgpack_ext(body) = new(body.unpack1("c"))
  end

  FACTORY = Manypack::Factory.new.tap { |factory| factory.register_type(127, Point) }

  def test_results_are_what_they_were
    results = [nil, :symbol, { id: 1, "id" => [:a, "b"] }, "b\xFF".b, "é", 2.5, Time.at(1, 5, :nsec), Manypack::ExtensionValue.new(3, "x"), 2**64 - 1, [[[]]]]
    results.each { |result| assert_equal [result] * 3, Parallel.map("\x01\x02\x03", processes: 2) { result } }
    assert_equal [[Point.new(5), :x]], Parallel.map("\x05", processes: 1, factory: FACTORY) { |n| [Point.new(n), :x] }
  end

  def test_options_of_unpack_are_not_for_results
    result = Parallel.map(pack({ "a" => 1 }), processes: 1, untrusted: true, max_bytes: 10, symbolize_keys: true, freeze: true) { |map| [map, { "b" => "c" * 100 }] }.first
    assert_equal [{ a: 1 }, { "b" => "c" * 100 }], result
    refute_predicate result, :frozen?
  end

  def test_results_of_any_size_and_depth
    assert_equal [3_000_000, 1], Parallel.map("\x03\x00", processes: 2) { |n| "x" * (n * 1_000_000) }.map(&:size).then { |sizes| [sizes[0], sizes[1] + 1] }
    nested = ->(levels) { (1...levels).reduce([]) { |inner,| [inner] } }
    assert_equal [nested.call(999)], Parallel.map("\x00", processes: 1) { nested.call(999) }
    error = assert_raises(::TypeError) { Parallel.map("\x00\x01", processes: 1) { |n| n == 1 ? nested.call(1_000) : n } }
    assert_equal [1, 1], [error.index, error.offset]
  end

  def test_a_result_that_cannot_be_packed
    [Object.new, 2**64, [1, { a: -> {} }]].each do |result|
      error = assert_raises(::TypeError) { Parallel.map("\x00\x01\x02", processes: 2) { |n| n == 1 ? result : n } }
      assert_match(/\Athe result cannot be packed for the process that waits for it: .+\z/, error.message)
      assert_equal [1, 1], [error.index, error.offset]
      refute_nil error.cause
    end
  end

  # --- errors

  class Full < StandardError
    attr_reader :limit

    def initialize(limit, extra)
      super("full at #{limit}")
      @limit = limit
      @extra = extra
    end
  end

  class Telling < IOError
    def initialize(list)
      super()
      @list = list
    end

    def message = "#{@list.size} are wrong"
  end

  class Mute < StandardError
    def message = raise("nothing to say")
  end

  def test_errors_as_they_were_raised
    error = raised(Full) { raise Full.new(7, [1]) }
    assert_equal ["full at 7", 7, [1]], [error.message, error.limit, error.instance_variable_get(:@extra)]
    error = raised(KeyError) { {}.fetch(:a) }
    assert_equal :a, error.key
    assert_equal 4, raised(SystemExit) { exit(4) }.status
    assert_equal "uncaught throw :out", catch(:out) { raised(UncaughtThrowError) { throw :out } }.message
    raised(LocalJumpError) { break 1 } # rubocop:disable Lint/UnreachableLoop
    raised(NoMemoryError) { raise NoMemoryError }
    raised(Interrupt) { raise Interrupt }
    raised(SystemStackError) { (deeper = ->(n) { deeper.call(n + 1) + 1 }).call(0) }
  end

  def test_errors_that_marshal_cannot_carry
    error = raised(Full) { raise Full.new(7, -> {}) }
    assert_equal ["full at 7", nil], [error.message, error.limit]
    error = raised(Telling) { raise Telling.new([1, 2, -> {}]) }
    assert_equal "3 are wrong", error.message
    error = raised(IOError) { raise Class.new(IOError), "closed" }
    assert_equal "an error of an anonymous class: closed", error.message
    error = raised(IOError) { raise Object.const_set(:OnlyInTheWorker, Class.new(IOError)), "closed" }
    assert_equal "OnlyInTheWorker: closed", error.message
    assert_equal "#{Mute}, whose message raises RuntimeError", raised(Mute) { raise Mute.new.tap { |mute| mute.instance_variable_set(:@a, -> {}) } }.message
  end

  def test_causes
    error = raised(IOError) do
      Integer("x")
    rescue ArgumentError
      begin
        raise Full.new(1, -> {})
      rescue Full
        raise IOError, "last"
      end
    end
    assert_equal [Full, "full at 1", ArgumentError], [error.cause.class, error.cause.message, error.cause.cause.class]
    assert_nil error.cause.cause.cause
    [error, error.cause, error.cause.cause].each { |one| assert_match(/#{File.basename(__FILE__)}:\d+/, one.backtrace.join("\n")) }
  end

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

  def test_an_error_that_has_many_causes
    error = assert_raises(IOError) do
      Parallel.map("\x01", processes: 1) do
        600.times.inject(nil) { |cause, i| raise IOError, "no. #{i}", cause: cause rescue $! }.then { |last| raise last } # rubocop:disable Style/RescueModifier
      end
    end
    assert_equal ["no. 599", "no. 598"], [error.message, error.cause.message]
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

  def test_somebody_else_who_waits_for_children
    [-> { Process.wait(-1) }, -> { Process.detach(Process.wait) }].each do |wait|
      waiting = Thread.new { loop { wait.call rescue Thread.pass } } # rubocop:disable Style/RescueModifier
      assert_equal [*0...200], Parallel.map(NUMBERS, processes: 2) { |n| n }
      assert_raises(Parallel::DeadWorker) { Parallel.map(NUMBERS, processes: 2) { |n| n == 9 ? exit!(3) : n } }
    ensure
      waiting.kill.join
      (Thread.list - @threads).grep(Process::Waiter).each(&:join) # of detach, above
    end
  end

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

  # --- a source whose other end the parent has

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
    worker.define_singleton_method(:read) { super().tap { has_read << true && sleep(0.05) } }
    listener = Thread.new { IO.select([worker]) && worker.each_outcome { nil } }
    has_read.pop
    listener.kill.join
    worker.interrupt
    assert_equal "e", reader.read
  ensure
    worker.kill
    reader.close
  end

  def test_work_that_will_not_be_interrupted_is_killed
    work = ->(n) { n.zero? ? 0 : Thread.handle_interrupt(Object => :never) { sleep } }
    started = now
    Parallel.each("\x00\x01", map: work, processes: 2) { sleep(0.05) && break }
    assert_operator now - started, :<, 30
  end

  # --- the parent's own

  def test_what_the_parent_does_at_its_end_workers_do_not
    assert_program <<~RUBY, "written\nworker said\n[2, 3]\nonce\nat_exit"
      require "tempfile"
      file = Tempfile.create("manypack")
      at_exit { puts "at_exit" }
      $stdout.sync = false
      print "written\\n"
      file.write("once")
      p Manypack::Parallel.map("\\x01\\x02", processes: 2) { |n| n == 1 && print("worker said\\n"); n + 1 }
      file.close
      puts File.read(file.path)
      File.unlink(file.path)
    RUBY
  end

  def test_signal_handlers_stay_those_of_the_parent
    assert_program <<~RUBY, "[:INT, :TERM]"
      CALLED = []
      %i[INT TERM].each { |name| trap(name) { CALLED << name } }
      Manypack::Parallel.map("\\x01\\x02", processes: 2) { |n| n }
      Manypack::Parallel.each("\\x01\\x02\\x03" * 50, processes: 2, map: ->(n) { n }) { break }
      %i[INT TERM].each { |name| Process.kill(name, Process.pid) && sleep(0.05) }
      p CALLED
    RUBY
  end

  # Of the whole process group, as a terminal does it; and of the parent alone.
  def test_ctrl_c_ends_all
    [-> (pid) { Process.kill(:INT, -pid) }, ->(pid) { Process.kill(:TERM, pid) }, ->(pid) { Process.kill(:KILL, pid) }].each do |signal|
      reader, writer = IO.pipe
      program = 'puts Process.pid; $stdout.flush; Manypack::Parallel.each("\x00\x01".b * 9, processes: 2, map: ->(n) { puts $$; $stdout.flush; sleep }) { }'
      pid = Process.spawn(RbConfig.ruby, "-W0", "-I", LIB, "-r", "manypack", "-e", program, out: writer, err: File::NULL, pgroup: true)
      writer.close
      3.times { reader.gets }
      signal.call(pid)
      Process.wait(pid)
      assert_nil Timeout.timeout(10) { reader.gets } # everybody who could write has ended
    ensure
      reader.close
    end
  end

  def test_a_ruby_without_fork
    assert_program <<~RUBY, "[NotImplementedError, true]\n[1]"
      Process.singleton_class.undef_method(:fork)
      begin
        Manypack::Parallel.map("\\x01", processes: 2) { |n| n }
      rescue NotImplementedError => error
        p [error.class, error.message.include?("processes: needs fork, which #{RUBY_PLATFORM} does not have; use ractors:")]
      end
      p Manypack::Parallel.map("\\x01", processes: 0) { |n| n }
    RUBY
  end

  # Nor what only unpacks: its results have to be unpacked here.
  def test_the_default_never_forks
    assert_program <<~RUBY, "[[2, 3], [1, 2]]"
      Process.singleton_class.prepend(Module.new { def fork = raise("forked") })
      p [Manypack::Parallel.map("\\x01\\x02") { |n| n + 1 }, Manypack::Parallel.each("\\x01\\x02", processes: 2).to_a]
    RUBY
  end

  private

  # What the block raises as the work on message 1 of 3; it comes after the result of message 0.
  def raised(error_class, &block)
    seen = []
    error = assert_raises(error_class) { Parallel.each("\x00\x01\x02", map: ->(n) { n == 1 ? block.call : n }, processes: 2) { |n| seen << n } }
    assert_instance_of error_class, error
    assert_kind_of Parallel::Error, error
    assert_equal [[0], 1, 1], [seen, error.index, error.offset]
    assert_match(/#{File.basename(__FILE__)}:\d+/, error.backtrace.join("\n")) unless error_class == SystemStackError
    error
  end

  # Yields an object for on_worker_start:. Returns an e for each worker whose at_exit block ran.
  def said_at_exit
    reader, writer = IO.pipe
    yield ->(_) { at_exit { writer.write("e") } }
    writer.write("!") # there is something to read
    reader.readpartial(100).delete("!")
  ensure
    [reader, writer].each(&:close)
  end

  # The results of a run whose source ends when the parent closes its other end, after it got the first result.
  def ended_by_the_parent(reader, writer, bytes)
    Timeout.timeout(20) do
      writing = Thread.new { writer.write(bytes) }
      start = Thread::Queue.new
      closing = Thread.new { start.pop && writing.join && writer.close }
      Parallel.each(reader, map: ->(n) { n }, processes: 2).map { |n| n.tap { start << true } }.tap { closing.join }
    end
  end

  # A process that says it is ready, and has nothing to do but to call the block when it is interrupted.
  def idle_worker
    Parallel.const_get(:WorkerProcess).new([]) do |_jobs, outcomes|
      Parallel.const_get(:Frame).write(outcomes, [], "")
      sleep
    ensure
      yield
    end
  end

  def piped(bytes)
    reads = bytes.scan(/.{1,20}/mn)
    Object.new.tap { |io| io.define_singleton_method(:readpartial) { |_| reads.shift || raise(EOFError) } }
  end

  def open_files
    Dir.children("/dev/fd").size
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

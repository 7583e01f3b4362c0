# frozen_string_literal: true

# How user code leaves the block of Parallel, by break, exit or StopIteration: the same with every kind of worker.
require "test_helper"
require "stringio"
require "support/no_ractors"
require "tempfile"

class ParallelControlTest < Minitest::Test
  include NoRactors

  Parallel = Manypack::Parallel

  WAYS = [{ ractors: 0 }, { ractors: 2 }, { processes: 0 }, { processes: 2 }].freeze
  NUMBERS = (0...100).map { |i| Manypack.pack(i) }.join.freeze

  def teardown
    assert_no_ractors
    assert_raises(Errno::ECHILD) { Process.wait }
  end

  unless Ractor.const_defined?(:Port) # with which a pool needs no pipe
    def test_a_signal_is_written_again_while_the_collector_has_locked_its_bytes
      answers = [Errno::EFAULT, Errno::EFAULT, 8]
      pipe = Object.new
      pipe.define_singleton_method(:syswrite) { |bytes| (answer = answers.shift).is_a?(Integer) ? (@written = bytes) : raise(answer) }
      Parallel.const_get(:Transport).signal(pipe, 3, 1)
      assert_equal [[3, 1].pack("LL"), []], [pipe.instance_variable_get(:@written), answers]
    end
  end

  # --- break, next, return, throw

  def test_break_ends_map_with_its_value
    each_way do |workers|
      assert_equal [7, :x], Parallel.map(NUMBERS, **workers) { |n| n == 7 ? (break [n, :x]) : n }
      assert_nil Parallel.map(NUMBERS, **workers) { |n| break if n == 99 }
      assert_equal :first, Parallel.map(NUMBERS, ordered: false, **workers) { break :first } # rubocop:disable Lint/UnreachableLoop
    end
  end

  def test_break_ends_filter_after_what_came_before
    each_way do |workers|
      output = StringIO.new("".b)
      assert_equal :done, Parallel.filter(NUMBERS, output, **workers) { |n| n == 3 ? (break :done) : n }
      assert_equal "\x00\x01\x02", output.string
    end
  end

  # A break of a loop in the block, of another block, and of a method that the block of map calls.
  def test_break_that_belongs_to_something_else
    each_way do |workers|
      assert_equal [*0...100], Parallel.map(NUMBERS, **workers) { |n| [n, 200].each { |one| break one } }
      error = assert_raises(LocalJumpError) { Parallel.map("\x01", **workers) { proc { break 1 }.then { |other| other.call } } }
      assert_match(/break from proc-closure/, error.message)
      assert_raises(LocalJumpError) { Parallel.each("\x01", map: proc { break 1 }, **workers).to_a }
    end
  end

  def test_next_is_the_result
    each_way { |workers| assert_equal [1, 0], Parallel.map("\x00\x01", **workers) { |n| n.zero? ? (next 1) : 0 } }
  end

  def test_return_and_throw_do_not_leave_a_worker
    [{ ractors: 2 }, { processes: 2 }].each do |workers|
      error = assert_raises(LocalJumpError) { returning("\x00\x01", workers) }
      assert_equal 0, error.index
      assert_raises(UncaughtThrowError) { catch(:out) { Parallel.map("\x00\x01", **workers) { throw :out, 5 } } }
    end
    assert_equal :returned, returning("\x00\x01", { ractors: 0 })
    assert_equal 5, catch(:out) { Parallel.map("\x00\x01", ractors: 0) { throw :out, 5 } }
  end

  def test_exit_and_abort_are_raised_in_the_caller
    each_way do |workers|
      assert_equal 4, assert_raises(SystemExit) { Parallel.map("\x01", **workers) { exit(4) } }.status
      assert_equal 1, assert_raises(SystemExit) { Parallel.map("\x01", **workers) { abort } }.status
    end
  end

  # --- StopIteration, which ends Kernel#loop

  def test_stop_iteration_of_the_block
    each_way do |workers|
      stop = ->(n) { n == 50 ? raise(StopIteration, "mine") : n }
      fronts = [-> { Parallel.map(NUMBERS, **workers) { |n| n == 50 ? raise(StopIteration, "mine") : n } },
                -> { Parallel.filter(NUMBERS, StringIO.new("".b), **workers) { |n| n == 50 ? raise(StopIteration, "mine") : n } },
                -> { Parallel.each(NUMBERS, map: stop, **workers).to_a }]
      fronts = fronts.last(1) << -> { Parallel.map(NUMBERS, ordered: false, **workers, &stop) } if workers.key?(:ractors)
      fronts.each { |front| assert_equal ["mine", 50], assert_raises(StopIteration, &front).then { |error| [error.message, error.index] } }
      assert_raises(StopIteration) { Parallel.each(NUMBERS, **workers) { raise StopIteration } }
    end
  end

  def test_stop_iteration_of_the_source
    io = Class.new { def readpartial(_) = raise(StopIteration, "mine") }
    each_way do |workers|
      assert_raises(StopIteration) { Parallel.map(io.new, **workers) { |n| n } }
      assert_raises(StopIteration) { Parallel.map(Enumerator.new { raise StopIteration, "mine" }, **workers) { |n| n } }
    end
  end

  # The run has to stop, and waits for a worker that is dead.
  def test_stop_iteration_beside_a_dead_worker
    5.times do
      work = lambda do |n|
        exit!(3) if n == 2
        n == 1 ? raise(StopIteration) : n
      end
      assert_raises(StopIteration, Parallel::DeadWorker) { Parallel.map(NUMBERS, processes: 2, ordered: false, &work) }
    end
  end

  # The other fronts that call user code.
  def test_stop_iteration_of_blocks_and_ios_elsewhere
    io = Class.new { def readpartial(_) = raise(StopIteration) }
    Tempfile.create("manypack", binmode: true) do |file|
      file.write(NUMBERS)
      file.close
      fronts = { "Unpacker#each" => -> { Manypack::Unpacker.new.feed(NUMBERS).each { raise StopIteration } },
                 "feed_each" => -> { Manypack::Unpacker.new.feed_each(NUMBERS) { raise StopIteration } },
                 "an io" => -> { Manypack::Unpacker.new(io.new).each { nil } },
                 "foreach" => -> { Manypack.foreach(file.path) { raise StopIteration } },
                 "split" => -> { Manypack.split(NUMBERS) { raise StopIteration } },
                 "View#each" => -> { Manypack::View.new("\x92\x01\x02".b).each { raise StopIteration } },
                 "Path#each" => -> { Manypack::Path.new("$[*]").each("\x92\x01\x02".b) { raise StopIteration } } }
      fronts.each { |name, front| assert_raises(StopIteration, name, &front) }
    end
  end

  # `loop` would end silently.
  def test_no_loop_in_the_library
    Dir[File.expand_path("../../{lib,exe}/**/*", __dir__)].select { |path| File.file?(path) && !path.end_with?(".so") }.each do |path|
      refute_match(/^[^#\n]*\bloop (?:do|\{)/, File.read(path, encoding: "UTF-8"), path)
    end
  end

  # --- on_worker_start

  def test_on_worker_start_runs_in_each_worker
    each_way do |workers|
      count = [workers.values.first, 1].max
      results = Parallel.map(NUMBERS, on_worker_start: ->(number) { Thread.current[:number] = number }, **workers) { Thread.current[:number] }
      assert_empty results - [*0...count]
      assert_equal 100, Parallel.each(NUMBERS, on_worker_start: ->(_) {}, **workers).count
      assert_equal 100, Parallel.filter(NUMBERS, StringIO.new("".b), on_worker_start: ->(_) {}, **workers) { |n| n }
    end
  end

  def test_a_string_starts_no_more_workers_than_it_has_messages
    ["\x01", "\x01\x02"].each do |messages|
      before = Ractor.count # Ractors of other runs may still be there
      assert_operator Parallel.map(messages, ractors: 4) { Ractor.count }.max, :<=, before + messages.size
    end
    assert_empty Parallel.map("", ractors: 4) { |n| n }
    started, starts = IO.pipe
    assert_equal [2, 3], Parallel.map("\x01\x02", processes: 4, on_worker_start: ->(number) { starts.syswrite(number) }, &:succ)
    starts.close
    assert_equal %w[0 1], started.read.chars.sort
  end

  def test_a_worker_that_cannot_start
    each_way do |workers|
      [NUMBERS, NUMBERS.each_char].each do |source|
        error = assert_raises(IOError) { Parallel.map(source, on_worker_start: ->(_) { raise IOError, "no connection" }, **workers) { flunk } }
        assert_equal "no connection", error.message
        refute_kind_of Parallel::Error, error
      end
      assert_raises(StopIteration) { Parallel.map(NUMBERS, on_worker_start: ->(_) { raise StopIteration }, **workers) { |n| n } }
    end
    assert_raises(Parallel::DeadWorker) { Parallel.map(NUMBERS, on_worker_start: ->(_) { exit!(3) }, processes: 2) { |n| n } }
    assert_raises(::TypeError) { Parallel.map(NUMBERS, on_worker_start: 5) { |n| n } }
    seen = []
    assert_raises(Ractor::IsolationError) { Parallel.map(NUMBERS, on_worker_start: ->(n) { seen << n }, ractors: 1) { |n| n } }
  end

  private

  def each_way(&block)
    WAYS.each(&block)
  end

  def returning(stream, workers)
    Parallel.map(stream, **workers) { return :returned } # rubocop:disable Lint/UnreachableLoop
  end
end

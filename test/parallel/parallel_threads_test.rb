# frozen_string_literal: true

# Parallel has Threads of its own, one that reads from the io, one that hears from the workers, and one for each process
# that something is sent to. However they end, the caller gets an error instead of waiting for ever.
require "test_helper"
require "stringio"
require "support/forks"
require "support/no_ractors"

class ParallelThreadsTest < Minitest::Test
  include NoRactors

  Parallel = Manypack::Parallel

  # What user code in an io may do to the Thread that it runs in, and what the caller of Parallel gets.
  ENDS = {
    "Thread.exit" => [-> { Thread.exit }, ThreadError], "Thread#kill" => [-> { Thread.current.kill }, ThreadError],
    "Thread.kill" => [-> { Thread.kill(Thread.current) }, ThreadError], "Thread#terminate" => [-> { Thread.current.terminate }, ThreadError],
    "a Thread that kills it" => [-> { Thread.current.then { |itself| Thread.new { itself.kill } } && sleep }, ThreadError],
    "a Thread that raises in it" => [-> { Thread.current.then { |itself| Thread.new { itself.raise(IOError, "elsewhere") } } && sleep }, IOError],
    "throw" => [-> { throw :out }, UncaughtThrowError], "break" => [-> { proc { break 1 }.call }, LocalJumpError],
    "Fiber.yield" => [-> { Fiber.yield }, FiberError], "exit" => [-> { exit(3) }, SystemExit], "Interrupt" => [-> { raise Interrupt }, Interrupt],
    "a signal" => [-> { raise SignalException, "TERM" }, SignalException], "StopIteration" => [-> { raise StopIteration }, StopIteration],
    "a closed Queue" => [-> { Thread::Queue.new.close.push(1) }, ClosedQueueError], "no StandardError" => [-> { raise NotImplementedError }, NotImplementedError],
    "deep recursion" => [-> { (deeper = ->(n) { deeper.call(n + 1) + 1 }).call(0) }, SystemStackError], "no memory" => [-> { raise NoMemoryError }, NoMemoryError],
    "an IOError" => [-> { raise IOError }, IOError], "Exception" => [-> { raise Exception }, Exception] # rubocop:disable Lint
  }.freeze

  # Answers messages of one byte, so many, and then ends.
  class Ending
    def initialize(answers, way)
      @answers = Array.new(answers) { |i| [i].pack("C") }
      @way = way
    end

    private

    def answer
      @answers.shift || @way.call
    end
  end

  class Partial < Ending
    def readpartial(_size) = answer
  end

  class ReadOnly < Ending
    def read(_size) = answer
  end

  def setup
    @threads = Thread.list
  end

  def teardown
    patience { (Thread.list - @threads).empty? } # killers that are on their way out
    assert_no_ractors
    assert_raises(Errno::ECHILD) { Process.wait }
  end

  def test_however_an_io_ends_its_thread_the_caller_gets_an_error_after_the_results
    ENDS.each do |name, (way, error_class)|
      [Partial, ReadOnly].product([0, 5], [1, 2], [true, false]).each do |io, answers, ractors, ordered|
        seen = []
        error = failure { Parallel.each(io.new(answers, way), ractors: ractors, ordered: ordered) { |n| seen << n } }
        assert_instance_of error_class, error, name
        assert_equal [*0...answers], seen.sort, name if error.is_a?(StandardError)
        assert_equal "the Thread that reads from #{io} was killed", error.message if error_class == ThreadError
      end
    end
  end

  def test_map_and_filter_tell_it_too
    [->(io) { Parallel.map(io, ractors: 1) { |n| n } }, ->(io) { Parallel.filter(io, StringIO.new("".b), ractors: 1) { |n| n } },
     ->(io) { Parallel.each(io, ractors: 1).to_a }].each do |call|
      assert_instance_of ThreadError, failure { call.call(Partial.new(2, -> { Thread.exit })) }
    end
  end

  def test_a_thread_that_is_killed_while_it_reads
    reader, writer = IO.pipe
    writer.write("\x01\x02")
    seen = []
    killer = Thread.new { patience { seen.size == 2 } && kill(parallels_threads { |thread| thread.backtrace.to_a.grep(/readpartial/).any? }) }
    assert_instance_of ThreadError, failure { Parallel.each(reader, ractors: 1) { |n| seen << n } }
    assert_equal [1, 2], seen
  ensure
    killer.join
    [reader, writer].each(&:close)
  end

  # Which have nothing to do then. The source never ends, so that nobody can be done before.
  def test_threads_that_are_killed_while_the_caller_is_at_work
    sources = [-> { Partial.new(0, -> { "\x01" }) }, -> { ReadOnly.new(0, -> { "\x01" }) }, -> { ["\x01"].cycle }]
    sources.product(Forks.without_impossible([{ ractors: 1 }, { ractors: 2 }, { processes: 2 }]), [1, 100]) do |source, workers, at|
      count = 0
      error = failure { Parallel.each(source.call, map: :succ.to_proc, **workers) { kill(parallels_threads) if (count += 1) == at } }
      assert_instance_of ThreadError, error
      assert_match(/\Athe Thread that .* was killed\z/, error.message)
    end
  end

  def test_a_listener_that_is_killed_or_gets_an_exception
    { ->(thread) { thread.kill } => ThreadError, ->(thread) { thread.raise(Interrupt) } => Interrupt, ->(thread) { thread.raise(IOError) } => IOError }.each do |way, error_class|
      [1, 2, 100].product(Forks.without_impossible([{ ractors: 2 }, { processes: 2 }])) do |at, workers|
        count = 0
        error = failure { Parallel.each(["\x01"].cycle, map: :succ.to_proc, **workers) { (count += 1) == at && parallels_threads.each(&way).each(&:join) } }
        assert_instance_of error_class, error
        role = workers[:ractors] ? /hears from the workers/ : /hears from the workers|sends to a worker process/
        assert_match(/\Athe Thread that (#{role}) was killed\z/, error.message) if error_class == ThreadError
      end
    end
  end

  # It waits for them as ever.
  def test_ractors_are_done_when_the_listener_is_killed_while_they_work
    started = now
    error = failure { Parallel.each(pack(0.1) + pack(0.5), ractors: 2, map: ->(s) { sleep(s) && s }) { |s| kill(parallels_threads) if s < 0.5 } }
    assert_instance_of ThreadError, error
    assert_no_ractors
    assert_operator now - started, :>=, 0.4
  end

  # Also in the moment when they start, and in whichever state they are.
  def test_threads_that_are_killed_at_any_time
    100.times do |i|
      killer = nil
      result = within_time do
        itself = Thread.current
        killer = Thread.new { (i * 20).times { Thread.pass } && kill(Thread.list - @threads - [itself, killer]) }
        Parallel.map(Partial.new(50, -> {}), ractors: 1) { |n| n }
      rescue ThreadError => e
        e.message
      end
      killer.join
      assert result == [*0...50] || result.to_s.match?(/\Athe Thread that .* was killed\z/), result.inspect
    end
  end

  def test_a_thread_that_may_not_be_interrupted_uses_parallel
    assert_equal [*0...5], within_time { Thread.handle_interrupt(Object => :never) { Parallel.map(Partial.new(5, -> {}), ractors: 1) { |n| n } } }
    assert_instance_of ThreadError, failure { Thread.handle_interrupt(Object => :never) { Parallel.map(Partial.new(5, -> { Thread.exit }), ractors: 1) { |n| n } } }
  end

  private

  # What the block raises.
  def failure
    within_time do
      yield
      nil
    rescue Exception => e # rubocop:disable Lint/RescueException
      e
    end
  end

  # The block's value, from a Thread that may take some time. Timeout would have Threads of its own.
  def within_time(&block)
    @caller = Thread.new(&block)
    @caller.join(20) || flunk("hung at #{@caller.backtrace.join("\n")}")
    @caller.value
  end

  # It sleeps, because on Ruby 3.1 a loop of Thread.pass can keep the Threads from running that it waits for.
  def patience
    started = now
    sleep(0.001) until yield || now - started > 20
    assert yield
  end

  # Those of Parallel, as soon as there is one that the block is true for.
  def parallels_threads(&block)
    block ||= ->(_) { true }
    found = []
    patience { (found = (Thread.list - @threads - [@caller, Thread.current]).select(&block)).any? }
    found
  end

  def kill(threads)
    threads.each(&:kill).each(&:join)
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

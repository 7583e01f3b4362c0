# frozen_string_literal: true

# However a call of Parallel ends, and whatever runs beside it, everything stops and nothing is kept.
require "test_helper"
require "parallel/workers"
require "support/forks"
require "support/program"

class ParallelStopTest < Minitest::Test
  include ProgramHelper
  include Workers

  def test_break_throw_and_raise_stop_everything
    each_way do |workers|
      assert_equal(:out, Parallel.each(NUMBERS, **workers) { |n| break :out if n == 3 })
      assert_equal(:thrown, catch(:out) { Parallel.each(piped(NUMBERS, 9), **workers) { |n| throw :out, :thrown if n == 3 } })
      assert_raises(Refused) { Parallel.each(StringIO.new(NUMBERS), **workers) { |n| raise Refused, n if n == 3 } }
      error = assert_raises(Refused) { Parallel.each([NUMBERS], **workers) { |n| raise Refused, n } }
      refute_kind_of Parallel::Error, error
      assert_no_ractors
    end
  end

  def test_an_interruption_while_the_io_is_left_stops_the_ractors_all_the_same
    io = Object.new
    io.define_singleton_method(:readpartial) do |_|
      sleep
    ensure
      sleep 0.3
    end
    thread = Thread.new { Parallel.map(io, ractors: 2) { |n| n } }
    thread.report_on_exception = false
    sleep 0.01 until Ractor.count == 3 && thread.stop?
    thread.raise(Refused, "one")
    sleep 0.1
    thread.raise(Refused, "two")
    assert_raises(Refused) { thread.join }
    100.times { sleep 0.02 if Ractor.count > 1 || (Thread.list - @threads).any? }
    assert_no_ractors
  end

  # However many exceptions come while workers are being ended, and wherever they find the run.
  def test_interruptions_in_a_row_lose_no_worker
    Forks.without_impossible([{ processes: 2 }, { ractors: 2 }]).each do |workers|
      25.times do |round|
        thread = Thread.new { Parallel.map(StringIO.new(NUMBERS), **workers) { |n| n } }
        thread.report_on_exception = false
        sleep round * 0.0005
        [-> { thread.raise(Refused, "one") }, -> { thread.raise(Refused, "two") }, -> { thread.kill }].each do |interrupt|
          interrupt.call
          sleep round % 5 * 0.0005
        end
        begin
          thread.join
        rescue Refused
          nil # or the Thread was killed, or had all results
        end
        assert_raises(Errno::ECHILD, "round #{round}") { Process.wait(-1, Process::WNOHANG) } if workers[:processes]
      end
    end
    100.times { sleep 0.02 if Ractor.count > 1 || (Thread.list - @threads).any? }
    assert_no_ractors
  end

  # The interruption comes right after a worker or a Thread of Parallel has started.
  STARTS = { "start_ractor" => { ractors: 2 }, "hears from" => { ractors: 2 }, "reads from" => { ractors: 2 },
             "hears from the worker" => { processes: 2 }, "sends to" => { processes: 2 } }.freeze

  def test_an_interruption_while_workers_start_loses_none_of_them
    starts = STARTS.select { |_, workers| Forks.without_impossible([workers]).any? }
    assert_program <<~'RUBY'.sub("STARTS", starts.inspect), starts.keys.map { |start| [start, :Refused, 1, 1, true].inspect }.join("\n")
      Refused = Class.new(StandardError)
      MAIN = Thread.current
      STATE = {}
      module Interrupting
        def start(role, *) = super.tap { Thread.current.raise(Refused) if Thread.current == MAIN && role.start_with?(STATE[:at]) }
        def start_ractor(*) = super.tap { Thread.current.raise(Refused) if STATE[:at] == "start_ractor" }
      end
      Manypack::Parallel.const_get(:Run)
      Manypack::Parallel.const_get(:ReportedThread).singleton_class.prepend(Interrupting)
      Manypack::Parallel.const_get(:Transport).prepend(Interrupting)
      open = -> { [GC.start, Dir.children("/dev/fd").size].last }
      STARTS.each do |start, workers|
        STATE[:at] = start
        reader, writer = IO.pipe
        writer.write("\x01")
        before = open.call
        error = (Manypack::Parallel.map(reader, **workers) { |n| n } rescue $!)
        100.times { sleep 0.02 if Ractor.count + Thread.list.size > 2 }
        p [start, error.class.name.to_sym, Ractor.count, Thread.list.size, open.call <= before]
      end
    RUBY
  end

  def test_a_block_in_a_ractor_can_be_interrupted_whatever_its_caller_masks
    interrupt = ->(_) { Thread.current.raise(IOError) && "masked" rescue "raised" } # rubocop:disable Style/RescueModifier
    assert_equal ["raised"], Thread.handle_interrupt(IOError => :never) { Parallel.each("\x01", map: interrupt, ractors: 1).to_a }
  end

  def test_a_clock_that_stands_still
    program = <<~RUBY
      module Process
        class << self
          alias real clock_gettime
          def clock_gettime(*arguments) = real(*arguments).floor(1)
        end
      end
      puts Manypack::Parallel.map("\\x01" * 3_000, ractors: 2) { |n| n }.sum
    RUBY
    assert_program program, "3000"
  end

  # As in Ruby 4.1, which refuses at_exit there. Parallel itself needs it only in processes.
  def test_at_exit_belongs_to_the_main_ractor
    assert_program <<~RUBY, '[[2, 3], Ractor::IsolationError, 1, Ractor::IsolationError]'
      MAIN = Ractor.current
      class Object
        private def at_exit(&block) = MAIN == Ractor.current ? block : raise(Ractor::IsolationError, "at_exit in a Ractor")
      end
      stream = "\x01\x02"
      error = (Manypack::Parallel.map(stream, ractors: 1) { |n| n > 1 ? at_exit {} : n } rescue $!)
      start = (Manypack::Parallel.map(stream, ractors: 1, on_worker_start: ->(_) { at_exit {} }) { |n| n } rescue $!)
      p [Manypack::Parallel.map(stream, ractors: 2) { |n| n + 1 }, error.class, error.index, start.class]
    RUBY
  end

  def test_a_timeout_stops_everything
    each_kind(2) do |workers|
      reader, writer = IO.pipe
      assert_raises(Timeout::Error) { Timeout.timeout(0.1) { Parallel.map(reader, **workers) { |n| n } } }
      assert_raises(Timeout::Error) { Timeout.timeout(0.1) { Parallel.map(pack(0.05) * 100, **workers) { |n| sleep(n) } } }
    ensure
      [reader, writer].each(&:close)
    end
  end

  AtFork = Class.new(StandardError)

  # Raises that in its thread, if it has one, before Process.fork.
  module RaiseAtFork
    class << self
      attr_accessor :thread
    end

    def fork(...)
      RaiseAtFork.thread&.raise(AtFork, "while it forks")
      super
    end
  end
  Process.singleton_class.prepend(RaiseAtFork) if Forks::POSSIBLE

  # Ruby 3.1's fork drops what waits to be raised in the Thread that calls it.
  def test_what_is_raised_in_the_caller_while_it_forks_ends_the_run
    Forks.without_impossible([{ processes: 2 }]).each do |workers|
      reader, writer = IO.pipe
      RaiseAtFork.thread = Thread.current
      assert_raises(AtFork) { Timeout.timeout(60) { Parallel.map(reader, **workers) { |n| n } } }
    ensure
      RaiseAtFork.thread = nil
      [reader, writer].each(&:close)
    end
  end

  def test_calls_inside_each_other_and_in_several_threads
    each_kind(2) do |outer|
      inner = outer.transform_values { 1 }
      threads = Array.new(3) do |i|
        Thread.new { Parallel.each(NUMBERS, map: ->(n) { n }, **outer).sum { |n| n < 2 ? Parallel.map(NUMBERS, **inner) { |m| m }.sum : i } }
      end
      assert_equal Array.new(3) { |i| (2 * 124_750) + (498 * i) }, threads.map(&:value)
    end
  end

  def test_nothing_is_kept
    each_kind(2) do |workers|
      times = workers[:ractors] ? 30 : 5
      work = -> { times.times { Parallel.each(NUMBERS, map: ->(n) { n }, **workers) { |n| break if n == 50 } } }
      2.times { work.call }
      3.times { GC.start }
      before = ObjectSpace.count_objects[:T_DATA]
      work.call
      3.times { GC.start }
      assert_operator ObjectSpace.count_objects[:T_DATA] - before, :<, times * 7
    end
  end
end

# frozen_string_literal: true

# Under a Fiber scheduler, other fibers go on while one waits for the bytes of a message.
require "test_helper"
require "socket"
require "timeout"

class FiberSchedulerTest < Minitest::Test
  # As little of a scheduler as reading and writing sockets takes: it waits by IO.select.
  class Scheduler
    def initialize
      @readable = {}
      @writable = {}
      @sleeping = {}
      @ready = []
    end

    def run
      until @readable.empty? && @writable.empty? && @sleeping.empty? && @ready.empty?
        ready = @ready
        @ready = []
        ready.each { |fiber| fiber.resume if fiber.alive? }
        timeout = @ready.empty? ? [@sleeping.values.min&.-(now), 1].compact.min.clamp(0, 1) : 0
        readable, writable, = IO.select(@readable.keys, @writable.keys, [], timeout)
        readable&.each { |io| @readable.delete(io).resume }
        writable&.each { |io| @writable.delete(io).resume }
        @sleeping.select { |_, wake| wake <= now }.each_key { |fiber| @sleeping.delete(fiber) && fiber.resume }
      end
    end
    alias close run

    def io_wait(io, events, _timeout)
      @readable[io] = Fiber.current if events.anybits?(IO::READABLE)
      @writable[io] = Fiber.current if events.anybits?(IO::WRITABLE)
      Fiber.yield
      events
    end

    def kernel_sleep(duration = nil)
      @sleeping[Fiber.current] = now + (duration || 0)
      Fiber.yield
    end

    def block(_blocker, timeout = nil)
      @sleeping[Fiber.current] = now + (timeout || 1)
      Fiber.yield
      true
    end

    def unblock(_blocker, fiber)
      @sleeping.delete(fiber)
      @ready << fiber
    end

    def fiber_interrupt(fiber, exception)
      @ready << Fiber.new(blocking: true) { fiber.raise(exception) }
    end

    def fiber(&block)
      Fiber.new(blocking: false, &block).tap(&:resume)
    end

    private

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end

  def test_fibers_write_while_another_one_reads
    log = scheduled do |events, here, there|
      Fiber.schedule do
        Manypack::Unpacker.new(here).each { |object| events << [:read, object] }
      end
      Fiber.schedule do
        3.times do |i|
          events << [:write, i]
          Manypack::Packer.new(there).write([i, "x" * 10]).flush
          sleep(0.005)
        end
        there.close
      end
    end
    assert_equal [0, 1, 2].flat_map { |i| [[:write, i], [:read, [i, "x" * 10]]] }, log
  end

  def test_a_message_that_comes_in_pieces_holds_nobody_up
    log = scheduled do |events, here, there|
      Fiber.schedule { events << Manypack::Unpacker.new(here).read }
      Fiber.schedule do
        Manypack.pack({ "a" => [1, 2] }).each_char do |byte|
          there.write(byte)
          events << :wrote
          sleep(0)
        end
      end
    end
    assert_equal [:wrote] * 6 + [{ "a" => [1, 2] }], log.sort_by { |event| event == :wrote ? 0 : 1 }
  end

  def test_one_shot_unpacking_of_an_io
    log = scheduled do |events, here, there|
      Fiber.schedule { events << Manypack.unpack(here) }
      Fiber.schedule { events << :meanwhile && there.write(Manypack.pack("m" * 1_000)) }
    end
    assert_equal [:meanwhile, "m" * 1_000], log
  end

  def test_two_fibers_do_not_read_from_one_unpacker_at_a_time
    log = scheduled do |events, here, there|
      unpacker = Manypack::Unpacker.new(here)
      Fiber.schedule { events << unpacker.read }
      Fiber.schedule do
        unpacker.read
      rescue RuntimeError => e
        events << e.message
      end
      Fiber.schedule { there.write("\x05") }
    end
    assert_equal ["Unpacker is in use by another call: give each Thread, Fiber and handler its own", 5], log
  end

  private

  # Runs what the block schedules, with both ends of a socket, and returns what that appended to the log.
  def scheduled
    log = []
    UNIXSocket.pair do |here, there|
      thread = Thread.new do
        Fiber.set_scheduler(Scheduler.new)
        yield log, here, there
      end
      assert thread.join(5), "the scheduler did not come to an end"
    end
    log
  end
end

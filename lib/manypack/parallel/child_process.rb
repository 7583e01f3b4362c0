# frozen_string_literal: true

# One worker process: how its parent starts it, talks to it and ends it, and what the process does around its work.

require_relative "process_loop"
require_relative "process_protocol"
require_relative "other_end"
require_relative "reported_thread"
require_relative "source"

module Manypack
  module Parallel
    class ChildProcess
      # How much a pipe holds, and how much is read from it at once.
      PIPE_BYTES = 1 << 18

      # The fcntl command that sets a pipe's size on Linux. With larger pipes, the sides wait for each other less often.
      F_SETPIPE_SZ = 1031

      # Seconds between checks of a process that is about to end.
      POLL = 0.01

      # Seconds after which a process notices that its parent was killed, unless it reads its next batch first.
      ORPHAN = 0.5

      # Forks a process, which calls the block with its pipes for jobs and outcomes. It inherits the pipes of +others+,
      # the processes that were started before, and closes them.
      def initialize(others, &work)
        own_jobs, @jobs = pipe
        @outcomes, own_outcomes = pipe
        parent = Process.pid
        inherited = [self, *others].flat_map(&:pipes)
        sources = Source.being_read
        @unpacker = Unpacker.new
        @frames = Thread::Queue.new
        @ready = @gone = false
        @pid = Process.fork { ChildProcess.run(parent, inherited, sources, own_jobs, own_outcomes, &work) }
      ensure
        [own_jobs, own_outcomes].each { |io| io&.close }
        pipes.each { |io| io&.close } unless @pid # there are too many processes or pipes, or fork is replaced
      end

      # Calls the block, which starts processes, in a Thread of its own. Up to Ruby 3.2, fork drops exceptions that are
      # pending in the Thread that calls it: a Timeout that expires while the caller forks would never end the run. All
      # processes share one Thread, because a Thread that ends while another one forks can hold a lock of Ruby's, as
      # docs/internals.md says.
      def self.starting
        outcome = Thread.new do
          yield
        rescue Exception => error # rubocop:disable Lint/RescueException -- the caller gets every error as it is
          error # not raised: Thread.abort_on_exception would raise it in the main Thread, too
        end.value
        raise outcome if outcome.is_a?(Exception)
      end

      # The body of the process. The work has a Thread of its own, so that it is outside the caller's catch blocks,
      # Fiber scheduler and Timeout. When it ends, the at_exit blocks that the work registered run, but not those of the
      # caller.
      #
      # parent:: a process id
      # inherited:: IOs to close
      # sources:: the objects that the parent's Runs read from
      def self.run(parent, inherited, sources, jobs, outcomes, &work)
        thread = nil
        done = false
        leave_after_at_exit_blocks { done }
        trap(:INT) { nil } # after a terminal's Ctrl-C, the parent ends its workers
        trap(:TERM) { thread&.kill || exit!(false) }
        inherited.each(&:close)
        thread = Thread.new do
          thread = Thread.current # TERM may come before Thread.new has returned
          Thread.handle_interrupt(Object => :immediate) do
            OtherEnd.close_copies(sources)
            work.call(jobs, outcomes) || true
          end
        end
        nil until thread.join(ORPHAN) || Process.ppid != parent
        done = !thread.alive? && !thread.value.nil?
      ensure
        thread&.alive? ? leave(false) : exit(done)
      end

      # Ruby runs at_exit blocks in reverse order: first those that the work registers, then this one, which exits
      # before those of the parent can run. A process that the work forks inherits this at_exit block, which does
      # nothing there. The given block returns the exit status.
      def self.leave_after_at_exit_blocks
        worker = Process.pid
        trap(:EXIT, "DEFAULT")
        at_exit { leave(yield) if Process.pid == worker }
      end

      # exit! does not write what the parent's files have buffered, and does not run the parent's finalizers.
      def self.leave(status)
        [$stdout, $stderr].each { |io| io.flush rescue nil } # rubocop:disable Style/RescueModifier
        exit!(status)
      end
      private_class_method :leave_after_at_exit_blocks, :leave

      # The reading end of its outcomes, for IO.select.
      def to_io = @outcomes

      # The parent's ends.
      def pipes = [@jobs, @outcomes]

      # Writes a Frame. Bytes may have to wait until the process reads, so a Thread writes them.
      def give(values, bytes, report)
        return write(values, bytes) if bytes.empty?

        @sender || Thread.handle_interrupt(Object => :never) { @sender = start_sender(report) }
        @frames << [values, bytes]
      end

      # Yields the outcomes that have arrived. Returns true if there may be more. The calling Thread can be
      # killed at any time; bytes that it has read are kept.
      def each_outcome(&block)
        Thread.handle_interrupt(Object => :never) { read_outcomes(&block) }
      end

      # Waits for the process to end, and returns how it ended, a String.
      def last_words
        reap unless @gone
        how = if @status&.signaled? then "was killed by SIG#{Signal.signame(@status.termsig)}"
              elsif @status&.exited? then "exited with status #{@status.exitstatus}"
              else "ended"
              end
        "worker process #{@pid} #{how}"
      end

      # Lets the process end when it has no more work. If it is idle, its pipe is empty and has room for NO_MORE.
      def close(idle)
        @sender&.kill&.join
        write(ProcessLoop::NO_MORE, "") if idle
        @jobs.close
      end

      # Interrupts the work, whose ensure clauses run. A process that is not ready yet is killed instead: it would
      # handle TERM with the parent's handler.
      def interrupt
        each_outcome { nil } unless @ready # reads whether it has become ready
        signal(@ready ? :TERM : :KILL) unless gone?
      end

      # Waits for the process to end, but no longer than +seconds+.
      def await_end(seconds)
        deadline = now + seconds
        until gone? || (left = deadline - now) <= 0
          readable = IO.select([@outcomes], nil, nil, [left, POLL].min)
          sleep(POLL / 10) if readable && arrived.nil?
        end
      end

      # Kills the process if it has not ended yet. The sending Thread may still exist if close was interrupted.
      def kill
        @sender&.kill&.join
        unless gone?
          signal(:KILL)
          reap
        end
        pipes.each(&:close)
      end

      private

      def pipe
        IO.pipe.each { |io| io.binmode.sync = true }.tap { |_, writer| widen(writer) }
      end

      def widen(writer)
        writer.fcntl(F_SETPIPE_SZ, PIPE_BYTES) if RUBY_PLATFORM.include?("linux")
      rescue SystemCallError
        nil # this user may not have pipes of that size
      end

      def start_sender(report)
        ReportedThread.start("sends to a worker process", report) do
          while (frame = @frames.pop)
            write(*frame)
          end
        end
      end

      # Interrupts are handled between two pieces, so that a long Frame does not delay them.
      def read_outcomes
        ended = gone? # checked before reading: if so, the reads below get all that is left
        while (piece = arrived).is_a?(String)
          @unpacker.feed_each(piece) do |outcome, results|
            outcome.empty? ? @ready = true : yield(outcome, results)
          end
          Thread.handle_interrupt(Object => :immediate) { nil }
        end
        piece == :wait_readable && !ended
      end

      # Returns bytes that have arrived; :wait_readable if there are none, nil at the end. Unlike other reads of Ruby,
      # this one raises an error after a signal.
      def arrived
        @outcomes.read_nonblock(PIPE_BYTES, exception: false)
      rescue Errno::EINTR
        retry
      end

      def write(values, bytes)
        Frame.write(@jobs, values, [bytes])
      rescue Errno::EPIPE
        nil # the process ended, and the listener will notice
      end

      def signal(name)
        Process.kill(name, @pid)
      rescue Errno::ESRCH
        nil # the process has just ended, and other code has waited for it
      end

      def gone?
        reap(Process::WNOHANG) unless @gone
        @gone
      end

      # Other code may have waited for the process already.
      def reap(flags = 0)
        pid, @status = Process.wait2(@pid, flags)
        @gone = true if pid
      rescue Errno::ECHILD
        @gone = true
      end

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end
    end
    private_constant :ChildProcess
  end
end

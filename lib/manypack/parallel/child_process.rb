# frozen_string_literal: true

# One worker process: how its parent starts it, talks to it and ends it, and what the process does around its work.

require_relative "process_protocol"
require_relative "other_end"
require_relative "reported_thread"
require_relative "source"

module Manypack
  module Parallel
    class ChildProcess
      # How much a pipe holds, and how much is read from it at once.
      PIPE_BYTES = 1 << 18

      # Asks Linux for such pipes: the fewer pieces, the less often both sides wait for each other.
      F_SETPIPE_SZ = 1031

      # Seconds between looks at a process that is about to end.
      POLL = 0.01

      # Seconds after which a process sees that its parent was killed, unless it comes to its next batch first.
      ORPHAN = 0.5

      # Forks a process, which calls the block with its pipes for jobs and outcomes. It inherits the pipes of the
      # others, the processes that were started before, and closes them.
      def initialize(others, &work)
        own_jobs, @jobs = pipe
        @outcomes, own_outcomes = pipe
        parent = Process.pid
        inherited = [self, *others].flat_map(&:pipes)
        sources = Source.being_read
        @pid = Process.fork { ChildProcess.run(parent, inherited, sources, own_jobs, own_outcomes, &work) }
        @unread = String.new
        @chunk = String.new
        @frames = Thread::Queue.new
        @ready = @gone = false
      rescue SystemCallError # there can be no more processes, or pipes
        pipes.each { |io| io&.close }
        raise
      ensure
        [own_jobs, own_outcomes].each { |io| io&.close }
      end

      # The body of the process. The work has a Thread of its own, outside of whatever the caller is in: catch blocks,
      # a Fiber scheduler, a Timeout. At its end the at_exit blocks of the work run, but not those of the caller.
      #
      # parent:: a process id
      # inherited:: IOs to close
      # sources:: the objects that runs of the parent read from
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

      # Ruby runs at_exit blocks in reverse order: first those that the work registers, then this one, which leaves
      # before those of the parent can run. A process that the work forks inherits the block and is not affected. The
      # block returns the exit status.
      def self.leave_after_at_exit_blocks
        worker = Process.pid
        trap(:EXIT, "DEFAULT")
        at_exit { leave(yield) if Process.pid == worker }
      end

      # exit! neither writes what the parent has not written to its files yet nor runs its finalizers.
      def self.leave(status)
        [$stdout, $stderr].each { |io| io.flush rescue nil } # rubocop:disable Style/RescueModifier
        exit!(status)
      end
      private_class_method :leave_after_at_exit_blocks, :leave

      # The reading end of its outcomes, for IO.select.
      def to_io = @outcomes

      # The parent's ends.
      def pipes = [@jobs, @outcomes]

      # Writes a Frame. That may wait until the process has read, so a Thread does it if there are bytes.
      def give(values, bytes, report)
        return write(values, bytes) if bytes.empty?

        @sender ||= ReportedThread.start("sends to a worker process", report) do
          while (frame = @frames.pop)
            write(*frame)
          end
        end
        @frames << [values, bytes]
      end

      # Yields the outcomes that have arrived. Returns true if there may be more. The Thread that calls this can be
      # killed at any time, but not between reading something and noting it.
      def each_outcome(&block)
        Thread.handle_interrupt(Object => :never) { read_outcomes(&block) }
      end

      # Waits for its end, and returns how it ended, a String.
      def last_words
        reap unless @gone
        how = if @status&.signaled? then "was killed by SIG#{Signal.signame(@status.termsig)}"
              elsif @status&.exited? then "exited with status #{@status.exitstatus}"
              else "ended"
              end
        "worker process #{@pid} #{how}"
      end

      # Lets it end when it has no more work. If it is idle, its pipe is empty and has room for NO_MORE.
      def close(idle)
        @sender&.kill&.join
        write(ProcessLoop::NO_MORE, "") if idle
        @jobs.close
      end

      # Ends its work, whose ensure clauses run. Before it is ready it would run the parent's signal handler.
      def interrupt
        each_outcome { nil } # it may just have become ready
        Process.kill(@ready ? :TERM : :KILL, @pid) unless gone?
      end

      # Waits for its end, but no longer than that.
      def await_end(seconds)
        deadline = now + seconds
        until gone? || (left = deadline - now) <= 0
          readable = IO.select([@outcomes], nil, nil, [left, POLL].min)
          sleep(POLL / 10) if readable && read.nil?
        end
      end

      # Ends it if it has not ended yet.
      def kill
        unless gone?
          Process.kill(:KILL, @pid)
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
        nil # beyond what this user may have
      end

      def read_outcomes
        ended = gone? # whatever it wrote can be read then
        chunk = read
        return false if chunk.nil?
        return !ended if chunk == :wait_readable

        @unread << chunk
        while (outcome, results = Frame.take(@unread))
          outcome.empty? ? @ready = true : yield(outcome, results)
        end
        true
      end

      # Returns what has arrived, in a buffer that is used again; :wait_readable or nil.
      def read
        @outcomes.read_nonblock(PIPE_BYTES, @chunk, exception: false)
      end

      def write(values, bytes)
        Frame.write(@jobs, values, bytes)
      rescue Errno::EPIPE
        nil # it ended, and who listens will know
      end

      def gone?
        reap(Process::WNOHANG) unless @gone
        @gone
      end

      # Somebody else may have waited for it already.
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

# frozen_string_literal: true

# A Thread that cannot end unnoticed.
module Manypack
  module Parallel
    module ReportedThread
      # Starts a Thread that calls the block, and reports its end, whatever ends it: the return of the block, an
      # exception, Thread.exit, or Thread#kill from anywhere, even before the Thread first runs. Callers keep it while
      # they mask interrupts: one in between would lose the Thread, which runs on.
      #
      # role:: what the Thread does, for the message of the error
      # report:: an object with +call+, which the Thread calls last: with nil after its work, with the exception that
      #          ended it, or with a ThreadError if it was killed
      def self.start(role, report, &work)
        # A new Thread inherits the interrupt mask of its creator, so nothing can end it before it is inside ensure.
        Thread.handle_interrupt(Object => :never) do
          Thread.new { run(ThreadError.new("the Thread that #{role} was killed"), report, &work) }
        end
      end

      def self.run(killed, report, &work)
        error = killed
        Thread.handle_interrupt(Object => :immediate, &work)
        error = nil
      rescue Exception => e # rubocop:disable Lint/RescueException -- reported, and raised in the caller's Thread
        error = e
      ensure
        report.call(error)
      end
      private_class_method :run
    end
    private_constant :ReportedThread
  end
end

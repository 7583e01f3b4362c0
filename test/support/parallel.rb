# frozen_string_literal: true

# Runs the test classes in as many processes as there are processors, as `rake test` does. The same seed gives each
# process the same tests in the same order; NCPU=1 runs all of them in one process. Classes that measure time or memory
# come after the others, alone.
require "etc"
require "minitest/parallel_fork"

ENV["NCPU"] ||= ENV["MANYPACK_FORK"] == "no" ? "1" : Etc.nprocessors.to_s

module MeasuredAlone
  def parallel_fork_setup_children(suites, reporter, options)
    alone, together = suites.partition { |suite| defined?(Costs) && suite.include?(Costs) }
    @alone = -> { parallel_fork_run_test_suites(alone, reporter, options) }
    super(together, reporter, options)
  end

  # Reaps the processes, too: tests look whether theirs have left a zombie.
  def parallel_fork_wait_for_children(children, reporter)
    super
    children.each { |pid, _| Process.wait(pid) }
    @alone.call
  end
end

# With -v a test has a line when it begins, and another when it ends: a test that never ends has only the first. Each
# line is one write, since several processes share the output.
module WholeLines
  def prerecord(klass, name)
    options[:verbose] ? io.write("#{klass.name}##{name} = \n") : super
  end

  def record(result)
    return super unless options[:verbose]

    io.write(format("%s#%s = %.2f s = %s\n", result.class_name, result.name, result.time, result.result_code))
  end
end

Minitest.singleton_class.prepend(MeasuredAlone)
Minitest::ProgressReporter.prepend(WholeLines)
Minitest.on_parallel_fork_marshal_failure { abort "A process of the tests has ended before its tests did." }

# frozen_string_literal: true

# Counts what a process reaches of lib/, and has it written down when the process ends, also by exit!, which ends workers:
# tools/coverage.rb requires this in each Ruby that the tests start. MANYPACK_COVERAGE is the folder of the counts.
require "coverage"

module CountCoverage
  LIB = File.expand_path("../../lib", __dir__)

  # gcov writes the counts of C when a process runs its exit handlers: exit! runs none.
  def self.write_c
    require "fiddle"
    library = $LOADED_FEATURES.grep(%r{manypack/manypack\.so\z}).first or return
    Fiddle::Function.new(Fiddle.dlopen(library)["__gcov_dump"], [], Fiddle::TYPE_VOID).call
  rescue LoadError
    warn "What worker processes reach of C does not count: gem install fiddle"
  end

  def self.write_ruby
    ours = Coverage.peek_result.select { |path, _| path.start_with?(LIB) }
    path = File.join(ENV.fetch("MANYPACK_COVERAGE"), "#{Process.pid}-#{Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)}")
    File.binwrite("#{path}.part", Marshal.dump(ours))
    File.rename("#{path}.part", path) # a process that is killed while it writes leaves no counts
  rescue StandardError, NoMemoryError # a test has taken what this needs
  end

  def exit!(status = false)
    CountCoverage.write_ruby
    CountCoverage.write_c
    super
  end
end

Coverage.start(lines: true, branches: true)
Process.singleton_class.prepend(CountCoverage)
Object.prepend(CountCoverage.dup.tap { |of_objects| of_objects.send(:private, :exit!) }) # before Kernel#exit!
at_exit { CountCoverage.write_ruby }

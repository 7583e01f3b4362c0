# frozen_string_literal: true

# Something that is measured: what is done, with what, how often, and what shows that it was done.
class Operation
  # @return [String]
  attr_reader :name

  # @param name [String]
  def initialize(name)
    @name = name
  end

  # @param contender [Module]
  # @return [Boolean] whether the contender offers it
  def supported?(contender)
    raise NotImplementedError
  end

  # @return [Object] what {#repeat} needs, made before the clock runs
  def argument(contender, payload)
    raise NotImplementedError
  end

  # The work itself.
  def repeat(contender, argument, times)
    raise NotImplementedError
  end

  # @return [Integer] nanoseconds of the processor until now, of whoever does the work
  def cpu_time
    Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
  end

  # @return [Integer] how many things one repetition handles
  def units(_payload)
    1
  end

  # Answers with the number of packed bytes for each of the units and, in :same, with what all contenders of one format
  # must have in common.
  #
  # @return [Hash, nil] nil if what comes back is not what went in
  def check(contender, payload)
    raise NotImplementedError
  end
end

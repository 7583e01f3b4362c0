# frozen_string_literal: true

# Measures how long a piece of work takes: warm-up, then the median of several rounds, by the monotonic clock.
module Stopwatch
  ROUNDS = 7
  WARM_UP = 0.2

  module_function

  # @param budget [Float] seconds to spend in all
  # @yield the work, often
  # @return [Float] seconds that one call takes
  def median(budget, &work)
    calls = [(budget * (1 - WARM_UP) / ROUNDS / warm_up(budget * WARM_UP, &work)).round, 1].max
    GC.start # the garbage of whoever was measured before is not this one's cost
    Array.new(ROUNDS) { time(calls, &work) / calls }.sort[ROUNDS / 2]
  end

  # @return [Float] seconds, from a fixed but unknown moment
  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # @api private
  def warm_up(budget, &work)
    calls = 1
    spent = time(calls, &work)
    spent += time(calls *= 2, &work) while spent < budget
    spent / (2 * calls - 1)
  end

  # @api private
  def time(calls)
    start = now
    while calls > 0
      yield
      calls -= 1
    end
    now - start
  end
end

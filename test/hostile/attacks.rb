# frozen_string_literal: true

# What the hostile tests measure by: the cost of an attack beside that of an honest message of the same size.
#
# HOSTILE_FIGURES=1   prints each ratio that was measured
require "test_helper"
require "support/program"
require_relative "messages"

module Attacks
  include HostileMessages
  include ProgramHelper

  # How much more than an honest message an attack may cost.
  RATIO_MAX = 10

  ROOT = File.expand_path("../..", __dir__)

  # Other work on the machine makes a measurement worse and never better: the best of three counts, after a single run
  # that is enough for a ratio far below.
  def assert_time(what, attack:, honest:, runs: 3, max: RATIO_MAX)
    cost, usual = seconds(1, attack, honest)
    ratio = cost / usual
    2.times do
      break if ratio < max / 2 || (ratio < max && runs == 1)

      cost, usual = seconds(runs, attack, honest)
      ratio = [ratio, cost / usual].min
    end
    figure(what, "x in time", ratio)
    assert_operator ratio, :<, max, what
  end

  # The least CPU time of some runs of each, by turns.
  def seconds(runs, *works)
    least = works.map { Float::INFINITY }
    runs.times do
      works.each_with_index do |work, i|
        GC.start
        before = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
        work.call
        least[i] = [least[i], Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - before].min
      end
    end
    least
  end

  # The most bytes that a piece of Ruby takes and its result holds, in a process of its own.
  def memory(program)
    Integer(run_ruby("print peak_growth { #{program} }"))
  end

  # The output of a program of Ruby's that has Manypack and our messages; a failure when it does not end well.
  def run_ruby(program, env = {})
    head = "# encoding: UTF-8\nrequire './test/hostile/messages'; include HostileMessages; include PeakMemory\n"
    libs = $LOAD_PATH.grep(/\A#{Regexp.escape(ROOT)}/).flat_map { |path| ["-I", path] }
    output_of(env, RbConfig.ruby, "-W0", *libs, stdin_data: head + program, chdir: ROOT)
  end

  def figure(what, unit, value)
    puts format("%-70s %10.3f %s", what, value, unit) if ENV["HOSTILE_FIGURES"]
  end
end

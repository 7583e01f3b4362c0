# frozen_string_literal: true

# An exception of another Thread, a Timeout or a throw, at every point where Ruby code goes on or a method or block
# begins: what was interrupted works afterwards, or says that it does not until it is reset.
#
# MANYPACK_FAULTS=all, or rake test:faults   at each point of the longest operations too, not only at some
require "test_helper"
require_relative "operations"

class EveryInterruptTest < Minitest::Test
  STEP = ENV["MANYPACK_FAULTS"] == "all" ? 1 : 13
  LONG = ["Path.new", "Path.all", "splice", "Record.new", "lazy Record"].freeze
  EVENTS = %i[line call b_call c_call].freeze
  ALONE = (Operations::NAMES - ["Parallel"]).freeze # workers are tested in test/parallel

  class Stop < Exception; end # rubocop:disable Lint/InheritException -- nobody rescues it in passing

  WAYS = { "raise" => -> { raise Stop }, "throw" => -> { throw :stop } }.freeze

  WAYS.each do |way, stop|
    ALONE.each do |name|
      define_method("test_#{way}_in_#{name}") { each_point(LONG.include?(name) ? STEP : 1, *Operations.of(name), &stop) }
    end
  end

  private

  def each_point(step, make, work, use, good, &stop)
    nth = 1 + rand(step)
    begin
      object = make.call
      stopped = interrupted_at(nth, stop) { work.call(object) }
      assert_includes good, use.call(object), "interrupted at event #{nth}"
      nth += step
    end while stopped
  end

  # Returns whether there are that many events in the block.
  def interrupted_at(nth, stop)
    here = Thread.current
    left = nth
    trace = TracePoint.new(*EVENTS) do |event|
      next if event.method_id == :backtrace # Ruby asks for it while it raises, and does not survive an exception there

      stop.call if Thread.current == here && (left -= 1).zero?
    end
    catch(:stop) { trace.enable { yield } }
    left <= 0
  rescue Stop
    true
  end
end

# frozen_string_literal: true

# What one contender took for one operation of one case, in nanoseconds by every clock, round by round.
require_relative "statistics"

Measurement = Struct.new(:group, :name, :operation, :contender, :bytes, :objects, :wall, :cpu, :gc,
                         keyword_init: true) do
  # What counts: the processor's time, which a busy machine does not spoil.
  #
  # @return [Array<Float>]
  def times
    cpu
  end

  # @param other [Measurement] the same in another process
  # @return [Measurement] of both
  def +(other)
    dup.tap { |both| %i[wall cpu gc].each { |clock| both[clock] = self[clock] + other[clock] } }
  end

  # @return [Float]
  def median
    Statistics.median(times)
  end

  # @return [Hash{Symbol => Object}] for a file
  def rounded
    to_h.merge(%i[wall cpu gc].to_h { |clock| [clock, self[clock].map { |ns| ns.round(ns < 1000 ? 2 : 0) }] })
  end

  # @param base [Measurement]
  # @return [Statistics::Spread] how many times the base's time
  def ratio(base)
    Statistics.spread(times.zip(base.times).map { |mine, other| mine.fdiv(other) })
  end

  # @return [Array<Float>] without the collector's share
  def work
    cpu.zip(gc).map { |all, collecting| all - collecting }
  end
end

# frozen_string_literal: true

# One document through one contender: whether it comes back equal, its size, and how long each way takes.

require_relative "results"

class Trial
  # What is measured.
  WAYS = %w[unpack pack].freeze

  # @return [Module] see Contenders
  attr_reader :contender

  # @return [StandardError, nil] why the contender cannot carry the document
  attr_reader :error

  # @return [Integer, nil] bytes
  attr_reader :size

  # @param contender [Module]
  # @param document [Object]
  def initialize(contender, document)
    @contender = contender
    @document = document
    @calls = {}
    @samples = Hash.new { |samples, way| samples[way] = [] }
    @bytes = contender.pack(document)
    @size = @bytes.bytesize
    @equal = contender.unpack(@bytes) == document
  rescue StandardError => error
    @error = error
  end

  # @return [Boolean] whether what comes back is what went in
  def faithful?
    @equal ? true : false
  end

  # Warms up, and finds how many calls a sample has.
  #
  # @param way [String] of WAYS
  # @param seconds [Float] that a sample is to take
  def warm_up(way, seconds)
    calls = 1
    calls *= 2 while (taken = run(way, calls)) < seconds
    @calls[way] = [(calls * seconds / taken).round, 1].max
  end

  # Takes one sample.
  #
  # @param way [String] of WAYS
  def sample(way)
    GC.start # the garbage of whoever was measured before is not this one's cost
    @samples[way] << run(way, @calls.fetch(way)) / @calls.fetch(way)
  end

  # @param way [String] of WAYS
  # @return [Float] seconds for the document
  def time(way)
    Statistics.median(@samples.fetch(way))
  end

  # How far apart samples of the same thing are, without the highest and the lowest quarter.
  #
  # @param way [String] of WAYS
  # @return [Float] in times of the median
  def noise(way)
    sorted = @samples.fetch(way).sort
    (sorted[-1 - sorted.size / 4] - sorted[sorted.size / 4]) / time(way)
  end

  private

  # By the processor's clock: that other programs run in between is nobody's cost.
  def run(way, calls)
    contender, document, bytes = @contender, @document, @bytes
    started = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    if way == "pack"
      contender.pack(document) while (calls -= 1) >= 0
    else
      contender.unpack(bytes) while (calls -= 1) >= 0
    end
    Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - started
  end
end

# frozen_string_literal: true

# The same round trips in one Ractor and in several at a time.

require_relative "stopwatch"

class RactorRace
  ROUNDS = 3

  # @return [Module] see Contenders
  attr_reader :contender

  # @return [String, nil] the error that kept the contender from running in a Ractor
  attr_reader :error

  # @return [Float, nil] passes a second over all documents, by one Ractor and by all
  attr_reader :alone, :together

  # @param contender [Module]
  # @param documents [Array<Object>] shareable
  # @param ractors [Integer]
  def initialize(contender, documents, ractors)
    @contender = contender
    @documents = documents
    @ractors = ractors
  end

  # @param pass_time [Float] seconds that one pass over all documents takes, roughly
  # @param budget [Float] seconds
  # @return [self]
  def run(pass_time, budget)
    passes = [(budget / (2 * ROUNDS) / pass_time).round, 1].max
    @alone = rate(1, passes)
    @together = rate(@ractors, passes)
    self
  rescue Failed => error
    @error = error.message
    self
  end

  # A Ractor could not do it.
  class Failed < StandardError
  end
  private_constant :Failed

  private

  # Median of the rounds, so that one hiccup of the machine does not decide.
  def rate(ractors, passes)
    Array.new(ROUNDS) { ractors * passes / wall_time(ractors, passes) }.sort[ROUNDS / 2]
  end

  # From the first Ractor's start to the last one's end; the clock is the same for all of them.
  def wall_time(ractors, passes)
    running = Array.new(ractors) { start(passes) }
    spans = running.map { |ractor| value_of(ractor) }
    failure = spans.grep(String).first
    raise Failed, failure if failure

    spans.map(&:last).max - spans.map(&:first).min
  end

  def start(passes)
    Ractor.new(@contender, @documents, passes) do |contender, documents, count|
      documents.each { |document| contender.unpack(contender.pack(document)) == document || raise("not equal") }
      started = Stopwatch.now
      count.times { documents.each { |document| contender.unpack(contender.pack(document)) } }
      [started, Stopwatch.now]
    rescue StandardError => error
      error.instance_of?(RuntimeError) ? error.message : error.class.name
    end
  end

  # Ractor#value came with Ruby 4.0, where Ractor#take is gone.
  def value_of(ractor)
    ractor.respond_to?(:value) ? ractor.value : ractor.take
  end
end

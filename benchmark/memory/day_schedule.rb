# frozen_string_literal: true

# What comes to a server in an hour of its day: when, how large, and how long what was made of it is held. Each hour
# brings the same, so that what grows from one to the next is the process; each worker has an hour of its own.
class DaySchedule
  # One request: seconds into the hour, index of the message, seconds that the result is held.
  Request = Struct.new(:at, :message, :hold)

  RATE = 3.0 # requests a second and worker
  HOLD = 1.5 # seconds on average
  LONGEST_HOLD = 10.0

  # @param hour [Float] seconds
  # @param messages [Integer] how many there are to choose from
  # @param worker [Integer]
  def initialize(hour, messages, worker)
    @hour = hour
    @messages = messages
    @worker = worker
  end

  # @return [Array<Request>] in order of time
  def requests
    random = Random.new(392 + @worker)
    at = 0.0
    all = []
    while (at += exponential(random, 1 / RATE)) < @hour
      all << Request.new(at, random.rand(@messages), [exponential(random, HOLD), LONGEST_HOLD].min)
    end
    all
  end

  private

  def exponential(random, mean)
    -mean * Math.log(1 - random.rand)
  end
end

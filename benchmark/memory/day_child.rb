# frozen_string_literal: true

# The server: workers in threads and in Ractors take requests as they come, unpack them, hold what came out for a while,
# and answer with some of it packed. The main thread looks at the process's memory.

require_relative "day_schedule"
require_relative "messages_file"

class DayChild
  SAMPLES_PER_HOUR = 60
  LEAD = 1.0 # seconds until the first hour begins, for all to be ready

  # @param peer [Module] of Peers
  # @param input [String] path
  # @param hours [Integer]
  # @param hour [Float] seconds
  # @param threads [Integer] workers that are threads of the main Ractor
  # @param ractors [Integer] workers that are Ractors
  def initialize(peer, input:, hours:, hour:, threads:, ractors:)
    @peer = peer
    @messages = MessagesFile.read(input).freeze
    @hours = hours
    @hour = hour
    @threads = threads
    @ractors = ractors
  end

  # @return [Hash{Symbol => Object}] samples of seconds and resident bytes; what was resident at the end of each hour
  #   when all garbage was collected; requests that were answered
  def run
    start = DayChild.now + LEAD
    workers = start_workers(start)
    samples, collected = take_samples(start)
    answered = workers.sum { |worker| worker.respond_to?(:take) ? worker.take : worker.value }
    { samples: samples, collected: collected, answered: answered }
  end

  # @return [Float]
  def self.now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # The day of one worker. Returns how many requests it answered.
  def self.work(worker, peer, messages, hours, hour, start)
    requests = DaySchedule.new(hour, messages.size, worker).requests
    held = []
    answered = 0
    hours.times do |number|
      requests.each do |request|
        due = start + number * hour + request.at
        wait = due - now
        sleep(wait) if wait > 0
        held.reject! { |until_when, _| until_when <= due }
        object = peer.unpack(messages[request.message])
        held << [due + request.hold, [object, peer.pack(object)]]
        answered += 1
      end
    end
    answered
  end

  private

  def start_workers(start)
    work = Ractor.make_shareable([@peer, @messages, @hours, @hour, start])
    threads = Array.new(@threads) { |worker| Thread.new { DayChild.work(worker, *work) } }
    ractors = Array.new(@ractors) do |i|
      Ractor.new(@threads + i, work) { |worker, shared| DayChild.work(worker, *shared) }
    end
    threads + ractors
  end

  def take_samples(start)
    collected = []
    samples = Array.new(@hours * SAMPLES_PER_HOUR) do |i|
      wait = start + (i + 1) * @hour / SAMPLES_PER_HOUR - DayChild.now
      sleep(wait) if wait > 0
      [DayChild.now - start, ProcessMemory.resident].tap { collected << collect if ((i + 1) % SAMPLES_PER_HOUR).zero? }
    end
    [samples, collected]
  end

  # At the same moment of every hour the same is held: what is resident then and grows would be lost.
  def collect
    2.times { GC.start }
    ProcessMemory.resident
  end
end

# frozen_string_literal: true

# The instructions for each object that were recorded with one Ruby and one compiler: a file in benchmark/instructions.
require "json"
require_relative "contenders"
require_relative "payloads"

class RecordedInstructions
  # By how much a count may exceed the recorded one.
  TOLERANCE = 0.03

  # Each process has another seed of hashes, and with some the hashes of a map's keys fall together, which costs up to
  # 4 %: the least of so many processes is what counts.
  SEEDS = 5

  # What is counted for the record.
  CASES = ["messages/plain", "messages/structured", "classics/Twitter", "classics/Integers", "ext types/all three",
           "calls/skip", "calls/load of an io", "calls/feed_each", "calls/headers read",
           "calls/Unpacker.new, feed, read", "calls/write and write_to",
           *Payloads::Middle::ROWS.keys.map { |name| "middle/#{name}" }].freeze

  FOLDER = File.expand_path("../instructions", __dir__)

  def self.all
    Dir[File.join(FOLDER, "*.json")].sort.map { |path| new(File.basename(path, ".json")) }
  end

  # See Instructions.build.
  attr_reader :build

  def initialize(build)
    @build = build
  end

  def exist?
    File.exist?(path)
  end

  # Returns the instructions for each object, by case and operation.
  def counts
    data.fetch("instructions per object")
  end

  # Returns the line of the CHANGELOG that says why they grew, or nil.
  def reason
    data["grew because"]
  end

  # Returns the counts by the names that are in the file.
  def self.named(counts)
    counts.to_h { |(id, operation), dump| ["#{id}: #{operation}", dump.per_object.round(1)] }
  end

  # Counts in one process after another until enough is known.
  #
  # Yields the least counts so far, by the names that are in the file; the block returns whether they are enough.
  # Returns the least counts of at most SEEDS processes.
  def self.least(instructions)
    least = {}
    SEEDS.times do
      counts = instructions.count(Contenders::WithManypack, CASES)
      least.merge!(named(counts)) { |_name, *both| both.min }
      break if yield least
    end
    least
  end

  # Returns what grew too much since then, in words.
  def grown(counts)
    counts.filter_map do |name, now|
      "#{name}: #{self.counts[name]} -> #{now} instructions per object" if grown?(name, now)
    end
  end

  # Keeps the least that was ever recorded, so that many steps of 2 % do not pass unseen; but not of what grew too much.
  def write(counts, reason)
    counts = counts.to_h { |name, now| [name, grown?(name, now) ? now : [now, *best[name]].min] }
    File.write(path, "#{JSON.pretty_generate("grew because" => reason, "instructions per object" => counts)}\n")
  end

  private

  def best
    exist? ? counts : {}
  end

  def grown?(name, now)
    best.key?(name) && now > best[name] * (1 + TOLERANCE)
  end

  def path
    File.join(FOLDER, "#{build}.json")
  end

  def data
    @data ||= JSON.parse(File.read(path))
  end
end

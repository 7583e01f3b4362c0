# frozen_string_literal: true

# All rounds over all cases. Contestants take turns within a round, and the one that begins is another in every round,
# so that drift of the machine and the neighbour's heat hit all alike.

require "ruby-progressbar"
require_relative "languages"
require_relative "measurement"
require_relative "results"

class Race
  # @param contestants [Array<Contestant>]
  # @param rounds [Integer]
  # @param seconds [Float] of each sample
  # @param lock [String, nil] a file that is locked during each case
  def initialize(contestants, rounds, seconds, lock)
    @contestants = contestants
    @lock = lock
    @rounds = rounds
    @seconds = seconds
  end

  # @param cases [Array<Workload::Case>]
  # @return [Array<Measurement>]
  def run(cases)
    Languages.hand_out(cases, manypack)
    bar = ProgressBar.create(total: cases.size, format: "%t |%B| %c/%C %e", title: "measuring", output: $stderr)
    cases.flat_map do |one|
      bar.title = one.group
      alone { race(one) }.tap { bar.increment }
    end
  end

  private

  # Takes turns with whoever else measures.
  def alone
    return yield unless @lock

    File.open(@lock, File::RDWR | File::CREAT) do |file|
      file.flock(File::LOCK_EX)
      yield
    end
  end

  def race(one)
    able = one.operations.to_h { |operation| [operation.name, start(one, operation.name)] }
    (@rounds * (one.times_rounds || 1)).times do |round|
      able.each { |operation, measurements| lap(one.id, operation, measurements.rotate(round)) }
    end
    able.values.flatten(1).map(&:last)
  end

  def lap(id, operation, measurements)
    measurements.each do |contestant, measurement|
      times = contestant.ask("time", id, operation, @seconds)
      %i[wall cpu gc].zip(times) { |clock, ns| measurement[clock] << ns }
    end
  end

  # Those that offer the operation and give back what they were given, which JSON cannot with a binary.
  def start(one, operation)
    present = @contestants.select { |contestant| contestant.takes_part?(one.group) }
    checks = present.to_h { |contestant| [contestant, contestant.ask("check", one.id, operation)] }.compact
    raise "Manypack fails at #{operation} of #{one.id}" unless checks.key?(manypack)

    one.group == Workload::LANGUAGES ? understand(one.id, checks) : agree(one.id, checks)
    checks.map { |contestant, check| [contestant, measurement(one, operation, contestant, check)] }
  end

  def measurement(one, operation, contestant, check)
    Measurement.new(group: one.group, name: one.name, operation: operation, contender: contestant.label,
                    bytes: check["bytes"], objects: check["objects"], wall: [], cpu: [], gc: [])
  end

  def manypack
    @manypack ||= @contestants.find { |contestant| contestant.label == Results::BASE }
  end

  # Other languages have no such Integers and Floats: the bytes may differ, and what they mean may not.
  def understand(id, checks)
    others = checks.reject { |contestant, _| contestant == manypack }
    wrong = others.reject { |_, check| Languages.same?(id, check, manypack) }
    raise "#{id}: #{wrong.keys.map(&:label).join(", ")} changed it" if wrong.any?
  end

  # The same format is the same bytes.
  def agree(id, checks)
    of_one_format = checks.select { |contestant, _| contestant.label.match?(/Manypack|msgpack/) }
    ours, *others = of_one_format.map { |_, check| check["same"] }
    raise "#{id}: Manypack's bytes are not those of the msgpack gem" unless others.all?(ours)
  end
end

# frozen_string_literal: true

# All rounds over all cases. Contenders take turns within a round, and the one that begins is another in every round, so
# that drift of the machine and the neighbour's heat hit all alike.

require_relative "contender_process"
require_relative "contenders"
require_relative "results"
require_relative "workload"

class Race
  DRIFT = 1.1 # how many times as long the same work may take a second time
  TRIES = 4   # of a round

  # How many rounds were thrown away.
  attr_reader :thrown_away

  # processes:: the ContenderProcesses
  # seconds:: how long each sample takes
  def initialize(processes, rounds, seconds)
    @processes = processes
    @rounds = rounds
    @seconds = seconds
    @thrown_away = 0
  end

  def run(cases)
    require "ruby-progressbar" # which the processes do not need
    bar = ProgressBar.create(total: cases.size, format: "%t |%B| %c/%C %e", title: "measuring", output: $stderr)
    cases.flat_map do |one|
      bar.title = one.group
      race(one).tap { bar.increment }
    end
  end

  private

  def race(one)
    able = one.operations.to_h { |operation| [operation.name, start(one, operation.name)] }
    (@rounds * (one.times_rounds || 1)).times do |round|
      able.each { |operation, measurements| lap(one.id, operation, measurements.rotate(round)) }
    end
    able.values.flatten(1).map(&:last)
  end

  # A round. If the machine was loud, it is thrown away and run again; of TRIES such rounds the steadiest counts.
  def lap(id, operation, measurements)
    rounds = []
    TRIES.times do
      rounds << there_and_back(id, operation, measurements.map(&:first))
      break if drift(rounds.last) <= DRIFT
    end
    @thrown_away += rounds.size - 1
    measurements.zip(rounds.min_by { |round| drift(round) }) do |(_, measurement), samples|
      %i[wall cpu gc].zip(*samples) { |clock, *ns| measurement[clock] << ns.sum / ns.size }
    end
  end

  # Has each process do the same work twice, in one order and in its reverse. Returns the two samples of each.
  def there_and_back(id, operation, processes)
    there, back = [processes, processes.reverse].map do |order|
      order.map { |process| process.ask("time", id, operation, @seconds / 2.0) }
    end
    there.zip(back.reverse)
  end

  # How many times as long the processor took for the same work at another time, at the most.
  def drift(round)
    round.map { |samples| samples.map { |_wall, cpu, _gc| cpu }.minmax.reverse.reduce(:fdiv) }.max
  end

  # Those that offer the operation and give back what they were given, which JSON cannot with a binary.
  def start(one, operation)
    checks = @processes.to_h { |process| [process, process.ask("check", one.id, operation)] }.compact
    raise "Manypack fails at #{operation} of #{one.id}" unless checks.key?(manypack)

    agree(one.id, checks)
    checks.map { |process, check| [process, measurement(one, operation, process, check)] }
  end

  def measurement(one, operation, process, check)
    Measurement.new(group: one.group, name: one.name, operation: operation, contender: process.label,
                    bytes: check[:bytes], objects: check[:objects], wall: [], cpu: [], gc: [])
  end

  def manypack
    @manypack ||= @processes.find { |process| process.label == Results::BASE }
  end

  # The same format is the same bytes.
  def agree(id, checks)
    of_one_format = checks.select { |process, _| process.label.match?(/Manypack|msgpack/) }
    ours, *others = of_one_format.map { |_, check| check[:same] }
    raise "#{id}: Manypack's bytes are not those of the msgpack gem" unless others.all?(ours)
  end

  # What the process of a contender answers. It has one case at a time, so that none is measured in another's heap.
  class Work
    WARM_UP_NS = 30_000_000

    # workload:: the arguments of Workload.new
    def initialize(contender, workload:)
      @contender = contender
      @cases = Workload.new(**workload).cases
    end

    # Returns what Operation#check says, or nil if the contender does not offer the operation.
    def check(id, name)
      operation = operation(id, name)
      check = operation.check(@contender, payload(id)) if operation.supported?(@contender)
      check&.merge(objects: Payloads.count(payload(id)))
    end

    # Returns the nanoseconds of one operation, over about so many seconds: by the clock, of the processor, and of the
    # processor in the collector.
    def time(id, name, seconds)
      operation = operation(id, name)
      units = operation.units(payload(id))
      warm = (@warm[name] ||= warm_up(operation))
      GC.start
      repetitions = [(seconds * 1e9 / warm.expected).to_i, 1].max
      times = measure(repetitions, operation, warm.argument)
      warm.expected = times.first / repetitions
      times.map { |ns| ns / repetitions / units }
    end

    private

    # What an operation is called with, and about how many nanoseconds it takes.
    Warm = Struct.new(:argument, :expected)
    private_constant :Warm

    def operation(id, name) = @cases.fetch(id).operations.find { |one| one.name == name }

    def payload(id)
      return @payload if @current == id

      @current = id
      @warm = {}
      @contender.renew if @contender.respond_to?(:renew)
      @payload = @cases.fetch(id).payload
    end

    def warm_up(operation)
      argument = operation.argument(@contender, @payload)
      once = [measure(1, operation, argument).first, 1.0].max
      repetitions = [(WARM_UP_NS / once).to_i, 1].max
      Warm.new(argument, measure(repetitions, operation, argument).first / repetitions)
    end

    def measure(times, operation, argument)
      start = clocks(operation)
      operation.repeat(@contender, argument, times)
      clocks(operation).zip(start).map { |after, before| (after - before).to_f }
    end

    def clocks(operation)
      [Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond), operation.cpu_time, GC.total_time]
    end
  end
end

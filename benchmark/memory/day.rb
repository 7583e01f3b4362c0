# frozen_string_literal: true

# Resident memory of a server over a day, shortened: an hour takes a minute. All contenders live through it at once.

require_relative "../support/contender_process"
require_relative "../support/contenders"
require_relative "../support/plot"
require_relative "inputs"
require_relative "process"

class Day
  TITLE = "A server's day"
  HOURS = 10
  GLIBC = "glibc"

  # @param minutes [Float] for all hours
  def initialize(minutes:)
    @hour = minutes * 60.0 / HOURS
  end

  # @return [Hash] samples of each contender
  def measure
    write_messages
    running = servers.map { |server| Thread.new { live(**server) } }
    { hours: HOURS, hour: @hour, held: held, rows: running.map(&:value) }
  end

  # @param result [Hash] of measure
  # @return [Array<Terminal::Table>]
  def tables(result)
    hours = Array.new(result[:hours]) { |i| (i + 1).to_s }
    means = result[:rows].map do |row|
      peak = row[:samples].map(&:last).max
      [row[:name], row[:answered], *megabytes(means(result, row)), *megabytes([peak])]
    end
    collected = result[:rows].map { |row| [row[:name], *megabytes(row[:collected]), growth(row[:collected])] }
    [Terminal::Table.new(title: "#{TITLE}: resident MB, mean of each hour (#{result[:hour].round} s)",
                         headings: ["", "requests", *hours, "peak"], rows: means),
     Terminal::Table.new(title: "#{TITLE}: resident MB at the end of each hour, after a collection",
                         headings: ["", *hours, "hours 6-8 to 8-10"], rows: collected)]
  end

  # @param result [Hash] of measure
  # @param folder [String] where plots go
  def plot(result, folder)
    series = result[:rows].to_h do |row|
      [row[:name], row[:samples].map { |seconds, bytes| [seconds / result[:hour], bytes / 1e6] }]
    end
    title = "#{TITLE}: resident memory under the same load every hour (lower is better)"
    Plot.new(File.join(folder, "day.svg"), title: title, y: "resident MB", x: "hour").lines(series)
  end

  private

  def servers
    threads = Contenders::MEMORY.map { |one| { contender: one, threads: 4, ractors: 0 } }
    ractors = Contenders::IN_RACTORS.map { |one| { contender: one, threads: 2, ractors: 2 } }
    under_glibc = (threads + ractors).map { |server| server.merge(malloc: GLIBC) }
    under_jemalloc = (threads.first(2) + ractors.first(1)).map { |server| server.merge(malloc: "jemalloc, decay 1 s") }
    under_glibc + under_jemalloc.select { |server| Allocators.all.key?(server[:malloc]) }
  end

  def live(contender:, threads:, ractors:, malloc:)
    settings = { input: file(contender), hours: HOURS, hour: @hour, threads: threads, ractors: ractors }
    result = ContenderProcess.once(contender, Work, ["live"], environment: Allocators.all.fetch(malloc), **settings)
    workers = ractors.zero? ? "#{threads} threads" : "#{threads} threads, #{ractors} Ractors"
    { name: "#{contender.label}, #{workers}, #{malloc[/\w+/]}", contender: contender.label, threads: threads,
      ractors: ractors, malloc: malloc, **result }
  end

  def messages
    @messages ||= Messages.all
  end

  def file(contender)
    File.join(Inputs.folder, "day.#{contender.label}")
  end

  def write_messages
    digests = Contenders::MEMORY.map do |contender|
      MessagesFile.write(file(contender), messages.map { |message| contender.pack(message) })
      MessagesFile.digest(MessagesFile.read(file(contender)).map { |bytes| contender.unpack(bytes) })
    end
    raise "not all decode the same" unless digests.uniq == [MessagesFile.digest(messages)]
  end

  # Packed bytes of what is held at a time, on average.
  def held
    sizes = MessagesFile.read(file(Contenders::WithManypack)).map(&:bytesize)
    requests = Array.new(4) { |worker| Schedule.new(@hour, sizes.size, worker).requests }.flatten
    requests.sum { |request| sizes[request.message] * request.hold } / @hour
  end

  def megabytes(numbers)
    numbers.map { |bytes| (bytes / 1e6).round }
  end

  # How much more it is at the end of the last half than at its start.
  def growth(numbers)
    early = numbers[5, 3].sum
    late = numbers.last(3).sum
    format("%+.1f %%", (late - early) * 100.0 / early)
  end

  def means(result, row)
    row[:samples].each_slice(row[:samples].size / result[:hours]).map { |samples| samples.sum(&:last) / samples.size }
  end

  # What comes to a server in an hour of its day: when, how large, and how long what was made of it is held. Each hour
  # brings the same, so that what grows from one to the next is the process; each worker has an hour of its own.
  class Schedule
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

  # Messages of every size from 50 bytes to 5 MB, evenly spread over orders of magnitude: records such as services send.
  module Messages
    SMALLEST = 50
    LARGEST = 5_000_000
    COUNT = 36

    module_function

    # @return [Array<Object>]
    def all
      sizes = Array.new(COUNT) { |i| (SMALLEST * (LARGEST.fdiv(SMALLEST)**i.fdiv(COUNT - 1))).round }
      random = Random.new(2012)
      sizes.map { |size| message(size, random) }
    end

    # Short ones are one record, longer ones a page of them, some of which bring a long text.
    #
    # @api private
    def message(size, random)
      return { "id" => random.rand(1 << 40), "text" => "t" * (size - 20) } if size < 200

      records = []
      left = size - 30
      while left > 0
        record = record(random, [left, 40_000].min)
        records << record
        left -= 110 + record["text"].bytesize
      end
      { "page" => random.rand(1000), "records" => records }
    end

    # @api private
    def record(random, most)
      text = random.rand(50).zero? ? random.rand(most) : random.rand(200)
      { "id" => random.rand(1 << 53),
        "user" => { "name" => "user #{random.rand(10_000)}", "verified" => random.rand(2).zero? },
        "tags" => Array.new(random.rand(4)) { "tag #{random.rand(500)}" }, "score" => random.rand.round(6),
        "text" => Array.new(text / 8 + 1) { "word#{random.rand(1000)}" }.join(" ")[0, [text, most].min] }
    end
  end

  # What the process of a contender answers: it is the server. Workers in threads and in Ractors take requests as they
  # come, unpack them, hold what came out for a while, and answer with some of it packed. The main thread looks at the
  # process's memory.
  class Work
    SAMPLES_PER_HOUR = 60
    LEAD = 1.0 # seconds until the first hour begins, for all to be ready

    # @param contender [Module] of Contenders
    # @param input [String] path
    # @param hours [Integer]
    # @param hour [Float] seconds
    # @param threads [Integer] workers that are threads of the main Ractor
    # @param ractors [Integer] workers that are Ractors
    def initialize(contender, input:, hours:, hour:, threads:, ractors:)
      @contender = contender
      @messages = MessagesFile.read(input).freeze
      @hours = hours
      @hour = hour
      @threads = threads
      @ractors = ractors
    end

    # @return [Hash{Symbol => Object}] samples of seconds and resident bytes; what was resident at the end of each hour
    #   when all garbage was collected; requests that were answered
    def live
      start = Work.now + LEAD
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
    def self.work(worker, contender, messages, hours, hour, start)
      requests = Schedule.new(hour, messages.size, worker).requests
      held = []
      answered = 0
      hours.times do |number|
        requests.each do |request|
          due = start + number * hour + request.at
          wait = due - now
          sleep(wait) if wait > 0
          held.reject! { |until_when, _| until_when <= due }
          object = contender.unpack(messages[request.message])
          held << [due + request.hold, [object, contender.pack(object)]]
          answered += 1
        end
      end
      answered
    end

    private

    def start_workers(start)
      work = Ractor.make_shareable([@contender, @messages, @hours, @hour, start])
      threads = Array.new(@threads) { |worker| Thread.new { Work.work(worker, *work) } }
      ractors = Array.new(@ractors) do |i|
        Ractor.new(@threads + i, work) { |worker, shared| Work.work(worker, *shared) }
      end
      threads + ractors
    end

    def take_samples(start)
      collected = []
      samples = Array.new(@hours * SAMPLES_PER_HOUR) do |i|
        wait = start + (i + 1) * @hour / SAMPLES_PER_HOUR - Work.now
        sleep(wait) if wait > 0
        [Work.now - start, ProcessMemory.resident].tap { collected << collect if ((i + 1) % SAMPLES_PER_HOUR).zero? }
      end
      [samples, collected]
    end

    # At the same moment of every hour the same is held: what is resident then and grows would be lost.
    def collect
      2.times { GC.start }
      ProcessMemory.resident
    end
  end
end

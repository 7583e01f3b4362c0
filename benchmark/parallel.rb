# frozen_string_literal: true

# What Manypack::Parallel makes of several processors: in Ractors, in processes, beside the parallel gem, and beside
# what the machine can give at that moment, which is what processes do that have nothing to do with each other.
# Contenders take turns, and what they return is compared.

require "optparse"
require "json"
require "terminal-table"
require "zlib"
require_relative "support/contender_process"
require_relative "support/results"
require_relative "support/workload"

# Ways to work on a stream. Each has run(stream, work, workers), which returns the results in order.
module ParallelContenders
  # What is done with each message.
  module Tasks
    def self.id(message) = message["id"] || message["id_str"]
    def self.json_size(message) = JSON.generate(message).bytesize
    def self.json(message) = JSON.generate(message)
  end

  module Named
    def label = name.split("::").last
    def load = require("manypack")
    def version = RUBY_VERSION
  end

  # One processor.
  module Inline
    extend Named

    def self.run(stream, task, _workers)
      results = []
      ::Manypack::Unpacker.new.feed_each(stream) { |message| results << task.call(message) }
      results
    end
  end

  # As many processes as workers, each with its part of the stream, which is cut beforehand; they return nothing.
  module Ceiling
    extend Named

    def self.run(stream, task, workers)
      children = parts(stream, workers).map do |part|
        Process.fork do
          Inline.run(part, task, 1)
        ensure
          exit!
        end
      end
      children.each { |child| Process.wait(child) }
      nil
    end

    def self.parts(stream, workers)
      (@parts ||= {})[workers] ||= cut(stream, workers)
    end

    def self.cut(stream, workers)
      splitter = ::Manypack::Parallel.const_get(:Splitter).new(::Manypack::Codec.new).feed(stream)
      batches = Array.new(workers) { splitter.take(stream.bytesize, (stream.bytesize / workers) + 1, true) }
      batches.compact.map { |bytes, start, size| bytes.byteslice(start, size) }
    end

    private_class_method :cut
  end

  # The same, and what each process returns comes back through a pipe of its own, in arrays of a hundred results.
  module ByHand
    extend Named

    SIZE = 100

    def self.run(stream, task, workers)
      readers = Ceiling.parts(stream, workers).map { |part| start(part, task) }
      results = readers.map { |reader| Thread.new { received(reader) } }.flat_map(&:value)
      Process.waitall
      results
    end

    def self.start(part, task)
      reader, writer = IO.pipe(binmode: true)
      Process.fork do
        ::Manypack::Unpacker.new.feed_each(part).each_slice(SIZE) do |slice|
          bytes = ::Manypack.pack(slice.map { |message| task.call(message) })
          writer.write([bytes.bytesize].pack("N"), bytes)
        end
      ensure
        writer.flush
        exit!
      end
      writer.close
      reader
    end

    def self.received(reader)
      results = []
      while (size = reader.read(4))
        results.concat(::Manypack.unpack(reader.read(size.unpack1("N"))))
      end
      results
    ensure
      reader.close
    end

    private_class_method :start, :received
  end

  module Ractors
    extend Named

    def self.run(stream, task, workers) = ::Manypack::Parallel.each(stream, map: task, ractors: workers).to_a
  end

  module Processes
    extend Named

    def self.run(stream, task, workers) = ::Manypack::Parallel.each(stream, map: task, processes: workers).to_a
  end

  # The gem, given the messages as Strings that were cut beforehand, as many for each call of the block as size says.
  module ParallelGem
    def load = super && require("parallel")
    def version = Parallel::VERSION

    def run(stream, task, workers)
      @slices ||= messages(stream).each_slice(self::SIZE).to_a
      returned(Parallel.map(@slices, in_processes: workers) { |slice| results(slice, task) })
    end

    private

    def messages(stream)
      splitter = ::Manypack::Parallel.const_get(:Splitter).new(::Manypack::Codec.new).feed(stream)
      messages = []
      while (bytes, start, size = splitter.take(1, stream.bytesize, true))
        messages << bytes.byteslice(start, size)
      end
      messages
    end

    def results(slice, task) = slice.map { |message| task.call(::Manypack.unpack(message)) }
    def returned(slices) = slices.flatten(1)
  end

  # The results as MessagePack instead of by Marshal.
  module Packing
    private

    def results(...) = ::Manypack.pack(super)
    def returned(slices) = slices.flat_map { |bytes| ::Manypack.unpack(bytes) }
  end

  module GemMarshal
    extend Named
    extend ParallelGem

    SIZE = 1
  end

  module GemMsgpack
    extend Named
    extend ParallelGem
    extend Packing

    SIZE = 1
  end

  module GemSlices
    extend Named
    extend ParallelGem

    SIZE = 100
  end
end

class ParallelBenchmark
  CONTENDERS = %w[Inline Ceiling ByHand Ractors Processes GemMarshal GemMsgpack GemSlices].freeze
  TASKS = { "id" => "decode, a small result", "json_size" => "JSON.generate, its size",
            "json" => "JSON.generate, the text" }.freeze

  def initialize(options)
    @options = options
    @processes = CONTENDERS.to_h { |name| [name, process(name)] }
    missing, = @processes.partition { |_, process| process.missing }
    missing.each { |name, process| puts "without #{name}: #{process.missing.lines.first}" }
    @processes = @processes.except(*missing.map(&:first))
  end

  def run
    puts "#{RUBY_DESCRIPTION} #{ContenderProcess.yjit.join}, #{Stamp.cpu}, #{Etc.nprocessors} processors"
    TASKS.each { |task, title| puts table(title, rounds(task)) if title.match?(@options[:only]) }
    puts costs if "start memory".match?(@options[:only])
  ensure
    @processes.each_value(&:stop)
  end

  private

  def process(name)
    ContenderProcess.of(ParallelContenders.const_get(name), Work, **how)
  end

  def how
    { environment: ContenderProcess::SETTLED_MALLOC, **@options.slice(:data, :megabytes) }
  end

  # Returns the samples of each [contender, workers].
  def rounds(task)
    turns = @processes.keys.product([*1..@options[:workers]]).reject { |name, count| name == "Inline" && count > 1 }
    samples = Hash.new { |hash, turn| hash[turn] = [] }
    @options[:rounds].times do |round|
      turns.rotate(round).each { |name, count| samples[[name, count]] << @processes[name].ask("run", task, count) }
      $stderr.print "."
    end
    checks = samples.values.flatten.filter_map { |sample| sample[:check] }.uniq
    checks.size == 1 ? samples : raise("different results: #{checks}")
  end

  # Ratios are those of the same round, because other programs take their part of the machine; where they take much of
  # it, those of the processor time tell more.
  def table(title, samples)
    rows = samples.map do |(name, count), own|
      [name, count, format("%.0f", Statistics.median(own.map { |sample| sample[:rate] })),
       ratio(samples[["Inline", 1]], own, :wall), ratio(samples[["Ceiling", count]], own, :wall),
       ratio(samples[["Ceiling", count]], own, :cpu),
       format("%.2f", Statistics.median(own.map { |sample| sample[:cpu] / sample[:wall] }))]
    end
    Terminal::Table.new(title: title, rows: rows, headings: ["", "workers", "MB/s", "/ inline", "/ ceiling",
                                                             "by processor time", "processors in use"])
  end

  def ratio(others, own, clock)
    format("%.2f", Statistics.median(others.zip(own).map { |its, mine| its[clock] / mine[clock] }))
  end

  def costs
    answers = Array.new(@options[:rounds]) do
      ContenderProcess.once(ParallelContenders::Processes, Work, ["costs", @options[:workers]], **how)
    end
    start, dirty = %i[start dirty].map { |what| Statistics.median(answers.map { |answer| answer[what] }) }
    format("a run of %<workers>d processes for as many messages: %<start>.1f ms; memory that only one worker has: " \
           "%<dirty>.1f MB", workers: @options[:workers], start: start, dirty: dirty)
  end

  # What the process of a contender answers.
  class Work
    # contender:: one of ParallelContenders, loaded
    # data:: a folder with twitter.json
    # megabytes:: the size of the stream
    def initialize(contender, data:, megabytes:)
      @contender = contender
      documents = Workload.new(data: data, stream: 1, largest: 1).cases.values
      twitter = documents.find { |one| one.id.match?(/twitter/i) }.payload
      once = twitter["statuses"].map { |status| Manypack.pack(status) }.join
      @stream = (once * [megabytes * 1_000_000 / once.bytesize, 1].max).freeze
      @warm = {}
    end

    # Returns the megabytes per second, the seconds by the clock and of the processors, and a checksum of the results.
    def run(task, workers)
      callable = ParallelContenders::Tasks.method(task)
      @warm[task] ||= @contender.run(@stream, callable, workers) || true
      GC.start
      results = nil
      before = cpu
      wall = clock { results = @contender.run(@stream, callable, workers) }
      cpu = self.cpu - before
      { rate: @stream.bytesize / wall / 1e6, wall: wall, cpu: cpu, check: results && Zlib.crc32(results.join("\n")) }
    end

    # Returns the milliseconds of the smallest run, and the megabytes that only one worker has.
    def costs(workers)
      messages = Manypack.pack(1) * workers
      start = Array.new(2) { (clock { @contender.run(messages, :succ.to_proc, workers) }) * 1e3 }.last # loaded by then
      # What the parent has left over would be copied to each worker when its collector touches it.
      Process.warmup if Process.respond_to?(:warmup)
      dirty = Manypack::Parallel.each(@stream, map: method(:dirty), processes: workers).max
      { start: start, dirty: dirty / 1e3 }
    end

    private

    def dirty(_message)
      @calls = @calls.to_i + 1
      return 0 unless (@calls % 500).zero?

      File.foreach("/proc/self/smaps_rollup").sum { |line| line.start_with?("Private_Dirty:") ? line.split[1].to_i : 0 }
    end

    # Seconds that the block takes.
    def clock
      before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      yield
      Process.clock_gettime(Process::CLOCK_MONOTONIC) - before
    end

    # With that of children that have ended.
    def cpu
      Process.times.to_a.sum
    end
  end
end

if $PROGRAM_NAME == __FILE__
  options = { rounds: 7, megabytes: 100, workers: [Etc.nprocessors, 2].max, only: //, data: Workload::REAL }
  OptionParser.new do |parser|
    parser.banner = "Usage: bundle exec ruby -Ilib benchmark/parallel.rb [options]"
    parser.on("--data DIR", "a folder with twitter.json") { |dir| options[:data] = dir }
    parser.on("--only REGEXP", Regexp, "decode, JSON, start") { |only| options[:only] = only }
    parser.on("--workers N", Integer, "at most (#{options[:workers]})") { |count| options[:workers] = count }
    parser.on("--megabytes N", Integer, "of the stream (#{options[:megabytes]})") { |n| options[:megabytes] = n }
    parser.on("--rounds N", Integer, "rounds (#{options[:rounds]})") { |rounds| options[:rounds] = rounds }
  end.parse!
  ParallelBenchmark.new(options).run
end

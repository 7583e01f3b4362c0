# frozen_string_literal: true

# Fuzzes Manypack at the level of Ruby:
#   ruby -Ilib fuzz/run.rb [--seconds 60] [--messages N] [--seed N]   new messages
#   ruby -Ilib fuzz/run.rb FILE...                                    the messages in these files
# A message that breaks a promise, ends the process or takes too long is left in fuzz/crashes; the test suite replays
# these files. A build with EXT_OPTIONS=--enable-reached tells which messages reach something new, and those are changed
# further; one with --enable-sanitizers as well sees more mistakes: .ci/in_a_copy.sh says how it is started.
require "optparse"
require "tmpdir"
require_relative "harness"
require_relative "corpus"

Warning[:experimental] = false

module Fuzz
  # Checks messages in a worker process, which a message may kill, and watches that process.
  class Run
    PATIENCE = 300 # seconds for one message
    REPORT = 60
    VIOLATIONS_MAX = 10
    VIOLATED = 3 # the worker's exit status; a sanitizer has 1

    def initialize(seconds:, messages:, seed:)
      @seconds = seconds
      @messages = messages
      @seed = seed
    end

    # Returns true if no promise was broken.
    def call
      Dir.mktmpdir do |dir|
        @at_work = File.open(File.join(dir, "at_work"), "wb+")
        puts "fuzz: seed #{@seed}"
        worker = fork { exit!(work) }
        watch(worker)
      end
    end

    private

    # --- the parent -------------------------------------------------------------------------------------

    def watch(worker)
      last, since = at_work, now
      until (status = Process.wait2(worker, Process::WNOHANG))
        sleep 0.5
        last, since = at_work, now if at_work != last
        next if now - since < PATIENCE

        Process.kill(:KILL, worker)
        Process.wait(worker)
        return lost("takes more than #{PATIENCE} seconds")
      end
      return status[1].success? if [0, VIOLATED].include?(status[1].exitstatus)

      lost("ends the process: #{status[1]}")
    end

    def lost(what)
      puts "fuzz: #{Fuzz.keep(at_work)} #{what}"
      false
    end

    # The message that the worker is checking, which it wrote to the file before it began: a length and the bytes.
    def at_work
      noted = @at_work.pread(1 << 20, 0)
      noted.byteslice(4, noted.unpack1("N"))
    rescue EOFError
      ""
    end

    # --- the worker -------------------------------------------------------------------------------------

    def work
      @harness = Harness.new
      @corpus = Corpus.new(@harness.method(:messages))
      @start = @reported = now
      @violations = @done = 0
      until over?
        check(bytes = @corpus.message(@seed + @done))
        @corpus.tried(bytes)
        @done += 1
        report if now - @reported > REPORT
      end
      report
      puts "fuzz: #{@harness.tally.sort_by { |_, count| -count }.map { |name, count| "#{name} #{count}" }.join(", ")}"
      $stdout.flush
      @violations.zero? ? 0 : VIOLATED
    end

    def over?
      @violations == VIOLATIONS_MAX || (@messages ? @done >= @messages : now - @start >= @seconds)
    end

    def check(bytes)
      @at_work.pwrite([bytes.bytesize].pack("N") + bytes, 0)
      @harness.check(bytes)
    rescue StandardError => e
      @violations += 1
      puts "fuzz: seed #{@seed + @done}, #{Fuzz.keep(bytes)}: #{e.full_message(highlight: false)}"
    end

    def report
      @reported = now
      puts format("fuzz: %<done>d messages in %<seconds>d seconds, %<violations>d violations, %<memory>d MB resident",
                  done: @done, seconds: now - @start, violations: @violations, memory: resident)
      puts "fuzz: #{@corpus}" if @corpus.guided?
      $stdout.flush
    end

    def resident
      File.read("/proc/self/statm").split[1].to_i * 4 / 1024
    rescue Errno::ENOENT
      0
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # Returns true if no promise was broken.
  def self.replay(paths)
    harness = Harness.new
    paths.each do |path|
      puts path
      harness.check(File.binread(path))
    end
    puts "fuzz: #{paths.size} messages replayed"
    true
  end
end

options = { seconds: Integer(ENV.fetch("SECONDS", 60)), messages: nil, seed: Random.new_seed % (1 << 48) }
OptionParser.new do |parser|
  parser.on("--seconds N", Integer) { |seconds| options[:seconds] = seconds }
  parser.on("--messages N", Integer) { |messages| options[:messages] = messages }
  parser.on("--seed N", Integer) { |seed| options[:seed] = seed }
end.parse!
exit(ARGV.empty? ? Fuzz::Run.new(**options).call : Fuzz.replay(ARGV))

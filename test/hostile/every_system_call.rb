# frozen_string_literal: true

# Has each system call of a run of Parallel in processes fail once, in the parent and in the workers, and a signal kill
# either of them before and after each call; prints what is wrong afterwards. It runs under failing_system.c:
#   LD_PRELOAD=failing_system.so ruby -Ilib test/hostile/every_system_call.rb STEP [SOURCE...]
# STEP is 1 for each call, 10 for each tenth of them and for some of the faults: the same ones each time.
require "io/wait"
require "tempfile"
require "manypack"

module EverySystemCall
  OBJECTS = (Array.new(40) { |i| { "id" => i, "text" => "x" * (i * 7) } } + ["y" * 300_000, nil, "last"]).freeze
  MESSAGES = OBJECTS.map { |object| Manypack.pack(object).freeze }.freeze
  BYTES = MESSAGES.join.freeze
  FILE = Tempfile.new("manypack").tap { |file| file.binmode.write(BYTES) && file.flush }
  SIZES = OBJECTS.map { |object| object.is_a?(String) ? object.size : object }.freeze
  SIZE = ->(object) { object.is_a?(String) ? object.size : object }
  SECONDS = 30 # a run that takes longer will not end

  # What makes the source of a run. One run ends by break after a few results, while its workers have more to do.
  SOURCES = {
    "a String" => -> { BYTES },
    "a file" => -> { File.open(FILE.path, "rb") },
    "a pipe" => -> { IO.popen({ "LD_PRELOAD" => nil }, ["cat", FILE.path], "rb") }, # the library needs a Ruby
    "a list" => -> { MESSAGES },
    "a break" => -> { BYTES }
  }.freeze

  EARLY = 3
  HALF = -3 # of the bytes
  KILLS = { "killed before" => -1, "killed after" => -2 }.freeze
  # What a call can answer: EIO stands for any error that nobody expects. A write fails by EPIPE when nobody reads any
  # more, so a parent gets it only from a worker that is killed.
  FAULTS = {
    "fork" => [Errno::ENOMEM], "pipe2" => [Errno::EMFILE, Errno::ENFILE], "fcntl" => [Errno::EPERM],
    "pthread_create" => [Errno::EAGAIN], "read" => [Errno::EINTR, Errno::EIO, HALF],
    "write" => [Errno::EINTR, Errno::EAGAIN, Errno::EPIPE, Errno::EIO, HALF],
    "writev" => [Errno::EINTR, Errno::EAGAIN, Errno::EPIPE, Errno::EIO, HALF], "pread" => [Errno::EIO],
    "poll" => [Errno::EINTR, Errno::ENOMEM], "ppoll" => [Errno::EINTR, Errno::ENOMEM],
    "select" => [Errno::EINTR, Errno::ENOMEM], "waitpid" => [Errno::ECHILD], "kill" => [Errno::ESRCH]
  }.freeze

  # After these a run has to go on as if nothing had been.
  HARMLESS = [HALF, *[Errno::EINTR, Errno::EPERM, Errno::ECHILD, Errno::ESRCH].map { |error| error::Errno }].freeze

  ONLY_IN_WORKERS = [Errno::EPIPE].freeze
  NONE = [false, "", 0, 0].freeze
  SOME = 6
  MANY = ["read", "write", "writev", ""].freeze # of which STEP leaves out some

  ERRORS = [SystemCallError, IOError, ThreadError, NoMemoryError, Manypack::Parallel::DeadWorker].freeze

  module_function

  def run(name, step)
    points = Hash.new(0)
    [false, true].each do |worker|
      FAULTS.each do |call, faults|
        faults -= ONLY_IN_WORKERS unless worker
        faults = faults.select { step == 1 || rand(SOME).zero? }
        faults.each { |fault| points[call] += each_point(name, step, worker, call, fault == HALF ? HALF : fault::Errno, fault.to_s) }
      end
      KILLS.each { |words, fault| points[words] += each_point(name, step, worker, "", fault, words) }
    end
    puts "#{name}: #{points.values.sum} points (#{points.map { |call, count| "#{call} #{count}" }.join(", ")})"
  end

  # Returns how many points there are.
  def each_point(name, step, worker, call, fault, words)
    points = 0
    step = 1 unless MANY.include?(call)
    nth = 1 + rand(step)
    dies = !worker && fault.negative? && fault != HALF
    while (answer = in_process(dies) { point(name, [worker, call, nth, fault]) }) != "past"
      points += 1
      nth += step
      puts "#{name}, #{worker ? "worker" : "parent"}, #{call} #{nth - step}, #{words}: #{answer}" unless answer == "fine"
    end
    points
  end

  # Returns the block's text from a process of its own. If that is killed, all of its workers have to end.
  def in_process(dies)
    reader, writer = IO.pipe
    pid = fork do
      reader.close
      $stderr.reopen(File::NULL, "w")
      writer.syswrite(yield)
      exit!(true)
    end
    writer.close
    text = wait_for_end(reader) or return "does not end#{Process.kill(:KILL, pid) && Process.wait(pid) && nil}"
    _, status = Process.wait2(pid)
    return text if status.success?

    dies && status.termsig == Signal.list["KILL"] && text.empty? ? "fine" : "#{status}, #{text}"
  ensure
    reader.close
  end

  # All that was written until the last process that has the pipe has ended; nil if that takes too long.
  def wait_for_end(reader)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS
    text = +""
    while (left = deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC)) > 0
      next unless reader.wait_readable(left)

      piece = reader.read_nonblock(10_000, exception: false) or return text
      text << piece
    end
  end

  # Returns "past" if there are fewer calls, "fine", or what is wrong.
  def point(name, armed)
    before = state
    expected = name == "a break" ? SIZES.first(EARLY) : SIZES
    results, error = run_once(name, armed)
    return "past" unless FailingSystem.arm(*NONE)
    return "raised #{error.full_message(highlight: false)}" unless error.nil? || ERRORS.any? { |kind| error.is_a?(kind) }
    return "raised #{error.inspect}, after which it should go on" if error && HARMLESS.include?(armed.last)
    return "gave #{results.size} results, and #{error.inspect}" unless results == (error ? expected.first(results.size) : expected)
    return "left #{state} of #{before}" unless state == before

    again, = run_once(name, NONE)
    again == expected ? "fine" : "gives #{again.size} results afterwards"
  rescue Exception => error # rubocop:disable Lint/RescueException -- whatever it is, it is wrong
    "does not work afterwards: #{error.full_message(highlight: false)}"
  end

  # Returns the results of the run and the exception that ended it.
  def run_once(name, armed)
    source = SOURCES[name].call
    results = []
    FailingSystem.arm(*armed)
    Manypack::Parallel.each(source, map: SIZE, processes: 2) do |result|
      results << result
      break if name == "a break" && results.size == EARLY
    end
    [results, nil]
  rescue Exception => error # rubocop:disable Lint/RescueException
    [results, error]
  ensure
    source.close if source.is_a?(IO)
  end

  # Threads, open files and children.
  def state
    children = begin
      Process.wait(-1, Process::WNOHANG) || "running"
    rescue Errno::ECHILD
      nil
    end
    [Thread.list.size, Dir.children("/dev/fd").size, children]
  end
end

require ENV.fetch("LD_PRELOAD")
step, *names = ARGV
$stdout.sync = true
srand(22)
EverySystemCall::SOURCES.each_key { |name| EverySystemCall.run_once(name, EverySystemCall::NONE) } # what is made once is there
(names.empty? ? EverySystemCall::SOURCES.keys : names).each { |name| EverySystemCall.run(name, Integer(step)) }

# frozen_string_literal: true

# Has each allocation of each operation fail once, in a process each, and prints what is wrong afterwards. It runs under
# test/support/malloc_count.c, which knows what the extension holds, and failing_malloc.c behind it:
#   LD_PRELOAD="malloc_count.so failing_malloc.so" ruby -Ilib test/hostile/every_malloc.rb STEP [OPERATION...]
# STEP is 1 for each allocation, 10 for each tenth of them.
require "timeout"
require_relative "operations"

module EveryMalloc
  PAST, FINE, RUBY = %w[past fine ruby].freeze
  # Regexps, files and processes have errors of their own for it.
  SAYS_SO = /failed to allocate memory|Cannot allocate memory/.freeze

  # Failures in one process until nothing is new in it, and then as many to compare.
  LEAK_ROUNDS = 3

  SECONDS = 120 # a point takes less

  module_function

  # Prints how many points there are, and each that is wrong.
  def run(name, step)
    operation = Operations.of(name)
    2.times { operation[2].call(operation[0].call.tap(&operation[1])) } # what is made once is there
    GC.start
    count = 1 + rand(step)
    answers = []
    while (answer = in_process { point(*operation, count) }) != PAST
      answers << (ruby_fails?(answer) ? RUBY : answer)
      puts "#{name}, allocation #{count}: #{answer[0, 3_000]}" unless [FINE, RUBY].include?(answers.last)
      count += step
    end
    puts "#{name}: #{answers.size} points, at #{answers.count(RUBY)} of them Ruby ends itself" if $VERBOSE
  end

  # Ruby itself does not survive everywhere: not while it makes a class or an exception, for example.
  def ruby_fails?(answer)
    answer.include?("exception reentered (fatal)") || (answer.include?("[BUG]") && !answer[/^-- C level.*?(?=^-- )/m].to_s.include?("manypack.so"))
  end

  # Returns the block's text from a process of its own, or how that ended.
  def in_process
    reader, writer = IO.pipe
    pid = fork do
      $stderr.reopen(writer)
      writer.syswrite("\0#{yield}")
      exit!(true)
    end
    writer.close
    output = Timeout.timeout(SECONDS) { reader.read }
    _, status = Process.wait2(pid)
    status.success? ? output.rpartition("\0").last : "#{status}, #{output}"
  rescue Timeout::Error
    Process.kill(:KILL, pid)
    Process.wait(pid)
    "does not end"
  end

  # Returns PAST if there are fewer allocations, FINE, or what is wrong.
  def point(make, work, use, good, count)
    object = make.call
    error = failing(count) { work.call(object) }
    return PAST unless FailingMalloc.failed?
    return "raised #{error.full_message(highlight: false)}" unless error.nil? || error.message.match?(SAYS_SO)

    got = use.call(object)
    return "has #{got.inspect[0, 300]} afterwards" unless good.include?(got)

    leak(make, work, count) || FINE
  rescue Exception => error # rubocop:disable Lint/RescueException -- whatever it is, it is wrong
    "does not work afterwards: #{error.full_message(highlight: false)}"
  end

  # The exception that the block raises.
  def failing(count, &block)
    FailingMalloc.nth(count, &block)
    nil
  rescue Exception => error # rubocop:disable Lint/RescueException
    error
  end

  # A block of the extension's for each failure is a leak; Ruby's regexps and Strings have some of their own.
  def leak(make, work, count)
    blocks = Array.new(3) do
      LEAK_ROUNDS.times { make.call.then { |object| failing(count) { work.call(object) } } }
      GC.start
      MallocCount.held.first
    end
    grown = blocks.each_cons(2).map { |before, after| after - before }.min
    "leaks #{grown} blocks in #{LEAK_ROUNDS} failures" if grown >= LEAK_ROUNDS
  end
end

ENV["LD_PRELOAD"].split.each { |library| require library if library.include?("malloc") }
MallocCount.watch($LOADED_FEATURES.grep(/manypack\.so/).first)
step, *names = ARGV
$stdout.sync = true
(names.empty? ? Operations::NAMES : names).each { |name| EveryMalloc.run(name, Integer(step)) }

# frozen_string_literal: true

# Changes one thing in the source, asks whether any test notices, and does so again and again:
#   ruby tools/mutate.rb core 200        200 changes of core/, tried by the core's own tests
#   ruby tools/mutate.rb ext 100         of ext/manypack/, tried by the tests of the folder and by all fast ones
#   ruby tools/mutate.rb lib 100         of lib/manypack/
# SEED=1 says which changes; the same seed makes the same. It prints those that no test notices: each is a test that is
# missing, code that nobody needs, or a change that makes no difference. `rake mutate` runs this.
require "etc"
require_relative "mutate/places"
require_relative "mutate/trials"

class Mutate
  # Tests of the program `manypack` and of the drop-in start programs, for minutes; integrations need gems of their own.
  ELSEWHERE = %r{/(?:terminal|json|drop_in|active_model|active_support|faraday|karafka|rack|rails|redis|waterdrop)\b}

  FILES = {
    "core" => Dir["core/*.{c,h}"] - %w[core/wire_table.h core/platform.h],
    "ext" => Dir["ext/manypack/{,*/}*.{c,h}"].grep_v(ELSEWHERE) - %w[ext/manypack/base/compat.h],
    "lib" => Dir["lib/manypack/**/*.rb"].grep_v(ELSEWHERE) - %w[lib/manypack/version.rb]
  }.freeze
  TRIALS = { "core" => CoreTrials, "ext" => ExtensionTrials, "lib" => LibraryTrials }.freeze

  def initialize(part, count, seed)
    @places = FILES.fetch(part).sort.flat_map { |path| Places.in(path) }.shuffle(random: Random.new(seed))
    @count = count
    @trials = TRIALS.fetch(part)
  end

  # Prints the share of the changes that a test noticed. Each processor tries the next place that none has tried, in a
  # copy of its own; what is counted does not depend on which was the faster one.
  def run
    outcomes = Array.new(@places.size)
    places = Queue.new(@places.each_with_index.to_a).close
    Array.new(Etc.nprocessors) do
      Thread.new { @trials.in_a_copy { |trials| try_all(trials, places, outcomes) } }
    end.each(&:join)
    tried = outcomes.each_with_index.reject { |outcome, _| [nil, :impossible].include?(outcome) }.first(@count)
    killed = tried.count { |outcome, _| outcome == :killed }
    puts format("%d changes, up to number %d, of which tests notice %d: %.1f %%",
                tried.size, tried.last.last, killed, 100.0 * killed / tried.size)
  end

  private

  def try_all(trials, places, outcomes)
    while possible(outcomes).size < @count && (place, number = places.pop)
      outcomes[number] = trials.try(place)
      puts "#{number}: survives: #{place}" if outcomes[number] == :survives
      $stdout.flush
    end
  end

  def possible(outcomes) = outcomes.compact - [:impossible]
end

part, count = ARGV
abort "usage: ruby tools/mutate.rb core|ext|lib COUNT" unless Mutate::FILES.key?(part) && count.to_i.positive?
Mutate.new(part, count.to_i, ENV.fetch("SEED", "1").to_i).run

# frozen_string_literal: true

# For tests that call Parallel in every way that is possible here.
module Forks
  # Some platforms cannot fork, and a process that was forked under AddressSanitizer may hang: see .ci/run.
  POSSIBLE = Process.respond_to?(:fork) && ENV["MANYPACK_FORK"] != "no"

  # Returns the ways, which are keywords of Parallel, without those that fork where that is not possible.
  def self.without_impossible(ways)
    ways.select { |way| POSSIBLE || way.fetch(:processes, 0).zero? }
  end
end

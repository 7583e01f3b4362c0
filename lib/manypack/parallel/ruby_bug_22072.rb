# frozen_string_literal: true

# Ruby bug #22072, and the warning about it.
module Manypack
  module Parallel
    # https://bugs.ruby-lang.org/issues/22072: once any Ractor has been started, setting a second class variable of a
    # class makes Ruby lose its cache entry for the first one. The next method that reads the first one ends the process
    # with "[BUG] should have cvar cache entry". A test for the bug would end the process, too: hence the list.
    #
    # The fix of bug #21952 brought it in 4.0.4, and 4.0.6 is free of it. No other release has it; snapshots of 4.1 had
    # it from April 21 to May 17, 2026. test/ruby_bug_22072_test.rb fails on a Ruby that this list lacks.
    module RubyBug22072
      RELEASES = %w[4.0.4 4.0.5].freeze

      HERE = RUBY_ENGINE == "ruby" && RELEASES.include?(RUBY_VERSION)

      WARNING = "Manypack::Parallel starts Ractors, and Ruby #{RUBY_VERSION} has bug #22072: setting class variables " \
                "after a Ractor was started can crash the process. Load your application before the first Ractor, or " \
                "upgrade to Ruby 4.0.6.".freeze # it has parts that are not literal

      # Set by the one Thread in all Ractors that warns.
      WARNED = Stop.new

      private_constant :RELEASES, :WARNING, :WARNED

      # Call it before Ractors are started. Warns once in a process.
      def self.warn_once
        warn(WARNING) if HERE && WARNED.set
      end
    end
    private_constant :RubyBug22072
  end
end

# frozen_string_literal: true

# A run in Ractors.

require_relative "in_workers"
require_relative "ractor_loop"
require_relative(defined?(Ractor::Port) ? "port_transport" : "pipe_transport")

module Manypack
  module Parallel
    # https://bugs.ruby-lang.org/issues/22072: once any Ractor has been started, setting a second class variable of a
    # class makes Ruby lose its cache entry for the first one. The next method that reads the first one ends the process
    # with "[BUG] should have cvar cache entry". A test for the bug would end the process, too: hence the list.
    #
    # The fix of bug #21952 brought it in 4.0.4, and 4.0.6 is free of it. No other release has it; snapshots of 4.1 had
    # it from April 21 to May 17, 2026. test/parallel/ruby_bug_22072_test.rb fails on a Ruby that this list lacks.
    module RubyBug22072
      RELEASES = %w[4.0.4 4.0.5].freeze

      HERE = RUBY_ENGINE == "ruby" && RELEASES.include?(RUBY_VERSION)

      WARNING = "Manypack::Parallel starts Ractors, and Ruby #{RUBY_VERSION} has bug #22072: setting class variables " \
                "after a Ractor was started can crash the process. Load your application before the first Ractor, or " \
                "upgrade to Ruby 4.0.6.".freeze # Ruby does not freeze interpolated Strings

      # Set by the one Thread in all Ractors that warns.
      WARNED = Stop.new

      private_constant :RELEASES, :WARNING, :WARNED

      # Call it before Ractors are started. Warns once in a process.
      def self.warn_once
        warn(WARNING) if HERE && WARNED.set
      end
    end

    # How a run hears from its Ractors depends on the Ruby. Each transport file defines Transport, and only the file for
    # this Ruby is loaded:
    #
    # start_ractor(index, setup):: starts a Ractor that runs RactorLoop, and returns it. The setup is shareable: the
    #                              arguments of Worker.new
    # each_message:: yields index and outcome of each batch that is done; yields nil as the outcome of a Ractor that has
    #                ended, and returns after the last one
    # value_of(ractor):: what a Ractor returned
    # join(ractor):: waits until a Ractor has ended
    # close:: may be called twice
    class InRactors < InWorkers
      def initialize(source, work, codec, options, as, packs, size, ordered, on_start)
        Isolation.check_codec(codec) if codec
        Callable.check_shareable(as)
        codec = codec ? codec.with(**options) : Codec.new(options)
        super(source, codec, as, size, ordered)
        # DefaultFactory may have handlers that only the main Ractor can call. Then each Ractor makes a codec of its own
        # from the options: it refuses only messages that need those handlers.
        codec = options unless Ractor.shareable?(codec)
        @stop = Stop.new
        on_start &&= Callable.shareable(on_start)
        @setup = Ractor.make_shareable([Callable.shareable(work), codec, @stop, as, packs, on_start])
      end

      private

      def start
        RubyBug22072.warn_once
        @transport = Transport.new
        super
      end

      def start_worker(index)
        @transport.start_ractor(index, @setup)
      end

      def give(index, number, batch)
        post(@workers[index], [number, *batch])
      end

      # Each Ractor ends after its current message.
      def stop_workers
        @stop.set
        @workers.each { |ractor| post(ractor, nil) }
        @listener&.join
        @workers.each { |ractor| @transport.join(ractor) }
        @transport&.close
      end

      # Sends what RactorLoop receives; nil ends it.
      def post(ractor, message)
        ractor.send(message)
      rescue Ractor::ClosedError
        nil # the Ractor ended, and its last outcome is on the way
      end

      def listen
        @transport.each_message do |index, outcome|
          @events << (outcome ? [index, outcome, nil] : last_event_of(index))
        end
        @transport.close
      end

      # The event of a Ractor that has ended.
      def last_event_of(index)
        [index, @transport.value_of(@workers[index])&.outcome, true]
      rescue Ractor::ClosedError # the work ended the Ractor, so it returned nothing
        [index, nil, true]
      rescue Ractor::Error => e
        e
      end

      def outcome_of(*outcome) = outcome

      def lost(*)
        raise Ractor::Error, "the work on a message ended its Ractor"
      end
    end
    private_constant :RubyBug22072, :InRactors
  end
end

# frozen_string_literal: true

# One call of Parallel: from the source to the results; and all else that such a call needs.

begin
  require "etc"
rescue LoadError # a load path without Ruby's own libraries, for whatever reason; packing needs none of them
  nil
end

require_relative "error"
require_relative "ruby_bug_22072"
require_relative "work"
require_relative "worker"
require_relative "cutter"
require_relative "ractor_pool"
require_relative "reader"

module Manypack
  module Parallel
    class Run
      # How many Ractors there are unless the caller says.
      def self.processors
        defined?(Etc) ? Etc.nprocessors : 1
      end

      # @param work [#call, nil] see Work.of
      # @return [Run]
      def self.of(source, work, ractors: processors, ordered: true, codec: nil, factory: nil, packs: false, **options)
        work = Work.of(work)
        unless ractors.is_a?(Integer) && !ractors.negative?
          raise ArgumentError, "ractors is an Integer from 0 on, not #{ractors.inspect}"
        end
        raise ArgumentError, "codec or factory, not both" if codec && factory

        codec ||= factory.codec if factory
        return Inline.new(source, work, codec, options, packs) if ractors.zero?

        InRactors.new(source, work, codec, options, packs, ractors, ordered)
      end

      # @yield [results] of one batch after another
      def each(&taker)
        @taker = taker
        error = read_all
        @cutter.finish(self, error.nil?) { |batch| give(batch) }
        wait
        raise error if error
      end

      private

      # Cuts the source and has everything worked on. Returns the error that reading it raised, which comes after the
      # results of what was read before.
      def read_all
        @reading = true
        @cutter.each(self) { |batch| meanwhile { give(batch) } }
        nil
      rescue StandardError => e
        raise unless @reading

        e
      end

      # For what is not reading in the midst of it.
      def meanwhile
        @reading = false
        yield
        @reading = true
      end

      # Hands over results, and raises a Failure.
      def deliver(results, failure, *)
        @taker.call(results)
        failure&.raise!
      end
    end
  end
end

require_relative "inline"
require_relative "in_ractors"

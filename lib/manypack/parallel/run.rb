# frozen_string_literal: true

# One call of Parallel: from a source through the Splitter to batches, and from batches to results.

begin
  require "etc"
rescue LoadError # a load path without Ruby's own libraries, for whatever reason; packing needs none of them
  nil
end

require_relative "source"
require_relative "callable"

module Manypack
  module Parallel
    # Bytes flow one way: a Run pulls them from its Source, feeds them to the Splitter, takes batches of whole messages
    # from that, and works on each. The subclasses differ in where that is done: Inline, InRactors or InProcesses. They
    # define
    #
    # messages:: how many messages a batch should have
    # idle?:: true if nothing is being worked on, so that a batch with fewer messages is welcome
    # read(missing):: returns the next Source::Piece, and may deliver results meanwhile
    # work_on(batch):: delivers the results of the batch, now or later
    # wait:: returns when all results are delivered
    class Run
      # Bytes of a batch, unless one message has more.
      BATCH_BYTES = 1 << 20

      # The default number of Ractors.
      def self.processors
        defined?(Etc) ? Etc.nprocessors : 1
      end

      # Returns the Run for the arguments of a call.
      def self.of(source, work, **options)
        maker(source, work, **options).call
      end

      # Checks the arguments of a call, and returns a Proc that makes the Run.
      def self.maker(source, work, ordered: true, codec: nil, factory: nil, as: nil, collect: nil, packs: false,
                     on_worker_start: nil, **options)
        Arguments.check_source(source)
        work = Callable.of(work)
        Callable.of(on_worker_start)
        workers, count = take_workers(options)
        raise ArgumentError, "give codec or factory, not both" if codec && factory

        Unpacker.new(as: as) # raises TypeError here and not in a worker
        as = Arguments.collecting(as) if collect
        Arguments.check_codec(codec) if codec
        Arguments.check_factory(factory) if factory
        codec ||= factory.codec if factory
        as = Arguments.loader(as, codec, options)
        # Without a block the results are the messages themselves. A process would have to send them back packed:
        # unpack them here at once.
        count = 0 if workers == :processes && work.is_a?(Callable::Identity)
        return -> { Inline.new(source, work, codec, options, as, packs, on_worker_start) } if count.zero?

        -> { WORKERS.fetch(workers).new(source, work, codec, options, as, packs, count, ordered, on_worker_start) }
      end

      # Removes the option ractors or processes from the others, and returns its name and the number of workers. Without
      # either, the workers are Ractors, unless those of this Ruby have a known bug: then the caller does the work. The
      # default never forks: that could share a connection of the block between processes.
      def self.take_workers(options)
        given = WORKERS.keys & options.keys
        raise ArgumentError, "give ractors or processes, not both" if given.size > 1

        workers = given.first || :ractors
        count = options.delete(workers) { RubyBug22072::HERE ? 0 : processors }
        return [workers, count] if count.is_a?(Integer) && !count.negative?

        raise ArgumentError, "#{workers} must be an Integer of 0 or more, got #{count.inspect}"
      end
      private_class_method :take_workers

      # The Splitter applies the limits of a Type that loads the messages, or else of the codec.
      def initialize(source, codec, as)
        @limits = Arguments.codec_of_loader(as, codec)
        @splitter = Splitter.new(@limits)
        @source = Source.of(source)
      end

      # Yields the results of one batch after another.
      def each(&taker)
        @taker = taker
        Source.reading(@source) { run }
      end

      # Yields one result after another.
      def each_result(&taker)
        each { |results| results.each(&taker) }
      end

      private

      def run
        error = split_source
        work_on_batches(true)
        rest = @splitter.rest unless error
        work_on(rest) if rest
        wait
        raise error if error
      end

      # Works on the whole source, except for bytes at its end that are not a batch yet. Returns the error that the
      # source raised, or nil. The caller raises it later, because the results of earlier messages come first.
      def split_source
        @source.is_a?(Source::List) ? split_list : split_pieces
      end

      def split_pieces
        until @splitter.ended?
          piece = read(@splitter.missing)
          return piece.error unless piece.bytes

          @splitter.feed(piece.bytes)
          work_on_batches(true)
        end
      end

      # Each String of a list has to end with a whole message. Returns an error of the list itself. An error of work on
      # a batch also leaves through the list's +each+; that one is raised again.
      def split_list
        from_list = true
        @source.strings.each do |bytes|
          @splitter.feed(bytes)
          from_list = false
          work_on_batches(idle?)
          from_list = true
          break if @splitter.ended? || !@splitter.between?
        end
        nil
      rescue StandardError => e
        raise unless from_list

        e
      end

      # If partial, the last batch may have fewer messages.
      def work_on_batches(partial)
        while (batch = @splitter.take(messages, BATCH_BYTES, partial))
          work_on(batch)
        end
      end

      # Hands over results, and raises the Failure if there is one.
      def deliver(results, failure, *)
        @taker.call(results)
        failure&.raise!
      end
    end
  end
end

require_relative "inline"
require_relative "in_ractors"
require_relative "in_processes"

module Manypack
  module Parallel
    class Run
      WORKERS = { ractors: InRactors, processes: InProcesses }.freeze
    end
  end
end

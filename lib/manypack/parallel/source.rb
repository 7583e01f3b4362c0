# frozen_string_literal: true

# Where the bytes of a run come from: a String, something to read from, or a list of Strings.

require_relative "other_end"
require_relative "reported_thread"

module Manypack
  module Parallel
    module Source
      # How many bytes are read at once: at first, and at most, after an io has filled every read so far.
      READ_BYTES = 64 << 10
      MOST_READ_BYTES = 1 << 20

      # The bytes of one read; nil at the end of the source, and if the read raised an error.
      Piece = Struct.new(:bytes, :error)

      # For sources whose bytes have to be sent to worker processes.
      module Sent
        # The bytes that are sent to a process with a batch.
        def sent(bytes, start, size, *) = bytes.byteslice(start, size)

        # Where a process finds a batch: the bytes, the start and the size that Worker#run takes.
        def found(sent, _start, size, _offset) = [sent, 0, size]
      end

      # A String is one piece, which every process has.
      class Whole
        attr_reader :string

        def initialize(string)
          @string = Splitter.frozen(string)
          @piece = Piece.new(@string)
        end

        def sent(*) = ""
        def found(_sent, start, size, _offset) = [@string, start, size]

        def read(_missing)
          piece = @piece
          @piece = Piece.new
          piece
        end

        # Returns true if read may wait, so that a Thread has to call it while results arrive.
        def waits? = false
      end

      # Anything with readpartial or read.
      class Stream
        include Sent

        def initialize(io)
          @io = io
          @read_bytes = READ_BYTES
        end

        # Returns a Piece. If the io waits until it has all bytes that it is asked for, it is asked only for +missing+:
        # the bytes that the current message lacks at least.
        def read(missing)
          bytes = Splitter.read(@io, @read_bytes, missing)
          @read_bytes = [@read_bytes * 2, MOST_READ_BYTES].min if bytes&.bytesize == @read_bytes
          Piece.new(bytes)
        rescue StandardError => e
          Piece.new(nil, e)
        end

        def waits? = true

        # Workers inherit the io, and have to close their copies of its other end.
        attr_reader :io

        def kind = @io.class
      end

      # A file that every process can read at any place.
      class RegularFile < Stream
        def initialize(file)
          super
          @origin = file.pos
        end

        def waits? = false
        def sent(*) = ""

        def found(_sent, _start, size, offset)
          bytes = @io.pread(size, @origin + offset)
          [bytes, 0, bytes.bytesize] # fewer if the file has got shorter
        end
      end

      # An Enumerable of Strings. Its each calls a block, so it cannot be read piece by piece: an Enumerator could, but
      # would not run the ensure clauses in each when a run ends early.
      List = Struct.new(:strings) { include Sent }

      # The variable of a Thread that holds the Streams of its runs.
      BEING_READ = :manypack_being_read

      # Calls the block. Meanwhile being_read includes the source, if that is a Stream.
      def self.reading(source)
        return yield unless source.is_a?(Stream)

        thread = Thread.current
        streams = thread.thread_variable_get(BEING_READ) || thread.thread_variable_set(BEING_READ, [])
        begin
          streams << source
          yield
        ensure
          streams.delete(source)
        end
      end

      # The ios that the runs of all Threads read from: a worker of one run inherits the other ends of all.
      def self.being_read
        Thread.list.flat_map { |thread| thread.thread_variable_get(BEING_READ).to_a }.map(&:io)
      end

      # Returns the Whole, Stream or List for an object. Raises TypeError for anything but a String, an object with
      # readpartial or read, or one with each.
      def self.of(object)
        if object.respond_to?(:to_str) then Whole.new(object.to_str)
        elsif Arguments.readable?(object) then regular_file?(object) ? RegularFile.new(object) : Stream.new(object)
        elsif object.respond_to?(:each) then List.new(object)
        else raise ::TypeError, "expected a String, an IO or an Enumerable of Strings, got #{object.class}"
        end
      end

      # Only for File itself: a subclass may have its own read, and pread would bypass it.
      def self.regular_file?(io)
        io.instance_of?(::File) && io.stat.file?
      end
      private_class_method :regular_file?
    end

    # Reads from a Source::Stream in a Thread of its own, one piece for each request.
    class BackgroundReader
      # The queue of events gets a Source::Piece for each request, and another one when the Thread ends.
      def initialize(source, events)
        @requests = Thread::Queue.new
        ended = ->(error) { events << Source::Piece.new(nil, error) }
        @thread = ReportedThread.start("reads from #{source.kind}", ended) do
          while (missing = @requests.pop)
            events << read(source, missing)
          end
        end
      end

      # Asks for a piece. See Source::Stream#read.
      def request(missing)
        @requests << missing
      end

      # Ends the Thread, even in the middle of a read.
      def stop
        @thread.kill
        @thread.join
      end

      private

      def read(source, missing)
        source.read(missing)
      rescue Exception => e # rubocop:disable Lint/RescueException -- the run raises it
        Source::Piece.new(nil, e)
      end
    end
    private_constant :Source, :BackgroundReader
  end
end

# frozen_string_literal: true

# Where the bytes of a run come from: a String, something to read from, or a list of Strings.

require_relative "other_end"

module Manypack
  module Parallel
    module Source
      # How much is read at once: at first, and when an io has always had as much.
      READ_BYTES = 64 << 10
      MOST_READ_BYTES = 1 << 20

      # What one read gives: bytes, or nil for them at the end and where it raised an error.
      Piece = Struct.new(:bytes, :error)

      # For what a worker process has to be sent.
      module Sent
        # What a process is sent of a batch.
        #
        # @return [String]
        def sent(bytes, start, size, *) = bytes.byteslice(start, size)

        # Where a process finds a batch.
        #
        # @return [Array] what Worker#run takes first: bytes, start and size
        def found(sent, _start, size, _offset) = [sent, 0, size]
      end

      # A String is one piece, which every process has.
      class Whole
        def initialize(string)
          @string = Splitter.frozen(string)
          @piece = Piece.new(@string)
        end

        def sent(*) = ""
        def found(_sent, start, size, _offset) = [@string, start, size]

        # @return [Piece]
        def read(_missing)
          piece = @piece
          @piece = Piece.new
          piece
        end

        # Whether read may wait, so that a run in Ractors has a Thread do it.
        def waits? = false
      end

      # Anything with readpartial or read.
      class Stream
        include Sent

        def initialize(io)
          @io = io
          @read_bytes = READ_BYTES
        end

        # @param missing [Integer] bytes that the current message lacks, at least: an io whose read waits for all that
        #   it is asked for is asked for no more
        # @return [Piece]
        def read(missing)
          bytes = Splitter.read(@io, @read_bytes, missing)
          @read_bytes = [@read_bytes * 2, MOST_READ_BYTES].min if bytes&.bytesize == @read_bytes
          Piece.new(bytes)
        rescue StandardError => e
          Piece.new(nil, e)
        end

        def waits? = true

        # Workers inherit it, and have to close their copy of its other end.
        attr_reader :io

        # The class of the io.
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
          [@io.pread(size, @origin + offset), 0, size]
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

      # @param object [String, #readpartial, #read, Enumerable<String>]
      # @return [Whole, Stream, List]
      # @raise [::TypeError] when it is none of these
      def self.of(object)
        if object.respond_to?(:to_str) then Whole.new(object)
        elsif io?(object) then regular_file?(object) ? RegularFile.new(object) : Stream.new(object)
        elsif object.respond_to?(:each) then List.new(object)
        else raise ::TypeError, "expected a String, an IO or an Enumerable of Strings, got #{object.class}"
        end
      end

      def self.io?(object)
        return false if object.respond_to?(:to_path) && !object.respond_to?(:close) # a Pathname opens the file anew

        object.respond_to?(:readpartial) || object.respond_to?(:read)
      end

      # Others may do more than reading bytes when they are asked to read.
      def self.regular_file?(io)
        io.instance_of?(::File) && io.stat.file?
      end
      private_class_method :io?, :regular_file?
    end
    private_constant :Source
  end
end

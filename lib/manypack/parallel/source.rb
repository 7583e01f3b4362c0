# frozen_string_literal: true

# Where the bytes of a run come from: a String, something to read from, or a list of Strings.
module Manypack
  module Parallel
    module Source
      # How much is read at once.
      READ_BYTES = 64 << 10

      # What one read gives: bytes, or nil for them at the end and where it raised an error.
      Piece = Struct.new(:bytes, :error)

      # A String is one piece.
      class Whole
        def initialize(string)
          @piece = Piece.new(string)
        end

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
        def initialize(io)
          @io = io
        end

        # @param missing [Integer] bytes that the current message lacks, at least: an io whose read waits for all that
        #   it is asked for is asked for no more
        # @return [Piece]
        def read(missing)
          Piece.new(Splitter.read(@io, READ_BYTES, missing))
        rescue StandardError => e
          Piece.new(nil, e)
        end

        def waits? = true

        # The class of the io.
        def kind = @io.class
      end

      # An Enumerable of Strings. Its each calls a block, so it cannot be read piece by piece: an Enumerator could, but
      # would not run the ensure clauses in each when a run ends early.
      List = Struct.new(:strings)

      # @param object [String, #readpartial, #read, Enumerable<String>]
      # @return [Whole, Stream, List]
      # @raise [::TypeError] when it is none of these
      def self.of(object)
        if object.respond_to?(:to_str) then Whole.new(object)
        elsif io?(object) then Stream.new(object)
        elsif object.respond_to?(:each) then List.new(object)
        else raise ::TypeError, "expected a String, an IO or an Enumerable of Strings, got #{object.class}"
        end
      end

      def self.io?(object)
        return false if object.respond_to?(:to_path) && !object.respond_to?(:close) # a Pathname opens the file anew

        object.respond_to?(:readpartial) || object.respond_to?(:read)
      end
      private_class_method :io?
    end
    private_constant :Source
  end
end

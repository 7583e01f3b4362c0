# frozen_string_literal: true

#--
# Compressed files. A library is loaded when the first file needs it.
#++
module Manypack
  module Files # :nodoc:
    # Chooses the class that reads or writes a file, by the file's name; nil if the file is not compressed.
    module Compressed # :nodoc:
      def self.reader(path)
        case File.extname(path)
        when ".gz" then Gzip.tap { load_library("zlib", "Zlib") }
        when ".zst" then Zstandard.tap { load_library("zstd-ruby", "Zstd") }
        end
      end

      # Raises ArgumentError for a format that can only be read.
      def self.writer(path)
        case File.extname(path)
        when ".gz" then load_library("zlib", "Zlib").then { ::Zlib::GzipWriter }
        when ".zst" then raise ArgumentError, "a .zst file can be read, but not written: #{path}"
        end
      end

      # Loads zlib before there is a compressed file, unless this Ruby was built without it. Before Ruby 3.4 only the
      # main Ractor can load it.
      def self.load_zlib
        load_library("zlib", "Zlib")
      rescue LoadError, Ractor::Error
        nil
      end

      def self.load_library(name, constant)
        Library.load(name, user: "a compressed file", constant: constant)
      end
      private_class_method :load_library
    end

    # Reads from an io that decompresses a file. Errors of the library name the file.
    Named = Struct.new(:io, :path) do # :nodoc:
      def readpartial(size)
        io.readpartial(size)
      rescue EOFError
        raise
      rescue StandardError => error # each library has errors of its own
        raise error.exception("#{Files.shown(path)}: #{error.message}"), cause: error.cause
      end
    end

    # Reads a gzip file with all its members: appending to the file adds a member.
    class Gzip # :nodoc:
      # How many bytes are decompressed at once: few, because they may become a thousand times as many.
      PIECE = 1 << 10

      # Makes Inflate accept gzip and no other format.
      GZIP = 16

      def initialize(file)
        @file = file
        @error = nil
        @between = false # true between members, where some programs write zeros
        @inflate = ::Zlib::Inflate.new(::Zlib::MAX_WBITS + GZIP)
      end

      # Returns all bytes that one piece decompresses to, whatever the size. An error comes after the bytes before it.
      def readpartial(_size)
        raise @error if @error

        bytes = +""
        decompress(@file.readpartial(PIECE), bytes) while bytes.empty?
        bytes
      rescue EOFError
        raise if @inflate.total_in.zero?

        raise ::Zlib::GzipFile::Error, "unexpected end of file"
      end

      # Leaves the file open.
      def close
        @inflate.reset # otherwise Ruby warns about unread data
        @inflate.close
      end

      private

      def decompress(piece, into)
        until (piece = @between ? piece.sub(/\A\0+/n, "") : piece).empty?
          before = @inflate.total_in
          into << @inflate.inflate(piece)
          @between = @inflate.finished?
          break unless @between

          piece = piece.byteslice(@inflate.total_in - before..)
          @inflate.reset
        end
      rescue ::Zlib::Error => e
        into << @inflate.flush_next_out
        raise if into.empty?

        @error = e
      end
    end

    # Reads a Zstandard file by the gem zstd-ruby. It does not notice where a file was cut.
    class Zstandard # :nodoc:
      PIECE = 1 << 16

      def initialize(file)
        @file = file
        @stream = ::Zstd::StreamingDecompress.new
        @piece = ""
      end

      # Returns all bytes that the library returns at once, whatever the size.
      def readpartial(_size)
        while true
          bytes, used = @stream.decompress_with_pos(@piece) # an empty piece makes it return what it held back
          @piece = @piece.byteslice(used..)
          return bytes unless bytes.empty?

          @piece = @file.readpartial(PIECE) if @piece.empty?
        end
      end

      def close; end
    end
  end
end

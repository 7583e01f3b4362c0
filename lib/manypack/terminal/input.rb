# frozen_string_literal: true

# A file or standard input as a stream of messages. Memory holds no more than one read, or one message if that is
# larger. A Fault says what is wrong with the input.
module Manypack
  module Terminal
    # An error in an input, and its offset.
    class Fault < StandardError
      # The offset of the wrong byte in the input.
      attr_reader :offset

      # The bytes of the message, as far as there are any, and the offset at which it starts.
      attr_reader :bytes, :origin

      # Returns the Fault for a DecodeError in a message that starts at +origin+.
      def self.of(error, bytes, origin)
        message = error.message.sub(/, at byte \d+\z/, "")
        around = ", in the message at byte #{origin}" unless error.offset.zero?
        new(origin + error.offset, "#{[message, error.path].compact.join(", at ")}#{around}", bytes, origin)
      end

      # Returns the Fault for an error that the user's code or its result caused, for the message at +offset+.
      def self.of_code(error, offset)
        new(offset, "#{error.message.lines.first.to_s.chomp.sub(/, at byte \d+\z/, "")} (#{error.class})")
      end

      def initialize(offset, message, bytes = "", origin = offset)
        @offset = offset
        @bytes = bytes
        @origin = origin
        super(message)
      end
    end

    class Input
      READ_BYTES = 1 << 20
      ALL = (1 << 64) - 1

      # The longest head of a message, in bytes.
      MOST_HEAD = 9

      # Seconds after which --follow reads again at the end.
      PAUSE = 0.1

      # Whole messages: a part of a String, its offset in the input, the index of the first message, and their number.
      Messages = Struct.new(:bytes, :start, :size, :index, :offset, :count) do
        def to_s
          start.zero? && size == bytes.bytesize ? bytes : bytes.byteslice(start, size)
        end

        # Yields itself, and raises a Fault for a DecodeError. Heads and lengths are right already, but some errors,
        # such as an invalid timestamp, are found only by unpacking.
        def guard
          yield self
        rescue DecodeError => e
          raise Fault.of(e, to_s, offset)
        end
      end

      PLAIN = Codec.new(**OPTIONS)

      SPLITTER = Parallel.const_get(:Splitter)
      CHECK = Manypack.const_get(:StreamCheck)

      # How many bytes a check reads at once: they fit into the caches of a processor.
      CHECK_BYTES = 1 << 17

      # The largest broken message, in bytes, that is read again to find the path of its error.
      MOST_EXPLAINED = 64 << 20
      FILES = Manypack.const_get(:Files)
      private_constant :SPLITTER, :CHECK, :FILES

      # Opens a file, which may be compressed, or standard input for "-".
      def self.open(path, **options)
        return yield(new($stdin.binmode, "stdin", **options)) if path == "-"

        File.open(path, "rb") do |file|
          raise Errno::EISDIR, path if file.stat.directory?

          FILES.decompress(file, path) do |io|
            yield new(io.equal?(file) ? io : Decompressed.new(io), path, file: file, **options)
          end
        end
      rescue LoadError => e
        raise UsageError, "#{path}: #{e.message}"
      end

      # An IO, or a Decompressed.
      attr_reader :io

      # The path of the file, or stdin.
      attr_reader :name

      # The IO that is read; it may be compressed.
      attr_reader :file

      # follow:: true to wait for more at the end
      # codec:: a Codec, for its limits
      def initialize(io, name, file: io, follow: false, codec: PLAIN)
        @io = io
        @name = name
        @file = file
        @follow = follow
        @codec = codec
      end

      # Returns true if it waits for more at the end.
      def endless?
        @follow
      end

      # Yields an IO, for a reader of lines.
      def with_io(&block)
        @io.is_a?(IO) ? yield(@io) : @io.piped(&block)
      end

      # Yields the Messages of one read after another. Raises Fault for bytes that are no message, after it has yielded
      # all whole messages before them.
      def each_read(&block)
        split(ALL, READ_BYTES, true, &block)
      end

      # Yields Messages with one message after another. Raises Fault as each_read does.
      def each_message(&block)
        return enum_for(:each_message) unless block

        split(1, ALL, false, &block)
      end

      # Checks everything without keeping it, and returns the number of messages and of bytes. Raises Fault as
      # each_read does.
      def check
        return check_reads unless @io.is_a?(IO) && @io.stat.file?

        start = @io.pos
        check = CHECK.new(@codec)
        piece = String.new(capacity: CHECK_BYTES)
        fine = true
        fine = check.pass(piece) while fine && @io.read(CHECK_BYTES, piece)
        raise fault_in_file(check, start) unless fine && check.between?

        [check.messages, check.whole]
      end

      private

      # Checks an input that cannot be read again, so each message is kept until it is whole.
      def check_reads
        count = bytes = 0
        each_read do |messages|
          count += messages.count
          bytes = messages.offset + messages.size
        end
        [count, bytes]
      end

      # Decodes the broken message again, to say what is wrong with it.
      def fault_in_file(check, start)
        from = check.whole
        size = check.passed - from + MOST_HEAD
        return Fault.new(check.passed, "a broken message of #{size} bytes or more") if size > MOST_EXPLAINED

        rest = @io.pread(size, start + from)
        fault([rest, 0, rest.bytesize, check.messages, from])
      end

      def split(objects, bytes, all, &block)
        splitter = SPLITTER.new(@codec)
        while (chunk = read)
          splitter.feed(chunk.freeze)
          while (part = splitter.take(objects, bytes, all))
            return broken(part, &block) if splitter.ended?

            Messages.new(*part, splitter.index - part[3]).guard(&block)
          end
        end
        part = splitter.rest and raise fault(part)
      end

      def read
        @io.readpartial(READ_BYTES)
      rescue EOFError
        return unless @follow

        sleep(PAUSE)
        retry
      end

      # Yields the messages before the last one, which is malformed, and then raises its Fault.
      def broken(part, &block)
        bytes, start, size, index, offset = part
        splitter = SPLITTER.new(@codec).feed(bytes.byteslice(start, size).freeze)
        nil while (last = splitter.take(1, ALL, false)) && !splitter.ended?
        last ||= splitter.rest
        Messages.new(bytes, start, last[4], index, offset, last[3]).guard(&block) if last[4].positive?
        raise fault([last[0], last[1], last[2], index + last[3], offset + last[4]])
      end

      def fault(part)
        bytes, start, size, _, offset = part
        message = bytes.byteslice(start, size)
        @codec.unpack(message)
        Fault.new(offset, "a message that cannot be read", message, offset)
      rescue DecodeError => e
        Fault.of(e, message, offset)
      end
    end
  end
end

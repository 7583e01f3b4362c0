# frozen_string_literal: true

# A file or standard input as a stream of messages. Memory holds no more than one read, or one message if that is
# larger. A Fault says what is wrong with the input.
module Manypack
  module Terminal
    # An error in an input, and its offset.
    class Fault < StandardError
      # The end of an error's message: an offset in other bytes than those of the input.
      AT_BYTE = /, at byte \d+\z/
      private_constant :AT_BYTE

      # The offset of the wrong byte in the input.
      attr_reader :offset

      # The bytes of the message, as far as there are any, and the offset at which it starts.
      attr_reader :bytes, :origin

      # Returns the Fault for a DecodeError in a message that starts at +origin+.
      def self.of(error, bytes, origin)
        message = error.message.sub(AT_BYTE, "")
        around = ", in the message at byte #{origin}" unless error.offset.zero?
        new(origin + error.offset, "#{[message, error.path].compact.join(", at ")}#{around}", bytes, origin)
      end

      # Returns the Fault for a DecodeError in what a path has found in the message at +offset+.
      def self.of_found(error, offset)
        new(offset, "what the path finds in this message: #{error.message.sub(AT_BYTE, "")}")
      end

      # Returns the Fault for an error that the user's code or its result caused, for the message at +offset+.
      def self.of_code(error, offset, message = error.message)
        new(offset, "#{message.lines.first.to_s.chomp.sub(AT_BYTE, "")} (#{error.class})")
      end

      # Returns the Fault for an error in a line of text. Leaves out advice that only helps programs, to register a
      # type.
      def self.of_line(error, line)
        message = error.message.lines.first.to_s.chomp
        new(line, message.sub(/\A\d+: /, "").sub(/; register_common.*?(?=, at |\z)/, "").delete_suffix(", at $"))
      end

      def initialize(offset, message, bytes = "", origin = offset)
        @offset = offset
        @bytes = bytes
        @origin = origin
        super(message)
      end
    end

    # The input is no stream of messages, and nothing of it was read.
    class Refused < StandardError; end

    class Input
      READ_BYTES = 1 << 16
      ALL = (1 << 64) - 1

      # The longest head of a message, in bytes.
      MOST_HEAD = 9

      # The head of a map.
      MAP = /\A[\x80-\x8f\xde\xdf]/n

      # Seconds after which --follow reads again at the end.
      PAUSE = 0.1

      # Whole messages: a part of a String, its offset in the input, the index of the first message, and their number.
      Messages = Struct.new(:bytes, :start, :size, :index, :offset, :count) do
        def to_s = start.zero? && size == bytes.bytesize ? bytes : bytes.byteslice(start, size)

        # Yields each message as Messages of one. Raises Fault as guard does.
        def each(&block)
          splitter = SPLITTER.new(PLAIN).feed(to_s.freeze)
          while (part = splitter.take(1, ALL, false))
            bytes, from, bytesize, first, at = part
            Messages.new(bytes, from, bytesize, index + first, offset + at, 1).guard(&block)
          end
        end

        # Calls +many+ with itself. If that raises a DecodeError, yields each message instead, so that those before the
        # fault count.
        def at_once(many, &one)
          many.call(self)
        rescue DecodeError
          each(&one)
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

      # With this Codec, a search stops at the first of equal keys.
      FIRST = PLAIN.with(duplicate_keys: :first)

      # Packs a Timestamp that a path finds, as it was.
      TIMES = Codec.new(timestamp: true)

      SPLITTER = Parallel.const_get(:Splitter)

      # How many bytes a check reads at once: they fit into the caches of a processor.
      CHECK_BYTES = 1 << 17

      # The largest broken message, in bytes, that is read again to find the path of its error.
      MOST_EXPLAINED = 64 << 20
      private_constant :SPLITTER

      # Opens a file, which may be compressed, or standard input for "-". Raises Refused.
      def self.open(path, **options)
        return yield(new($stdin.binmode, "stdin", **options)) if path == "-"

        File.open(path, "rb") do |file|
          raise Errno::EISDIR, path if file.stat.directory?

          Files.decompress(file, path) do |io|
            yield new(io.equal?(file) ? io : Decompressed.new(io), Visible.line(path), file: file, **options)
          end
        end
      rescue LoadError => e
        raise UsageError, "#{Visible.line(path)}: #{e.message}"
      end

      # An IO, or something with readpartial.
      attr_reader :io

      # The offset of the first message in the file.
      attr_reader :origin

      # The path of the file as it can be shown, or stdin.
      attr_reader :name

      # The IO that is read; it may be compressed.
      attr_reader :file

      # follow:: true to wait for more at the end
      # codec:: a Codec, for its limits
      # from:: hex or base64 if the bytes are written so
      # skip:: how many bytes come before the first message
      # force:: true to read what looks like another format
      def initialize(io, name, file: io, follow: false, codec: PLAIN, from: nil, skip: 0, force: false)
        @io = from ? Encoded.new(io, from) : io
        @name = name
        @file = file
        @follow = follow
        @codec = codec
        @origin = skip
        @start = @io.pos if regular? # part of standard input may have been read already
        pass(skip)
        refuse_others unless force
      end

      def self.count(bytes)
        splitter = SPLITTER.new(PLAIN).feed(bytes.freeze)
        splitter.take(ALL, ALL, true)
        splitter.index
      end

      # Returns true if the first message is a map, as far as it has been read.
      def map? = @map
      def endless? = @follow

      def with_io(&block)
        @io.is_a?(IO) ? yield(@io) : @io.piped(&block)
      end

      # Yields the Messages of one read after another. Raises Fault for bytes that are no message, after it has yielded
      # all whole messages before them.
      def each_read(&block)
        split(ALL, READ_BYTES, true, &block)
      end

      # Calls +many+ with the Messages of one read after another, or yields them one by one: see Messages#at_once.
      # Raises Fault as each_read does.
      def each_batch(many, &one)
        each_read { |messages| messages.at_once(many, &one) }
      end

      # Yields Messages with one message after another, at most that many of them. Raises Fault as each_read does.
      def each_message(most = ALL, &block)
        return enum_for(:each_message) unless block
        return if most.zero?

        split(1, ALL, false) do |message|
          yield message
          break if (most -= 1).zero?
        end
      end

      # Checks everything without keeping it, and returns the number of messages and of bytes. Raises Fault as
      # each_read does.
      def check
        return check_reads unless regular?

        start = @io.pos
        piece = String.new(capacity: CHECK_BYTES)
        *found, fine = Internal.check_stream(@codec) { |at| @io.seek(start + at) && @io.read(CHECK_BYTES, piece) }
        raise fault_in_file(start, *found) unless fine

        found.first(2)
      end

      # Returns true if any process can read the input at any place, by bytes_at.
      def regular? = @io.is_a?(IO) && @io.stat.file?
      def bytes_at(offset, size) = @io.pread(size, @start + offset)

      private

      def pass(bytes)
        return if bytes.zero?
        return seek(bytes) if regular?

        bytes -= @io.readpartial([bytes, READ_BYTES].min).bytesize while bytes.positive?
      rescue EOFError
        raise Refused, "it ends before byte #{@origin}"
      end

      def seek(bytes)
        raise EOFError if @io.pos + bytes > @io.stat.size

        @io.seek(bytes, IO::SEEK_CUR)
      end

      def refuse_others
        format = ForeignFormat.of(first_bytes) or return
        raise Refused, "it looks like #{format}, not like MessagePack; --force reads it all the same"
      rescue EOFError
        nil
      end

      # Reads the first bytes, and leaves them to be read.
      def first_bytes
        return @io.pread(ForeignFormat::BYTES, @io.pos) if regular?

        @io.readpartial(ForeignFormat::BYTES).tap { |bytes| @io.ungetbyte(bytes) }
      end

      # Checks an input that cannot be read again, so each message is kept until it is whole.
      def check_reads
        count = bytes = 0
        each_read do |messages|
          count += messages.count
          bytes = messages.offset + messages.size - @origin
        end
        [count, bytes]
      end

      # Decodes the broken message again, to say what is wrong with it.
      def fault_in_file(start, messages, whole, passed)
        size = passed - whole + MOST_HEAD
        return Fault.new(@origin + passed, "a broken message of #{size} bytes or more") if size > MOST_EXPLAINED

        rest = @io.pread(size, start + whole)
        fault([rest, 0, rest.bytesize, messages, @origin + whole])
      end

      def split(objects, bytes, all, &block)
        splitter = SPLITTER.new(@codec)
        while (chunk = read)
          @map = chunk.match?(MAP) if @map.nil?
          splitter.feed(chunk)
          chunk.clear # frees its memory for the next read, without a garbage collection
          while (part = taken(splitter.take(objects, bytes, all)))
            return broken(part, &block) if splitter.ended?

            Messages.new(*part, splitter.index - part[3]).guard(&block)
          end
          Output.stdout.flush # before it waits for more
        end
        part = taken(splitter.rest) and raise fault(part)
      end

      # Makes the offset of a batch count from the start of the file.
      def taken(part) = part && [*part.first(4), part[4] + @origin]

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

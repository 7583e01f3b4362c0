# frozen_string_literal: true

# manypack split: one stream into several files.
module Manypack
  module Terminal
    class Split < Command
      ABOUT = <<~TEXT.chomp
        Writes messages into files: PREFIX0000.msgpack and so on with -n or -b, PREFIXvalue.msgpack with --by; a long
        value is cut and ends with a digest of it. Messages without the value go to PREFIX~missing.msgpack; a condition,
        whose @ is the message, is true or false. It shows the names of the files. It refuses to overwrite a file.
      TEXT
      EXAMPLES = <<~TEXT
        manypack split -n 1000 events.msgpack
        manypack split --max-bytes 100000000 --prefix part- events.msgpack
        manypack split --by '$.type' events.msgpack
        manypack split --by '@.total > 99' events.msgpack
      TEXT

      # The longest name of a value, in bytes: file systems allow 255 with the prefix and the extension.
      MOST_NAME = 150

      # The name where there is no value. Only the names of cut values have a ~, too, and these are longer.
      MISSING = "~missing"

      # The most files that are open at the same time.
      MOST_OPEN = 64

      private

      def options(parser)
        parser.number("-n", "--lines N", "Write N messages to each file", least: 1) { |n| @most = n }
        parser.number("-b", "--max-bytes N", "Write at most N bytes to each file, or one message", least: 1) do |n|
          @most_bytes = n
        end
        parser.on("--by PATH", "Group messages by the first value that the path finds, or by a condition") do |text|
          looking = looks # also for a path, which needs it later
          @by = PathText.condition?(text) ? Selection.where(text, looking) : PathText.path(text)
        end
        looks_option(parser)
        parser.on("--prefix PREFIX", "The start of the files' names (default: part-)") { |prefix| @prefix = prefix }
      end

      def check(_paths)
        raise ArgumentError, "needs one of --lines, --max-bytes and --by" unless [@most, @most_bytes, @by].one?
      end

      def work
        @files = {}
        @seen = {}
        @number = -1
        each_input { |input| input.each_message { |message| place(message.to_s) } }
      ensure
        @files&.each_value(&:close)
      end

      def place(message)
        next_piece if !@by && full?(message)
        file(@by ? value_of(message) : format("%04d", @number)).write(message)
        return if @by

        @count += 1
        @bytes += message.bytesize
      end

      def full?(message)
        @number.negative? || (@most ? @count == @most : @count.positive? && @bytes + message.bytesize > @most_bytes)
      end

      def next_piece
        @number += 1
        @count = @bytes = 0
        close_oldest
      end

      # Two values never have the same name: a String that looks like another one, such as "1", is in quotes.
      def value_of(message)
        value = @by.is_a?(Path) ? @by.first(message, codec: looks.codec) : @by.match?(message)
        return MISSING if value.nil? && !@by.any?(message, codec: looks.codec)

        text = plain?(value) ? value : json_of(value)
        shortened(text.b.gsub(/[^\w.-]/n) { |byte| format("%%%02X", byte.ord) })
      end

      # Ends a long name with a digest of all of it, so that two values never share a file. No short name has a ~.
      def shortened(name)
        return name if name.bytesize <= MOST_NAME

        require "digest"
        "#{name[0, MOST_NAME]}~#{Digest::SHA256.hexdigest(name)[0, 16]}"
      end

      def plain?(value)
        value.is_a?(String) && value.encoding == Encoding::UTF_8 && value.valid_encoding? &&
          !value.match?(/\A(?:["\[{]|-?\d|(?:null|true|false)\z)/)
      end

      def json_of(value)
        bytes = Manypack.pack(value, timestamp: true, max_depth: OPTIONS[:max_depth])
        (@printer ||= Printer.new("json")).print(bytes).chomp
      end

      def file(name)
        @files[name] ||= begin
          close_oldest if @files.size >= MOST_OPEN
          open_file("#{@prefix || "part-"}#{name}.msgpack")
        end
      end

      def close_oldest
        _, file = @files.shift
        file&.close
      end

      def open_file(path)
        return File.open(path, "ab") if @seen[path]

        file = File.open(path, File::WRONLY | File::CREAT | File::EXCL | File::BINARY)
        @seen[path] = true
        output.write("#{path}\n")
        file
      end
    end
  end
end

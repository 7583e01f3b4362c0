# frozen_string_literal: true

# manypack cat: messages as text.
module Manypack
  module Terminal
    class Cat < Command
      ARGUMENTS = "[FILE]..."
      ABOUT = <<~TEXT.chomp
        Shows messages, one after the other. Values that JSON and YAML cannot express are written in a form that
        `manypack pack` reads back: {"$bin": BASE64}, {"$ext": [TYPE, BASE64]}, {"$timestamp": RFC 3339},
        {"$float": "NaN"}, {"$str": BASE64} for a str that is not UTF-8; a key 5 is "$5", and a key "$a" is "$$a".
      TEXT
      EXAMPLES = <<~TEXT
        manypack cat events.msgpack | jq .user
        manypack cat --to pretty -n 1 events.msgpack
        manypack cat --path '$.users[*].name' events.msgpack
        manypack cat --follow events.msgpack
      TEXT

      private

      def options(parser)
        parser.on("-t", "--to FORMAT", Printer::FORMATS, "Write #{Printer::FORMATS.join(", ")}") { |to| @format = to }
        parser.on("-p", "--path PATH", "Show what the path finds in each message") { |path| @path = Path.from(path) }
        parser.on("-n", "--lines N", Integer, "Show only the first N messages of each file") { |n| @most = n }
        parser.on("-f", "--follow", "Wait for more at the end, like tail -f") { @follow = true }
        parser.on("--hex", "Write bin as hexadecimal, under $hex") { @hex = true }
      end

      def check(paths)
        raise ArgumentError, "--lines must be 0 or more" if @most&.negative?
        raise ArgumentError, "--follow takes only one file" if @follow && paths.size > 1
      end

      def work
        @printer = Printer.new(@format || "json", hex: @hex)
        each_input(follow: @follow) { |input| show(input) }
      end

      # Shows messages one by one if only unpacking can find an error, so that all messages before the error are shown.
      def show(input)
        return input.each_read { |messages| write(messages) } unless @most || @path || @format == "ruby"

        return if @most&.zero?

        input.each_message.with_index(1) do |message, count|
          @path ? write_found(message) : write(message)
          break if count == @most
        end
      end

      def write(messages)
        output.write(@printer.print(messages.bytes, messages.start, messages.size))
      end

      def write_found(message)
        found = +"".b
        @path.each(message.to_s, **OPTIONS) { |value| found << Manypack.pack(value, timestamp: true) }
        output.write(@printer.print(found)) unless found.empty?
      end
    end
  end
end

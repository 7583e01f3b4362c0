# frozen_string_literal: true

# manypack cat: messages as text.
module Manypack
  module Terminal
    class Cat < Command
      ARGUMENTS = "[FILE]..."
      ABOUT = <<~TEXT.chomp
        Shows messages, one after the other. What JSON and YAML have not got is said in a way that
        `manypack pack` turns around: {"$bin": BASE64}, {"$ext": [TYPE, BASE64]}, {"$timestamp": RFC 3339},
        {"$float": "NaN"}, {"$str": BASE64} for a str that is no UTF-8; a key 5 is "$5", and a key "$a" is "$$a".
      TEXT
      EXAMPLES = <<~TEXT
        manypack cat events.msgpack | jq .user
        manypack cat --to pretty -n 1 events.msgpack
        manypack cat --path '$.users[*].name' events.msgpack
        manypack cat --follow events.msgpack
      TEXT

      private

      def options(parser)
        parser.on("-t", "--to FORMAT", Printer::FORMATS, "#{Printer::FORMATS.join(", ")}") { |to| @format = to }
        parser.on("-p", "--path PATH", "Show what the path finds in each message") { |path| @path = Path.new(path) }
        parser.on("-n", "--lines N", Integer, "Show only the first N messages of each file") { |n| @most = n }
        parser.on("-f", "--follow", "Wait for more at the end, like tail -f") { @follow = true }
        parser.on("--hex", "Say bin in hexadecimal digits, as $hex") { @hex = true }
      end

      def check(paths)
        raise ArgumentError, "--lines is 0 or more" if @most&.negative?
        raise ArgumentError, "--follow takes one file" if @follow && paths.size > 1
      end

      def work
        @printer = Printer.new(@format || "json", hex: @hex)
        each_input(follow: @follow) { |input| show(input) }
      end

      # One by one if one of them may turn out to be wrong: those before it are shown.
      def show(input)
        return input.each_batch { |batch| write(batch) } unless @most || @path || @format == "ruby"

        return if @most&.zero?

        input.each_message.with_index(1) do |batch, count|
          @path ? write_found(batch) : write(batch)
          break if count == @most
        end
      end

      def write(batch)
        output.write(@printer.print(batch.bytes, batch.start, batch.size))
      end

      def write_found(batch)
        found = +"".b
        @path.each(batch.to_s, **OPTIONS) { |value| found << Manypack.pack(value, timestamp: true) }
        output.write(@printer.print(found)) unless found.empty?
      end
    end
  end
end

# frozen_string_literal: true

# manypack cat: messages as text.
module Manypack
  module Terminal
    class Cat < Command
      ABOUT = <<~TEXT.chomp
        Shows messages, one after the other. Values that JSON and YAML cannot express are written in a form that
        `manypack pack` reads back: {"$bin": BASE64}, {"$ext": [TYPE, BASE64]}, {"$timestamp": RFC 3339},
        {"$float": "NaN"}, {"$str": BASE64} for a str that is not UTF-8; a key 5 is "$5", and a key "$a" is "$$a".
        A map that has a key twice is {"$map": [[KEY, VALUE], ...]}.
      TEXT
      EXAMPLES = <<~TEXT
        manypack cat events.msgpack | jq .user
        manypack cat --to pretty -n 1 events.msgpack
        manypack cat --path '$.users[*].name' events.msgpack
        manypack cat --follow events.msgpack
        manypack cat --text --open --skip-bytes 8 cache.bin
      TEXT

      # The options for the form of bin.
      FLAGS = {hex: "hex", text: "text", opening: "open"}.freeze

      private

      def writes_messages? = @format == "msgpack"

      def options(parser)
        @forms = {}
        parser.on("-t", "--to FORMAT", Printer::FORMATS, "Write #{Printer::FORMATS.join(", ")}") { |to| @format = to }
        parser.on("-p", "--path PATH", "Show what the path finds in each message") do |path|
          @found = Found.new(PathText.path(path), looks)
        end
        looks_option(parser)
        parser.number("-n", "--lines N", "Show only the first N messages of each file") { |n| @most = n }
        parser.on("-f", "--follow", "Wait for more at the end, like tail -f") { @follow = true }
        parser.on("--hex", "Write bin as hexadecimal, under $hex") { @forms[:hex] = true }
        parser.on("--text", "Write bin that is text as a string; pack makes a str of it") { @forms[:text] = true }
        parser.on("--open", "Write the array or map that a bin holds, under $packed") { @forms[:opening] = true }
      end

      def check(paths)
        raise ArgumentError, "--follow takes only one file" if @follow && paths.size > 1
        return unless whole? && @forms.any?

        raise ArgumentError, "--#{FLAGS[@forms.keys.first]} is for text, not for --to #{@format}"
      end

      # True for a format that writes bin as it is, whatever the options say.
      def whole? = %w[ruby msgpack].include?(@format)
      def search = @found

      def work
        @printer = Printer.new(@format || "json", **@forms)
        each_input(follow: @follow) { |input| show(input) }
      end

      # Shows messages one by one if only unpacking can find an error, so that all messages before the error are shown.
      def show(input)
        if @most || @format == "ruby"
          input.each_message(*@most) { |message| @found ? print(@found.packed_in(message)) : write(message) }
        elsif @found
          @found.each_batch(input) { |packed| print(packed) }
        else
          input.each_read { |messages| write(messages) }
        end
      end

      def print(packed)
        @printer.each_piece(packed) { |text| output.write(text) } unless packed.empty?
      end

      def write(messages)
        @printer.each_piece(messages.bytes, messages.start, messages.size) { |text| output.write(text) }
      end
    end
  end
end

# frozen_string_literal: true

# manypack query: what a path finds in each message.
module Manypack
  module Terminal
    class Query < Command
      ARGUMENTS = "PATH [FILE]..."
      ABOUT = <<~TEXT.chomp
        Writes what a path finds in each message, one value a line. A path is JSONPath, as RFC 9535 says; the $ may be
        missing, so .user.name and user.name are $.user.name. Nothing else of the messages is built. As csv and tsv,
        names in brackets are columns; other arrays and maps are rows, whose columns the first map names; and all
        other values that are found in one message are a row together. A missing value is an empty cell. As grep does,
        query exits with 1 if it finds nothing.
      TEXT
      EXAMPLES = <<~TEXT
        manypack query '$..user[?@.followers > 100].name' events.msgpack
        manypack query --raw .user.name events.msgpack | sort | uniq -c
        manypack query --to csv --header '$["id", "type"]' events.msgpack > types.csv
        manypack query --with-path '$..id' events.msgpack
        manypack query --to msgpack '$.items[*]' events.msgpack > items.msgpack
        manypack query -j 4 '$..url' events.msgpack.gz > urls.jsonl
      TEXT

      FORMATS = [*Printer::FORMATS, *Rows::SEPARATORS.keys].freeze

      private

      def writes_messages? = @format == "msgpack"

      def options(parser)
        parser.on("-t", "--to FORMAT", FORMATS, "Write #{FORMATS.join(", ")}") { |to| @format = to }
        parser.on("-H", "--header", "Write the names of the columns first, as csv and tsv") { @header = true }
        parser.on("-w", "--with-path", "Write each value with the path that leads to it") { @with_path = true }
        parser.number("--max-bytes N", "With --with-path: the most bytes of a message", least: 1) do |n|
          @max_bytes = n
        end
        looks_option(parser)
        parser.on("-R", "--raw", "Write strings without quotes, as jq -r does") { @raw = true }
        parser.number("-j", "--jobs N", "Work on N cores (default: 1)", least: 1) { |n| @jobs = n }
        parser.number("-n", "--lines N", "Search only the first N messages of each file") { |n| @most = n }
      end

      def load_library(lib)
        super
      rescue LoadError => e
        raise e, "-r loads a Ruby library, and -R writes strings without quotes: #{e.message}"
      end

      def check(arguments)
        raise ArgumentError, "needs a path" if arguments.empty?
        raise ArgumentError, "needs a path first, and #{Visible.line(arguments[0])} is a file" if file?(arguments[0])
        raise ArgumentError, "--jobs works without --lines" if @jobs && @most
        raise ArgumentError, "--max-bytes is for --with-path" if @max_bytes && !@with_path
        raise ArgumentError, "--raw is for --to json" if @raw && (@format || "json") != "json"
        raise ArgumentError, "--header is for --to csv and tsv" if @header && !rows?
        raise ArgumentError, "--raw writes values, and --with-path writes maps of both" if @raw && @with_path

        @path = PathText.path(arguments.shift)
      end

      # True if an argument is a file, or looks like the name of one: then the path was probably forgotten.
      def file?(argument)
        argument.match?(/\w\.(?:msgpack|mpk)(?:\.gz|\.zst)?\z/) || (!argument.start_with?("$") && File.file?(argument))
      end

      def search = @search ||= Found.new(@path, looks)

      def work
        @columns = Rows.columns(@path, @header) if rows? && !@with_path
        @writer = rows? ? rows : Printer.new(@format || "json")
        each_input { |input| show(input) }
      end

      def rows? = Rows::SEPARATORS.key?(@format)
      def rows = Rows.new(@format, titles: @columns, header: @header, visible: output.tty?)

      def emit(text)
        return if text.empty?

        output.write(@writer.header) if @header
        @most ? output.keep(text) : output.write(text)
      end

      def show(input)
        @found = Found.new(@path, looks, with_path: @with_path, grouped: @columns ? :rows : rows?,
                                         max_bytes: @max_bytes)
        show_text = ->(packed, messages) { each_text(packed, messages) { |text| emit(text) } }
        if @most then input.each_message(@most) { |message| @found.in_batch(message, &show_text) }
        elsif many_cores? then ManyCores.new(@found, @jobs, &method(:each_text)).each_piece(input) { |text| emit(text) }
        else @found.each_batch(input, &show_text)
        end
      end

      # One process makes rows if the first map names their columns.
      def many_cores?
        @jobs && @jobs > 1 && Process.respond_to?(:fork) && (!rows? || !@columns.nil?)
      end

      # Yields the text of what was found in messages. Some errors, such as an invalid timestamp, are found only here:
      # raises Fault after the text of the messages before.
      def each_text(packed, messages, &block)
        return text(packed, &block) if at_once?(messages)

        pieces = []
        text(packed) { |piece| pieces << piece }
        pieces.each(&block)
      rescue DecodeError, Rows::Misfit => e
        raise Fault.of_found(e, messages.offset) if at_once?(messages)

        messages.each { |message| @found.in_batch(message) { |found, one| each_text(found, one, &block) } }
      end

      # True if text is written piece by piece: for a single message, and for formats whose text can be a thousand times
      # as long.
      def at_once?(messages)
        messages.count == 1 || %w[pretty yaml].include?(@format)
      end

      def text(packed, &block) = @raw ? raw(packed, &block) : @writer.each_piece(packed, &block)

      # Writes Strings as they are, except that on a terminal each is one line, with control characters escaped. Writes
      # other values as JSON.
      def raw(packed, &block)
        pieces = Pieces.new(&block)
        Manypack.split(packed, max_depth: OPTIONS[:max_depth]) do |bytes|
          text = Input::PLAIN.unpack(bytes)
          next pieces.write(@writer.print(bytes)) unless text.is_a?(String)

          pieces.write("#{output.tty? ? Visible.line(text) : text}\n".b)
        end
        pieces.flush
      end
    end
  end
end

# frozen_string_literal: true

# manypack pack: messages from text.
module Manypack
  module Terminal
    class Pack < Command
      ARGUMENTS = "[FILE]..."
      ABOUT = <<~TEXT.chomp
        Makes a message of each line of JSON Lines, of a JSON or YAML document, or of each row of a CSV file that has a
        header. The name of a file tells its format; standard input is JSON Lines. It turns around what
        `manypack cat` says. A message about a line has its number.
      TEXT
      EXAMPLES = <<~TEXT
        echo '{"id": 1}' | manypack pack > message.msgpack
        manypack pack --from csv people.txt | manypack cat
        manypack cat events.msgpack | sed s/Ada/Grace/ | manypack pack > changed.msgpack
      TEXT

      FORMATS = %w[jsonl json yaml csv].freeze
      BY_NAME = {".json" => "json", ".yaml" => "yaml", ".yml" => "yaml", ".csv" => "csv"}.freeze

      # How many bytes are written at once.
      WRITE_BYTES = 1 << 16

      private

      def options(parser)
        parser.on("-f", "--from FORMAT", FORMATS, "jsonl, json, yaml or csv") { |format| @format = format }
      end

      def work
        @packed = +"".b
        each_input do |input|
          input.with_io { |io| __send__(@format || format_of(input.name), io) }
        ensure
          flush
        end
      end

      def format_of(name)
        BY_NAME.fetch(File.extname(name.sub(/\.(?:gz|zst)\z/, "")).downcase, "jsonl")
      end

      def jsonl(io)
        require "json"
        io.each_line.with_index(1) do |line, number|
          next if line.match?(/\A\s*\z/)

          at(number) { parse_json(line) }
        end
      end

      def json(io)
        require "json"
        at(1) { parse_json(io.read) }
      end

      # Most lines have nothing to turn around, and no need to be walked through for it.
      def parse_json(text)
        object = ::JSON.parse(text.force_encoding(Encoding::UTF_8), max_nesting: MAX_NESTING, allow_duplicate_key: true)
        text.include?('"$') || text.include?("\\u0024") ? FromJSON.object(object) : object
      end

      MAX_NESTING = 512
      private_constant :MAX_NESTING

      def yaml(io)
        require "yaml"
        require "date"
        each_document(io) do |text, number|
          at(number) { FromJSON.object(YAML.safe_load(text, permitted_classes: [Date, ::Time])) }
        end
      end

      # Yields each YAML document, and the number of its first line.
      def each_document(io)
        text = "".b
        from = 1
        io.each_line.with_index(1) do |line, number|
          if line.match?(/\A---(\s|\z)/) && document?(text)
            yield text.force_encoding(Encoding::UTF_8), from
            text = "".b
            from = number
          end
          text << line
        end
        yield text.force_encoding(Encoding::UTF_8), from if document?(text)
      end

      # Comments and directives belong to what follows them.
      def document?(text)
        text.each_line.any? { |line| !line.match?(/\A\s*([#%]|\z)/) }
      end

      def csv(io)
        load_csv
        csv_rows(io)
      end

      def csv_rows(io)
        io.set_encoding(Encoding::UTF_8)
        rows = CSV.new(io, headers: true)
        rows.each { |row| at(rows.lineno) { row.to_h } }
      rescue CSV::MalformedCSVError => e
        raise Fault.new(rows.lineno, e.message)
      end

      def load_csv
        Library.load("csv", user: "CSV")
      rescue LoadError => e
        raise UsageError, "pack: #{e.message}"
      end

      def flush
        output.write(@packed) unless @packed.empty?
        @packed.clear
      end

      # What is wrong with a line is a fault there.
      def at(number)
        object = yield
        @packed << Manypack.pack(object)
      rescue StandardError => e
        raise Fault.new(number, e.message.lines.first.to_s.chomp.sub(/\A\d+: /, ""))
      else
        flush if @packed.bytesize > WRITE_BYTES
      end
    end
  end
end

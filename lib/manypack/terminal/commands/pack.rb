# frozen_string_literal: true

# manypack pack: messages from text.
module Manypack
  module Terminal
    class Pack < Command
      ARGUMENTS = "[FILE]..."
      ABOUT = <<~TEXT.chomp
        Packs each line of JSON Lines, each JSON or YAML document, or each row of a CSV file with a header as a message.
        The name of a file says its format; standard input is JSON Lines. It reads back what `manypack cat` writes.
        Errors name the line.
      TEXT
      EXAMPLES = <<~TEXT
        echo '{"id": 1}' | manypack pack > message.msgpack
        manypack pack --from csv people.txt | manypack cat
        manypack cat events.msgpack | sed s/Ada/Grace/ | manypack pack > changed.msgpack
      TEXT

      FORMATS = %w[jsonl json yaml csv].freeze
      BY_NAME = {".json" => "json", ".yaml" => "yaml", ".yml" => "yaml", ".csv" => "csv"}.freeze

      # How many bytes are read at once, and written at once.
      PIECE_BYTES = 1 << 16

      JSON_TEXT = Manypack.const_get(:JSONText)
      private_constant :JSON_TEXT

      private

      def writes_messages?
        true
      end

      def reads_messages?
        false
      end

      def options(parser)
        parser.on("-f", "--from FORMAT", FORMATS, "Read jsonl, json, yaml or csv") { |format| @format = format }
      end

      def work
        @packed = +"".b
        each_input do |input|
          input.with_io { |io| pack(@format || format_of(input.name), io) }
        ensure
          flush
        end
      end

      def pack(format, io)
        case format
        when "jsonl" then jsonl(io)
        when "json" then json(io)
        when "yaml" then yaml(io)
        when "csv" then csv(io)
        end
      end

      def format_of(name)
        BY_NAME.fetch(File.extname(name.sub(/\.(?:gz|zst)\z/, "")).downcase, "jsonl")
      end

      def jsonl(io)
        each_lines(io) do |text, number|
          start = 0
          while start < text.bytesize
            packed, stop = JSON_TEXT.parse(text, start, true)
            @packed << packed
            number += text.byteslice(start, stop - start).count("\n")
            start = stop + line(text.byteslice(stop..), number)
            number += 1
          end
          flush
        end
      end

      # Yields whole lines as they arrive, and the number of the first one. The last one may lack its newline.
      def each_lines(io)
        number = 1
        rest = "".b
        while (piece = read(io))
          whole = piece.rindex("\n")
          next rest << piece unless whole

          text = rest << piece.byteslice(0..whole)
          rest = piece.byteslice(whole + 1..)
          yield text, number
          number += text.count("\n")
        end
        yield rest, number
      end

      def read(io)
        io.readpartial(PIECE_BYTES)
      rescue EOFError
        nil
      end

      # Builds the objects of the first line of the text, packs them, and returns how many bytes the line has.
      def line(text, number)
        line = text[/.*\n?/]
        at(number) { parse_json(line) } unless line.match?(/\A\s*\z/)
        line.bytesize
      end

      def json(io)
        text = io.read
        packed, stop = JSON_TEXT.parse(text, 0, false)
        return @packed << packed if stop == text.bytesize && !packed.empty?

        at(1) { parse_json(text) }
      end

      # Most texts have no key with a $, so their objects need not be converted.
      def parse_json(text)
        require "json"
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
        ended = false
        io.each_line.with_index(1) do |line, number|
          if (ended || line.match?(/\A---(\s|\z)/)) && document?(text)
            yield text.force_encoding(Encoding::UTF_8), from
            text = "".b
            from = number
          end
          ended = line.match?(/\A\.\.\.(\s|\z)/)
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

      # Reads bytes, not text: for invalid text CSV reports a wrong line, and loses the rows before it.
      def csv_rows(io)
        io.set_encoding_by_bom # spreadsheets write one
        rows = CSV.new(io.set_encoding(Encoding::BINARY), headers: true, return_headers: true)
        line = 1
        rows.each do |row|
          at(line) { hash_of(row) } unless row.header_row?
          line += rows.line.scan(/\r\n?|\n/).size
        end
      rescue CSV::MalformedCSVError => e
        raise Fault.new(line, e.message.sub(/ in line \d+\.\z/, ""))
      end

      # A cell without a column, or one of two columns of the same name, would be lost in a Hash.
      def hash_of(row)
        columns = row.headers.map { |name| text(name) }
        twice = columns.tally.find { |_, count| count > 1 }&.first
        raise ArgumentError, "#{columns.size} cells, but #{columns.compact.size} column names" if columns.include?(nil)
        raise ArgumentError, "two columns are called #{twice}" if twice

        columns.zip(row.fields.map { |cell| text(cell) }).to_h
      end

      def text(bytes)
        text = bytes&.dup&.force_encoding(Encoding::UTF_8)
        raise ArgumentError, "invalid byte sequence in UTF-8" unless text.nil? || text.valid_encoding?

        text
      end

      # Ruby includes the gem csv only before 3.4.
      def load_csv
        require "csv"
      rescue LoadError => e
        raise unless e.path == "csv"

        raise UsageError, "pack: CSV needs the gem csv: gem install csv, or gem \"csv\" in your Gemfile"
      end

      def flush
        output.write(@packed) unless @packed.empty?
        @packed.clear
      end

      # Packs the object that the block returns. An error is a Fault of the line.
      def at(number)
        object = yield
        @packed << Manypack.pack(object)
      rescue StandardError => e
        raise Fault.new(number, e.message.lines.first.to_s.chomp.sub(/\A\d+: /, ""))
      else
        flush if @packed.bytesize > PIECE_BYTES
      end
    end
  end
end

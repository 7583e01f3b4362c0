# frozen_string_literal: true

# manypack pack: messages from text.
module Manypack
  module Terminal
    class Pack < Command
      ABOUT = <<~TEXT.chomp
        Packs each JSON or YAML document, or each row of a CSV file with a header, as a message. JSON documents follow
        each other on lines or not. The name of a file says its format; standard input is JSON. It reads back what
        `manypack cat` writes. Errors name the line and the column.
      TEXT
      EXAMPLES = <<~TEXT
        echo '{"id": 1}' | manypack pack > message.msgpack
        manypack pack --from csv people.txt | manypack cat
        manypack cat events.msgpack | sed s/Ada/Grace/ | manypack pack > changed.msgpack
      TEXT

      FORMATS = %w[jsonl json yaml csv].freeze
      BY_NAME = {".jsonl" => "jsonl", ".ndjson" => "jsonl", ".yaml" => "yaml", ".yml" => "yaml", ".csv" => "csv"}.freeze

      private

      def writes_messages? = true
      def reads_messages? = false

      def options(parser)
        parser.on("-f", "--from FORMAT", FORMATS, "Read json, jsonl (a text on each line), yaml or csv") do |format|
          @format = format
        end
      end

      def work
        each_input { |input| input.with_io { |io| pack(@format || format_of(input.name), io) } }
      end

      def pack(format, io)
        case format
        when "json" then json(io, false)
        when "jsonl" then json(io, true)
        when "yaml" then yaml(io)
        when "csv" then csv(io)
        end
      end

      def format_of(name)
        BY_NAME.fetch(File.extname(name.sub(/\.(?:gz|zst)\z/, "")).downcase, "json")
      end

      # Writes all texts of one read at once.
      def json(io, lines)
        JSONDocuments.new(io, lines: lines) { |packed| output.write(packed) }.read
      end

      def yaml(io)
        require "yaml"
        each_document(without_bom(io)) { |text, number| documents(text, number) }
      end

      # Returns the io after a byte order mark, for reading bytes.
      def without_bom(io)
        encoding = io.set_encoding_by_bom
        return io.set_encoding(Encoding::BINARY) if [nil, Encoding::UTF_8].include?(encoding)

        raise Fault.new(1, "it is #{encoding}; iconv -f #{encoding} -t UTF-8 converts it")
      end

      # Packs the documents of a text that starts at that line.
      def documents(text, number)
        check_encoding(text, number)
        FromYAML.each(text) { |value, document| at(number + document.root.start_line) { FromJSON.pack(value) } }
      rescue FromYAML::Invalid => e
        raise Fault.new(number + e.line, "#{e.message}, at column #{e.column + 1}")
      rescue Psych::SyntaxError => e
        raise Fault.new(number + e.line - 1, "#{[e.problem, e.context].compact.join(" ")}, at column #{e.column + 1}")
      end

      def check_encoding(text, number)
        return if text.valid_encoding?

        before = text.each_line.take_while(&:valid_encoding?)
        raise Fault.new(number + before.size, "invalid byte sequence in UTF-8")
      end

      def each_document(io)
        text = "".b
        from = 1
        io.each_line.with_index(1) do |line, number|
          ends = line.match?(/\A\.\.\.(\s|\z)/)
          text << line if ends
          if (ends || line.match?(/\A---(\s|\z)/)) && document?(text)
            yield text.force_encoding(Encoding::UTF_8), from
            text = "".b
            from = ends ? number + 1 : number
          end
          text << line unless ends
        end
        yield text.force_encoding(Encoding::UTF_8), from if document?(text)
      end

      # Comments and directives belong to what follows them.
      def document?(text)
        text.each_line.any? { |line| !line.match?(/\A\s*([#%]|\z)/) }
      end

      # Reads bytes, not text: for invalid text CSV reports a wrong line.
      def csv(io)
        load_csv
        names = nil
        each_row(without_bom(io)) do |cells, line|
          next if cells.empty? # a blank line

          at(line) { names ? Manypack.pack(hash_of(names, cells)) : check_header(names = cells) }
        end
      end

      def each_row(io)
        line = 1
        CSVRecords.new(io).each do |records|
          rows = parsed(records)
          records.each.with_index do |record, i|
            yield rows ? rows[i] : cells(record, line), line
            line += 1 + record.scan(/\r\n?|\n/n).size
          end
        end
      end

      # Parses many records together, which takes a fifth of the time. Returns nil if one of them is no CSV.
      def parsed(records)
        rows = CSV.parse(records.join("\n") << "\n", row_sep: "\n")
        rows if rows.size == records.size
      rescue CSV::MalformedCSVError
        nil
      end

      def cells(record, line)
        CSV.parse_line("#{record}\n", row_sep: "\n")
      rescue CSV::MalformedCSVError => e
        raise Fault.new(line, e.message.sub(/ in line \d+\.\z/, ""))
      end

      # Raises ArgumentError for zero bytes, which show UTF-16 or UTF-32 without a byte order mark, and for a column
      # without a name or with that of another: its cells would be lost in a Hash. Returns nothing to pack.
      def check_header(names)
        raise ArgumentError, "a zero byte in the name of a column; is it UTF-16?" if names.join.include?("\0")

        unnamed = names.index(nil) and raise ArgumentError, "column #{unnamed + 1} has no name"
        names.each { |name| text(name) }
        twice = names.tally.find { |_, count| count > 1 }&.first
        raise ArgumentError, "two columns are called #{twice}" if twice

        ""
      end

      def hash_of(names, cells)
        if cells.size > names.size
          raise ArgumentError, "#{cells.size} cells, but #{names.size} column name#{"s" if names.size != 1}"
        end

        names.zip(cells).to_h { |name, cell| [text(name), text(cell)] }
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

      # The block returns packed bytes, which are written: a reader may wait for them. An error is a Fault of the line.
      def at(number)
        packed = yield
      rescue FromYAML::Invalid
        raise
      rescue SystemStackError
        raise Fault.new(number, "nested too deep")
      rescue StandardError => e
        raise Fault.of_line(e, number)
      else
        output.write(packed)
      end
    end
  end
end

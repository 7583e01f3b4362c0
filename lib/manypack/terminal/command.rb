# frozen_string_literal: true

# The base class of all commands: options, help, the files one after the other, and the exit code.
module Manypack
  module Terminal
    class Command
      # The arguments of most commands, as the help shows them.
      ARGUMENTS = "[FILE]..."

      # Parses the arguments, works on the files, and returns the exit code.
      def run(arguments)
        @status = FINE
        @paths = parse(arguments)
        return FINE if @helped

        refuse_terminal if writes_messages?
        work
        found_nothing if search && @status == FINE && !found?
        @status
      end

      # Returns the OptionParser. The completion scripts and the man page are made from it, too.
      def parser
        Options.new do |parser|
          parser.program_name = "manypack"
          parser.banner = "Usage: manypack #{name} [OPTION]... #{self.class::ARGUMENTS}"
          parser.separator("\n#{self.class::ABOUT}\n\n")
          options(parser)
          input_options(parser) if reads_messages?
          parser.on("-r", "--require LIB", "Load a Ruby library, for example one with ext types") do |lib|
            load_library(lib)
          end
          parser.on("-h", "--help", "Show this text") { tell(parser.help) }
          parser.on("-V", "--version", "Show the version") { tell("manypack #{VERSION}\n") }
          parser.separator("\nExamples:\n#{self.class::EXAMPLES.gsub(/^(?=.)/, "  ")}")
        end
      end

      private

      def parse(arguments)
        paths = parser.permute(arguments)
        check(paths) unless @helped
        look_for_first_keys if @first_key && !@helped
        paths.empty? ? ["-"] : paths
      rescue ArgumentError, LoadError, UsageError => e
        raise UsageError, "#{name}: #{e.message}"
      end

      # Commands override this to refuse paths and options.
      def check(paths); end

      def check_two(paths, order = nil)
        raise ArgumentError, "needs two files#{order}" unless paths.size == 2
        raise ArgumentError, "only one of the files can be standard input" if paths == %w[- -]
      end

      def name = self.class.name[/\w+\z/].downcase

      def options(parser); end

      # Holds the Codec by which paths and conditions read messages. It is set when all options are known.
      Looks = Struct.new(:codec)
      private_constant :Looks

      def looks
        @looks ||= Looks.new(Input::PLAIN)
      end

      # Adds the option of every command that takes a path or a condition.
      def looks_option(parser)
        parser.on("--first-key", "Of equal keys find the first, and read no further: faster") { @first_key = true }
      end

      # Adds the option of every command that selects messages by a condition.
      def where_option(parser, what)
        parser.on("-w", "--where CONDITION", "#{what} messages, such as '@.total > 99'; or PATH[=VALUE]") do |text|
          select_by(Selection.where(text, looks))
        end
      end

      def select_by(selection)
        raise ArgumentError, "takes one of --where and --path" if @selection

        @selection = selection
      end

      def look_for_first_keys
        search # calls looks, if nothing has called it yet
        raise ArgumentError, "--first-key is for paths and conditions" unless @looks

        @looks.codec = Input::FIRST
      end

      # Adds the options of every command that reads messages.
      def input_options(parser)
        parser.on("--from ENCODING", Encoded::FORMS.keys, "Read #{Encoded::FORMS.keys.join(" or ")}") do |encoding|
          reading[:from] = encoding
        end
        parser.number("--skip-bytes N", "Skip the first N bytes of each file, such as a header") do |n|
          reading[:skip] = n
        end
        parser.on("--force", "Read a file that looks like another format, such as JSON") { reading[:force] = true }
      end

      # Returns true for a command that writes MessagePack.
      def writes_messages? = false

      # Raises UsageError if packed bytes would go to a terminal, which might obey some of them.
      def refuse_terminal
        return unless output.tty?

        raise UsageError, "#{name}: MessagePack is not for a terminal; redirect it, or pipe it to manypack cat"
      end

      # Returns false for a command that reads text.
      def reads_messages? = true

      # The options of Input for reading messages.
      def reading
        @reading ||= reads_messages? ? {} : {force: true}
      end

      # Writes text instead of running the command.
      def tell(text)
        output.write(text) unless @helped
        @helped = true
      end

      def load_library(lib)
        require(lib.match?(%r{\A\.{0,2}/}) ? File.expand_path(lib) : lib)
      rescue StandardError, SyntaxError => e
        raise UsageError, "-r #{lib}: #{e.message.lines.first.to_s.chomp} (#{e.class})"
      end

      def output = Output.stdout

      # Returns what the command searches for, if anything: any object, which may have a path.
      def search = @selection
      def found? = output.written?

      def found_nothing
        @status = NOTHING
        path = search.path if search.respond_to?(:path)
        condition = PathText.filter(path) if path && @maps
        return unless condition

        Terminal.say("nothing found: in #{path}, @ is each value of a message; " \
                     "filter --where '#{condition}' tests the message")
      end

      # Yields each file. Reports its faults and failures, and goes on with the next file.
      def each_input(paths = @paths, **options)
        paths.each do |path|
          Input.open(path, **reading, **options) do |input|
            with_progress(input) { guard(input.name) { yield input } }
            @maps ||= input.map?
          end
        rescue Refused => e
          fail_with(INVALID, "#{shown(path)}: #{e.message}")
        rescue Fault => e
          report(shown(path), e)
        rescue SystemCallError => e
          fail_with(IO_FAILED, failure(path, e))
        end
      end

      # Shows no bar if the command writes to a terminal, or to a pipe, which may lead to a pager on the same terminal.
      def with_progress(input, &block)
        input.endless? || (streams? && !output.file?) ? yield : Progress.of(input.file, input.name, &block)
      end

      def counted(count, noun)
        "#{count} #{noun}#{"s" if count != 1}"
      end

      # Returns false for a command that writes nothing before it has read a file.
      def streams? = true

      # The error may be about another file, such as one that is written: "File exists @ rb_sysopen - part-1.msgpack".
      def failure(path, error)
        what, file = error.message.b.split(/ (?:@ \w+ )?- /, 2)
        "#{file ? Visible.line(file).sub(/\Afd:\d+ /, "") : shown(path)}: #{what}"
      end

      def shown(path) = path == "-" ? "stdin" : Visible.line(path)

      def guard(name)
        yield
      rescue Fault => e
        report(name, e)
      ensure
        output.flush
      end

      def report(name, fault) = fail_with(INVALID, "#{name}:#{fault.offset}: #{fault.message}")

      # The worst exit code counts.
      def fail_with(status, message)
        output.flush
        @status = [@status, status].max
        Terminal.say(Visible.line(message))
      end
    end
  end
end

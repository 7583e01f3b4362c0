# frozen_string_literal: true

# The program `manypack`: runs a command, and turns an error into a message and an exit code.
require_relative "../manypack"

module Manypack
  init_terminal unless const_defined?(:JSONText, false) # which makes JSONText and Tally

  module Terminal
    # Exit codes.
    FINE = 0
    INVALID = 1 # input that is invalid, or differs
    NOTHING = 1 # nothing was found, as with grep
    USAGE = 2
    BUG = 70
    IO_FAILED = 74

    # The class of each command, and what the command does. Each class has a file of its own.
    COMMANDS = {
      "cat" => ["Cat", "show messages as JSON, YAML, Ruby or MessagePack"],
      "pack" => ["Pack", "make messages from JSON, YAML or CSV"],
      "inspect" => ["Inspect", "show what each byte means"],
      "query" => ["Query", "write what a path finds, as JSON, CSV or others"],
      "validate" => ["Validate", "check messages without building them"],
      "stat" => ["Stat", "count types, bytes by path, depths and sizes"],
      "filter" => ["Filter", "keep or change messages by Ruby code or by a field"],
      "count" => ["Count", "count messages"],
      "slice" => ["Slice", "take some messages, by number, size or a field's value"],
      "split" => ["Split", "spread messages over several files"],
      "concat" => ["Concat", "write the messages of several files one after the other"],
      "diff" => ["Diff", "compare two streams by path"],
      "canon" => ["Canon", "write the canonical form, or check for it"],
      "schema" => ["Schema", "infer the shape of messages, as a Record"],
      "describe" => ["Describe", "describe the Records of a program"],
      "compatible" => ["Compatible", "compare such descriptions of two versions"],
      "completion" => ["Completion", "write the completion script for a shell"]
    }.freeze

    # Other names of commands.
    ALIASES = {"unpack" => "cat"}.freeze

    # The options for reading messages: exts become ExtensionValues, so that no code of the user runs, and messages may
    # be deeper than Manypack.unpack allows.
    OPTIONS = {allow_unknown_ext: true, max_depth: 512}.freeze

    # The command cannot do what the user typed.
    class UsageError < StandardError; end

    # The reader of our output has closed its pipe.
    class ClosedPipe < StandardError; end

    # The file of each class.
    files = {
      Colors: "output", Output: "output", Command: "command", Fault: "input", Input: "input", Refused: "input",
      Hint: "hint", Options: "options", PathText: "path_text",
      CSVRecords: "input/csv_records", Decompressed: "input/decompressed", Encoded: "input/encoded",
      ForeignFormat: "input/foreign_format", FromJSON: "input/from_json", FromYAML: "input/from_yaml",
      JSONDocuments: "input/json_documents", Pushback: "input/pushback",
      Difference: "messages/difference", Exts: "messages/exts", Found: "messages/found",
      ManyCores: "messages/many_cores", Selection: "messages/selection", Shape: "messages/shape",
      Definition: "output/definition", HeadLine: "output/head_line",
      Pieces: "output/pieces", Printer: "output/printer", Progress: "output/progress", Rows: "output/rows",
      Twins: "output/twins", Visible: "output/visible", YAMLStream: "output/yaml_stream"
    }
    files.each { |name, path| autoload(name, "#{__dir__}/terminal/#{path}") }

    module_function

    # Runs a command and returns the exit code. The arguments are UTF-8, as the messages are, even in the locale C.
    def run(arguments)
      guard { dispatch(*arguments.map { |argument| text(argument) }) }
    end

    # Names of files may be any bytes.
    def text(argument)
      text = argument.dup.force_encoding(Encoding::UTF_8)
      text.valid_encoding? ? text : text.b
    end

    # Ctrl-C raises Interrupt by Thread#raise, which Output can postpone until a whole message is written.
    def guard
      main = Thread.current
      trap("INT") do
        trap("INT", "SYSTEM_DEFAULT")
        main.raise(Interrupt)
      end
      yield
    rescue ClosedPipe
      FINE
    rescue UsageError => e
      say(e.message)
      USAGE
    rescue SystemCallError, IOError => e
      say(Visible.line(e.message))
      IO_FAILED
    rescue NoMemoryError, SystemStackError, StandardError => e
      say(Visible.line("a bug of manypack: #{e.message} (#{e.class} at #{e.backtrace&.first})"))
      BUG
    rescue Interrupt
      Process.kill("INT", Process.pid)
      sleep
    end

    def dispatch(name = nil, *arguments)
      case name
      when nil then raise UsageError, "which command?\n\n#{help}"
      when "-h", "--help" then Output.stdout.write(help)
      when "-V", "--version" then Output.stdout.write("manypack #{VERSION}\n")
      when "help" then return arguments.empty? ? dispatch("--help") : dispatch(arguments.first, "--help")
      else return command(name).new.run(arguments)
      end
      FINE
    end

    def command(name)
      name = ALIASES.fetch(name, name)
      constant, = COMMANDS.fetch(name) do
        hint = Hint.for_command(name, [*COMMANDS.keys, *ALIASES.keys])
        raise UsageError, "unknown command #{Visible.line(name)}#{hint}"
      end
      require_relative "terminal/commands/#{name}"
      const_get(constant)
    end

    def help
      <<~TEXT
        Usage: manypack COMMAND [OPTION]... [FILE]...

        Shows, converts and checks MessagePack. Without a FILE, or with -, a command reads standard input.

        #{COMMANDS.map { |name, (_, what)| format("  %-10s %s", name, what) }.join("\n")}

        unpack is another name for cat. manypack COMMAND --help shows options and examples.
        Exit codes: 0 success; 1 input is invalid or differs, or nothing was found; 2 wrong usage; 70 a bug of
        manypack; 74 reading or writing failed.
      TEXT
    end

    # Calls the block without Ruby's warnings, such as those about a Float out of range or about a user's code.
    def quietly
      verbose, $VERBOSE = $VERBOSE, nil
      yield
    ensure
      $VERBOSE = verbose
    end

    def say(message)
      Progress.aside($stderr) { $stderr.puts("manypack: #{Visible.lines(message)}") }
    rescue Errno::EPIPE
      nil
    end
  end
end

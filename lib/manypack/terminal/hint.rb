# frozen_string_literal: true

# Guesses what the user meant by an option that does not exist, or that takes other arguments.
module Manypack
  module Terminal
    class Hint
      # The names that other programs have for an option.
      HABITS = {
        "--lines" => %w[head limit count take max number first tail], "--skip" => %w[drop offset from],
        "--at" => %w[offset byte position], "--path" => %w[where select query filter jq],
        "--where" => %w[path select filter], "--raw" => %w[raw-output r], "--by" => %w[key group field],
        "--to" => %w[format output-format T], "--from" => %w[format input-format],
        "--untrusted" => %w[strict check limits], "--quiet" => %w[brief silent], "--execute" => %w[eval code ruby map],
        "--jobs" => %w[parallel threads processes cores workers], "--name" => %w[class record struct],
        "--follow" => %w[tail watch], "--skip-bytes" => %w[header seek offset]
      }.freeze

      # The names that other programs have for a command.
      COMMANDS = {
        "head" => "cat -n N or slice -n N", "tail" => "cat --follow or slice --skip N", "wc" => "count",
        "grep" => "filter",
        "select" => "filter", "jq" => "query", "get" => "query", "json" => "cat", "dump" => "cat", "decode" => "cat",
        "encode" => "pack", "check" => "validate", "verify" => "validate", "hexdump" => "inspect", "merge" => "concat"
      }.freeze

      REDIRECT = "write to a file by > FILE"
      COMPACT = "JSON is compact unless --to pretty is given"
      TABLE = "manypack query writes csv and tsv, as in manypack query --to csv '$[\"id\", \"type\"]' FILE"
      FIRST = "manypack slice -n N takes N messages, as in manypack filter -e CODE FILE | manypack slice -n N"

      # Advice about options that do not exist, because something else does it.
      ADVICE = {
        "output" => REDIRECT, "out" => REDIRECT, "o" => REDIRECT, "compact" => COMPACT, "compact-output" => COMPACT,
        "c" => COMPACT, **["n", "lines", *HABITS["--lines"]].to_h { |name| [name, FIRST] },
        "csv" => TABLE, "tsv" => TABLE, "color" => "colours are for terminals; NO_COLOR=1 turns them off"
      }.freeze

      # choices:: for each option that takes one of several words, such as --to, these words
      # names:: all options
      def initialize(choices, names)
        @choices = choices
        @names = names
      end

      # Returns the end of a message about an unknown command.
      def self.for_command(name, names)
        return "; use #{COMMANDS[name]}" if COMMANDS.key?(name)

        meant = Guesses.similar(name, names)
        meant ? ", did you mean #{meant}?" : "; manypack --help lists them"
      end

      # Returns the end of a message about an option, as it was typed.
      def for_option(typed)
        name = typed[/[\w-]+/].to_s.sub(/\A-+/, "")
        meant = choice(name) || habit(name) || similar(name)
        return ", did you mean #{meant}?" if meant

        ADVICE.key?(name) ? "; #{ADVICE[name]}" : "; --help lists the options"
      end

      # Returns the end of a message about the argument of an option.
      def for_argument(option, argument)
        words = @choices[option] or return ""
        "; #{option} takes #{words.join(", ")}#{"; #{TABLE}" if option == "--to" && %w[csv tsv].include?(argument)}"
      end

      private

      # Recognizes a choice that was typed as an option, such as --pretty or --as-json.
      def choice(name)
        option, = @choices.find { |_, words| words.include?(name) }
        "#{option} #{name}" if option
      end

      def habit(name)
        HABITS.find { |option, others| @names.include?(option) && others.include?(name) }&.first
      end

      def similar(name)
        near = Guesses.similar(name, @names.map { |option| option.delete_prefix("--") })
        "--#{near}" if near
      end
    end
  end
end

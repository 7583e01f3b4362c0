# frozen_string_literal: true

# What the commands have in common: options, help, the files one after the other, and the exit code.
require "optparse"

module Manypack
  module Terminal
    class Command
      # Parses the arguments, works on the files, and returns the exit code.
      def run(arguments)
        @status = FINE
        @paths = parse(arguments)
        return FINE if @helped

        work
        @status
      end

      # The OptionParser, from which the completion of shells and the man page are made, too.
      def parser
        OptionParser.new do |parser|
          parser.program_name = "manypack"
          parser.version = VERSION
          parser.banner = "Usage: manypack #{name} [OPTION]... #{self.class::ARGUMENTS}"
          parser.separator("\n#{self.class::ABOUT}\n\n")
          options(parser)
          parser.on("-r", "--require LIB", "Load a Ruby library, as for ext types") { |lib| load_library(lib) }
          parser.on("-h", "--help", "Show this text") { help(parser) }
          parser.separator("\nExamples:\n#{self.class::EXAMPLES.gsub(/^(?=.)/, "  ")}")
        end
      end

      private

      def parse(arguments)
        paths = parser.permute(arguments)
        check(paths) unless @helped
        paths.empty? ? ["-"] : paths
      rescue OptionParser::ParseError, ArgumentError, LoadError => e
        raise UsageError, "#{name}: #{e.message}"
      end

      # For a command to refuse what it cannot work on.
      def check(paths); end

      def name
        self.class.name[/\w+\z/].downcase
      end

      def options(parser); end

      def help(parser)
        @helped = true
        Output.stdout.write(parser.help)
      end

      def load_library(lib)
        require(lib.match?(%r{\A\.{0,2}/}) ? File.expand_path(lib) : lib)
      end

      def output
        Output.stdout
      end

      # Each file, with its faults and failures reported; the next one comes all the same.
      def each_input(paths = @paths, **options)
        paths.each do |path|
          Input.open(path, **options) { |input| with_progress(input) { guard(input.name) { yield input } } }
        rescue SystemCallError => e
          fail_with(IO_FAILED, failure(path, e))
        end
      end

      # A bar and what the command writes, or a pager shows of it, do not go together on one terminal.
      def with_progress(input, &block)
        input.endless? || (streams? && !output.file?) ? yield : Progress.of(input.file, input.name, &block)
      end

      # False for a command that has nothing to write before it has read a file.
      def streams?
        true
      end

      # The error may be about another file, such as one that is written: "File exists @ rb_sysopen - part-1.msgpack".
      def failure(path, error)
        what, file = error.message.split(/ (?:@ \w+ )?- /, 2)
        "#{file ? file.sub(/\Afd:\d+ /, "") : path}: #{what}"
      end

      def guard(name)
        yield
      rescue Fault => e
        report(name, e)
      end

      def report(name, fault)
        fail_with(INVALID, "#{name}:#{fault.offset}: #{fault.message}")
      end

      # The worst exit code counts.
      def fail_with(status, message)
        @status = [@status, status].max
        Terminal.say(message)
      end
    end
  end
end

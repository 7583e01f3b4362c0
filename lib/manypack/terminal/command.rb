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

      # Returns the OptionParser. The completion scripts and the man page are made from it, too.
      def parser
        OptionParser.new do |parser|
          parser.program_name = "manypack"
          parser.version = VERSION
          parser.banner = "Usage: manypack #{name} [OPTION]... #{self.class::ARGUMENTS}"
          parser.separator("\n#{self.class::ABOUT}\n\n")
          options(parser)
          parser.on("-r", "--require LIB", "Load a Ruby library, for example one with ext types") do |lib|
            load_library(lib)
          end
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

      # Commands override this to refuse paths and options.
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

      # Yields each file. Reports its faults and failures, and goes on with the next file.
      def each_input(paths = @paths, **options)
        paths.each do |path|
          Input.open(path, **options) { |input| with_progress(input) { guard(input.name) { yield input } } }
        rescue SystemCallError => e
          fail_with(IO_FAILED, failure(path, e))
        end
      end

      # Shows no bar if the command writes to a terminal, or to a pipe, which may lead to a pager on the same terminal.
      def with_progress(input, &block)
        input.endless? || (streams? && !output.file?) ? yield : Progress.of(input.file, input.name, &block)
      end

      # Returns false for a command that writes nothing before it has read a file.
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

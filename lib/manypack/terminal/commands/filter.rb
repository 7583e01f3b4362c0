# frozen_string_literal: true

# manypack filter: messages through Ruby code, on several cores if wanted, or selected by a path without decoding.
module Manypack
  module Terminal
    class Filter < Command
      ARGUMENTS = "[FILE]..."
      ABOUT = <<~TEXT.chomp
        Runs Ruby code on each message and writes what it returns, except nil, as MessagePack. The code has the message
        as _1 or it. With --path alone, messages are selected and nothing is decoded.
      TEXT
      EXAMPLES = <<~TEXT
        manypack filter -e '_1 if _1["level"] > 3' events.msgpack > errors.msgpack
        manypack filter -e 'it.merge("at" => nil)' -j 4 events.msgpack > cleaned.msgpack
        manypack filter --path '$.user.name=Ada' events.msgpack | manypack cat
      TEXT

      private

      def options(parser)
        parser.on("-e", "--execute RUBY", "Code that returns what is to be written, or nil") { |code| @code = code }
        parser.on("-j", "--jobs N", Integer, "Work on N cores (default: 1)") { |n| @jobs = n }
        parser.on("-p", "--path PATH[=VALUE]", "Only messages in which the path finds the value") do |text|
          @selection = Selection.new(text)
        end
      end

      def check(_paths)
        raise ArgumentError, "needs -e, --path, or both" unless @code || @selection
        raise ArgumentError, "--jobs is 1 or more" unless (@jobs || 1).positive?
        raise ArgumentError, "-j is for -e alone" if @jobs && @selection
      end

      def work
        @block = block_of(@code) if @code
        each_input { |input| @selection ? select(input) : filter(input) }
      end

      # Whether Ruby knows `it`, which then means the innermost block's as _1 does.
      KNOWS_IT = RUBY_VERSION >= "3.4"

      # A lambda can return. It has no parameter if the code uses neither _1 nor `it`.
      def block_of(code)
        block = KNOWS_IT ? compiled("", code) : compiled_with_it(code)
        block.arity.zero? ? ->(_message) { block.call } : block
      rescue SyntaxError => e
        raise UsageError, "filter: #{e.message.lines.first.chomp}"
      end

      # Code with _1, unless that is in a block of its own, can have no other parameter.
      def compiled_with_it(code)
        compiled("|it|", code)
      rescue SyntaxError
        compiled("", code)
      end

      def compiled(parameters, code)
        TOPLEVEL_BINDING.eval("lambda { #{parameters} #{code}\n}", "code", 1)
      end

      def filter(input)
        Parallel.filter(input.io, output, **workers, timestamp: true, **OPTIONS, &@block)
      rescue ClosedPipe, UsageError
        raise
      rescue StandardError => e
        raise e unless e.is_a?(Parallel::Error)

        raise Fault.of_code(e, e.offset)
      end

      # Before Ruby 4.1, Ractors wait for each other's collections of garbage.
      def workers
        return {ractors: 0} unless @jobs && @jobs > 1

        RUBY_VERSION >= "4.1" || !Process.respond_to?(:fork) ? {ractors: @jobs} : {processes: @jobs}
      end

      def select(input)
        input.each_message do |batch|
          message = batch.to_s
          next unless @selection.match?(message)

          @block ? write_result(message, batch) : output.write(message)
        end
      end

      def write_result(message, batch)
        result = @block.call(Manypack.unpack(message, timestamp: true, **OPTIONS))
        output.write(Manypack.pack(result, timestamp: true)) unless result.nil?
      rescue ClosedPipe
        raise
      rescue StandardError => e
        raise Fault.of_code(e, batch.offset)
      end
    end
  end
end

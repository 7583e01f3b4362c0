# frozen_string_literal: true

# manypack filter: runs Ruby code on messages, on several cores if wanted, or selects them by a path without decoding.
module Manypack
  module Terminal
    class Filter < Command
      ABOUT = <<~TEXT.chomp
        Runs Ruby code on each message. If the code returns true, the message is written as it is; nil and false leave
        it out; any other object is written in its place. In the code, _1 or it is the message. With --where or --path
        alone, filter selects messages without decoding them. In a condition, as JSONPath has it, @ is the message. As
        grep does, filter exits with 1 if it writes nothing. What the code prints goes to standard error.
      TEXT
      EXAMPLES = <<~TEXT
        manypack filter -e '_1["level"] > 3' events.msgpack > errors.msgpack
        manypack filter -e 'it.merge("at" => nil)' -j 4 events.msgpack > cleaned.msgpack
        manypack filter --where '@.type == "order" && @.total > 99' events.msgpack | manypack cat
        manypack filter --path '$.user.name=Ada' events.msgpack | manypack cat
      TEXT

      private

      def writes_messages? = true

      def options(parser)
        parser.on("-e", "--execute RUBY", "Code that returns true, false, or an object") { |code| @code = code }
        parser.number("-j", "--jobs N", "Work on N cores (default: 1)", least: 1) { |n| @jobs = n }
        where_option(parser, "Select")
        parser.on("-p", "--path PATH[=VALUE]", "Select messages in which the path finds the value") do |text|
          select_by(Selection.new(text, looks))
        end
        looks_option(parser)
      end

      def check(_paths)
        raise ArgumentError, "needs --where, --path or -e" unless @code || @selection
        raise ArgumentError, "--jobs works with -e, but not with --where and --path" if @jobs && @selection
      end

      def search = @selection || @code

      def work
        @block = block_of(@code) if @code
        with_messages_alone { each_input { |input| @selection ? select(input) : filter(input) } }
      end

      # Sends what the code prints to standard error: between messages it would be taken for messages.
      def with_messages_alone
        output # creates the Output before $stdout changes
        before, $stdout = $stdout, $stderr
        yield
      ensure
        $stdout = before
      end

      # True if Ruby itself knows `it`, which is the parameter of the innermost block, like _1.
      KNOWS_IT = RUBY_VERSION >= "3.4"

      # Makes a lambda, so that the code can return. If the code uses neither _1 nor `it`, the lambda gets a parameter
      # that the code cannot see. It is not wrapped in another lambda, which Ractors could not share.
      def block_of(code)
        block = KNOWS_IT ? compiled("", code) : compiled_with_it(code)
        block.arity.zero? ? compiled("|*|", code) : block
      rescue SyntaxError => e
        raise UsageError, "filter: #{first_fault(e.message)}"
      end

      # Returns the first error in the code. Ruby >= 3.4 reports errors below each line of the code, after a mark such
      # as ^~~; earlier ones in the first line. Leaves out assumptions about the braces of `compiled`, which would
      # puzzle the user.
      def first_fault(message)
        faults = message.scan(/^ +\| +\^~* (.+)/).flatten
        fault = faults.find { |text| !text.include?("assuming") } || faults.first
        fault ? "code:#{message[/^> *(\d+)/, 1]}: #{fault}" : message.lines.first.chomp
      end

      # Makes `it` a parameter, unless the code uses _1 outside of a block: then the lambda can have no other parameter.
      def compiled_with_it(code)
        compiled("|it|", code)
      rescue SyntaxError
        compiled("", code)
      end

      # Without warnings: Ruby 3.3 would announce the meaning of `it` that it has here already.
      def compiled(parameters, code)
        Terminal.quietly { TOPLEVEL_BINDING.eval("lambda { #{parameters} #{code}\n}", "code", 1) }
      end

      def filter(input)
        Parallel.filter(input.io, output, **workers, timestamp: true, **OPTIONS, &@block)
      rescue ClosedPipe, UsageError
        raise
      rescue StandardError, ScriptError, SystemStackError => e
        raise e unless e.is_a?(Parallel::Error)

        raise Fault.of_code(e, input.origin + e.offset)
      end

      # Prefers processes before Ruby 4.1, because Ractors wait for each other's garbage collections there.
      def workers
        return {ractors: 0} unless @jobs && @jobs > 1

        in_ractors = RUBY_VERSION >= "4.1" || !Process.respond_to?(:fork)
        in_ractors ? {ractors: @jobs, on_worker_start: PRINT_TO_STDERR} : {processes: @jobs}
      end

      # Each Ractor has a $stdout of its own.
      PRINT_TO_STDERR = Ractor.make_shareable(->(_) { $stdout = $stderr })
      private_constant :PRINT_TO_STDERR

      def select(input)
        return input.each_message { |message| select_one(message) } if @block

        many = ->(messages) { output.keep(@selection.chosen(messages)) }
        input.each_batch(many) { |message| select_one(message) }
      end

      def select_one(message)
        bytes = message.to_s
        output.keep(@block ? result_of(message) : bytes) if @selection.match?(bytes)
      end

      def result_of(message)
        result = @block.call(Manypack.unpack(message.to_s, timestamp: true, **OPTIONS))
        case result
        when true then message.to_s
        when false, nil then ""
        else Manypack.pack(result, timestamp: true, max_depth: OPTIONS[:max_depth])
        end
      rescue StandardError, ScriptError, SystemStackError => e
        raise Fault.of_code(e, message.offset)
      end
    end
  end
end

# frozen_string_literal: true

# manypack canon: the one form that equal messages have.
module Manypack
  module Terminal
    class Canon < Command
      ABOUT = "Writes each message in its canonical form, which is the same for all equal messages."
      EXAMPLES = <<~TEXT
        manypack canon message.msgpack | sha256sum
        manypack canon --check message.msgpack && echo canonical
      TEXT

      private

      def writes_messages? = !@check

      def options(parser)
        parser.on("-c", "--check", "Write nothing; report the messages that are not canonical") { @check = true }
      end

      def streams? = !@check

      def work
        each_input do |input|
          input.each_message do |message|
            @check ? check_form(input, message) : output.write(Manypack.canonicalize(message.to_s))
          end
        end
      end

      def check_form(input, message)
        return if Manypack.canonical?(message.to_s)

        fail_with(INVALID, "#{input.name}:#{message.offset}: not canonical")
      end
    end
  end
end

# frozen_string_literal: true

# manypack inspect: a line for each head byte, as a tree.
module Manypack
  module Terminal
    class Inspect < Command
      ABOUT = <<~TEXT.chomp
        Shows the offset, head byte, type, size and value of each object. Of broken input it shows everything before the
        fault.
      TEXT
      EXAMPLES = <<~TEXT
        manypack inspect message.msgpack
        manypack inspect --at 18244 broken.msgpack
        head -c 100 events.msgpack | manypack inspect
      TEXT

      private

      def options(parser)
        parser.number("--at OFFSET", "Show the object at that byte, and its path") { |offset| @at = offset }
      end

      def work
        @line = HeadLine.new
        each_input do |input|
          @at ? find(input) : input.each_read { |messages| show(messages) }
        rescue Fault => e
          @at ? show_at(e.bytes, e.origin) : show_broken(e)
          raise
        end
      end

      def find(input)
        input.each_message { |message| return if show_at(message.to_s, message.offset) }
        fail_with(INVALID, "#{input.name}: there is no byte #{@at}")
      end

      # Writes some lines at a time, because they can be longer than the messages.
      def show(messages)
        @line.each_piece(messages.bytes, messages.start, messages.size, messages.offset) { |text| output.write(text) }
      end

      def show_broken(fault)
        @line.each_piece(fault.bytes, 0, fault.bytes.bytesize, fault.origin) { |text| output.write(text) }
      rescue DecodeError
        nil
      end

      def show_at(bytes, origin)
        return false unless (origin...origin + bytes.bytesize).cover?(@at)

        @line.at(@at - origin, bytes, origin) { |text| output.write(text) }
        true
      end
    end
  end
end

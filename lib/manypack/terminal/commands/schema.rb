# frozen_string_literal: true

# manypack schema: writes Ruby code that defines the shape of the messages.
module Manypack
  module Terminal
    class Schema < Command
      ABOUT = <<~TEXT.chomp
        Infers the shape of all messages and writes it as a definition of Manypack::Record, with a Struct for each map
        that looks like an object. The names of inner Structs begin with the name of the message's Struct.
      TEXT
      EXAMPLES = <<~TEXT
        manypack schema events.msgpack > event.rb
        manypack schema --name Event -n 1000 events.msgpack
      TEXT

      private

      def options(parser)
        parser.on("--name NAME", /\A[A-Z]\w*[a-z]\w*\z/, "The name of the class (default: Message)") do |name|
          @root = name
        end
        parser.number("-n", "--lines N", "Look at the first N messages of each file", least: 1) { |n| @most = n }
      end

      def streams? = false

      def work
        definition = Definition.new(@root || "Message")
        each_input do |input|
          input.each_message(*@most) { |message| definition.add(message.to_s) }
        end
        output.write(definition.to_s) unless definition.empty? && @status != FINE
      end
    end
  end
end

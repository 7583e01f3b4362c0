# frozen_string_literal: true

# manypack compatible: tells whether the Records of one version of a program read what those of another write.
module Manypack
  module Terminal
    class Compatible < Command
      ARGUMENTS = "OLD NEW"
      ABOUT = <<~TEXT.chomp
        Compares two files that `manypack describe` wrote, and writes a line for each place at which a Record of OLD
        writes what that of NEW does not read, with an example. The exit code is 1 if there is one, or if NEW lacks a
        Record. The other way round, the files tell whether a program that still runs reads what the new one writes.
      TEXT
      EXAMPLES = <<~TEXT
        manypack compatible deployed.msgpack records.msgpack
      TEXT

      private

      def check(paths) = check_two(paths, ", the old one first")

      def work
        old, new = @paths.map { |path| types(path) }
        return unless @status == FINE

        old.each { |name, type| compare(name, type, new[name]) }
      end

      def types(path)
        found = {}
        each_input([path]) do |input|
          input.each_message { |message| add(found, Manypack.unpack(message.to_s)) }
        end
        found
      end

      def add(found, message)
        known = message.is_a?(Hash) && message["type"].is_a?(Hash) && message["type"]["nodes"]
        raise UsageError, "compatible: a message is no description; manypack describe writes them" unless known

        found[message["name"]] = message["type"]
      end

      def compare(name, old, new)
        return differ("#{name} is missing") unless new

        compatibility.new(old, new).found.each do |found|
          example = found.messages.first(1).map { |one| ", as in #{json(one)}" }.join
          differ("#{name} #{found.path}: #{found.reason}#{example}")
        end
      rescue ArgumentError => e
        raise UsageError, "compatible: #{name}: #{e.message}"
      end

      def compatibility
        Manypack.eager_load! # loads the comparison, which comes with Records
        Manypack.const_get(:Compatibility)
      end

      def differ(line)
        @status = INVALID
        output.write("#{Visible.line(line)}\n")
      end

      # Long examples, which show that a limit is exceeded, are cut.
      def json(message)
        @printer ||= Printer.new("json")
        text = @printer.print(Manypack.pack(message, codec: Input::PLAIN)).chomp
        text.size > 200 ? "#{text[0, 200]}..." : text
      end
    end
  end
end

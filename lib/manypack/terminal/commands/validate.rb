# frozen_string_literal: true

# manypack validate: reports errors in messages, and where they are. Builds no objects.
module Manypack
  module Terminal
    class Validate < Command
      ABOUT = <<~TEXT.chomp
        Checks that files are whole messages: heads, lengths and nesting. With --untrusted it also checks UTF-8,
        timestamps, duplicate keys and the limits of Manypack.unpack(bytes, untrusted: true).
      TEXT
      EXAMPLES = <<~TEXT
        manypack validate *.msgpack
        manypack validate --untrusted --keep-going upload.msgpack
        manypack validate --untrusted --max-array-size 1000000 vectors.msgpack
        curl -s https://example.com/feed | manypack validate --quiet && echo fine
      TEXT

      # The limits of untrusted input that can be set.
      LIMITS = {
        max_depth: "how deep containers may be", max_bytes: "the most bytes of a message",
        max_objects: "the most objects of a message", max_map_size: "the most pairs of a map",
        max_array_size: "the most elements of an array", max_string_bytes: "the most bytes of a str or bin",
        max_ext_bytes: "the most bytes of an ext"
      }.freeze

      private

      def options(parser)
        @limits = {}
        parser.on("-u", "--untrusted", "Check everything that matters in untrusted input") { @untrusted = true }
        parser.on("-k", "--keep-going", "Report every message that is refused, not only the first of each file") do
          @keep_going = true
        end
        parser.on("-q", "--quiet", "Write no summary") { @quiet = true }
        LIMITS.each do |name, what|
          parser.on("--#{name.name.tr("_", "-")} N", Integer, "With --untrusted: #{what}") { |n| @limits[name] = n }
        end
      end

      def check(_paths)
        raise ArgumentError, "limits need --untrusted" unless @limits.empty? || @untrusted
        raise ArgumentError, "--keep-going needs --untrusted" if @keep_going && !@untrusted

        codec # raises for a limit that cannot be
      rescue RangeError => e
        raise ArgumentError, e.message
      end

      def streams? = false

      def work
        limits = @keep_going ? Input::PLAIN : codec # with the limits of codec, a message above one would end the input
        each_input(codec: limits) { |input| @untrusted ? check_messages(input) : summary(input, *input.check) }
      end

      def codec
        @untrusted ? Codec.new(untrusted: true, allow_unknown_ext: true, **@limits) : Input::PLAIN
      end

      def check_messages(input)
        fine = refused = bytes = 0
        input.each_message do |message|
          bytes = message.offset + message.size - input.origin
          fine?(input, message) ? fine += 1 : refused += 1
          return if refused.positive? && !@keep_going
        end
        summary(input, fine, bytes, refused)
      end

      def fine?(input, message)
        @view_codec ||= codec
        @view_codec.view(message.to_s, check: true)
        true
      rescue DecodeError => e
        report(input.name, Fault.of(e, message.to_s, message.offset))
        false
      end

      def summary(input, messages, bytes, refused = 0)
        return if @quiet

        also = ", #{refused} refused" if refused.positive?
        output.write("#{input.name}: #{counted(messages, "message")}, #{counted(bytes, "byte")}#{also}\n")
      end
    end
  end
end

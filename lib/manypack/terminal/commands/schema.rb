# frozen_string_literal: true

# manypack schema: the shape that messages have, as Ruby that defines it.
module Manypack
  module Terminal
    class Schema < Command
      ARGUMENTS = "[FILE]..."
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
        parser.on("-n", "--lines N", Integer, "Look at the first N messages of each file") { |n| @most = n }
      end

      def check(_paths)
        raise ArgumentError, "--lines must be 1 or more" if @most && @most < 1
      end

      def streams?
        false
      end

      def work
        shape = Shape.new
        @names = {}
        each_input do |input|
          input.each_message.with_index do |message, i|
            break if i == @most

            message.guard { shape.add(value(message.to_s)) }
          end
        end
        output.write(definition(shape))
      end

      # Returns a View, or the value of a message that is neither an array nor a map.
      def value(bytes)
        view = View.new(bytes, **OPTIONS, timestamp: true)
        %i[map array].include?(view.type) ? view : view.value
      end

      def definition(shape)
        @definitions = []
        @root ||= "Message"
        record = shape.to_ruby { @root } == @root
        type = shape.to_ruby { |inner| define(inner, record ? @root : "#{@root}Part") }
        @definitions << "#{constant(@root)} = Manypack::Type[#{type}]\n" unless record
        options = needed_options(shape)
        @definitions.last.sub!(/$\Z/, "\n  .with(#{options.join(", ")})") unless options.empty?
        @definitions.join("\n")
      end

      # Returns the options that the messages need to be read.
      def needed_options(shape)
        options = []
        options << "timestamp: true" if @definitions.join.match?(/\bTime\b/)
        options << "allow_unknown_ext: true" if shape.exts?
        options
      end

      # Defines the Records of inner shapes first, then the Record of this shape, and returns its name.
      def define(shape, wanted)
        klass = unique(wanted)
        members = members_of(shape)
        types = members.map do |key, member|
          shape.fields[key].add(nil) if shape.optional?(key)
          "#{member}: #{type_of(shape.fields[key], key)}"
        end
        options = options_of(shape, members)
        @definitions << <<~RUBY
          #{klass} = Struct.new(#{members.values.map { |member| ":#{member}" }.join(", ")})
          #{constant(klass)} = Manypack::Record.new(#{listed([klass, *types])})#{options}
        RUBY
        constant(klass)
      end

      # On one line if it is not too long.
      def listed(arguments)
        line = arguments.join(", ")
        line.size > 80 ? arguments.join(",\n  ") : line
      end

      def constant(name)
        name.gsub(/(?<=[a-z0-9])(?=[A-Z])/, "_").upcase
      end

      def type_of(shape, key)
        shape.to_ruby { |inner| define(inner, @root + camelize(key)) }
      end

      def camelize(key)
        key.scrub("").scan(/[A-Za-z0-9]+/).map { |word| word[0].upcase + word[1..] }.join
      end

      # Returns the name of a class whose constant is not taken.
      def unique(wanted)
        name = wanted
        number = 1
        name = "#{wanted}#{number += 1}" while @names[constant(name)]
        @names[constant(name)] = true
        name
      end

      # Returns the name of the member for each key.
      def members_of(shape)
        taken = {}
        shape.fields.keys.to_h do |key|
          name = key.scrub("").scan(/\w+/).join("_").downcase
          name = "field_#{name}" unless name.match?(/\A[a-z_]\w*\z/) && name.ascii_only?
          name = name.scan(/[a-z0-9_]/i).join
          name += "_" while taken[name]
          taken[name] = true
          [key, name]
        end
      end

      def options_of(shape, members)
        other = members.reject { |key, member| key == member }.map { |key, member| "#{member}: #{key.dump}" }
        defaults = members.select { |key, _| shape.optional?(key) }.map { |_, member| "#{member}: nil" }
        options = {keys: other, defaults: defaults}.reject { |_, pairs| pairs.empty? }
        return "" if options.empty?

        "\n  .with(#{options.map { |name, pairs| "#{name}: {#{pairs.join(", ")}}" }.join(", ")})"
      end
    end
  end
end

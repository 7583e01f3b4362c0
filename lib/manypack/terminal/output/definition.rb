# frozen_string_literal: true

# The shape of messages as Ruby that defines it: a Record for each map that looks like an object.
module Manypack
  module Terminal
    class Definition
      # root:: the name of the class, or of the Type, for whole messages
      def initialize(root)
        @root = root
        @exts = Exts.new
        @empty = true
        @shape = Shape.new(@exts)
      end

      # Takes a packed message into account: an array or a map as a View, anything else as a value. Raises a DecodeError
      # for an invalid Timestamp.
      def add(bytes)
        view = View.new(bytes, **OPTIONS, timestamp: true)
        @empty = false
        @exts.count(bytes)
        @shape.add(%i[map array].include?(view.type) ? view : view.value)
      end

      # Returns true if no message was added.
      def empty? = @empty

      def to_s
        @definitions = []
        @names = {}
        record = @shape.to_ruby { @root } == @root
        unique(@root) unless record
        type = @shape.to_ruby { |inner| define(inner, record ? @root : "#{@root}Part") }
        @definitions << "#{constant(@root)} = Manypack::Type[#{type}]\n" unless record
        options = @exts.options
        @definitions.last.sub!(/$\Z/, "\n  .with(#{options.join(", ")})") unless options.empty?
        @definitions.join("\n")
      end

      private

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

# frozen_string_literal: true

# An OptionParser that refuses an option that is given twice, because it would silently ignore the first one.
require "optparse"

module Manypack
  module Terminal
    class Options < OptionParser
      # Options that may be given again.
      MANY = ["--require", "--help", "--version"].freeze

      def initialize(...)
        @choices = {} # by option, the words that it takes; nil for an option with another kind of argument
        @short_names = {} # the option of each letter
        @given = []
        super
      end

      def on(*definition, &block)
        name = definition.grep(/\A--/).first[/\A--[\w-]+/]
        @choices[name] = definition.grep(Array).first
        letter = definition.grep(/\A-\w/).first
        @short_names[letter[1]] = name if letter
        super(*definition) do |value|
          once(name) unless MANY.include?(name)
          block.call(value)
        end
      end

      # Adds an option that takes an Integer of at least +least+.
      def number(*definition, least: 0)
        on(*definition, Integer) do |n|
          raise ArgumentError, "#{definition.grep(/\A--/).first[/\S+/]} must be #{least} or more" if n < least

          yield n
        end
      end

      # Parses the arguments. Errors say what the user may have meant.
      def permute(arguments)
        super
      rescue ParseError => e
        typed, argument = e.args.map { |part| Visible.line(part) }
        reason = "#{e.reason}: #{[typed, argument].compact.join(" ")}"
        raise UsageError, "#{reason}#{hint_of(e, typed, argument)}"
      end

      private

      # Refuses a single letter as an abbreviation of a long option: -o would be --open. OptionParser passes no further
      # argument in that case.
      def complete(type, option, *others)
        raise InvalidOption, option if type == :long && others.empty?

        super
      end

      def hint_of(error, typed, argument)
        hint = Hint.new(@choices.compact, @choices.keys)
        case error
        when AmbiguousOption then ""
        when InvalidOption then hint.for_option(typed)
        else hint.for_argument(long_name(typed), argument)
        end
      end

      # Returns the name of an option that was typed, perhaps short or cut.
      def long_name(typed)
        option = typed[/\A-+[\w-]+/].to_s
        @choices.keys.find { |name| name.start_with?(option) } || @short_names[option[/\A-(\w)/, 1]]
      end

      def once(name)
        raise ArgumentError, "#{name} is given twice" if @given.include?(name)

        @given << name
      end
    end
  end
end

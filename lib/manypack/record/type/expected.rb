# frozen_string_literal: true

#--
# Describes types to whoever sends messages, for RecordError#expected.
#++
module Manypack
  class Type
    # The words name neither a class of the program nor a type of MessagePack, and continue a sentence: "id must be an
    # integer".
    module Expected # :nodoc:
      KINDS = { any: "any value", view: "any value", nil: "null", true: "true", false: "false", integer: "an integer",
                float: "a number", string: "a string", text: "a string", bytes: "binary data", symbol: "a string",
                list: "an array", map: "an object" }.freeze
      CLASSES = { Hash => "an object", Array => "an array", ::Time => "a time", Timestamp => "a time",
                  Numeric => "a number" }.freeze
      MOST_SHOWN = 8
      private_constant :KINDS, :CLASSES, :MOST_SHOWN

      def self.of(spec)
        kind, detail, = spec
        -case kind
         when :integer, :float then [KINDS[kind], detail && bounded(bounds(detail))].compact.join(" ")
         when :enum then list(detail)
         when :union then union(detail)
         when :record then detail.form == :array ? KINDS[:list] : KINDS[:map]
         when :tagged then KINDS[detail == :first ? :list : :map]
         when :recursive then of(spec[2])
         when :tuple then "an array of #{detail.size}"
         when :ruled then Rules.converted_words(spec) || of(detail)
         when :class then CLASSES.fetch(detail, "of another type")
         else KINDS.fetch(kind, "of another type")
         end
      end

      # Describes Records that their members tell apart, by naming these members.
      def self.union(specs)
        records = specs.filter_map { |kind, record| record if kind == :record && record.form != :array }
        return specs.map { |one| of(one) }.uniq.join(" or ") if records.size < 2

        choices = Choices.of(records.each_with_index.to_h { |record, i| [i, record] }).sort_by(&:position)
        keys = choices.map { |one| list(one.keys.map(&:first)).gsub(" or ", " and ") }.uniq
        others = specs.reject { |kind, record| kind == :record && record.form != :array }
        ["an object with #{keys.join(", or with ")}", *others.map { |one| of(one) }].uniq.join(" or ")
      end
      private_class_method :union

      # Returns the words for a Range of numbers, or nil for nil.
      def self.bounds(range)
        return unless range

        from = range.begin && (range.end ? "from #{range.begin}" : "at least #{range.begin}")
        to = range.end && "#{range.exclude_end? ? "below" : from ? "to" : "at most"} #{range.end}"
        -[from, to].compact.join(from && range.exclude_end? ? " and " : " ")
      end

      def self.list(literals)
        words = literals.map { |one| one.nil? ? "null" : (one.is_a?(::Symbol) ? one.name : one).inspect }
        words.size > MOST_SHOWN ? "one of #{words.take(MOST_SHOWN).join(", ")}, ..." : words.join(" or ")
      end

      def self.bounded(words) = words.start_with?("at") ? "of #{words}" : words
    end
    private_constant :Expected
  end
end

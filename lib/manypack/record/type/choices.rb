# frozen_string_literal: true

#--
# Tells Records that are alternatives apart, by the members that a map has.
#++
module Manypack
  class Type
    module Choices # :nodoc:
      # The members that a Record requires of a map, as indices, and their keys.
      Choice = Struct.new(:position, :record, :members, :keys, :misread)

      class << self
        # Returns a Choice for each Record in a Hash by position, first the one that requires most: a map is of the
        # first one of which it has all required members. Returns none for a single Record. Raises ArgumentError for
        # two that require the same.
        def of(records)
          return [] if records.size < 2

          choices = records.map { |position, record| choice(position, record) }
          check_same(choices)
          ranked = choices.sort_by.with_index { |choice, i| [-choice.members.size, i] }
          ranked.each { |choice| choice.misread = misread(choice, ranked) }
        end

        private

        def choice(position, record)
          optional = record.members.select { |member| record.optional?(member) }
          optional |= [record.unknown[:into]] if record.unknown.is_a?(Hash)
          keys = record.keys
          members = record.members.each_index.reject { |i| optional.include?(record.members[i]) }
          Choice.new(position, record, members, keys.values_at(*record.members.values_at(*members)))
        end

        def check_same(choices)
          same = choices.group_by { |choice| choice.keys.map { |keys| keys.sort_by(&:inspect) }.sort_by(&:inspect) }
          one, other = same.each_value.find { |equal| equal.size > 1 }
          return unless one

          keys = one.keys.map { |list| list.first.inspect }.join(", ")
          raise ArgumentError, "#{one.record.klass.inspect} and #{other.record.klass.inspect} have the same required " \
                               "members (#{keys}): Record.union tells them apart by a tag"
        end

        # Returns the class of which dumped objects would be when they are loaded, if it is another one.
        def misread(choice, ranked)
          written = choice.record.keys.values.map(&:first)
          read = ranked.find { |one| one.keys.all? { |keys| keys.any? { |key| written.include?(key) } } }
          read.record.klass unless read.record.klass == choice.record.klass
        end
      end
    end
    private_constant :Choices
  end
end

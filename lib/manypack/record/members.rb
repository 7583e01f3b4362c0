# frozen_string_literal: true

#--
# The members of a Record, checked against its class.
#++
module Manypack
  class Record < Type
    # The members that a Record is made of.
    module Members # :nodoc:
      # Returns the members with their Types. Raises ArgumentError for members that do not fit the class.
      def self.check(klass, members, build)
        if build == :ivars then check_ivars(members.keys)
        else check_names(klass, klass.members, members.keys)
        end
        missing = build == :ivars ? [] : klass.members - members.keys
        unless missing.empty?
          raise ArgumentError, "#{klass.inspect} has members without a type: #{missing.join(", ")} " \
                               "(Object takes anything)"
        end

        members.transform_values { |type| Type[type] }.freeze
      end

      def self.check_ivars(names)
        wrong = names.find { |name| !name.match?(/\A[[:alpha:]_][[:alnum:]_]*\z/) }
        raise ArgumentError, "@#{wrong} cannot be an instance variable" if wrong
      end

      # Raises ArgumentError for a name that is not among the known members of the class.
      def self.check_names(klass, known, names)
        names.each do |name|
          next if known.include?(name)

          similar = DidYouMean::SpellChecker.new(dictionary: known).correct(name).first if defined?(DidYouMean)
          raise ArgumentError, "#{klass.inspect} has no member #{name}#{", did you mean #{similar}?" if similar}"
        end
      end
    end
    private_constant :Members
  end
end

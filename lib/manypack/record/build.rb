# frozen_string_literal: true

#--
# How objects of the classes of Records are made.
#++
module Manypack
  class Record < Type
    # How objects of a class are made: by filling the members of a Struct or Data, or by the class's own new.
    module Build # :nodoc:
      # @return [Symbol] :struct, :data, :new or :keywords
      def self.of(klass)
        unless klass.is_a?(Class) && (klass < Struct || data?(klass))
          raise ArgumentError, "#{klass.inspect} is neither a Struct nor a Data: Record.ivars sets the instance " \
                               "variables of any class, without calling its initialize"
        end
        raise ArgumentError, "#{klass.inspect} has no members" unless klass.respond_to?(:members)
        return data?(klass) ? :data : :struct unless own_new?(klass)

        data?(klass) || klass.keyword_init? ? :keywords : :new
      end

      def self.data?(klass)
        defined?(Data) && klass < Data
      end

      # Ruby's own methods are written in C and have no place in a file.
      def self.own_new?(klass)
        [klass.instance_method(:initialize), klass.method(:new)].any?(&:source_location)
      end
      private_class_method :data?, :own_new?
    end
    private_constant :Build
  end
end

# frozen_string_literal: true

#--
# The handlers of an ext type that was registered with a Record.
#++
module Manypack
  class Record < Type
    # Packs and unpacks the body of an ext as a Record says, with the options of the front. If a program registers its
    # methods without <code>recursive: true</code>, they take and return Strings. A Record has one, so that Codecs with
    # the same Record are equal.
    class Body # :nodoc:
      def self.of(record) = record.instance_variable_get(:@body)

      def initialize(record)
        @record = record
        freeze
      end

      def dump(object, packer = nil)
        return @record.dump(object) unless packer

        Internal.dump_within(@record, object, packer, true, false)
      end

      def load(source)
        source.is_a?(String) ? @record.load(source) : Internal.load_body(@record, source)
      end
    end
    private_constant :Body
  end
end

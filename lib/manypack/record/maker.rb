# frozen_string_literal: true

#--
# How a Record calls a constructor with keywords.
#++
module Manypack
  class Record < Type
    # Calls klass.new with literal keywords. From Ruby 4.0 on that makes no Hash, which halves the time of loading such
    # objects; before, new is written in C and gets a Hash anyway.
    class Maker # :nodoc:
      USEFUL = RubyVM::INSTRUCTION_NAMES.include?("opt_new")
      # The names that may be literal keywords: nothing else becomes code.
      NAME = /\A:[A-Za-z_][A-Za-z0-9_]*\z/
      private_constant :USEFUL, :NAME

      # Returns nil if a Hash is no slower, or if a name cannot be a literal keyword.
      def self.of(klass, names)
        new(klass, names) if USEFUL && names.map(&:inspect).all?(NAME)
      end

      def initialize(klass, names)
        @klass = klass
        values = names.each_index.map { |i| "value#{i}" }
        keywords = names.zip(values).map { |name, value| "#{name}: #{value}" }
        instance_eval("def make(#{values.join(", ")}) = @klass.new(#{keywords.join(", ")})", __FILE__, __LINE__)
        freeze
      end
    end
    private_constant :Maker
  end
end

# frozen_string_literal: true

#--
# Hints for names of methods, classes and options that other libraries have: what they are called here, or what to use
# instead. A name is here if somebody has tried it: test/contract/guesses_test.rb tries them.
#++
module Manypack
  # Finds the hints that errors add for unknown names.
  module Hints # :nodoc:
    private_constant(*Library.load_on_first_use(self, TABLE: "#{__dir__}/hints/table"))

    # Returns the hint for a name that +scope+ does not have, or nil. If the table cannot be loaded, there is no hint.
    def self.for(scope, name)
      TABLE.dig(scope, name)
    rescue LoadError, SystemCallError, ThreadError # which a handler of a signal raises
      nil
    end

    # Returns the hint for a method that an object does not have, or nil.
    def self.method(receiver, name)
      receiver.is_a?(Module) ? of(receiver, name, ".") : of(receiver.class, name)
    end

    # Returns the hint for a method that objects of a class do not have, or nil. A class has the hints of its ancestors.
    def self.of(owner, name, kind = nil)
      owner.ancestors.each do |ancestor|
        full = Module.instance_method(:name).bind_call(ancestor) # a class may define a name of its own
        hint = self.for("#{full&.delete_prefix("Manypack::")}#{kind}", name)
        return hint if hint
      end
      nil
    end
  end
  private_constant :Hints
end

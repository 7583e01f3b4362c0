# frozen_string_literal: true

#--
# What methods, classes and options are called here that other libraries have by another name, or not at all. A name is
# here if somebody has tried it: test/contract/guesses_test.rb tries them.
#++
module Manypack
  # The texts by which errors name ours.
  module Hints # :nodoc:
    private_constant(*Library.load_on_first_use(self, TABLE: "#{__dir__}/hints/table"))

    # Returns the hint for a name that +scope+ does not have, or nil. Without a hint an error comes even where the table
    # cannot be loaded.
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

# frozen_string_literal: true

#--
# Shared methods of immutable objects, which behave like Ruby's Integers and Symbols.
#++
module Manypack
  # Included in classes whose objects never change: a copy would be the same.
  module Value # :nodoc:
    include Unwritable

    # Returns the object itself.
    def dup = self

    # Returns the object itself. Raises ArgumentError for <code>freeze: false</code>.
    def clone(freeze: true)
      raise ArgumentError, "can't unfreeze #{self.class}" if freeze == false

      self
    end

    private

    def advice
      "keep it in a constant, and write what it was made from"
    end
  end
  private_constant :Value
end

# frozen_string_literal: true

#--
# What immutable objects have in common, as Ruby's Integers and Symbols do.
#++
module Manypack
  # Included in classes whose objects never change: a copy would be the same, and what they hold, such as the handlers
  # of ext types, cannot be written down.
  module Value # :nodoc:
    # Returns the object itself.
    def dup = self

    # Returns the object itself. Raises ArgumentError for <code>freeze: false</code>.
    def clone(freeze: true)
      raise ArgumentError, "can't unfreeze #{self.class}" if freeze == false

      self
    end

    # Called by YAML. Raises TypeError.
    def encode_with(_coder)
      raise ::TypeError, unwritable("YAML")
    end

    private

    # Called by Marshal.
    def marshal_dump
      raise ::TypeError, unwritable("Marshal")
    end

    def unwritable(format)
      "#{format} cannot write a #{self.class}: keep it in a constant, and write what it was made from"
    end
  end
  private_constant :Value
end

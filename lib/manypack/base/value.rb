# frozen_string_literal: true

#--
# Shared methods of objects that neither Marshal nor YAML can write, and of those among them that never change.
#++
module Manypack
  # Included in classes whose objects hold an io, handlers of ext types, or something else that cannot be serialized.
  # Without it YAML would write an empty object.
  module Unwritable # :nodoc:
    # Called by YAML.
    def encode_with(_coder) = raise(::TypeError, unwritable("YAML"))

    private

    # Called by Marshal.
    def marshal_dump = raise(::TypeError, unwritable("Marshal"))
    def unwritable(format) = "#{format} cannot write a #{self.class}: #{advice}"
    def advice = "create another one where you need it"
  end

  # Included in classes whose objects never change: a copy would be the same, as of Ruby's Integers and Symbols.
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

    def advice = "keep it in a constant, and write what it was made from"
  end
  private_constant :Unwritable, :Value
end

# frozen_string_literal: true

#--
# Shared methods of objects that neither Marshal nor YAML can write.
#++
module Manypack
  # Included in classes whose objects hold an io, handlers of ext types, or something else that cannot be serialized.
  # Without it YAML would write an empty object.
  module Unwritable # :nodoc:
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
      "#{format} cannot write a #{self.class}: #{advice}"
    end

    def advice
      "create another one where you need it"
    end
  end
  private_constant :Unwritable
end

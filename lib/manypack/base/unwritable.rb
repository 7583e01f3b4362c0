# frozen_string_literal: true

#--
# What objects have in common that neither Marshal nor YAML can write.
#++
module Manypack
  # Included in classes whose objects hold what cannot be written down, such as an io or the handlers of ext types.
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

# frozen_string_literal: true

#--
# Characters that a reader would not see, or that change how the rest is shown. base/hidden.h has the same list.
#++
module Manypack
  # Control characters, marks of the writing direction, line separators and a byte order mark.
  HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/
  private_constant :HIDDEN
end

# frozen_string_literal: true

#--
# The door between the Ruby half and the C half of Manypack.
#++
module Manypack
  # Functions of the extension that only other files of lib/manypack call. The first argument is the object that a
  # function works on: it raises TypeError for an object of another class. Every Ractor may call them. Each C file
  # defines its own.
  module Internal # :nodoc:
  end
  private_constant :Internal
end

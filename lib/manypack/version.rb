# frozen_string_literal: true

#--
# The version of the gem.
#++
module Manypack
  # The version of the gem: major, minor and patch.
  VERSION = "0.10.0"
end

# frozen_string_literal: true

# The version of the gem.
module Manypack
  # Major, minor and patch.
  VERSION = "0.1.0"
end

# frozen_string_literal: true

# The version of the gem.
module Manypack
  VERSION = "0.1.0"
end

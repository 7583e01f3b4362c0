# frozen_string_literal: true

# MessagePack for the Ruby of many cores.
#
# @example
#   bytes = Manypack.pack({"id" => 1, "tags" => ["a", "b"]})
#   Manypack.unpack(bytes)                  #=> {"id" => 1, "tags" => ["a", "b"]}
#   Manypack.unpack(bytes, shareable: true) # ... and every Ractor may have it
module Manypack
end

# What the extension looks up when it is loaded.
require "manypack/version"
require "manypack/errors"
require "manypack/extension_value"
require "manypack/timestamp"
require "manypack/handler"

require "manypack/manypack"

require "manypack/packer"
require "manypack/unpacker"
require "manypack/factory"
require "manypack/symbol"
require "manypack/bigint"
require "manypack/time"
require "manypack/parallel"

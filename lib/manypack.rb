# frozen_string_literal: true

# MessagePack for Ruby: packs and unpacks, replaces the msgpack gem, and works in every Ractor.
#
#   bytes = Manypack.pack({"id" => 1, "tags" => ["a", "b"]})
#   Manypack.unpack(bytes)                  #=> {"id" => 1, "tags" => ["a", "b"]}
#   Manypack.unpack(bytes, shareable: true) # ... and Ractors can share it
module Manypack
end

# The extension looks these up when it is loaded.
require_relative "manypack/version"
require_relative "manypack/base/internal"
require_relative "manypack/base/arguments"
require_relative "manypack/base/guesses"
require_relative "manypack/base/errors"
require_relative "manypack/base/unwritable"
require_relative "manypack/base/value"
require_relative "manypack/codec/extension_value"
require_relative "manypack/codec/timestamp"
require_relative "manypack/codec/handler"
require_relative "manypack/base/library"

# A precompiled gem has an extension for each Ruby. An extension compiled on this machine may be in another folder of
# the load path, where RubyGems installs it.
native = "#{__dir__}/manypack/#{RUBY_VERSION[/\d+\.\d+/]}"
require File.directory?(native) ? "#{native}/manypack" : "manypack/manypack"

require_relative "manypack/codec"
require_relative "manypack/packer"
require_relative "manypack/unpacker"
require_relative "manypack/factory"
require_relative "manypack/codec/lenient"
require_relative "manypack/codec/symbol"
require_relative "manypack/codec/bigint"
require_relative "manypack/codec/time"
require_relative "manypack/files"
require_relative "manypack/view"
require_relative "manypack/parallel"

module Manypack
  # Most programs use none of these, and they take longer to load than everything else. A comment in Parallel says why
  # the paths are absolute, and why everything is loaded at once before Ruby 4.0.
  autoload :Type, File.join(__dir__, "manypack/record") # defines all three
  autoload :Record, File.join(__dir__, "manypack/record")
  autoload :LazyRecord, File.join(__dir__, "manypack/record")
  autoload :CommonTypes, File.join(__dir__, "manypack/codec/common_types")
  autoload :Excerpt, File.join(__dir__, "manypack/base/excerpt")
  autoload :Likeness, File.join(__dir__, "manypack/base/likeness")
  private_constant :CommonTypes, :Excerpt, :Likeness
  autoload :Path, File.join(__dir__, "manypack/path")
  unless defined?(Ractor::Port)
    [Record, CommonTypes, Excerpt, Likeness, Hints, Path, Files::Compressed, View.const_get(:Splice)]
  end
end

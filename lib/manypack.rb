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
require_relative "manypack/base/value"
require_relative "manypack/codec/extension_value"
require_relative "manypack/codec/timestamp"
require_relative "manypack/codec/handler"
require_relative "manypack/base/library"

# A precompiled gem has an extension for each Ruby. An extension compiled on this machine may be in another folder of
# the load path, where RubyGems installs it.
native = "#{__dir__}/manypack/#{RUBY_VERSION[/\d+\.\d+/]}"
require File.directory?(native) ? "#{native}/manypack" : "manypack/manypack"

require_relative "manypack/base/excerpt"
require_relative "manypack/base/hints"
require_relative "manypack/base/likeness"
require_relative "manypack/codec"
require_relative "manypack/packer"
require_relative "manypack/unpacker"
require_relative "manypack/factory"
require_relative "manypack/codec/lenient"
require_relative "manypack/codec/symbol"
require_relative "manypack/codec/bigint"
require_relative "manypack/codec/time"
require_relative "manypack/files"
require_relative "manypack/base/absent"
require_relative "manypack/json"
require_relative "manypack/view"
require_relative "manypack/path"
require_relative "manypack/parallel"

module Manypack
  # All that handling a message, or an error about it, needs is loaded above, because no file may be in reach by then.
  # The rest takes longer to load, and most programs never use it, so it is loaded when a program first names it. A
  # comment in Parallel says why the paths are absolute, and why everything is loaded at once before Ruby 4.0.
  autoload :Type, File.join(__dir__, "manypack/record") # defines all three
  autoload :Record, File.join(__dir__, "manypack/record")
  autoload :LazyRecord, File.join(__dir__, "manypack/record")
  autoload :Incompatibility, File.join(__dir__, "manypack/record/incompatibility")
  private_constant(*Library.load_on_first_use(self, CommonTypes: "#{__dir__}/manypack/codec/common_types"))

  # Loads what is otherwise loaded on first use: Record, Type, Parallel, the parser of paths, hints in errors about
  # calls, and zlib if this Ruby has it. A program calls it before it forks, calls Dir.chroot, or drops its privileges,
  # and before handlers of signals that use any of these. Returns nil. Errors about a message need none of it.
  #
  #   Manypack.eager_load!
  def self.eager_load!
    load_lazy_constants
    Files::Compressed.load_zlib
    nil
  end

  def self.load_lazy_constants
    { self => %i[Record Compatibility Incompatibility CommonTypes], Files => %i[Compressed JSONLines],
      Hints => %i[TABLE], Parallel => %i[Run], Path => %i[Text Pattern Parser],
      Type => %i[Description FromJsonSchema JsonSchema Rbs] }.each do |owner, names|
      names.each { |name| owner.const_get(name) }
    end
  end
  private_class_method :load_lazy_constants
  load_lazy_constants unless defined?(Ractor::Port)
end

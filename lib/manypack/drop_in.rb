# frozen_string_literal: true

# Makes MessagePack mean Manypack for every gem in the process. Require it before any of them: their own
# `require "msgpack"` then does nothing.

if defined?(MessagePack)
  feature = $LOADED_FEATURES.grep(%r{/msgpack(/|\.rb\z)}).first || "by other means"
  raise LoadError, "manypack/drop_in: MessagePack is already loaded (#{feature}): " \
                   "require manypack/drop_in first, " \
                   "and have no msgpack gem in the bundle except Manypack's"
end

require "manypack"
require "manypack/core_ext"

#--
# From here on, the methods of classes that both names share accept what the msgpack gem accepts.
#++
module Manypack
  module Arguments # :nodoc:
    DROP_IN = true
  end
end

# MessagePack has the classes, errors and DefaultFactory of Manypack. It is a module of its own, so that wrapping
# MessagePack.dump does not wrap Manypack.dump, and its VERSION is one that the msgpack gem could have.
MessagePack = Manypack.clone
MessagePack.module_eval do
  remove_const(:VERSION)
  const_set(:VERSION, "1.8.99")
end

# The files of the msgpack gem that others require. Entries without a directory match whatever the load path is.
# Bootsnap goes by those under the load path, as it is spelled there, which __dir__ is not always.
files = %w[
  msgpack.rb msgpack/bigint.rb msgpack/buffer.rb msgpack/core_ext.rb msgpack/factory.rb msgpack/msgpack.so
  msgpack/packer.rb msgpack/symbol.rb msgpack/time.rb msgpack/timestamp.rb msgpack/unpacker.rb msgpack/version.rb
]
files += files.map { |file| File.join(File.dirname(__FILE__, 2), file) }
$LOADED_FEATURES.concat(files - $LOADED_FEATURES)

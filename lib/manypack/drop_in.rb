# frozen_string_literal: true

# Makes MessagePack mean Manypack for every gem in the process, whose requires of "msgpack" then find it loaded already.
# To be required before any of them.

if defined?(MessagePack)
  feature = $LOADED_FEATURES.grep(%r{/msgpack(/|\.rb\z)}).first || "by other means"
  raise LoadError, "manypack/drop_in: MessagePack is loaded already (#{feature}): " \
                   "require manypack/drop_in before it, " \
                   "and have no gem by the name of msgpack in the bundle but the one of Manypack"
end

require "manypack"
require "manypack/core_ext"

# From here on the methods of classes that both names share take what the msgpack gem takes.
module Manypack
  module Arguments
    DROP_IN = true
  end
end

# Its classes, errors and DefaultFactory are those of Manypack. A module of its own, so that who wraps MessagePack.dump
# does not wrap Manypack's, and who asks for its version gets one that the msgpack gem could have.
MessagePack = Manypack.clone
MessagePack.module_eval do
  remove_const(:VERSION)
  const_set(:VERSION, "1.8.99")
end

# What others require of the msgpack gem. Entries without a directory are found whatever the load path is.
$LOADED_FEATURES.concat(%w[
  msgpack.rb msgpack/bigint.rb msgpack/buffer.rb msgpack/core_ext.rb msgpack/factory.rb msgpack/msgpack.so
  msgpack/packer.rb msgpack/symbol.rb msgpack/time.rb msgpack/timestamp.rb msgpack/unpacker.rb msgpack/version.rb
] - $LOADED_FEATURES)

# frozen_string_literal: true

# Makes MessagePack mean Manypack for every gem in the process, whose requires of "msgpack" then find it loaded already.
# To be required before any of them.

if defined?(MessagePack) && !(defined?(Manypack) && MessagePack.equal?(Manypack))
  loaded = $LOADED_FEATURES.grep(%r{/msgpack(/|\.rb|-)}).first
  raise LoadError, "manypack/drop_in: MessagePack is loaded already (#{loaded || "by other means"}); require " \
                   "manypack/drop_in before it, and have no msgpack gem in the Gemfile but Manypack's"
end

require "manypack"
require "manypack/core_ext"

# The same module: what is registered by either name is there by the other.
MessagePack = Manypack

# What others require of the msgpack gem. Entries without a directory are found whatever the load path is.
$LOADED_FEATURES.concat(%w[
  msgpack.rb msgpack/bigint.rb msgpack/buffer.rb msgpack/core_ext.rb msgpack/factory.rb msgpack/msgpack.so
  msgpack/packer.rb msgpack/symbol.rb msgpack/time.rb msgpack/timestamp.rb msgpack/unpacker.rb msgpack/version.rb
] - $LOADED_FEATURES)

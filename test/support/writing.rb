# frozen_string_literal: true

# An object whose to_msgpack is a block, which gets the Packer.
class Writing
  def initialize(&write) = @write = write
  def to_msgpack(packer) = @write.call(packer)
end

# frozen_string_literal: true

# What one pack and one unpack allocate by malloc, by size of message. Runs under the malloc counter.

require ENV.fetch("LD_PRELOAD").split.first

class MallocsChild
  ROUNDS = 7

  # @param peer [Module] of Peers
  # @param objects [Array<Object>]
  def initialize(peer, objects:)
    @peer = peer
    @objects = objects
    MallocCount.watch($LOADED_FEATURES.grep(%r{/(?:manypack|msgpack)\.so\z}).first.to_s)
  end

  # @return [Array<Hash>] for each object its packed size, and calls, bytes, own calls and own bytes of each direction
  def run
    GC.start
    GC.disable
    @objects.map do |object|
      bytes = @peer.pack(object)
      { size: bytes.bytesize, pack: least { @peer.pack(object) }, unpack: least { @peer.unpack(bytes) } }
    end
  end

  private

  # Of some rounds: in one of them Ruby may have needed a page for its heap, or warmed up.
  def least(&block)
    Array.new(ROUNDS) { MallocCount.count(&block) }.min
  end
end

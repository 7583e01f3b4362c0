# frozen_string_literal: true

# Which slots the objects of decoded documents fall in, and how many of them fit theirs.

require_relative "embedding"
require_relative "messages_file"

class SlotsChild
  # @param peer [Module] of Peers
  # @param input [String] path
  def initialize(peer, input:)
    @peer = peer
    @messages = MessagesFile.read(input)
  end

  # @return [Array<Hash>] for each message its slots, and by class how many there are, could and do sit in their slot
  def run
    @messages.map do |message|
      seen = @peer.unpack(message) # keeps its keys alive: those of a server's messages were all seen before
      GC.start
      GC.disable
      before = allocated
      object = @peer.unpack(message)
      slots = allocated.to_h { |size, count| [size, count - before[size]] }
      GC.enable
      seen.clear
      { slots: slots, classes: Embedding.census(object) }
    end
  end

  private

  def allocated
    unless GC.respond_to?(:stat_heap)
      return { GC::INTERNAL_CONSTANTS.fetch(:RVALUE_SIZE) => GC.stat(:total_allocated_objects) }
    end

    GC.stat_heap.to_h { |_, heap| [heap.fetch(:slot_size), heap.fetch(:total_allocated_objects) { 0 }] }
  end
end

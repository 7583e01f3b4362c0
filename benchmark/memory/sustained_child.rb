# frozen_string_literal: true

# Decodes a file of messages again and again, always holding the last few results.

require_relative "messages_file"

class SustainedChild
  HELD = 24 # results; a server has so many requests at work
  PIECE = 4096

  # @param peer [Module] of Peers
  # @param input [String] path
  # @param passes [Integer] over all messages
  # @param how [String] "unpack", or "stream" to feed the bytes in pieces to an Unpacker for each message
  def initialize(peer, input:, passes:, how:)
    @peer = peer
    @messages = MessagesFile.read(input)
    @passes = passes
    @how = how
    @held = []
    @at = 0
  end

  # @return [Hash{Symbol => Integer, Array<Integer>}] resident bytes: before, of the live set alone, at the end of each
  #   pass, the peak, and after a collection and a second's rest
  def run
    before = settle
    live = live_set
    passes = Array.new(@passes) do
      pass
      ProcessMemory.resident
    end
    { before: before, live: live, passes: passes, peak: ProcessMemory.peak, after: settle }
  end

  private

  def pass
    @messages.each { |message| hold(decode(message)) }
  end

  # The first results, of which none was thrown away yet.
  def live_set
    HELD.times { |i| hold(decode(@messages[i % @messages.size])) }
    settle
  end

  def hold(object)
    @held[@at] = object
    @at = (@at + 1) % HELD
  end

  def decode(message)
    @how == "unpack" ? @peer.unpack(message) : stream(message)
  end

  def stream(message)
    unpacker = @peer.unpacker
    result = nil
    0.step(message.bytesize - 1, PIECE) do |at|
      unpacker.feed_each(message.byteslice(at, PIECE)) { |object| result = object }
    end
    result
  end

  # Collected, and given the time that an allocator takes to return pages.
  def settle
    3.times { GC.start }
    sleep 1
    100.times { +"x" * 1_000 } # jemalloc looks at its clock when it is called
    GC.start
    ProcessMemory.resident
  end
end

# frozen_string_literal: true

# Whether a peer makes of the messages of a file what all others make of it.

require_relative "messages_file"

class CheckChild
  # @param peer [Module] of Peers
  # @param input [String] path
  # @param streamed [Boolean] by an Unpacker that is fed in pieces too
  def initialize(peer, input:, streamed:)
    @peer = peer
    @messages = MessagesFile.read(input)
    @streamed = streamed
  end

  # @return [Array<String>] digests
  def run
    digests = [MessagesFile.digest(@messages.lazy.map { |message| @peer.unpack(message) })]
    digests << MessagesFile.digest(@messages.lazy.map { |message| from_stream(message) }) if @streamed
    digests
  end

  private

  def from_stream(message)
    unpacker = @peer.unpacker
    result = nil
    0.step(message.bytesize - 1, 4096) do |at|
      unpacker.feed_each(message.byteslice(at, 4096)) { |object| result = object }
    end
    result
  end
end

# frozen_string_literal: true

# Going past a document without wanting it.

require_relative "call"

class Skip < Call
  ANSWER = 42

  def initialize
    super("skip")
  end

  def argument(contender, payload)
    contender.bytes(payload)
  end

  # What follows the document must be the next thing there.
  def check(contender, payload)
    bytes = contender.bytes(payload)
    contender.skip(bytes + contender.bytes(ANSWER))
    { bytes: bytes.bytesize, same: nil } if contender.next_object == ANSWER
  end
end

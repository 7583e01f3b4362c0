# frozen_string_literal: true

# Object to bytes, or bytes to object.

require "zlib"
require_relative "call"

class OneShot < Call
  LARGE = 50_000 # elements
  # @param name [String] one of the two methods
  # @param pack [String] the method that makes bytes
  # @param unpack [String] the method that reads them
  def initialize(name, pack:, unpack:)
    super(name)
    @pack = pack
    @unpack = unpack
  end

  def argument(contender, payload)
    return contender.argument(name, payload) if contender.respond_to?(:argument)

    name == @pack ? payload : contender.public_send(@pack, payload)
  end

  def check(contender, payload)
    return contender.check(payload) if contender.respond_to?(:check)

    bytes = contender.public_send(@pack, payload)
    object = contender.public_send(@unpack, bytes)
    return unless same?(object, payload) || same?(object, without_symbols(payload))

    { bytes: bytes.bytesize, same: Zlib.crc32(bytes) }
  rescue EncodingError, JSON::GeneratorError
    nil # JSON with a binary
  end

  private

  # By what it shows: a BigDecimal for an Integer, or another encoding, would be equal and not the same. It takes too
  # long for what is large, which is more of what was looked at when it was small.
  def same?(one, other)
    one == other && (LARGE < one.size || one.inspect == other.inspect)
  end

  # A Symbol comes back as a String.
  def without_symbols(object)
    case object
    when Hash then object.to_h { |key, value| [key, without_symbols(value)] }
    when Array then object.map { |value| without_symbols(value) }
    when Symbol then object.name.dup
    else object
    end
  end
end

# frozen_string_literal: true

# Prints the tables of docs/ext-types.md: how each installed library answers to messages that libraries disagree about.

require "manypack"
require_relative "notation"
require_relative "peers"

# The messages, by table and column, and the words for what comes back.
module Probes
  module_function

  def hex(digits) = [digits.delete(" ")].pack("H*")

  TABLES = {
    "Numbers" => {
      "float 32, 1.5" => hex("ca 3fc00000"), "float 64, 1.0" => hex("cb 3ff0000000000000"),
      "2^53 + 1" => hex("cf 0020000000000001"), "2^64 - 1" => hex("cf ffffffffffffffff"), "-129" => hex("d1 ff7f")
    },
    "Text, bytes and maps" => {
      "str" => hex("a3 616263"), "bin" => hex("c4 03 616263"), "str, not UTF-8" => hex("a2 c328"),
      "empty map" => hex("80"), "a key twice" => hex("82 a161 01 a161 02"), "integer as key" => hex("81 01 02"),
      "array as key" => hex("81 91 01 02")
    },
    "Timestamps, ext types and depth" => {
      "0 s, 1 ns" => hex("d7 ff 00000004 00000000"), "10^13 s" => hex("c7 0c ff 00000000 000009184e72a000"),
      "2^63 - 1 s" => hex("c7 0c ff 00000000 7fffffffffffffff"), "ext 5" => hex("d4 05 07"), "ext -2" => hex("d4 fe 07"),
      "31 levels" => "\x91".b * 30 + "\x90".b, "500 levels" => "\x91".b * 499 + "\x90".b
    }
  }.freeze

  # Returns "kept", "refused", or what came back in Ruby's notation.
  def word(message, packed)
    return packed ? "kept" : "refused" if [nil, message].include?(packed)

    object = Manypack.unpack(packed, allow_unknown_ext: true)
    object.is_a?(Manypack::ExtensionValue) ? ext(object) : "`#{show(object)}`"
  end

  def ext(value)
    seconds, nanoseconds = Notation.time(value.payload.unpack1("H*"))&.fetch("time")
    seconds ? "#{seconds} s, #{nanoseconds} ns" : "invalid"
  end

  def show(object)
    return "bin #{object.unpack1("H*")}" if object.is_a?(String) && object.encoding == Encoding::BINARY

    object.inspect.gsub(/0x\h+/, "0x...")
  end
end

peers = Peer::ALL.select(&:installed?).each(&:build!)
Probes::TABLES.each do |heading, messages|
  puts "## #{heading}", "", "| | #{messages.keys.join(" | ")} |", "| --- |#{" --- |" * messages.size}"
  peers.each do |peer|
    words = messages.values.zip(peer.echo(messages.values)).map { |message, (packed, _)| Probes.word(message, packed) }
    puts "| #{peer.language}: #{peer.name} | #{words.join(" | ")} |"
  end
  puts
end
puts "Measured with #{peers.map(&:version).uniq.join(", ")}."

# frozen_string_literal: true

# The libraries of other languages understand what Manypack packs, and Manypack understands what they pack. Each library
# that is installed is sent the same messages, and its differences are those that peers.rb names.
# OBJECTS=10000 says how many random objects there are.

require "test_helper"
require "json"
require_relative "../random_graph"
require_relative "notation"
require_relative "peers"

class LanguagesTest < Minitest::Test
  OBJECTS = Integer(ENV.fetch("OBJECTS", 300))
  SEED = Integer(ENV.fetch("MANYPACK_SEED", 1))
  SUITE = File.join(Peer::WORK, "node_modules/msgpack-test-suite/dist/msgpack-test-suite.json")
  OURS = File.expand_path("../../vectors/canonical.json", __dir__)
  LENGTHS = [0, 1, 2, 4, 8, 15, 16, 31, 32, 255, 256, 65_535, 65_536, 70_000].freeze
  COUNTS = [0, 15, 16, 255, 256].freeze
  SECONDS = [0, 1, -1, 2**32 - 1, 2**32, 2**34 - 1, 2**34, 253_402_300_799, 253_402_300_800, -62_135_596_800,
             8_640_000_000_000, -8_640_000_000_000, 2**63 - 1, -2**63].freeze
  NANOSECONDS = [0, 1, 1_000, 500_000_000, 999_000_000, 999_999_999].freeze

  # The vectors of the msgpack-test-suite: the type of a value, the value, and the ways to write it, the best one first.
  Vector = Struct.new(:type, :value, :messages) do
    def self.all
      return [] unless File.exist?(SUITE)

      JSON.parse(File.read(SUITE)).values.flatten.map do |vector|
        messages = vector.delete("msgpack").map { |hex| [hex.delete("-")].pack("H*") }
        new(*vector.first, messages)
      end
    end

    # The object that Manypack should make of it, and pack as the first of the messages.
    def object
      case type
      when "binary" then [value.delete("-")].pack("H*")
      when "bignum" then Integer(value)
      when "timestamp" then Manypack::Timestamp.new(*value)
      when "ext" then Manypack::ExtensionValue.new(value[0], [value[1].delete("-")].pack("H*"))
      else value
      end
    end
  end
  VECTORS = Vector.all.freeze

  def self.messages
    @messages ||= (VECTORS.flat_map(&:messages) + our_vectors + edges + timestamps + random_objects).uniq
  end

  def self.our_vectors
    JSON.parse(File.read(OURS)).map { |vector| [vector["input"]].pack("H*") }.select { |message| good?(message) }
  end

  def self.edges
    numbers = RandomGraph::INTEGER_EDGES + RandomGraph::FLOATS + [Float::NAN, Float::MAX, Float::MIN, 2.0**53, 2.0**64]
    float32 = [0.0, 1.5, -2.5, 3.4028234663852886e38, Float::INFINITY].map { |float| [0xCA, float].pack("Cg") }
    sized = LENGTHS.flat_map do |size|
      ["s" * size, "\xFF".b * size, Manypack::ExtensionValue.new(5, "e" * size)]
    end
    sized += [[1] * 65_535, [1] * 65_536] + COUNTS.flat_map { |size| [[1] * size, (0...size).to_h { |i| ["k#{i}", i] }] }
    deep = (1..100).reduce(nil) { |inner, _| [inner] }
    (numbers + sized + [deep]).map { |object| Manypack.pack(object) } + float32
  end

  def self.timestamps
    SECONDS.product(NANOSECONDS).map { |sec, nsec| Manypack.pack(Manypack::Timestamp.new(sec, nsec), timestamp: true) }
  end

  # Without those that have a key twice: Strings of one text in two encodings are two keys of Ruby's.
  def self.random_objects
    Array.new(OBJECTS) do |i|
      Manypack.pack(RandomGraph.new(Random.new(SEED + i), ext: Manypack::ExtensionValue.method(:new)).graph)
    end.select { |message| good?(message) }
  end

  def self.good?(message)
    Manypack.unpack(message, allow_unknown_ext: true, duplicate_keys: :error)
    true
  rescue Manypack::DecodeError
    false
  end

  # The answers of a peer, each with its message, and what Manypack understands of that; only of messages that the
  # language can carry.
  def self.answers(peer)
    @answers ||= {}
    @answers[peer] ||= begin
      sent = carried(peer)
      sent.zip(peer.echo(sent.map(&:first))).map { |(message, expected), (packed, said)| [message, packed, said, expected] }
    end
  end

  # The messages that the language can carry, each with what they say there.
  def self.carried(peer)
    messages.filter_map do |message|
      tree = (@trees ||= Hash.new { |trees, bytes| trees[bytes] = Notation.common(notation(bytes)) })[message]
      next if Notation.any?(tree, peer.cannot)

      expected = Notation.normal(tree, peer.rules)
      [message, expected] unless Notation.duplicate_keys?(expected)
    end
  end

  def self.notation(message)
    Notation.of(Manypack.unpack(message, allow_unknown_ext: true))
  end

  installed, absent = Peer::ALL.partition(&:installed?)
  installed.each do |peer|
    name = peer.to_s.gsub(/\W+/, "_")
    peer.build!
    puts "#{peer}: #{peer.version}"

    define_method("test_#{name}understands_what_Manypack_packs") do
      assert_operator answers(peer).size, :>, 150
      assert_no_differences(peer) do |_, said, expected|
        understood = parse(said)
        understood && expected == Notation.normal(understood[0], peer.rules)
      end
    end

    define_method("test_Manypack_understands_what_#{name}packs") do
      assert_no_differences(peer) do |packed, _, expected|
        packed && expected == Notation.normal(self.class.notation(packed), peer.rules)
      end
    end
  end

  (absent.map { |peer| [peer, "not installed"] } + Peer::MISSING.to_a).each do |peer, reason|
    warn "NOT RUN: #{peer}: #{reason}"
  end
  warn "NOT RUN: the vectors of msgpack-test-suite: not installed" if VECTORS.empty?

  def test_the_public_vectors
    skip "msgpack-test-suite is not installed" if VECTORS.empty?
    assert_operator VECTORS.size, :>, 80
    VECTORS.each do |vector|
      vector.messages.each do |message|
        unpacked = Manypack.unpack(message, allow_unknown_ext: true)
        unpacked = Manypack::Timestamp.from_msgpack_ext(unpacked.payload) if vector.type == "timestamp"
        vector.object.nil? ? assert_nil(unpacked) : assert_equal(vector.object, unpacked, show(message))
      end
      packed = Manypack.pack(vector.object, timestamp: true)
      assert_includes vector.messages, packed, vector.value.inspect
    end
  end

  private

  def answers(peer) = self.class.answers(peer)

  # The block tells whether the answer to a message is right.
  def assert_no_differences(peer)
    wrong = answers(peer).reject { |_, packed, said, expected| yield packed, said, expected }
    assert_empty wrong.first(3).map { |message, packed, said, _| [show(message), packed && show(packed), said[0, 200]] },
                 "#{peer}: #{wrong.size} of #{answers(peer).size}"
  end

  # Returns nil if the peer refused the message and gave a reason instead.
  def parse(said)
    [JSON.parse(said, max_nesting: false)]
  rescue JSON::ParserError
    nil
  end

  def show(message)
    message.unpack1("H*")[0, 200]
  end
end

# frozen_string_literal: true

# What so many Ractors cost that have all packed and unpacked and now wait.

require ENV["LD_PRELOAD"].split.first if ENV["LD_PRELOAD"].to_s.include?("malloc_count")

class RactorsChild
  MESSAGE = { "id" => 12_345, "name" => "Ractor", "tags" => %w[small plain], "position" => { "x" => 1.5, "y" => -2 },
              "ok" => true }.freeze
  SIZE = 64 # bytes of it packed, about

  # The objects of it as a literal makes them.
  class_eval "def self.by_hand = #{MESSAGE.inspect}", __FILE__, __LINE__
  def self.packed_by_hand = "x" * SIZE

  # @param peer [Module] of Peers
  # @param ractors [Integer]
  # @param work [String] "nothing", "by hand" or "unpack, pack"
  def initialize(peer, ractors:, work:)
    @peer = peer
    @ractors = ractors
    @work = work
    @bytes = peer.pack(MESSAGE).freeze
  end

  # @return [Hash{Symbol => Integer}] resident bytes before, with all of them, after a collection, and malloc'ed by the
  #   extension where that is counted
  def run
    MallocCount.watch($LOADED_FEATURES.grep(%r{/manypack\.so\z}).first) if defined?(MallocCount)
    one = start
    wait_for([one])
    before = settle
    own = MallocCount.held.last if defined?(MallocCount)
    all = Array.new(@ractors) { start }
    wait_for(all)
    with = ProcessMemory.resident
    after = settle
    { before: before, with: with, after: after, own: own && MallocCount.held.last - own }
  end

  private

  def start
    Ractor.new(@peer, @bytes, @work, Ractor.current) do |peer, bytes, work, main|
      kept = RactorsChild.work(work, peer, bytes)
      main.send(true)
      Ractor.receive
      kept
    end
  end

  def wait_for(ractors)
    ractors.size.times { Ractor.receive }
  end

  # What a Ractor does before it waits.
  def self.work(work, peer, bytes)
    case work
    when "by hand" then [by_hand, packed_by_hand]
    when "unpack, pack" then peer.unpack(bytes).then { |object| [object, peer.pack(object)] }
    end
  end

  def settle
    3.times { GC.start }
    ProcessMemory.resident
  end
end

# frozen_string_literal: true

# What Manypack is measured beside, in the demo and in the benchmarks. A contender is a module, so that every Ractor may
# have it; it answers label, load and version, and to those methods which it can be measured by: pack and unpack mostly.
# Before load it needs nothing installed.

require_relative "contenders/message_pack"
require_relative "contenders/other_formats"

module Contenders
  # What bin/demo shows, and what bin/bench measures.
  DEMO = [WithManypack, WithMsgpack, WithJson, WithMarshal].freeze
  BENCH = [WithManypack, WithManypackRead, WithManypackHashes, WithManypackByHand, WithMsgpackPool, WithMsgpack,
           WithJson, WithOj, WithNosj, WithMarshal, WithCbor, WithProtobuf].freeze

  # Whose memory is measured.
  MEMORY = [WithManypack, WithMsgpack, WithJson].freeze

  # Returns the contenders of the demo, loaded, Manypack first.
  def self.of_demo
    @of_demo ||= DEMO.each(&:load)
  end
end

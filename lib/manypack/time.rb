# frozen_string_literal: true

# Manypack::Time: packer and unpacker of the timestamp for Time.
module Manypack
  # A packer and an unpacker for Time as the timestamp of the specification. Unpacked, a Time is in the local zone.
  #
  # @example
  #   factory.register_type(Manypack::Timestamp::TYPE, Time, packer: Manypack::Time::Packer,
  #                                                          unpacker: Manypack::Time::Unpacker)
  module Time
    # Whether Time.at takes nanoseconds, which every Ruby that Manypack runs on does.
    TIME_AT_3_AVAILABLE = true

    # Time to body. Every Ractor may call it.
    Packer = Ractor.make_shareable(->(time) { Timestamp.to_msgpack_ext(time.tv_sec, time.tv_nsec) })

    # Body to Time. Every Ractor may call it.
    Unpacker = Ractor.make_shareable(lambda do |payload|
      timestamp = Timestamp.from_msgpack_ext(payload)
      ::Time.at(timestamp.sec, timestamp.nsec, :nanosecond)
    end)
  end
end

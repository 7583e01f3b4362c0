# frozen_string_literal: true

#--
# Manypack::Time: packs and unpacks Time as a timestamp.
#++
module Manypack
  # A packer and an unpacker for Time, in the timestamp format of the specification. An unpacked Time is in the local
  # zone.
  #
  #   factory = Manypack::Factory.new
  #   factory.register_type(Manypack::Timestamp::TYPE, Time, packer: Manypack::Time::Packer,
  #                                                          unpacker: Manypack::Time::Unpacker)
  module Time
    # Always true: Time.at takes nanoseconds on every Ruby that Manypack supports.
    TIME_AT_3_AVAILABLE = true

    # A shareable Proc that turns a Time into a body.
    Packer = Ractor.make_shareable(->(time) { Timestamp.to_msgpack_ext(time.tv_sec, time.tv_nsec) })

    # A shareable Proc that turns a body into a Time.
    Unpacker = Ractor.make_shareable(lambda do |payload|
      timestamp = Timestamp.from_msgpack_ext(payload)
      ::Time.at(timestamp.sec, timestamp.nsec, :nanosecond)
    end)

    Internal.time_handlers(Packer, Unpacker) # the extension does their work without calling them
  end
end

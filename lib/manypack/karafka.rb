# frozen_string_literal: true

#--
# Messages and jobs of Karafka as MessagePack. Only programs that use Karafka require this file.
#++
require "manypack"
require "manypack/base/front_codec"
require "manypack/media_type"
require "manypack/waterdrop"

module Manypack
  Library.load("karafka", user: "manypack/karafka", at_least: "2.4")

  # MessagePack for Karafka's consumers and ActiveJob. <code>require "manypack/karafka"</code> loads it, Karafka, and
  # Manypack::WaterDrop.
  module Karafka
    # Unpacks the payloads of a topic. It is frozen, and shareable if the handlers of its ext types are. It calls
    # nothing but +raw_payload+, so any object with that method can be a message; with +json+ it looks at +raw_headers+.
    #
    #   topic(:events) do
    #     consumer EventsConsumer
    #     deserializers(payload: Manypack::Karafka::Deserializer.new(untrusted: true))
    #   end
    class Deserializer
      # Creates a Deserializer.
      #
      # as:: what loads the payloads, as at Manypack.unpack: a Record or another Type, <code>:view</code> for Views, or
      #      an object with <code>load(bytes)</code>; nil unpacks them (default)
      # codec:: a Codec with ext types and options; by default, that of the Type, or one with the types that are
      #         registered on DefaultFactory
      # json:: true for payloads of JSON, except those whose header +content-type+ is that of MessagePack: a topic can
      #        change from one to the other
      # options:: any of those of Manypack.unpack; they replace those of the codec. +collect+ as in Type#load
      #
      # Raises ArgumentError for unknown options, and TypeError or RangeError for unsuitable values.
      #
      #   Manypack::Karafka::Deserializer.new(codec: factory.codec, symbolize_keys: true, max_bytes: 100_000)
      #   Manypack::Karafka::Deserializer.new(as: EVENT, untrusted: true, json: true)
      def initialize(as: nil, codec: nil, json: false, **options)
        @loader = FrontLoader.new(as, codec, options, :json)
        @json = json
        freeze
      end

      # Returns the loaded payload of a message, or nil for a tombstone, which has no payload. Raises the errors of
      # Manypack.unpack, and RecordError.
      #
      #   deserializer.call(message) #=> {"id" => 1}
      def call(message)
        payload = message.raw_payload or return
        @json && !packed?(message) ? @loader.load_json(payload) : @loader.load(payload)
      end

      private

      def packed?(message)
        headers = message.raw_headers if message.respond_to?(:raw_headers)
        _, type = headers&.find { |name, _| name.casecmp?("content-type") }
        MediaType.of?(type)
      end
    end

    # Packs and unpacks the jobs of ActiveJob, from Karafka 2.5.2 on. It cannot unpack jobs that are already in the
    # topic as JSON.
    #
    #   config.internal.active_job.deserializer = Manypack::Karafka::ActiveJobDeserializer.new
    class ActiveJobDeserializer
      # Creates an ActiveJobDeserializer. The arguments and errors are those of Deserializer.new; options of
      # Manypack.pack are possible too.
      #
      #   Manypack::Karafka::ActiveJobDeserializer.new(max_bytes: 100_000)
      def initialize(codec: nil, **options)
        Arguments.refuse_option(options, :as, "jobs, which ActiveJob reads from a Hash")
        @codec = FrontCodec.new(codec, Arguments.codec(codec, options))
        freeze
      end

      # Returns the payload for a job, a binary String. Raises the errors of Manypack.pack.
      #
      #   deserializer.serialize(job) #=> "\x8A\xA9job_class\xA5MyJob..."
      def serialize(job)
        @codec.now.pack(job.serialize)
      end

      # Returns the Hash of the job in a message, or nil for a tombstone, which has no payload. Raises the errors of
      # Manypack.unpack.
      #
      #   deserializer.deserialize(message) #=> {"job_class" => "MyJob", ...}
      def deserialize(message)
        payload = message.raw_payload or return
        @codec.now.unpack(payload)
      end
    end
  end
end

# frozen_string_literal: true

#--
# Payloads of WaterDrop as MessagePack. Only programs that use WaterDrop require this file.
#++
require "manypack"
require "manypack/base/front_codec"

module Manypack
  Library.load("waterdrop", user: "manypack/waterdrop", at_least: "2.4")

  # MessagePack for producers of Kafka. <code>require "manypack/waterdrop"</code> loads it and WaterDrop.
  module WaterDrop
    # Packs the payloads that a producer sends.
    #
    #   producer.middleware.append(Manypack::WaterDrop::Middleware.new)
    #   producer.produce_async(topic: "events", payload: { id: 1 })
    class Middleware
      # The media type that IANA registered for MessagePack.
      CONTENT_TYPE = "application/vnd.msgpack"

      HEADER = "content-type"
      private_constant :HEADER

      # Creates a Middleware.
      #
      # codec:: a Codec with ext types and options; by default, one with the types that are registered on DefaultFactory
      # content_type:: the value of the header +content-type+ of messages that have none, a String; or nil for no header
      # json:: true to send JSON, with the header +application/json+, that consumers with <code>json: true</code> read
      # options:: any of those of Manypack.pack; they replace those of the codec
      #
      # Raises ArgumentError for unknown options, and TypeError or RangeError for unsuitable values.
      #
      #   Manypack::WaterDrop::Middleware.new(codec: factory.codec, content_type: "application/x-msgpack")
      def initialize(codec: nil, json: false, content_type: json ? "application/json" : CONTENT_TYPE, **options)
        @codec = FrontCodec.new(codec, Arguments.codec(codec, options, :content_type, :json, unpacks: false))
        @json = json
        unless content_type.nil? || content_type.is_a?(String)
          raise ::TypeError, "content_type must be a String or nil, got #{content_type.inspect}"
        end

        @headers = content_type ? { HEADER => content_type.dup.freeze }.freeze : {}.freeze
        freeze
      end

      # Returns a copy of the message with its payload packed. A message without a payload, a tombstone, is returned as
      # it is, and so is one whose payload is a String: it is bytes already, as in a message on its way to a dead letter
      # queue. A View is sent as its bytes. Raises the errors of Manypack.pack.
      #
      #   middleware.call({ topic: "events", payload: { id: 1 } })
      #   #=> {topic: "events", payload: "\x81\xA2id\x01", headers: {"content-type" => "application/vnd.msgpack"}}
      def call(message)
        payload = message[:payload]
        return message if payload.nil? || payload.is_a?(String)

        codec = @codec.now
        packed = codec.pack(payload)
        packed = codec.to_json(packed) if @json
        message.merge(payload: packed, headers: @headers.merge(message[:headers].to_h))
      end
    end
  end
end

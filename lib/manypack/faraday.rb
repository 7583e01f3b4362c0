# frozen_string_literal: true

#--
# Requests and responses of Faraday as MessagePack. Only programs that use Faraday require this file.
#++
require "manypack"
require "manypack/base/front_codec"
require "manypack/media_type"

module Manypack
  Library.load("faraday", user: "manypack/faraday", at_least: "2.0")

  # MessagePack for clients of HTTP. <code>require "manypack/faraday"</code> loads it and Faraday, which then knows both
  # middlewares by the name +:msgpack+.
  #
  #   Faraday.new("http://127.0.0.1:9292") do |connection|
  #     connection.request :msgpack
  #     connection.response :msgpack, untrusted: true
  #   end
  module Faraday
    # Raised for the body of a response that is not valid, or that the options do not allow: a Faraday::ParsingError and
    # a DecodeError in one, with the response. Its cause is the DecodeError that Manypack.unpack raised.
    #
    #   begin
    #     connection.get("/events")
    #   rescue Manypack::DecodeError => error
    #     warn "bad answer from #{error.response.env.url}: #{error.message}, at #{error.path}"
    #   end
    class ParsingError < ::Faraday::ParsingError
      include Carried
    end

    # Packs the bodies of requests.
    #
    #   connection.request :msgpack
    #   connection.post("/events", { id: 1 })
    class Request < ::Faraday::Middleware
      # Creates the middleware; Faraday does.
      #
      # codec:: a Codec with ext types and options; by default, one with the types that are registered on DefaultFactory
      # content_type:: the Content-Type of requests that have none, a String
      # options:: any of those of Manypack.pack; they replace those of the codec
      #
      # Raises ArgumentError for unknown options, and TypeError or RangeError for unsuitable values.
      #
      #   connection.request :msgpack, content_type: "application/x-msgpack", timestamp: true
      def initialize(app = nil, codec: nil, content_type: MediaType::REGISTERED, **options)
        super(app)
        @codec = FrontCodec.new(codec, Arguments.codec(codec, options, :content_type, unpacks: false))
        @content_type = content_type
        @content_types = MediaType.list([content_type])
      end

      # Packs the body of a request, and sets its Content-Type unless it has one. A request without a body, or with the
      # Content-Type of something else, stays as it is. So does a body that is a String or an IO, because it is bytes
      # already. A View is sent as its bytes. Raises the errors of Manypack.pack.
      def on_request(env)
        body = env[:body]
        type = env[:request_headers]["Content-Type"]
        return if body.nil? || body == "" || !packed?(type)

        env[:request_headers]["Content-Type"] ||= @content_type
        env[:body] = @codec.now.pack(body) unless body.respond_to?(:to_str) || body.respond_to?(:read)
      end

      private

      def packed?(type)
        type.nil? || MediaType.of?(type) || MediaType.of?(type, @content_types)
      end
    end

    # Unpacks the bodies of responses.
    #
    #   connection.response :msgpack, untrusted: true
    #   connection.get("/events/1").body #=> {"id" => 1}
    class Response < ::Faraday::Middleware
      # Creates the middleware; Faraday does.
      #
      # as:: what loads the bodies, as at Manypack.unpack: a Record or another Type, <code>:view</code> for Views, or an
      #      object with <code>load(bytes)</code>; nil unpacks them (default). It applies only to responses with a
      #      status from 200 to 299; bodies of other responses are unpacked as without +as+
      # codec:: a Codec with ext types and options; by default, that of the Type, or one with the types that are
      #         registered on DefaultFactory
      # content_types:: the media types to ask for and to unpack, an Array of Strings (default: the three of
      #                 MessagePack, and to unpack also those with the suffix +msgpack)
      # json:: true to ask for JSON, too, and to load it by the same +as+: application/json, and types with the suffix
      #        +json+
      # options:: any of those of Manypack.unpack; they replace those of the codec. +collect+ as in Type#load
      #
      # Raises ArgumentError for unknown options, and TypeError or RangeError for unsuitable values.
      #
      #   connection.response :msgpack, untrusted: true, max_bytes: 10_000_000
      #   connection.response :msgpack, content_types: ["application/vnd.acme+msgpack"]
      #   connection.response :msgpack, as: EVENT, untrusted: true
      def initialize(app = nil, as: nil, codec: nil, content_types: nil, json: false, **options)
        super(app)
        @loader = FrontLoader.new(as, codec, options, :content_types, :json)
        @loader_of_errors = @loader.of_any_shape
        @content_types = MediaType.list(content_types)
        @json = json
      end

      # Asks for MessagePack, unless the request has a header Accept.
      def on_request(env)
        types = [*(@content_types || MediaType::ALL), *("#{MediaType::JSON};q=0.5" if @json)]
        env[:request_headers]["Accept"] ||= types.join(", ")
      end

      # Unpacks the body of a response if its Content-Type is application/vnd.msgpack, application/msgpack,
      # application/x-msgpack, or has the suffix +msgpack; with +content_types+, if it is one of them. An empty body
      # becomes nil. Raises ParsingError, with the response, for a body that is not valid, and whatever an ext handler
      # raises.
      def on_complete(env)
        body = env[:body]
        type = env[:response_headers]["Content-Type"]
        json = @json && MediaType.json?(type)
        return unless body.respond_to?(:to_str) && (json || MediaType.of?(type, @content_types))

        loader = env.success? ? @loader : @loader_of_errors
        env[:body] = (json ? loader.load_json(body) : loader.load(body) unless body.empty?)
      rescue DecodeError => error
        raise ParsingError.new(error, env[:response])
      end
    end

    ::Faraday::Request.register_middleware(msgpack: Request)
    ::Faraday::Response.register_middleware(msgpack: Response)
  end
end

# frozen_string_literal: true

#--
# Requests and responses of Rack as MessagePack. Only programs that use Rack require this file.
#++
require "manypack"
require "manypack/base/front_codec"
require "manypack/media_type"
require "manypack/problem"
require "stringio"

module Manypack
  Library.load("rack", user: "manypack/rack", at_least: "3.0")

  # MessagePack for Rack applications. <code>require "manypack/rack"</code> loads it and Rack.
  module Rack
    # Returns the response to a request whose body raised a DecodeError, as problem details (RFC 9457): the status is
    # 413 for a LimitError, 422 for a RecordError, of which each error has a pointer, and 400 for any other.
    #
    #   Manypack::Rack.problem(error)
    #   #=> [422, {"content-type" => "application/problem+json"}, ["{\"title\":\"Unprocessable Content\",...}"]]
    def self.problem(error)
      status = Problem.status_of(error)
      title = ::Rack::Utils::HTTP_STATUS_CODES[status]
      [status, { "content-type" => Problem::TYPE }, [Problem.json(error, status, title)]]
    end

    # The middleware that unpacks the bodies of requests whose Content-Type is application/vnd.msgpack,
    # application/msgpack, application/x-msgpack, or any with the suffix +msgpack, such as application/vnd.acme+msgpack.
    # All other requests, and those without a body, pass through it untouched.
    #
    #   use Manypack::Rack::Parser, max_bytes: 100_000
    class Parser
      # Where the object is in the env of the request.
      BODY = "manypack.body"

      DEFAULTS = { untrusted: true, max_bytes: 1_048_576 }.freeze
      private_constant :DEFAULTS

      # Creates a Parser.
      #
      # app:: the next Rack application
      # as:: what loads the bodies, as at Manypack.unpack: a Record or another Type, <code>:view</code> for Views, or an
      #      object with <code>load(bytes)</code>; nil unpacks them (default)
      # codec:: a Codec with ext types and options; by default, that of the Type, or one with the types that are
      #         registered on DefaultFactory
      # content_types:: the media types to unpack, an Array of Strings (default: the three above, and those with the
      #                 suffix +msgpack)
      # json:: true to load bodies of JSON, too: application/json, and any with the suffix +json+. An invalid one is
      #        answered with Manypack::Rack.problem
      # on_error:: an object with <code>call(env, error)</code> that returns the response to a wrong body; the error is
      #            a DecodeError
      # options:: any of those of Manypack.unpack; they replace those of the codec. +collect+ as in Type#load
      #
      # Unless the options, the codec or the Type say otherwise, <code>untrusted: true</code> and
      # <code>max_bytes: 1_048_576</code> hold. No more than +max_bytes+ of a body are read.
      #
      # Raises ArgumentError for unknown options, and TypeError or RangeError for unsuitable values.
      #
      #   use Manypack::Rack::Parser, codec: factory.codec, max_array_size: 500
      #   use Manypack::Rack::Parser, as: SIGNUP, max_bytes: 10_000, json: true, collect: true
      def initialize(app, as: nil, codec: nil, content_types: nil, json: false, on_error: nil, **options)
        @app = app
        @content_types = MediaType.list(content_types)
        @json = json
        @on_error = on_error
        @loader = FrontLoader.new(as, codec, options, :content_types, :json, :on_error, defaults: DEFAULTS)
        @max_bytes = @loader.max_bytes || DEFAULTS[:max_bytes]
      end

      # Unpacks the body, calls the application, and returns its response. The object is then in
      # <code>env["manypack.body"]</code>. If it is a Hash, it is also what Rack::Request#POST returns, and part of
      # Rack::Request#params. <code>env["rack.input"]</code> has the bytes, so the application can read them again.
      #
      # If the body is not valid or exceeds a limit, it does not call the application: it returns a response with the
      # status 400 or 413 and the error as text. The status is 422 for a RecordError: the body is MessagePack, but not
      # what +as+ loads.
      #
      #   parser.call(env) #=> [400, {"content-type" => "text/plain"}, ["unexpected end of input, at byte 2\n"]]
      def call(env)
        type = env["CONTENT_TYPE"]
        refusal = parse(env) if MediaType.of?(type, @content_types) || json?(type)
        refusal || @app.call(env)
      end

      private

      # Returns nil, or the response that refuses the request.
      def parse(env)
        return too_large(env, env["CONTENT_LENGTH"]) if env["CONTENT_LENGTH"].to_i > @max_bytes

        body = env["rack.input"]&.read(@max_bytes + 1).to_s
        return if body.empty?
        return too_large(env, "more") if body.bytesize > @max_bytes

        hand_over(env, body, json?(env["CONTENT_TYPE"]) ? @loader.load_json(body) : @loader.load(body))
      rescue DecodeError => error
        refuse(env, error)
      end

      def json?(type)
        @json && MediaType.json?(type)
      end

      def hand_over(env, body, object)
        input = env["rack.input"] = StringIO.new(body)
        env[BODY] = object
        return unless object.is_a?(Hash)

        env["rack.request.form_hash"] = object
        env["rack.request.form_input"] = input # Rack before 3.2 compares it with the input
        nil
      end

      def too_large(env, size)
        refuse(env, LimitError.new("max_bytes is #{@max_bytes}, but the body has #{size}"))
      end

      def refuse(env, error)
        return @on_error.call(env, error) if @on_error

        status, headers, body = Rack.problem(error) if json?(env["CONTENT_TYPE"])
        return Response.to(env, status, headers, body[0]) if status

        Response.to(env, Problem.status_of(error), { "content-type" => "text/plain" }, "#{Problem.detail(error)}\n")
      end
    end

    # Responses with a body.
    module Response # :nodoc:
      # A response to HEAD has the headers that GET would get.
      def self.to(env, status, headers, body)
        return [status, headers, [body]] unless env["REQUEST_METHOD"] == "HEAD"

        [status, headers.merge("content-length" => body.bytesize.to_s), []]
      end
    end
    private_constant :Response

    # Makes the responses of an application: MessagePack for the clients that accept it.
    #
    #   RESPOND = Manypack::Rack::Responder.new(json: true)
    #   run ->(env) { RESPOND.call(env, { "id" => 1 }) }
    class Responder
      JSON_TYPE = "application/json"
      private_constant :JSON_TYPE

      # Creates a Responder, which is frozen, and shareable if the handlers of the ext types are.
      #
      # codec:: a Codec with ext types and options; by default, one with the types that are registered on DefaultFactory
      # json:: true to send JSON to clients that do not ask for MessagePack by name; false to send the status 406 to
      #        clients that do not accept MessagePack
      # content_types:: the media types of packed responses, an Array of Strings; clients that accept several equally
      #                 get the first (default: the three of MessagePack)
      # options:: any of those of Manypack.pack; they replace those of the codec
      #
      # Raises ArgumentError for unknown options, and TypeError or RangeError for unsuitable values.
      #
      #   Manypack::Rack::Responder.new(json: true, timestamp: true)
      #   Manypack::Rack::Responder.new(content_types: ["application/vnd.acme+msgpack", "application/vnd.msgpack"])
      def initialize(codec: nil, json: false, content_types: MediaType::ALL, **options)
        require "json" if json
        @codec = FrontCodec.new(codec, Arguments.codec(codec, options, :json, :content_types, unpacks: false))
        @json = json
        @content_types = MediaType.list(content_types || MediaType::ALL)
        freeze
      end

      # Returns the response to a request as Rack has it: status, headers, and body.
      #
      # env:: the env of the request, a Hash
      # object:: the object to pack, which may be a String. A View, such as that of Type#view, is packed already: its
      #          bytes are sent, or its JSON
      # status:: an Integer
      # headers:: a Hash of further headers, with names in lower case
      #
      # The content type is the one that the client prefers among application/vnd.msgpack, application/msgpack,
      # application/x-msgpack, or +content_types+, and, with +json+, application/json. A response with status 204, 205,
      # 304 or 1xx has no body and no content type, and the object is ignored. A response to HEAD has no body. Raises
      # the errors of Manypack.pack and JSON.generate.
      #
      #   responder.call({ "HTTP_ACCEPT" => "application/vnd.msgpack" }, { "id" => 1 })
      #   #=> [200, {"vary" => "accept", "content-type" => "application/vnd.msgpack"}, ["\x81\xA2id\x01"]]
      def call(env, object, status: 200, headers: {})
        headers = headers.merge("vary" => vary(headers["vary"]))
        return [status, headers.except(*OF_BODY), []] if bodiless?(status)

        type = choose(Accept.new(env["HTTP_ACCEPT"])) or return not_acceptable(env, headers["vary"])
        body = type == JSON_TYPE ? ::JSON.generate(object) : @codec.now.pack(object)
        Response.to(env, status, headers.merge("content-type" => type), body)
      end

      private

      # The headers that Rack allows only with a body.
      OF_BODY = %w[content-type content-length].freeze
      private_constant :OF_BODY

      def vary(given)
        names = [*given].join(", ")
        return names if names.split(",").any? { |name| %w[accept *].include?(name.strip.downcase) }

        names.empty? ? "accept" : "#{names}, accept"
      end

      # HTTP forbids a body with 205, although Rack allows it.
      def bodiless?(status)
        status == 205 || ::Rack::Utils::STATUS_WITH_NO_ENTITY_BODY.key?(status)
      end

      # With +json+, clients that accept anything get JSON: browsers, curl, and older programs.
      def choose(accept)
        types = @json ? @content_types.select { |type| accept.names?(type) } : @content_types
        type = types.max_by { |one| accept.quality(one) }
        quality = type ? accept.quality(type) : 0
        return type if quality > 0 && !(@json && accept.quality(JSON_TYPE) > quality)

        JSON_TYPE if @json
      end

      def not_acceptable(env, vary)
        headers = { "vary" => vary, "content-type" => "text/plain" }
        Response.to(env, 406, headers, "only #{@content_types.first} is available\n")
      end
    end

    # The header Accept: ranges of media types, each with its quality.
    class Accept # :nodoc:
      def initialize(header)
        @qualities = header.to_s.b.split(",").to_h do |range|
          [range[/\A[^;]*/].strip.downcase, (range[/;\s*q\s*=\s*([\d.]+)/i, 1] || 1).to_f]
        end
        @qualities = { "*/*" => 1.0 } if @qualities.empty?
      end

      # Returns true if the header has a media type by its own name, and not only in a range.
      def names?(type)
        @qualities.key?(type)
      end

      # Returns the quality of a media type, from 0, not accepted, to 1.
      def quality(type)
        [type, type.sub(%r{/.*}, "/*"), "*/*"].each { |range| return @qualities[range] if @qualities.key?(range) }
        0
      end
    end
    private_constant :Accept
  end
end

# frozen_string_literal: true

#--
# MessagePack in requests to Rails and in its responses. Only programs that use Action Pack require this file.
#++
require "manypack"
require "manypack/base/front_codec"
require "manypack/active_support"
require "manypack/media_type"
require "manypack/problem"

module Manypack
  Library.load("actionpack", file: "action_controller", user: "manypack/rails", at_least: "7.1")

  # MessagePack for the controllers of Rails. <code>require "manypack/rails"</code> loads it, Action Pack, and
  # Manypack::ActiveSupport. From then on
  #
  # - Rails knows the MIME type +:msgpack+, and recognizes it in requests whose type ends in +msgpack, such as
  #   application/vnd.acme+msgpack,
  # - <code>render msgpack: object</code> packs the object and sends it; a String is sent as it is, as packed bytes, and
  #   so are the bytes of a View,
  # - a request's body of that type becomes its +params+, as ParameterParser reads it,
  # - <code>load_body(SIGNUP)</code> in a controller loads a body of MessagePack or JSON by a Record, and
  # - a body that cannot be read is answered with the status and the offset of InvalidBody, unless a controller rescues
  #   InvalidBody itself. If a constraint of a route or a middleware reads it first, this works only if Railties was
  #   loaded before.
  module Rails
    # The media type of responses: the one that IANA registered for MessagePack.
    CONTENT_TYPE = MediaType::REGISTERED

    # Raised for a body that is not valid, or that the options of the parser do not allow. Rails raises an
    # ActionDispatch::Http::Parameters::ParseError with this error as the cause. This error is a DecodeError, and its
    # cause is the one that Manypack.unpack raised.
    #
    #   rescue_from Manypack::Rails::InvalidBody do |error|
    #     render json: { error: error.message, offset: error.offset }, status: error.status
    #   end
    class InvalidBody < StandardError
      include Carried

      # The status of the response: 413 for a LimitError, 422 for a RecordError, 400 for any other reason.
      #
      #   error.status #=> 400
      def status
        Problem.status_of(cause)
      end

      # The problem details (RFC 9457) of the error, a Hash: those of a RecordError have a pointer to each error.
      #
      #   render json: error.problem, status: error.status, content_type: "application/problem+json"
      def problem
        Problem.of(cause || self, status, ::Rack::Utils::HTTP_STATUS_CODES[status])
      end

      # The content of the response, unless the program makes its own: a Hash of the status, the message and the offset.
      #
      #   error.answer #=> {"status" => 400, "error" => "unexpected end of input, at byte 2", "offset" => 2}
      def answer
        { "status" => status, "error" => message, "offset" => offset }
      end
    end

    # Unpacks the bodies of requests. It is frozen, and shareable if the handlers of its ext types are. To replace the
    # default one:
    #
    #   ActionDispatch::Request.parameter_parsers = ActionDispatch::Request.parameter_parsers.merge(
    #     msgpack: Manypack::Rails::ParameterParser.new(max_bytes: 100_000)
    #   )
    class ParameterParser
      # Options that Rails needs for parameters.
      PLAIN = { symbolize_keys: false, freeze: false, shareable: false }.freeze
      private_constant :PLAIN

      # The name of the parameter that has the body, unless the body is a map.
      KEY = "_msgpack"

      # Creates a ParameterParser.
      #
      # codec:: a Codec with ext types and options; by default, one with the types that are registered on DefaultFactory
      # options:: those of Manypack.unpack except +symbolize_keys+, +freeze+ and +shareable+; they replace those of the
      #           codec. <code>untrusted: true</code> holds unless they or the codec say otherwise. Whatever the codec
      #           says, keys are Strings and nothing is frozen: +params+ finds Strings by Symbols too, and Rails changes
      #           the objects that it gets
      #
      # Raises ArgumentError for other options, and TypeError or RangeError for unsuitable values.
      #
      #   Manypack::Rails::ParameterParser.new(codec: factory.codec, max_bytes: 100_000)
      def initialize(codec: nil, **options)
        Arguments.refuse_option(options, :as, "params, which are a Hash: a controller can load request.raw_post by a " \
                                              "Record")
        refused = options.keys & PLAIN.keys
        raise ArgumentError, "params are plain: #{refused.join(" and ")} have no effect on them" if refused.any?

        made = Arguments.codec(codec, options, packs: false, defaults: { untrusted: true })
        @codec = FrontCodec.new(codec, made.with(**PLAIN))
        freeze
      end

      # Returns the Hash of the parameters in a body. Raises InvalidBody, also for keys that are not Strings, which
      # +params+ cannot have.
      #
      #   parser.call("\x81\xA2id\x01") #=> {"id" => 1}
      #   parser.call("\x91\x01")       #=> {"_msgpack" => [1]}
      def call(body)
        object = @codec.now.unpack(body)
        check_keys(object)
        object.is_a?(Hash) ? object : { KEY => object }
      rescue DecodeError => error
        raise InvalidBody, Excerpt.of(error.message)
      end

      private

      def check_keys(object)
        case object
        when Array then object.each { |element| check_keys(element) }
        when Hash
          object.each do |key, value|
            raise MalformedFormatError, "keys of params are Strings, not #{key.class}" unless key.is_a?(String)

            check_keys(value)
          end
        end
      end
    end

    # Methods for controllers.
    module Bodies # :nodoc:
      # Loads the body of the request by a Record or another Type, or a class that has one: JSON if its media type is
      # application/json or has the suffix +json+, otherwise MessagePack. Raises InvalidBody with all errors of the
      # body, which is answered as problem details unless the controller rescues it.
      #
      # options:: those of Type#load. <code>untrusted: true</code> and <code>collect: true</code> hold unless they say
      #           otherwise
      #
      #   def create
      #     signup = load_body(SIGNUP)
      #   end
      def load_body(as, **options)
        type = Arguments.type_of(as)
        raise ::TypeError, "expected a Type or a class that has a Record, got #{as.inspect}" unless type

        loader = FrontLoader.new(type, nil, { collect: true, **options }, defaults: { untrusted: true })
        body = request.raw_post
        MediaType.json?(request.media_type) ? loader.load_json(body) : loader.load(body)
      rescue DecodeError => error
        raise InvalidBody, Excerpt.of(error.message)
      end
      private :load_body
    end
    private_constant :Bodies

    # Rails looks up MIME types by their whole names. This treats an unregistered type with the suffix of MessagePack as
    # :msgpack.
    module Suffixed # :nodoc:
      def content_mime_type
        type = super
        type && type.symbol.nil? && MediaType.of?(type.to_s) ? ::Mime[:msgpack] : type
      end
    end
    private_constant :Suffixed

    ::Mime::Type.register(CONTENT_TYPE, :msgpack, MediaType::ALL.drop(1))

    ::ActiveSupport.on_load(:action_dispatch_request) do
      self.parameter_parsers = parameter_parsers.merge(msgpack: ParameterParser.new)
      prepend Suffixed
    end

    # Runs for ActionController::Base and for ActionController::API.
    ::ActiveSupport.on_load(:action_controller) do
      ::ActionController::Renderers.add(:msgpack) do |object, _options|
        self.content_type = CONTENT_TYPE if media_type.nil?
        response.charset = false # only text has one
        object.is_a?(String) ? object : Manypack.pack(object)
      end

      include Bodies

      rescue_from(InvalidBody) do |error|
        if error.cause.is_a?(RecordError) || MediaType.json?(request.media_type)
          render json: error.problem, status: error.status, content_type: Problem::TYPE
        else
          render msgpack: error.answer, status: error.status
        end
      end
    end

    # The middleware that answers InvalidBody if a body is first read outside of a controller: by a constraint of a
    # route, or by another middleware.
    class EarlyReads # :nodoc:
      def initialize(app)
        @app = app
      end

      def call(env)
        @app.call(env)
      rescue ::ActionDispatch::Http::Parameters::ParseError => error
        raise unless error.cause.is_a?(InvalidBody)

        body = Manypack.pack(error.cause.answer)
        headers = { "content-type" => CONTENT_TYPE, "content-length" => body.bytesize.to_s }
        [error.cause.status, headers, env["REQUEST_METHOD"] == "HEAD" ? [] : [body]]
      end
    end
    private_constant :EarlyReads

    # Inserted just inside the middleware that shows errors, before the application changes the stack.
    if defined?(::Rails::Railtie)
      class Railtie < ::Rails::Railtie # :nodoc:
        config.app_middleware.insert_after(::ActionDispatch::DebugExceptions, EarlyReads)
      end
      private_constant :Railtie
    end
  end
end

# frozen_string_literal: true

# Requests and responses of Rack, whose Lint stands on both sides, without a server.
require "test_helper"
require "json"
require "manypack/rack"
require "rack/lint"
require "rack/mock_request"

class RackTest < Minitest::Test
  TYPES = ["application/vnd.msgpack", "application/msgpack", "application/x-msgpack", "Application/MsgPack; charset=utf-8"].freeze
  Point = Struct.new(:x)
  POINTS = Manypack::Factory.new.tap do |factory|
    factory.register_type(1, Point, packer: ->(point) { [point.x].pack("c") }, unpacker: ->(body) { Point.new(body.unpack1("c")) })
  end.codec

  # An io that counts what is read of it.
  class Input < StringIO
    attr_reader :bytes_read

    def read(*)
      super.tap { |bytes| @bytes_read = @bytes_read.to_i + bytes.to_s.bytesize }
    end
  end

  # What the application saw as "manypack.body", as params and as bytes, after a POST; or the refusal.
  def post(body, type: TYPES.first, **options)
    @env = nil
    application = lambda do |env|
      @env = env
      [200, {}, []]
    end
    parser = Manypack::Rack::Parser.new(Rack::Lint.new(application), **options)
    Rack::MockRequest.new(Rack::Lint.new(parser)).post("/?q=1", input: body, "CONTENT_TYPE" => type)
  end

  def parsed(...)
    assert_equal 200, post(...).status
    @env["manypack.body"]
  end

  def params
    Rack::Request.new(@env).params
  end

  def test_bodies_of_all_three_media_types_are_unpacked
    TYPES.each { |type| assert_equal({ "id" => 1 }, parsed("\x81\xA2id\x01".b, type: type)) }
  end

  SUFFIXED = ["application/vnd.acme+msgpack", "application/vnd.acme.event+msgpack; version=2", "APPLICATION/Problem+MsgPack",
              "image/x+msgpack"].freeze

  def test_bodies_of_types_with_the_suffix_are_unpacked
    SUFFIXED.each { |type| assert_equal({ "id" => 1 }, parsed("\x81\xA2id\x01".b, type: type)) }
    ["application/vnd.acme+msgpackx", "application/+msgpack x", "+msgpack", "text/plain; type=a/b+msgpack"].each do |type|
      post("\xC1".b, type: type)
      refute @env.key?("manypack.body"), type
    end
  end

  def test_content_types_sets_the_types
    options = { content_types: ["application/vnd.acme", "Application/MsgPack"] }
    ["application/vnd.acme", "application/vnd.acme;a=b", "application/msgpack"].each do |type|
      assert_equal 1, parsed("\x01", type: type, **options)
    end
    ["application/vnd.msgpack", "application/vnd.acme+msgpack"].each do |type|
      post("\x01", type: type, **options)
      refute @env.key?("manypack.body")
    end
    [->(types) { Manypack::Rack::Parser.new(nil, content_types: types) }, ->(types) { Manypack::Rack::Responder.new(content_types: types) }].each do |create|
      [[:a], "application/msgpack", 1].each { |types| assert_raises(TypeError) { create.call(types) } }
      assert_raises(ArgumentError) { create.call([]) }
    end
  end

  # One error quotes the whole body by itself, and the other by its handler.
  def test_a_refusal_never_sends_the_body_back
    factory = Manypack::Factory.new.tap { |one| one.register_common(:uri) }
    factory.register_type(1, Point, packer: nil, unpacker: ->(body) { raise Manypack::MalformedFormatError, "no: #{body.inspect}" })
    [13, 1].each do |type|
      body = Manypack.pack(Manypack::ExtensionValue.new(type, "\xFF é<" * 100_000))
      response = post(body, codec: factory.codec, max_ext_bytes: 1 << 20)
      assert_equal 400, response.status
      assert_operator response.body.bytesize, :<, 500
      assert_match(/, at byte 0$/, response.body)
    end
  end

  def test_a_map_is_among_the_params
    parsed("\x81\xA2id\x91\x01".b)
    assert_equal({ "q" => "1", "id" => [1] }, params)
    assert_equal({ "id" => [1] }, Rack::Request.new(@env).POST)
  end

  # Rack before 3.2 asks for that.
  def test_the_map_is_that_of_the_input
    env = nil
    parser = Manypack::Rack::Parser.new(->(given) { (env = given) && [200, {}, []] })
    parser.call(Rack::MockRequest.env_for("/", method: "POST", input: "\x80".b, "CONTENT_TYPE" => TYPES.first))
    assert_same env["rack.input"], env["rack.request.form_input"]
  end

  Signup = Struct.new(:id)
  SIGNUP = Manypack::Record.new(Signup, id: Integer)

  def test_a_body_becomes_an_object_of_a_record_or_a_view
    assert_equal Signup.new(7), parsed("\x81\xA2id\x07".b, as: SIGNUP)
    assert_equal({ "q" => "1" }, params)
    assert_equal 7, parsed("\x81\xA2id\x07".b, as: :view)["id"]
    assert_equal({ "id" => 7 }, parsed("\x81\xA2id\x07".b, as: Manypack::Type[Hash]))
    assert_equal({ "q" => "1", "id" => 7 }, params)
  end

  def test_a_body_that_is_not_what_a_record_loads_is_unprocessable
    response = post("\x81\xA2id\xC0".b, as: SIGNUP)
    assert_equal [422, "id must be an integer, is null\n"], [response.status, response.body]
    assert_equal 400, post("\x81\xC1".b, as: SIGNUP).status
    assert_equal [413, 413], [post("\x81\xA2id\x07".b, as: SIGNUP, max_bytes: 4).status, post("\x81\xA2id\x07".b, as: SIGNUP.with(max_bytes: 4)).status]
  end

  def test_the_limits_of_a_parser_hold_unless_the_record_has_its_own
    deep = ("\x91" * 40 + "\x01").b
    any = Manypack::Type[Object]
    assert_equal [400, 200, 200], [any, any.with(max_depth: 50), any.with(untrusted: false)].map { |as| post(deep, as: as).status }
    large = Manypack.pack("x" * 1_048_576)
    assert_equal [413, 413], [any, any.with(untrusted: false)].map { |as| post(large, as: as).status }
    assert_equal 200, post(large, as: any.with(max_bytes: 2_000_000, max_string_bytes: 2_000_000)).status
  end

  # They cannot be merged with those of the URL.
  def test_what_is_no_map_is_not
    [[1], nil, false, "text", 1].each do |object|
      object.nil? ? assert_nil(parsed("\xC0".b)) : assert_equal(object, parsed(Manypack.pack(object)))
      assert @env.key?("manypack.body")
      assert_equal({ "q" => "1" }, params)
    end
  end

  def test_the_bytes_can_be_read_once_more
    parsed("\x91\x01".b)
    assert_equal "\x91\x01".b, @env["rack.input"].read
  end

  def test_other_requests_pass_through
    ["application/json", "text/plain", "application/vnd.msgpackx", "", "\xFF".b].each do |type|
      assert_equal 200, post("\xC1".b, type: type).status
      refute @env.key?("manypack.body")
      assert_equal "\xC1".b, @env["rack.input"].read
    end
  end

  def test_an_empty_body_is_no_body
    assert_equal 200, post("").status
    refute @env.key?("manypack.body")
  end

  def test_a_request_without_an_input_passes_through
    application = ->(env) { [200, {}, [env.key?("manypack.body").to_s]] }
    assert_equal [200, {}, ["false"]], Manypack::Rack::Parser.new(application).call({ "CONTENT_TYPE" => TYPES.first })
  end

  def test_a_malformed_body_is_refused_with_its_offset
    { "\x92\x01\xC1" => "0xc1 is not a MessagePack head byte, at byte 2\n",
      "\x92\x01" => "unexpected end of input, at byte 2\n",
      "\xA1\xFF" => /UTF-8.*, at byte 0\n\z/,
      "\x82\xA1a\x01\xA1a\x02" => "a map has the same key twice, at byte 0\n",
      "\x91" * 40 => "containers are nested too deeply for max_depth, at byte 32\n",
      "\xD4\x01\x05" => /, at byte 0\n\z/ }.each do |body, message|
      response = post(body.b)
      assert_equal [400, "text/plain"], [response.status, response["content-type"]]
      assert_operator message, :===, response.body
      assert_nil @env
    end
  end

  # Rack::Lint raises otherwise.
  def test_a_refusal_of_head_has_the_headers_alone
    { "\xC1".b => [400, {}], "x".b * 20 => [413, { max_bytes: 10 }], "\x91".b * 20 => [413, { max_objects: 5 }], "\x81\xA2id\xC0".b => [422, { as: SIGNUP }] }.each do |body, (status, options)|
      parser = Rack::Lint.new(Manypack::Rack::Parser.new(nil, **options))
      request = { input: body, "CONTENT_TYPE" => TYPES.first }
      get, head = [:get, :head].map { |verb| Rack::MockRequest.new(parser).public_send(verb, "/", **request) }
      assert_equal [status, "", "text/plain", get.body.bytesize.to_s], [head.status, head.body, head["content-type"], head["content-length"]]
    end
  end

  def test_a_limit_is_refused_as_such
    response = post(Manypack.pack([nil] * 10_001))
    assert_equal 413, response.status
    assert_match(/max_array_size is 10000.*, at byte 0$/, response.body)
    assert_nil @env
    assert_equal 413, post("\x92\x01\x02".b, max_objects: 2).status
  end

  def test_a_declared_length_is_refused_before_anything_is_read
    input = Input.new("x" * 100)
    env = Rack::MockRequest.env_for("/", method: "POST", input: input, "CONTENT_TYPE" => TYPES.first, "CONTENT_LENGTH" => "100")
    status, _, body = Manypack::Rack::Parser.new(nil, max_bytes: 99).call(env)
    assert_equal [413, ["max_bytes is 99, but the body has 100\n"]], [status, body]
    assert_nil input.bytes_read
  end

  # Chunked requests declare no length, and other lengths may be lies.
  def test_at_most_one_byte_beyond_the_limit_is_read
    [nil, "1", "-1", "many"].each do |length|
      input = Input.new("\xC6\0\0\xFF\xFF".b + ("x" * 70_000))
      env = Rack::MockRequest.env_for("/", method: "POST", input: input, "CONTENT_TYPE" => TYPES.first).merge("CONTENT_LENGTH" => length)
      assert_equal 413, Manypack::Rack::Parser.new(nil, max_bytes: 1_000).call(env).first
      assert_equal 1_001, input.bytes_read
    end
    assert_equal "x" * 997, parsed(Manypack.pack("x" * 997), max_bytes: 1_000)
  end

  def test_options_are_those_of_unpack_and_a_codec_brings_ext_types
    assert_equal({ id: 1 }, parsed("\x81\xA2id\x01".b, symbolize_keys: true))
    assert_equal Point.new(5), parsed("\xD4\x01\x05".b, codec: POINTS)
    assert_equal [1] * 20_000, parsed(Manypack.pack([1] * 20_000), untrusted: false)
    assert_equal 200, post(Manypack.pack("x" * 2_000_000), untrusted: false, max_bytes: 3_000_000).status
    assert_raises(ArgumentError) { Manypack::Rack::Parser.new(nil, max_byte: 1) }
    assert_raises(TypeError) { Manypack::Rack::Parser.new(nil, max_bytes: "many") }
  end

  # A default of the Parser fills what nobody set.
  def test_a_codec_keeps_what_it_says
    tight = Manypack::Codec.new(max_bytes: 1_000)
    assert_equal 413, post(Manypack.pack("x" * 5_000), codec: tight).status
    assert_equal 200, post(Manypack.pack("x" * 5_000), codec: tight, max_bytes: 6_000).status
    assert_equal 200, post(Manypack.pack("x" * 2_000_000), codec: Manypack::Codec.new(untrusted: false, max_bytes: 3_000_000)).status
    assert_equal 400, post("\x82\x01\x02\x01\x03".b, codec: tight).status
    assert_equal 200, post("\x82\x01\x02\x01\x03".b, codec: Manypack::Codec.new(duplicate_keys: :last)).status
  end

  def test_misspelt_options_are_told_what_was_meant_and_a_codec_is_one
    assert_equal "unknown option codex, did you mean codec?", assert_raises(ArgumentError) { Manypack::Rack::Parser.new(nil, codex: 1) }.message
    assert_equal "unknown option jsn, did you mean json?", assert_raises(ArgumentError) { Manypack::Rack::Responder.new(jsn: true) }.message
    assert_equal "wrong argument type Integer (expected Manypack::Codec)", assert_raises(TypeError) { Manypack::Rack::Parser.new(nil, codec: 5) }.message
    assert_equal "wrong argument type Integer (expected Manypack::Codec)", assert_raises(TypeError) { Manypack::Rack::Responder.new(codec: 5) }.message
  end

  def test_errors_of_the_application_are_its_own
    parser = Manypack::Rack::Parser.new(->(_) { Manypack.unpack("\xC1") })
    env = Rack::MockRequest.env_for("/", method: "POST", input: "\x01", "CONTENT_TYPE" => TYPES.first)
    assert_raises(Manypack::MalformedFormatError) { parser.call(env) }
  end

  # The status and content type of the response to a client that sends this header.
  def answer(accept, object: { "id" => 1 }, **options)
    responder = Manypack::Rack::Responder.new(**options)
    application = Rack::Lint.new(->(env) { responder.call(env, object) })
    @response = Rack::MockRequest.new(application).get("/", { "HTTP_ACCEPT" => accept }.compact)
    [@response.status, @response["content-type"]]
  end

  NEGOTIATED = {
    nil => TYPES[0],
    "" => TYPES[0],
    "*/*" => TYPES[0],
    "application/*" => TYPES[0],
    "application/vnd.msgpack" => TYPES[0],
    "APPLICATION/MSGPACK" => TYPES[1],
    "application/x-msgpack, text/html" => TYPES[2],
    "application/x-msgpack, application/msgpack, application/vnd.msgpack" => TYPES[0],
    "application/x-msgpack;q=0.9, application/vnd.msgpack;q=0.8" => TYPES[2],
    "application/vnd.msgpack;version=1;q=0.2, application/msgpack ; Q=0.3" => TYPES[1],
    "application/vnd.msgpack;q=0, */*;q=0.1" => TYPES[1],
    "application/*;q=0, */*" => nil,
    "application/vnd.msgpack;q = 0" => nil,
    "application/vnd.msgpack ; q =0.0, application/msgpack; Q= 0." => nil,
    "application/vnd.msgpack;q=0., application/msgpack;\tq = 0.1" => TYPES[1],
    "application/vnd.msgpack;a=b;q = 0.3, application/msgpack;q=1." => TYPES[1],
    "application/json" => nil,
    "application/vnd.msgpack;q=0" => nil,
    "text/html, */*;q=0.0" => nil,
    "\xFF, application/msgpack".b => TYPES[1]
  }.freeze

  def test_the_client_chooses_the_media_type
    NEGOTIATED.each { |accept, type| assert_equal [type ? 200 : 406, type || "text/plain"], answer(accept), accept.inspect }
  end

  def test_the_response_is_the_object_packed
    answer(TYPES.first)
    assert_equal "\x81\xA2id\x01".b, @response.body.b
    answer(TYPES.first, object: Time.at(5), timestamp: true)
    assert_equal "\xD6\xFF\0\0\0\x05".b, @response.body.b
    answer(TYPES.first, object: Point.new(5), codec: POINTS)
    assert_equal "\xD4\x01\x05".b, @response.body.b
  end

  JSON_TYPE = "application/json"
  WITH_JSON = {
    nil => JSON_TYPE,
    "*/*" => JSON_TYPE,
    "application/*" => JSON_TYPE,
    "text/html" => JSON_TYPE,
    JSON_TYPE => JSON_TYPE,
    "application/vnd.msgpack" => TYPES[0],
    "application/json, application/msgpack" => TYPES[1],
    "application/json, application/vnd.msgpack;q=0.9" => JSON_TYPE,
    "application/json;q=0.5, application/vnd.msgpack;q=0.9" => TYPES[0],
    "application/vnd.msgpack, */*;q=0.1" => TYPES[0],
    "application/vnd.msgpack;q=0.5, */*" => JSON_TYPE,
    "application/vnd.msgpack;q=0" => JSON_TYPE
  }.freeze

  # Clients that accept anything are older than the MessagePack.
  def test_json_is_for_those_who_do_not_ask_for_messagepack
    WITH_JSON.each { |accept, type| assert_equal [200, type], answer(accept, json: true), accept.inspect }
    answer("*/*", json: true)
    assert_equal({ "id" => 1 }, JSON.parse(@response.body))
  end

  def test_caches_are_told_that_responses_vary
    ["application/vnd.msgpack", "text/html"].product([true, false]) do |accept, json|
      answer(accept, json: json)
      assert_equal "accept", @response["vary"]
    end
  end

  def test_a_response_that_varies_already_says_so_once
    { "Accept" => "Accept", "origin,accept" => "origin,accept", "*" => "*", "" => "accept", "accept-language" => "accept-language, accept", %w[origin cookie] => "origin, cookie, accept" }.each do |given, expected|
      assert_equal expected, Manypack::Rack::Responder.new.call({}, nil, headers: { "vary" => given })[1]["vary"]
    end
  end

  def test_status_and_headers_are_those_given
    response = Manypack::Rack::Responder.new.call({}, nil, status: 201, headers: { "location" => "/1", "vary" => "cookie" }.freeze)
    assert_equal [201, { "location" => "/1", "vary" => "cookie, accept", "content-type" => TYPES[0] }, ["\xC0".b]], response
  end

  def test_responses_that_have_no_body_have_none_whatever_the_client_accepts
    [100, 101, 103, 199, 204, 205, 304].product(["application/vnd.msgpack", "text/html", nil], [true, false]) do |status, accept, json|
      responder = Manypack::Rack::Responder.new(json: json)
      given = { "etag" => "1", "content-type" => "text/plain", "content-length" => "5" }.freeze
      application = Rack::Lint.new(->(env) { responder.call(env, Object.new, status: status, headers: given) })
      response = Rack::MockRequest.new(application).get("/", { "HTTP_ACCEPT" => accept }.compact)
      assert_equal [status, "", nil, "1", "accept"], [response.status, response.body, response["content-type"], response["etag"], response["vary"]]
    end
  end

  def test_head_gets_the_headers_of_get
    responder = Manypack::Rack::Responder.new
    application = Rack::Lint.new(->(env) { responder.call(env, "text") })
    { TYPES.first => [200, TYPES.first, "5"], "text/html" => [406, "text/plain", "42"] }.each do |accept, expected|
      response = Rack::MockRequest.new(application).head("/", { "HTTP_ACCEPT" => accept })
      assert_equal [*expected, ""], [response.status, response["content-type"], response["content-length"], response.body]
    end
  end

  def test_a_responder_sends_the_types_that_are_set
    acme = "application/vnd.acme+msgpack"
    { "*/*" => acme, acme => acme, "#{acme};q=0.5, application/msgpack" => "application/msgpack", TYPES[0] => nil }.each do |accept, type|
      assert_equal [type ? 200 : 406, type || "text/plain"], answer(accept, content_types: [acme, "application/msgpack"])
    end
    assert_equal [200, acme], answer("#{acme}, application/json;q=0.5", content_types: [acme], json: true)
    assert_equal [200, JSON_TYPE], answer("*/*", content_types: [acme], json: true)
    assert Ractor.shareable?(Manypack::Rack::Responder.new(content_types: [+acme]))
  end

  def test_a_responder_is_shareable
    assert Ractor.shareable?(Manypack::Rack::Responder.new(json: true))
    assert_raises(ArgumentError) { Manypack::Rack::Responder.new(jsn: true) }
  end
end

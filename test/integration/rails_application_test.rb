# frozen_string_literal: true

# Requests to a Rails application, and its responses.
require "test_helper"
require "rack/test"
require "integration/rails/application"

class RailsApplicationTest < Minitest::Test
  include Rack::Test::Methods

  TYPE = "application/vnd.msgpack"

  def app
    ApplicationOfTests
  end

  def test_a_map_becomes_params_under_every_media_type
    [TYPE, "application/msgpack", "application/x-msgpack", "#{TYPE}; charset=utf-8", "application/vnd.acme+msgpack",
     "Application/Problem+MsgPack; a=b"].each do |type|
      assert_equal({ "id" => 1, "tags" => ["a", { "b" => 1.5 }] }, params_of({ id: 1, tags: ["a", { b: 1.5 }] }, type))
    end
  end

  def test_what_is_no_map_has_a_key_of_its_own
    [[1, 2], "text", 5, false].each { |object| assert_equal({ "_msgpack" => object }, params_of(object)) }
  end

  def test_params_of_the_query_are_there_too
    post "/echo?page=2", Manypack.pack({ id: 1 }), "CONTENT_TYPE" => TYPE
    assert_equal({ "id" => 1, "page" => "2" }, answer["params"])
  end

  def test_bodies_of_other_types_are_read_as_ever
    post "/echo", '{"id":1}', "CONTENT_TYPE" => "application/json"
    assert_equal({ "id" => 1 }, answer["params"])
    post "/echo", "id=1"
    assert_equal({ "id" => "1" }, answer["params"])
    post "/echo", "", "CONTENT_TYPE" => TYPE
    assert_empty answer["params"]
  end

  def test_bytes_are_params
    assert_equal({ "\xFF".b => { "\xFF".b => "\xFE".b } }, params_of({ "\xFF".b => { "\xFF".b => "\xFE".b } }))
  end

  def test_a_key_that_params_cannot_have_is_a_bad_request
    { 1 => 2, nil => 1, 1.5 => 1, [1] => 1, { "a" => 1 } => 1 }.each do |key, value|
      [{ key => value }, { "a" => [{ "b" => { key => value } }] }].each do |object|
        assert_equal [400, "keys of params are Strings, not #{key.class}", 0], error_of("/echo", Manypack.pack(object))
      end
    end
  end

  # Rails takes a Hash with the key :tempfile for an uploaded file.
  def test_no_body_makes_an_uploaded_file
    body = { file: { tempfile: "/etc/passwd", filename: "x", type: "y" } }
    post "/echo", Manypack.pack(body), "CONTENT_TYPE" => TYPE
    assert_includes answer["classes"], "ActiveSupport::HashWithIndifferentAccess"
    parser = Manypack::Rails::ParameterParser.new(codec: Manypack::Codec.new(symbolize_keys: true, freeze: true))
    assert_equal({ "tempfile" => 1 }, parser.call("\x81\xA8tempfile\x01"))
  end

  def test_a_malformed_body_is_a_bad_request_that_says_where
    { "\x92\x01\xC1" => [400, "0xc1 is not a MessagePack head byte, at byte 2", 2],
      "\x92\x01" => [400, "unexpected end of input, at byte 2", 2],
      "\x91" * 40 => [400, "containers are nested too deeply for max_depth, at byte 32", 32] }.each do |body, expected|
      %w[/echo /page].each { |path| assert_equal expected, error_of(path, body) }
    end
  end

  def test_a_body_beyond_a_limit_is_too_large
    assert_equal [413, "max_bytes is 1048576, but the input has at least 1048581 bytes, at byte 1048576", 1_048_576],
                 error_of("/echo", Manypack.pack("a" * (1 << 20)))
    assert_equal 413, error_of("/echo", Manypack.pack([nil] * 200_000)).first
  end

  # A constraint of a route, or a middleware.
  def test_a_body_that_is_first_read_outside_of_a_controller_is_answered_alike
    %w[/constrained /early].each do |path|
      assert_equal [400, "unexpected end of input, at byte 2", 2], error_of(path, "\x92\x01")
      assert_equal [413, 1_048_576], error_of(path, Manypack.pack("a" * (1 << 20))).values_at(0, 2)
      post path, "\x81\xA2id\x01", "CONTENT_TYPE" => TYPE
      assert_equal 200, last_response.status
      post path, "{", "CONTENT_TYPE" => "application/json"
      assert_equal 400, last_response.status
      refute_equal TYPE, last_response.content_type
    end
  end

  def test_it_is_where_rails_shows_errors_to_developers_too
    post "/constrained", "\xC1", "CONTENT_TYPE" => TYPE, "action_dispatch.show_detailed_exceptions" => true
    assert_equal [400, TYPE], [last_response.status, last_response.content_type]
  end

  def test_an_answer_to_head_has_no_body
    env = Rack::MockRequest.env_for("/constrained", method: "HEAD", input: "\xC1", "CONTENT_TYPE" => TYPE)
    status, headers, body = ApplicationOfTests.call(env)
    assert_equal [400, TYPE, ""], [status, headers["content-type"], body.to_enum(:each).to_a.join]
  end

  def test_a_controller_may_rescue_it_itself
    post "/own", "\x92\x01\xC1", "CONTENT_TYPE" => TYPE
    assert_equal [400, "own: 2"], [last_response.status, last_response.body]
  end

  def test_a_body_that_nobody_reads_is_not_unpacked
    post "/ignore", "\xC1", "CONTENT_TYPE" => TYPE
    assert_equal [200, true], [last_response.status, answer]
  end

  def test_errors_of_other_bodies_and_of_the_program_stay_what_they_are
    post "/echo", "{", "CONTENT_TYPE" => "application/json"
    assert_equal 400, last_response.status
    refute_equal TYPE, last_response.content_type
    %w[/fail /unpack].each do |path|
      get path
      assert_equal 500, last_response.status
    end
  end

  def test_the_log_has_a_malformed_body
    ApplicationOfTests::LOG.truncate(0)
    post "/echo", "\xC1secret", "CONTENT_TYPE" => TYPE
    assert_includes ApplicationOfTests::LOG.string.b, "\xC1secret".b
  end

  def test_another_parser_replaces_the_first_as_rails_says
    before = ActionDispatch::Request.parameter_parsers
    strict = Manypack::Rails::ParameterParser.new(max_bytes: 3)
    ActionDispatch::Request.parameter_parsers = before.merge(msgpack: strict)
    assert_equal [413, "max_bytes is 3, but the input has at least 5 bytes, at byte 3"], error_of("/echo", "\x94\1\2\3\4").first(2)
  ensure
    ActionDispatch::Request.parameter_parsers = before
  end

  def test_options_of_a_parser
    date = Manypack::Factory.new.tap { |factory| factory.register_common(:date) }
    parser = Manypack::Rails::ParameterParser.new(codec: date.codec, untrusted: false, max_depth: 50)
    assert_equal({ "on" => Date.new(2026) }, parser.call(date.dump({ "on" => Date.new(2026) })))
    assert_equal ["_msgpack"], parser.call("\x91" * 40 + "\xC0").keys
    assert_raises(ArgumentError) { Manypack::Rails::ParameterParser.new(max_byte: 1) }
    assert Ractor.shareable?(Manypack::Rails::ParameterParser.new)
  end

  def test_misspelt_options_are_told_what_was_meant_and_a_codec_is_one
    assert_equal "unknown option codex, did you mean codec?", assert_raises(ArgumentError) { Manypack::Rails::ParameterParser.new(codex: 1) }.message
    assert_equal "wrong argument type Integer (expected Manypack::Codec)", assert_raises(TypeError) { Manypack::Rails::ParameterParser.new(codec: 5) }.message
  end

  def test_a_response_has_the_registered_type_without_a_charset
    get "/show"
    assert_equal [202, TYPE, "\x91\x01".b], [last_response.status, last_response.content_type, last_response.body.b]
    get "/show", content_type: "application/x-msgpack"
    assert_equal "application/x-msgpack", last_response.content_type
  end

  def test_accept_asks_for_it
    [TYPE, "application/msgpack", "application/x-msgpack"].each do |type|
      get "/page", {}, "HTTP_ACCEPT" => type
      assert_equal [TYPE, { "a" => 1 }], [last_response.content_type, answer]
    end
    get "/page.msgpack"
    assert_equal({ "a" => 1 }, answer)
    get "/page", {}, "HTTP_ACCEPT" => "application/json"
    assert_equal '{"a":1}', last_response.body
  end

  def test_the_cache_of_the_application
    2.times do
      get "/cached"
      assert_equal [1, "[:at, :count]"], answer
    end
  end

  private

  def answer
    Manypack.unpack(last_response.body)
  end

  def params_of(object, type = TYPE)
    post "/echo", Manypack.pack(object), "CONTENT_TYPE" => type
    assert_equal 200, last_response.status, last_response.body
    answer["params"]
  end

  def error_of(path, body)
    post path, body, "CONTENT_TYPE" => TYPE
    assert_equal TYPE, last_response.content_type
    assert_equal last_response.status, answer["status"]
    answer.values_at("status", "error", "offset")
  end
end

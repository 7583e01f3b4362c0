# frozen_string_literal: true

# One Record for bytes and JSON at the fronts of HTTP and Kafka, with the real gems.
require "test_helper"
require "json"
require "logger"
require "manypack/rack"
require "manypack/faraday"
require "manypack/karafka"
require "rack/lint"
require "rack/mock_request"

class JsonFrontsTest < Minitest::Test
  SIGNUP = Manypack::Record.define(email: String, age: 18..)
  GOOD = { "email" => "a@b", "age" => 36 }.freeze
  WRONG = { "age" => 17 }.freeze
  PROBLEM = {
    "title" => Rack::Utils::HTTP_STATUS_CODES[422], "status" => 422,
    "detail" => "2 errors: age must be at least 18, is 17; email is missing",
    "errors" => [{ "detail" => "must be at least 18, is 17", "pointer" => "#/age", "code" => "range" },
                 { "detail" => "is missing", "pointer" => "#/email", "code" => "missing" }]
  }.freeze

  # The response to a POST to an application that answers with the object that it got.
  def post(body, type, accept: nil, **options)
    respond = Manypack::Rack::Responder.new(json: true)
    application = ->(env) { respond.call(env, env["manypack.body"]) }
    parser = Manypack::Rack::Parser.new(Rack::Lint.new(application), as: SIGNUP, **options)
    Rack::MockRequest.new(Rack::Lint.new(parser)).post("/", input: body, "CONTENT_TYPE" => type, **{ "HTTP_ACCEPT" => accept }.compact)
  end

  JSON_TYPES = ["application/json", "Application/JSON; charset=utf-8", "application/vnd.acme+json"].freeze

  def test_rack_reads_and_answers_json_and_bytes_by_one_record
    JSON_TYPES.each { |type| assert_equal GOOD, JSON.parse(post(JSON.generate(GOOD), type, json: true).body) }
    assert_equal GOOD, JSON.parse(post(Manypack.pack(GOOD), "application/msgpack", json: true).body)
    packed = post(JSON.generate(GOOD), "application/json", json: true, accept: "application/json;q=0.1, application/msgpack;q=0.9")
    assert_equal [GOOD, "application/msgpack"], [Manypack.unpack(packed.body), packed["content-type"]]
    assert_empty [post(JSON.generate(GOOD), "application/json").body].grep(/email/)
    assert_equal "null", post(JSON.generate(GOOD), "text/json5", json: true).body
  end

  def test_rack_answers_wrong_json_with_problem_details
    answer = post(JSON.generate(WRONG), "application/json", json: true, collect: true)
    assert_equal [422, "application/problem+json", PROBLEM], [answer.status, answer["content-type"], JSON.parse(answer.body)]
    answer = post('{"email": tru}', "application/json", json: true)
    assert_equal [400, "expected a value, got \"tru}\", at $.email, line 1, column 11"], [answer.status, JSON.parse(answer.body)["detail"]]
    assert_equal 413, post(JSON.generate(GOOD), "application/json", json: true, max_bytes: 10).status
    assert_equal "text/plain", post(Manypack.pack(WRONG), "application/msgpack", json: true)["content-type"]
  end

  def test_rack_lets_the_program_answer
    on_error = ->(_env, error) { [418, { "content-type" => "text/plain" }, [error.sentence]] }
    assert_equal [418, "age must be at least 18, is 17"], post(JSON.generate(WRONG), "application/json", json: true, on_error: on_error).then { |one| [one.status, one.body] }
    assert_equal 418, post(Manypack.pack(WRONG), "application/msgpack", on_error: on_error).status
  end

  def test_json_from_strangers_is_bounded
    deep = "#{"[" * 40}#{"]" * 40}"
    parser = Manypack::Rack::Parser.new(->(_env) { [200, {}, []] }, json: true)
    answer = Rack::MockRequest.new(parser).post("/", input: deep, "CONTENT_TYPE" => "application/json")
    assert_equal 400, answer.status
    assert_equal 413, Rack::MockRequest.new(parser).post("/", input: "1" * 1_100_000, "CONTENT_TYPE" => "application/json").status
  end

  # The body of a response that has that type, and the header Accept of its request.
  def received(body, type, **options)
    accept = nil
    connection = Faraday.new do |one|
      one.response :msgpack, **options
      one.adapter(:test) { |stub| stub.get("/") { |env| (accept = env.request_headers["Accept"]) && [200, { "Content-Type" => type }, body] } }
    end
    [connection.get("/").body, accept]
  end

  def test_faraday_reads_json_by_the_record
    JSON_TYPES.each do |type|
      body, accept = received(JSON.generate(GOOD), type, as: SIGNUP, json: true, untrusted: true)
      assert_equal [SIGNUP.new(email: "a@b", age: 36), "application/json;q=0.5"], [body, accept.split(", ").last]
    end
    error = assert_raises(Manypack::Faraday::ParsingError) { received(JSON.generate(WRONG), "application/json", as: SIGNUP, json: true, collect: true) }
    assert_equal 2, error.cause.errors.size
    assert_equal JSON.generate(GOOD), received(JSON.generate(GOOD), "application/json", as: SIGNUP).first
  end

  Message = Struct.new(:raw_payload, :raw_headers)

  def test_karafka_reads_a_topic_that_changes_from_json_to_bytes
    deserializer = Manypack::Karafka::Deserializer.new(as: SIGNUP, json: true, untrusted: true)
    assert Ractor.shareable?(deserializer)
    user = SIGNUP.new(email: "a@b", age: 36)
    assert_equal user, deserializer.call(Message.new(JSON.generate(GOOD), {}))
    assert_equal user, deserializer.call(Message.new(Manypack.pack(GOOD), { "content-type" => "application/vnd.msgpack" }))
    assert_nil deserializer.call(Message.new(nil, {}))
    assert_equal GOOD, Manypack::Karafka::Deserializer.new(json: true).call(Message.new(JSON.generate(GOOD), {}))
    assert_raises(Manypack::JSONError) { deserializer.call(Message.new("{", {})) }
  end

  def test_waterdrop_sends_json
    sent = Manypack::WaterDrop::Middleware.new(json: true).call({ topic: "t", payload: SIGNUP.new(email: "a@b", age: 36) })
    assert_equal [GOOD, { "content-type" => "application/json" }], [JSON.parse(sent[:payload]), sent[:headers]]
  end
end

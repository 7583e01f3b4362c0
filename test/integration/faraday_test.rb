# frozen_string_literal: true

# Requests and responses of Faraday, without a server.
require "test_helper"
require "manypack/faraday"

class FaradayTest < Minitest::Test
  TYPES = ["application/vnd.msgpack", "application/msgpack", "application/x-msgpack"].freeze

  # The env of a request as an adapter gets it. By default it answers with 204.
  def sent(body, type: nil, accept: nil, **options)
    sent = nil
    connection = Faraday.new do |one|
      one.request :msgpack, **options
      one.response :msgpack
      one.adapter(:test) { |stub| stub.post("/") { |env| (sent = env.dup) && [204, {}, ""] } }
    end
    connection.post("/", body, { "Content-Type" => type, "Accept" => accept }.compact)
    sent
  end

  def test_a_body_is_packed_and_has_a_content_type
    [{ "id" => 1 }, [1], 1, 1.5, false, true, :a].each do |object|
      env = sent(object)
      assert_equal Manypack.pack(object), env.body
      assert_equal TYPES.first, env.request_headers["Content-Type"]
    end
  end

  def test_strings_and_ios_are_sent_as_they_are
    assert_equal "\xC1".b, sent("\xC1".b).body
    assert_equal TYPES.first, sent("\x91\x01".b).request_headers["Content-Type"]
    io = StringIO.new("\x01")
    assert_same io, sent(io).body
  end

  def test_a_request_without_a_body_stays_as_it_is
    [nil, ""].each { |body| assert_nil sent(body).request_headers["Content-Type"] }
  end

  def test_the_content_type_of_the_request_counts
    TYPES.each do |type|
      env = sent([1], type: type)
      assert_equal ["\x91\x01".b, type], [env.body, env.request_headers["Content-Type"]]
    end
    env = sent("a=1", type: "application/x-www-form-urlencoded")
    assert_equal ["a=1", "application/x-www-form-urlencoded"], [env.body, env.request_headers["Content-Type"]]
    assert_equal [1], sent([1], type: "application/json").body
    assert_equal "application/x-msgpack", sent([1], content_type: "application/x-msgpack").request_headers["Content-Type"]
  end

  def test_options_are_those_of_pack_and_a_codec_brings_ext_types
    assert_equal "\xD6\xFF\0\0\0\x05".b, sent(Time.at(5), timestamp: true).body
    factory = Manypack::Factory.new.tap { |one| one.register_common(:rational) }
    assert_equal "\xD5\x03\x01\x02".b, sent(1/2r, codec: factory.codec).body
    assert_raises(ArgumentError) { sent([1], timestamps: true) }
  end

  def test_what_cannot_be_packed_is_not_sent
    error = assert_raises(NoMethodError) { sent({ users: [Object.new] }) }
    assert_match(/\$\.users\[0\]/, error.message)
  end

  def test_messagepack_is_asked_for_unless_the_request_asks_for_something
    assert_equal TYPES.join(", "), sent(nil).request_headers["Accept"]
    assert_equal "text/html", sent(nil, accept: "text/html").request_headers["Accept"]
  end

  def get(body, type: TYPES.first, status: 200, **options)
    connection = Faraday.new do |one|
      one.response :msgpack, **options
      one.adapter(:test) { |stub| stub.get("/") { [status, { "Content-Type" => type }.compact, body] } }
    end
    connection.get("/").body
  end

  def test_bodies_of_all_three_media_types_are_unpacked
    [*TYPES, "Application/MsgPack; charset=utf-8"].each { |type| assert_equal({ "id" => 1 }, get("\x81\xA2id\x01".b, type: type)) }
    assert_equal [1], get("\x91\x01".b, status: 422)
    assert_nil get("\xC0".b)
  end

  def test_responses_of_types_with_the_suffix_and_of_content_types_are_unpacked
    ["application/vnd.acme+msgpack", "Application/Problem+MsgPack; a=b"].each { |type| assert_equal 1, get("\x01", type: type) }
    assert_equal 1, get("\x01", type: "application/vnd.acme", content_types: ["application/vnd.acme"])
    assert_equal "\x01", get("\x01", content_types: ["application/vnd.acme"])
    assert_raises(TypeError) { get("\x01", content_types: "application/vnd.acme") }
  end

  Event = Struct.new(:id)
  EVENT = Manypack::Record.new(Event, id: Integer)

  def test_bodies_become_objects_of_a_record_or_views
    assert_equal Event.new(7), get("\x81\xA2id\x07".b, as: EVENT, untrusted: true)
    assert_equal 7, get("\x81\xA2id\x07".b, as: :view)["id"]
    assert_nil get("", as: EVENT)
    error = assert_raises(Manypack::Faraday::ParsingError) { get("\x81\xA2id\xC0".b, as: EVENT) }
    assert_equal ["$.id", 4, Manypack::RecordError], [error.path, error.offset, error.cause.class]
  end

  def test_requests_of_types_with_the_suffix_are_packed
    ["application/vnd.acme+msgpack", "application/msgpack; a=b"].each { |type| assert_equal "\x91\x01".b, sent([1], type: type).body }
    assert_equal "\x91\x01".b, sent([1], type: "application/vnd.acme", content_type: "application/vnd.acme").body
  end

  def test_other_responses_stay_as_they_are
    ["application/json", "text/plain", nil].each { |type| assert_equal "\xC1".b, get("\xC1".b, type: type).b }
  end

  Order = Manypack::Record.define(id: Integer)

  # An error of HTTP has a body of another shape, which raise_error raises with.
  def test_only_what_succeeded_is_loaded_as_the_record
    problem = { "title" => "gone", "at" => [1] }
    [Order, Order.record.with(untrusted: true), [Order].then { |type| Manypack::Type[type].or(Order) }].each do |as|
      assert_equal Order.new(id: 1), get(Manypack.pack({ "id" => 1 }), as: as, status: 201)
      [302, 404, 422, 500].each { |status| assert_equal problem, get(Manypack.pack(problem), as: as, status: status) }
      assert_raises(Faraday::ParsingError) { get(Manypack.pack(problem), as: as) }
    end
    assert_equal problem, get(JSON.generate(problem), as: Order, status: 404, json: true, type: "application/problem+json")
    assert_kind_of Manypack::View, get(Manypack.pack(problem), as: :view, status: 404)
    error = assert_raises(Faraday::ParsingError) { get(Manypack.pack(problem), as: Order.record.with(max_objects: 3), status: 404) }
    assert_equal :max_objects, error.cause.limit
    connection = Faraday.new do |one|
      one.response :raise_error
      one.response :msgpack, as: Order
      one.adapter(:test) { |stub| stub.get("/") { [404, { "Content-Type" => TYPES.first }, Manypack.pack(problem)] } }
    end
    assert_equal problem, assert_raises(Faraday::ResourceNotFound) { connection.get("/") }.response_body
  end

  def test_an_empty_body_is_nil
    assert_nil get("")
    assert_nil get(nil)
  end

  def test_a_malformed_body_is_a_parsing_error_with_the_response
    error = assert_raises(Faraday::ParsingError) { get("\x92\x01\xC1".b, status: 201) }
    assert_equal "0xc1 is not a MessagePack head byte, at byte 2", error.message
    assert_equal 2, error.wrapped_exception.offset
    assert_kind_of Manypack::MalformedFormatError, error.cause
    assert_equal [201, "\x92\x01\xC1".b], [error.response.status, error.response.body]
    assert_kind_of Manypack::TruncatedError, assert_raises(Faraday::ParsingError) { get("\x92\x01".b) }.cause
  end

  def test_a_parsing_error_is_a_decode_error_with_its_place
    [["\x92\x01\xC1", 2, "$[1]", {}], ["\x81\xA1a\xD4\x05x", 3, "$.a", {}], ["\x92\x01\x93", 2, "$[1]", { max_array_size: 2 }]].each do |body, offset, path, options|
      error = assert_raises(Manypack::DecodeError) { get(body.b, **options) }
      assert_kind_of Faraday::ParsingError, error
      assert_equal [offset, path], [error.offset, error.path]
    end
  end

  def test_an_error_of_an_ext_handler_is_raised_as_it_is
    factory = Manypack::Factory.new
    factory.register_type(1, Range, packer: :to_s, unpacker: ->(_) { raise IndexError, "no such range" })
    assert_raises(IndexError) { get("\xD4\x01a".b, codec: factory.codec) }
  end

  def test_limits_are_options
    error = assert_raises(Faraday::ParsingError) { get(Manypack.pack("x" * 100), max_bytes: 99) }
    assert_equal :max_bytes, error.cause.limit
    assert_kind_of Manypack::StackError, assert_raises(Faraday::ParsingError) { get("\x91" * 40, untrusted: true) }.cause
    assert_equal({ id: 1 }, get("\x81\xA2id\x01".b, symbolize_keys: true))
    assert_raises(ArgumentError) { get("\x01", max_byte: 1) }
  end

  def test_misspelt_options_are_told_what_was_meant_and_a_codec_is_one
    assert_equal "unknown option contenttype, did you mean content_type?", assert_raises(ArgumentError) { Manypack::Faraday::Request.new(contenttype: "text/plain") }.message
    assert_equal "unknown option codex, did you mean codec?", assert_raises(ArgumentError) { Manypack::Faraday::Response.new(codex: 1) }.message
    assert_equal "wrong argument type Integer (expected Manypack::Codec)", assert_raises(TypeError) { Manypack::Faraday::Request.new(codec: 5) }.message
    assert_equal "wrong argument type Integer (expected Manypack::Codec)", assert_raises(TypeError) { Manypack::Faraday::Response.new(codec: 5) }.message
  end
end

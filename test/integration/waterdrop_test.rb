# frozen_string_literal: true

# What a producer does with the middleware, without a broker.
require "test_helper"
require "logger"
require "manypack/waterdrop"

class WaterDropTest < Minitest::Test
  HEADERS = { "content-type" => "application/vnd.msgpack" }.freeze

  # What a producer would send to a broker.
  def sent(message, **options)
    producer = WaterDrop::Producer.new do |config|
      config.logger = Logger.new(IO::NULL)
      config.client_class = WaterDrop::Clients::Buffered
    end
    producer.middleware.append(Manypack::WaterDrop::Middleware.new(**options))
    producer.produce_sync(message)
    producer.client.messages.first
  end

  def test_a_payload_is_packed_and_has_a_content_type
    assert_equal({ topic: "t", payload: "\x81\xA2id\x01".b, headers: HEADERS }, sent({ topic: "t", payload: { id: 1 } }))
    assert_equal "\x01".b, sent({ topic: "t", payload: 1 })[:payload]
    assert_equal "\xC2".b, sent({ topic: "t", payload: false })[:payload]
  end

  # A retry of a message, and one on its way to a dead letter queue, is packed already.
  def test_strings_and_tombstones_are_sent_as_they_are
    [{ topic: "t", payload: "\xC1".b }, { topic: "t", payload: nil, key: "k" }].each do |message|
      assert_equal message, sent(message)
    end
  end

  def test_packing_twice_is_packing_once
    middleware = Manypack::WaterDrop::Middleware.new
    once = middleware.call({ topic: "t", payload: [1] })
    assert_equal once, middleware.call(once)
  end

  def test_headers_of_the_message_stay
    assert_equal({ **HEADERS, "a" => "b" }, sent({ topic: "t", payload: 1, headers: { "a" => "b" } })[:headers])
    assert_equal({ "content-type" => "x" }, sent({ topic: "t", payload: 1, headers: { "content-type" => "x" } })[:headers])
    assert_equal HEADERS, sent({ topic: "t", payload: 1, headers: nil })[:headers]
  end

  def test_the_message_of_the_caller_stays_as_it_is
    message = { topic: "t", payload: [1], headers: {}.freeze }.freeze
    sent(message)
    assert_equal({ topic: "t", payload: [1], headers: {} }, message)
  end

  def test_the_content_type_is_an_option
    assert_equal({ "content-type" => "x" }, sent({ topic: "t", payload: 1 }, content_type: "x")[:headers])
    assert_equal({}, sent({ topic: "t", payload: 1 }, content_type: nil)[:headers])
    [5, :x, false, ["x"]].each { |type| assert_match(/content_type must be a String or nil, got/, assert_raises(TypeError) { Manypack::WaterDrop::Middleware.new(content_type: type) }.message) }
  end

  def test_options_are_those_of_pack_and_a_codec_brings_ext_types
    assert_equal "\xD6\xFF\0\0\0\x05".b, sent({ topic: "t", payload: Time.at(5) }, timestamp: true)[:payload]
    factory = Manypack::Factory.new.tap { |one| one.register_common(:rational) }
    assert_equal "\xD5\x03\x01\x02".b, sent({ topic: "t", payload: 1/2r }, codec: factory.codec)[:payload]
    assert_raises(ArgumentError) { Manypack::WaterDrop::Middleware.new(timestamps: true) }
  end

  def test_misspelt_options_are_told_what_was_meant_and_a_codec_is_one
    assert_equal "unknown option contenttype, did you mean content_type?", assert_raises(ArgumentError) { Manypack::WaterDrop::Middleware.new(contenttype: nil) }.message
    assert_equal "wrong argument type Integer (expected Manypack::Codec)", assert_raises(TypeError) { Manypack::WaterDrop::Middleware.new(codec: 5) }.message
  end

  def test_what_cannot_be_packed_is_not_sent
    error = assert_raises(NoMethodError) { sent({ topic: "t", payload: { users: [Object.new] } }) }
    assert_match(/\$\.users\[0\]/, error.message)
  end

  def test_a_middleware_is_shareable
    assert Ractor.shareable?(Manypack::WaterDrop::Middleware.new(content_type: +"x"))
  end
end

# frozen_string_literal: true

# test/contract/packed_part_test.rb for the doors of integrations: a View is packed bytes, which leave as they are. So does
# a String where a whole message is expected that may be packed already; elsewhere it is an object, and is packed.
require "test_helper"
require "logger"
require "rack/test"
require "integration/rails/application"
require "manypack/faraday"
require "manypack/karafka"
require "manypack/rack"

class PackedPartOfIntegrationsTest < Minitest::Test
  include Rack::Test::Methods

  MAP = { "id" => 7 }.freeze
  BYTES = Manypack.pack(MAP).freeze
  USER = Manypack::Record.define(id: Integer)
  VIEW = USER.record.view(USER.new(id: 7))
  TYPE = "application/vnd.msgpack"
  FORMS = { VIEW => BYTES, { "u" => [VIEW] } => "\x81\xA1u\x91".b + BYTES }.freeze

  def app
    ApplicationOfTests
  end

  def self.respond(object, accept)
    Manypack::Rack::Responder.new(json: true).call({ "HTTP_ACCEPT" => accept }, object)[2].join
  end

  def self.requested(object)
    { body: object, request_headers: {} }.tap { |env| Manypack::Faraday::Request.new.on_request(env) }[:body]
  end

  def self.produced(object)
    Manypack::WaterDrop::Middleware.new.call({ payload: object })[:payload]
  end

  DOORS = {
    "Rack::Responder" => ->(object) { respond(object, TYPE) },
    "Faraday::Request" => ->(object) { requested(object) },
    "WaterDrop::Middleware" => ->(object) { produced(object) },
    "Karafka::ActiveJobDeserializer" => ->(object) { Manypack::Karafka::ActiveJobDeserializer.new.serialize(Struct.new(:serialize).new(object)) }
  }.freeze

  DOORS.each do |name, door|
    define_method("test_#{name}_writes_a_view_as_its_bytes") do
      FORMS.each { |object, bytes| assert_equal bytes, self.class.class_exec(object, &door) }
    end
  end

  def test_rails_renders_a_view_as_its_bytes
    { "/packed" => BYTES, "/packed?in=u" => "\x81\xA1u\x91".b + BYTES }.each do |path, bytes|
      get path
      assert_equal [TYPE, bytes], [last_response.content_type, last_response.body.b]
    end
  end

  def test_a_view_is_json_for_those_who_want_json
    assert_equal ['{"id":7}', '{"u":[{"id":7}]}'], FORMS.keys.map { |object| self.class.respond(object, "application/json") }
    assert_equal '{"id":7}', get("/packed.json").body
  end

  # docs/views.md says which is which.
  def test_a_string_is_packed_already_where_bytes_go_and_an_object_where_objects_go
    assert_equal [BYTES, BYTES], [self.class.requested(BYTES), self.class.produced(BYTES)]
    assert_equal BYTES, get("/packed?bytes=1").body.b
    assert_equal "\xC4\x05".b + BYTES, self.class.respond(BYTES, TYPE)
    assert_equal "\x81\xA1u\xC4\x05".b + BYTES, self.class.produced({ "u" => BYTES })
  end
end

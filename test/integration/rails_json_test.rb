# frozen_string_literal: true

# Controllers that load their bodies by a Record, of MessagePack or JSON.
require "test_helper"
require "json"
require "manypack/rails"
require "rack/mock_request"

class RailsJsonTest < Minitest::Test
  SIGNUP = Manypack::Record.define(email: String, age: 18..)
  GOOD = { "email" => "a@b", "age" => 36 }.freeze

  class Signups < ActionController::API
    def create
      render json: load_body(SIGNUP)
    end
  end

  def post(body, type)
    Rack::MockRequest.new(Signups.action(:create)).post("/", input: body, "CONTENT_TYPE" => type)
  end

  def test_one_line_loads_both
    [[JSON.generate(GOOD), "application/json; charset=utf-8"], [JSON.generate(GOOD), "application/vnd.acme+json"],
     [Manypack.pack(GOOD), "application/msgpack"]].each do |body, type|
      answer = post(body, type)
      assert_equal [200, GOOD], [answer.status, JSON.parse(answer.body)], type
    end
  end

  def test_all_errors_are_answered_as_problem_details
    wrong = { "age" => 17 }
    [[JSON.generate(wrong), "application/json"], [Manypack.pack(wrong), "application/msgpack"]].each do |body, type|
      answer = post(body, type)
      assert_equal [422, "application/problem+json"], [answer.status, answer.media_type]
      assert_equal %w[#/age #/email], JSON.parse(answer.body)["errors"].map { |one| one["pointer"] }
    end
    answer = post("\xC1", "application/msgpack")
    assert_equal [400, "application/vnd.msgpack"], [answer.status, answer.media_type]
  end
end

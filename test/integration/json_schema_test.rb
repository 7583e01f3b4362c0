# frozen_string_literal: true

# What Type#json_schema says is what load_json takes, judged by json_schemer. `ruby -Ilib fuzz/json_schema.rb 100000`
# tries more.
require "test_helper"
require_relative "../../fuzz/json_schema"

class JSONSchemaTest < Minitest::Test
  def test_random_types_take_the_json_that_their_schema_allows
    assert_equal 4_000, Fuzz::JSONSchema.run(4_000, 1)
  end
end

# frozen_string_literal: true

# ActiveRecord calls load(nil) of the coder of an attribute to learn what an empty column is.
require "test_helper"

class EmptyColumnTest < Minitest::Test
  User = Manypack::Record.define(id: Integer)
  CODERS = [Manypack, Manypack::Codec.new, Manypack::Factory.new, User, User.record, User.record.lazy, Manypack::Type[Integer, nil], Manypack::Type[[Integer]]].freeze

  def test_load_of_nil_is_nil
    CODERS.each { |coder| assert_nil coder.load(nil), coder.inspect }
  end

  # Which is what somebody calls by mistake.
  def test_nothing_else_that_is_no_message_is_nil
    CODERS.each do |coder|
      ["", "\x91"].each { |bytes| assert_raises(Manypack::DecodeError) { coder.load(bytes) } }
      [5, :a, false].each { |object| assert_raises(TypeError) { coder.load(object) } }
      assert_raises(ArgumentError) { coder.load(nil, misspelt: 1) }
    end
    [Manypack, Manypack::Codec.new, Manypack::Factory.new].each { |coder| assert_raises(TypeError) { coder.unpack(nil) } }
  end
end

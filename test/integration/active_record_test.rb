# frozen_string_literal: true

# Attributes of ActiveRecord whose columns hold packed objects: docs/web.md, "A column of packed bytes".
require "test_helper"
require "active_record"
require "active_model/type"

class ActiveRecordTest < Minitest::Test
  User = Manypack::Record.define(id: Integer)
  CODERS = { Manypack => { "a" => [1] }, Manypack::Codec.new(symbolize_keys: true) => { a: [1] }, Manypack::Factory.new => { "a" => 1 },
             User.record => User.new(id: 1), Manypack::Type[[User]] => [User.new(id: 1)] }.freeze

  def test_what_is_written_to_a_column_is_read_from_it
    CODERS.each do |coder, object|
      type = attribute_type(coder)
      column = type.serialize(object)
      assert_kind_of ActiveModel::Type::Binary::Data, column
      assert_equal [object, coder.dump(object)], [type.deserialize(column.to_s), column.to_s]
    end
  end

  def test_an_empty_column_is_nil
    CODERS.each_key { |coder| assert_equal [nil, nil], [attribute_type(coder).deserialize(nil), attribute_type(coder).serialize(nil)] }
  end

  def test_changes_inside_of_an_object_are_seen
    type = attribute_type(Manypack)
    object = type.deserialize(Manypack.pack({ "a" => [1] }))
    refute type.changed_in_place?(Manypack.pack({ "a" => [1] }), object)
    object["a"] << 2
    assert type.changed_in_place?(Manypack.pack({ "a" => [1] }), object)
  end

  private

  def attribute_type(coder)
    ActiveRecord::Type::Serialized.new(ActiveModel::Type::Binary.new, coder)
  end
end

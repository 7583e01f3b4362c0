# frozen_string_literal: true

# Records of classes that ActiveModel, ActiveRecord and dry-struct make: docs/records.md, "Classes".
require "test_helper"
require "active_model"
require "dry-struct"

class OrdinaryClassesTest < Minitest::Test
  Record = Manypack::Record
  RecordError = Manypack::RecordError

  module Types
    include Dry.Types()
  end

  class Dried < Dry::Struct
    attribute :id, Types::Strict::Integer
    attribute :name, Types::Strict::String.constrained(min_size: 1)
  end

  class Model
    include ActiveModel::Model
    attr_accessor :id, :name
  end

  class Typed
    include ActiveModel::Model
    include ActiveModel::Attributes
    attribute :id, :integer
    attribute :name, :string
  end

  class Bare
    include ActiveModel::API
    include ActiveModel::Attributes
    attribute :id, :integer
    attribute :name, :string, default: "none"
  end

  [Dried, Model, Typed, Bare].each do |klass|
    define_method("test_#{klass.name.split("::").last}_is_loaded_and_dumped") do
      record = Record.new(klass, id: Integer, name: String)
      bytes = pack([{ "id" => 1, "name" => "Ada" }])
      object, = Manypack::Type[[record]].load(bytes)
      assert_instance_of klass, object
      assert_equal [:keywords, 1, "Ada", bytes], [record.build, object.id, object.name, Manypack::Type[[record]].dump([object])]
      assert_raises(RecordError) { record.load(pack({ "id" => "1", "name" => "Ada" })) }
    end
  end

  def test_errors_of_the_library_have_the_path
    error = assert_raises(RecordError) { Manypack::Type[[Record.new(Dried, id: Integer, name: String)]].load(pack([{ "id" => 1, "name" => "" }])) }
    assert_equal ["$[0]", Dry::Struct::Error], [error.path.to_s, error.cause.class]
    error = assert_raises(RecordError) { Record.new(Typed, id: Integer, age: Integer).load(pack({ "id" => 1, "age" => 5 })) }
    assert_kind_of ActiveModel::UnknownAttributeError, error.cause
  end

  def test_one_attribute_is_no_positional_argument
    [Dried, Model, Typed, Bare].each { |klass| assert_equal :keywords, Record.new(klass, name: String).build }
  end

  def test_ivars_refuses_what_needs_its_initialize
    [Dried, Typed, Bare].each { |klass| assert_raises(ArgumentError, klass.name) { Record.ivars(klass, id: Integer, name: String) } }
    assert_equal 1, Record.ivars(Model, id: Integer).load(pack({ "id" => 1 })).id
  end
end

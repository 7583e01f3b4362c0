# frozen_string_literal: true

# Attributes that are objects of a Record, in a database and without one: docs/web.md, "A column of packed bytes".
require "test_helper"
require "active_record"
require "manypack/active_model"

class AttributeTypeTest < Minitest::Test
  Address = Manypack::Record.define(street: String, number: 1..)
  Settings = Struct.new(:theme, :tags)
  SETTINGS = Manypack::Record.new(Settings, theme: Manypack::Type[String, nil], tags: [String]).with(defaults: { theme: nil, tags: [] })

  class ApplicationRecord < ActiveRecord::Base
    self.abstract_class = true
    establish_connection(adapter: "sqlite3", database: ":memory:")
    connection.create_table(:orders) do |t|
      t.binary :address
      t.binary :settings
      t.json :items
      t.text :notes
    end
  end

  class Order < ApplicationRecord
    attribute :address, Manypack::AttributeType.new(Address)
    attribute :settings, Manypack::AttributeType.new(SETTINGS), default: -> { Settings.new(nil, []) }
    attribute :items, Manypack::AttributeType.new([Address], json: true)
    attribute :notes, Manypack::AttributeType.new(SETTINGS, json: true)
  end

  def order(**values) = Order.create!(address: Address.new(street: "Main St", number: 5), **values)
  def again(order) = Order.find(order.id)

  def test_columns_hold_bytes_and_json
    saved = order(settings: Settings.new("dark", ["a"]), items: [Address.new(street: "B", number: 2)], notes: Settings.new("x", []))
    read = again(saved)
    assert_equal [Address.new(street: "Main St", number: 5), Settings.new("dark", ["a"]), [Address.new(street: "B", number: 2)], Settings.new("x", [])],
                 [read.address, read.settings, read.items, read.notes]
    raw = Order.connection.select_one("SELECT * FROM orders WHERE id = #{saved.id}")
    assert_equal [read.address.dump, '[{"street":"B","number":2}]', '{"theme":"x","tags":[]}'], [raw["address"].b, raw["items"], raw["notes"]]
    assert_includes Order.where(address: read.address).ids, saved.id
  end

  def test_changes_inside_are_noticed_and_saved_and_reading_changes_nothing
    saved = order(notes: Settings.new("x", []))
    read = again(saved)
    assert_equal [[], "x", false], [read.settings.tags, read.notes.theme, read.changed?]
    read.settings.tags << "new"
    read.notes.theme = "y"
    assert_equal [%w[settings notes], true], [read.changed, read.save]
    refute_predicate read, :changed?
    assert_equal [["new"], "y"], again(saved).then { |one| [one.settings.tags, one.notes.theme] }
    read.settings = Settings.new(nil, ["new"])
    refute_predicate read, :changed?
  end

  def test_bytes_of_an_older_version_are_no_change
    saved = order
    old = Manypack.pack({ "number" => 5.to_i, "of_old" => 1, "street" => "Main St" })
    Order.connection.execute("UPDATE orders SET address = x'#{old.unpack1("H*")}' WHERE id = #{saved.id}")
    read = again(saved)
    assert_equal [5, false], [read.address.number, read.changed?]
  end

  def test_nil_and_defaults
    empty = Order.create!
    assert_equal [nil, Settings.new(nil, []), nil], [empty.address, empty.settings, again(empty).items]
    refute_same Order.new.settings, Order.new.settings
    empty.settings.tags << "x"
    assert_equal [], Order.new.settings.tags
    empty.settings = nil
    assert_equal [true, true, nil], [empty.changed?, empty.save, again(empty).settings]
  end

  def test_hashes_and_params_become_objects_and_what_is_wrong_is_an_error
    assert_equal 7, Order.new(address: { "street" => "A", number: 7 }).address.number
    assert_equal [1], Order.new(items: [{ street: "A", number: 1 }]).items.map(&:number)
    params = Struct.new(:permitted?, :to_h).new(true, { "street" => "A", "number" => 3 })
    assert_equal 3, Order.new(address: params).address.number
    assert_equal [3, 4], Order.new(items: [params, { street: "A", number: "4" }]).items.map(&:number), "forms send text"
    [{ street: "A", number: 0 }, { street: "A" }, Address.new(street: 5, number: 1)].each do |wrong|
      assert_raises(Manypack::RecordError) { Order.new(address: wrong).address }
    end
    assert_raises(Manypack::RecordError) { Order.new(address: "text").address }
  end

  def test_values_have_the_ext_types_and_conversions_of_the_type
    event = Manypack::Record.new(Struct.new(:at), at: Time).with(timestamp: true)
    assert_equal Time.at(0), Manypack::AttributeType.new(event).cast({ at: Time.at(0) }).at
    symbols = Manypack::AttributeType.new([Manypack::Type.text(Symbol)])
    assert_equal [%i[a b]] * 2, [symbols.cast(%w[a b]), symbols.cast(%i[a b])]
  end

  def test_bytes_as_postgresql_sends_them
    type, address = Manypack::AttributeType.new(Address), Address.new(street: "A", number: 1)
    assert_equal address, type.deserialize("\\x#{address.dump.unpack1("H*")}")
    refute type.changed_in_place?("\\x#{address.dump.unpack1("H*")}", address)
    assert type.changed_in_place?("\xC1", address)
  end

  class Form
    include ActiveModel::Model
    include ActiveModel::Attributes
    include ActiveModel::Dirty

    attribute :address, Manypack::AttributeType.new(Address)
    attribute :settings, Manypack::AttributeType.new(SETTINGS), default: -> { { theme: "dark" } }
  end

  def test_active_model_without_a_database
    form = Form.new(address: { street: "A", number: 1 })
    assert_equal ["A", Settings.new("dark", [])], [form.address.street, form.settings]
    form.changes_applied
    form.settings.tags << "x"
    assert_equal ["settings"], form.changed
  end

  def test_types_compare_by_what_they_hold
    same = [Manypack::AttributeType.new(SETTINGS), Manypack::AttributeType.new(SETTINGS)]
    assert_equal 1, same.uniq.size
    refute_equal same[0], Manypack::AttributeType.new(SETTINGS, json: true)
    assert_raises(ArgumentError) { Manypack::AttributeType.new("settings") }
    assert_raises(ArgumentError) { Manypack::AttributeType.new(SETTINGS, json: :yes) }
  end
end

# frozen_string_literal: true

#--
# Attributes of ActiveModel and ActiveRecord that hold objects of a Record or another Type. Only programs that use one
# of them require this file.
#++
require "manypack"

module Manypack
  Library.load("activemodel", user: "manypack/active_model", at_least: "7.1", file: "active_model")

  # The type of an attribute of ActiveModel or ActiveRecord that is an object of a Record or another Type. A column
  # holds it as bytes, or as JSON. Changes inside the object are saved, as in Rails' own JSON columns.
  #
  #   require "manypack/active_model"
  #
  #   class Order < ApplicationRecord
  #     attribute :address, Manypack::AttributeType.new(Address)               # a binary column
  #     attribute :items, Manypack::AttributeType.new([Item], json: true), default: -> { [] } # a json or text column
  #   end
  #   order.address = {"street" => "..."} # an Address, or RecordError
  class AttributeType < ::ActiveModel::Type::Value
    # type:: a Record, a class that has one, or anything else that Type[] takes
    # json:: true for a column of JSON or text (default false: of bytes)
    #
    # Raises ArgumentError for anything that is no type.
    def initialize(type, json: false)
      Arguments.check_flag(json, :json)
      @of = Manypack::Type[type]
      @json = json
      super()
    end

    # Returns +:binary+, or +:json+ for a column of JSON.
    def type = @json ? :json : :binary

    # Returns true for a column of bytes.
    def binary? = !@json

    # Returns true, because an object may change while it is an attribute.
    def mutable? = true

    # Returns a copy of an object, or one made of Hashes, Arrays or permitted params, as Type#from makes it with
    # <code>lax: true</code>, because forms send text; nil for nil. Raises RecordError for an object that the type does
    # not take, and EncodeError for one that cannot be packed.
    def cast(value)
      @of.load(dumped(@of.from(plain(value), lax: true))) unless value.nil?
    end

    # Returns what the column holds: bytes or JSON, or nil for nil. Raises RecordError or EncodeError for an object that
    # could not be read back.
    def serialize(value)
      return if value.nil?

      @json ? @of.dump_json(value, check: true) : ::ActiveModel::Type::Binary::Data.new(dumped(value))
    end

    # Returns the object that the column holds, or nil. Raises DecodeError.
    def deserialize(value)
      return if value.nil?

      @json ? @of.load_json(value) : @of.load(bytes(value))
    end

    # Returns true if the object has changed since it was read. Bytes that another version of the program wrote are no
    # change.
    def changed_in_place?(old, value)
      return !old.nil? || !value.nil? if old.nil? || value.nil?

      now = dumped(value)
      (@json || bytes(old) != now) && dumped(deserialize(old)) != now
    rescue DecodeError
      true
    end

    # Returns true for an AttributeType of an equal type and the same kind of column.
    def ==(other)
      other.is_a?(AttributeType) && state == other.state
    end

    # The same as ==, for keys of a Hash.
    def eql?(other) = self == other

    # Returns an Integer, the same for equal AttributeTypes.
    def hash = state.hash

    protected

    def state = [@of, @json]

    private

    def dumped(value) = @of.dump(value, check: true)

    def plain(value)
      return value.map { |element| plain(element) } if value.instance_of?(::Array)

      value.respond_to?(:permitted?) ? value.to_h : value
    end

    # PostgreSQL sends bytes as hexadecimal digits after a backslash and an x, with which no message begins.
    def bytes(column)
      column = column.to_s
      column.start_with?("\\x") ? [column.byteslice(2..)].pack("H*") : column
    end
  end
end

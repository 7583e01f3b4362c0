# frozen_string_literal: true

# The Records that several files of tests share, and helpers that load by them.
module Records
  Record = Manypack::Record
  RecordError = Manypack::RecordError
  Type = Manypack::Type
  View = Manypack::View

  Point = Struct.new(:x, :y)
  User = Struct.new(:id, :name, :tags, :home, :raw)
  Box = Struct.new(:value)
  Node = Struct.new(:value, :children)
  Ticket = Struct.new(:id)
  Person = Struct.new(:name, :pets)
  Pet = Struct.new(:name, :owner)

  POINT = Record.new(Point, x: Float, y: Float)
  USER = Record.new(User, id: Integer, name: String, tags: [String], home: POINT.or(nil), raw: View)
               .with(defaults: { tags: [] }, keys: { name: %w[name full_name] }, unknown: :raise)
  Record.new(Ticket, id: Integer).attach
  NODE = Record.new(Node, value: Integer, children: [:Node])
  ADA = { "id" => 1, "name" => "Ada", "tags" => ["a"], "home" => { "x" => 1.5, "y" => 2.5 }, "raw" => [1] }.freeze

  Circle = Struct.new(:radius)
  Square = Struct.new(:side)
  CIRCLE = Record.new(Circle, radius: Float)
  SQUARE = Record.new(Square, side: Float)
  SHAPE = Record.union("type", "circle" => CIRCLE, "square" => SQUARE)
  REST = Record.new(Struct.new(:x, :rest), x: Integer, rest: Object).with(unknown: { into: :rest })

  NAME = "Records::User"

  def box(type) = Record.new(Box, value: type)

  # What comes of a value where a Record has this type.
  def taken(type, value, **options)
    box(type).with(**options).load(pack({ "value" => value }, timestamp: true)).value
  end

  def refused(type, value, **options)
    assert_raises(RecordError, "#{type.inspect} of #{value.inspect}") { taken(type, value, **options) }
  end

  def error_of(type, value, **options)
    assert_raises(RecordError) { type.with(**options).load(pack(value)) }
  end
end

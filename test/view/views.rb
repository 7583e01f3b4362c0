# frozen_string_literal: true

# What several files of tests look into by Views, and helpers that make Views.
module Views
  View = Manypack::View
  Path = Manypack::Path
  REMOVED = View::REMOVED
  Point = Struct.new(:x, :y)

  DOCUMENT = { "a" => { "b" => [1, [2, 3], { "c" => nil }] }, "n" => nil, "s" => "text", "e" => {}, "f" => 1.5 }.freeze

  LARGE = Array.new(40) { |i| { "id" => i, "tags" => ["a" * i] } }.freeze

  TWICE = "83 a1 61 01 a1 62 02 c4 01 61 03"

  def view(obj, **options) = View.new(pack(obj), **options)

  def raw(hex, **options) = View.new(bytes(hex), **options)

  # A View with ext types of its own.
  def view_by(factory, binary, **options)
    Manypack.const_get(:Internal).view_over(binary, factory.codec(options), false)
  end

  def points
    Manypack::Factory.new.tap do |factory|
      factory.register_type(1, Point, packer: ->(point) { point.to_a.pack("CC") },
                                      unpacker: ->(body) { Point.new(*body.unpack("CC")) })
    end
  end
end

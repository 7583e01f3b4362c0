# frozen_string_literal: true

# A View is how a program says that bytes are packed: whatever packs writes it as its bytes, where it would pack a String
# of bytes again. The doors of integrations are in test/integration/packed_part_test.rb.
require "test_helper"
require "json"
require "stringio"

class PackedPartTest < Minitest::Test
  Point = Struct.new(:x)
  POINT = Manypack::Record.new(Point, x: Integer)
  Holder = Struct.new(:part)
  HOLDER = Manypack::Record.new(Holder, part: Object)
  FACTORY = Manypack::Factory.new.tap { |factory| factory.register_type(1, Point, packer: ->(_) { "no" }, unpacker: ->(_) { :no }) }
  MAP = { "x" => 5 }.freeze
  BYTES = Manypack.pack(MAP).freeze

  def self.written
    StringIO.new("".b).tap { |io| yield io }.string
  end

  DOORS = {
    "Manypack.pack" => ->(one) { Manypack.pack(one) },
    "Manypack.pack to an io" => ->(one) { written { |io| Manypack.pack(one, io) } },
    "Manypack.pack, canonical" => ->(one) { Manypack.pack(one, canonical: true) },
    "Codec#pack" => ->(one) { Manypack::Codec.new(timestamp: true).pack(one) },
    "Factory#dump" => ->(one) { FACTORY.dump(one) },
    "Pool#dump" => ->(one) { FACTORY.pool.dump(one) },
    "Packer#write" => ->(one) { Manypack::Packer.new.write(one).to_s },
    "Packer.open" => ->(one) { file { |path| Manypack::Packer.open(path) { |packer| packer << one } } },
    "Manypack.dump_file" => ->(one) { file { |path| Manypack.dump_file(one, path) } },
    "Type#dump" => ->(one) { Manypack::Type[Object].dump(one) },
    "Record#dump" => ->(one) { HOLDER.array.dump(Holder.new(one)).byteslice(1..) },
    "View#splice" => ->(one) { Manypack::View.new("\x91\x01".b).splice([0] => one).bytes.byteslice(1..) },
    "Parallel.filter" => ->(one) { written { |io| Manypack::Parallel.filter("\x01", io, ractors: 0) { one } } },
    "Manypack::View of a View" => ->(one) { Manypack::Type[Object].view(one).bytes }
  }.freeze

  def self.file
    Dir.mktmpdir { |folder| File.join(folder, "one").then { |path| [yield(path), File.binread(path)].last } }
  end

  DOORS.each do |name, door|
    define_method("test_#{name}_writes_a_view_as_its_bytes") do
      [POINT.view(Point.new(5)), Manypack::View.new(BYTES), Manypack::View.new("\x91".b + BYTES)[0], Manypack::Type[Hash].view(MAP),
       POINT.lazy.view(Point.new(5))].each do |view|
        assert_equal [BYTES, "\x91".b + BYTES, "\x81\xA1u".b + BYTES], [view, [view], { "u" => view }].map { |one| self.class.class_exec(one, &door) }
      end
    end
  end

  def test_a_string_of_bytes_is_packed_again
    assert_equal "\xC4\x04".b + BYTES, Manypack.pack(BYTES)
  end

  def test_the_view_of_an_object_is_of_what_dump_packs_with_the_options_of_the_type
    assert_equal [Manypack::View, POINT.dump(Point.new(5)), 5], POINT.view(Point.new(5)).then { |view| [view.class, view.bytes, view["x"]] }
    assert_equal Point.new(5), POINT.view(Point.new(5)).as(POINT)
    assert_equal "[{\"x\":5}]", JSON.generate([POINT.view(Point.new(5))])
    assert_equal({ x: 5 }, POINT.with(symbolize_keys: true).view(Point.new(5)).value)
    assert_equal [5], POINT.array.view(Point.new(5)).value
    error = assert_raises(TypeError) { POINT.view(BYTES) }
    assert_equal "expected PackedPartTest::Point, got String, at $", error.message
    assert_raises(Manypack::RecordError) { POINT.with(check: true).view(Point.new("5")) }
  end
end

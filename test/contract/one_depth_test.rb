# frozen_string_literal: true

# max_depth is one number: whatever one front packs at a depth, every front reads, and what one refuses, all refuse.
require "test_helper"

class OneDepthTest < Minitest::Test
  DEPTH = 16
  CODEC = Manypack::Codec.new(max_depth: DEPTH)
  LOOSE = CODEC.with(max_depth: 1_000)

  # An ext with a value in its body, which is a level, too.
  Box = Struct.new(:value)

  # What each level is.
  CONTAINERS = { "arrays" => ->(_) { 0 }, "maps" => ->(_) { "k" }, "both" => ->(level) { level.odd? ? 0 : "k" } }.freeze
  INNERMOST = { "nil" => nil, "a str" => "x", "an empty array" => [], "an empty map" => {},
                "a View of nil" => Manypack::View.new("\xC0"), "an empty View" => Manypack::View.new("\x80") }.freeze

  WRITERS = {
    "pack" => ->(object, _) { CODEC.pack(object) },
    "a Packer" => ->(object, _) { CODEC.packer.write(object).to_s },
    "canonical" => ->(object, _) { CODEC.pack(object, canonical: true) },
    "a Type" => ->(object, _) { Manypack::Type[Object].with(codec: CODEC).dump(object) },
    "splice" => ->(object, steps) { CODEC.view(LOOSE.pack(at(steps[0...-3], 0))).splice(steps[0...-3] => object.dig(*steps[0...-3])) },
    "splice that makes the parents" => lambda do |object, steps|
      CODEC.view(LOOSE.pack(at(steps[0...3], nil))).splice(steps[0...-1] => Manypack::View.with_parents(object.dig(*steps[0...-1])))
    end
  }.freeze

  READERS = {
    "unpack" => ->(bytes, _) { CODEC.unpack(bytes) },
    "an Unpacker" => ->(bytes, _) { CODEC.unpacker.feed(bytes).read },
    "a byte at a time" => ->(bytes, _) { CODEC.unpacker.then { |unpacker| bytes.each_char { |byte| unpacker.feed(byte) } && unpacker.read } },
    "skip" => ->(bytes, _) { CODEC.unpacker.feed(bytes).skip },
    "split" => ->(bytes, _) { Manypack.split(bytes, max_depth: DEPTH).to_a },
    "value" => ->(bytes, _) { CODEC.view(bytes).value },
    "check" => ->(bytes, _) { CODEC.view(bytes, check: true) },
    "canonical?" => ->(bytes, _) { CODEC.view(bytes).canonical? },
    "dig" => ->(bytes, steps) { Manypack.dig(bytes, *steps, codec: CODEC) },
    "a Path" => ->(bytes, _) { Manypack::Path.new("$..*").to_a(bytes, codec: CODEC) },
    "a Type" => ->(bytes, _) { Manypack::Type[Object].with(codec: CODEC).load(bytes) },
    "Parallel" => ->(bytes, _) { Manypack::Parallel.map(bytes, ractors: 0, codec: CODEC) { |object| object.to_s }.to_a }
  }.freeze

  # Returns nested containers of which the steps lead to a value.
  def self.at(steps, value) = steps.reverse.inject(value) { |inner, step| step == 0 ? [inner] : { step => inner } }

  CONTAINERS.each do |kind, step|
    INNERMOST.each do |what, innermost|
      define_method("test_#{what}_in_#{kind}".tr(" ", "_")) do
        (DEPTH - 1..DEPTH + 1).each do |depth|
          steps = (1..depth).map(&step)
          object = self.class.at(steps, innermost)
          bytes = LOOSE.pack(object)
          outcomes = WRITERS.transform_values { |write| fits? { write.call(object, steps) } }
          outcomes.update(READERS.transform_values { |read| fits? { read.call(bytes, steps) } }) { |_, *both| both.uniq }
          assert_equal [depth <= DEPTH], outcomes.values.flatten.uniq, "#{depth} levels: #{outcomes}"
        end
      end
    end
  end

  def test_bodies_of_ext_types
    factory = Manypack::Factory.new
    factory.register_type(1, Box, packer: ->(box, packer) { packer.write(box.value) }, unpacker: ->(body) { Box.new(body.read) },
                                  recursive: true)
    [nil, [], {}].each do |innermost|
      assert_same_depth(factory.codec(max_depth: DEPTH), factory.codec(max_depth: 1_000)) do |depth|
        depth.times.inject(innermost) { |inner, _| Box.new(inner) }
      end
    end
  end

  def test_lists_maps_and_records_of_a_type
    assert_same_depth_of_type(Manypack::Type[[Integer]], [])
    assert_same_depth_of_type(Manypack::Type[{ String => Integer }], {})
    members = Manypack::Record.define(id: Integer).record.with(defaults: { id: 1 })
    deep = ->(depth) { depth.times.inject(members) { |type, _| Manypack::Type[[type]] }.with(max_depth: DEPTH) }
    assert deep.call(DEPTH).load(("\x91".b * DEPTH) + "\x80".b)
    assert_raises(Manypack::StackError) { deep.call(DEPTH + 1).load(("\x91".b * (DEPTH + 1)) + "\x80".b) }
  end

  def test_a_nesting_error_names_the_option
    error = assert_raises(Manypack::NestingError) { Manypack.pack([[[1]]], max_depth: 2) }
    assert_equal "nested more than 2 containers deep (max_depth: allows more), at $[0][0]", error.message
  end

  private

  def fits?
    yield
    true
  rescue Manypack::NestingError, Manypack::StackError
    false
  end

  def assert_same_depth(codec, loose)
    (DEPTH - 1..DEPTH + 1).each do |depth|
      object = yield depth
      bytes = loose.pack(object)
      assert_equal [depth <= DEPTH] * 2, [fits? { codec.pack(object) }, fits? { codec.unpack(bytes) }], "#{depth} levels"
    end
  end

  def assert_same_depth_of_type(type, innermost)
    (DEPTH - 1..DEPTH + 1).each do |depth|
      deep = depth.times.inject(type) { |inner, _| Manypack::Type[[inner]] }.with(max_depth: DEPTH)
      object = depth.times.inject(innermost) { |inner, _| [inner] }
      bytes = Manypack.pack(object)
      assert_equal [depth <= DEPTH] * 2, [fits? { deep.dump(object) }, fits? { deep.load(bytes) }], "#{depth} levels"
    end
  end
end

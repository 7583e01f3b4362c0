# frozen_string_literal: true

# Deep and cyclic data is a NestingError wherever it is packed; the C stack is never used up.
require "test_helper"
require "support/nesting"

class NestingTest < Minitest::Test
  include Nesting

  [nil, 100_000].each do |max_depth|
    CYCLES.each do |what, cycle|
      PLACES.each do |place, run|
        define_method("test_a_cycle_by_#{what}_in_#{place}_at_max_depth_#{max_depth || "128"}".tr(" ", "_")) do
          run.call(-> { assert_raises(Manypack::NestingError) { Manypack.pack(cycle.call, max_depth: max_depth) } })
        end
      end
    end
  end

  def test_cycles_in_a_ractor
    outcome = in_ractor do
      array = [].tap { |itself| itself << itself }
      [128, 100_000].flat_map do |depth|
        [array, Mirror.new].map do |cycle|
          Manypack.pack(cycle, max_depth: depth)
        rescue StandardError => e
          e.class
        end
      end
    end
    assert_equal [Manypack::NestingError] * 4, outcome
  end

  def test_a_fiber_in_a_ractor
    outcome = in_ractor do
      Fiber.new do
        Manypack.pack(Mirror.new, max_depth: 100_000)
      rescue StandardError => e
        e.class
      end.resume
    end
    assert_equal Manypack::NestingError, outcome
  end

  def test_the_default_depth_fits_everywhere
    nested = 128.times.inject(nil) { |inner, i| i.even? ? [inner] : { "k" => inner } }
    expected = Manypack.pack(nested)
    PLACES.each_value { |run| assert_equal expected, run.call(-> { Manypack.pack(nested) }) }
  end

  def test_packing_goes_on_after_a_nesting_error
    packer = Manypack::Packer.new
    3.times { assert_raises(Manypack::NestingError) { packer.write([Mirror.new]) } }
    assert_equal "01", hex(packer.write(1).to_s)
  end

  def test_a_million_levels_are_decoded_to_an_error_everywhere
    deep = "\x91".b * 1_000_000
    [128, 100_000].each do |max_depth|
      PLACES.each_value { |run| run.call(-> { assert_raises(Manypack::StackError) { Manypack.unpack(deep, max_depth: max_depth) } }) }
    end
    assert_equal(Manypack::StackError, in_ractor(deep) do |bytes|
      Manypack.unpack(bytes, max_depth: 100_000)
    rescue StandardError => e
      e.class
    end)
  end
end

# frozen_string_literal: true

# User code that runs in the middle of an unpack and takes the input away: what was given is what is decoded.
require "test_helper"

class InputChangeTest < Minitest::Test
  # Long enough to be on the heap, from where replacing it would free it.
  TAIL = "tail" * 500

  def test_the_input_may_change_in_a_hash_method_of_a_key
    input = pack([{ [Manypack::ExtensionValue.new(1, "a")] => 1 }, TAIL])
    with_method(Manypack::ExtensionValue, :hash, -> { input.replace("gone") && 1 }) do
      map, tail = unpack(input, allow_unknown_ext: true)
      assert_equal [TAIL, 1], [tail, map.size]
    end
    assert_equal "gone", input
  end

  def test_the_input_may_change_in_the_hash_method_of_an_ext_that_is_a_key
    input = pack([{ Manypack::ExtensionValue.new(1, "a") => 1 }, TAIL])
    with_method(Manypack::ExtensionValue, :hash, -> { input.replace("gone") && 1 }) do
      assert_equal TAIL, unpack(input, allow_unknown_ext: true).last
    end
  end

  def test_the_input_may_change_when_a_shareable_time_is_frozen
    input = pack([Time.at(0), TAIL], timestamp: true)
    freeze = Kernel.instance_method(:freeze)
    with_method(Time, :freeze, -> { input.replace("gone") && freeze.bind_call(self) }) do
      assert_equal [Time.at(0), TAIL], unpack(input, timestamp: true, shareable: true)
    end
  end

  def test_an_error_in_a_hash_method_comes_out
    input = pack({ [Manypack::ExtensionValue.new(1, "a")] => 1 })
    with_method(Manypack::ExtensionValue, :hash, -> { raise IOError, "no hash" }) do
      assert_raises(IOError) { unpack(input, allow_unknown_ext: true) }
    end
    assert_equal 1, unpack(input, allow_unknown_ext: true).size
  end

  private

  def with_method(klass, name, body)
    extra = Module.new { define_method(name) { instance_exec(&body) } }
    klass.prepend(extra)
    yield
  ensure
    extra.send(:remove_method, name)
  end
end

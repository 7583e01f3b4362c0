# frozen_string_literal: true

# User code that runs in the middle of an unpack and takes the input away: what was given is what is decoded.
require "test_helper"
require "support/program"

class InputChangeTest < Minitest::Test
  include ProgramHelper

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

  # Maps whose keys are equal, so that Ruby compares them: by whatever methods a program has redefined.
  KEYS = <<~'RUBY'
    KEYS = {
      "nil" => [nil, nil], "booleans" => [true, true], "small Integers" => [7, 7], "Integers" => [2**40, 2**40],
      "Bignums" => [2**64 - 1, 2**64 - 1], "negative Bignums" => [-(2**63), -(2**63)], "Floats" => [1.5, 1.5],
      "large Floats" => [1e300, 1e300], "NaN" => [Float::NAN, Float::NAN], "short Strings" => %w[ab ab],
      "long Strings" => ["k" * 900, "k" * 900], "binary Strings" => ["\xFF".b, "\xFF".b], "Arrays" => [[2**64 - 1], [2**64 - 1]],
      "Hashes" => [{ 1e300 => 1 }, { 1e300 => 1 }], "Times" => [Time.at(1), Time.at(1)], "a mixture" => [2**64 - 1, 1e300],
      "exts" => [Manypack::ExtensionValue.new(5, "e"), Manypack::ExtensionValue.new(5, "e")]
    }.transform_values { |one, other| "\x82".b + [one, 1, other, 2].map { |object| Manypack.pack(object, timestamp: true) }.join }
  RUBY

  CLASSES = [Integer, Float, String, Symbol, Array, Hash, Time, Struct, NilClass, TrueClass, Object].freeze

  def test_the_input_may_change_in_any_method_that_a_key_is_compared_by
    assert_program <<~RUBY, "done"
      #{KEYS}
      TAIL = #{TAIL.inspect}
      $input = nil
      module Meddling
        %i[hash eql? ==].each do |name|
          define_method(name) do |*arguments|
            if (input, $input = $input, nil).first
              size = input.bytesize
              input.replace("gone")
              $other = Array.new(20) { "\\x93" * size } # where the bytes of the input have been
            end
            super(*arguments)
          end
        end
      end
      OPTIONS = [{}, { symbolize_keys: true }, { freeze: true }, { shareable: true }, { duplicate_keys: :last, max_objects: 99 }]
      inputs = KEYS.flat_map { |name, map| OPTIONS.map { |options| [name, "\\x92".b + map + Manypack.pack(TAIL), options] } }
      unpack = ->(input, options) { Manypack.unpack(input, allow_unknown_ext: true, timestamp: true, **options) }
      expected = inputs.map { |_, input, options| unpack.call(input, options).inspect }
      #{CLASSES.inspect}.each { |klass| klass.prepend(Meddling) }
      inputs.zip(expected) do |(name, input, options), shown|
        changed = "".b << input # a copy of its own
        $input = changed
        object = unpack.call(changed, options)
        $input = nil
        puts "\#{name}, \#{options}: \#{object.inspect[0, 200]}" unless object.inspect == shown
      end
      puts "done"
    RUBY
  end

  # Ruby calls eql? where a few bits of two keys' hashes are the same: which keys these are changes from run to run.
  MIXED = { "Integer" => "->(i) { i + 1_000 }", "Float" => "->(i) { i + 1.25 }" }.freeze

  # Before unpack makes a key that is an object, as Floats are where a VALUE has 32 bits, it copies what it still has to read.
  COPIED = 1.25.equal?(1.0 + 0.25) ? [].freeze : ["Float"].freeze

  MIXED.each do |name, other|
    define_method("test_unpack_notices_that_the_eql_of_#{name}_changed_the_input") do
      assert_program <<~RUBY, COPIED.include?(name) ? "intact" : '[RuntimeError, "the String was modified during unpacking"]'
        $VERBOSE = nil
        original = #{name}.instance_method(:eql?)
        input = called = nil
        #{name}.define_method(:eql?) do |object|
          if input && object.class != self.class
            called = true
            input.replace("gone")
            $other = Array.new(20) { "\\x93" * 1_000 }
          end
          original.bind_call(self, object)
        end
        other = #{other}
        answer = nil
        10_000.times do |i|
          bytes = "\\x92\\x82".b + ["key \#{i}", 1, other.call(i), 2, #{TAIL.inspect}].map { |object| Manypack.pack(object) }.join
          input = bytes
          answer = (Manypack.unpack(bytes) rescue [$!.class, $!.message])
          input = nil
          next unless called

          answer = :intact if answer == [{ "key \#{i}" => 1, other.call(i) => 2 }, #{TAIL.inspect}]
          break
        end
        puts called ? answer.inspect.delete_prefix(":") : "eql? was not called"
      RUBY
    end
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

# frozen_string_literal: true

# Depth on every stack, the smallest that Ruby has included: a value or an error, and the C stack is never used up.
require_relative "attacks"

module Hostile
  class EveryStackTest < Minitest::Test
    include Attacks

    # By shape, so many containers inside each other.
    NESTED = {
      "arrays" => ->(levels) { ("\x91".b * levels) + "\x05" }, "maps as values" => ->(levels) { ("\x81\x01".b * levels) + "\x05" },
      "array32" => ->(levels) { ("\xDD\0\0\0\x01".b * levels) + "\x05" },
      "a mixture" => ->(levels) { (["\x91".b, "\x81\x01".b, "\x92\x01".b].cycle.first(levels).join) + "\x05" }
    }.freeze

    KEYS = ->(levels) { ("\x81".b * levels) + "\x05" + ("\x05" * levels) }
    EXTS = ->(levels) { levels.times.inject("\x05".b) { |inner, _| HostileMessages.ext(inner) } }

    # Keys of keys may be 5, whatever else there is room for; the outermost map is none.
    KEY_LEVELS = 5

    # As small as Ruby lets them be, and as they are; for Threads, Fibers and Ractors.
    STACKS = [{}, { "RUBY_THREAD_MACHINE_STACK_SIZE" => "65536", "RUBY_FIBER_MACHINE_STACK_SIZE" => "65536",
                    "RUBY_THREAD_VM_STACK_SIZE" => "65536", "RUBY_FIBER_VM_STACK_SIZE" => "32768" }].freeze

    # In a program: prints where the value of a piece of Ruby is not what it should be.
    EVERYWHERE = <<~'RUBY'
      Warning[:experimental] = false
      PLACES = {
        main: ->(code) { eval(code) }, Thread: ->(code) { Thread.new { eval(code) }.value }, Fiber: ->(code) { Fiber.new { eval(code) }.resume },
        Fiber_in_Thread: ->(code) { Thread.new { Fiber.new { eval(code) }.resume }.value },
        Ractor: ->(code) { Ractor.new(code) { |given| eval(given) }.then { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take } },
        Fiber_in_Ractor: ->(code) { PLACES[:Ractor].call("Fiber.new { #{code} }.resume") }
      }
      def everywhere(*expected, code)
        PLACES.each do |place, run|
          actual = run.call(code)
          puts "#{code} in #{place}: #{actual.inspect[0, 100]}" unless expected.include?(actual)
        end
      end
    RUBY

    def test_06_containers_keys_and_exts_at_the_limit_beyond_it_and_at_a_million_give_the_value_or_stack_error_on_every_stack
      NESTED.each_value { |nested| assert_limit(nested) }
      assert_equal 1, Manypack.unpack(KEYS.call(KEY_LEVELS)).size
      [KEY_LEVELS + 1, 128, 129, 1_000_000].each { |levels| assert_raises(Manypack::StackError) { Manypack.unpack(KEYS.call(levels)) } }
      assert_recursive_exts
      STACKS.each { |env| assert_empty run_ruby(EVERYWHERE + <<~'RUBY', env) }
        ARRAYS, MAPS, BOTH, KEYS = %W[\x91 \x81\x01 \x91\x81\x01 \x81].map { |head| (head.b * 1_000_000).freeze }
        %w[ARRAYS MAPS BOTH KEYS].product([128, 100_000]).each do |deep, depth|
          everywhere(Manypack::StackError, "outcome { Manypack.unpack(#{deep}, max_depth: #{depth}) }")
          everywhere(Manypack::StackError, "outcome { Manypack::Unpacker.new(max_depth: #{depth}).feed(#{deep}).read }")
        end
        everywhere(true, 'Manypack.unpack("\x91".b * 128 + "\x05").flatten == [5]')
        everywhere(true, 'Manypack.unpack("\x91".b * 10_000 + "\x05", max_depth: 10_000).is_a?(Array)')
        EXTS = ("\xC7\x01\x01".b * 200_000 + "\x01").freeze
        DEEP_EXTS = 2_000.times.inject("\x05".b) { |inner, _| ext(inner) }.freeze
        everywhere(Manypack::MalformedFormatError, Manypack::StackError, "outcome { recursive_factory.load(EXTS) }")
        everywhere(Manypack::StackError, "outcome { recursive_factory.load(DEEP_EXTS) }")
        # Ruby's own frames of 2,000 handlers may be too many for it before there are too many of ours.
        everywhere(Wrapped, Manypack::StackError, SystemStackError,
                   "outcome { recursive_factory.load(DEEP_EXTS, max_depth: 100_000) }.then { |got| got.is_a?(Class) ? got : got.class }")
      RUBY
    end

    def test_07_depth_is_counted_through_handlers_to_msgpack_and_recursive_packers_and_cycles_raise_on_every_stack
      STACKS.each { |env| assert_empty run_ruby(EVERYWHERE + <<~'RUBY', env) }
        class Mirror
          def to_msgpack(packer) = packer.write_array_header(1).write([self])
        end
        CYCLES = {
          "array" => "[].tap { |array| array << array }", "hash" => "{}.tap { |hash| hash[1] = hash }", "to_msgpack" => "Mirror.new",
          "key" => "{}.compare_by_identity.tap { |hash| hash[hash] = 1 }", "recursive type" => "Wrapped.new.tap { |w| w.content = [w] }"
        }
        CYCLES.each_value do |cycle|
          [128, 100_000].each do |depth|
            everywhere(Manypack::NestingError, "outcome { recursive_factory.dump(#{cycle}, max_depth: #{depth}) }")
            everywhere(Manypack::NestingError, "outcome { recursive_factory.packer(max_depth: #{depth}).write(#{cycle}) }")
          end
        end
        tiny = ENV.key?("RUBY_FIBER_VM_STACK_SIZE") ? [Manypack::NestingError] : []
        everywhere(129, *tiny, 'outcome { Manypack.pack(128.times.inject(1) { |inner, _| [inner] }).bytesize }')
        everywhere(Manypack::NestingError, 'outcome { Manypack.pack(129.times.inject(1) { |inner, _| [inner] }) }')
        everywhere(Manypack::NestingError, 'outcome { Manypack.pack(1_000_000.times.inject(1) { |inner, _| [inner] }, max_depth: 100_000) }')
      RUBY
    end

    def test_08_the_same_limit_holds_in_skip_and_headers_and_inspect_walks_no_message
      NESTED.each_value do |nested|
        [1, 128, 1_000].each do |limit|
          assert_nil Manypack::Unpacker.new(max_depth: limit).feed(nested.call(limit)).skip
          [limit + 1, 1_000_000].each do |levels|
            message = nested.call(levels)
            skipped = assert_raises(Manypack::StackError) { Manypack::Unpacker.new(max_depth: limit).feed(message).skip }
            read = assert_raises(Manypack::StackError) { Manypack::Unpacker.new(max_depth: limit).feed(message).read }
            assert_equal read.offset, skipped.offset
          end
        end
      end
      assert_raises(Manypack::StackError) { Manypack::Unpacker.new.feed(EXTS.call(300).prepend("\x91".b * 129)).skip }
      waiting = Manypack::Unpacker.new(max_depth: 100_000).feed("\x91".b * 100_000)
      assert_raises(EOFError) { waiting.read }
      [waiting, waiting.buffer].each { |object| assert_operator object.inspect.bytesize, :<, 1_000 }
      error = assert_raises(Manypack::NestingError) { Manypack.pack([].tap { |array| array << { "k" => array } }) }
      assert_operator error.message.bytesize, :<, 1_000
    end

    private

    def assert_limit(nested)
      [1, 32, 128, 1_000].each do |limit|
        [limit - 1, limit].each { |levels| assert_equal levels, depth_of(Manypack.unpack(nested.call(levels), max_depth: limit)) }
        [limit + 1, 1_000_000].each do |levels|
          message = nested.call(levels)
          assert_raises(Manypack::StackError) { Manypack.unpack(message, max_depth: limit) }
          assert_raises(Manypack::StackError) { Manypack::Unpacker.new(max_depth: limit).feed(message).read }
        end
      end
    end

    def assert_recursive_exts
      factory = recursive_factory
      [127, 128].each { |levels| assert_equal levels, depth_of(factory.load(EXTS.call(levels))) }
      [129, 2_000].each { |levels| assert_raises(Manypack::StackError) { factory.load(EXTS.call(levels)) } }
      heads = ("\xC7\x01\x01".b * 200_000) + "\x01"
      assert_raises(Manypack::MalformedFormatError) { factory.load(heads) }
      unpacker = factory.unpacker.feed(heads)
      assert_raises(Manypack::DecodeError) { unpacker.read }
      mixed = 64.times.inject("\x05".b) { |inner, _| "\x91".b + HostileMessages.ext(inner) }
      assert_equal 128, depth_of(factory.load(mixed))
      assert_raises(Manypack::StackError) { factory.load("\x91".b + mixed) }
      assert_raises(Manypack::StackError) { factory.load("\x81".b + KEY_LEVELS.times.inject("\x05".b) { |inner, _| HostileMessages.ext("\x81".b + inner + "\x01") } + "\x01") }
    end

    def depth_of(object)
      levels = 0
      loop do
        object = case object
                 when Array then object.last
                 when Hash then object.values.last
                 when Wrapped then object.content
                 else return levels
                 end
        levels += 1
      end
    end
  end
end

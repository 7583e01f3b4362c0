# frozen_string_literal: true

# Requirements 6 to 8: depth.
require "hostile/hostile"

module Hostile
  class DepthTest < Test
    NESTING = File.expand_path("../support/nesting", __dir__)

    Nesting::PLACES.each do |place, run|
      define_method("test_06_every_nesting_is_the_value_up_to_its_limit_and_a_stack_error_above_in_#{place.tr(" ", "_")}") do
        Nesting::EDGES.each do |kind, levels, max_depth, fits|
          assert_edge fits, run.call(-> { Nesting.decode(Nesting.messages[[kind, levels]], max_depth) }), kind, levels, max_depth
        end
      end
    end

    def test_06_every_nesting_is_the_value_up_to_its_limit_and_a_stack_error_above_in_a_ractor
      asked = Nesting::EDGES.map { |kind, levels, max_depth| [Nesting.messages[[kind, levels]], max_depth] }
      outcomes = in_ractor(asked) { |all| all.map { |message, max_depth| Nesting.decode(message, max_depth) } }
      Nesting::EDGES.zip(outcomes) { |(kind, levels, max_depth, fits), outcome| assert_edge fits, outcome, kind, levels, max_depth }
    end

    # A key stays as deep as it may be, whatever wraps it.
    def test_06_the_depth_of_a_key_counts_through_the_body_of_an_ext
      factory = Manypack::Factory.new
      factory.register_type(1, Class.new, packer: :p, unpacker: ->(body) { body.read }, recursive: true)
      [0, 1, 5].each do |outer|
        key = lambda do |levels|
          body = ("\x91".b * levels) + "\xC0".b
          "\x81".b + ("\x91".b * outer) + [0xC7, body.bytesize, 1].pack("C*") + body + "\x02".b
        end
        assert_equal [2], factory.load(key.call(31 - outer)).values
        assert_raises(Manypack::StackError) { factory.load(key.call(32 - outer)) }
        assert_raises(Manypack::StackError) { factory.load(key.call(32 - outer), max_depth: 1_000) }
      end
    end

    SMALL_STACKS = { "RUBY_THREAD_VM_STACK_SIZE" => "65536", "RUBY_THREAD_MACHINE_STACK_SIZE" => "65536", "RUBY_FIBER_VM_STACK_SIZE" => "32768",
                     "RUBY_FIBER_MACHINE_STACK_SIZE" => "65536" }.freeze

    def test_06_on_small_stacks_too_there_is_a_value_or_a_stack_error
      assert_program <<~RUBY, "ok", SMALL_STACKS
        require #{NESTING.dump}
        places = Nesting::PLACES.merge("a Ractor" => nil)
        Nesting::EDGES.product(places.to_a) do |(kind, levels, max_depth, fits), (place, run)|
          message = Nesting.messages[[kind, levels]]
          work = -> { Nesting.decode(message, max_depth) }
          outcome = run ? run.call(work) : value(Ractor.new(message, max_depth) { |binary, depth| Nesting.decode(binary, depth) })
          next if outcome == Manypack::StackError || (outcome == :value && fits)

          puts "\#{levels} levels of \#{kind} at \#{max_depth} in \#{place}: \#{outcome}"
        end
        puts "ok"
      RUBY
    end

    Nesting::CYCLES.each do |what, cycle|
      define_method("test_07_packing_a_cycle_by_#{what.tr(" ", "_")}_is_a_nesting_error_everywhere") do
        Nesting::PLACES.each_value do |run|
          [nil, 100_000].each { |depth| run.call(-> { assert_raises(Manypack::NestingError) { pack(cycle.call, max_depth: depth) } }) }
        end
      end
    end

    def test_07_packing_counts_levels_through_to_msgpack_and_recursive_packers
      wrapped = ->(levels) { levels.times.inject(nil) { |inner, _| Nesting::Wrapped.new([inner]) } }
      assert_equal 20, Nesting::RECURSIVE.dump(wrapped.call(10), max_depth: 20).scan("\x91".b).size + 10
      assert_raises(Manypack::NestingError) { Nesting::RECURSIVE.dump(wrapped.call(10), max_depth: 19) }
      own = Class.new do
        define_method(:initialize) { |inner| @inner = inner }
        define_method(:to_msgpack) { |packer| packer.write([@inner]) }
      end
      nested = 10.times.inject(nil) { |inner, _| own.new(inner) }
      assert_equal "#{"91" * 10}c0", pack(nested, max_depth: 10).unpack1("H*")
      assert_raises(Manypack::NestingError) { pack(nested, max_depth: 9) }
    end

    def test_07_on_small_stacks_a_cycle_is_a_nesting_error
      assert_program <<~RUBY, "ok", SMALL_STACKS
        require #{NESTING.dump}
        Nesting::CYCLES.to_a.product(Nesting::PLACES.to_a, [nil, 100_000]) do |(what, cycle), (place, run), max_depth|
          error = run.call(-> { Manypack.pack(cycle.call, max_depth: max_depth) && nil rescue $! })
          puts "\#{what} in \#{place}: \#{error.inspect}" unless error.is_a?(Manypack::NestingError)
        end
        puts "ok"
      RUBY
    end

    # Skipping does not look into exts.
    SKIPPED = ["arrays", "maps as values"].freeze

    def test_08_the_same_limit_holds_for_skip
      Nesting::EDGES.each do |kind, levels, max_depth, fits|
        next unless SKIPPED.include?(kind)

        unpacker = Manypack::Unpacker.new(max_depth: max_depth).feed(Nesting.messages[[kind, levels]])
        fits ? assert_nil(unpacker.skip) : assert_raises(Manypack::StackError) { unpacker.skip }
        in_part = Manypack::Unpacker.new(max_depth: max_depth).feed(Nesting.messages[[kind, levels]].byteslice(0, 2))
        outcome { in_part.read }
        in_part.feed(Nesting.messages[[kind, levels]].byteslice(2..))
        fits ? assert_nil(in_part.skip) : assert_raises(Manypack::StackError) { in_part.skip }
      end
      assert_raises(Manypack::StackError) { Manypack::Unpacker.new.feed("\x81".b * 1_000_000).skip }
    end

    def test_08_levels_inside_of_recursive_bodies_count_for_skip_and_read
      body = ->(levels) { pack(Manypack::ExtensionValue.new(1, ("\x91".b * levels) + "\xC0".b)) }
      %i[read skip].each do |method|
        factory = Manypack::Factory.new
        factory.register_type(1, Nesting::Wrapped, packer: nil, unpacker: ->(unpacker) { unpacker.public_send(method) }, recursive: true)
        factory.load(body.call(9), max_depth: 10)
        assert_raises(Manypack::StackError) { factory.load(body.call(10), max_depth: 10) }
      end
    end

    private

    # Where Ruby code is called at every level, C stack may be used up before max_depth is reached.
    def assert_edge(fits, outcome, kind, levels, max_depth)
      expected = fits ? [:value] : [Manypack::StackError]
      expected << Manypack::StackError if levels > 50 && ["recursive exts", "a mixture"].include?(kind)
      assert_includes expected, outcome, "#{levels} levels of #{kind} at #{max_depth}"
    end
  end
end

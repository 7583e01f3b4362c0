# frozen_string_literal: true

# A Type may have options of its own. Wherever it loads what a front decodes, they hold, unless the front itself says
# otherwise: at every front as in Manypack.unpack(bytes, as: type).
require "test_helper"
require "support/forks"
require "support/program"
require_relative "option_probes"

class OptionsOfTypesTest < Minitest::Test
  include CorePart
  include OptionProbes
  include ProgramHelper

  FRONTS = STREAMS.merge(SINGLE).freeze

  # For each option a value that lets pass what the probe has too much of.
  LAX = PROBES.to_h do |option, (value, _)|
    [option, { utf8: :accept, duplicate_keys: :last, max_depth: 99 }.fetch(option) { value == true ? false : 2**20 }]
  end.freeze

  Attached = Struct.new(:k)

  # Ways to name a Type with options.
  TYPED = {
    "a Type" => ->(**options) { ANY.with(**options) },
    "a Record" => ->(**options) { HELD.with(**options) },
    "a class that has a Record" => ->(**options) { Class.new(Attached).tap { |klass| Manypack::Record.new(klass, k: Object).with(**options).attach } }
  }.freeze

  FRONTS.each do |name, front|
    TYPED.each do |kind, typed|
      define_method("test_every_option_of_#{kind}_holds_where_#{name}_loads_it") do
        PROBES.each do |option, (value, bytes)|
          assert_loads(HELD.with(option => value), front, bytes, option, typed.call(option => value)) if kind != "a Type"
          assert_loads(ANY.with(option => value), front, bytes, option, ANY.with(option => value)) if kind == "a Type"
        end
      end
    end

    define_method("test_what_#{name}_says_goes_before_the_options_of_a_type") do
      PROBES.each do |option, (value, bytes)|
        [[value, LAX[option]], [LAX[option], value]].each do |own, said|
          assert_loads(ANY.with(option => said), front, bytes, option, ANY.with(option => own), option => said)
          next if name == "Codec#unpacker"

          assert_loads(ANY.with(option => said), front, bytes, option, ANY.with(option => own), codec: Manypack::Codec.new(option => said))
        end
      end
    end
  end

  # A View itself reads with what it was given, before a Type loads what it shows.
  FRONTS.except("View#as").each do |name, front|
    define_method("test_other_options_of_#{name}_leave_those_of_a_type") do
      PROBES.each do |option, (value, bytes)|
        other = option == :max_objects ? { max_ext_bytes: 999 } : { max_objects: 999 }
        assert_loads(ANY.with(option => value), front, bytes, option, ANY.with(option => value), **other)
      end
    end

    define_method("test_#{name}_keeps_a_type_with_options_alive") do
      type = ANY.with(freeze: true, max_bytes: 20)
      assert_match(/\A\{"k" ?=> ?"a"\} true/, exercise { outcome(front, "\x81\xA1k\xA1a".b, as: type) })
      assert_match(/\AManypack::LimitError/, exercise { outcome(front, "\xBF".b + "a" * 31, as: type) })
    end

    define_method("test_#{name}_reads_as_deep_as_a_type_allows") do
      deep = "\x81\xA1k".b + "\x91".b * 200 + "\xC0".b
      assert_match(/\AManypack::StackError/, outcome(front, deep, as: ANY))
      assert_match(/\A\{"k" ?=> ?\[/, outcome(front, deep, as: ANY.with(max_depth: 300)))
    end
  end

  def test_a_stream_refuses_what_a_type_does_not_allow_before_it_is_all_there
    unpacker = Manypack::Unpacker.new(as: Manypack::Type[String].with(max_bytes: 10))
    error = assert_raises(Manypack::LimitError) { unpacker.feed("\xDB\x00\x10\x00\x00".b + "a" * 20).read }
    assert_equal :max_bytes, error.limit
  end

  def test_an_unpacker_shows_the_options_that_hold
    unpacker = Manypack::Unpacker.new(as: ANY.with(symbolize_keys: true, freeze: true), freeze: false)
    assert_predicate unpacker, :symbolize_keys?
    refute_predicate unpacker, :freeze?
  end

  Forks.without_impossible([{ processes: 1 }, { ractors: 1 }]).each do |workers|
    define_method("test_the_options_of_a_type_hold_in_#{workers.keys.first}") do
      deep = "\x91".b * 200 + "\xC0".b
      count = lambda do |type, message|
        Manypack::Parallel.map(message * 3, **workers, as: type) { |object| object.flatten.size }
      end
      assert_equal [1, 1, 1], count.call(ANY.with(max_depth: 300), deep)
      assert_raises(Manypack::LimitError) { count.call(ANY.with(max_bytes: 2), "\x92\x01\x02".b) }
      assert_raises(Manypack::StackError) { count.call(ANY.with(max_depth: 3), deep) }
    end
  end

  def test_a_process_that_ends_counts_messages_as_deep_as_a_type_allows
    return unless Forks::POSSIBLE

    deep = "\x91".b * 200 + "\xC0".b
    error = assert_raises(Manypack::Parallel::DeadWorker) do
      Manypack::Parallel.map(deep * 2, processes: 1, as: ANY.with(max_depth: 300)) { Process.kill(:KILL, Process.pid) }
    end
    assert_match(/message 0 \(bytes 0 to 200\)/, error.message)
  end

  def test_a_filter_packs_by_the_options_of_the_front
    output = StringIO.new("".b)
    codec = Manypack::Codec.new(timestamp: true)
    Manypack::Parallel.filter("\x01", output, ractors: 0, codec: codec, as: ANY.with(symbolize_keys: true)) { Time.at(1) }
    assert_equal "\xD6\xFF\0\0\0\1".b, output.string
  end

  def test_a_view_gives_a_type_its_ext_types
    factory = Manypack::Factory.new
    factory.register_type(7, Attached, packer: ->(*) { "" }, unpacker: ->(body) { body.reverse })
    view = factory.codec(symbolize_keys: true).view("\x81\xA1k\x81\xA1a\xD5\x07ab".b)
    assert_equal Held.new({ a: "ba" }), exercise { view.as(HELD) }
    assert_equal({ a: "ba" }, exercise { view[:k].as(ANY) })
    assert_equal({ "a" => "ba" }, exercise { factory.codec.view(view.bytes)["k"].as(ANY) })
    assert_equal({ a: "ba" }, exercise { factory.codec.view(view.bytes)["k"].as(ANY.with(symbolize_keys: true)) })
  end

  # An Unpacker knows the types that were registered with it, whatever loads its messages.
  def test_an_unpacker_loads_a_type_with_the_ext_types_that_it_got
    [[ANY, "ba"], [Manypack::Type[[Object]].with(symbolize_keys: true), [{ k: "ba" }]], [HELD, Held.new("ba")]].each do |type, expected|
      message = { ANY => "", HELD => "\x81\xA1k" }.fetch(type, "\x91\x81\xA1k").b + "\xD5\x07ab".b
      unpacker = Manypack::Unpacker.new(as: type)
      assert_raises(Manypack::UnknownExtTypeError) { unpacker.feed(message).read }
      exercise { unpacker.register_type(7) { |body| body.reverse } }
      assert_equal expected, exercise { unpacker.feed(message).read }
      assert unpacker.type_registered?(7)
      assert_raises(Manypack::UnknownExtTypeError) { Manypack::Unpacker.new(as: type).feed(message).read }
    end
  end

  def test_an_unpacker_that_gets_ext_types_keeps_the_options_that_hold
    unpacker = Manypack::Unpacker.new(as: ANY.with(max_bytes: 3), symbolize_keys: true)
    2.times { |i| exercise { unpacker.register_type(7 + i) { |body| body * (i + 1) } } }
    assert_equal({ a: 1 }, exercise { Manypack::Unpacker.new(as: ANY, symbolize_keys: true).tap { |other| other.register_type(7, &:itself) }.feed("\x81\xA1a\x01").read })
    assert_equal %w[a bb], exercise { unpacker.feed("\xD4\x07a\xD4\x08b").each.to_a }
    assert_raises(Manypack::LimitError) { unpacker.feed("\xD5\x07ab").read }
  end

  def test_an_unpacker_refuses_ext_types_that_its_loader_would_not_know
    loader = Object.new
    def loader.load(bytes) = bytes
    def loader.inspect = "LOADER"
    error = assert_raises(ArgumentError) { Manypack::Unpacker.new(as: loader).register_type(1) { |body| body } }
    assert_equal "register_type has no effect on what LOADER loads: its method load has to know the ext type", error.message
    view = Manypack::Unpacker.new(as: :view).tap { |unpacker| unpacker.register_type(7) { |body| body.reverse } }
    assert_equal "ba", view.feed("\xD5\x07ab").read.value
  end

  def test_options_that_equal_the_default_outlive_a_registration
    output = run_program(<<~'RUBY')
      Held = Struct.new(:k)
      types = [Manypack::Type[Object], Manypack::Record.new(Held, k: Object)].map { |type| type.with(utf8: :accept, freeze: false) }
      before = types.map { |type| type.codec.options }
      Manypack::DefaultFactory.register_type(7, Held, packer: ->(_) { "" }, unpacker: ->(_) { 1 })
      p before == types.map { |type| type.codec.options }
      p types.map { |type| type.with(untrusted: true).load("\x81\xA1k\xA1\xFF".b).to_h.values }
    RUBY
    assert_equal "true\n[[\"\\xFF\"], [\"\\xFF\"]]", output
  end

  private

  # Asserts that a front makes the same of the bytes as another type does that has all the options itself.
  def assert_loads(expected, front, bytes, message, type, **options)
    alone = outcome(->(packed) { expected.load(packed) }, bytes)
    assert_equal comparable(alone), comparable(outcome(front, bytes, as: type, **options)), message
  end

  # Without the name of the class, which may have none.
  def comparable(outcome)
    without_place(outcome).sub(/\A#<struct \S* ?k=/, "#<struct k=").sub(/max_depth, .*/m, "max_depth")
  end
end

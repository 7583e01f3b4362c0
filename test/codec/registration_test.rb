# frozen_string_literal: true

# Registering ext types: what would be ignored is refused, what changes the meaning of messages is warned about.
require "test_helper"
require "stringio"
require "support/program"

class RegistrationTest < Minitest::Test
  include ProgramHelper

  Point = Class.new
  Round = Class.new

  # Of one object each, what a type registered for its class would pack.
  EACH = [nil, true, false, 1, 2**63, 2**64, 1.5, 1e300, "s", "b".b, [], {}, :s, 1..2, 1r, 1i, /r/, Object, Time.at(0), Object.new,
             Struct.new(:a).new(1), Manypack::ExtensionValue.new(1, ""), Manypack::Timestamp.new(1, 2)].freeze

  def test_a_class_is_refused_exactly_where_its_type_would_be_ignored
    EACH.each do |obj|
      never = "\xC1never".b
      factory = Manypack::Factory.new
      begin
        factory.register_type(1, obj.class, packer: ->(_) { never }, unpacker: ->(_) { obj })
        assert_includes factory.dump(obj), never, obj.class.name
      rescue ArgumentError => e
        assert_match(/\A#{obj.class} is always packed as /, e.message)
        factory.__send__(:register_type_internal, 1, obj.class, ->(_) { never }, nil, {})
        refute_includes (factory.dump(obj) rescue ""), never, obj.class.name
      end
    end
    [Comparable, Enumerable, Kernel, Object, BasicObject, Numeric].each { |mod| assert_nil Manypack::Factory.new.register_type(1, mod, packer: :to_s) }
  end

  # What means something else, and what does not: another class that only packs, the same class, one that a reload made.
  def test_a_type_that_changes_its_class_is_warned_about
    reloaded = [1, 2].map { Class.new.tap { |klass| klass.define_singleton_method(:name) { "Reloaded" } } }
    both = { packer: ->(_) { "" }, unpacker: ->(_) { nil } }
    { [Point, Round] => true, [Point, Point] => false, reloaded => false, [Point, Class.new(Point)] => true, [Class.new, Class.new] => true }.each do |(first, second), changes|
      factory = Manypack::Factory.new
      assert_silent { factory.register_type(1, first, **both) }
      assert_silent { factory.register_type(1, second, packer: both[:packer], unpacker: nil) }
      assert_silent { factory.register_type(2, second, **both) }
      _, warning = capture_io { factory.register_type(1, second, **both) }
      assert_equal changes, warning.include?("ext type 1 was unpacked as "), [first, second].inspect
    end
  end

  # In the block that makes it, it has no name yet.
  def test_a_reloaded_class_that_registers_itself_is_silent_without_w
    factory = Manypack::Factory.new
    _, warning = capture_io do
      verbose, $VERBOSE = $VERBOSE, false
      3.times do
        made = Struct.new(:x) { factory.register_type(1, self, packer: ->(_) { "" }, unpacker: ->(_) { nil }) }
        self.class.send(:remove_const, :Reloaded) if self.class.const_defined?(:Reloaded)
        self.class.const_set(:Reloaded, made)
      end
      factory.register_type(1, Point, packer: ->(_) { "" }, unpacker: ->(_) { nil })
    ensure
      $VERBOSE = verbose
    end
    assert_equal 1, warning.lines.size
    assert_match(/was unpacked as RegistrationTest::Reloaded, and is unpacked as RegistrationTest::Point from now on/, warning)
  end

  def test_it_is_warned_about_in_another_ractor
    warning = in_ractor do
      $stderr = StringIO.new
      factory = Manypack::Factory.new
      [Range, Rational].each { |klass| factory.register_type(1, klass, packer: :to_s, unpacker: Kernel.method(:p)) }
      $stderr.string
    end
    assert_match(/registration_test\.rb:#{__LINE__ - 3}: warning: ext type 1 was unpacked as Range, and is unpacked as Rational from now on/, warning)
  end

  def test_with_the_drop_in_nothing_of_it_is_refused_or_warned_about
    assert_program <<~'RUBY', "ok"
      require "manypack/drop_in"
      factory = MessagePack::Factory.new
      [String, Integer, Hash, NilClass, Range, Rational].each { |klass| factory.register_type(1, klass, packer: :to_s, unpacker: Kernel.method(:p)) }
      MessagePack::Packer.new.register_type(1, String) { "never" }
      puts "ok" if factory.dump(["s", 1, {}, nil]) == "\x94\xA1s\x01\x80\xC0".b
    RUBY
  end
end

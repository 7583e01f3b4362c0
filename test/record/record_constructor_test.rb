# frozen_string_literal: true

# Which constructor of a class makes the objects, and how it is called: it may be defined after the Record is made.
require "test_helper"

class RecordConstructorTest < Minitest::Test
  Record = Manypack::Record
  RecordError = Manypack::RecordError
  Type = Manypack::Type

  # --- defined after the Record -----------------------------------------------------------------------------

  # Refuses negative numbers, by position or as keywords.
  module Checking
    def initialize(*values, **named)
      raise ArgumentError, "negative" if [*values, *named.values].any?(&:negative?)

      super
    end
  end

  def self.checking = proc { def initialize(cents) = cents.negative? ? raise(ArgumentError, "negative") : super }

  # Ways to define a constructor after the Record is made.
  LATER = {
    "in the class body" => ->(klass) { klass.class_eval(&RecordConstructorTest.checking) },
    "by a module that is prepended" => ->(klass) { klass.prepend(Checking) },
    "by a module that is included" => ->(klass) { klass.include(Checking) },
    "by define_method" => ->(klass) { klass.define_method(:initialize) { |cents| cents.negative? ? raise(ArgumentError) : super(cents) } },
    "by new" => ->(klass) { klass.define_singleton_method(:new) { |cents| cents.negative? ? raise(ArgumentError) : super(cents) } },
    "by new with any arguments" => ->(klass) { klass.define_singleton_method(:new) { |*all| all[0].negative? ? raise(ArgumentError) : super(*all) } },
    "by a module that is extended" => ->(klass) { klass.extend(Module.new { def new(cents) = cents.negative? ? raise(ArgumentError) : super }) },
    "in the superclass" => ->(klass) { klass.superclass.class_eval { def initialize(cents) = cents.negative? ? raise(ArgumentError) : super } }
  }.freeze

  def subclass = Class.new(Class.new(Struct.new(:cents)))

  def assert_refuses_negative(record, klass)
    good, bad = [1, -1].map { |cents| pack({ "cents" => cents }) }
    holder = Record.new(Struct.new(:at), at: Type[[record]])
    types = { record => :itself, record.lazy => :itself, Type[record, nil] => :itself, Type[[record]] => ->(bytes) { "\x91".b + bytes },
              holder => ->(bytes) { "\x81\xA2at\x91".b + bytes }, Record.union("type", "a" => record) => ->(bytes) { "\x82\xA4type\xA1a".b + bytes.byteslice(1..) } }
    types.each do |type, wrap|
      assert_equal [true, false], [good, bad].map { |bytes| whole(type, wrap == :itself ? bytes : wrap.(bytes)) }, type.inspect
    end
    assert_raises(RecordError) { record.dump(klass.allocate.tap { |object| object.cents = -1 }, check: true) }
  end

  def whole(type, bytes)
    object = type.load(bytes)
    object.load if object.is_a?(Manypack::LazyRecord)
    true
  rescue RecordError
    false
  end

  LATER.each do |name, define|
    define_method("test_a_constructor_defined_later_#{name.tr(" ", "_")}_is_called") do
      klass = subclass
      record = Record.new(klass, cents: Integer)
      define.call(klass)
      assert_refuses_negative(record, klass)
      attached = subclass.tap { |one| Record.new(one, cents: Integer).attach }
      define.call(attached)
      assert_refuses_negative(attached.record, attached)
    end
  end

  def test_a_constructor_defined_after_the_first_object_is_called
    LATER.except("by new with any arguments").each do |name, define|
      klass = subclass
      record = Record.new(klass, cents: Integer)
      assert_equal(-1, record.load(pack({ "cents" => -1 })).cents, name)
      define.call(klass)
      assert_refuses_negative(record, klass)
    end
  end

  def test_a_class_that_gets_a_record_when_it_is_inherited_calls_its_constructor
    base = Class.new(Struct.new(:cents)) do
      def self.inherited(klass)
        super
        klass.const_set(:RECORD, Record.new(klass, cents: Integer))
      end
    end
    klass = Class.new(base, &RecordConstructorTest.checking)
    assert_refuses_negative(klass::RECORD, klass)
  end

  def test_a_subclass_of_define_calls_its_constructor
    klass = Class.new(Record.define(cents: Integer))
    assert_equal(-1, klass.load(pack({ "cents" => -1 })).cents)
    klass.class_eval { def initialize(cents:) = cents.negative? ? raise(ArgumentError) : super }
    assert_raises(RecordError) { klass.load(pack({ "cents" => -1 })) }
    assert_equal 1, klass.load(pack({ "cents" => 1 })).cents
  end

  def test_defaults_of_a_constructor_defined_later_count
    klass = Struct.new(:from, :to)
    record = Record.new(klass, from: Integer, to: Integer)
    assert_raises(RecordError) { record.load(pack({ "from" => 1 })) }
    klass.class_eval { def initialize(from, to = from + 1) = super }
    lazy = record.lazy.load(pack({ "from" => 1 }))
    assert_equal [[1, 2], [1, 2], 2], [record.load(pack({ "from" => 1 })).to_a, lazy.load.to_a, lazy.to]
    assert_equal [true, :new, ["from"]], [record.optional?(:to), record.build, record.json_schema["$defs"].values[0]["required"]]
  end

  def test_a_constructor_defined_later_that_cannot_take_the_members
    klass = Struct.new(:from, :to)
    record = Record.new(klass, from: Integer, to: Integer)
    klass.class_eval { def initialize(from) = super(from, 1) }
    bytes = pack({ "from" => 1, "to" => 2 })
    [-> { record.load(bytes) }, -> { record.valid?(bytes) }, -> { record.build }, -> { Type[[record]].load("\x91".b + bytes) }].each do |call|
      assert_match(/#initialize does not take 2 positional arguments/, assert_raises(ArgumentError, &call).message)
    end
  end

  def test_another_ractor_calls_a_constructor_defined_later
    klass = Struct.new(:cents)
    record = Record.new(klass, cents: Integer)
    klass.class_eval { def initialize(cents) = super(cents * 2) }
    assert_equal 4, in_ractor(record, pack({ "cents" => 2 })) { |type, bytes| type.load(bytes).cents }
  end

  # --- forms ------------------------------------------------------------------------------------------------

  STRUCT = -> { Struct.new(:from, :to) }
  NAMED = -> { Struct.new(:from, :to, keyword_init: true) }
  DATA = -> { Data.define(:from, :to) }

  # What makes an object of from 1 and to 2: each is called so that both arrive.
  FORMS = {
    STRUCT => [
      proc { def initialize(from, to) = super }, proc { def initialize(*) = super }, proc { def initialize(*all) = super(*all) },
      proc { def initialize(from, to = 0, &block) = super }, proc { def initialize(from, *rest) = super }, proc { def initialize(a, b, by: 1) = super(a, b) },
      proc { def initialize(from:, to:) = super(from, to) }, proc { def initialize(from:, **rest) = super(from, rest[:to]) },
      proc { def initialize(**all) = super(*all.values) }, proc { def initialize(...) = super }, proc { def initialize(extra = 0, from:, to:) = super(from, to) },
      proc { def self.new(*) = super }, proc { def self.new(*all) = super(*all) }, proc { def self.new(...) = super }, proc { def self.new(from, to) = super },
      proc { def self.new(from:, to:) = super(from, to) }, proc { def self.new(**all) = super(*all.values) },
      proc { def self.new(...) = super; def initialize(from:, to:) = super(from, to) }, proc { def initialize(*, to) = super },
      proc { def self.new(*all, &block) = super; def initialize(from, to) = super }, proc { private_class_method :new }
    ],
    NAMED => [
      proc { def initialize(from:, to:) = super }, proc { def initialize(from:, to: 0, **) = super(from: from, to: to) }, proc { def initialize(**) = super },
      proc { def initialize(*) = super }, proc { def initialize(all) = super }, proc { def initialize(all = {}) = super }, proc { def initialize(...) = super },
      proc { def initialize(from, to) = super(from: from, to: to) }, proc { def self.new(...) = super }, proc { def self.new(**) = super },
      proc { def self.new(*) = super }, proc { def self.new(from, to) = super(from: from, to: to) }
    ],
    DATA => [
      proc { def initialize(from:, to:) = super }, proc { def initialize(from:, to: 0) = super }, proc { def initialize(**) = super }, proc { def initialize(*) = super },
      proc { def initialize(...) = super }, proc { def initialize(from:, **rest) = super }, proc { def self.new(*) = super },
      proc { def self.new(*args) = super }, proc { def self.new(...) = super }, proc { def self.new(**) = super }, proc { def self.new(from, to) = super },
      proc { def self.new(a, b) = super }, proc { def self.new(from, *rest) = super }, proc { def self.new(from:, to:) = super },
      proc { def self.new(from, to = 0) = super(from: from, to: to) }, proc { def self.new(*all, **named) = super }, proc { def self.new(*all, &block) = super(*all, &block) },
      proc { def self.new(*) = super; def initialize(from:, to:) = super }, proc { def self.new(...) = super; def initialize(from:, to:) = super }
    ]
  }.freeze

  def made(klass) = Record.new(klass, from: Integer, to: Integer).load(pack({ "from" => 1, "to" => 2 })).to_h

  def test_every_form_of_a_constructor_gets_the_members
    FORMS.each do |base, forms|
      next if base == DATA && !defined?(Data)

      forms.each_with_index { |form, i| assert_equal({ from: 1, to: 2 }, made(Class.new(base.call, &form)), "#{forms.size} forms, #{i}") }
    end
  end

  # Each would take one member for another, or refuse every message.
  REFUSED = {
    STRUCT => [
      proc { def initialize(to, from) = super(from, to) }, proc { def initialize(from, *rest, to: 5) = super(from, to) }, proc { def initialize(from, to:) = super(from, to) },
      proc { def initialize(extra, from:, to:) = super(from, to) }, proc { def self.new(to, from) = super(from, to) }, proc { def initialize(to, *rest) = super },
      proc { def initialize(*rest, from) = super }, proc { def initialize(from, other, third) = super(from, other) }
    ],
    NAMED => [proc { def initialize(a, b) = super(from: a, to: b) }, proc { def initialize(to, from) = super(from: from, to: to) }, proc { def initialize(from:) = super }],
    DATA => [
      proc { def initialize(from, to) = super(from: from, to: to) }, proc { def initialize(all) = super }, proc { def self.new(to, from) = super(from, to) },
      proc { def self.new(from, to:) = super(from, to) }, proc { def self.new(all) = super(**all) }, proc { def self.new(from:, till:) = super(from, till) }
    ]
  }.freeze

  def test_a_constructor_that_would_mix_up_the_members_is_refused_when_the_record_is_made
    REFUSED.each do |base, forms|
      next if base == DATA && !defined?(Data)

      forms.each_with_index do |form, i|
        error = assert_raises(ArgumentError, "#{forms.size} forms, #{i}") { made(Class.new(base.call, &form)) }
        assert_match(/(initialize|new) (takes|needs|does not take) .*: it is called with all members, (by position|as keywords)/, error.message)
      end
    end
  end
end

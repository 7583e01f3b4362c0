# frozen_string_literal: true

# What Ruby does with every object, and every class of ours: dup, clone, freeze, allocate, Marshal, YAML, == and hash;
# and every method of ours on a frozen object, and with a String in place of a Symbol. Classes and methods are found by
# reflection: a new one fails here until it has a row.
require "test_helper"
require "stringio"
require "yaml"
require "support/public_methods"
require_relative "../hostile/every_object"
require_relative "../whole/ractor_test"

class EveryClassTest < Minitest::Test
  # What a copy is: :itself, a :copy that is equal, an :other object, or :none, where there is no such method.
  # What Marshal and YAML write: :equal, an object that is equal to it; :text, its other form; or :refused.
  # Whether allocate makes a :blank object, which every_object.rb uses, or is :refused.
  Row = Struct.new(:copy, :marshal, :yaml, :allocate)
  CLASSES = {
    "Buffer" => Row.new(:none, :refused, :refused, :blank), "Codec" => Row.new(:itself, :refused, :refused, :refused),
    "ExtensionValue" => Row.new(:copy, :equal, :equal, :blank), "Factory" => Row.new(:other, :refused, :refused, :blank),
    "Factory::Pool" => Row.new(:itself, :refused, :refused, :blank), "LazyRecord" => Row.new(:itself, :refused, :text, :refused),
    "Incompatibility" => Row.new(:copy, :equal, :equal, :blank), "Packer" => Row.new(:none, :refused, :refused, :blank), "Path" => Row.new(:itself, :equal, :text, :blank),
    "Path::All" => Row.new(:itself, :equal, :refused, :blank), "Path::Function" => Row.new(:itself, :refused, :refused, :blank),
    "Record" => Row.new(:itself, :refused, :refused, :blank), "Timestamp" => Row.new(:itself, :equal, :equal, :blank),
    "Type" => Row.new(:itself, :refused, :refused, :blank), "Unpacker" => Row.new(:none, :refused, :refused, :blank),
    "View" => Row.new(:copy, :refused, :text, :refused)
  }.transform_keys { |name| "Manypack::#{name}" }.freeze

  # The equal ones of them; of the others each is equal to itself only.
  EQUAL = (CLASSES.keys - %w[Buffer Factory Factory::Pool Packer Path::Function Unpacker].map { |name| "Manypack::#{name}" }).freeze

  def self.sample(name)
    EveryObject::SAMPLES.fetch(name).call
  end

  def test_every_public_class_has_a_row
    classes = PublicMethods.without_integrations[:modules].map { |name| Object.const_get(name) }.grep(Class)
    errors, others = classes.partition { |klass| klass <= Exception }
    assert_equal CLASSES.keys.sort, others.map(&:name).sort
    assert_equal ERRORS.keys.sort, errors.map(&:name).sort
  end

  CLASSES.each do |name, row|
    define_method("test_dup_and_clone_of_#{name}") do
      object = self.class.sample(name)
      copies = %i[dup clone].map { |method| [method, -> { object.public_send(method) }] }
      copies << [:clone, -> { object.clone(freeze: true) }]
      copies.each do |method, copy|
        case row.copy
        when :none then assert_match(/undefined method [`']#{method}'/, assert_raises(NoMethodError, &copy).message)
        when :itself then assert_same object, copy.call
        when :copy then assert_equal [object, false], [copy.call, copy.call.equal?(object)]
        when :other then assert_equal [object.class, object.inspect, false], [copy.call.class, copy.call.inspect, copy.call.equal?(object)]
        end
      end
    end

    define_method("test_marshal_and_yaml_of_#{name}") do
      object = self.class.sample(name)
      { row.marshal => -> { Marshal.load(Marshal.dump(object)) }, row.yaml => -> { Psych.unsafe_load(object.to_yaml) } }.each do |words, written|
        case words
        when :refused then assert_match(/cannot (write|be marshalled)/, assert_raises(TypeError, &written).message)
        when :equal then assert_equal [object, object.frozen?], [written.call, written.call.frozen?]
        when :text then assert_includes [String, Hash], written.call.class
        end
      end
    end

    define_method("test_allocate_of_#{name}") do
      klass = self.class.sample(name).class
      next assert_match(/allocator undefined|is made by View.new/, assert_raises(TypeError) { klass.allocate }.message) if row.allocate == :refused

      assert_kind_of String, klass.allocate.inspect
      [[:==, 1], [:eql?, 1]].each { |method, other| refute klass.allocate.public_send(method, other) }
    end

    define_method("test_equality_and_hash_of_#{name}") do
      one, other = Array.new(2) { self.class.sample(name) }
      expected = EQUAL.include?(name)
      assert_equal [expected, expected, true], [one == other, one.eql?(other), one.eql?(one)]
      assert_equal expected ? 1 : 2, [one.hash, other.hash].uniq.size
      assert_equal [:found], { one => :found }.values_at(expected ? other : one)
      refute_equal one, nil
    end

    define_method("test_freeze_of_#{name}") do
      object = self.class.sample(name)
      assert_same object, object.freeze
      assert_predicate object, :frozen?
      assert_match(/can't unfreeze/, assert_raises(ArgumentError) { object.clone(freeze: false) }.message) if row.copy == :itself
    end
  end

  # --- errors ---

  CAUSES = {
    "UnpackError" => -> { raise Manypack::UnpackError, "by a program" }, "JSONError" => -> { Manypack.from_json("[\n1 2]") }, "MalformedFormatError" => -> { Manypack.unpack("\x91\xC1".b) },
    "ShapeError" => -> { Manypack.dig("\x91\x01", "a") }, "StackError" => -> { Manypack.unpack("\x91" * 200) }, "UnexpectedTypeError" => -> { Manypack::Unpacker.new.feed("\x01").read_array_header },
    "UnknownExtTypeError" => -> { Manypack.unpack("\xD4\x05a".b) }, "LimitError" => -> { Manypack.unpack("\x91\x01", max_bytes: 1) },
    "TruncatedError" => -> { Manypack::Unpacker.new.feed("\x01\x92".b).each(strict: true) { nil } }, "NestingError" => -> { [].then { |list| Manypack.pack(list << list) } },
    "RecordError" => -> { RactorTest::NAMES["RECORD"].then { |record| eval(record).load("\x81\xA1a\xC0".b) } },
    "EncodeError::NoMethodError" => -> { Manypack.pack([Object.new]) }, "EncodeError::RangeError" => -> { Manypack.pack([2**70]) },
    "EncodeError::ArgumentError" => -> { Manypack.pack([Class.new { def to_msgpack(_) = nil }.new]) },
    "EncodeError::TypeError" => -> { raise Manypack::EncodeError::TypeError, "by a program" },
    "EncodeError::RuntimeError" => -> { [1].tap { |list| list << Class.new { define_method(:to_msgpack) { |packer| list.clear && packer.write(1) } }.new << 3 }.then { |list| Manypack.pack(list) } },
    "Parallel::DeadWorker" => -> { raise Manypack::Parallel::DeadWorker, "by a program" }
  }.freeze
  ERRORS = CAUSES.transform_keys { |name| "Manypack::#{name}" }.freeze
  SAID = %i[message path line column offset start limit value record field index].freeze

  ERRORS.each do |name, cause|
    define_method("test_copies_of_#{name}_say_the_same") do
      error = assert_raises(Manypack::Error, Manypack::Parallel::DeadWorker, &cause)
      assert_equal name, error.class.name
      [error.dup, error.clone, error.freeze].each { |copy| assert_equal said(error), said(copy) }
      assert_copy_says_the_same(error, Marshal.load(Marshal.dump(error)))
      assert_copy_says_the_same(error, Psych.unsafe_load(YAML.dump(error)))
    end
  end

  # Marshal and YAML write no Record, and Ruby adds to the message of a NoMethodError.
  def assert_copy_says_the_same(error, copy)
    kept = SAID - %i[message record]
    assert_equal [error.class, kept.zip(said(error, kept))], [copy.class, kept.zip(said(copy, kept))]
    assert_equal error.message.lines(chomp: true).first, copy.message.lines(chomp: true).first
  end

  def said(error, methods = SAID)
    methods.map { |method| error.respond_to?(method) ? error.public_send(method) : nil }
  end

  # --- every method, on a frozen object ---

  # Methods that change their object. All others give the same as before.
  CHANGING = { "Manypack::Packer" => %i[register_type], "Manypack::Unpacker" => %i[register_type], "Manypack::Factory" => %i[register_type register_common],
               "Manypack::ExtensionValue" => %i[type= payload=] }.freeze

  # A frozen Buffer gives nothing away, not even its size: reading it would change it.
  UNREADABLE = %w[Manypack::Buffer].freeze
  EXTENSION = { "Manypack::ExtensionValue.new(1, \"a\")" => 'Manypack::ExtensionValue.new(1, "a").freeze', 'Manypack::ExtensionValue.new(5, "")' => 'Manypack::ExtensionValue.new(5, "").freeze' }.freeze

  # The programs say what the methods do; each begins with the object.
  RactorTest::PROGRAMS.each do |method, program|
    klass, name = method.split("#")
    next unless name && CLASSES.key?(klass)

    define_method("test_#{method}_of_a_frozen_object") do
      frozen = RactorTest::NAMES.transform_values { |source| "(#{source}).freeze" }
      source = program.gsub(/\b(#{frozen.keys.join("|")})\b/, frozen).gsub(/#{EXTENSION.keys.map { |key| Regexp.escape(key) }.join("|")}/, EXTENSION)
      changing = CHANGING.fetch(klass, []).include?(name.to_sym) && method != "Manypack::Factory#register_type"
      if changing || (UNREADABLE.include?(klass) && source.include?("freeze"))
        assert_match(/can't modify frozen/, assert_raises(FrozenError, source) { eval(source) }.message)
      else
        assert_same true, eval(source), source
      end
    end
  end

  def test_a_frozen_factory_registers_nothing
    factory = Manypack::Factory.new.freeze
    assert_raises(FrozenError) { factory.register_type(1, Range, packer: :to_s, unpacker: nil) }
    assert_equal [], factory.registered_types
  end

  # --- Symbols and Strings ---

  # Where a call on one of our objects begins with a name, as in VIEW["a"] or RECORD.optional?(:a).
  NAMED = /\b(VIEW|LAZY|RECORD|Path)((?:\.[a-z_]+\??)?[\[(])(?:"(a|Point)"|:(a|Point)\b)/.freeze

  named = RactorTest::PROGRAMS.select { |_, program| program.match?(NAMED) }
  named.each do |method, program|
    define_method("test_#{method}_takes_a_string_and_a_symbol") do
      [program, program.gsub(NAMED) { "#{$1}#{$2}#{$3 ? ":#{$3}" : $4.inspect}" }].each do |either|
        source = either.gsub(/\b(#{RactorTest::NAMES.keys.join("|")})\b/, RactorTest::NAMES)
        assert_same true, eval(source), either
      end
    end
  end

  NAMED_METHODS = named.keys.freeze

  def test_methods_that_take_a_name_are_found
    %w[View#[] View#dig View#key? View#include? View#member? LazyRecord#[] Record#optional? Record#named? Path.of].each do |method|
      assert_includes NAMED_METHODS, "Manypack::#{method}"
    end
  end

  Point = Struct.new(:x, :rest)

  def test_names_of_members_are_symbols_or_strings
    record = Manypack::Record.new(Point, x: Integer, rest: Object)
    assert_equal record, Manypack::Record.new(Point, "x" => Integer, "rest" => Object)
    assert_equal record, Manypack::Record.new(Point, { x: Integer, rest: Object })
    assert_equal record, Manypack::Record.new(Point, { "x" => Integer }, rest: Object)
    assert_equal record.with(keys: { x: "k" }, defaults: { rest: 1 }), record.with(keys: { "x" => :k }, defaults: { "rest" => 1 })
    assert_equal record.with(unknown: { into: :rest }), record.with(unknown: { into: "rest" })
    assert_equal [%i[x], %i[x]], [Manypack::Record.define("x" => Integer).members, Manypack::Record.ivars(Class.new, "x" => Integer).members]
    assert_equal true, record.with(defaults: { "rest" => [] }).copies?("rest")
    assert_raises(ArgumentError) { Manypack::Record.new(Point, { "x" => Integer }, x: Integer, rest: Object) }
    assert_raises(ArgumentError) { record.with(unknown: { into: 5 }) }
    assert_raises(TypeError) { Manypack::Record.new(Point, [:x]) }
  end
end

# frozen_string_literal: true

# Codec#with: another Codec with some options changed and the same ext types; and which Codecs are equal.
require "test_helper"
require "support/program"

class CodecWithTest < Minitest::Test
  include ProgramHelper

  OPTIONS = Manypack.module_eval("Arguments::CODEC_OPTIONS")

  # For each option a value that is not its default: the first one of these that it takes.
  VALUES = OPTIONS.to_h do |name|
    [name, [true, 7, :strict, :hex, :error, :to_s.to_proc].find { |value| Manypack::Codec.new(name => value) rescue false }] # rubocop:disable Style/RescueModifier
  end.freeze

  Point = Struct.new(:x) do
    def to_msgpack_ext = [x].pack("c")
    def self.from_msgpack_ext(body) = new(body.unpack1("c"))
  end

  def setup
    @factory = Manypack::Factory.new
    @factory.register_type(1, Point)
  end

  def test_every_option_can_be_changed
    VALUES.each do |name, value|
      changed = Manypack::Codec.new.with(name => value)
      assert_equal Manypack::Codec.new(name => value).inspect, changed.inspect
      assert_includes changed.inspect, "#{name}: #{value.inspect}"
    end
  end

  def test_the_other_options_stay
    all = Manypack::Codec.new(**VALUES)
    VALUES.each_key do |name|
      others = VALUES.except(name)
      assert_equal all.inspect, Manypack::Codec.new(**others).with(name => VALUES[name]).inspect
    end
    assert_equal "#<Manypack::Codec symbolize_keys: true, max_bytes: 9>",
                 Manypack::Codec.new(symbolize_keys: true, max_bytes: 5).with(max_bytes: 9).inspect
  end

  def test_changed_options_are_those_that_it_works_by
    codec = @factory.codec(symbolize_keys: true, max_depth: 2)
    assert_equal({ "a" => 1 }, codec.with(symbolize_keys: false).unpack("\x81\xA1a\x01".b))
    assert_equal({ a: 1 }, codec.unpack("\x81\xA1a\x01".b))
    assert_equal [[[1]]], codec.with(max_depth: 3).unpack("\x91\x91\x91\x01".b)
    assert_raises(Manypack::StackError) { codec.unpack("\x91\x91\x91\x01".b) }
  end

  def test_untrusted_changes_the_limits_that_nobody_gave
    strict = Manypack::Codec.new(max_depth: 100).with(untrusted: true)
    assert_equal Manypack::Codec.new(untrusted: true, max_depth: 100).inspect, strict.inspect
    assert_equal Manypack::Codec.new(max_depth: 100, untrusted: false), strict.with(untrusted: false)
  end

  def test_a_limit_that_is_nil_stays
    codec = Manypack::Codec.new(max_bytes: 5)
    assert_equal codec.inspect, codec.with(max_bytes: nil).inspect
  end

  def test_types_are_kept
    codec = @factory.codec.with(freeze: true)
    assert_equal "\x91\xD4\x01\x05".b, codec.pack([Point.new(5)])
    assert_equal [Point.new(5)], codec.unpack("\x91\xD4\x01\x05".b)
    assert_equal codec.inspect, @factory.codec(freeze: true).inspect
  end

  def test_the_result_is_a_frozen_codec_that_every_ractor_may_use
    codec = @factory.codec.with(freeze: true)
    assert_instance_of Manypack::Codec, codec
    assert_predicate codec, :frozen?
    assert Ractor.shareable?(codec)
    assert_equal([Point.new(5), true], in_ractor(codec) { |shared| shared.unpack("\xD4\x01\x05".b).then { |point| [point, shared.frozen?] } })
  end

  # A handler that belongs to one Ractor keeps the Codec there.
  def test_the_result_is_shareable_only_where_its_handlers_are
    seen = []
    @factory.register_type(2, Range, packer: ->(range) { seen << range && "r" }, unpacker: nil)
    codec = @factory.codec.with(freeze: true)
    assert_predicate codec, :frozen?
    refute Ractor.shareable?(codec)
    assert_equal "\xD4\x02r".b, codec.pack(1..2)
    assert_equal [1..2], seen
  end

  def test_the_result_outlives_what_it_was_made_of
    codecs = Array.new(50) { |i| Manypack::Factory.new.tap { |factory| factory.register_type(1, Point) }.codec.with(max_depth: i + 1) }
    GC.start
    codecs.each { |codec| assert_equal Point.new(5), codec.unpack("\xD4\x01\x05".b) }
  end

  def test_without_options_it_is_the_codec_itself
    codec = @factory.codec
    assert_same codec, codec.with
    assert_same codec, codec.with(**{})
  end

  def test_codecs_with_the_same_options_are_equal
    all = Manypack::Codec.new(**VALUES)
    assert_equal all, Manypack::Codec.new(**VALUES.to_a.reverse.to_h)
    VALUES.each do |name, value|
      changed = Manypack::Codec.new(name => value)
      assert_equal Manypack::Codec.new.with(name => value), changed
      assert changed.eql?(Manypack::Codec.new(name => value))
      assert_equal changed.hash, Manypack::Codec.new(name => value).hash
      refute_equal Manypack::Codec.new, changed
    end
    assert_equal :found, { all => :found }[Manypack::Codec.new(**VALUES)]
  end

  def test_codecs_with_the_same_ext_types_are_equal
    assert_equal codec_with({ 1 => Point, 2 => Range }, :to_s), codec_with({ 2 => Range, 1 => Point }, :to_s)
    assert_equal codec_with({ 1 => Point, 2 => Range }, :to_s).hash, codec_with({ 2 => Range, 1 => Point }, :to_s).hash
    assert_equal @factory.codec.with(freeze: true), @factory.codec(freeze: true)
    handler = ->(range) { range.to_s }
    assert_equal codec_with({ 1 => Range }, handler), codec_with({ 1 => Range }, handler)
    assert_equal codec_with({ 1 => Range }, handler).hash, codec_with({ 1 => Range }, handler).hash
    codecs = [codec_with({}, nil), codec_with({ 1 => Range }, handler), codec_with({ 1 => Range }, ->(range) { range.to_s }),
              codec_with({ 1 => Range }, :to_s), codec_with({ 1 => Range }, :inspect), codec_with({ 2 => Range }, handler), codec_with({ 1 => Point }, handler)]
    assert_equal codecs.size, codecs.uniq.size
  end

  # What behaves in two ways is not equal: an option that was set to its default still counts over others.
  def test_codecs_are_equal_if_they_say_the_same
    { symbolize_keys: false, untrusted: false, max_bytes: 2**64 - 1, max_objects: 2**64 - 1, utf8: :accept, duplicate_keys: :last }.each do |option, usual|
      said = Manypack::Codec.new(option => usual)
      refute_equal Manypack::Codec.new, said, option
      refute_operator Manypack::Codec.new, :eql?, said
      assert_equal Manypack::Codec.new.with(option => usual), said
      assert_equal Manypack::Codec.new.with(option => usual).hash, said.hash
      assert_equal({ option => usual }, said.options)
      assert_equal said, Manypack::Codec.new(**said.options)
      refute_equal Manypack::Type[Object], Manypack::Type[Object].with(option => usual)
    end
    said, unsaid = [{ utf8: :accept }, {}].map { |options| Manypack::Codec.new(**options) }
    assert_equal "\xFF", said.with(untrusted: true).unpack("\xA1\xFF")
    assert_raises(Manypack::MalformedFormatError) { unsaid.with(untrusted: true).unpack("\xA1\xFF") }
  end

  def test_a_codec_equals_nothing_else
    [nil, 1, {}, Manypack::Codec, @factory, @factory.codec.inspect].each { |other| refute_equal @factory.codec, other }
  end

  def test_equality_and_hash_call_nothing_of_a_programs_class
    klass = Class.new
    codecs = Array.new(2) { codec_with({ 1 => klass, 2 => Range }, :to_s) }
    %i[hash == eql? inspect].each { |name| klass.define_singleton_method(name) { |*| raise "called #{name}" } }
    assert_equal codecs[0].hash, codecs[1].hash
    assert_operator codecs[0], :==, codecs[1]
  end

  def test_other_ractors_compare_codecs
    codec = @factory.codec
    assert_equal [true, false, codec.hash], in_ractor(codec) { |shared| [shared.with(freeze: false) == shared.with(freeze: false), shared == Manypack::Codec.new, shared.hash] }
  end

  def test_what_is_no_option
    codec = Manypack::Codec.new
    error = assert_raises(ArgumentError) { codec.with(max_byte: 5) }
    assert_equal "unknown option max_byte, did you mean max_bytes?", error.message
    error = assert_raises(ArgumentError) { codec.with("max_bytes" => 5) }
    assert_equal 'unknown option "max_bytes", options are Symbols: max_bytes:', error.message
    [{ max_bytes: 5 }, nil, 5].each { |positional| assert_raises(ArgumentError) { codec.with(positional) } }
    assert_raises(RangeError) { codec.with(max_depth: 0) }
    assert_raises(TypeError) { codec.with(max_bytes: "5") }
    assert_raises(ArgumentError) { codec.with(utf8: :lax) }
  end

  # Strict there, too, as all of Codec: the msgpack gem has none.
  def test_of_a_factory_of_the_drop_in
    assert_program <<~'RUBY', "ok"
      require "manypack/drop_in"
      codec = MessagePack::DefaultFactory.codec(max_bytes: 5).with(symbolize_keys: true)
      raise codec.inspect unless codec.inspect == "#<Manypack::Codec symbolize_keys: true, max_bytes: 5>"
      raise unless codec.unpack("\x81\xA1a\x01".b) == { a: 1 }
      begin
        codec.with(max_byte: 5)
        raise "nothing raised"
      rescue ArgumentError => e
        raise unless e.message == "unknown option max_byte, did you mean max_bytes?"
      end
      puts "ok"
    RUBY
  end

  private

  def codec_with(classes, packer)
    factory = Manypack::Factory.new
    classes.each { |type, klass| factory.register_type(type, klass, packer: packer, unpacker: nil) }
    factory.codec
  end
end

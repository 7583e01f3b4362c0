# frozen_string_literal: true

# Every error that packing raises says where the object is, however many calls of user code are around it.
require "test_helper"
require "support/writing"

class PackingPathTest < Minitest::Test
  include CorePart

  Foreign = Class.new(Writing)

  Holder = Struct.new(:value)
  Other = Struct.new(:value)
  LATIN = "\x81".dup.force_encoding("Windows-1252").freeze
  RECORD = Manypack::Record.new(Holder, value: [Manypack::Record.new(Other, value: Object)])

  def self.factory
    Manypack::Factory.new.tap do |factory|
      factory.register_type(1, Holder, packer: ->(holder) { holder.value.call }, unpacker: ->(_) {})
      factory.register_type(2, Other, packer: ->(other, packer) { packer.write(other.value) }, unpacker: ->(_) {}, recursive: true)
    end
  end
  FACTORY = factory

  # Objects that cannot be packed at "$", with the classes of their errors.
  FAILING = {
    text: [LATIN, EncodingError],
    bytes: ["\xFF".dup.force_encoding("UTF-16LE"), EncodingError],
    symbol: [LATIN.to_sym, EncodingError],
    integer: [1 << 64, RangeError],
    object: [BasicObject.new, NoMethodError],
    ext_type: [Manypack::ExtensionValue.new("a", ""), TypeError],
    ext_range: [Manypack::ExtensionValue.new(128, ""), RangeError],
    ext_payload: [Manypack::ExtensionValue.new(1, 2), TypeError],
    returned: [Holder.new(-> { 1 }), TypeError],
    raised: [Holder.new(-> { Manypack.pack(1 << 64) }), RangeError],
    recursive: [Other.new(1 << 64), RangeError],
    written: [Foreign.new {}, ArgumentError]
  }.freeze

  # Values around it, and its path in them.
  AROUND = {
    "$" => ->(value) { value },
    "$.a[1]" => ->(value) { { "a" => [0, value] } },
    "$.a[1].b" => ->(value) { { "a" => [0, Foreign.new { |packer| packer.write({ "b" => value }) }] } },
    "$[0][1].c" => ->(value) { [Foreign.new { |packer| packer.write_array_header(2).write(0).write_map_header(1).write("c").write(value) }] },
    "$.r[2]" => ->(value) { { "r" => Other.new([0, 1, value]) } },
    "$.h.i" => ->(value) { { "h" => Holder.new(-> { FACTORY.dump({ "i" => value }) }) } },
    "$.s.t.u[0]" => ->(value) { { s: Foreign.new { |packer| packer.write({ t: Foreign.new { |inner| inner.write({ u: [value] }) } }) } } }
  }.freeze

  FAILING.each do |name, (value, kind)|
    AROUND.each do |path, around|
      next if FEW_CASES && name != :recursive && !%w[$ $.s.t.u[0]].include?(path) # the frames around are the same

      define_method("test_#{name}_at_#{path}") do
        object = around.call(value)
        [-> { FACTORY.dump(object) }, -> { FACTORY.packer.write(object) }].each do |packing|
          error = assert_raises(kind) { exercise(&packing) }
          assert_equal path, first_line(error)[/.*, at ([^;]*)/, 1], error.message
          assert_equal 1, error.message.scan(", at ").size, error.message
        end
      end
    end
  end

  def test_the_parts_of_a_time
    klass = Class.new(Time) { def tv_nsec = Manypack.pack({ "n" => 1 << 64 }) }
    factory = Manypack::Factory.new
    factory.register_type(-1, klass, packer: Manypack::Time::Packer)
    [-> { Manypack.pack({ "t" => [klass.now] }, timestamp: true) }, -> { factory.dump({ "t" => [klass.now] }) }].each do |packing|
      assert_match(/, at \$\.t\[0\]\.n; register_common/, assert_raises(RangeError, &packing).message)
    end
  end

  def test_keys
    [LATIN, LATIN.to_sym].each do |key|
      error = assert_raises(EncodingError) { Manypack.pack([{ key => 1 }]) }
      assert_match(/, at \$\[0\]\["\\x81"\]\z/, error.message)
    end
  end

  # Errors of Packer methods have a path only inside to_msgpack.
  ARGUMENTS = {
    write_int: ["a"], write_float: ["a"], write_float32: ["a"], write_string: [1], write_bin: [LATIN], write_array: [1],
    write_hash: [nil], write_symbol: ["a"], write_array_header: ["a"], write_map_header: [-1], write_bin_header: [1 << 32],
    write_ext: [128, ""], write_extension: [1]
  }.freeze

  ARGUMENTS.each do |method, arguments|
    define_method("test_#{method}") do
      error = assert_raises(StandardError) { Manypack::Packer.new.public_send(method, *arguments) }
      refute_includes error.message, ", at"
      writing = Foreign.new { |packer| packer.write_map_header(1).write("m").public_send(method, *arguments) }
      inside = assert_raises(error.class) { exercise { Manypack.pack({ "x" => [writing] }) } }
      assert_equal "#{error.message}, at $.x[0].m", inside.message
    end
  end

  def test_a_record
    error = assert_raises(::TypeError) { RECORD.dump(Holder.new([Other.new(2), 1])) }
    assert_equal "expected PackingPathTest::Other, got Integer, at $.value[1]", error.message
    nested = Foreign.new { |packer| packer.write_bin(RECORD.dump(Holder.new([1]))) }
    error = assert_raises(::TypeError) { Manypack.pack({ "x" => nested }) }
    assert_match(/, at \$\.x\.value\[0\]\z/, error.message)
  end

  Checked = Struct.new(:value, :rest)
  Manypack::Record.new(Checked, value: [String], rest: Hash).with(unknown: { into: :rest }, max_string_bytes: 5, check: true).attach

  # What an attached Record refuses when it has packed the object, and its path in that.
  REFUSED = {
    Checked.new(nil) => ["$.value", Manypack::RecordError], Checked.new([nil]) => ["$.value[0]", Manypack::RecordError],
    Checked.new(["a", 1]) => ["$.value[1]", Manypack::RecordError], Checked.new(["longer"]) => ["$.value[0]", Manypack::LimitError],
    Checked.new([], [1]) => ["$", TypeError], Checked.new([], { "value" => 1 }) => ["$.value", ArgumentError]
  }.freeze

  REFUSED.each do |object, (path, kind)|
    define_method("test_an_attached_record_refuses_#{object.to_a}") do
      outer = path.sub("$", "$.x[0]")
      [-> { Manypack.pack({ "x" => [object] }) }, -> { Manypack::Packer.new.write({ "x" => [object] }) },
       -> { Manypack::View.new("\x81\xA1x\x90").splice("$.x" => [object]) }, -> { Manypack.pack({ "x" => [object] }, canonical: true) }].each do |packing|
        error = assert_raises(kind, &packing)
        assert_equal outer, error.path if error.is_a?(Manypack::DecodeError)
        assert_match(/, at #{Regexp.escape(outer)}(,|\z)/, error.message)
      end
      assert_match(/, at #{Regexp.escape(path)}(,|\z)/, assert_raises(kind) { object.dump }.message) if kind != Manypack::LimitError
    end
  end

  def test_values_for_splice
    view = Manypack::View.new(Manypack.pack({ "a" => [1, 2], "m" => {} }))
    { "$.a[0]" => "$.a[0].k", "$.a[2]" => "$.a[2].k", "$.m.new" => "$.m.new.k" }.each do |path, place|
      FAILING.slice(:text, :symbol, :integer, :object, :written).each_value do |value, kind|
        error = assert_raises(kind) { view.splice(path => { "k" => value }) }
        assert_equal place, first_line(error)[/, at ([^;]*)/, 1]
      end
    end
  end

  def test_canonical_refusals
    { { "a" => [{ [:k] => 1, ["k"] => 2 }] } => "$.a[0]", { "b" => { Float::NAN => 1 } } => "$.b" }.each do |value, path|
      error = assert_raises(ArgumentError) { Manypack.pack(value, canonical: true) }
      assert_match(/, at #{Regexp.escape(path)}\z/, error.message)
    end
    error = assert_raises(EncodingError) { Manypack.pack({ "c" => ["\xFF"] }, canonical: true) }
    assert_match(/, at \$\.c\[0\]\z/, error.message)
  end

  def test_errors_of_user_code_stay_as_they_are
    error = assert_raises(IOError) { Manypack.pack([Foreign.new { raise IOError, "theirs" }]) }
    assert_equal "theirs", error.message
  end

  def test_the_receiver_stays
    object = Class.new.new
    error = assert_raises(NoMethodError) { Manypack.pack([Foreign.new { |packer| packer.write([object]) }]) }
    assert_same object, error.receiver
  end

  def test_the_path_in_a_message_is_bounded
    value = 40.times.inject(1 << 64) { |inner, _| { "k\e" * 100 => Foreign.new { |packer| packer.write(inner) } } }
    error = assert_raises(RangeError) { Manypack.pack(value) }
    assert_operator error.message.bytesize, :<, 1_000
    assert_match(/, at \$\["k.*\.\.\..*\]; register_common/, error.message)
  end
end

# frozen_string_literal: true

# A View answers what the unpacked object would, and refuses what unpacking refuses.
require "test_helper"
require "interop/random_graph"

class ViewContractTest < Minitest::Test
  View = Manypack::View
  Path = Manypack::Path
  SEEDS = 15
  OPTIONS = [{}, { symbolize_keys: true }, { duplicate_keys: :last }, { symbolize_keys: true, duplicate_keys: :last },
             { check: true }, { freeze: true }, { shareable: true }].freeze

  # A random message without equal keys, which Strings of different encodings become when they are packed.
  def random_message(seed)
    ext = ->(type, payload) { Manypack::ExtensionValue.new(type, payload) }
    pack(unpack(pack(RandomGraph.new(Random.new(seed), ext: ext).graph), allow_unknown_ext: true))
  end

  # An object as text, with the bits of floats and the encodings of Strings.
  def text(obj)
    case obj
    when Float then [obj].pack("G").unpack1("H*")
    when String, Symbol then "#{obj.class} #{obj.encoding} #{obj.to_s.b.inspect}"
    when Array then "[#{obj.map { |element| text(element) }.join(",")}]"
    when Hash then "{#{obj.map { |pair| pair.map { |part| text(part) }.join("=>") }.join(",")}}"
    else obj.inspect
    end
  end

  def assert_same_value(expected, actual, message)
    case expected
    when Array, Hash then assert_instance_of View, actual, message
    end
    actual = actual.value if actual.is_a?(View)
    assert_equal text(expected), text(actual), message
  end

  # --- answers --------------------------------------------------------------------------------------------

  OPTIONS.each do |options|
    define_method("test_a_view_answers_as_the_object_does_with_#{options}") do
      SEEDS.times do |seed|
        binary = random_message(seed)
        options = { allow_unknown_ext: true, **options }
        obj = unpack(binary, **options.except(:check))
        v = View.new(binary, **options)
        assert_equal text(obj), text(v.value), seed
        assert_equal binary, v.bytes
        compare(obj, v, seed) if [Array, Hash].include?(obj.class)
      end
    end
  end

  def compare(obj, view, seed)
    assert_equal obj.size, view.size, seed
    obj.is_a?(Array) ? compare_array(obj, view, seed) : compare_hash(obj, view, seed)
  end

  def compare_array(obj, view, seed)
    (-obj.size - 1..obj.size).each { |i| assert_same_value obj[i], view[i], [seed, i] }
    view.each_with_index { |element, i| compare_part(obj[i], element, [seed, i]) }
    assert_equal obj.size, view.each.to_a.size
  end

  def compare_hash(obj, view, seed)
    assert_equal text(obj.keys), text(view.keys), seed
    assert_equal text(obj.keys), text(view.to_h.keys), seed
    obj.each do |key, value|
      assert view.key?(key), [seed, key].inspect
      assert_same_value value, view[key], [seed, key]
      assert_same_value value, view.dig(key), [seed, key]
      assert_same_value value, view.fetch(key), [seed, key]
    end
    view.zip(obj) { |(key, value), (same, other)| assert_equal(text(same), text(key)) && compare_part(other, value, seed) }
  end

  def compare_part(obj, part, seed)
    assert_same_value obj, part, seed
    compare(obj, part, seed) if part.is_a?(View)
  end

  # --- paths ----------------------------------------------------------------------------------------------

  # Objects by the steps that lead to them, without those of which no path can speak.
  def places(obj, steps = [], found = {})
    found[steps] = obj
    pairs = case obj
            when Array then obj.each_with_index.map { |element, i| [i, element] }
            when Hash then obj.select { |key, _| sayable?(key) }
            else []
            end
    pairs.each { |step, inner| places(inner, [*steps, step], found) }
    found
  end

  def sayable?(key) = key.is_a?(Integer) || (key.is_a?(String) && key.encoding == Encoding::UTF_8 && key.valid_encoding?)

  def match(obj, steps)
    return [obj] if steps.empty?

    step, *rest = steps
    inner = if step == Path::ALL then { Array => obj, Hash => (obj.values if obj.is_a?(Hash)) }[obj.class] || []
            elsif obj.is_a?(Hash) then obj.key?(step) ? [obj[step]] : []
            elsif obj.is_a?(Array) && step.is_a?(Integer) then step.between?(-obj.size, obj.size - 1) ? [obj[step]] : []
            else []
            end
    inner.flat_map { |value| match(value, rest) }
  end

  def values(found) = found.map { |value| text(value.is_a?(View) ? value.value : value) }

  [{}, { duplicate_keys: :last }, { check: true }].each do |options|
    define_method("test_a_path_finds_what_the_object_has_with_#{options}") do
      random = Random.new(1)
      SEEDS.times do |seed|
        binary = random_message(seed)
        options = { allow_unknown_ext: true, **options }
        obj = unpack(binary, allow_unknown_ext: true)
        places(obj).keys.sample(30, random: random).each do |steps|
          wild = steps.map { |step| random.rand(3).zero? ? Path::ALL : step }
          [steps, wild].each do |some|
            path = Path.of(*some)
            assert_equal some, path.steps
            assert_equal values(match(obj, some)), values(path.to_a(binary, **options)), "#{seed} #{path}"
          end
        end
      end
    end
  end

  # Maps whose keys may come twice, so that a path has to choose.
  def test_paths_views_and_unpack_agree_on_equal_keys
    random = Random.new(2)
    200.times do |seed|
      binary = twice(random, 3)
      obj = unpack(binary)
      v = View.new(binary, duplicate_keys: :last)
      %w[a b a.b b.a a.a.a b.a.b].each do |names|
    steps = names.split(".")
        assert_equal values(match(obj, steps)), values(Path.of(*steps).to_a(v)), [seed, names]
        rows = "\x93".b + binary * 3
        assert_equal values(match(obj, steps) * 3), values(Path.of(Path::ALL, *steps).to_a(rows, duplicate_keys: :last))
      end
    end
  end

  def twice(random, levels)
    return [random.rand(100)].pack("C") if levels.zero?

    count = random.rand(4)
    pairs = Array.new(count) { ["a1", %w[61 62].sample(random: random)].join.then { |hex| bytes(hex) } + twice(random, levels - 1) }
    [0x80 | count].pack("C") + pairs.join
  end

  # --- refusals -------------------------------------------------------------------------------------------

  REFUSING = [{}, { allow_unknown_ext: true }, { utf8: :strict }, { symbolize_keys: true }, { timestamp: true }, { untrusted: true },
              { timestamp: true, untrusted: true, allow_unknown_ext: true }, { untrusted: true, allow_unknown_ext: true }, { max_depth: 2 }, { max_objects: 20 },
              { max_map_size: 2 }, { max_array_size: 2 }, { max_string_bytes: 4 }, { max_ext_bytes: 4 }, { max_bytes: 40 },
              { duplicate_keys: :last }, { freeze: true }, { shareable: true }].freeze

  MESSAGES = ["93 01 a2 61 62 c3", "82 a1 61 01 a1 61 02", "82 01 c0 cc 01 c0", "81 a1 ff 01", "91 a2 c3 28", "c1", "90 90",
              "d6 ff 00 00 00 01", "d7 ff ff ff ff ff 00 00 00 00", "c7 05 ff 00 00 00 00 00", "c7 0c ff 00 00 00 00 80 00 00 00 00 00 00 00",
              "81 d6 ff 00 00 00 01 01", "82 d4 05 00 01 d4 05 00 02", "81 ca 7f c0 00 00 01", "82 90 01 90 02", "82 81 01 02 01 03 04",
              "81 91 91 91 91 01 02", "91 91 91 91 90", "dd ff ff ff ff 01", "df ff ff ff ff 01 01", "db ff ff ff ff", "c9 ff ff ff ff 05",
              "82 a1 61 01 c4 01 61 02", "82 a2 c3 a9 01 c4 02 c3 a9 02", "83 00 01 cb 80 00 00 00 00 00 00 00 01 ca 00 00 00 00 01",
              "91 c4 02 c3 28", "81 c4 01 ff 01", "94 01 02 03 94 01 02 03 04"].map { |hex| [hex.delete(" ")].pack("H*") }.freeze

  def outcome
    yield
    :accepted
  rescue Manypack::DecodeError => e
    [e.class, e.offset, e.message]
  end

  def assert_refuses_alike(binary, options)
    strict = options.key?(:duplicate_keys) ? options : { **options, duplicate_keys: :error }
    expected = outcome { unpack(binary, **strict) }
    assert_equal expected, outcome { View.new(binary, check: true, **options) }, "#{hex(binary)} with #{options}"
  end

  def test_check_refuses_what_unpack_refuses
    MESSAGES.product(REFUSING) { |binary, options| assert_refuses_alike(binary, options) }
  end

  def test_check_refuses_each_truncation_and_extra_bytes
    SEEDS.times do |seed|
      binary = random_message(seed).byteslice(0, 300)
      options = REFUSING[seed % REFUSING.size]
      (1...binary.bytesize).step(binary.bytesize > 100 ? 7 : 1) { |n| assert_refuses_alike(binary.byteslice(0, n), options) }
      assert_refuses_alike("#{random_message(seed)}\x00".b, options)
    end
  end

  def test_check_refuses_replaced_bytes_as_unpack_does
    random = Random.new(3)
    SEEDS.times do |seed|
      binary = random_message(seed)
      [*0...binary.bytesize].sample(40, random: random).each do |at|
        [0xc1, random.rand(256), [0x80, 0x90, 0xca, 0xd4, 0xdd, 0xdf].sample(random: random)].each do |byte|
          changed = binary.dup
          changed.setbyte(at, byte)
          assert_refuses_alike(changed, REFUSING.sample(random: random))
        end
      end
    end
  end

  def test_options_that_refuse_check_without_being_told
    checking = REFUSING.select { |options| (options.keys & %i[utf8 untrusted max_objects max_map_size shareable]).any? }
    MESSAGES.product(checking) do |binary, options|
      assert_equal outcome { unpack(binary, **options) }, outcome { View.new(binary, **options) }, "#{hex(binary)} with #{options}"
    end
  end
end

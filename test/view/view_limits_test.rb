# frozen_string_literal: true

# All methods of Views have the limits of unpacking for nesting and for keys, and no stricter ones.
require "test_helper"
require "stringio"
require "set"

class ViewLimitsTest < Minitest::Test
  include CorePart

  View = Manypack::View
  Type = Manypack::Type
  NAN = "\xCB\x7F\xF8\0\0\0\0\0\0".b
  Row = Struct.new(:v)

  # --- nesting --------------------------------------------------------------------------------------------

  # Each method looks at the whole message.
  WHOLE = {
    "unpack" => ->(bytes, opts) { Manypack.unpack(bytes, **opts) },
    "Codec#unpack of an io" => ->(bytes, opts) { Manypack::Codec.new(**opts).unpack(StringIO.new(bytes)) },
    "Unpacker#read" => ->(bytes, opts) { Manypack::Unpacker.new(**opts).feed(bytes).read },
    "Unpacker#skip" => ->(bytes, opts) { Manypack::Unpacker.new(**opts).feed(bytes).skip },
    "Unpacker, as: :view" => ->(bytes, opts) { Manypack::Unpacker.new(as: :view, **opts).feed(bytes).read.value },
    "split" => ->(bytes, opts) { Manypack.split(bytes, as: :view, **opts).map(&:bytes) },
    "Type#load" => ->(bytes, opts) { Type[Object].with(**opts).load(bytes) },
    "Type#load of a View" => ->(bytes, opts) { Type[View].with(**opts).load(bytes).bytes },
    "Type#load of a frozen View" => ->(bytes, opts) { Type[View].with(freeze: true, **opts).load(bytes).bytes },
    "View#as" => ->(bytes, opts) { View.new(bytes, **opts).as(Type[Object].with(**opts)) },
    "Path" => ->(bytes, opts) { Manypack::Path.new("$").first(bytes, **opts).bytes },
    "View.new, check: true" => ->(bytes, opts) { View.new(bytes, check: true, **opts) },
    "View.new, freeze: true" => ->(bytes, opts) { View.new(bytes, freeze: true, **opts) },
    "View.new, shareable: true" => ->(bytes, opts) { View.new(bytes, shareable: true, **opts) },
    "View.new, untrusted: true" => ->(bytes, opts) { View.new(bytes, untrusted: true, **{ max_depth: 128 }, **opts) },
    "View#==" => ->(bytes, opts) { View.new(bytes, **opts) == View.new(bytes.dup, **opts) },
    "View#splice" => ->(bytes, opts) { View.new(bytes, **opts).splice("x" => View::REMOVED, "[9]" => View::REMOVED).bytes },
    "Manypack.pack" => ->(bytes, opts) { Manypack.pack(View.new(bytes, **opts)) },
    "dup" => ->(bytes, opts) { View.new(bytes, **opts).dup.bytes },
    **%i[value bytes bytesize hash freeze detach canonical? to_msgpack].to_h do |name|
      ["View##{name}", ->(bytes, opts) { View.new(bytes, **opts).public_send(name) }]
    end
  }.freeze

  # Messages of n nested containers. Long ones have an Index.
  DEEP = {
    "arrays" => ->(depth) { "\x91".b * depth + "\x01".b },
    "maps" => ->(depth) { "\x81\xA1a".b * depth + "\x01".b },
    "arrays in a long message" => ->(depth) { "\x92\xC0".b * (depth - 1) + "\x91\xDA\x02\x58".b + "s" * 600 },
    "maps in a very long message" => ->(depth) { "\x82\xA1b\xC0\xA1a".b * (depth - 1) + "\x91\xDB\x00\x01\x5F\x90".b + "s" * 90_000 }
  }.freeze

  # Not exercised: the tests of nesting pass some 1,500 messages through the methods, too many for `rake test:gc`.
  def taken?
    yield
    true
  rescue Manypack::StackError, Manypack::LimitError, Manypack::MalformedFormatError
    false
  end

  [1, 2, 3, 128, nil].each do |limit|
    define_method("test_all_fronts_take_messages_that_are_#{limit || "by_default_128"}_deep_and_no_deeper") do
      depth = limit || 128
      [depth - 1, depth, depth + 1].reject(&:zero?).product(DEEP.to_a, WHOLE.to_a) do |deep, (kind, message), (front, look)|
        assert_equal deep <= depth, taken? { look.call(message.call(deep), { max_depth: limit }.compact) }, "#{front}, #{kind}: #{deep}"
      end
    end
  end

  # Each method opens as many containers as there are keys, one inside the other.
  STEPS = {
    "Manypack.dig" => ->(bytes, keys, opts) { Manypack.dig(bytes, *keys, **opts) },
    "View#dig" => ->(bytes, keys, opts) { View.new(bytes, **opts).dig(*keys) },
    "View#dig, indexed" => ->(bytes, keys, opts) { View.new(bytes, **opts).then { |view| Array.new(3) { view.dig(*keys) }.last } },
    "View#dig_many" => ->(bytes, keys, opts) { View.new(bytes, **opts).dig_many(keys)[0] },
    "View#query" => ->(bytes, keys, opts) { View.new(bytes, **opts).query(keys)[0] },
    "Path#first" => ->(bytes, keys, opts) { Manypack::Path.of(*keys).first(bytes, **opts) },
    "Path#count" => ->(bytes, keys, opts) { Manypack::Path.of(*keys).count(bytes, **opts) },
    "Path#first of a stream" => ->(bytes, keys, opts) { Manypack::Path.of(*keys).first(StringIO.new(bytes), **opts) },
    "Path#to_a of all" => ->(bytes, keys, opts) { Manypack::Path.new("$#{"[*]" * keys.size}").to_a(bytes, **opts) },
    "Path.all" => ->(bytes, keys, opts) { Manypack::Path.all(a: keys, b: "$.b").read(bytes, **opts) },
    "Path.all, twice" => ->(bytes, keys, opts) { Manypack::Path.all(a: keys, b: keys).read(bytes, **opts) },
    "Path.all of all" => ->(bytes, keys, opts) { Manypack::Path.all(a: "$#{"[*]" * keys.size}", b: "$#{"[*]" * keys.size}").read(bytes, **opts) },
    "View#splice" => ->(bytes, keys, opts) { View.new(bytes, **opts).splice(keys => 2) }
  }.freeze

  [1, 2, 3, 128, nil].each do |limit|
    define_method("test_steps_through_#{limit || "by_default_128"}_levels_and_no_more") do
      depth = limit || 128
      [depth - 1, depth, depth + 1].reject(&:zero?).product(DEEP.to_a.take(3), STEPS.to_a) do |deep, (kind, message), (front, look)|
        keys = kind == "maps" ? ["a"] * deep : [kind == "arrays" ? 0 : 1] * (deep - 1) << 0
        assert_equal deep <= depth, taken? { look.call(message.call(deep), keys, { max_depth: limit }.compact) }, "#{front}, #{kind}: #{deep}"
      end
    end
  end

  def test_an_empty_container_is_no_level_for_a_step
    assert_nil Manypack.dig("\x91\x90".b, 0, 0, max_depth: 1)
    assert_nil Manypack::Path.new("$[0][0]").first("\x91\x90".b, max_depth: 1)
    assert_equal({ a: [], b: [] }, Manypack::Path.all(a: "$[0][0]", b: "$[0][0]").read("\x91\x90".b, max_depth: 1))
    assert_raises(Manypack::StackError) { exercise { Manypack.dig("\x91\x91\x01".b, 0, 0, max_depth: 1) } }
  end

  def test_dig_refuses_a_value_that_is_nested_too_deeply_where_unpack_does
    bytes = Manypack.pack({ "a" => [nil, { "b" => 1 }] })
    blamed = [-> { Manypack.unpack(bytes, max_depth: 2) }, -> { Manypack.dig(bytes, "a", max_depth: 2) },
              -> { View.new(bytes, max_depth: 2).dig("a") }].map { |way| assert_raises(Manypack::StackError, &way) }
    assert_equal [5], blamed.map(&:offset).uniq
  end

  # --- keys -----------------------------------------------------------------------------------------------

  FACTORY = Manypack::Factory.new.tap { |factory| factory.register_common(:set) }

  # Each method makes or hashes all keys of the map in an array.
  KEYS = {
    "unpack" => ->(bytes) { Manypack.unpack(bytes) },
    "unpack of a key twice" => ->(bytes) { Manypack.unpack(bytes, duplicate_keys: :last) },
    "Codec#unpack of an io" => ->(bytes) { Manypack::Codec.new.unpack(StringIO.new(bytes)) },
    "Unpacker#read" => ->(bytes) { Manypack::Unpacker.new.feed(bytes).read },
    "bytes one by one" => ->(bytes) { Manypack::Unpacker.new.then { |u| bytes.each_char { |char| u.feed(char) } && u.read } },
    "View.new, check: true" => ->(bytes) { View.new(bytes, check: true, duplicate_keys: :last) },
    "View.new, shareable: true" => ->(bytes) { View.new(bytes, shareable: true) },
    "View#value" => ->(bytes) { View.new(bytes).value },
    "View#value of a part" => ->(bytes) { View.new(bytes)[0].value },
    "View#as" => ->(bytes) { View.new(bytes).as(Type[[Object]]) },
    "View#as of a part" => ->(bytes) { View.new(bytes)[0].as(Type[Object]) },
    "Type#load" => ->(bytes) { Type[Object].load(bytes) },
    "a field of a Record" => ->(bytes) { Manypack::Record.new(Row, v: Object).array.load(bytes) },
    "View#to_h" => ->(bytes) { View.new(bytes)[0].to_h },
    "View#to_h of the last of equal keys" => ->(bytes) { View.new(bytes, duplicate_keys: :last)[0].to_h },
    "View#to_h of a frozen View" => ->(bytes) { View.new(bytes, freeze: true)[0].to_h },
    "View#to_h with a block" => ->(bytes) { View.new(bytes)[0].to_h { |key, value| [key, value] } },
    "a pattern" => lambda do |bytes|
      View.new(bytes)[0] => { **rest }
      rest
    end,
    "View#group_by" => ->(bytes) { View.new(bytes)[0].group_by(&:first) },
    "View#uniq" => ->(bytes) { View.new(bytes)[0].uniq(&:first) },
    "View#to_set" => ->(bytes) { View.new(bytes)[0].to_set(&:first) }
  }.freeze

  # A map of different keys with the same hash.
  def same_hashes(key, count) = "\x91\xDE".b + [count].pack("n") + (key + "\x01".b) * count

  def outcome
    yield
    :taken
  rescue Manypack::DecodeError => e
    [e.class, e.offset, e.message, e.path]
  end

  # What comes of such a map: a key that is an array has a lower limit.
  def limited(key, count)
    limit = key.start_with?("\x91".b) ? 4 : 16
    return :taken if count <= limit

    size = same_hashes(key, count).bytesize
    [Manypack::LimitError, size, "max_same_hash is #{limit}, but the input has a map with at least #{limit + 1} " \
                                 "different keys that have the same hash, at byte #{size}", nil]
  end

  KEYS.each do |front, look|
    define_method("test_keys_with_the_same_hash_by_#{front.tr(" ", "_")}") do
      [[NAN, 16], [NAN, 17], ["\xCA\x7F\xC0\0\0".b, 17], ["\x91".b + NAN, 4], ["\x91".b + NAN, 5]].each do |key, count|
        assert_equal limited(key, count), outcome { exercise { look.call(same_hashes(key, count)) } }, count
      end
      assert_equal limited(NAN, 300), outcome { look.call(same_hashes(NAN, 300)) }
    end
  end

  def test_elements_of_an_array_that_have_the_same_hash
    %i[uniq tally to_set].each do |method|
      [16, 17, 1_000].each do |count|
        view = View.new(pack([Float::NAN] * count))
        assert_equal count <= 16 ? :taken : Manypack::LimitError, [*outcome { view.public_send(method) }].first, method
      end
      many = View.new(pack([1, "a", [2]] * 100))
      assert_equal 3, many.public_send(method).size
    end
    assert_equal({ true => [1, 3], false => [2] }, View.new(pack([1, 2, 3])).group_by(&:odd?))
    assert_equal [1, 2], View.new(pack([1, 2, 3])).uniq(&:odd?)
    assert_equal({ 1 => 5, 2 => 1 }, View.new(pack([1, 2, 1])).tally({ 1 => 3 }))
    assert_equal Set["1"], View.new(pack([1, 1])).to_set(&:to_s)
    assert_raises(ArgumentError) { View.new(pack([1, 1])).to_set(Set) } # as since Ruby 4.1
  end

  def test_a_set_has_the_limit_of_a_map
    [16, 17, 1_000].each do |count|
      packed = pack([Manypack::ExtensionValue.new(12, pack([Float::NAN] * count))])
      assert_equal count <= 16 ? :taken : [Manypack::LimitError, 1, "$[0]"], [*outcome { FACTORY.load(packed) }].values_at(0, 1, 3).compact.then { |one| one.size == 1 ? one[0] : one }
    end
  end

  # --- keys in keys ---------------------------------------------------------------------------------------

  def deep_key(depth) = "\x81".b + "\x91".b * depth + "\x01\x01".b

  def keys_in_keys(count) = (1..count).inject("\x91\x01".b) { |key, _| "\x81".b + key + "\x01".b }

  CANONICAL = {
    "canonical?" => ->(bytes) { Manypack.canonical?(bytes) or raise Manypack::StackError, "not canonical" },
    "canonicalize" => ->(bytes) { Manypack.canonicalize(bytes) },
    "View#canonical?" => ->(bytes) { View.new(bytes).canonical? or raise Manypack::StackError, "not canonical" },
    "pack, canonical: true" => lambda do |bytes|
      Manypack.pack(View.new(bytes), canonical: true)
    rescue ArgumentError => e
      raise Manypack::StackError, e.message
    end
  }.freeze

  KEYS.slice("unpack", "Codec#unpack of an io", "Unpacker#read", "View.new, check: true", "View#value", "Type#load").merge(CANONICAL).each do |front, look|
    define_method("test_container_keys_by_#{front.tr(" ", "_")}") do
      [1, 31, 32, 33, 60].each { |depth| assert_equal depth <= 32, taken? { exercise { look.call(deep_key(depth)) } }, depth }
      [1, 3, 4, 5, 9].each { |count| assert_equal count <= 4, taken? { exercise { look.call(keys_in_keys(count)) } }, count }
      assert taken? { exercise { look.call("\x81".b + "\x91".b * 31 + "\x90\x01".b) } }
      assert taken? { exercise { look.call("\x81\xA1k".b + "\x91".b * 100 + "\x01".b) } }
    end
  end
end

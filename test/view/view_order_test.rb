# frozen_string_literal: true

# Looks in any order find what unpacking would, take time in proportion to the message and their number, and need little
# memory.
require "test_helper"
require "objspace"
require "support/costs"

class ViewOrderTest < Minitest::Test
  include CorePart
  include Costs

  View = Manypack::View

  ORDERS = {
    forwards: ->(n) { (0...n).to_a }, backwards: ->(n) { (0...n).to_a.reverse }, negative: ->(n) { (1..n).map { |i| -i } },
    shuffled: ->(n) { (0...n).to_a.shuffle(random: Random.new(1)) }, zigzag: ->(n) { (0...n).map { |i| i.even? ? i / 2 : n - 1 - (i / 2) } },
    strided: ->(n) { (0...n).map { |i| i * 97 % n } }, twice: ->(n) { (0...n).flat_map { |i| [n - 1 - i, i] } },
  }.freeze

  ELEMENTS = {
    integers: ->(i) { i * 31 }, strings: ->(i) { "s" * (i % 40) }, rows: ->(i) { { "id" => i, "t" => ["x" * (i % 90)] } },
    mixed: ->(i) { i % 7 == 0 ? ["x" * (i % 90), [i]] : i },
  }.freeze

  ELEMENTS.each do |kind, element|
    ORDERS.each do |order, indices|
      define_method("test_#{kind}_are_found_#{order}") do
        [1, 33, 300].each do |size|
          array = Array.new(size, &element)
          bytes = pack([array, { "deep" => [array] }, 1])
          looks = indices.call(size)
          [View.new(bytes), View.new(bytes, freeze: true), View.new(bytes, check: true)].each do |view|
            assert_equal(array.values_at(*looks), looks.map { |i| value(view[0][i]) })
            assert_equal(array.values_at(*looks), looks.map { |i| value(view.dig(1, "deep", 0, i)) })
            assert_equal [array, nil, nil], [view[0].value, view[0][size], view[0][-size - 1]]
          end
        end
      end
    end
  end

  # One object for each way in which a head tells its size, or does not.
  SIZES = ["\x05", "\xFF", "\xC0", "\xC3", "\xCC\xFF", "\xCD\0\1", "\xCE\0\0\0\1", "\xCF\0\0\0\0\0\0\0\1", "\xD0\x80", "\xD1\xFF\0", "\xD2\xFF\0\0\0",
           "\xD3\x80\0\0\0\0\0\0\0", "\xCA\x3F\x80\0\0", "\xCB\x3F\xF0\0\0\0\0\0\0", "\xA0", "\xA2ab", "\xBF#{"s" * 31}", "\xD9\3abc", "\xDA\0\1c", "\xC4\2ab", "\x90",
           "\x80", "\x91\1", "\x81\1\2", "\xDC\0\1\1", "\xD4\1x", "\xD8\1#{"x" * 16}", "\xC7\3\1xyz"].map(&:b).freeze

  def test_elements_are_found_in_runs_of_one_size_and_between_them
    [1, 2, 7, 8, 9, 40].each do |run|
      heads = SIZES.cycle.first(run > 9 ? 28 : 84).flat_map { |head| [head] * run }
      bytes = "\xDC".b + [heads.size].pack("n") + heads.join
      array = Manypack.unpack(bytes, allow_unknown_ext: true)
      ORDERS.each_value do |indices|
        looks = indices.call(heads.size)
        [{}, { freeze: true }, { check: true }].each do |options|
          view = View.new(bytes.dup, allow_unknown_ext: true, **options)
          assert_equal(array.values_at(*looks), looks.map { |i| value(view[i]) })
        end
      end
    end
  end

  def test_places_take_half_as_many_bytes_as_the_smallest_elements
    view = View.new(pack([*Array.new(8) { [1] * 6_000 }, "x" * 10, [[0] * 70]]))
    8.times { |a| [5_999, 4_000, 5_000].each { |i| assert_equal 1, view[a][i] } }
    assert_operator index_size(view), :<, (8 * 6_000 / 2) + 1_000
  end

  def test_a_short_message_has_no_index
    [[1] * 500, (0...100).to_h { |i| [i, 1] }, Array.new(40) { |i| { "id" => i } }].each do |object|
      view = View.new(pack(object))
      50.times { |i| view[i] }
      assert_equal 0, index_size(view)
    end
  end

  # Looks write nothing into an Index, except that the first one for a key of a large map makes its table.
  def test_an_index_is_made_once
    view = View.new(pack({ "a" => [*0...5_000], "m" => (0...500).to_h { |i| ["key #{i}", i] }, "r" => Array.new(900) { |i| { "id" => i } } }))
    2.times { view["a"] }
    made = index_size(view)
    1_000.times { |i| assert_equal [4_999 - i, i, { "id" => i % 900 }], [view["a"][-1 - i], view["a"][i], view["r"][i % 900].value] }
    assert_equal made, index_size(view)
    view["m"]["key 1"]
    with_table = index_size(view)
    assert_operator with_table, :>, made
    500.times { |i| assert_equal i, view["m"]["key #{i}"] }
    assert_equal [with_table] * 2, [index_size(view), index_size(view.freeze)]
  end

  # A look costs the memory of the Index, whatever it is for: of arrays of the smallest elements half their bytes.
  def test_an_index_made_for_one_look_is_small
    bytes = pack([Array.new(50_000, 1), Array.new(50_000) { |i| "text #{i}" }])
    assert_operator index_size(View.new(bytes).tap { |view| view[0][-1] }), :<, bytes.bytesize / 10
  end

  # Each time from a copy of the bytes: a View of the same bytes would find the Index of the View before.
  def test_arrays_are_linear_in_any_order
    ORDERS.each_value do |indices|
      ELEMENTS.fetch_values(:integers, :rows).each do |element|
        assert_linear(1_000) do |size|
          bytes = pack(Array.new(size, &element))
          order = indices.call(size)
          -> { View.new(bytes + "").then { |view| order.each { |i| view[i] } } }
        end
      end
    end
  end

  def test_columns_are_linear_in_the_order_of_rows
    assert_linear(200) do |size|
      bytes = pack(Array.new(20) { Array.new(size) { |i| i } })
      -> { View.new(bytes + "").then { |view| size.times { |i| 20.times { |column| view[column][i] } } } }
    end
  end

  KEYS = {
    strings: ->(i) { "key #{i}" * (1 + (i % 5)) }, integers: ->(i) { (i * 3) - 500 }, floats: ->(i) { i / 4.0 },
    binaries: ->(i) { [i].pack("N") + ("x" * (i % 40)).b },
    mixed: ->(i) { [i, "s#{i}", i + 0.5, "\xFF#{i}".b, -1 - i][i % 5] }
  }.freeze

  KEYS.each do |kind, key|
    ORDERS.each do |order, indices|
      define_method("test_#{kind}_as_keys_are_found_#{order}") do
        [15, 100, 400].each do |size|
          map = Array.new(size) { |i| [key.call(i), i % 3 == 0 ? ["x" * (i % 90)] : i] }.to_h
          keys = map.keys.values_at(*indices.call(size))
          bytes = pack([map, { "deep" => [map] }, 1])
          [{}, { freeze: true }, { check: true }, { duplicate_keys: :last }].each do |options|
            view = View.new(bytes, **options)
            assert_equal(map.values_at(*keys), keys.map { |k| value(view[0][k]) })
            assert_equal(map.values_at(*keys), view.dig(1, "deep", 0).values_at(*keys).map { |found| value(found) })
            assert_equal([true], keys.map { |k| view[0].key?(k) }.uniq)
            assert_equal([nil], keys.map { |k| view[0][k.is_a?(String) ? "#{k}?" : k + 0.125] }.uniq)
          end
        end
      end
    end
  end

  def test_symbols_are_found_in_any_order
    map = Array.new(200) { |i| [:"key#{i}", i] }.to_h
    [{}, { freeze: true }].each do |options|
      view = View.new(pack(map), symbolize_keys: true, **options)
      assert_equal map.values.reverse, map.keys.reverse.map { |key| view[key] }
      assert_equal map.values, map.keys.map { |key| view[key.name] }
      view => { key100:, key0: }
      assert_equal [100, 0], [key100, key0]
    end
  end

  # Hash#[] compares a str and a bin of the same ASCII bytes as equal, and an Integer and a Float as different.
  def test_keys_that_look_alike_are_told_apart_as_in_a_hash
    map = Array.new(50) { |i| [i, "Integer"] }.to_h.merge(Array.new(50) { |i| [i.to_f, "Float"] }.to_h, { nil => 1, true => 2, false => 3 })
    view = View.new(pack(map))
    wanted = [*0...50, *(0...50).map(&:to_f), nil, true, false, "0", -0.0, Float::NAN, 1 << 64, :a, [1]]
    3.times { assert_equal wanted.map { |key| map[key] }, wanted.map { |key| view[key] } }
    text = View.new(pack(Array.new(50) { |i| ["k#{i}", i] }.to_h))
    3.times { assert_equal (0...50).to_a.reverse, 49.downto(0).map { |i| text["k#{i}".b] } }
  end

  # Each look answers as the first one did.
  def test_the_last_of_equal_keys_counts_in_every_look
    pairs = Array.new(100) { |i| pack("k#{i % 60}") + pack(i) }.join
    bytes = "\xDC\x00\x01\xDE\x00\x64".b + pairs
    last = [*60..99, *40..59]
    [{}, { duplicate_keys: :last }, { freeze: true }, { freeze: true, duplicate_keys: :last }].each do |options|
      view = View.new(bytes, **options)
      20.times { assert_equal last.reverse, 59.downto(0).map { |i| view[0]["k#{i}"] } }
      assert_raises(Manypack::MalformedFormatError) { view[0].splice("k3" => 1) }
    end
  end

  def test_keys_that_are_containers_or_exts_are_found_beside_others
    factory = Manypack::Factory.new
    factory.register_type(1, Class.new, unpacker: ->(body) { body.unpack1("C") })
    map = Array.new(100) { |i| [i % 10 == 0 ? [i] : i, i] }.to_h
    bytes = pack(map).sub("\xDE\x00\x64".b, "\xDE\x00\x65".b) + "\xD4\x01\xC8\x07".b
    view = Manypack.const_get(:Internal).view_over(bytes, factory.codec, false)
    10.times { assert_equal map.values.reverse, map.keys.reverse.map { |key| view[key] } }
    10.times { assert_equal [7, nil, nil], [view[200], view[201], view[[3]]] }
  end

  def test_maps_are_linear_in_any_order
    ORDERS.each_value do |indices|
      KEYS.fetch_values(:strings, :integers).each do |key|
        assert_linear(200) do |size|
          bytes = pack(Array.new(size) { |i| [key.call(i), i] }.to_h)
          keys = Array.new(size, &key).values_at(*indices.call(size))
          -> { View.new(bytes + "").then { |view| keys.each { |k| view[k] } } }
        end
      end
    end
  end

  def test_missing_keys_and_values_at_are_linear
    [->(view, keys) { keys.each { |key| view["#{key}?"] } }, ->(view, keys) { view["x"].values_at(*keys) },
     ->(view, keys) { keys.each { |key| view["x"].fetch(key) } }, ->(view, _) { view["x"].keys.each { |key| view.dig("x", key) } },
     ->(view, keys) { keys.each { |key| view["x"].key?(key) } }].each do |looks|
      assert_linear(500) do |size|
        keys = Array.new(size) { |i| "key #{i}" }
        bytes = pack({ "x" => keys.to_h { |key| [key, 1] } })
        -> { looks.call(View.new(bytes + ""), keys) }
      end
    end
  end

  # Keys whose signatures collide (core/key.c), and Integers at equal distances.
  def test_keys_of_a_stranger_do_not_collide
    ends = Array.new(8) { |i| "prefix__#{i}__postfix" }
    assert_linear(500) do |size|
      keys = Array.new(size) { |i| i.even? ? ends[i % 8].sub("__", format("%012d", i)) : i << 40 }
      bytes = pack(keys.to_h { |key| [key, 1] })
      -> { View.new(bytes + "").then { |view| keys.reverse_each { |key| view[key] } } }
    end
  end

  def test_a_map_that_ends_early_is_an_error_whatever_key_is_asked_for
    bytes = pack([Array.new(300) { |i| ["k#{i}", i] }.to_h]).byteslice(0, 1_000)
    view = View.new(bytes)
    expected = assert_raises(Manypack::TruncatedError) { View.new(bytes)[0]["k299"] }.offset
    3.times do
      [100, 7, 0, 299].each { |i| assert_equal expected, assert_raises(Manypack::TruncatedError) { view[0]["k#{i}"] }.offset }
    end
  end

  def test_fresh_views_of_one_message_are_linear
    assert_linear(1_000) do |size|
      view = View.new(pack({ "a" => Array.new(size) { |i| [i] } }))
      -> { (1..size).each { |i| view["a"][-i][0] } }
    end
  end

  def test_memory_counts_and_is_bounded_by_that_of_the_message
    messages = [Array.new(50_000, 1), Array.new(50_000) { |i| [i, 1] }.to_h, Array.new(300) { |i| Array.new(100) { |j| [j, i] }.to_h },
                Array.new(1_000) { Array.new(33, 1) }, Array.new(20) { Array.new(3_000) { |i| [i] } }]
    messages.each do |message|
      view = View.new(pack(message))
      size = view.bytesize
      2.times { (1..[message.size, 9_000].min).each { |i| view[-i].then { |part| part.is_a?(View) && part.size.times { |j| part[-1 - j] } } } }
      assert_operator index_size(view), :<, (size * 1.5) + 1_000
      view.freeze
      assert_operator index_size(view), :<, (size * 1.5) + 1_000
    end
    view = View.new(pack(messages[0]))
    3.times { |i| view[-1 - i] }
    assert_operator index_size(view), :>, 50_000 / 8 * 4
  end

  def test_ractors_read_a_shared_view_in_any_order
    array = Array.new(2_000) { |i| i % 5 == 0 ? [i, "x" * 70] : i }
    map = Array.new(500) { |i| ["k#{i}", i] }.to_h
    view = Ractor.make_shareable(View.new(pack({ "a" => array, "m" => map })))
    found = Ractor.new(view) { |mine| 499.downto(0).map { |i| mine["m"]["k#{i}"] } }
    assert_equal map.values.reverse, found.respond_to?(:value) ? found.value : found.take
    ractors = Array.new(2) { |k| Ractor.new(view, k) { |mine, from| (1 + from..mine["a"].size).sum { |i| e = mine["a"][-i]; e.is_a?(Integer) ? e : e[0] } } }
    sums = ractors.map { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take }
    assert_equal [(0...2_000).sum, (0...1_999).sum], sums
  end

  # The fault comes to light where it is read, the same one each time; everything in front of it is found in any order.
  def test_an_array_that_ends_early_is_read_up_to_its_end
    array = Array.new(2_000) { |i| [i] }
    bytes = pack([array]).byteslice(0, 4_000)
    view = View.new(bytes)
    [900, 10, 1_999, 500, 1_500, 899, -1_999, 1_990].each do |i|
      expected = begin
        View.new(bytes)[0][i]&.value
      rescue Manypack::DecodeError => e
        [e.class, e.offset]
      end
      found = begin
        view[0][i]&.value
      rescue Manypack::DecodeError => e
        [e.class, e.offset]
      end
      assert_equal expected, found, i
    end
  end

  def test_tables_of_keys_under_a_collection_at_every_allocation
    map = Array.new(40) { |i| [i % 9 == 0 ? i : "k#{i}", ["x" * (i * 2)]] }.to_h
    exercise do
      view = View.new(pack(map))
      6.times { assert_equal map.values, view.values_at(*map.keys).map(&:value) }
      assert_equal map["k20"], value(view.freeze["k20"])
    end
  end

  def test_places_under_a_collection_at_every_allocation
    array = Array.new(400) { |i| i % 9 == 0 ? ["x" * 70] : i }
    exercise do
      view = View.new(pack(array))
      assert_equal array.last(3).reverse, [-1, -2, -3].map { |i| value(view[i]) }
      assert_equal array[40], value(view.freeze[40])
    end
  end

  private

  def value(found) = found.is_a?(View) ? found.value : found

  # Bytes of the Index of a message.
  def index_size(view)
    ObjectSpace.reachable_objects_from(view).grep(ObjectSpace::InternalObjectWrapper).sum { |index| ObjectSpace.memsize_of(index) }
  end
end

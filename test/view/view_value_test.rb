# frozen_string_literal: true

# A View as a whole: its type, bytes and value, what it equals, how it is packed and written as JSON, and a copy apart from
# its message.
require "test_helper"
require "view/views"
require "json"
require "objspace"

class ViewValueTest < Minitest::Test
  include CorePart
  include Views

  # --- the whole ----------------------------------------------------------------------------------------

  def test_type_has_the_words_of_the_specification
    types = { "80" => :map, "90" => :array, "a0" => :str, "c4 00" => :bin, "01" => :integer, "ff" => :integer,
              "cc 80" => :integer, "d0 80" => :integer, "ca 00 00 00 00" => :float, "c2" => :boolean, "c0" => :nil,
              "d4 05 00" => :ext }
    types.each { |hex, type| assert_equal type, raw(hex).type }
    assert_raises(Manypack::MalformedFormatError) { raw("c1").type }
  end

  def test_bytes_offset_and_value_of_a_part
    v = view(DOCUMENT)
    part = v["a"]["b"]
    assert_equal pack(DOCUMENT["a"]["b"]), part.bytes
    assert_equal part.bytes, pack(DOCUMENT).byteslice(part.offset, part.bytesize)
    assert_equal Encoding::BINARY, part.bytes.encoding
    assert_equal DOCUMENT["a"]["b"], part.value
    assert_equal [0, pack(DOCUMENT)], [v.offset, v.bytes]
    assert_raises(Manypack::TruncatedError) { raw("92 01").bytes }
    assert_equal "unexpected end of input, at byte 2", assert_raises(Manypack::TruncatedError) { raw("92 01").bytesize }.message
  end

  def test_views_of_the_same_bytes_are_equal
    a = view([[1, 2], [1, 2], [1, 3]])
    assert_equal a[0], a[1]
    assert a[0].eql?(a[1])
    assert_equal a[0].hash, a[1].hash
    assert_equal 2, [a[0], a[1], a[2]].uniq.size
    refute_equal a[0], a[2]
    assert_equal a, view([[1, 2], [1, 2], [1, 3]])
  end

  def test_views_are_equal_by_their_values
    one, other = raw("82 a1 61 01 a1 62 02"), raw("82 a1 62 cc 02 a1 61 01")
    assert_equal one, other
    assert one.eql?(other)
    assert_equal({ one => 5 }[other], 5)
    refute_equal one, view({ "a" => 1, "b" => 2 }, symbolize_keys: true)
    refute raw("91 01").eql?(raw("91 cb 3f f0 00 00 00 00 00 00"))
    assert_equal raw("91 01"), raw("91 cb 3f f0 00 00 00 00 00 00")
    assert_equal view(DOCUMENT, untrusted: true), view(DOCUMENT)
  end

  def test_a_view_is_equal_to_a_hash_or_an_array_of_its_value
    assert_equal view(DOCUMENT), DOCUMENT
    assert_equal view([1, [2]]), [1, [2]]
    assert_equal [1, [2]], view([1, [2]])
    refute_equal view([1]), { 0 => 1 }
    refute_equal view({ "a" => 1 }), { a: 1 }
    refute_equal view(5), 5
  end

  def test_value_takes_the_options_of_unpacking
    v = view({ "a" => { "b" => [1] } })
    assert_equal({ b: [1] }, v["a"].value(symbolize_keys: true))
    assert_predicate v.value(freeze: true)["a"], :frozen?
    assert_raises(Manypack::LimitError) { v.value(max_objects: 2) }
    assert_match(/did you mean max_bytes/, assert_raises(ArgumentError) { v.value(max_byte: 2) }.message)
    assert_match(/no effect on unpacking/, assert_raises(ArgumentError) { v.value(canonical: true) }.message)
  end

  def test_ranges_select_elements_as_in_an_array
    array = Array.new(10) { |i| [i] }
    v = view(array)
    [[2..4], [2...-1], [..2], [5..], [-3..], [20..], [10..], [3, 2], [-2, 5], [10, 1], [11, 1], [0, -1]].each do |arguments|
      assert_equal array[*arguments].inspect, v[*arguments]&.map(&:value).inspect, arguments.inspect
    end
    assert_equal [[9], [[8], [9]]], [v.last, v.last(2)]
    assert_nil view([]).last
    assert_nil view({ "a" => 1 })[1..2]
    assert_raises(ArgumentError) { view({ "a" => 1 })[1, 2] }
  end

  def test_a_path_finds_its_first_value
    v = view({ "a" => [{ "b" => 1 }, { "b" => 2 }] })
    assert_equal 1, v[Manypack::Path.new("$.a[*].b")]
    assert_nil v[Manypack::Path.new("$.x")]
    assert_equal 2, v["a"][Manypack::Path.new("$[1].b")]
  end

  def test_yaml_has_the_value_and_marshal_says_why_not
    require "yaml"
    assert_equal DOCUMENT, YAML.unsafe_load(view(DOCUMENT).to_yaml)
    assert_equal [1], YAML.unsafe_load(view([1]).to_yaml)
    assert_match(/View#bytes/, assert_raises(TypeError) { Marshal.dump(view([1])) }.message)
    assert_equal view([1]).inspect, "#{view([1])}"
  end

  def test_inspect_never_raises
    assert_equal "#<Manypack::View map of 5 at byte 0>", view(DOCUMENT).inspect
    assert_equal "#<Manypack::View nil at byte 0>", raw("c0").inspect
    ["c1", "dc", "d9"].each { |hex| assert_match(/\A#<Manypack::View .* byte 0>\z/, raw(hex).inspect) }
  end

  def test_a_view_packs_as_its_bytes
    part = raw("92 cc 01 02")
    assert_equal bytes("81 a1 62 92 cc 01 02"), Manypack.pack({ "b" => part })
    assert_raises(Manypack::TruncatedError) { Manypack.pack(raw("92 01")) }
  end

  def test_views_pack_wherever_objects_do
    row = pack({ "id" => 1, "text" => "x" * 20_000 })
    views = [View.new(row), View.new(row, check: true), View.new(row).freeze, View.new(pack([row, { "a" => 1 }]))[1]]
    expected = pack(views.map(&:value))
    assert_equal expected, pack(views)
    packer = Manypack::Packer.new
    assert_equal pack("before") + expected, packer.write("before").write(views).to_s
    assert_equal pack({ [1] => 2 }), pack({ view([1]) => 2 })
    assert_equal pack(1), pack(raw("01"))
  end

  def test_packing_views_makes_no_object_for_each
    views = view(Array.new(100) { |i| { "id" => i } }).to_a
    made = Array.new(3) do
      before = GC.stat(:total_allocated_objects)
      Manypack.pack(views)
      GC.stat(:total_allocated_objects) - before
    end
    assert_operator made.min, :<, 10
  end

  def test_views_are_json_wherever_their_values_are
    document = { "a" => [1, { "b" => nil }], "c" => "é" }
    root = view(document)

    assert_equal JSON.generate([document, document["a"]]), JSON.generate([root, root["a"]])
    assert_equal JSON.pretty_generate(document), JSON.pretty_generate(root)
    assert_raises(Manypack::TruncatedError) { JSON.generate(Manypack::View.new("\x92\x01")) }
  end

  def test_a_view_that_is_not_whole_packs_as_nothing
    broken = View.new(bytes("92 91 01 92 01"))[1]
    assert_equal 5, assert_raises(Manypack::TruncatedError) { pack({ "a" => broken }) }.offset
    packer = Manypack::Packer.new.write(1)
    assert_raises(Manypack::TruncatedError) { packer.write([2, broken]) }
    assert_equal "\x01".b, packer.to_s
  end

  def test_an_ext_type_of_views_packs_them
    factory = Manypack::Factory.new
    factory.register_type(1, View, packer: :bytes, unpacker: ->(body) { View.new(body) })
    assert_equal bytes("91 d5 01 91 02"), factory.codec.pack([raw("91 02")])
    factory = Manypack::Factory.new
    factory.register_type(2, Enumerable, packer: ->(found) { found.first.to_s }, unpacker: ->(body) { body })
    assert_equal bytes("d4 02 37"), factory.codec.pack(raw("91 07"))
  end

  def test_a_view_takes_one_level_of_depth_in_what_is_packed
    factory = Manypack::Factory.new
    assert_equal bytes("91 91 01"), factory.codec(max_depth: 2).pack([raw("91 01")])
    assert_raises(Manypack::NestingError) { factory.codec(max_depth: 1).pack([raw("91 01")]) }
  end

  def test_the_canonical_form_of_what_has_views_is_canonical
    assert_equal bytes("91 82 a1 61 01 a1 62 02"), Manypack.pack([raw("82 a1 62 cc 02 a1 61 01")], canonical: true)
  end

  def test_canonical
    v = View.new("\x82\xA1a\x92\x01\x02\xA1b\x91\xCC\x05".b)
    assert_equal [false, true, false], [v.canonical?, v["a"].canonical?, v["b"].canonical?]
    assert_predicate View.new(Manypack.pack(v.value, canonical: true)), :canonical?
    assert_raises(Manypack::TruncatedError) { View.new("\x92\x01".b).canonical? }
  end

  def test_a_view_packs_by_itself
    assert_equal "\x92\x01\x02".b, View.new("\x92\x01\x02".b).to_msgpack
  end

  # --- detach -------------------------------------------------------------------------------------------

  # Sizes of all Strings that it keeps alive, apart from those of its Codec.
  def strings_of(view)
    todo = ObjectSpace.reachable_objects_from(view).grep(String)
    todo.each { |string| todo.concat(ObjectSpace.reachable_objects_from(string).grep(String) - todo) }
    todo.map(&:bytesize)
  end

  def test_detach_lets_the_message_go
    [{ "log" => "x" * 100_000, "user" => ["y" * 1000] }, { "user" => ["y" * 1000], "log" => "x" * 100_000 }].each do |obj|
      user = view(obj)["user"].detach
      assert_operator strings_of(user).max, :<, 2000
      assert_equal [obj["user"], 0], [user.value, user.offset]
    end
  end

  def test_detach_keeps_the_options
    assert_equal [:b], view({ "a" => { "b" => 1 } }, symbolize_keys: true)[:a].detach.keys
  end
end

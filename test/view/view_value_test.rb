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

  def test_a_view_is_equal_to_what_it_holds
    exercise do
      map = view({ "a" => [1, { "b" => nil }], "c" => {} })
      assert_equal({ "c" => {}, "a" => [1, { "b" => nil }] }, map)
      assert_equal map, { "c" => {}, "a" => [1, { "b" => nil }] }
      assert_equal [1, { "b" => nil }], map["a"]
      assert_equal map["a"], [1.0, { "b" => nil }]
      assert_equal({ "in" => map["a"] }, { "in" => [1, { "b" => nil }] })
      assert_equal map, { "a" => map["a"], "c" => map["c"] }
    end
    [view({}), view([]), view([1]), view({ 1 => 1 })].each { |v| refute_equal v, view({ "a" => 1 }) }
    [[view({}), []], [view([]), {}], [view([1]), 1], [view([]), nil], [raw("c0"), nil]].each do |v, other|
      refute_equal v, other
      refute_equal other, v
    end
  end

  def test_views_are_equal_if_their_values_are
    one, other = view({ "a" => 1, "b" => 2 }), view({ "b" => 2, "a" => 1 })
    assert_equal one, other
    refute one.eql?(other)
    assert_equal view([1]), raw("91 cc 01")
    assert_equal view({ "a" => 1 }), view({ "a" => 1 }, freeze: true)
    refute_equal view({ "a" => 1 }), view({ "a" => 1 }, symbolize_keys: true)
    refute view({ "a" => 1 }).eql?(view({ "a" => 1 }, symbolize_keys: true))
    refute_equal raw("91 d4 05 61", allow_unknown_ext: true), view_by(ranges, bytes("91 d4 05 61"))
    assert_equal 3, { view([1]) => 1, raw("91 cc 01") => 2, view([1], max_bytes: 9) => 1, view([1], max_bytes: 9) => 2 }.size
  end

  def test_nan_is_equal_where_the_bytes_are
    assert_equal view([Float::NAN]), view([Float::NAN])
    assert_equal view([Float::NAN]).hash, view([Float::NAN]).hash
  end

  def ranges
    Manypack::Factory.new.tap { |made| made.register_type(5, Range, unpacker: ->(body) { body..body }) }
  end

  def test_options_hold_for_the_value
    exercise do
      part = view([{ "a" => [{ "b" => 1 }], "t" => nil }])[0]
      assert_equal({ a: [{ b: 1 }], t: nil }, part.value(symbolize_keys: true))
      assert_equal({ a: [{ b: 1 }], t: nil }, part.to_h(symbolize_keys: true))
      assert_equal [[:a, [{ b: 1 }]], [:t, nil]], part.to_a(symbolize_keys: true)
      assert_equal({ "a" => [{ "b" => 1 }] }, part.value(freeze: true).except("t"))
      assert part["a"].value(freeze: true).frozen?
      assert_equal [{ b: 1 }], part["a"].value(codec: Manypack::Codec.new(symbolize_keys: true))
      assert_equal [{ "b" => 1 }], part["a"].value(codec: nil)
      assert Ractor.shareable?(part.to_h(shareable: true))
      assert_equal [[:A, 1], [:T, 2]], part.to_h(symbolize_keys: true) { |k, _| [k.upcase, k == :a ? 1 : 2] }.to_a
    end
  end

  VALUES = {
    "value" => ->(view, options) { view.value(**options) },
    "to_h" => ->(view, options) { view.to_h(**options) },
    "to_h with a block" => ->(view, options) { view.to_h(**options) { |key, value| [key, value.is_a?(View) ? value.value : value] } },
    "to_a" => ->(view, options) { view.to_a(**options).to_h { |key, value| [key, value.is_a?(View) ? value.value : value] } }
  }.freeze

  def test_a_codec_given_for_the_value_loses_no_option_of_the_view
    codec = Manypack::Codec.new(freeze: true, max_depth: 9)
    VALUES.each do |name, value|
      exercise do
        own = view({ "a" => [1] }, symbolize_keys: true, max_depth: 9)
        made = value.call(own, codec: codec)
        assert_equal [{ a: [1] }, true], [made, made[:a].frozen?], name
        assert_equal [{ "a" => [1] }, true], value.call(own, codec: codec, symbolize_keys: false).then { |hash| [hash, hash["a"].frozen?] }, name
        assert_equal({ "a" => [1] }, value.call(own, codec: Manypack::Codec.new(symbolize_keys: false)), name)
        assert_equal({ a: [1] }, value.call(own, codec: nil), name)
      end
      [{ max_depth: 1 }, { max_bytes: 4 }, { untrusted: true }].each { |limits| assert_limits_stay(limits, value, name) }
      assert_raises(TypeError, name) { value.call(view({ "a" => [1] }), codec: false) }
    end
  end

  def assert_limits_stay(limits, value, name)
    packed = bytes("82 a1 61 91 01 a1 61 91 01")
    assert_raises(Manypack::DecodeError, name) do
      value.call(View.new(packed, **limits), codec: Manypack::Codec.new(freeze: true))
    end
  end

  # The value has no handlers; a View that other Ractors may get has those of its Codec.
  def test_a_shareable_value_by_a_handler_that_is_not_shareable
    seen = []
    factory = Manypack::Factory.new.tap { |made| made.register_type(5, Range, unpacker: ->(body) { seen << body && body..body }) }
    view = Manypack::View.new("\x81\xA1a\xD4\x05x".b, codec: factory.codec)
    %i[value to_h].each { |name| assert Ractor.shareable?(exercise { view.public_send(name, shareable: true) }) }
    assert_equal({ "a" => "x".."x" }, view.value(shareable: true))
    assert_raises(Ractor::IsolationError) { view.to_a(shareable: true) }
  end

  def test_options_of_the_value_hold_for_the_message_or_are_refused
    part = raw("92 01 82 a1 61 01 a1 61 02")[1]
    assert_equal 3, assert_raises(Manypack::LimitError) { part.value(max_bytes: 3) }.offset
    assert_raises(Manypack::MalformedFormatError) { part.to_h(duplicate_keys: :error) }
    assert_raises(Manypack::MalformedFormatError) { part.to_h(untrusted: true) }
    assert_equal 2, assert_raises(Manypack::UnknownExtTypeError) { raw("92 01 d4 05 61").value(timestamp: true) }.offset
    %i[value to_h to_a].each do |name|
      assert_raises(ArgumentError) { part.public_send(name, symbolise_keys: true) }
      assert_raises(ArgumentError) { part.public_send(name, canonical: true) }
      assert_raises(ArgumentError) { part.public_send(name, { symbolize_keys: true }) }
      assert_raises(TypeError) { part.public_send(name, codec: 5) }
    end
  end

  def test_to_s_is_that_of_the_value
    assert_equal [[1, { "a" => nil }].to_s, "a"], [view([1, { "a" => nil }]).to_s, raw("a1 61").to_s]
    assert_equal "views: #{[1]}", "views: #{view([1])}"
  end

  def test_yaml_has_the_value_and_marshal_says_why_not
    require "yaml"
    assert_equal [{ "v" => { "a" => [1] } }.to_yaml, "a".to_yaml], [{ "v" => view({ "a" => [1] }) }.to_yaml, raw("a1 61").to_yaml]
    error = assert_raises(TypeError) { Marshal.dump([view([1])]) }
    assert_match(/View#bytes or View#value/, error.message)
    assert_raises(TypeError) { View.allocate }
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

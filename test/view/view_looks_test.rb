# frozen_string_literal: true

# Any mix of looks, into one View or into new ones of the same bytes, finds what unpacking would; and what a Ractor
# remembers of messages is never mistaken for another message, nor keeps one alive for long.
require "test_helper"
require "objspace"
require "support/costs"
require "support/program"

class ViewLooksTest < Minitest::Test
  include CorePart
  include Costs
  include ProgramHelper

  View = Manypack::View

  # --- Views that looks return again ------------------------------------------------------------------------

  PARTS = { "a" => { "b" => [*0...400] }, "c" => [[1], [2]], "d" => { "e" => 5 }, "f" => { "g" => [6] }, false => [7], 1 => [8], nil => [9] }.freeze

  def test_looks_for_a_key_in_turn_find_what_is_there
    object = { "in" => PARTS, "rows" => Array.new(50) { |i| { "a" => [i], "c" => { "b" => i } } } }
    view = View.new(pack(object))
    keys = [["in", "a", "b"], ["in", "c"], ["in", "d"], ["in", "f", "g"], ["in", false], ["in", 1], ["in", nil], ["in", :a, :b]]
    look = lambda do |steps|
      expected = object.dig(*steps.map { |step| step.is_a?(Symbol) ? step.name : step })
      assert_equal expected, steps.reduce(view) { |part, step| part[step] }.value
    end
    3.times do |time|
      keys.each { |steps| 3.times { look.call(steps) } }
      time.step(49, 10) { |i| assert_equal [[i], i], [view["rows"][i]["a"].value, view["rows"][i]["c"]["b"]] }
    end
    exercise { keys.each { |steps| look.call(steps) } }
  end

  def test_a_key_that_changes_between_looks_is_looked_for_again
    view = View.new(pack(PARTS))
    key = +"a"
    4.times { assert_equal ["b"], view[key].keys }
    key.replace("d")
    4.times { assert_equal ["e"], view[key].keys }
    assert_equal [[7], [9], nil], [view[false].value, view[nil].value, view[true]]
  end

  def test_a_look_for_a_key_returns_a_view_of_its_own_root_and_codec
    bytes = pack(PARTS).freeze
    views = [View.new(bytes), View.new(bytes), View.new(bytes, symbolize_keys: true)]
    4.times { views.each { |view| assert_equal view.codec, view["a"]["b"].codec } }
    assert_equal [{ "e" => 5 }, { e: 5 }], [views[0], views[2]].map { |view| 3.times { view["d"] }.then { view["d"].value } }
    views[0]["d"].freeze
    4.times { refute_predicate views[1]["d"], :frozen? }
    4.times { assert_equal({ "e" => 5 }, views[0]["d"].value) }
  end

  def test_keys_of_looks_follow_what_moves
    assert_program <<~'RUBY', "true"
      view = Manypack::View.new(Manypack.pack({"a" => {"b" => [*0...400]}, "x" => "y" * 600}))
      keys = %w[a b].map { |key| (key + "").freeze }
      p(Array.new(8) { |i| GC.compact if i.odd?; view[keys[0]][keys[1]][i] } == [*0...8])
    RUBY
  end

  def test_a_new_view_of_known_bytes_sees_the_index_from_the_start
    bytes = pack([*0...2_000]).freeze
    exercise { 4.times { |i| assert_equal [i * 300, 1_999 - i], View.new(bytes).then { |view| [view[i * 300], view[-1 - i]] } } }
    assert_equal 2_000, View.new(bytes).size
    assert_equal [1_500] * 3, Array.new(3) { View.new(bytes, check: true)[1_500] }
    assert_equal [1_500] * 3, Array.new(3) { View.new(bytes, shareable: true)[1_500] }
    assert_raises(Manypack::LimitError) { View.new(bytes, max_objects: 5) }
    assert_equal 1_500, View.new(bytes)[1_500]
  end

  # --- beside a plain implementation ------------------------------------------------------------------------

  # A random object as bytes. Some maps have keys twice, and keys of every kind.
  class Bytes
    def initialize(random)
      @random = random
    end

    def object(depth)
      case depth.zero? ? 0 : @random.rand(4)
      when 0 then Manypack.pack(scalar)
      when 1 then array(depth)
      else map(depth)
      end
    end

    def array(depth)
      size = @random.rand([3, 20, 300][@random.rand(3)])
      kind = @random.rand(4)
      head(0x90, 0xDC, size) + Array.new(size) { |i| element(kind, i, depth) }.join
    end

    def map(depth)
      size = @random.rand([3, 20, 200][@random.rand(3)])
      kind = @random.rand(4)
      range = [size / (1 + @random.rand(2)), 1].max
      head(0x80, 0xDE, size) + Array.new(size) { |i| Manypack.pack(key(kind, @random.rand(range))) + element(@random.rand(4), i, depth) }.join
    end

    private

    def head(fix, wide, size) = (size < 16 ? [fix | size].pack("C") : [wide, size].pack("Cn"))

    def element(kind, index, depth)
      return Manypack.pack(index % 100) if kind.zero?
      return Manypack.pack(scalar) if kind < 3 && @random.rand(20).positive?

      object(depth - 1)
    end

    def key(kind, number)
      [number, "key #{number}", number - 3.5, [number, "k#{number}", number.to_f, -number, nil, true, "\xFF#{number}".b, [number]][number % 8]][kind]
    end

    def scalar
      case @random.rand(9)
      when 0 then "x" * @random.rand(60)
      when 1 then @random.rand
      when 2 then [nil, true, false][@random.rand(3)]
      when 3 then -@random.rand(1 << 40)
      when 4 then (1 << 62) + @random.rand(1 << 63)
      when 5 then @random.bytes(@random.rand(40))
      else @random.rand(1 << @random.rand(1..34))
      end
    end
  end

  def test_any_mix_of_looks_finds_what_unpacking_finds
    count = FEW_CASES ? 2 : 150
    count.times do |seed|
      random = Random.new(seed)
      bytes = pack([nil]).b + Bytes.new(random).then { |made| random.rand(2).zero? ? made.array(3) : made.map(3) }
      bytes = bytes.byteslice(2..)
      bytes.freeze if random.rand(2).zero?
      options = [{}, { freeze: true }, { check: true, duplicate_keys: :last }, { max_depth: 20 }][random.rand(4)]
      tree = unpack(bytes)
      exercise { looks(random, tree, bytes, options, seed) }
    end
  end

  # --- one message, many Views --------------------------------------------------------------------------------

  INTEGERS = Manypack.pack((0...5_000).to_a).freeze

  def indexes(view) = ObjectSpace.reachable_objects_from(view).grep(ObjectSpace::InternalObjectWrapper)

  def index_ids(*views) = views.flat_map { |view| indexes(view).map(&:internal_object_id) }.uniq

  def test_new_views_of_the_same_bytes_find_the_index
    text = (INTEGERS + "").force_encoding("UTF-8")
    [INTEGERS, INTEGERS + "", text, text.dup.freeze].each do |bytes|
      views = Array.new(5) { View.new(bytes).tap { |view| 3.times { |i| view[-1 - i] } } }
      assert_equal 1, index_ids(*views).size
      assert_equal [4_000] * 5, views.map { |view| view[4_000] }
    end
  end

  def test_a_single_look_makes_no_index_whatever_was_looked_into_before
    small = pack(Array.new(600) { |i| i })
    20.times do
      view = View.new(small + "")
      assert_equal 3, view[3]
      assert_empty indexes(view)
    end
  end

  def test_a_path_makes_an_index_only_for_more_than_four_keys
    rows = pack({ "a" => Array.new(300) { { "b" => [{ "c" => { "d" => 1 } }] * 3 } } })
    { "$.a[*].b[*].c.d" => 0, "$.a[*][*][*][*][*]" => 0, "$.a[0].b[0].c.d" => 1 }.each do |path, count|
      view = View.new(rows + "")
      refute_empty Manypack::Path.new(path).to_a(view)
      assert_equal count, indexes(view).size, path
    end
  end

  def test_another_depth_has_another_index
    views = [{}, { max_depth: 9 }].map { |options| View.new(INTEGERS, **options).tap { |view| 3.times { |i| view[-1 - i] } } }
    assert_equal 2, index_ids(*views).size
    deep = pack([[[[1]]], "x" * 600]).freeze
    2.times { assert_equal "x" * 600, View.new(deep)[1] }
    2.times { assert_raises(Manypack::StackError) { View.new(deep, max_depth: 2)[1] } }
  end

  def test_changed_bytes_are_another_message
    bytes = pack(Array.new(2_000) { 1000 })
    old = View.new(bytes)
    3.times { |i| assert_equal 1000, View.new(bytes)[-1 - i] }
    bytes.setbyte(bytes.bytesize - 1, 233)
    assert_equal [1001, 1000], [View.new(bytes)[-1], old[-1]]
    bytes.replace(pack(Array.new(2_000) { "x" }))
    3.times { |i| assert_equal "x", View.new(bytes)[-1 - i] }
    assert_equal [1000] * 3, [old[-1], old[5], old[-2]]
  end

  # Strings come and go, and new ones take their memory.
  def test_memory_that_is_used_again_is_another_message
    300.times do |i|
      bytes = pack(Array.new(600) { |k| (i + k) % 100 }).freeze
      3.times { |k| assert_equal (i + 599 - k) % 100, View.new(bytes)[-1 - k] }
      GC.start if i % 60 == 0
    end
  end

  def test_new_views_are_linear
    KINDS.each do |make, keys|
      assert_linear(400) do |size|
        bytes = pack(make.call(size)).freeze
        looks = keys.call(size).shuffle(random: Random.new(1))
        -> { looks.each { |key| View.new(bytes)[key] } }
      end
    end
  end

  KINDS = [[->(n) { (0...n).to_a }, ->(n) { (0...n).to_a }], [->(n) { (0...n).to_h { |i| ["key #{i}", i] } }, ->(n) { (0...n).map { |i| "key #{i}" } }],
           [->(n) { (0...n).to_h { |i| [i, 1] } }, ->(n) { (0...n).to_a }], [->(n) { (0...n).to_h { |i| [i * 7, [i]] } }, ->(n) { (0...n).map { |i| i * 7 } }]].freeze

  def test_frozen_and_other_views_of_the_same_bytes
    frozen = View.new(INTEGERS, freeze: true)
    views = [View.new(INTEGERS), frozen, View.new(INTEGERS).freeze, View.new(INTEGERS, shareable: true)]
    views.each { |view| assert_equal [4_999, 0, 3_333], [view[-1], view[0], view[3_333]] }
    assert Ractor.shareable?(views[2])
    sums = Array.new(2) { Ractor.new(frozen, INTEGERS) { |view, bytes| (0...5_000).sum { |i| view[-1 - i] - View.new(bytes)[i] } } }
    assert_equal([0, 0], sums.map { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take })
  end

  def test_what_is_remembered_lives_for_two_collections_at_most
    assert_program <<~'RUBY', "[0, 0]"
      require "objspace"
      View = Manypack::View
      alive = ->(size) { ObjectSpace.each_object(String).count { |string| string.bytesize == size } }
      look = lambda do |bytes, views|
        views.times { |i| 3.times { |k| View.new(bytes)[-1 - i - k] } }
        nil
      end
      make = ->(n, views) { look.call(Manypack.pack(Array.new(n, 1)).freeze, views) }
      10.times { make.call(70_001, 1) }
      10.times { make.call(80_001, 40) }
      1_000.times { |i| View.new(Manypack.pack(Array.new(600 + i, 1)))[3] }
      3.times { GC.start }
      p [70_004, 80_004].map { |size| alive.call(size + 2) > 1 ? 1 : 0 }
    RUBY
  end

  def test_views_in_a_loop_across_collections_and_moves
    assert_program <<~'RUBY', "true"
      View = Manypack::View
      p([120, 200, 600, 3_000].all? do |size|
        bytes = Manypack.pack(Array.new(size) { |i| i * 1000 }).freeze
        map = Manypack.pack((0...size).to_h { |i| ["key #{i}", i] }).freeze
        (0...40).all? do |i|
          GC.compact if i % 5 == 0
          GC.start if i % 7 == 0
          View.new(bytes)[size - 1 - i] == (size - 1 - i) * 1000 && View.new(map)["key #{size - 1 - i}"] == size - 1 - i
        end
      end)
    RUBY
  end

  # --- Views of inner containers ------------------------------------------------------------------------------------

  NESTED = { "a" => { "b" => (0...900).to_a, "c" => [{ "d" => 1 }] } }.freeze

  # Views of other roots and Codecs share the Index, and so do frozen ones.
  def test_views_of_inner_containers_have_the_options_of_their_root_and_are_frozen_as_it_is
    bytes = pack(NESTED).freeze
    views = [View.new(bytes), View.new(bytes, symbolize_keys: true), View.new(bytes)]
    5.times { views.each { |view| 2.times { assert_equal [view.codec, false], [view["a"], view["a"]["c"]].flat_map { |part| [part.codec, part.frozen?] }.uniq } } }
    assert_equal [%w[b c], %i[b c], %w[b c]], (views.map { |view| view["a"].keys })
    Kernel.instance_method(:freeze).bind_call(views[0]["a"])
    3.times { refute_predicate views[0]["a"], :frozen? }
    shared = Ractor.make_shareable(views[2])
    3.times { assert [shared["a"], shared["a"]["c"][0]].all? { |part| Ractor.shareable?(part) } }
    3.times { assert_equal [1, false], [views[0]["a"]["c"][0]["d"], views[0]["a"].frozen?] }
  end

  def test_views_of_inner_containers_under_a_collection_at_every_allocation
    view = View.new(pack(NESTED))
    exercise { 4.times { |i| assert_equal [i, 1], [view["a"]["b"][i], view["a"]["c"][0]["d"]] } }
    GC.compact if GC.respond_to?(:compact)
    assert_equal [7, 1], [view["a"]["b"][7], view["a"]["c"][0]["d"]]
  end

  # --- memory ---------------------------------------------------------------------------------------------------

  def test_indexes_of_small_messages_fit_them
    [[1] * 700, (-32...350).to_h { |i| [i, 1] }, (0...250).to_h { |i| [i, i] }, (0...300).to_a, Array.new(100) { |i| i * 1.5 }, (0...300).to_h { |i| [i, 1] }, Array.new(99) { |i| "text #{i}" }].each do |object|
      bytes = pack(object)
      view = View.new(bytes)
      keys = object.is_a?(Hash) ? object.keys.reverse : (0...object.size).to_a.reverse
      3.times { keys.each { |key| assert_equal object[key], view[key] } }
      made = indexes(view).sum { |index| ObjectSpace.memsize_of(index) }
      assert_includes 1..((bytes.bytesize * 1.5) + 1_000), made, "an index of #{bytes.bytesize} bytes"
    end
  end

  def test_an_index_reports_the_memory_that_the_first_look_for_a_key_takes
    view = View.new(pack([*Array.new(1_000) { ["a long text"] * 6 }, (0...100).to_h { |i| ["k#{i}", i] }]))
    3.times { view[0] }
    before = indexes(view).sum { |index| ObjectSpace.memsize_of(index) }
    3.times { assert_equal 5, view[1_000]["k5"] }
    assert_operator indexes(view).sum { |index| ObjectSpace.memsize_of(index) } - before, :>, 1_000 * [0].pack("J").bytesize
  end

  private

  def value(found) = found.is_a?(View) ? found.value : found

  # Looks into a tree and a View in turn, and deeper at random.
  def looks(random, tree, bytes, options, seed)
    view = View.new(bytes, **options)
    60.times do
      view = View.new(bytes, **options) if random.rand(3).zero?
      object, part = tree, view
      while object.is_a?(Hash) || object.is_a?(Array)
        key = key_of(random, object)
        compare(random, object, part, key, seed)
        object = object.is_a?(Array) || !key.nil? || object.key?(nil) ? object[key] : nil
        part = part[key]
        assert_equal object.class, part.class, seed unless part.is_a?(View)
      end
    end
  end

  def key_of(random, object)
    size = object.size
    return random.rand(-size - 1..size) if object.is_a?(Array)

    random.rand(9).zero? ? ["none", -9, 0.25, nil][random.rand(4)] : object.keys[random.rand([size, 1].max)]
  end

  def compare(random, object, part, key, seed)
    expected = object[key]
    case random.rand(8)
    when 0 then assert_equal [expected, object.is_a?(Array) ? object[0] : nil], [value(part[key]), object.is_a?(Array) ? value(part[0]) : nil], seed
    when 1 then assert_equal object.is_a?(Hash) ? object.key?(key) : key < object.size && key >= -object.size, part.key?(key), seed
    when 2 then assert_equal [expected, expected], part.values_at(key, key).map { |found| value(found) }, seed
    when 3 then assert_equal expected.nil? ? :none : expected, value(part.fetch(key, :none)).then { |found| found.nil? ? :none : found }, seed
    when 4 then assert_operator part.size, :>=, object.size, seed
    when 5 then assert_equal object.is_a?(Hash) ? object : object.first(3), object.is_a?(Hash) ? part.to_h : part.first(3).map { |found| value(found) }, seed
    else assert_equal [expected], [value(part.dig(key))], seed
    end
  end
end

# frozen_string_literal: true

# Views of any bytes, in any state of the collector: an answer or a DecodeError, and time in proportion to the bytes.
require "test_helper"
require "interop/random_graph"
require "support/program"

class ViewMemoryTest < Minitest::Test
  include CorePart
  include ProgramHelper

  View = Manypack::View
  Path = Manypack::Path
  DOCUMENT = { "a" => [1, { "b" => [nil, "text" * 5] }, [[]]], 2 => { [1] => "c" }, nil => 1.5, "t" => Time.at(1) }.freeze
  PATHS = ["$.a[*].b[*]", "$[*][*]", "$.a[-1][0]", "$[2].*", "$.*.*.*"].map { |text| Path.new(text) }.freeze
  ROWS = Array.new(40) { |i| { "id" => i, "tags" => ["x" * i] } }.freeze

  def document = pack(DOCUMENT, timestamp: true)

  LOOKS = {
    type: :type.to_proc, size: :size.to_proc, keys: :keys.to_proc, to_a: :to_a.to_proc, to_h: :to_h.to_proc,
    value: :value.to_proc, bytes: :bytes.to_proc, bytesize: :bytesize.to_proc, hash: :hash.to_proc,
    inspect: :inspect.to_proc, detach: :detach.to_proc, deconstruct_keys: ->(v) { v.deconstruct_keys(%i[a t]) },
    all_keys: ->(v) { v.deconstruct_keys(nil) }, index: ->(v) { v[0] }, last: ->(v) { v[-1] }, key: ->(v) { v["a"] },
    object: ->(v) { v[[1]] }, fetch: ->(v) { v.fetch("t") }, dig: ->(v) { v.dig("a", 1, "b", 1) }, equal: ->(v) { v == v.detach },
    deep: ->(v) { v.each { |*parts| parts.flatten.grep(View).each(&:to_a) } }, pack: ->(v) { Manypack.pack(v) },
    splice: ->(v) { v.splice("a[0]" => 1, "z" => 2) }, remove: ->(v) { v.splice("a" => View::REMOVED).value },
    paths: ->(v) { PATHS.each { |path| path.to_a(v) } }, freeze: :freeze.to_proc
  }.freeze
  REFUSALS = [Manypack::DecodeError, TypeError, KeyError, IndexError].freeze

  def look_everywhere(binary)
    LOOKS.each_value do |look|
      look.call(View.new(binary))
    rescue *REFUSALS
      nil
    end
    shared = View.new(binary)
    LOOKS.each_value do |look|
      look.call(shared)
    rescue *REFUSALS
      nil
    end
  end

  def test_each_prefix_is_answered_or_refused
    [document, document.prepend("\x91".b), pack([ROWS.first(3), "x" * 500])].each do |binary|
      (1..binary.bytesize).step(binary.bytesize > 200 ? 29 : 1) { |n| look_everywhere(binary.byteslice(0, n)) }
    end
  end

  def test_any_bytes_are_answered_or_refused
    random = Random.new(5)
    long = pack([DOCUMENT.except("t"), "x" * 480, ROWS.first(5)])
    120.times do
      binary = [document, long].sample(random: random).dup
      random.rand(1..3).times { binary.setbyte(random.rand([binary.bytesize, 100].min), [0xc1, 0xdf, 0xdd, random.rand(256)].sample(random: random)) }
      look_everywhere(binary)
    end
  end

  def test_a_view_does_not_see_what_becomes_of_its_source
    ["short", "long" * 400].each do |word|
      source = pack([word, [word]])
      v = View.new(source)
      v[0]
      source.replace("\xC1" * 10)
      assert_equal [word, [word]], v.value
      source.clear
      assert_equal word, v.dig(1, 0)
    end
  end

  # --- the collector --------------------------------------------------------------------------------------

  def test_looks_under_a_collection_at_every_allocation
    [ROWS.first(3), ROWS.first(30)].each do |rows|
      v = View.new(pack(rows))
      exercise do
        assert_equal rows.last["id"], v[-1]["id"]
        assert_equal rows.last["tags"], v.dig(-1, "tags").value
        v.first(3).each { |row| row.each { |key, _| v[0][key] } }
        assert_equal rows.size, Path.new("$[*].id").to_a(v).size
        assert_equal rows.size, v.detach.freeze.size
        v[1].splice("id" => nil, "x" => 1).value
        assert_equal [rows, rows[0], 1], unpack(pack([View.new(v.bytes), v[0], 1]))
      end
    end
  end

  # In a process of their own: Ruby 3.1 can crash where it compacts after classes were collected, as other tests' are.

  # Sizes around those of an Index and of embedded Strings.
  def test_views_follow_what_moves
    assert_program <<~'RUBY', "true"
      View = Manypack::View
      p([1, 500, 520, 600, 660].all? do |size|
        rows = [[1, ["a"]], "x" * size]
        v = View.new(Manypack.pack(rows))
        seen = []
        v.each do |element|
          GC.compact
          seen << (element.is_a?(View) ? element.map { |inner| v[0][1] && inner.is_a?(View) ? inner.to_a : inner } : element)
        end
        found = []
        Manypack::Path.new("$[*][*]").each(v) { |value| GC.compact && found << (value.is_a?(View) ? value[0] : value) }
        GC.compact
        seen == rows && found == [1, "a"] && v.freeze.value == rows
      end)
    RUBY
  end

  def test_handlers_of_keys_may_look_into_the_same_view_and_move_it
    assert_program <<~'RUBY', "[2, 1, nil, 39, [:a, \"rows\", :b]]"
      rows = Array.new(40) { |i| { "id" => i, "t" => "x" * i } }
      view = nil
      looks = 0
      factory = Manypack::Factory.new
      factory.register_type(1, Class.new, unpacker: lambda { |body|
        looks += 1
        view.dig("rows", -1, "id") if looks < 10
        GC.compact
        body.to_sym
      })
      bytes = "\x83\xd4\x01a\x01".b + Manypack.pack("rows") + Manypack.pack(rows) + "\xd4\x01b\x02".b
      view = factory.codec.view(bytes)
      p [view[:b], view[:a], view[:c], view["rows"][-1]["id"], view.keys]
    RUBY
  end

  def test_growing_indexes_follow_what_moves
    before = GC.auto_compact
    GC.auto_compact = CompactAfterEveryTest::AUTOMATIC # Ruby 3.1 moves modules that it keeps by their addresses, too
    view = View.new(pack(Array.new(8) { |i| [i, ["x" * 60]] }))
    GC.stress = true
    view.freeze
    GC.stress = false
    assert_equal [7, ["x" * 60]], view[7].value
  ensure
    GC.stress = false
    GC.auto_compact = before
  end

  # --- blocks and handlers that come back -------------------------------------------------------------------

  def test_blocks_may_look_into_the_same_view_and_leave
    v = View.new(pack(ROWS))
    assert_equal ROWS.sum { |row| row["id"] } * 2, v.sum { |row| row["id"] + v.find { |other| other == row }["id"] }
    assert_equal 3, v.each { |row| break row["id"] if row["id"] == 3 }
    assert_raises(ArgumentError) { v.each { raise ArgumentError } }
    assert_raises(ArgumentError) { Path.new("$[*]").each(v) { raise ArgumentError } }
    assert_equal 39, v[-1]["id"]
    assert_equal ROWS, v.value
  end

  def test_handlers_of_keys_may_look_into_the_same_view
    view = nil
    looks = 0
    factory = Manypack::Factory.new
    factory.register_type(1, Class.new, unpacker: lambda { |body|
      looks += 1
      view.dig("rows", -1, "id") if looks < 10
      GC.start
      body.to_sym
    })
    binary = bytes("83 d4 01 61 01") + pack("rows") + pack(ROWS) + bytes("d4 01 62 02")
    view = Manypack.const_get(:Internal).view_over(binary, factory.codec, false)
    exercise { assert_equal [2, 1, nil], [view[:b], view[:a], view[:c]] }
    assert_equal 39, view["rows"][-1]["id"]
    assert_equal [:a, "rows", :b], view.keys
  end

  # --- depth ---------------------------------------------------------------------------------------

  DEEP = 100_000

  def test_deep_messages
    v = View.new("\x91".b * (DEEP - 1) + "\x90".b, max_depth: DEEP)
    assert_equal DEEP, v.bytesize
    assert_equal DEEP - 1, v[0].bytesize
    inner = v
    500.times { inner = inner[0] }
    assert_equal 500, inner.offset
    assert_equal DEEP - 1, v.dig(*[0] * (DEEP - 1)).offset
    path = Path.of(*[0] * 5000)
    assert_equal [5000], path.to_a(v).map(&:offset)
    assert_equal DEEP, v.freeze.bytesize
  end

  def test_a_path_of_many_steps_ends_or_is_refused
    v = View.new("\x91".b * (DEEP - 1) + "\x90".b, max_depth: DEEP)
    assert_equal DEEP - 1, Path.of(*[0] * (DEEP - 1)).first(v).offset
  rescue Manypack::StackError => e
    assert_includes 0...DEEP, e.offset # where the C stack was nearly used up
  rescue SystemStackError
    pass # under Valgrind Ruby may be the first to notice
  end
end

# frozen_string_literal: true

# View#splice: every change that it makes, on random messages as a plain implementation on objects makes them, and what
# it refuses.
require "test_helper"
require "support/writing"
require "view/views"

class ViewSpliceTest < Minitest::Test
  include CorePart
  include Views

  # Makes random objects, random changes of them, and the objects as they are afterwards.
  class Plain
    include Views

    KEYS = ["a", "b", "long name of a key", "é", "x.y", "", 0, 7, -3, 2**40, 1.5, nil, true, "\xFF".b].freeze
    LEAVES = [nil, true, 0, -1, 300, 2**63, 1.25, "", "text", "ü" * 40, "\xFE\xFF".b].freeze

    attr_reader :changes

    def initialize(seed)
      @random = Random.new(seed)
      @fresh = 0
    end

    def object(depth = 4)
      case depth.zero? ? 9 : @random.rand(10)
      when 0..3 then Array.new(size) { object(depth - 1) }
      when 4..7 then KEYS.sample(size, random: @random).to_h { |key| [key, object(depth - 1)] }
      else LEAVES.sample(random: @random)
      end
    end

    # Returns the object after changes, which are in #changes.
    def changed(object)
      @changes = {}
      object = inside(object, [])
      @changes = @changes.to_a.shuffle(random: @random).to_h
      object
    end

    private

    def size
      @random.rand(20).zero? ? 10 + @random.rand(20) : @random.rand(5)
    end

    # A Hash has a key once, so a second change of the same path has another form of it.
    def change(steps, change)
      path = Path.of(*steps)
      @changes[([path, path.to_s, steps].shuffle(random: @random) - @changes.keys).first] = change
    end

    def fresh
      "new #{@fresh += 1}"
    end

    def inside(object, steps)
      case object
      when Array then array(object, steps)
      when Hash then map(object, steps)
      else object
      end
    end

    def array(object, steps)
      made = object.each_with_index.flat_map do |element, index|
        [*inserted(steps + [index]), *part(element, steps, [index, index - object.size].sample(random: @random))]
      end
      more = Array.new(@random.rand(8).zero? ? 1 + @random.rand(3) : 0) { |i| object(1).tap { |value| change(steps + [object.size + i], value) } }
      last = @random.rand(8).zero? ? [object(1), fresh] : []
      change(steps, View.appended(*last)) unless last.empty?
      made + more + last
    end

    def inserted(steps)
      return [] unless @random.rand(10).zero?

      Array.new(@random.rand(3)) { object(1) }.tap { |values| change([*steps[0..-2], steps.last], View.inserted(*values)) }
    end

    def map(object, steps)
      made = object.flat_map { |key, value| part(value, steps, key).map { |new| [renamed(steps, key), new] } }.to_h
      made[fresh.tap { |key| change(steps + [key], View.with_parents(5)) }] = 5 if @random.rand(8).zero?
      return made unless @random.rand(8).zero?

      key = fresh
      change([*steps, key, "p", 0], View.with_parents([1]))
      change([*steps, key, "q"], View.with_parents(View.appended(2, 3)))
      made.merge(key => { "p" => [[1]], "q" => [2, 3] })
    end

    def renamed(steps, key)
      return key unless @random.rand(10).zero?

      fresh.tap { |new| change(steps + [key], View.renamed(new)) }
    end

    # Returns the value in its new state, in an Array, which is empty if the value is removed.
    def part(value, steps, step)
      path = steps + [step]
      case @random.rand(12)
      when 0 then change(path, REMOVED) && []
      when 1 then [object(2).tap { |new| change(path, new) }]
      when 2 then change(path, ->(old) { [old] }) && [[value]]
      when 3 then change(path, ->(_) { REMOVED }) && []
      else [inside(value, path)]
      end
    end
  end

  # --- against a plain implementation -------------------------------------------------------------------

  def each_plain(seeds)
    seeds.each do |seed|
      plain = Plain.new(seed)
      before = [plain.object, plain.object]
      after = plain.changed(before)
      yield before, plain.changes, after, seed
    end
  end

  def test_random_changes_are_what_they_are_on_objects
    changed = 0
    each_plain(1..250) do |before, changes, after, seed|
      changed += changes.size
      assert_equal after, view(before).splice(changes).value, "seed #{seed}"
      assert_equal after, view([0, before, 0])[1].splice(changes).value, "seed #{seed}, a part"
    end
    assert_operator changed, :>, 1_000
  end

  def test_random_changes_while_everything_moves
    each_plain(401..404) do |before, changes, after, seed|
      moving = changes.transform_values { |change| change.is_a?(Proc) ? ->(old) { change.(old).tap { compact } } : change }
      assert_equal after, view(before).splice(moving).value, "seed #{seed}"
    end
  end

  def test_what_has_no_effect_changes_no_byte
    binary = "\xDE\x00\x02\xDA\x00\x01a\xDD\x00\x00\x00\x01\xD2\x00\x00\x00\x05\xA1n\xC0".b
    v = View.new(binary)
    called = ->(_) { flunk }
    assert_equal binary, v.splice("x" => REMOVED, "a[7]" => called, "n.x" => REMOVED, "a[-2].b" => called, "$..zz" => 1, "y" => View.renamed("z")).bytes
    assert_equal binary, v.splice({}).bytes
    assert_equal binary, v.splice("a" => View.appended, "a[0]" => View.inserted).bytes
    assert_equal binary.sub("\xD2\x00\x00\x00\x05".b, "\x06"), v.splice("a[0]" => 6).bytes
  end

  # The numbers around which changes are kept and found in other ways.
  NUMBERS = [1, 2, 6, 7, 8, 9, 15, 16, 17, 40, 300].freeze
  SHUFFLED = ->(list) { list.shuffle(random: Random.new(1)) }
  ORDERS = [:to_a, :reverse, SHUFFLED, ->(list) { list.partition(&:even?).flatten }].freeze
  CASES = FEW_CASES ? [[1, SHUFFLED], [8, SHUFFLED], [8, :reverse], [17, SHUFFLED]] : NUMBERS.product(ORDERS)

  def each_order
    CASES.each { |n, order| yield n, order.to_proc.call([*0...n]), "#{n} in the order #{order}" }
  end

  def spliced(object, changes) = exercise { view(object).splice(changes) }

  # One of the forms of a path, in turn.
  def form(turn, *steps) = [Path.of(*steps), Path.of(*steps).to_s, steps][turn % 3]

  def test_any_number_of_indices_and_integer_keys_in_any_order
    each_order do |n, order, message|
      changes = order.to_h { |i| [form(i, i), i + 1_000] }
      array = [*0...n, "end"]
      assert_equal [*1_000...1_000 + n, "end"], spliced(array, changes).value, message
      assert_equal [*1_000...1_000 + n, "end"], spliced(array, changes.to_h { |path, i| [i.odd? ? [i - 1_000 - array.size] : path, i] }).value, message
      map = (0..n).to_h { |i| [i, [i]] }
      assert_equal (0..n).to_h { |i| [i, i == n ? [n] : i + 1_000] }, spliced(map, changes).value, message
      assert_equal map.to_a.reverse.to_h { |i, value| [i, i == n ? value : i + 1_000] }.to_a, spliced(map.to_a.reverse.to_h, changes).value.to_a, message
      assert_equal [*1_000...1_000 + n], spliced([], changes).value, message
      [array, map].each { |object| assert_raises(ArgumentError, message) { spliced(object, changes.merge(form(order[0] + 1, order[0]) => 5)) } }
    end
  end

  def test_any_number_of_fields_of_rows_in_any_order
    each_order do |n, order, message|
      rows = Array.new(n) { |i| { "a" => i, "b" => [i], "c" => 0 } }
      changed = Array.new(n) { |i| { "a" => -i, "b" => [i, "new"] } }
      [:itself, ->(list) { list.partition.with_index { |_, i| i.even? }.flatten(1) }].each do |turn|
        changes = turn.to_proc.call(order.flat_map { |i| [[form(i, i, "a"), -i], [form(i, i, "b"), View.appended("new")], [form(i, i, "c"), REMOVED]] }).to_h
        assert_equal changed, spliced(rows, changes).value, message
        assert_equal changed.each_with_index.to_h { |row, i| [i, row] }, spliced(rows.each_with_index.to_h { |row, i| [i, row] }, changes).value, message
      end
    end
  end

  def test_any_number_of_names_in_any_order
    each_order do |n, order, message|
      map = (0..n).to_h { |i| ["key#{i}#{"x" * (i % 40)}", i] }
      names = map.keys
      changes = order.to_h { |i| [form(i, names[i]), ->(old) { [old] }] }
      assert_equal map.to_h { |key, i| [key, i == n ? n : [i]] }, spliced(map, changes).value, message
      assert_equal map.values, spliced(map, order.to_h { |i| [form(i, names[i]), View.renamed("new#{i}")] }).values, message
      assert_equal map.to_a.last(1), spliced(map, changes.transform_values { REMOVED }).value.to_a, message
      assert_equal map.size + n, spliced(map, order.to_h { |i| [form(i, "other", i.to_s), View.with_parents(i)] }.merge(order.to_h { |i| ["new#{i}", i] })).size - 1, message
      assert_raises(ArgumentError, message) { spliced(map, changes.merge(form(order[0] + 1, names[order[0]]) => 5)) }
    end
  end

  # --- what each change does ----------------------------------------------------------------------------

  def test_a_path_of_many_values_changes_each_and_adds_none
    v = view({ "users" => [{ "name" => "ada" }, { "id" => 1 }, { "name" => "matz", "x" => { "name" => "deep" } }] })
    assert_equal [{ "name" => 1 }, { "id" => 1 }, { "name" => 1, "x" => { "name" => "deep" } }], v.splice("$.users[*].name" => 1)["users"].value
    assert_equal %w[ADA MATZ DEEP], v.splice("$..name" => :upcase.to_proc).query("$..name")
    assert_equal [{ "name" => "matz", "x" => { "name" => "deep" } }], v.splice("$.users[:2]" => REMOVED)["users"].value
    assert_equal [{ "id" => 1 }], v.splice("users[?@.name]" => REMOVED)["users"].value
    assert_equal %w[n n], v.splice("$.users[*].name" => View.renamed("n"), "$.users[*].x" => REMOVED)["users"].flat_map(&:keys) - ["id"]
    assert_equal [0, 9, 5, 0, 9, 6, 7], view([5, 6, 7]).splice("$[0,0,1]" => View.inserted(0, 9)).value # what is found twice changes once
  end

  def test_an_error_of_a_new_value_that_packs_itself_is_its_own
    mine = Class.new(StandardError)
    v = view({ "a" => [1, 2] })
    value = Writing.new { raise mine, "not today" }
    [{ "a" => value }, { "a[0]" => [value] }, { "a[0]" => View.inserted(value) }].each do |changes|
      assert_equal "not today", assert_raises(mine) { exercise { v.splice(changes) } }.message
    end
    assert_equal 7, catch(:out) { v.splice("a" => Writing.new { throw :out, 7 }) }
    assert_equal [1, 2], v["a"].value
  end

  def test_procs_and_methods_receive_the_value_as_a_look_returns_it
    v = view({ "a" => [1, { "b" => 2 }], "n" => nil })
    seen = []
    v.splice("n" => ->(x) { seen << x }, "a[1]" => ->(x) { seen << x }, "a[0]" => seen.method(:push)).value
    assert_equal [1, v["a"][1], nil], seen.map { |x| x.is_a?(Array) ? x[0] : x }
    assert_equal({ "b" => 2 }, v.splice("a" => ->(a) { a[1] })["a"].value)
    assert_equal({ b: 2 }, View.new(pack({ a: { b: 2 } }), symbolize_keys: true).splice("a" => ->(a) { a.value })[:a].value)
    assert_raises(RuntimeError) { v.splice("n" => ->(_) { raise "mine" }) }
    assert_equal 5, catch(:out) { v.splice("n" => ->(_) { throw :out, 5 }) }
  end

  def test_renaming_keeps_the_place_and_the_value_and_swaps_keys
    v = view({ "a" => 1, "b" => [2], 3 => nil })
    assert_equal [["z", 1], ["b", [2]], [3, nil]], v.splice("a" => View.renamed("z")).value.to_a
    assert_equal [["b", 1], ["a", [2]], [3, nil]], v.splice("a" => View.renamed("b"), "b" => View.renamed("a")).value.to_a
    assert_equal [["b", 1], [3, nil]], v.splice("a" => View.renamed(:b), "b" => REMOVED).value.to_a
    assert_equal [["a", 1], ["c", [9, 5]], [nil, nil]], v.splice("b" => View.renamed("c"), "b[0]" => 9, "$.b" => View.appended(5), [3] => View.renamed(nil)).value.to_a
    assert_equal v.bytes, v.splice("a" => View.renamed("a"), "zz" => View.renamed("b")).bytes
    [{ "a" => View.renamed("b") }, { "a" => View.renamed("z"), "z" => 1 }, { "a" => View.renamed("z"), "b" => View.renamed("z") },
     { "a" => View.renamed("z"), "$.a" => REMOVED }, { "b[0]" => View.renamed("z") }, { "a" => View.renamed([1]) },
     *["b", "b".b].map { |own| { "a" => View.renamed("b"), "b" => View.renamed(own) } }, { "[*]" => View.renamed("b") }].each do |changes|
      assert_raises(ArgumentError, changes.inspect) { v.splice(changes) }
    end
  end

  def test_arrays_grow_where_they_are_told
    v = view({ "a" => [1, 2] })
    assert_equal [0, 1, 9, 8, 2, 3, 4, 5], v.splice("a" => View.appended(4, 5), "a[0]" => View.inserted(0), "a[-1]" => View.inserted(9, 8), "a[2]" => 3)["a"].value
    assert_equal [1, 2, 7], v.splice("a[2]" => View.inserted(7))["a"].value
    assert_equal [1, 2, 3], view([1]).splice("$" => View.appended(2, 3)).value
    assert_equal [7, 8], view([]).splice([1] => 8, [0] => 7).value
    { "a" => View.inserted(1), "b" => View.inserted(1), "$" => View.appended(1), "a[0]" => View.appended(1) }.each { |path, change| assert_raises(ArgumentError) { v.splice(path => change) } }
    assert_raises(KeyError) { v.splice("b" => View.appended(1)) }
    assert_raises(IndexError) { v.splice("a[3]" => View.inserted(1)) }
  end

  def test_parents_are_made_where_asked_for
    parents = View.method(:with_parents)
    assert_equal({ "a" => { "b" => [1, { "c" => 2 }] } }, view({}).splice("a.b[0]" => parents.(1), "a.b[1].c" => parents.(2)).value)
    assert_equal({ "n" => { "b" => 1 } }, view({ "n" => nil }).splice("n.b" => parents.(1)).value)
    assert_equal({ "a" => 1 }, view(nil).splice("a" => parents.(1)).value)
    assert_equal({ "log" => [1, 2] }, view({}).splice("log" => parents.(View.appended(1, 2))).value)
    assert_equal({ "log" => [1] }, view({}).splice("log[0]" => parents.(View.inserted(1))).value)
    assert_equal [0, [[5]]], view([0]).splice("[1][0][0]" => parents.(5)).value
    assert_equal({}, view({}).splice("a.b" => parents.(REMOVED), "a.c" => parents.(->(_) { 1 })).value)
    assert_raises(KeyError) { view({ "a" => 1 }).splice("a.b" => parents.(1)) }
    assert_raises(KeyError) { view({}).splice("a.b" => parents.(1), "a.c" => 1) }
    assert_raises(IndexError) { view({}).splice("a[1]" => parents.(1)) }
    assert_raises(IndexError) { view({}).splice("a[0]" => parents.(1), "a.b" => parents.(1)) }
  end

  def test_a_symbol_is_the_name_of_a_key
    assert_equal({ "a.b" => 2, "[0]" => 3, "é" => 4, "*" => 1 }, view({ "a.b" => 1, "*" => 1 }).splice("a.b": 2, "[0]": 3, é: 4).value)
    assert_equal({ "a" => 2, "b" => 2 }, view({ "a" => 1, "b" => 1 }).splice("*": 2).value)
    assert_equal({ "b" => 2 }, view({ "a" => 2 }).splice(a: View.renamed(:b)).value)
    assert_raises(ArgumentError) { view({ "a" => 1 }).splice("a" => 2, a: 3) }
  end

  def test_indices_that_no_array_has_are_beyond_its_end
    v = view([1, 2])
    [2**32 - 1, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -2**63].each do |index|
      assert_raises(IndexError) { v.splice([index] => 1, [-1] => 1) }
      assert_equal [3, 2], v.splice([0] => 3, [index] => REMOVED, [index - 1] => REMOVED).value
    end
  end

  def test_an_element_of_an_array_has_no_key_to_rename
    v = view([[1, 2], 3])
    [0, "y"].each do |key|
      ["[0][1]", "[0][0]", "[1]"].each { |path| assert_equal "$#{path} is no key of a map", assert_raises(ArgumentError) { v.splice(path => View.renamed(key)) }.message }
      ["x", "[9]", "[0].x"].each { |path| assert_equal v.bytes, v.splice(path => View.renamed(key)).bytes, [path, key] }
    end
  end

  def test_two_paths_of_one_element_are_one
    v = view([[{ "a" => 1, "b" => 2 }]])
    assert_equal [[{ "a" => 3, "b" => 4 }]], v.splice("[0][0].a" => 3, "[-1][-1].b" => 4).value
    { "[0]" => 1, "[0][0]" => 1, "[0][0].a" => 1 }.each { |path, value| assert_raises(ArgumentError) { v.splice(path => value, "[-1][-1].a" => 2) } }
    ["[0][0].a", "[0][0].z"].each { |path| assert_raises(ArgumentError, path) { v.splice(path => View.renamed("b"), "[-1][-1].a" => View.renamed("b"), "[-1][0].c" => 1) } }
    assert_raises(ArgumentError) { v.splice("[0][0].a" => View.renamed("b"), "[-1][-1].c" => 1) }
  end

  def test_keys_are_added_in_the_order_of_the_changes
    names = %w[zz b aaa a long\ name c]
    assert_equal ["x", *names], view({ "x" => 1 }).splice(names.to_h { |name| [[name], 1] }).keys
    assert_equal names, view({ "x" => nil }).splice(names.to_h { |name| [["x", name, "y"], View.with_parents(1)] })["x"].keys
    assert_equal names.map { |name| [name, { "p" => [1], "q" => 2 }] }, view({}).splice(names.to_h { |name| [[name, "p", 0], View.with_parents(1)] }.merge(names.to_h { |name| [[name, "q"], View.with_parents(2)] })).value.to_a
  end

  def test_a_refused_splice_has_called_nothing
    v = view({ "a" => 1, "b" => [1] })
    [{ "b[7]" => 1 }, { "c.d" => 1 }, { "b" => View.renamed("a") }, { "a.b" => 1 }].each do |refused|
      assert_raises(ArgumentError, KeyError, IndexError) { v.splice({ "b[0]" => ->(_) { flunk } }.merge(refused)) }
    end
    assert_raises(Manypack::MalformedFormatError) { View.new("\x91\x01\x02").splice("[0]" => ->(_) { flunk }) }
  end

  # --- options, and code of the user's -------------------------------------------------------------------

  def test_the_options_of_the_view_hold_for_the_new_message
    assert_equal :text, View.new(pack({ "a" => 1 }), symbolize_keys: true).splice("a" => "b", "c" => 1).value.then { |h| h.keys == %i[a c] ? :text : h }
    assert_predicate view([1], freeze: true).splice("[0]" => "x"), :frozen?
    assert Ractor.shareable?(view([1], shareable: true).splice("[0]" => "x"))
    assert_raises(Manypack::LimitError) { view([1], max_bytes: 4).splice("[0]" => "long text") }
    assert_raises(Manypack::LimitError) { view([1], max_objects: 3).splice("[0]" => [1, 2, 3]) }
    assert_raises(Manypack::NestingError) { view([1], max_depth: 2).splice("[0]" => [[[1]]]).value }
    deep = ["a"] * 300_000
    assert_raises(Manypack::NestingError) { view([0]).splice([0, *deep] => 1, [-1, *deep] => 2) }
    assert_raises(Manypack::NestingError) { view({}).splice(deep => View.with_parents(1)) }
    assert_equal Manypack.pack([{ "a" => 1, "b" => 2 }], canonical: true), Manypack::Codec.new(canonical: true).view(pack([0])).splice("[0]" => { "b" => 2, "a" => 1 }).bytes
  end

  # Ways to put n nested arrays where a message has a value that is inside of n others.
  NESTING = {
    "a value" => ->(v, path, value, _) { v.splice(path => value) },
    "a value that a Proc returns" => ->(v, path, value, _) { v.splice(path => ->(_) { value }) },
    "a View" => ->(v, path, value, _) { v.splice(path => View.new(Manypack.pack(value))) },
    "an object with a View in it" => ->(v, path, value, _) { v.splice(path => value.map { |part| part.is_a?(Array) ? View.new(Manypack.pack(part)) : part }) },
    "to_msgpack" => ->(v, path, value, _) { v.splice(path => Written.new(value)) },
    "an inserted value" => ->(v, path, value, _) { v.splice(path => View.inserted(1, value)) },
    "an appended value" => ->(v, path, value, _) { v.splice(path[0..-4].then { |parent| parent.empty? ? "$" : parent } => View.appended(value)) },
    "an added value" => ->(v, path, value, _) { v.splice("#{path[0..-4]}[1]" => value) },
    "made parents" => lambda { |v, path, _, levels|
      v.splice("#{path[0..-4]}[1]#{"[0]" * levels}" => View.with_parents(1))
    }
  }.freeze

  Written = Struct.new(:value) do
    def to_msgpack(packer) = packer.write(value)
  end

  def nested(levels, leaf = 1) = levels.zero? ? leaf : [nested(levels - 1, leaf)]

  def test_a_message_that_splice_makes_is_no_deeper_than_unpack_takes
    NESTING.each do |name, splice|
      (FEW_CASES ? [3, nil] : [1, 3, 40, 128, nil, 200]).product([1, 2, 7], [0, 300]) do |limit, levels, text|
        [-1, 0, 1].each { |off| assert_depth(splice, limit, (limit || 128) - levels + off, levels, "x" * text, "#{name}, #{limit}, #{levels}, #{off}, #{text}") }
      end
    end
  end

  def assert_depth(splice, limit, outer, levels, text, words)
    return if outer < 1

    v = View.new(pack(nested(outer), max_depth: 500), **{ max_depth: limit }.compact)
    value = nested(levels - 1, [1, text].reject { |leaf| leaf == "" })
    spliced = -> { splice.call(v, "[0]" * outer, value, levels) }
    if outer > (limit || 128) || outer + levels > (limit || 128)
      assert_raises(Manypack::StackError, Manypack::NestingError, words, &spliced)
    else
      assert_equal outer + levels, depth_of(spliced.call.value), words
    end
  end

  def depth_of(object) = object.is_a?(Array) ? 1 + (object.map { depth_of(_1) }.max || 0) : 0

  def test_a_splice_refuses_a_message_that_is_too_deep_where_it_reads_it
    deep = pack(nested(3))
    ["[0]", "[0][0]", "[0][0][0]"].each { |path| assert_raises(Manypack::StackError, path) { View.new(deep, max_depth: 2).splice(path => 1) } }
    assert_raises(Manypack::StackError) { View.new(pack([[1, [[]], [[2]]]]), max_depth: 3).splice("[0][0]" => 1) }
    exercise { assert_raises(Manypack::StackError) { View.new(deep, max_depth: 3).splice("[0][0][0]" => [1] * 9) } }
    assert_equal [[[]]], View.new(pack([[[]]]), max_depth: 2).splice("[0][1]" => View::REMOVED).value
    assert_raises(Manypack::StackError) { View.new(pack([[[]]]), max_depth: 2).splice("[0][0][0]" => 1) }
  end

  class Reentering
    def initialize(view) = @view = view

    def to_msgpack(packer)
      GC.respond_to?(:compact) ? GC.compact : GC.start
      packer.write(@view.splice("[0]" => "x" * 5_000, "[1]" => Manypack::View::REMOVED).value)
    end
  end

  def test_to_msgpack_and_blocks_may_splice_and_compact_and_change_what_was_given
    v = view(["a", { "b" => 1 }, "z" * 700])
    path = +"[0]"
    changes = { path => Reentering.new(v), "[1].b" => ->(_) { v.splice("[1]" => 2, "[0]" => Reentering.new(v)) }, "[3]" => "end" }
    changes["[2]"] = lambda do |_|
      changes.clear
      path.replace("x" * 100)
      compact
      nil
    end
    inner = ["x" * 5_000, "z" * 700]
    assert_equal [inner, { "b" => [inner, 2, "z" * 700] }, nil, "end"], v.splice(changes).value
  end

  def test_ext_types_as_keys
    codec = Manypack::Factory.new.tap { |f| f.register_type(7, Range, packer: :to_s, unpacker: ->(body) { compact && body }) }.codec
    v = codec.view("\x82\xD4\x07x\x01\xA1a\x02".b)
    assert_equal "\x82\xD4\x07x\x05\xA1a\x06".b, v.splice("x" => 5, "a" => 6).bytes
    assert_equal "\x81\xA1a\x02".b, v.splice("x" => REMOVED).bytes
  end

  def test_what_cannot_be_packed_says_where
    v = view({ "a" => [1], "b" => {} })
    { { "a[0]" => Object.new } => "$.a[0]", { "b.c" => [Object.new] } => "$.b.c[0]", { "a" => View.appended(Object.new) } => "$.a",
      { "b" => ->(_) { [BasicObject] } } => "$.b[0]", { "x.y" => View.with_parents([Object.new]) } => "$.x.y[0]" }.each do |changes, place|
      error = assert_raises(NoMethodError) { v.splice(changes) }
      assert_includes error.message, ", at #{place}"
    end
  end

  def test_what_are_no_changes
    v = view({ "a" => 1 })
    [nil, 1, "a", [["a", 1]]].each { |no_hash| assert_raises(TypeError, no_hash.inspect) { v.splice(no_hash) } }
    [{ 1.5 => 1 }, { nil => 1 }, { Object => 1 }].each { |changes| assert_raises(TypeError) { v.splice(changes) } }
    [{ "$" => 1 }, { "$" => REMOVED }, { "" => 1 }, { "a..." => 1 }, { [] => 1 }].each { |changes| assert_raises(ArgumentError, changes.inspect) { v.splice(changes) } }
    assert_raises(ArgumentError) { View.new("\x81\x91\x01\x02".b).splice("$[*]" => 1) } # no path has such a key
  end

  private

  def compact
    GC.respond_to?(:compact) ? GC.compact : GC.start
  end
end

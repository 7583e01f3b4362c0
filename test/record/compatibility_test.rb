# frozen_string_literal: true

# reads? and incompatibilities: judged by trying. If the answer is yes, random messages of the old version load; if it is
# no, each example is a message that the old version writes and the new one refuses.
require "test_helper"

class CompatibilityTest < Minitest::Test
  Type = Manypack::Type
  Record = Manypack::Record

  # Makes random types, changes of them, and messages for them. A plan is an Array: a kind and its details.
  class Plans
    SCALARS = [Integer, Float, String, Symbol, nil, true, Object, 1..9, -5..3, 0.0..1.0, 0.5.., 200..300, %w[a b], ["a", nil], [1, 2, 2.5], %i[a c],
               Numeric, Array, Hash, Manypack::View].freeze
    VALUES = [nil, true, false, 0, 1, 2, 9, -5, 300, 2**53 + 1, 2**64 - 1, 0.0, 0.5, 1.0, 2.5, -1e300, Float::NAN, "a", "b", "c", "\xFF", "\xFF".b, [], [nil],
              {}, { "a" => 1 }, { 1 => nil }].freeze
    NAMES = %i[id name tags home].freeze
    LIMITS = [{}, {}, {}, {}, { utf8: :strict }, { max_string_bytes: 5 }, { max_array_size: 2 }, { max_bytes: 500 }, { max_map_size: 2 }, { max_objects: 80 }, { max_depth: 9 }].freeze

    def initialize(random)
      @random = random
    end

    def one_of(*values) = values.sample(random: @random)

    def plan(levels)
      case levels.positive? ? @random.rand(11) : 0
      when 0..2 then [:scalar, one_of(*SCALARS)]
      when 3 then [:list, plan(levels - 1)]
      when 4 then [:map, one_of(String, Integer, Symbol, %w[id name]), plan(levels - 1)]
      when 5 then [:or, plan(levels - 1), [:scalar, one_of(nil, true, 1..9)]]
      when 6 then [:union, { "x" => record(levels - 1), "y" => record(levels - 1) }, one_of(nil, [:scalar, Manypack::View]), one_of(nil, nil, record(levels - 1))]
      when 7 then [:choice, { 0 => map(levels - 1), 1 => map(levels - 1) }]
      when 8 then [:first, { "x" => array(levels - 1), "y" => array(levels - 1) }, one_of(nil, [:list, [:scalar, Object]])]
      else record(levels)
      end
    end

    def record(levels)
      members = NAMES.sample(@random.rand(1..3), random: @random).to_h { |name| [name, plan(levels - 1)] }
      [:record, members, { unknown: one_of(:skip, :skip, :raise), defaults: [], keys: {} }, one_of(:map, :map, :map, :array)]
    end

    def map(levels) = [*record(levels).take(3), :map]
    def array(levels) = [*record(levels).take(3), :array]

    # Returns a plan with one change, somewhere in it.
    def change(plan)
      kind, one, two, three = plan
      return changed_here(plan) if kind == :scalar || @random.rand(4).zero?

      case kind
      when :list then [:list, change(one)]
      when :map then [:map, one, change(two)]
      when :or then [:or, change(one), two]
      when :union, :first then [kind, { **one, "x" => change(one["x"]) }, two, three]
      when :choice then [:choice, { **one, 1 => change(one[1]) }]
      when :record
        name = one.keys.sample(random: @random)
        [:record, { **one, name => change(one[name]) }, two, three]
      end
    end

    def changed_here(plan)
      kind, one, two, three = plan
      case kind
      when :record then changed_record(one, two, three)
      when :union then one_of([:union, { **one, "z" => record(1) }, two], [:union, one.slice("x"), two], [:union, one, [:scalar, Hash]], [:union, one, two, record(1)])
      when :first then one_of([:first, { **one, "z" => array(1) }, two], [:first, one.slice("x"), two], [:first, one, [:list, [:scalar, Object]]])
      when :choice then one_of([:choice, { **one, 2 => map(1) }], one[0], [:choice, one.merge(0 => one[1], 1 => one[0])])
      when :or then one
      else one_of([:scalar, one_of(*SCALARS)], [:or, plan, [:scalar, nil]], [:list, plan], plan)
      end
    end

    def changed_record(members, options, form)
      name = members.keys.sample(random: @random)
      free = (NAMES - members.keys).first || :more
      one_of([:record, { **members, free => [:scalar, Integer] }, options, form],
             [:record, { **members, free => [:scalar, Integer] }, { **options, defaults: [free] }, form],
             [:record, members, { **options, unknown: one_of(:raise, :skip) }, form],
             [:record, members, { **options, keys: { name => one_of(["other"], ["other", name.name], [name.name, "other"]) } }, form],
             [:record, members, { **options, defaults: [name] }, form],
             [:record, members.size > 1 ? members.except(name) : members, { **options, defaults: [], keys: {} }, form],
             [:record, members, options, one_of(:map, :array)])
    end

    def type(plan)
      kind, one, two, three = plan
      case kind
      when :scalar then Type[one]
      when :list then Type[[type(one)]]
      when :map then Type[{ one => type(two) }]
      when :or then type(one).or(type(two))
      when :union
        others = { else: two, untagged: three && [*three.take(3), :map] }.compact.transform_values { |part| type(part) }
        Record.union("type", one.transform_values { |part| type([*part.take(3), :map]) }, **others)
      when :first then Record.union(0, one.transform_values { |part| type([*part.take(3), :array]) }, **(two ? { else: type(two) } : {}))
      when :choice then Type[*one.values.map { |part| type([*part.take(3), :map]) }]
      when :record
        record = Record.new(Struct.new(*one.keys), **one.transform_values { |part| type(part) })
        record = record.with(unknown: two[:unknown], defaults: two[:defaults].to_h { |name| [name, nil] }, keys: two[:keys])
        three == :array ? record.array : record
      end
    end

    # Returns an object that a message of the plan may be, or one that may be wrong.
    def message(plan)
      kind, one, two, three = plan
      case kind
      when :scalar then one_of(*VALUES)
      when :list then Array.new(@random.rand(5)) { message(one) }
      when :map then Array.new(@random.rand(3)) { |i| one == Integer ? i : %w[id name][i] }.to_h { |key| [key, message(two)] }
      when :or then message(one_of(one, two))
      when :choice then message([*one[one.keys.sample(random: @random)].take(3), :map])
      when :first then [(tag = one.keys.sample(random: @random)), *message([*one[tag].take(3), :array])].drop(@random.rand(9) / 8)
      when :union
        return message([*three.take(3), :map]) if three && @random.rand(3).zero?

        { "type" => (tag = one.keys.sample(random: @random)), **message([*one[tag].take(3), :map]) }
      when :record then three == :array ? one.values.map { |part| message(part) } : one.to_h { |name, part| [two[:keys].fetch(name, [name.name])[0], message(part)] }
      end
    end
  end

  def written(type, message)
    type.dump(type.load(Manypack.pack(message)))
  rescue Manypack::Error
    nil
  end

  def pairs
    count = 0
    (1..).each do |seed|
      plans = Plans.new(random = Random.new(seed))
      plan = plans.plan(3)
      changed = (1 + random.rand(2)).times.reduce(plan) { |one, _| plans.change(one) }
      limits = plans.one_of(*Plans::LIMITS)
      old, new = [plan, changed].map { |one| plans.type(one).with(**plans.one_of(limits, limits, {})) }
      yield plans, plan, old, new, seed
      return if (count += 1) == 200
    rescue ArgumentError # two parts of a union are maps, or an array has a tag
      next
    end
  end

  def assert_read(plans, plan, old, new, seed)
    messages = Array.new(100) { written(old, plans.message(plan)) }.compact
    refused = messages.find { |bytes| !new.valid?(bytes) }
    assert_nil refused && Manypack.unpack(refused, allow_unknown_ext: true), "#{seed}: #{old.inspect} as #{new.inspect}"
    messages.size
  end

  def assert_shown(found, old, new, seed)
    examples = found.filter_map(&:example)
    refute_empty examples, "#{seed}: #{old.inspect} as #{new.inspect}: #{found.join("; ")}"
    examples.each { |bytes| assert old.valid?(bytes) && !new.valid?(bytes), "#{seed}: #{old.inspect} as #{new.inspect}" }
  end

  def test_200_pairs_of_versions_judged_by_trying
    answers = Hash.new(0)
    tried = 0
    pairs do |plans, plan, old, new, seed|
      found = new.incompatibilities(old)
      answers[found.empty?] += 1
      assert_equal found.empty?, new.reads?(old)
      found.empty? ? tried += assert_read(plans, plan, old, new, seed) : assert_shown(found, old, new, seed)
    end
    assert_operator answers.values.min, :>, 50, answers.inspect
    assert_operator tried, :>, 1000
  end

  def said(old, new) = new.incompatibilities(Type[old]).map(&:to_s)

  User = Struct.new(:id, :name, :tags)
  Other = Struct.new(:id, :email)
  Comment = Struct.new(:text, :replies)
  USER = Record.new(User, id: Integer, name: String, tags: [String])

  def test_reasons_have_the_path_and_both_sides
    new = Record.new(User, id: 0.., name: Symbol, tags: [Type[String, nil]])
    assert_equal ["$.id: the old version writes Integer, the new one takes Integer in 0..",
                  "$.name: the old version writes String, the new one takes Symbol"], said(USER, new)
    assert_equal ['$.tags: the old version writes the key "tags", the new one refuses it', '$.email: the old version may write no "email", the new one needs it'],
                 said(USER.with(keys: { name: "email2" }), Record.new(Other, id: Integer, email: String).with(unknown: :raise)).grep_v(/email2/)
  end

  def test_what_a_constructor_or_a_default_makes_optional_may_be_missing
    assert Record.new(Other, id: Integer, email: String).with(defaults: { email: nil }).reads?(USER)
    assert USER.array.with(defaults: { tags: [] }).reads?(Record.new(Struct.new(:id, :name), id: Integer, name: String).array)
  end

  def test_keys_that_are_read_need_not_be_written
    assert USER.with(keys: { name: %w[full name] }).reads?(USER)
    refute USER.reads?(USER.with(keys: { name: %w[full name] }))
    assert_equal ['$.name: the old version may write no "name", the new one needs it'], said(USER.with(keys: { name: %w[full name] }), USER)
  end

  def test_recursive_types_that_go_on_in_the_same_way_are_read
    old, new = [String, Type[String, nil]].map { |text| Record.new(Comment, text: text, replies: [:Comment]) }
    assert new.reads?(old)
    assert_equal ["$.text: the old version writes nil, the new one takes String"], said(new, old)
  end

  def test_several_types_may_take_together_what_one_writes
    assert Type[1..5, 6..10].reads?(Type[1..10])
    assert Type[0.0..0.5, 0.5.next_float..1.0].reads?(Type[0.0..1.0])
    assert Type[Float].reads?(Type[1..2**53])
    refute Type[Float].reads?(Type[1..2**53 + 1])
    assert Type[Float, [2**53 + 1]].reads?(Type[1..2**53 + 1])
    refute Type[-1.0..1.0].reads?(Type[Float]), "NaN"
  end

  def test_a_union_reads_one_with_fewer_tags
    one, two = [USER, Record.new(Other, id: Integer, email: String)].map { |record| record.with(unknown: :raise) }
    old, new = Record.union("type", "a" => one), Record.union("type", "a" => one, "b" => two)
    assert new.reads?(old)
    assert_equal ['$.type: the old version writes "b", which is no tag of the new one'], said(new, old)
    assert_equal ['$.type: the old version may write no "type", the new one needs that tag'], said(USER, new).uniq
  end

  def test_records_are_told_apart_by_their_members
    circle, square = record(radius: Integer), record(side: Integer)
    assert Type[square, circle].reads?(Type[circle, square])
    assert_equal ['$.radius: the old version may write no "radius", the new one needs it'], said(Type[circle, square], circle)
    ring = record(radius: Integer, inner: String)
    assert_refused(record(radius: Integer, inner: Integer), Type[circle, ring], { "radius" => 1, "inner" => 2 })
    assert Type[circle, ring].reads?(circle)
    named = record(radius: Integer, inner: Integer, name: String).with(defaults: { inner: 0 })
    assert Type[ring, named].reads?(record(radius: Integer, name: String)), "what is read, and could not be written again"
  end

  def test_what_has_no_tag_and_what_has_its_tag_first
    circle, square = record(radius: Integer), record(side: Integer)
    old, new = [{ "c" => circle }, { "c" => circle, "s" => square }].map { |tags| Record.union("type", tags, untagged: record(text: String)) }
    assert new.reads?(old)
    assert_equal ['$.type: the old version writes "s", which is no tag of the new one'], said(new, old)
    assert_refused(old, Record.union("type", { "c" => circle }, untagged: record(text: Integer)), { "text" => "a" })
    old, new = [{ "c" => circle.array }, { "c" => circle.array, "s" => square.array }].map { |tags| Record.union(0, tags) }
    assert new.reads?(old)
    assert_equal ['$: the old version writes "s", which is no tag of the new one'], said(new, old)
    assert_refused(old, Record.union(0, { "c" => record(radius: String).array }), ["c", 1])
  end

  def test_what_depends_on_too_many_keys_is_not_known
    many = (0..12).map { |i| record(**(0..12).to_h { |j| [:"m#{i}_#{j}", Integer] }) }
    assert_includes said({ String => Integer }, Type[*many]).last, "too many keys"
  end

  # A message that an old version takes as anything else may be what a new one has a tag for.
  def test_what_was_kept_as_something_else_may_have_a_new_tag
    one, two = USER, Record.new(Other, id: Integer, email: String)
    old = Record.union("type", "a" => one, else: Manypack::View)
    found = Record.union("type", "a" => one, "b" => two, else: Manypack::View).incompatibilities(old)
    assert_includes found.map(&:path), "$.id"
    assert_equal(["b"], found.filter_map(&:example).map { |bytes| Manypack.unpack(bytes, allow_unknown_ext: true)["type"] }.uniq)
  end

  def test_ext_types_are_read_by_number_and_class
    codec = Manypack::Factory.new.tap { |factory| factory.register_type(5, Other, packer: ->(_) { "" }, unpacker: ->(_) { Other.new }) }.codec
    assert Type[[Other]].with(codec: codec).reads?(Type[[Other]].with(codec: codec))
    assert Type[[Object]].with(codec: codec).reads?(Type[[Other]].with(codec: codec))
    refute Type[[Object]].reads?(Type[[Other]].with(codec: codec))
    assert Type[Manypack::View].reads?(Type[Time].with(timestamp: true))
    refute Type[Object].reads?(Type[Time].with(timestamp: true))
  end

  def test_a_limit_counts_only_if_it_can_be_exceeded
    assert Type[[Integer]].with(max_string_bytes: 1).reads?(Type[[Integer]])
    refute Type[[Integer]].with(max_array_size: 9).reads?(Type[[Integer]])
    assert Record.new(Other, id: 1..5, email: nil).with(max_bytes: 50).reads?(Record.new(Other, id: 1..5, email: nil))
    assert Type[{ 1..5 => nil }].with(max_map_size: 5).reads?(Type[{ 1..5 => nil }])
  end

  # The limits of untrusted: true, which the extension knows.
  def test_the_limits_of_untrusted_are_those_of_the_extension
    limits = Type.const_get(:Description)::UNTRUSTED
    samples = { max_bytes: ->(n) { [*["a" * 200_000] * 5, "a" * (n - 1_000_000 - 29)] }, max_objects: ->(n) { [*[[nil] * 9999] * (n / 10_000 - 1), [nil] * (9998 + n % 10_000)] }, max_depth: ->(n) { n.times.reduce(nil) { |inner, _| [inner] } },
                max_map_size: ->(n) { (1..n).to_h { |i| [i, nil] } }, max_array_size: ->(n) { [nil] * n }, max_string_bytes: ->(n) { "a" * n } }
    samples.each do |name, sample|
      assert Type[Object].with(untrusted: true).valid?(Manypack.pack(sample.call(limits[name]))), name
      refute Type[Object].with(untrusted: true).valid?(Manypack.pack(sample.call(limits[name] + 1))), name
    end
  end

  def test_rules_that_follow_from_others_are_kept
    { Type[String, length: 1..10] => Type[String, length: 1..20], Type.text => String, Type.bytes => String, Type[Integer, multiple_of: 10] => Type[Integer, multiple_of: 5],
      Type[[Integer], length: ..3] => Type[[Integer], length: ..5], Type.tuple(Integer, Integer) => [Integer], Type.set(Integer) => [Integer] }.each do |old, new|
      assert Type[new].reads?(old), "#{old.inspect} as #{new.inspect}"
      refute_empty Type[old].incompatibilities(Type[new]), "#{new.inspect} as #{old.inspect}"
    end
    assert_equal [[1, 1, 1, 1]], Type[[Integer], length: ..3].incompatibilities(Type[[Integer]]).map { |found| Manypack.unpack(found.example) }
  end

  # Each old type writes the message, and each new one refuses it.
  def assert_refused(old, new, message)
    old, new = Type[old], Type[new]
    bytes = old.dump(old.load(old.codec.pack(message)))
    assert_raises(Manypack::DecodeError) { new.load(bytes) }
    refute new.reads?(old), "#{old.inspect} as #{new.inspect}"
  end

  def record(**types) = Record.new(Struct.new(*types.keys, keyword_init: true), **types)

  def test_what_is_skipped_may_exceed_limits
    old, new = record(id: Integer, note: String, tags: [Integer]), record(id: Integer)
    assert new.reads?(old)
    message = { "id" => 1, "note" => "\xFFaaaaaaa", "tags" => [1, 2, 3] }
    assert_refused(old, new.with(max_string_bytes: 5), message)
    assert_refused(old, new.with(max_array_size: 2), message)
    assert_refused(old, new.with(utf8: :strict), message)
    assert_refused({ String => Integer }, new.with(defaults: { id: 0 }, utf8: :strict), { "\xFF" => 1 })
    assert_refused(record(id: Integer, tags: [Integer]).array, new.array.with(max_array_size: 2), [1, [1, 2, 3]])
  end

  def test_literals_keys_and_exts_have_lengths
    assert_refused(%w[aaaaaaaaa b], Type[%w[aaaaaaaaa b]].with(max_string_bytes: 5), "aaaaaaaaa")
    assert_refused(record(identifier: Integer), record(identifier: Integer).with(max_string_bytes: 5), { "identifier" => 1 })
    factory = Manypack::Factory.new
    factory.register_type(5, Other, packer: ->(_) { "aaaaaaaa" }, unpacker: ->(_) { Other.new })
    ext = Type[Other].with(codec: factory.codec)
    assert_refused(ext, ext.with(max_ext_bytes: 4), Other.new)
    assert ext.with(max_ext_bytes: 4).reads?(ext.with(max_ext_bytes: 3))
  end

  def test_a_tag_that_no_message_has_does_not_hide_the_others
    endless = record(child: :self)
    old, new = [Integer, String].map { |type| Record.union("type", "endless" => endless, "leaf" => record(value: type)) }
    assert_refused(old, new, { "type" => "leaf", "value" => 1 })
  end

  def test_rules_of_converted_objects_say_nothing_about_what_is_written
    parts = Type.via(Array, String, load: ->(text) { text.split(",") }, dump: ->(array) { array.join(",") })
    assert_refused(Type[parts, length: ..1], Type[String, length: ..1], "abc")
  end

  def test_rules_of_keys_may_allow_what_is_known
    keys = Type[String, length: 1..9]
    assert_refused({ keys => Integer }, record(a: String).with(defaults: { a: "" }), { "a" => 1 })
    assert_refused({ keys => String }, Record.union("type", "x" => record(id: Integer), else: { String => Object }), { "type" => "x", "id" => "1" })
  end

  def test_rules_of_what_a_record_collects_count
    new = record(extra: Type[{ String => Integer }, length: ..1]).with(unknown: { into: :extra })
    assert_refused({ String => Integer }, new, { "a" => 1, "b" => 2 })
  end

  def test_where_it_cannot_know_the_answer_is_no
    assert_equal ["$"], Type[Time].incompatibilities(Type[Time]).map(&:path)
  end

  def test_a_description_names_a_struct_with_keywords_as_it_does_a_data
    klass = Struct.new(:a, keyword_init: true)
    klass.define_singleton_method(:name) { "Sale" }
    assert_equal "Sale", Record.new(klass, a: Integer).description["nodes"][0]["words"]
  end

  def test_a_description_is_data
    description = Record.union("type", 1 => USER, else: Manypack::View).description
    assert_equal description, Manypack.unpack(Manypack.pack(description))
  end

  def test_only_types_have_versions
    assert_raises(TypeError) { USER.reads?(User) }
    assert_raises(TypeError) { USER.incompatibilities(nil) }
    assert Record.define(id: Integer).record.reads?(Record.define(id: 1..5))
  end
end

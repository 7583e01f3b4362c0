# frozen_string_literal: true

# View#splice: every change that it makes, on random messages as a plain implementation on objects makes them, and what
# it refuses.
require "test_helper"
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

  private

  def compact
    GC.respond_to?(:compact) ? GC.compact : GC.start
  end
end

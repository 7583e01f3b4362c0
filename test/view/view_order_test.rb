# frozen_string_literal: true

# Looks in any order find what unpacking would, take time in proportion to the message and their number, and need no more
# memory than the message.
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

  def test_arrays_are_linear_in_any_order
    ORDERS.each_value do |indices|
      ELEMENTS.fetch_values(:integers, :rows).each do |element|
        assert_linear(1_000) do |size|
          bytes = pack(Array.new(size, &element))
          order = indices.call(size)
          -> { View.new(bytes).then { |view| order.each { |i| view[i] } } }
        end
      end
    end
  end

  # More arrays in turn than an Index remembers places of.
  def test_columns_are_linear_in_the_order_of_rows
    assert_linear(200) do |size|
      bytes = pack(Array.new(20) { Array.new(size) { |i| i } })
      -> { View.new(bytes).then { |view| size.times { |i| 20.times { |column| view[column][i] } } } }
    end
  end

  # Each time from a View of its own: marks belong to the message.
  def test_fresh_views_of_one_message_are_linear
    assert_linear(1_000) do |size|
      view = View.new(pack({ "a" => Array.new(size) { |i| [i] } }))
      -> { (1..size).each { |i| view["a"][-i][0] } }
    end
  end

  def test_single_looks_and_looks_forwards_need_no_memory
    bytes = pack([Array.new(50_000) { |i| i }, Array.new(50_000) { |i| i }])
    looks = [->(view) { view[0][-1] }, ->(view) { view[0][49_000] && view[1][49_000] },
             ->(view) { 50_000.times { |i| view[1][i] } }, ->(view) { (0...50_000).step(100) { |i| view[0][i] } }]
    looks.each do |look|
      view = View.new(bytes)
      look.call(view)
      assert_operator index_size(view), :<, 2_000
    end
  end

  def test_memory_counts_and_is_bounded_by_that_of_the_message
    messages = [Array.new(50_000, 1), Array.new(1_000) { Array.new(33, 1) }, Array.new(20) { Array.new(3_000) { |i| [i] } }]
    messages.each do |message|
      view = View.new(pack(message))
      size = view.bytesize
      3.times { (1..message.size).each { |i| view[-i].then { |part| part.is_a?(View) && part.size.times { |j| part[-1 - j] } } } }
      assert_operator index_size(view), :<, size * 1.25
      view.freeze
      assert_operator index_size(view), :<, size * 1.25
    end
    view = View.new(pack(messages[0]))
    3.times { |i| view[-1 - i] }
    assert_operator index_size(view), :>, 50_000 / 16 * 8
  end

  def test_ractors_read_a_shared_view_in_any_order
    array = Array.new(3_000) { |i| i % 5 == 0 ? [i, "x" * 70] : i }
    view = Ractor.make_shareable(View.new(pack({ "a" => array })))
    ractors = Array.new(2) { |k| Ractor.new(view, k) { |mine, from| (1 + from..mine["a"].size).sum { |i| e = mine["a"][-i]; e.is_a?(Integer) ? e : e[0] } } }
    sums = ractors.map { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take }
    assert_equal [(0...3_000).sum, (0...2_999).sum], sums
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

  def test_marks_under_a_collection_at_every_allocation
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

# frozen_string_literal: true

# What user code may do to a pack from inside to_msgpack, and what it may not.
require "test_helper"

class ToMsgpackTest < Minitest::Test
  include CorePart

  # Writes itself by a block.
  class Foreign
    def initialize(&block)
      @block = block
    end

    def to_msgpack(packer)
      @block.call(packer)
    end
  end

  def foreign(&block)
    Foreign.new(&block)
  end

  def test_every_write_method_is_at_hand
    obj = foreign do |packer|
      packer.write_array_header(6).write_int(1).write_bin("b").write_float32(1.5).write_ext(1, "e").write_symbol(:s)
      packer.write_map_header(1).write_nil.write_true
    end
    assert_packs "91 96 01 c4 01 62 ca 3f c0 00 00 d4 01 65 a1 73 81 c0 c3", [obj]
  end

  def test_the_result_of_to_msgpack_does_not_matter
    [nil, false, 1, "string"].each { |result| assert_packs "91 01", [foreign { |packer| packer.write(1) && result }] }
  end

  def test_a_packer_shows_what_was_written_before_it_was_lent
    seen = nil
    pack([1, foreign { |packer| seen = [packer.to_s, packer.size, packer.empty?] && packer.write(2) && hex(packer.to_s) }])
    assert_equal "92 01 02", seen
  end

  def test_array_that_shrinks_grows_or_vanishes_raises
    [->(array) { array.clear }, ->(array) { array.pop }, ->(array) { array << 1 }, ->(array) { array.concat([1] * 1_000) }].each do |change|
      array = [1, nil, 3]
      array[1] = foreign { |packer| change.call(array) && packer.write(2) }
      error = assert_raises(RuntimeError) { exercise { pack({ "list" => array }) } }
      assert_match(/\AArray was modified during packing, at \$\.list/, error.message)
    end
  end

  def test_array_changed_by_its_last_element_raises
    array = [1]
    array << foreign { |packer| array << 3 && packer.write(2) }
    assert_refused_while_packed(/Array was modified during packing/) { pack(array) }
  end

  def test_array_of_the_same_size_may_change
    array = [nil, 2]
    array[0] = foreign { |packer| array.replace([0, "new"]) && packer.write(1) }
    assert_packs "92 01 a3 6e 65 77", array
  end

  def test_hash_that_changes_size_raises
    [->(hash) { hash.clear }, ->(hash) { hash.delete("z") }, ->(hash) { hash["new"] = 1 }].each do |change|
      [3, 50].each do |size|
        hash = (0...size).to_h { |i| [i, i] }
        hash["a"] = foreign { |packer| change.call(hash) && packer.write(2) }
        hash["z"] = 1
        assert_refused_while_packed(/Hash was modified during packing/, /add a new key into hash during iteration/) { exercise { pack(hash) } }
      end
    end
  end

  def test_hash_values_may_change
    hash = { "a" => nil, "b" => 1 }
    hash["a"] = foreign { |packer| (hash["b"] = "new") && packer.write(1) }
    assert_packs "82 a1 61 01 a1 62 a3 6e 65 77", hash
  end

  def test_a_packer_kept_beyond_the_pack_raises
    kept = nil
    result = pack([foreign { |packer| (kept = packer).write(1) }])
    %i[write_nil to_s size reset full_pack].each { |method| assert_refused { kept.public_send(method) } }
    assert_refused { kept.write([1]) }
    assert_equal "91 01", hex(result)
  end

  def test_a_packer_kept_beyond_a_failed_pack_does_no_harm
    kept = nil
    assert_raises(IOError) { pack([foreign { |packer| (kept = packer) && raise(IOError) }]) }
    begin
      kept.write("x" * 10_000)
    rescue RuntimeError
      assert_refused { kept.to_s }
    end
    assert_packs "91 01", [1]
  end

  def test_reset_and_full_pack_of_a_lent_packer_raise
    %i[reset clear full_pack].each do |method|
      error = assert_raises(RuntimeError) { exercise { pack([1, foreign { |packer| packer.public_send(method) }]) } }
      assert_match(/\APacker is in use by another call/, error.message)
    end
  end

  def test_a_rescued_reset_leaves_the_output_as_it_was
    assert_packs "92 01 02", [1, foreign { |packer| assert_refused { packer.reset } && packer.write(2) }]
  end

  def test_a_rescued_write_leaves_the_output_as_it_was
    obj = foreign do |packer|
      assert_raises(NoMethodError) { packer.write([1, 2, Object.new]) }
      packer.write("fallback")
    end
    assert_packs "91 a8 66 61 6c 6c 62 61 63 6b", [obj]
  end

  # What foreign objects inside it wrote had been committed already.
  def test_a_rescued_write_is_taken_back_at_every_depth_and_whatever_comes_next
    written = foreign { |packer| packer.write("lost" * 100) }
    failing = [written, "x" * 1_000_000, [written, BasicObject.new]]
    after = { "a write" => [->(packer) { packer.write(1) }, "91 01"], "bytes" => [->(packer) { packer.buffer << "\x01" }, "91 01"],
              "nothing" => [->(_) {}, "90"] }
    after.each do |name, (step, expected)|
      rescuing = foreign do |packer|
        packer.write_array_header(name == "nothing" ? 0 : 1)
        assert_raises(NoMethodError) { packer.write(failing) }
        step.call(packer)
      end
      assert_packs expected, rescuing
      assert_packs "93 07 91 #{expected} 08", [7, [rescuing], 8]
      assert_packs "91 91 #{expected}", foreign { |packer| packer.write_array_header(1).write([rescuing]) }
    end
  end

  def test_objects_inside_each_other_are_lent_the_same_packer
    outer = nil
    inner = foreign { |packer| assert_same(outer, packer).then { packer.write(1) } }
    assert_packs "91 01", foreign { |packer| (outer = packer) && packer.write([inner]) }
  end

  # Ways to write an object around another one. The third adds no level.
  Ext = Struct.new(:inner)
  AROUND = [
    ->(inner) { [inner] }, ->(inner) { { 1 => inner } }, ->(inner) { Foreign.new { |packer| packer.write(inner) } },
    ->(inner) { Foreign.new { |packer| packer.write_array_header(1).write(inner) } }, ->(inner) { Ext.new(inner) }
  ].freeze

  def test_what_is_packed_at_a_max_depth_is_what_unpack_reads_at_it
    factory = Manypack::Factory.new
    factory.register_type(1, Ext, packer: ->(ext, packer) { packer.write(ext.inner) }, unpacker: ->(body) { Ext.new(body.read) }, recursive: true)
    AROUND.repeated_permutation(4) do |ways|
      object = ways.inject(1) { |inner, around| around.call(inner) }
      bytes = factory.dump(object)
      (1..4).each do |max_depth|
        read = taken?(Manypack::StackError) { factory.load(bytes, max_depth: max_depth) }
        packed = taken?(Manypack::NestingError) { factory.dump(object, max_depth: max_depth) }
        assert_equal read, packed, [ways.map { |way| AROUND.index(way) }, max_depth].inspect
      end
    end
  end

  def test_a_throw_out_of_to_msgpack_leaves_nothing_behind
    result = catch(:done) { pack([1, foreign { throw :done, "thrown" }]) }
    assert_equal "thrown", result
    assert_packs "91 01", [1]
  end

  def test_a_pack_inside_a_pack_is_independent
    assert_packs "92 01 c4 02 91 02", [1, foreign { |packer| packer.write(Manypack.pack([2])) }]
  end

  def test_a_fiber_that_is_left_in_the_middle_does_no_harm
    fiber = Fiber.new { pack([1, foreign { |packer| packer.write(2) && Fiber.yield(:left) }]) }
    assert_equal :left, fiber.resume
    assert_packs "91 03", [3]
    assert_equal "92 01 02", hex(fiber.resume)
    abandoned = Fiber.new { pack([1, foreign { Fiber.yield(:left) }]) }
    assert_equal :left, abandoned.resume
    GC.start
    assert_packs "91 04", [4]
  end

  # A Fiber that stops five calls deep, and whose write has ended when it goes on, inside another write. It goes on
  # again and again, as each of its calls rescues what the call inside raises.
  def test_a_fiber_that_goes_on_too_late_leaves_the_levels_of_another_write_alone
    packer = Manypack::Packer.new
    calls = Array.new(5).inject(foreign { Fiber.yield }) do |inner, _|
      foreign { |itself| assert_refused { itself.write(inner) } && Fiber.yield }
    end
    fiber = Fiber.new { assert_refused { packer.write(calls) } }
    assert_refused { packer.write(foreign { fiber.resume }) }
    levels = ->(n) { (1...n).inject([1]) { |inner, _| [inner] } }
    late = foreign do |itself|
      fiber.resume
      assert_raises(Manypack::NestingError) { itself.write(levels.(129)) }
      itself.write(levels.(128))
    end
    6.times { packer.write(late) }
  end

  def test_threads_pack_at_the_same_time
    threads = Array.new(4) do |i|
      Thread.new do
        Array.new(50) { pack([i, foreign { |packer| sleep(0) && packer.write("t#{i}") }]) }.uniq
      end
    end
    threads.each_with_index { |thread, i| assert_equal [pack([i, "t#{i}"])], thread.value }
  end

  def test_to_msgpack_of_core_types_is_not_called
    string = +"a"
    def string.to_msgpack(_packer) = raise
    assert_packs "a1 61", string
  end

  def test_to_msgpack_by_method_missing
    obj = Class.new do
      def method_missing(name, packer) = name == :to_msgpack ? packer.write(1) : super
      def respond_to_missing?(name, *) = name == :to_msgpack || super
    end.new
    assert_packs "91 01", [obj]
  end

  def test_a_basic_object_may_write_itself
    obj = Class.new(BasicObject) { def to_msgpack(packer) = packer.write(1) }.new
    assert_packs "91 01", [obj]
    error = assert_raises(NoMethodError) { pack([Class.new(BasicObject).new]) }
    assert_match(/at \$\[0\]/, first_line(error))
  end

  private

  def taken?(refusal)
    yield
    true
  rescue refusal
    false
  end
end

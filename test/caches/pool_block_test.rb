# frozen_string_literal: true

# The Packer and the Unpacker that a pool lends to a block: a Ractor uses the same ones again, and nobody can tell.
require "test_helper"
require "objspace"
require "stringio"

class PoolBlockTest < Minitest::Test
  include CorePart

  def setup
    @pool = Manypack::Factory.new.freeze.pool(2)
  end

  def test_blocks_one_after_the_other_share_a_packer_and_an_unpacker
    packers = Array.new(3) { @pool.packer { |packer| packer.write(1) && packer.object_id } }
    unpackers = Array.new(3) { @pool.unpacker { |unpacker| unpacker.feed("\x92\x01") && unpacker.object_id } }
    assert_equal [1, 1], [packers.uniq.size, unpackers.uniq.size]
  end

  def test_blocks_inside_each_other_have_one_each
    packed = @pool.packer do |outer|
      outer.write(1)
      inner = @pool.packer { |packer| packer.write(2) && @pool.packer { |innermost| innermost.write(3).to_s } + packer.to_s }
      outer.write(inner).to_s
    end
    assert_equal [1, "\x03\x02".b], Manypack::Unpacker.new.feed(packed).each.to_a
    read = @pool.unpacker do |outer|
      outer.feed("\x92\x01\x02".b)
      [outer.read_array_header, @pool.unpacker { |inner| inner.feed("\x05").read }, outer.read, outer.read]
    end
    assert_equal [2, 5, 1, 2], read
  end

  # What a block may leave behind for the next one.
  LEFT_IN_PACKERS = {
    "bytes" => ->(packer) { packer.write("secret" * 10) }, "a long String" => ->(packer) { packer.write("s" * 600_000) },
    "an error" => ->(packer) { packer.write([Object.new]) }, "an array header" => ->(packer) { packer.write_array_header(9) },
    "a frozen Buffer" => ->(packer) { packer.write(1).buffer.freeze }, "a method of its Buffer" => ->(packer) { def (packer.buffer).size = 9 },
    "a variable in its Buffer" => ->(packer) { packer.buffer.instance_variable_set(:@mine, 1) },
    "a throw" => ->(packer) { packer.write("thrown") && throw(:out) }
  }.freeze

  LEFT_IN_PACKERS.each do |what, leave|
    define_method("test_a_packer_has_nothing_of_the_block_before_that_left_#{what.tr(" ", "_")}") do
      2.times do
        catch(:out) { @pool.packer(&leave) rescue NoMethodError }
        after = exercise { @pool.packer { |packer| [packer.empty?, packer.size, packer.buffer.instance_variables, packer.write([1]).full_pack] } }
        assert_equal [true, 0, [], "\x91\x01".b], after
      end
    end
  end

  LEFT_IN_UNPACKERS = {
    "bytes" => ->(unpacker) { unpacker.feed("secret" * 10) }, "half an object" => ->(unpacker) { unpacker.feed("\x92\x01").each { nil } },
    "values on a block" => ->(unpacker) { unpacker.feed("\xDC\x03\xE8#{"\x01" * 700}".b).each { nil } },
    "half a skip" => ->(unpacker) { unpacker.feed("\x91" * 60) && unpacker.skip }, "a broken stream" => ->(unpacker) { unpacker.feed("\xC1").read },
    "too deep an object" => ->(unpacker) { unpacker.feed("\x91" * 200).read }, "a frozen Buffer" => ->(unpacker) { unpacker.buffer.freeze },
    "an array header" => ->(unpacker) { unpacker.feed("\x93\x01").read_array_header }, "a throw" => ->(unpacker) { unpacker.feed("\x01\x02").each { throw :out } }
  }.freeze

  LEFT_IN_UNPACKERS.each do |what, leave|
    define_method("test_an_unpacker_has_nothing_of_the_block_before_that_left_#{what.tr(" ", "_")}") do
      2.times do
        catch(:out) do
          @pool.unpacker(&leave)
        rescue Manypack::DecodeError
          nil
        end
        after = exercise { @pool.unpacker { |unpacker| [unpacker.buffer.size, unpacker.feed("\x92\x01\x02".b).full_unpack] } }
        assert_equal [0, [1, 2]], after
        assert_equal(0, assert_raises(Manypack::DecodeError) { @pool.unpacker { |unpacker| unpacker.feed("\xC1").read } }.offset)
      end
    end
  end

  def test_what_is_kept_beyond_its_block_raises
    packer = @pool.packer { |lent| lent.write(1) }
    buffer = @pool.packer(&:buffer)
    unpacker = @pool.unpacker { |lent| lent.feed("\x01") }
    [-> { packer.write(1) }, -> { packer.write([]) }, -> { packer.to_s }, -> { packer.full_pack }, -> { packer.reset }, -> { buffer << "x" },
     -> { buffer.to_s }, -> { unpacker.read }, -> { unpacker.feed("\x01") }, -> { unpacker.each { nil } }, -> { unpacker.reset },
     -> { unpacker.skip }].each { |work| assert_refused(&work) }
    assert_equal "\x02", @pool.packer { |lent| lent.write(2).to_s }
  end

  def test_options_and_types_are_those_of_the_pool
    factory = Manypack::Factory.new
    factory.register_type(1, Range, packer: ->(range) { range.to_s }, unpacker: ->(body) { Range.new(*body.split("..").map(&:to_i)) })
    symbols, ranges = Manypack::Factory.new.pool(1, symbolize_keys: true), factory.pool
    3.times do
      assert_equal({ a: 1 }, symbols.unpacker { |unpacker| unpacker.feed("\x81\xA1a\x01").read })
      assert_equal({ "a" => 1 }, @pool.unpacker { |unpacker| unpacker.feed("\x81\xA1a\x01").read })
      bytes = ranges.packer { |packer| packer.write(1..2).to_s }
      assert_equal 1..2, ranges.unpacker { |unpacker| unpacker.feed(bytes).read }
      assert_raises(NoMethodError) { @pool.packer { |packer| packer.write(1..2) } }
      assert_raises(Manypack::UnknownExtTypeError) { @pool.unpacker { |unpacker| unpacker.feed(bytes).read } }
    end
  end

  def test_a_block_that_a_fiber_is_left_in_keeps_what_it_was_lent
    fiber = Fiber.new { @pool.packer { |packer| packer.write("mine") && Fiber.yield && packer.to_s } }
    fiber.resume
    assert_equal "\x05", @pool.packer { |packer| packer.write(5).to_s }
    assert_equal "\xA4mine".b, fiber.resume(true)
    left_in_a_write = Class.new { define_method(:to_msgpack) { |packer| Fiber.yield && packer.write(1) } }
    Fiber.new { @pool.packer { |packer| packer.write(left_in_a_write.new) } }.resume
    assert_equal "\x05", @pool.packer { |packer| packer.write(5).to_s }
  end

  # Each leaves the block of each with an object, and goes on in it later.
  LEFT_IN_EACH = {
    "a_fiber" => lambda do |unpacker|
      fiber = Fiber.new { unpacker.each { |object| Fiber.yield object } && nil }
      -> { fiber.resume }
    end,
    "an_enumerator" => ->(unpacker) { unpacker.each.method(:next) },
    "a_thread" => lambda do |unpacker|
      asked, objects = Thread::Queue.new, Thread::Queue.new
      Thread.new { unpacker.each { |object| asked.pop && objects << object } }
      -> { asked << true && objects.pop }
    end
  }.freeze

  LEFT_IN_EACH.each do |who, leave|
    define_method("test_an_unpacker_that_#{who}_left_in_each_is_lent_to_nobody_else") do
      go_on = @pool.unpacker { |unpacker| leave.call(unpacker.feed("\x01\x02")).tap { |later| assert_equal 1, later.call } }
      @pool.unpacker do |unpacker|
        unpacker.feed("\x0A\x0B")
        assert_equal 2, go_on.call
        assert_equal [10, 11], [unpacker.read, unpacker.read]
      end
    end
  end

  def test_a_packer_with_a_write_that_a_fiber_left_is_lent_to_nobody_else
    writing = Class.new { define_method(:initialize) { |&block| @block = block } && define_method(:to_msgpack) { |packer| @block.call(packer) } }
    fiber = nil
    @pool.packer do |packer|
      inner = writing.new { |lent| Fiber.yield && lent.write("leaked") }
      outer = writing.new { |lent| (fiber = Fiber.new { lent.write(inner) }).resume && lent }
      assert_refused { packer.write(outer) }
    end
    packed = @pool.packer do |packer|
      packer.write(1)
      assert_refused { fiber.resume(true) }
      packer.write(2).to_s
    end
    assert_equal "\x01\x02", packed
  end

  def test_what_is_spare_cannot_be_initialized_again
    body = nil
    factory = Manypack::Factory.new
    factory.register_type(1, Struct.new(:all), recursive: true, packer: nil, unpacker: ->(unpacker) { (body = unpacker).read })
    factory.load("\xD4\x01\x05".b)
    buffers = [@pool.packer(&:buffer), @pool.unpacker(&:buffer), body.instance_exec { buffer rescue nil }].compact
    [body, *buffers].each { |spare| assert_refused { spare.__send__(:initialize) } }
    assert_equal 6, factory.load("\xD4\x01\x06".b)
    assert_equal "\x01", @pool.packer { |packer| packer.write(1).to_s }
  end

  def test_a_long_queue_is_not_kept
    buffer = @pool.unpacker do |unpacker|
      10_000.times { unpacker.feed("\xD9\xFF".b + ("x" * 255)) }
      unpacker.feed("\x01").each { nil }
      unpacker.feed("\x01").buffer
    end
    assert_operator ObjectSpace.memsize_of(buffer), :<, 5_000
  end

  def test_threads_have_one_each
    results = Array.new(4) do |i|
      Thread.new { Array.new(200) { @pool.packer { |packer| packer.write(i).tap { Thread.pass }.write(i).full_pack } }.uniq }
    end
    assert_equal Array.new(4) { |i| [[i, i].pack("CC")] }, results.map(&:value)
  end

  def test_a_ractor_has_its_own
    shared = Ractor.make_shareable(@pool)
    assert_equal "\x05".b, @pool.packer { |packer| packer.write(5) && in_ractor(shared) { |pool| pool.packer { |lent| lent.write(6).to_s } } && packer.to_s }
  end

  def test_bodies_of_ext_types_are_read_by_an_unpacker_that_keeps_nothing
    factory = Manypack::Factory.new
    kept = []
    factory.register_type(1, Struct.new(:all), recursive: true, packer: nil, unpacker: ->(body) { kept << body && [body.read, body.read] })
    inner = "\xD5\x01\x01\x02".b
    nested = 20.times.inject(inner) { |body, _| "\xC7".b + [body.bytesize + 1, 1].pack("CC") + "\x09".b + body }
    expected = 20.times.inject([1, 2]) { |list, _| [9, list] }
    3.times { assert_equal expected, exercise { factory.load(nested) } }
    kept.each { |body| assert_refused { body.read } }
    assert_raises(Manypack::MalformedFormatError) { factory.load("\xD4\x01\x01".b) }
    assert_equal expected, Manypack::Unpacker.new.tap { |u| u.register_type(1) { factory.load(inner) } } && factory.unpacker.feed(nested).read
  end

  OWNED = {
    "the Unpacker" => ->(body) { def body.read = :mine }, "the Buffer" => ->(body) { def (body.buffer).size = :mine },
    "a frozen Unpacker" => ->(body) { body.freeze }, "a frozen Buffer" => ->(body) { body.buffer.freeze },
    "variables" => ->(body) { body.instance_variable_set(:@mine, 1) }
  }.freeze

  OWNED.each do |what, own|
    define_method("test_a_body_has_nothing_of_the_one_before_that_a_handler_made_its_own_by_#{what.tr(" ", "_")}") do
      factory = Manypack::Factory.new
      handler = lambda do |body|
        seen = [body.buffer.singleton_methods, body.frozen?, body.buffer.frozen?, body.instance_variables, body.read]
        own.call(body)
        seen
      end
      factory.register_type(1, Struct.new(:all), recursive: true, packer: nil, unpacker: handler)
      2.times { assert_equal [[[], false, false, [], 5]] * 2, factory.load("\x92\xD4\x01\x05\xD4\x01\x05".b) }
    end
  end

  def test_what_was_packed_and_unpacked_is_not_kept_alive
    marker = Class.new(String)
    Fiber.new do
      @pool.packer { |packer| packer.write(marker.new("m" * 600_000)) }
      @pool.unpacker { |unpacker| unpacker.feed_reference(marker.new("\xDA\x03\xE8".b + ("u" * 1_000))).read }
    end.resume
    3.times { GC.start }
    assert_empty ObjectSpace.each_object(marker).to_a
  end
end

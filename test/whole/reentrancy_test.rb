# frozen_string_literal: true

# What user code may do to the very object that is calling it, and what it may not: a result or a RuntimeError.
require "test_helper"
require "stringio"
require "set"

class ReentrancyTest < Minitest::Test
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

  # A key whose hash runs a block.
  class Key
    def initialize(&block)
      @block = block
    end

    def hash
      @block.call
      1
    end
  end

  # What is not for the middle of a read: all of it on the Unpacker or its Buffer.
  IN_USE = {
    feed: ->(unpacker) { unpacker.feed("\x01") }, feed_reference: ->(unpacker) { unpacker.feed_reference("\x01") },
    feed_each: ->(unpacker) { unpacker.feed_each("\x01") { nil } }, each: ->(unpacker) { unpacker.each { nil } },
    read: ->(unpacker) { unpacker.read }, full_unpack: ->(unpacker) { unpacker.full_unpack },
    skip: ->(unpacker) { unpacker.skip }, skip_nil: ->(unpacker) { unpacker.skip_nil },
    read_array_header: ->(unpacker) { unpacker.read_array_header }, read_map_header: ->(unpacker) { unpacker.read_map_header },
    reset: ->(unpacker) { unpacker.reset }, register_type: ->(unpacker) { unpacker.register_type(9) { nil } },
    buffer_clear: ->(unpacker) { unpacker.buffer.clear }, buffer_read: ->(unpacker) { unpacker.buffer.read },
    buffer_append: ->(unpacker) { unpacker.buffer << "\x01" }, buffer_skip: ->(unpacker) { unpacker.buffer.skip(1) },
    buffer_write_to: ->(unpacker) { unpacker.buffer.write_to(StringIO.new) }
  }.freeze

  IN_USE.each do |name, call|
    define_method("test_#{name}_from_the_handler_of_an_ext") do
      unpacker = Manypack::Unpacker.new
      unpacker.register_type(1) { |body| assert_in_use { call.call(unpacker) } && body }
      unpacker.feed("\x93\x01\xD4\x01a\x02\x06".b)
      assert_equal [1, "a", 2], exercise { unpacker.read }
      assert_equal 6, unpacker.read
    end

    define_method("test_#{name}_from_the_handler_of_a_message_in_pieces") do
      unpacker = Manypack::Unpacker.new
      unpacker.register_type(1) { |body| assert_in_use { call.call(unpacker) } && body }
      objects = []
      "\x93\x01\xD4\x01a\x02\x06".b.each_char { |byte| unpacker.feed_each(byte) { |object| objects << object } }
      assert_equal [[1, "a", 2], 6], objects
    end

    define_method("test_#{name}_from_the_hash_method_of_a_key") do
      unpacker = Manypack::Unpacker.new
      unpacker.register_type(1) { Key.new { assert_in_use { call.call(unpacker) } } }
      assert_equal 5, unpacker.feed("\x81\xD4\x01a\x05\x06".b).read.values.first
      assert_equal 6, unpacker.read
    end
  end

  # An io that runs a block before it answers.
  class CallingIo
    def initialize(*answers, &block)
      @answers = answers
      @block = block
    end

    def readpartial(_size)
      @block.call
      @answers.shift
    end
  end

  (IN_USE.keys.grep_v(/\Abuffer/)).each do |name|
    define_method("test_#{name}_from_the_io") do
      unpacker = nil
      unpacker = Manypack::Unpacker.new(CallingIo.new("\x92\x01", "\x02\x06", "") { assert_in_use { IN_USE[name].call(unpacker) } })
      assert_equal [1, 2], unpacker.read
      assert_equal 6, unpacker.read
      assert_raises(EOFError) { unpacker.read }
    end
  end

  # What a Buffer is written to, and asks a block meanwhile.
  class CallingOutput
    attr_reader :bytes

    def initialize(&block)
      @block = block
      @bytes = +""
    end

    def write(bytes)
      @block.call
      @bytes << bytes
      bytes.bytesize
    end
  end

  IN_USE.each do |name, call|
    define_method("test_#{name}_from_what_its_buffer_is_written_to") do
      bytes = ["\x01" * 300, "\x02" * 700_000]
      unpacker = bytes.inject(Manypack::Unpacker.new) { |fed, piece| fed.feed(piece) }
      output = CallingOutput.new { assert_in_use { call.call(unpacker) } }
      assert_equal 700_300, unpacker.buffer.write_to(output)
      assert_equal bytes.join, output.bytes
      assert_equal 3, unpacker.feed("\x03").read
    end
  end

  def test_a_fiber_that_writes_the_buffer_out_has_it_until_it_ends
    output = CallingOutput.new { Fiber.yield }
    bytes = "\x92\xDA\x03\xE8".b + ("a".b * 500)
    unpacker = Manypack::Unpacker.new(CallingIo.new("a".b * 500) { flunk }).feed(bytes)
    writer = Fiber.new { unpacker.buffer.write_to(output) }
    writer.resume
    IN_USE.each_value { |call| assert_in_use { call.call(unpacker) } }
    writer.resume while writer.alive?
    assert_equal bytes, output.bytes
  end

  def test_the_buffer_from_the_io_of_its_unpacker
    unpacker = nil
    unpacker = Manypack::Unpacker.new(CallingIo.new("\x92\x01", "\x02") { unpacker.buffer.clear })
    assert_defined { unpacker.read }
    unpacker = Manypack::Unpacker.new(CallingIo.new("\xA5ab", "c", "de") { unpacker.buffer.read_all(1) unless unpacker.buffer.empty? })
    assert_in_use { unpacker.read }
    unpacker.reset
    assert_equal 1, unpacker.feed("\x01").read
  end

  # In the block of each, no method is at work.
  def test_every_method_from_the_block_of_each
    unpacker = Manypack::Unpacker.new.feed("\x01\x02\x03\x04\x05")
    seen = []
    unpacker.each do |object|
      seen << object
      case object
      when 1 then seen << unpacker.read
      when 3 then unpacker.skip
      when 5 then unpacker.feed("\x06\x07\x08")
      when 6 then unpacker.each { |inner| break seen << [inner] }
      when 8 then unpacker.reset
      end
    end
    assert_equal [1, 2, 3, 5, 6, [7], 8], seen
    assert_equal [9], unpacker.feed("\x09").each.to_a
  end

  def test_reset_and_buffer_clear_from_the_block_of_each
    unpacker = Manypack::Unpacker.new.feed("\x01\x02")
    unpacker.each { unpacker.reset }
    unpacker.feed("\x01\x02").each { unpacker.buffer.clear }
    assert_equal 3, unpacker.feed("\x03").read
  end

  def test_a_type_registered_from_the_block_of_each_holds_for_what_follows
    unpacker = Manypack::Unpacker.new.feed("\x01\xD4\x01a".b)
    objects = []
    unpacker.each { |object| objects << object && unpacker.register_type(1, &:upcase) }
    assert_equal [1, "A"], objects
  end

  def test_over_a_recursive_body_only_reading_is_allowed
    IN_USE.except(:read, :skip, :skip_nil, :read_array_header, :read_map_header).each do |name, call|
      outer = with_recursive_type { |body| assert_in_use(name) { call.call(body) } && body.read }
      assert_equal [[2, 3], 6], outer.feed("\x92\xC7\x03\x01\x92\x02\x03\x06".b).read
    end
    outer = with_recursive_type { |body| [body.skip_nil, body.read_array_header, body.read, body.skip, body.skip_nil, body.read_map_header] }
    assert_equal [false, 2, 7, nil, true, 0], outer.feed("\xC7\x05\x01\x92\x07\x08\xC0\x80".b).read
  end

  def test_the_outer_unpacker_is_in_use_inside_of_a_recursive_handler
    outer = with_recursive_type { |body| assert_in_use { outer.read } && assert_in_use { outer.reset } && body.read }
    assert_equal 5, outer.feed("\xD4\x01\x05".b).read
  end

  def test_an_unpacker_kept_beyond_its_body_raises
    kept = nil
    outer = with_recursive_type { |body| (kept = body).read }
    buffer = nil
    assert_equal 5, outer.feed("\xD4\x01\x05".b).read
    %i[read skip reset each buffer].each { |method| assert_refused { kept.public_send(method) { nil } } }
    outer = with_recursive_type { |body| (buffer = body.buffer) && body.read }
    outer.feed("\xD4\x01\x05".b).read
    %i[read to_s size clear].each { |method| assert_refused { buffer.public_send(method) } }
  end

  def test_a_fiber_that_is_left_inside_a_handler_leaves_the_unpacker_in_use
    unpacker = Manypack::Unpacker.new
    unpacker.register_type(1) { |body| Fiber.yield(:left) || body }
    fiber = Fiber.new { unpacker.feed("\x92\xD4\x01a\x02\x06".b).read }
    assert_equal :left, fiber.resume
    IN_USE.each_value { |call| assert_in_use { call.call(unpacker) } }
    assert_equal ["a", 2], fiber.resume
    assert_equal 6, unpacker.read
    abandoned = Fiber.new { unpacker.feed("\xD4\x01a".b).read }
    abandoned.resume
    abandoned = nil
    GC.start
    assert_in_use { unpacker.read }
  end

  def test_a_fiber_that_is_left_inside_a_body_and_goes_on_later
    fiber = nil
    factory = Manypack::Factory.new
    factory.register_type(1, Key, packer: nil, unpacker: ->(body) { (fiber = Fiber.new { body.read }).resume }, recursive: true)
    factory.register_type(2, Foreign, packer: nil, unpacker: ->(_body) { Fiber.yield(:left) })
    error = assert_raises(Manypack::MalformedFormatError) { factory.load("\xD6\x01\xD5\x02ab".b) }
    assert_match(/ext type 1 left/, error.message)
    assert_refused { fiber.resume }
    assert_equal [1], factory.load("\x91\x01")
  end

  def test_nested_dump_and_load_inside_handlers
    factory = Manypack::Factory.new
    factory.register_type(1, Set, packer: ->(set) { factory.dump(set.to_a) }, unpacker: ->(body) { Set.new(factory.load(body)) })
    pool = factory.pool(1)
    nested = Set[1, Set[2, Set["three"]]]
    assert_equal nested, factory.load(factory.dump(nested))
    pooled = Manypack::Factory.new
    pooled.register_type(1, Set, packer: ->(set) { pool.dump(set.to_a) }, unpacker: ->(body) { Set.new(pool.load(body)) })
    assert_equal [nested], pooled.load(pooled.dump([nested]))
  end

  def test_the_packer_is_in_use_inside_of_a_handler_that_returns_the_body
    packer = Manypack::Packer.new
    packer.register_type(1, Key) do
      %i[write_nil reset full_pack to_s flush].each { |method| assert_in_use(method) { packer.public_send(method) } }
      assert_in_use { packer.buffer << "x" }
      assert_in_use { packer.buffer.clear }
      "body"
    end
    packer.write([1, Key.new])
    assert_equal "92 01 d6 01 62 6f 64 79", hex(packer.full_pack)
  end

  def test_a_packer_that_is_lent_may_be_written_to_and_not_emptied
    packer = Manypack::Packer.new
    object = Foreign.new do |same|
      assert_same packer, same
      %i[reset clear full_pack].each { |method| assert_in_use(method) { packer.public_send(method) } }
      assert_in_use { packer.buffer.clear }
      assert_in_use { packer.buffer.read(1) }
      assert_in_use { packer.buffer.write_to(StringIO.new) }
      packer.buffer << "\x91"
      packer.buffer.write("\x02")
    end
    assert_equal "91 91 02", hex(packer.write([object]).full_pack)
  end

  def test_a_type_registered_during_a_write_holds_for_the_next_one
    packer = Manypack::Packer.new
    object = Foreign.new { |lent| lent.register_type(1, Range) { "r" } || lent.write(1..2) }
    packer.write([object]).write(3..4)
    assert_equal "91 d4 01 72 d4 01 72", hex(packer.full_pack)
  end

  # A write inside of to_msgpack that a Fiber leaves in the middle.
  class Leaving
    attr_reader :fiber

    def initialize(&inner)
      @inner = inner
    end

    def to_msgpack(packer)
      @fiber = Fiber.new do
        packer.write([1, @inner.call(packer)])
      rescue RuntimeError => e
        e.class
      end
      @fiber.resume
      packer.write(2)
    rescue RuntimeError
      nil
    end
  end

  LEFT = {
    "to_msgpack" => ->(_packer) { Foreign.new { |packer| Fiber.yield && packer.write(3) } },
    "a handler" => ->(packer) { packer.register_type(1, Range) { Fiber.yield || "r" } || (1..2) }
  }.freeze

  LEFT.each do |where, inner|
    define_method("test_a_write_that_a_fiber_left_inside_#{where.tr(" ", "_")}_is_an_error_and_not_half_a_message") do
      leaving = Leaving.new(&inner)
      packer = Manypack::Packer.new.write("kept")
      assert_refused { packer.write([leaving, 5]) }
      assert_equal "kept", unpack(packer.to_s)
      packer.write("m" * 100_000).write("n" * 300_000)
      before = packer.to_s
      assert_equal RuntimeError, leaving.fiber.resume
      assert_equal before, packer.to_s
      packer.reset
      assert_equal "91 01", hex(packer.write([1]).full_pack)
    end

    define_method("test_a_pack_with_a_write_that_a_fiber_left_inside_#{where.tr(" ", "_")}_is_an_error") do
      leaving = Leaving.new(&inner)
      assert_refused { pack([leaving, 5]) }
      leaving.fiber.resume
      assert_packs "91 01", [1]
    end

    define_method("test_a_write_that_a_fiber_left_inside_#{where.tr(" ", "_")}_and_goes_on_inside_of_another_write") do
      leaving = Leaving.new(&inner)
      packer = Manypack::Packer.new
      assert_refused { packer.write([leaving]) }
      object = Foreign.new do |lent|
        lent.write_array_header(1)
        assert_equal RuntimeError, leaving.fiber.resume
        lent.write(9)
      end
      assert_equal ["l" * 50, [9]], unpack(packer.write(["l" * 50, object]).full_pack)
    end
  end

  def test_two_threads_on_one_unpacker
    IO.pipe(binmode: true) do |reader, writer|
      unpacker = Manypack::Unpacker.new(reader)
      waiting = Thread.new { unpacker.read }
      Thread.pass until waiting.status == "sleep"
      IN_USE.except(:buffer_clear, :buffer_read, :buffer_append, :buffer_skip, :buffer_write_to).each_value do |call|
        assert_in_use { call.call(unpacker) }
      end
      writer.write("\x91\x01".b)
      assert_equal [1], waiting.value
    end
  end

  def test_many_threads_on_one_unpacker_give_objects_or_errors
    unpacker = Manypack::Unpacker.new
    unpacker.register_type(1) { |body| Thread.pass || body }
    message = pack([1, Manypack::ExtensionValue.new(1, "a")])
    outcomes = Array.new(4) do
      Thread.new do
        Array.new(200) do
          unpacker.feed(message).read
        rescue RuntimeError, EOFError => e
          e.class
        end
      end
    end.flat_map(&:value).uniq
    assert_empty outcomes - [[1, "a"], RuntimeError, Manypack::TruncatedError]
    unpacker.reset
    assert_equal 5, unpacker.feed("\x05").read
  end

  # The outer loans are void as well: what they had written goes, and the Packer is free for others.
  def test_a_fiber_left_in_the_middle_of_a_nested_write_frees_the_packer
    abandoned = Foreign.new { Fiber.yield }
    inner = Foreign.new { |lent| Fiber.new { lent.write(abandoned) }.resume }
    packer = Manypack::Packer.new.write(1)
    assert_in_use { packer.write(["x" * 1_000, Foreign.new { |lent| lent.write(inner) }]) }
    assert_equal "\x01", packer.to_s
    assert_same packer, Thread.new { packer.write(2) }.value
    assert_equal "\x01\x02", packer.full_pack
  end

  def test_what_a_time_is_asked_for_may_not_write_in_between
    packer = Manypack::Packer.new(timestamp: true)
    refused = []
    time = Time.at(2**70)
    time.define_singleton_method(:tv_sec) { refused << (packer.write("x" * 100_000) rescue $!.class) && 5 }
    time.define_singleton_method(:tv_nsec) { 6 }
    packer.write(["head", time, "tail" * 100])
    assert_equal [RuntimeError], refused
    assert_equal ["head", Time.at(5, 6, :nanosecond), "tail" * 100], Manypack.unpack(packer.to_s, timestamp: true)
  end

  def test_types_registered_during_a_write_hold_for_the_next_one_however_many
    packer = Manypack::Packer.new
    written = Class.new
    handler = lambda do |_|
      10.times { |id| packer.register_type(id, Class.new) { "" } }
      GC.start
      "body"
    end
    packer.register_type(20, written, &handler)
    assert_equal "\x92\xD6\x14body\xD6\x14body".b, packer.write([written.new, written.new]).to_s
    other = Class.new
    registering = Foreign.new { |lent| lent.register_type(30, other) { "o" } || lent.write(nil) }
    assert_raises(NoMethodError) { packer.write([registering, other.new]) }
    packer.reset
    assert_equal "\xD4\x1Eo".b, packer.write(other.new).to_s
  end

  def test_two_threads_on_one_packer_that_writes_to_an_io
    IO.pipe(binmode: true) do |reader, writer|
      packer = Manypack::Packer.new(writer)
      writing = Thread.new { packer.write("x" * 1_000_000).flush }
      Thread.pass until writing.status == "sleep"
      %i[write_nil flush reset full_pack to_s to_a].each { |method| assert_in_use(method) { packer.public_send(method) } }
      assert_equal 1_000_005, reader.read(1_000_005).bytesize
      assert_same packer, writing.value
      assert_predicate packer, :empty?
    end
  end

  # An io is asked what it responds to.
  [Manypack::Packer, Manypack::Unpacker, Manypack::Buffer].each do |klass|
    define_method("test_an_io_cannot_initialize_a_#{klass.name[/\w+\z/].downcase}_that_is_being_initialized") do
      object = klass.allocate
      io = StringIO.new
      asked = 0
      io.define_singleton_method(:respond_to_missing?) { |*| object.send(:initialize) if (asked += 1) == 1 }
      def io.respond_to?(name, *) = respond_to_missing?(name) || super
      error = assert_raises(RuntimeError) { object.send(:initialize, io) }
      assert_match(/already initialized/, error.message)
      assert_refused { object.send(:initialize) }
      assert_operator asked, :>, 0
    end
  end

  private

  def with_recursive_type(&block)
    Manypack::Factory.new.tap { |factory| factory.register_type(1, Key, packer: nil, unpacker: block, recursive: true) }.unpacker
  end

  def assert_in_use(message = nil, &block)
    error = assert_raises(RuntimeError, *message&.to_s, &block)
    assert_match(/\A(?:Packer|Unpacker) is in use by another call: give each Thread, Fiber and handler its own\z/, error.message)
  end

  # Any result and any error of ours will do; a crash or a strange one will not.
  def assert_defined
    yield
  rescue Manypack::DecodeError, RuntimeError
    pass
  end
end

# frozen_string_literal: true

# User code that callcc makes return two or three times to its caller.
#
# callcc restores the C stack, but not the heap: before each return the objects have been used, emptied, fed or closed,
# and memory has been reused.
require "test_helper"
require "stringio"

verbose = $VERBOSE
$VERBOSE = nil # it warns that callcc is obsolete
require "continuation"
$VERBOSE = verbose

class SecondReturnTest < Minitest::Test
  Foreign = Struct.new(:door) do
    def to_msgpack(packer)
      packer.write("x")
      door.call
    end
  end

  Ext = Class.new

  # Calls a block for each Hash that it is a key of.
  class Key
    def initialize(door) = @door = door
    def hash = @door.call && 1
    def eql?(_other) = true
  end

  class Seconds < Time
    attr_accessor :door

    def tv_sec = door.call && super
  end

  # An io that calls a block in each of its methods.
  class Io
    def initialize(door, *answers) = (@door, @answers = door, answers)
    def write(bytes) = @door.call && bytes.bytesize
    def readpartial(_size) = @door.call && @answers.shift
  end

  # Does some work, which passes the door; after it does each thing in `between`, and goes through the first door again.
  # Returns the outcome of each time: a result, or a RuntimeError.
  def outcomes(*between)
    outcomes = []
    back = nil
    door = lambda do
      callcc { |continuation| back ||= continuation }
      true
    end
    outcomes << (yield(door) rescue $!)
    unless between.empty?
      between.shift.call
      churn(between.empty?)
      back.call
    end
    outcomes
  end

  # Reuses freed memory, and at last collects garbage.
  def churn(collect)
    GC.start if collect
    Array.new(50) { |i| "#{i} " * 3_000 }
    Array.new(50) { |i| Array.new(600) { i } }
  end

  # The work succeeds the first time, and is refused after that.
  def assert_once(expected, outcomes)
    assert_equal [expected, RuntimeError, RuntimeError], [outcomes[0], *outcomes.drop(1).map(&:class)], outcomes.inspect[0, 300]
  end

  # The work succeeds each time.
  def assert_each_time(expected, outcomes)
    assert_equal [expected] * 3, outcomes
  end

  def factory(door, recursive: false, **options)
    Manypack::Factory.new.tap do |factory|
      if recursive
        factory.register_type(1, Ext, packer: ->(_, packer) { packer.write("xx").write("yy") && door.call },
                                      unpacker: ->(unpacker) { [unpacker.read, door.call, unpacker.read] }, recursive: true)
      else
        factory.register_type(1, Ext, packer: ->(_) { door.call && "xxx" }, unpacker: ->(body) { door.call && body })
      end
      factory.register_type(2, Key, packer: ->(_) { "" }, unpacker: ->(_) { Key.new(door) })
      factory.register_type(-1, Seconds, packer: Manypack::Timestamp::Packer) if options[:time]
    end
  end

  # --- packing ---------------------------------------------------------------------------------------------

  LONG = Array.new(6_000) { |i| "string #{i}" }.freeze
  PACKED = {
    "a handler" => ->(_door) { Ext.new },
    "to_msgpack" => ->(door) { Foreign.new(door) },
    "a to_msgpack inside of another" => ->(door) { Class.new { define_method(:to_msgpack) { |packer| packer.write([Foreign.new(door), 1]) } }.new },
    "a Time" => ->(door) { Seconds.at(5).tap { |time| time.door = door } },
  }.freeze

  [["short", [1]], ["long", LONG]].each do |size, around|
    PACKED.each do |name, object|
      define_method("test_#{name}_in_a_#{size}_write_of_a_packer") do
        packer = nil
        others = [-> { packer.reset }, -> { packer.write("other " * 20_000) && packer.write("t" * 600_000) }]
        outcomes = outcomes(*others) do |door|
          packer = factory(door).packer(timestamp: true)
          6.times { packer.write("q" * 600_000) }
          packer.write([around, object.call(door), around]).size > 3_600_000
        end
        assert_once true, outcomes
        assert_equal [120_000, 600_000], Manypack::Unpacker.new.feed(packer.to_s).each.map(&:size)
        packer.reset
        assert_equal "\x01".b, packer.write(1).to_s
      end
    end
  end

  def test_a_recursive_handler_of_a_packer
    packer = nil
    outcomes = outcomes(-> { packer.reset }, -> { packer.write([1] * 100) }) do |door|
      packer = factory(door, recursive: true).packer
      packer.write([Ext.new, LONG]).size > 60_000
    end
    assert_once true, outcomes
    assert_equal [1] * 100, Manypack.unpack(packer.to_s)
  end

  def test_an_element_that_returns_from_inside_of_the_next_one
    packer = Manypack::Packer.new
    back = nil
    again = []
    first = Class.new { define_method(:to_msgpack) { |to| callcc { |k| back ||= k } && to.write("a") } }.new
    second = Class.new { define_method(:to_msgpack) { |to| to.write("b") && again << 1 && back.call } }.new
    packer.write("before")
    assert_refused { packer.write([first, second]) }
    assert_equal Manypack.pack("before"), packer.to_s
    assert_equal 1, again.size
    assert_equal [1], Manypack.unpack(packer.tap(&:reset).write([1]).to_s)
  end

  # Nothing but the C stack knows of a short message, and a Packer that user code gets is closed after it.
  { "a handler" => true, "to_msgpack" => false, "a to_msgpack inside of another" => false, "a Time" => true }.each do |name, works|
    define_method("test_#{name}_in_a_short_pack") do
      outcomes = outcomes(-> {}, -> {}) { |door| factory(door).dump([1, PACKED[name].call(door), 2], timestamp: true).bytesize }
      works ? assert_each_time(outcomes.first, outcomes) : assert_once(outcomes.first, outcomes)
    end

    define_method("test_#{name}_in_a_long_pack") do
      result = nil
      outcomes = outcomes(-> { result.replace("changed") }, -> { result.freeze }) do |door|
        result = factory(door).dump([LONG, PACKED[name].call(door), LONG], timestamp: true)
        result.bytesize
      end
      assert_once outcomes.first, outcomes
      assert_equal "changed", result
    end
  end

  def test_a_long_pack_that_failed_may_go_on
    fail_once = [true]
    outcomes = outcomes(-> {}, -> {}) do |door|
      factory(-> { door.call && fail_once.pop && raise(IOError) || true }).dump([LONG, Ext.new, LONG]).bytesize
    end
    assert_instance_of IOError, outcomes.shift
    assert_equal Manypack.pack([LONG, 0, LONG]).bytesize + 5, outcomes.shift
    assert_instance_of RuntimeError, outcomes.shift
  end

  def test_a_record_and_the_canonical_form
    klass = Struct.new(:list, :ext)
    [true, false].each do |canonical|
      result = nil
      outcomes = outcomes(-> { result.clear }, -> { result << "x" }) do |door|
        codec = factory(door).codec(canonical: canonical)
        record = Manypack::Record.new(klass, list: Object, ext: Object).with(codec: codec)
        result = canonical ? codec.pack([LONG, Ext.new]) : record.dump(klass.new(LONG, Ext.new))
        result.bytesize
      end
      assert_once outcomes.first, outcomes
    end
  end

  # --- an io -----------------------------------------------------------------------------------------------

  def test_a_write_of_an_io
    { flush: ->(packer, _) { packer.flush }, full_pack: ->(packer, _) { packer.full_pack },
      write_to: ->(packer, io) { packer.write_to(io) }, buffer: ->(packer, io) { packer.buffer.write_to(io) } }.each do |name, work|
      packer = nil
      outcomes = outcomes(-> { packer.write("other") }, -> { packer.reset }) do |door|
        io = Io.new(door)
        packer = Manypack::Packer.new(io)
        work.call(packer.write("a message"), io)
        packer.size
      end
      assert_once 0, outcomes
      assert_equal "\x01".b, packer.write(1).to_s, name
    end
  end

  def test_a_read_of_an_io
    { read: [1, 2, 3], skip: nil, each: nil }.each do |name, expected|
      unpacker = nil
      outcomes = outcomes(-> { unpacker.reset }, -> { unpacker.buffer << "\x92\x07" }) do |door|
        unpacker = Manypack::Unpacker.new(Io.new(door, "\x93\x01", "\x02\x03", nil, nil, nil))
        unpacker.public_send(name) { |object| object }
      end
      assert_once expected, outcomes
      unpacker.reset
      assert_equal 5, unpacker.feed("\x05").read
    end
  end

  # --- unpacking -------------------------------------------------------------------------------------------

  UNPACKED = {
    "a handler" => "\xC7\x03\x01xxx", "a recursive handler" => "\xC7\x06\x01\xA2xx\xA2yy", "a key" => "\x81\xC7\x00\x02\x01",
    "a key of several" => "\x83\x01\x02\xC7\x00\x02\x01\x03\x04"
  }.transform_values(&:b).freeze

  # More values than the C stack has room for, before and after a nested ext.
  def bytes_with(ext, count)
    head = "\x94\xDC".b + [count + 1].pack("n")
    head + ("\xA1a".b * count) + "\x93".b + ext + "\x01\x02\x05\x06\x92\x07\x08".b
  end

  [["few", 10], ["many", 2_000]].each do |size, count|
    UNPACKED.each do |name, ext|
      recursive = name == "a recursive handler"

      define_method("test_#{name}_among_#{size}_values_of_unpack") do
        outcomes = outcomes(-> {}, -> {}) do |door|
          factory(door, recursive: recursive).load(bytes_with(ext, count)).last
        end
        # The Unpacker over a body is on the heap, and a Hash may be in use.
        few = count < 500 && !recursive
        few ? assert_each_time([7, 8], outcomes) : assert_once([7, 8], outcomes)
      end

      define_method("test_#{name}_among_#{size}_values_of_an_unpacker") do
        unpacker = nil
        others = [-> { unpacker.reset }, -> { unpacker.feed(bytes_with("\xC0".b, 3_000)) && unpacker.read && unpacker.feed("\x93\x01") }]
        outcomes = outcomes(*others) do |door|
          unpacker = factory(door, recursive: recursive).unpacker
          unpacker.feed(bytes_with(ext, count).byteslice(0, 8)).feed(bytes_with(ext, count).byteslice(8..))
          unpacker.read.last
        end
        assert_once [7, 8], outcomes
        assert_equal [1, 2, 3], unpacker.feed("\x02\x03").read
      end

      define_method("test_#{name}_among_#{size}_values_that_returns_from_inside_of_the_next_one") do
        [true, false].each do |whole|
          back = nil
          passed = 0
          door = -> { callcc { |k| back ||= k } && (passed += 1) && (back.call if passed == 2) || true }
          bytes = "\x92".b + (bytes_with(ext, count) * 2)
          unpacker = factory(door, recursive: recursive).unpacker
          outcome = (whole ? factory(door, recursive: recursive).load(bytes) : unpacker.feed(bytes).read) rescue $!
          whole && outcome.is_a?(Array) ? assert_equal([7, 8], outcome.last.last) : assert_instance_of(RuntimeError, outcome)
          unpacker.reset
          assert_equal 1, unpacker.feed("\x01").read
        end
      end
    end
  end

  def test_the_block_of_each_may_return_again
    %i[each feed_each].each do |name|
      unpacker = Manypack::Unpacker.new
      seen = []
      bytes = "\x01\x02\x93\x03"
      outcomes(-> { unpacker.reset }, -> { unpacker.feed("\x08\x09") }) do |door|
        name == :each ? unpacker.feed(bytes).each { |object| seen << object && door.call } : unpacker.feed_each(bytes) { |object| seen << object && door.call }
      end
      assert_equal [1, 2, 8, 9], seen
      unpacker.reset
      assert_equal [5], unpacker.feed("\x05").each.to_a
    end
  end

  def test_what_loads_the_messages_of_a_stream
    unpacker = nil
    outcomes = outcomes(-> { unpacker.reset }, -> { unpacker.feed("\x93") }) do |door|
      loader = Class.new { define_singleton_method(:load) { |bytes| door.call && bytes } }
      unpacker = Manypack::Unpacker.new(as: loader)
      unpacker.feed("\x91\x01").read
    end
    assert_each_time "\x91\x01".b, outcomes
  end

  # Ruby calls an object's freeze to make it shareable.
  class Freezing
    singleton_class.attr_accessor :door

    def self.load(_body) = new
    def freeze = self.class.door.call && super
  end

  def test_an_object_with_its_own_freeze
    outcomes = outcomes(-> {}, -> {}) do |door|
      Freezing.door = door
      factory = Manypack::Factory.new
      factory.register_type(1, Freezing, packer: :to_s, unpacker: :load)
      factory.load(bytes_with("\xC7\x00\x01".b, 2_000), shareable: true).last
    end
    assert_once [7, 8], outcomes
  end

  # --- Views, Records, batches -----------------------------------------------------------------------------

  LOOKS = {
    each: ->(view, door) { view.each { door.call } && 1 }, values: ->(view, _) { view.values.size },
    search: ->(view, door) { Manypack::Path.new("$.*").each(view) { door.call } || 1 }, aref: ->(view, _) { view["b"] },
    dig: ->(view, _) { view.dig("a") }, to_h: ->(view, _) { view.to_h.size }
  }.freeze

  LOOKS.each do |name, look|
    define_method("test_a_look_into_a_view_by_#{name}") do
      [{}, { max_depth: 5_000 }].each do |options|
        outcomes = outcomes(-> {}, -> {}) do |door|
          codec = factory(door).codec(options)
          bytes = "\x83\xA1a\xD4\x01x\xA1b\xD4\x01x\xA1c\x03".b
          look.call(codec.view(bytes), door)
          :looked
        end
        assert_each_time :looked, outcomes
      end
    end
  end

  # What a Record runs of a program while it loads the last of many objects.
  RECORDS = {
    "a constructor" => lambda do |door, last|
      Manypack::Record.new(Struct.new(:id) { define_method(:initialize) { |id| (id < last || door.call) && super(id) } }, id: Integer)
    end,
    "a callable default" => lambda do |door, last|
      calls = -1
      with_default(Struct.new(:id, :own), -> { (calls += 1) < last || door.call })
    end,
    "a constructor with a callable default" => lambda do |door, last|
      klass = Struct.new(:id, :own) { define_method(:initialize) { |id, own| (id < last || door.call) && super(id, own) } }
      with_default(klass, -> { [] })
    end,
    "a callable default before a constructor" => lambda do |door, last|
      calls = -1
      klass = Struct.new(:id, :own) { define_method(:initialize) { |id, own| super(id, own) } }
      with_default(klass, -> { (calls += 1) < last || door.call })
    end
  }.freeze

  def self.with_default(klass, default) = Manypack::Record.new(klass, id: Integer, own: Object).with(defaults: { own: default })

  # Loads a list of that many objects of a Record, whose bytes are changed between the returns. Yields what was loaded.
  def outcomes_of_list(record, count, collect: false)
    bytes = nil
    outcomes(-> { bytes.replace("\xC1".b * bytes.bytesize) }, -> { bytes.clear }) do |door|
      bytes = Manypack.pack(Array.new(count) { |id| { "id" => id } })
      list = Manypack::Type[[record.call(door, count - 1)]]
      yield list.load(bytes, collect: collect)
    end
  end

  RECORDS.each do |name, record|
    [10, 2_000].each do |count|
      define_method("test_#{name}_of_a_record_among_#{count}") do
        [false, true].each do |collect|
          outcomes = outcomes_of_list(record, count, collect: collect) { |list| list.map(&:id).sum }
          sum = count * (count - 1) / 2
          count < 500 ? assert_each_time(sum, outcomes) : assert_once(sum, outcomes)
        end
      end
    end
  end

  # Says something in a method that calls a block.
  class Refusal < StandardError
    def initialize(door) = @door = door
    def message = @door.call && "refused"
    def to_s = message
  end

  REFUSALS = {
    "a constructor" => lambda do |door, last|
      klass = Struct.new(:id) { define_method(:initialize) { |id| id < last ? super(id) : raise(Refusal.new(door)) } }
      Manypack::Record.new(klass, id: Integer)
    end,
    "a callable default" => lambda do |door, last|
      calls = -1
      with_default(Struct.new(:id, :own), -> { (calls += 1) < last || raise(Refusal.new(door)) })
    end
  }.freeze

  REFUSALS.each do |name, record|
    [10, 2_000].each do |count|
      define_method("test_what_#{name}_says_of_the_last_of_#{count}") do
        [false, true].each do |collect|
          outcomes = outcomes_of_list(record, count, collect: collect) { flunk }
          refused = collect && count > 500 ? outcomes.take(1) : outcomes
          refused.each { |error| assert_instance_of Manypack::RecordError, error }
          refused.each { |error| assert_match(/\Arefused, at \$\[#{count - 1}\], byte/, error.message) }
          refused.each { |error| assert_instance_of Refusal, error.cause }
          (outcomes - refused).each { |error| assert_instance_of RuntimeError, error }
          assert_equal 3, outcomes.size
        end
      end
    end
  end

  def test_errors_that_are_kept_are_those_of_one_return
    outcomes = outcomes(-> {}, -> {}) do |door|
      klass = Struct.new(:id) { define_method(:initialize) { |id| (id != 2 || door.call) && super(id) } }
      list = Manypack::Type[[Manypack::Record.new(klass, id: Integer)]]
      list.load(Manypack.pack([{ "id" => "x" }, { "id" => 2 }, { "id" => "y" }]), collect: true)
    end
    assert_equal [["$[0].id", "$[2].id"]] * 3, outcomes.map { |error| error.errors.map(&:path) }
  end

  def test_a_batch
    parallel = Manypack::Parallel
    bytes = "\x01#{bytes_with("\xC0".b, 2_000)}\x03".b
    outcomes = outcomes(-> {}, -> {}) do |door|
      batch = parallel.const_get(:Batch).new(bytes, 0, bytes.bytesize, 0, Manypack::Factory.new.codec, parallel.const_get(:Stop).new)
      batch.each { |object| object == 3 && door.call }
      batch.passed
    end
    assert_once 3, outcomes
  end
end

# frozen_string_literal: true

# One stream, many workers, and the same by each kind of them: the results in order, each error with its message, and nothing left behind.
require "test_helper"
require "stringio"
require "support/program"
require "tempfile"
require "timeout"
require "tmpdir"
require "zlib"

class ParallelTest < Minitest::Test
  include ProgramHelper

  Parallel = Manypack::Parallel

  # In the caller, in Ractors, in processes.
  WAYS = [{ ractors: 0 }, { ractors: 1 }, { ractors: 3 }, { processes: 0 }, { processes: 1 }, { processes: 3 }].freeze
  NUMBERS = (0...500).map { |i| Manypack.pack(i) }.join.freeze

  def setup
    Timeout.timeout(1) { nil } # has a Thread of its own, which stays
    @threads = Thread.list
  end

  # However a call ended.
  def teardown
    assert_equal 1, Ractor.count
    assert_empty Thread.list - @threads
    assert_raises(Errno::ECHILD) { Process.wait }
  end

  def test_results_in_order
    each_way { |workers| assert_equal Array.new(500) { |i| i * 2 }, Parallel.map(NUMBERS, **workers) { |n| n * 2 } }
  end

  def test_results_as_they_come
    each_way { |workers| assert_equal [*0...500], Parallel.map(NUMBERS, **workers, ordered: false) { |n| n }.sort }
  end

  def test_as_many_ractors_as_processors
    assert_equal [*0...500], Parallel.map(NUMBERS) { |n| n }
    assert_equal 500, Parallel.filter(NUMBERS, StringIO.new("".b)) { |n| n }
  end

  def test_each_yields_the_objects_here
    each_way do |workers|
      seen = []
      assert_nil(Parallel.each(NUMBERS, **workers) { |n| seen << n })
      assert_equal [*0...500], seen
    end
  end

  def test_each_yields_what_map_makes_of_them_elsewhere
    each_way do |workers|
      seen = []
      ids = {}
      Parallel.each(NUMBERS, map: ->(n) { [n, Process.pid, Ractor.current.equal?(Ractor.main)] }, **workers) { |n, *id| seen << n && ids[id] = n }
      assert_equal [*0...500], seen
      here = [Process.pid, true]
      assert_equal workers.values == [0], ids.key?(here), [workers, ids]
    end
  end

  def test_each_without_a_block_is_an_enumerator
    each_way do |workers|
      results = Parallel.each(NUMBERS, map: :succ.to_proc, **workers)
      assert_equal [1, 2, 3], results.first(3)
      assert_equal [10, 20], results.lazy.map { |n| n * 10 }.first(2)
      assert_equal [*1..500], results.to_a
    end
  end

  def test_without_a_block
    assert_raises(ArgumentError) { Parallel.map(NUMBERS) }
    assert_raises(ArgumentError) { Parallel.filter(NUMBERS, StringIO.new) }
  end

  # Each waits until all six have begun, which they can only if they work at the same time.
  def test_work_is_done_by_so_many_workers_at_once
    each_kind(6) do |workers|
      Dir.mktmpdir do |dir|
        stream = (1..6).map { |i| pack([dir, i]) }.join
        begun = Parallel.map(stream, **workers) do |place, i|
          File.write(File.join(place, i.to_s), "")
          6_000.times { Dir.children(place).size == 6 ? break : sleep(0.01) }
          Dir.children(place).size
        end
        assert_equal [6] * 6, begun
      end
    end
  end

  def test_a_slow_message_holds_up_results_only_where_there_is_an_order
    stream = pack(0.2) + (pack(0) * 5)
    each_kind(2) do |workers|
      assert_equal 0.2, Parallel.map(stream, **workers) { |s| sleep(s) && s }.first
      refute_equal 0.2, Parallel.map(stream, **workers, ordered: false) { |s| sleep(s) && s }.first
    end
  end

  # --- sources

  class ReadOnly
    def initialize(binary)
      @io = StringIO.new(binary)
    end

    def read(size)
      @io.read(size)
    end
  end

  def test_each_of_everything_that_passes_for_a_source
    messages = [1, "two", { "three" => [4.0, nil] }, "l" * 200_000, [[]] * 20, nil].map { |object| pack(object) }
    expected = messages.map { |message| unpack(message) }
    stream = messages.join
    Tempfile.create("manypack", binmode: true) do |file|
      file.write(stream)
      file.flush
      each_way do |workers|
        [stream, stream.dup.freeze, Struct.new(:to_str).new(stream), StringIO.new(stream), ReadOnly.new(stream), piped(stream, 700),
         file.tap(&:rewind), Zlib::GzipReader.new(StringIO.new(Zlib.gzip(stream))), messages, messages.each, messages.each_slice(4).map(&:join),
         ["", *messages, ""]].each do |source|
          assert_equal expected, Parallel.map(source, **workers) { |object| object }, source.class
        end
      end
    end
  end

  def test_what_is_no_source
    [nil, 5, :symbol, Object.new].each do |source|
      assert_raises(::TypeError) { Parallel.map(source) { |object| object } }
    end
    each_way do |workers|
      seen = []
      assert_raises(::TypeError) { Parallel.each(["\x01", 5], **workers) { |object| seen << object } }
      assert_equal [1], seen
    end
  end

  def test_an_empty_source
    each_way do |workers|
      ["", StringIO.new, [], [""], File.open(File::NULL)].each { |source| assert_equal [], Parallel.map(source, **workers) { flunk } }
      assert_equal 0, Parallel.filter("", StringIO.new, **workers) { flunk }
    end
  end

  # Who waits for the answer before the next question must get it.
  def test_results_come_while_the_io_waits_for_more
    each_way do |workers|
      reader, writer = IO.pipe
      writer.write("\x01")
      seen = []
      Timeout.timeout(10) do
        Parallel.each(reader, **workers) do |n|
          seen << n
          n < 5 ? writer.write([n + 1].pack("C")) : writer.close
        end
      end
      assert_equal [1, 2, 3, 4, 5], seen
    ensure
      reader.close
    end
  end

  def test_an_io_that_waits_for_all_that_it_is_asked_for_is_asked_for_no_more_than_a_message
    each_kind(1) do |workers|
      io = ReadOnly.new(pack([1, "four" * 10]) * 2)
      assert_equal [1, "four" * 10], Parallel.each(io, map: ->(object) { object }, **workers).first
      reader, writer = IO.pipe
      writer.write(pack({ "a" => [1, 2] }))
      slow = Struct.new(:io) { def read(size) = io.read(size) }.new(reader)
      Timeout.timeout(10) { assert_equal({ "a" => [1, 2] }, Parallel.each(slow, map: ->(object) { object }, **workers).first) }
    ensure
      [reader, writer].each(&:close)
    end
  end

  def test_the_source_is_read_no_faster_than_results_are_taken
    each_kind(2) do |workers|
      pulled = 0
      endless = Enumerator.new { |out| loop { out << [pulled += 1].pack("xL>").tap { |bytes| bytes.setbyte(0, 0xce) } } }
      Parallel.each(endless, map: ->(n) { n }, **workers) { |n| n > 50 ? break : sleep(0.001) }
      assert_operator pulled, :<, 50_000
      reader, writer = IO.pipe
      written = 0
      thread = Thread.new { loop { written += writer.write("\xDA\x03\xE8".b + ("x" * 1_000)) } }
      Parallel.each(reader, map: ->(text) { text.size }, **workers) { sleep(0.3) && break }
      assert_operator written, :<, 3_000_000
    ensure
      thread.kill.join
      [reader, writer].each(&:close)
    end
  end

  def test_a_list_is_left_as_every_other_each_is
    each_way do |workers|
      left = []
      list = Enumerator.new do |out|
        loop { out << "\x01" }
      ensure
        left << :left
      end
      Parallel.each(list, **workers) { break }
      assert_raises(IOError) { Parallel.each(list, **workers) { raise IOError } }
      assert_equal %i[left left], left
    end
  end

  # In the block of each, where it is the list that calls.
  def test_an_error_of_the_caller_is_not_taken_for_one_of_the_list
    each_way do |workers|
      pulled = 0
      list = Enumerator.new { |out| 100_000.times { pulled += 1 and out << "\x01" } }
      seen = []
      assert_raises(IOError) { Parallel.each(list, **workers) { |n| (seen << n).size == 3 && raise(IOError) } }
      assert_equal [1] * 3, seen
      assert_operator pulled, :<, 100_000
    end
  end

  def test_a_hundred_thousand_messages
    stream = Array.new(100_000) { |i| pack({ "id" => i, "text" => "t" * (i % 40) }) }.join
    each_kind(2) do |workers|
      assert_equal [*0...100_000], Parallel.map(stream, **workers) { |object| object["id"] }
      assert_equal 100_000, Parallel.each(piped(stream, 60_000), **workers, map: ->(object) { object["text"].size }, ordered: false).count
    end
  end

  # Ruby 3.3 and 3.4 wait for ever where a Ractor wakes another one that has several Threads while a collection begins.
  def test_collections_hold_nobody_up
    20.times do
      threads = Array.new(2) { Thread.new { Parallel.map(pack(1) * 20_000, ractors: 2) { |n| [n, n.to_s] }.size } }
      assert_equal [20_000] * 2, threads.map(&:value)
    end
  end

  # --- errors of the bytes

  BROKEN = {
    "a truncated tail" => "01 02 92 03", "a bad head" => "01 02 92 03 c1 04 05", "too deep" => "01 02 91 91 91 03 04", "too long" => "01 02 a8 61 61 61 61 61 61 61 61 04",
    "an unknown ext" => "01 02 92 03 d4 05 00 04", "a bad timestamp" => "01 02 92 03 d5 ff 00 00"
  }.freeze

  BROKEN.each do |name, input|
    define_method("test_#{name.tr(" ", "_")}_after_two_messages_as_an_unpacker_has_it") do
      stream = bytes(input)
      expected, = outcome { |seen| Manypack::Unpacker.new(StringIO.new(stream), max_depth: 2, max_bytes: 8, timestamp: true).then { |u| loop { seen << u.read } } }
      each_way do |workers|
        [stream, StringIO.new(stream), piped(stream, 1), ReadOnly.new(stream), stream.each_char.first(2) << stream.byteslice(2..)].each do |source|
          error, seen = outcome { |list| Parallel.each(source, **workers, max_depth: 2, max_bytes: 8, timestamp: true) { |object| list << object } }
          assert_equal [1, 2], seen
          assert_instance_of expected.class, error
          assert_equal [expected.message, expected.offset], [error.message, error.offset] unless name == "a truncated tail"
          assert_kind_of Parallel::Error, error
          assert_equal 2, error.index
        end
      end
    end
  end

  def test_offsets_of_a_long_stream
    stream = NUMBERS + "\x92\x01".b
    each_way do |workers|
      error, = outcome { Parallel.map(stream, **workers) { |n| n } }
      assert_instance_of Manypack::TruncatedError, error
      assert_equal [500, stream.bytesize], [error.index, error.offset]
      assert_equal "unexpected end of input, at byte #{stream.bytesize}", error.message
    end
  end

  def test_an_element_ends_where_a_message_does
    each_way do |workers|
      error, seen = outcome { |list| Parallel.each(["\x01", "\x92\x02".b, "\x03"], **workers) { |object| list << object } }
      assert_instance_of Manypack::TruncatedError, error
      assert_equal [[1], 1, 3], [seen, error.index, error.offset]
    end
  end

  def test_an_error_of_the_source_comes_after_the_results_of_what_was_read
    failing = Enumerator.new { |out| 20.times { |i| out << [i].pack("C") } && raise(IOError, "gone") }
    each_way do |workers|
      reads = [*0...20].map { |i| [i].pack("C") }
      io = Object.new.tap { |object| object.define_singleton_method(:readpartial) { |_| reads.shift || raise(IOError, "gone") } }
      [failing, io].each do |source|
        error, seen = outcome { |list| Parallel.each(source, **workers) { |object| list << object } }
        assert_instance_of IOError, error
        assert_equal [*0...20], seen
      end
    end
  end

  # --- errors of the work

  class Refused < StandardError
    attr_reader :number

    def initialize(number)
      @number = number
      super("refused #{number}")
    end
  end

  def test_an_error_of_the_block_is_raised_here_with_its_message
    each_way do |workers|
      error, seen = outcome do |list|
        work = lambda do |n|
          Integer("x") if n == 400
          n
        rescue ArgumentError
          raise Refused, n
        end
        Parallel.each(NUMBERS, map: work, **workers) { |n| list << n }
      end
      assert_instance_of Refused, error
      assert_kind_of Parallel::Error, error
      assert_equal ["refused 400", 400], [error.message, error.number]
      assert_equal [400, NUMBERS.b.index("\xCD\x01\x90".b)], [error.index, error.offset]
      assert_instance_of ArgumentError, error.cause
      assert_match(/parallel_test\.rb:\d+/, error.backtrace.first)
      assert_equal "refused 400, in message 400, at byte #{error.offset}", error.detailed_message.sub(" (ParallelTest::Refused)", "")
      assert_equal [*0...400], seen
    end
  end

  def test_an_error_of_the_block_without_order
    each_kind(2) do |workers|
      error, = outcome { Parallel.map(NUMBERS, **workers, ordered: false) { |n| raise Refused, n if n == 300 } }
      assert_equal [300, 300], [error.index, error.number]
    end
  end

  def test_other_exceptions_than_standard_errors
    each_way do |workers|
      assert_equal(7, assert_raises(NotImplementedError) { Parallel.map(NUMBERS, **workers) { |n| raise NotImplementedError if n == 7 } }.index)
      assert_equal(3, assert_raises(SystemExit) { Parallel.map("\x01", **workers) { exit(3) } }.status)
      assert_raises(SystemStackError) { Parallel.map("\x01", **workers) { deeper = ->(f) { f.call(f) && 1 } and deeper.call(deeper) } }
    end
  end

  FROZEN_ERROR = Ractor.make_shareable(Refused.new(1))

  def test_a_frozen_error
    each_way { |workers| assert_equal 2, assert_raises(Refused) { Parallel.map("\0\1\2", **workers) { |n| raise FROZEN_ERROR if n == 2 } }.index }
  end

  # Its offset is that in what was unpacked there.
  def test_an_error_of_unpacking_inside_the_block
    each_way do |workers|
      error, = outcome { Parallel.map(pack(1) + pack("\x92\x01".b), **workers) { |body| body == 1 ? 0 : Manypack.unpack(body) } }
      assert_instance_of Manypack::TruncatedError, error
      assert_equal [1, 1], [error.index, error.offset]
    end
  end

  def test_a_result_that_cannot_come_back
    reasons = { ractors: /\Athe result cannot be copied to the Ractor that waits for it: /,
                processes: /\Athe result cannot be packed for the process that waits for it: undefined method 'to_msgpack' for an instance of Thread/ }
    [{ ractors: 1 }, { ractors: 2 }, { processes: 1 }, { processes: 2 }].each do |workers|
      error, seen = outcome { |list| Parallel.each(NUMBERS, map: ->(n) { n == 100 ? Thread.current : n }, **workers) { |n| list << n } }
      assert_instance_of ::TypeError, error
      assert_match(reasons[workers.keys.first], error.message)
      assert_equal [[*0...100], 100, 100], [seen, error.index, error.offset]
    end
    assert_same Thread.current, Parallel.map("\x01", ractors: 0) { Thread.current }.first
  end

  class Single
    def initialize_clone(*)
      raise "there is but one"
    end
  end

  def test_a_result_too_deep_to_be_copied
    rescued = overflow_of_a_copy_rescued?
    deep = "#{pack(0)}#{pack(1)}#{"\x91" * 60_000}\x02".b
    [1, 2].each do |ractors|
      error, seen = outcome { |list| Parallel.each(deep, map: ->(n) { n }, ractors: ractors, max_depth: 100_000) { |n| list << n } }
      next assert_copy_refused(/stack level too deep/, error, seen) if rescued

      assert_instance_of Ractor::RemoteError, error
      assert_instance_of SystemStackError, error.cause
      assert_equal 1, Ractor.count
    end
  end

  def test_a_result_that_refuses_to_be_copied
    bytes = pack(0) + pack(1) + pack(2)
    work = ->(n) { n == 2 ? Single.new : n }
    reason = refusal_of_a_copy(Single.new)
    return assert_instance_of(Single, Parallel.map(bytes, ractors: 1, &work).last) unless reason

    [1, 2].each do |ractors|
      assert_copy_refused(/#{Regexp.escape(reason)}\z/, *outcome { |list| Parallel.each(bytes, map: work, ractors: ractors) { |n| list << n } })
    end
  end

  # And the other Ractor has done its message by then.
  def test_work_that_ends_its_ractor
    ends = { "exits" => ->(n) { n == 50 ? Thread.exit : n }, "exits beside a slow one" => ->(n) { n.zero? ? Thread.exit : sleep(0.2) } }
    ends["closes its outgoing port"] = ->(n) { n == 50 ? [Ractor.current.close_outgoing, Thread.exit] : n } if Ractor.method_defined?(:close_outgoing)
    ends.each do |what, work|
      error, = outcome { Timeout.timeout(10) { Parallel.each(NUMBERS.byteslice(0, 60), map: work, ractors: 2).to_a } }
      assert_instance_of Ractor::Error, error, what
      assert_equal 1, Ractor.count, what
    end
  end

  # Which Ruby 4.1 does when the stack overflows while a result is copied: not even ensure clauses run.
  def test_a_ractor_that_ends_without_a_word
    assert_program(<<~'RUBY', "Ractor::RemoteError, NoMemoryError, 1")
      module Dying
        def send(*) = Ractor.current == Ractor.main ? super : raise(NoMemoryError)
        def clock_gettime(*) = Ractor.current == Ractor.main ? super : raise(NoMemoryError)
      end
      Process.singleton_class.prepend(Dying)
      Ractor::Port.prepend(Dying) if defined?(Ractor::Port)
      Thread.report_on_exception = false
      Thread.new { sleep(20) && exit!(1) } # should it hang

      begin
        Manypack::Parallel.map("\x01", ractors: 1) { |n| n }
      rescue Ractor::Error => error
        print [error.class, error.cause.class, Ractor.count].join(", ")
      end
    RUBY
  end

  def test_constants_of_the_user_that_have_names_of_ours
    program = 'class Port; end; class Outbox; end; require "manypack"; p Manypack::Parallel.map("\x01\x02", ractors: 2) { |n| n + 1 }'
    assert_equal "[2, 3]\n", output_of({ "RUBYOPT" => nil }, RbConfig.ruby, "-W0", "-I", LIB, "-e", program)
  end

  # --- leaving

  def test_break_throw_and_raise_stop_everything
    each_way do |workers|
      assert_equal(:out, Parallel.each(NUMBERS, **workers) { |n| break :out if n == 3 })
      assert_equal(:thrown, catch(:out) { Parallel.each(piped(NUMBERS, 9), **workers) { |n| throw :out, :thrown if n == 3 } })
      assert_raises(Refused) { Parallel.each(StringIO.new(NUMBERS), **workers) { |n| raise Refused, n if n == 3 } }
      error = assert_raises(Refused) { Parallel.each([NUMBERS], **workers) { |n| raise Refused, n } }
      refute_kind_of Parallel::Error, error
      assert_equal 1, Ractor.count
    end
  end

  def test_an_interruption_while_the_io_is_left_stops_the_ractors_all_the_same
    io = Object.new
    io.define_singleton_method(:readpartial) do |_|
      sleep
    ensure
      sleep 0.3
    end
    thread = Thread.new { Parallel.map(io, ractors: 2) { |n| n } }
    thread.report_on_exception = false
    sleep 0.01 until Ractor.count == 3 && thread.stop?
    thread.raise(Refused, "one")
    sleep 0.1
    thread.raise(Refused, "two")
    assert_raises(Refused) { thread.join }
    100.times { sleep 0.02 if Ractor.count > 1 || (Thread.list - @threads).any? }
    assert_equal 1, Ractor.count
  end

  def test_a_clock_that_stands_still
    program = <<~RUBY
      module Process
        class << self
          alias real clock_gettime
          def clock_gettime(*arguments) = real(*arguments).floor(1)
        end
      end
      puts Manypack::Parallel.map("\\x01" * 3_000, ractors: 2) { |n| n }.sum
    RUBY
    assert_program program, "3000"
  end

  def test_a_timeout_stops_everything
    each_kind(2) do |workers|
      reader, writer = IO.pipe
      assert_raises(Timeout::Error) { Timeout.timeout(0.1) { Parallel.map(reader, **workers) { |n| n } } }
      assert_raises(Timeout::Error) { Timeout.timeout(0.1) { Parallel.map(pack(0.05) * 100, **workers) { |n| sleep(n) } } }
    ensure
      [reader, writer].each(&:close)
    end
  end

  def test_calls_inside_each_other_and_in_several_threads
    [[{ ractors: 2 }, { ractors: 1 }], [{ processes: 2 }, { processes: 1 }]].each do |outer, inner|
      threads = Array.new(3) do |i|
        Thread.new { Parallel.each(NUMBERS, map: ->(n) { n }, **outer).sum { |n| n < 2 ? Parallel.map(NUMBERS, **inner) { |m| m }.sum : i } }
      end
      assert_equal Array.new(3) { |i| (2 * 124_750) + (498 * i) }, threads.map(&:value)
    end
  end

  def test_nothing_is_kept
    each_kind(2) do |workers|
      times = workers[:ractors] ? 30 : 5
      work = -> { times.times { Parallel.each(NUMBERS, map: ->(n) { n }, **workers) { |n| break if n == 50 } } }
      2.times { work.call }
      3.times { GC.start }
      before = ObjectSpace.count_objects[:T_DATA]
      work.call
      3.times { GC.start }
      assert_operator ObjectSpace.count_objects[:T_DATA] - before, :<, times * 7
    end
  end

  # --- what runs in Ractors

  LIMIT = 5

  class Scale
    def initialize(factor) = @factor = factor
    def call(number) = number * @factor
    def self.double(number) = number * 2
  end

  def test_what_can_be_done_in_ractors
    scale = Ractor.make_shareable(Scale.new(3))
    { Scale.method(:double) => [2, 4], scale => [3, 6], scale.method(:call) => [3, 6], :succ.to_proc => [2, 3], ->(n) { n + LIMIT } => [6, 7],
      nil => [1, 2], proc { |n, m| [n, m] } => [[1, nil], [2, nil]], Math.method(:sqrt) => [1, Math.sqrt(2)] }.each do |work, expected|
      each_way { |workers| assert_equal expected, Parallel.each("\x01\x02", map: work, **workers).to_a, work }
    end
    assert_raises(::TypeError) { Parallel.each("\x01", map: 5).to_a }
  end

  def test_work_that_depends_on_what_cannot_be_shared
    seen = []
    works = [->(n) { seen << n }, Scale.new(3), Scale.new(3).method(:call), seen.method(:push)]
    works.each do |work|
      error = assert_raises(Ractor::IsolationError) { Parallel.each("\x01\x02", map: work, ractors: 1).to_a }
      assert_match(/Ractor/, error.message)
      assert_equal 2, Parallel.each("\x01\x02", map: work, ractors: 0).to_a.size
    end
    assert_equal [1, 2, 1, 2], seen
  end

  def test_self_is_nil_unless_it_can_be_shared
    each_way { |workers| assert_equal [workers[:ractors].to_i > 0 ? "NilClass" : self.class.name], Parallel.map("\x01", **workers) { self.class.name } }
    work = Scale.class_eval { ->(n) { double(n) } }
    each_way { |workers| assert_equal [2], Parallel.each("\x01", map: work, **workers).to_a }
  end

  def test_the_block_of_the_user_stays_as_it_is
    seen = []
    block = Ractor.respond_to?(:shareable_proc) ? ->(n) { n } : Scale.class_eval { ->(n) { n } }
    Parallel.each("\x01", map: block, ractors: 1).to_a
    refute_predicate block, :frozen?
    refute Ractor.shareable?(block)
    assert_empty seen
  end

  # --- options

  Point = Struct.new(:x) do
    def to_msgpack_ext = [x].pack("c")
    def self.from_msgpack_ext(body) = new(body.unpack1("c"))
  end

  FACTORY = Manypack::Factory.new.tap { |factory| factory.register_type(1, Point) }

  def test_options_of_unpack
    each_way do |workers|
      assert_equal [{ a: 1 }], Parallel.map(bytes("81 a1 61 01"), **workers, symbolize_keys: true) { |object| object }
      assert_equal [5], Parallel.map(bytes("d4 05 00"), **workers, allow_unknown_ext: true) { |ext| ext.type }
      assert_equal [true], Parallel.map(bytes("91 a1 61"), **workers, shareable: true) { |object| Ractor.shareable?(object) }
      assert_raises(RangeError) { Parallel.map("", **workers, max_depth: 0) { nil } }
    end
  end

  def test_limits_hold_for_each_message
    stream = pack([1, 2, 3]) * 100
    each_way do |workers|
      assert_equal [3] * 100, Parallel.map(stream, **workers, max_objects: 4, max_array_size: 3) { |list| list.size }
      error = assert_raises(Manypack::LimitError) { Parallel.map(stream + pack([1] * 4), **workers, max_array_size: 3) { |list| list } }
      assert_equal [:max_array_size, 100, stream.bytesize], [error.limit, error.index, error.offset]
      assert_equal [3] * 100, Parallel.map(stream, **workers, untrusted: true) { |list| list.size }
    end
  end

  def test_a_codec_or_a_factory
    message = FACTORY.dump([Point.new(5)])
    [{ factory: FACTORY }, { codec: FACTORY.codec }, { factory: FACTORY.dup.freeze }].each do |by|
      each_way do |workers|
        assert_equal [[Point.new(5)]], Parallel.map(message, **workers, **by) { |object| object }
        assert_equal [true], Parallel.each(message, **workers, **by).map { |object| Ractor.shareable?(object) }
        output = StringIO.new("".b)
        Parallel.filter(message, output, **workers, **by) { |list| list.first }
        assert_equal "d4 01 05", hex(output.string)
      end
    end
    assert_raises(ArgumentError) { Parallel.map(message, factory: FACTORY, codec: FACTORY.codec) { nil } }
  end

  def test_handlers_that_cannot_cross
    seen = []
    factory = Manypack::Factory.new
    factory.register_type(7, Range, packer: ->(range) { seen << range && "r" }, unpacker: nil)
    error = assert_raises(Ractor::IsolationError) { Parallel.map("\x01", factory: factory, ractors: 1) { |n| n } }
    assert_match(/ext type 7 for Range .*Ractor.make_shareable/, error.message)
    assert_equal [1], Parallel.map("\x01", factory: factory, ractors: 0) { |n| n }
  end

  def test_bad_counts_of_workers
    %i[ractors processes].product([-1, 1.5, nil, "2"]) do |kind, count|
      error = assert_raises(ArgumentError) { Parallel.map("", kind => count) { nil } }
      assert_equal "#{kind} must be an Integer of 0 or more, got #{count.inspect}", error.message
    end
    error = assert_raises(ArgumentError) { Parallel.map("", ractors: 1, processes: 1) { nil } }
    assert_equal "give ractors or processes, not both", error.message
  end

  def test_shareable_objects_are_not_copied
    shared = nil
    Parallel.each(pack({ "a" => ["b" * 100, 2**64 - 1] }), ractors: 1) { |object| shared = object }
    assert Ractor.shareable?(shared)
    copied, = Parallel.each(pack({ "a" => "b" }), ractors: 1, shareable: false).to_a
    refute_predicate copied, :frozen?
    copied["a"] << "c"
    assert_equal({ "a" => "bc" }, copied)
    assert_nil GC.verify_internal_consistency
  end

  # --- filter

  def test_filter_packs_what_the_block_returns_and_drops_nil
    expected = (0...500).select(&:even?).map { |i| Manypack.pack([i, nil, false]) }.join + "\xC2".b
    each_way do |workers|
      [StringIO.new("".b), []].each do |output|
        stream = NUMBERS + "\xC2".b
        count = Parallel.filter(piped(stream, 50), output, **workers) { |n| n && (n.even? ? [n, nil, false] : nil) }
        assert_equal 251, count
        assert_equal expected, output.is_a?(Array) ? output.join : output.string
      end
      output = StringIO.new("".b)
      assert_equal 1, Parallel.filter("\xC2\xC0".b, output, **workers) { |object| object }
      assert_equal "\xC2".b, output.string
    end
  end

  def test_filter_writes_what_came_before_an_error
    each_way do |workers|
      output = StringIO.new("".b)
      error = assert_raises(NoMethodError) { Parallel.filter("\x01\x02\x03", output, **workers) { |n| n == 3 ? Object.new : n } }
      assert_equal ["\x01\x02", 2, 2], [output.string, error.index, error.offset]
    end
  end

  def test_filter_answers_before_more_is_asked
    [{ ractors: 0 }, { ractors: 2 }, { processes: 2 }].each do |workers|
      (questions, asker), (answers, answerer) = IO.pipe, IO.pipe
      thread = Thread.new { Parallel.filter(questions, answerer, **workers) { |n| n + 1 } }
      Timeout.timeout(10) { 5.times { |i| asker.write([i].pack("C")) && assert_equal(i + 1, answers.readpartial(10).ord) } }
      asker.close
      assert_equal 5, thread.value
    ensure
      [questions, asker, answers, answerer].each(&:close)
    end
  end

  def test_filter_into_a_closed_pipe
    each_way do |workers|
      reader, writer = IO.pipe
      reader.close
      assert_raises(Errno::EPIPE) { Parallel.filter(NUMBERS, writer, **workers) { |n| n } }
    ensure
      writer.close
    end
  end

  private

  def each_way(&block)
    WAYS.each(&block)
  end

  def each_kind(count, &block)
    %i[ractors processes].each { |kind| block.call({ kind => count }) }
  end

  # The bytes from a pipe, of which somebody writes some at a time.
  def piped(bytes, step)
    reader, writer = IO.pipe
    writer.binmode
    (@writers ||= []) << Thread.new do
      0.step(bytes.bytesize - 1, step) { |at| writer.write(bytes.byteslice(at, step)) }
    rescue Errno::EPIPE
      nil
    ensure
      writer.close
    end
    @threads << @writers.last
    reader
  end

  def assert_copy_refused(reason, error, seen)
    assert_instance_of ::TypeError, error
    assert_match(reason, error.message)
    assert_equal [[0, 1], 2, 2], [seen, error.index, error.offset]
  end

  # Ruby 4.1 may end a Ractor whose stack overflows while an object is copied: not even ensure clauses run.
  def overflow_of_a_copy_rescued?
    in_ractor do
      Thread.current.report_on_exception = false
      begin
        Ractor.current.send(60_000.times.inject(1) { |inner, _| [inner] })
      rescue SystemStackError
        true
      end
    end
  rescue Ractor::RemoteError
    false
  end

  # What is said against a copy, or nil. Ruby 4.1 may copy without asking the object, or refuse without asking it.
  def refusal_of_a_copy(object)
    Ractor.make_shareable(object, copy: true) && nil
  rescue StandardError => e
    e.message
  end

  # What the block raises, and what it put into a list before.
  def outcome
    seen = []
    yield seen
    flunk("nothing raised, #{seen.inspect[0, 100]}")
  rescue Minitest::Assertion
    raise
  rescue Exception => e # rubocop:disable Lint/RescueException
    [e, seen]
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end

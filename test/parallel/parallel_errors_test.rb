# frozen_string_literal: true

# Each error of Parallel comes with its message, after the results of those before: errors of the bytes, of the work, and
# of results that cannot come back.
require "test_helper"
require "parallel/workers"
require "support/program"

class ParallelErrorsTest < Minitest::Test
  include ProgramHelper
  include Workers

  # --- errors of the bytes

  BROKEN = {
    "a truncated tail" => "01 02 92 03", "a bad head" => "01 02 92 03 c1 04 05", "too deep" => "01 02 91 91 91 03 04", "too long" => "01 02 a8 61 61 61 61 61 61 61 61 04",
    "an unknown ext" => "01 02 92 03 d4 05 00 04", "a bad timestamp" => "01 02 92 03 d5 ff 00 00"
  }.freeze

  # With the path that unpacking the message has.
  def test_an_error_in_a_message_has_its_path
    long = pack({ "a" => [1, { "b" => "xyz" * 20 }] })
    [[long, { max_bytes: 20 }], [long.byteslice(0, 30), {}], ["\x91\xC1".b, {}]].each do |message, options|
      expected = assert_raises(Manypack::DecodeError) { unpack(message, **options) }
      each_way do |workers|
        error = assert_raises(expected.class) { Parallel.map(pack(1) + message, **options, **workers, &:itself) }
        assert_equal [expected.path, 1], [error.path, error.index]
      end
    end
  end

  def test_a_message_that_is_cut_is_that_for_handlers_that_no_ractor_can_share
    factory = Manypack::Factory.new
    unshareable = +"here"
    factory.register_type(1, Class.new, packer: ->(_) { unshareable }, unpacker: ->(_) { unshareable })
    error = assert_raises(Manypack::TruncatedError) { Parallel.each("\x01\x91".b, codec: factory.codec(shareable: true), ractors: 0) { |object| object } }
    assert_equal "$[0]", error.path
  end

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

  # A Record is loaded where the block runs, also in a process of its own.
  def test_an_error_of_a_record_comes_back_with_its_place
    record = Manypack::Record.new(Struct.new(:x), x: [Float])
    stream = [{ "x" => [1.5] }, { "x" => [1.5, "2"] }].sum("".b) { |message| Manypack.pack(message) }
    each_way do |workers|
      error, = outcome { Parallel.map(stream, **workers, as: record) { |point| point.x } }
      assert_instance_of Manypack::RecordError, error
      assert_equal ["$.x[1]", :x, 1], [error.path, error.member, error.index]
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
      assert_match(/parallel_errors_test\.rb:\d+/, error.backtrace.first)
      assert_equal "refused 400, in message 400, at byte #{error.offset}", error.detailed_message.sub(" (Workers::Refused)", "")
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
    Forks.without_impossible([{ ractors: 1 }, { ractors: 2 }, { processes: 1 }, { processes: 2 }]).each do |workers|
      error, seen = outcome { |list| Parallel.each(NUMBERS, map: ->(n) { n == 100 ? Thread.current : n }, **workers) { |n| list << n } }
      assert_instance_of workers.key?(:processes) ? Manypack::EncodeError::TypeError : ::TypeError, error
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
      assert_no_ractors
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
      assert_no_ractors(what)
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
        100.times { sleep(0.01) if Ractor.count > 1 } # Ractor#join returns a moment before a Ractor counts no more
        print [error.class, error.cause.class, Ractor.count].join(", ")
      end
    RUBY
  end

  def test_constants_of_the_user_that_have_names_of_ours
    program = 'class Port; end; class Outbox; end; require "manypack"; p Manypack::Parallel.map("\x01\x02", ractors: 2) { |n| n + 1 }'
    assert_equal "[2, 3]\n", output_of({ "RUBYOPT" => nil }, RbConfig.ruby, "-W0", "-I", LIB, "-e", program)
  end

  private

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
end

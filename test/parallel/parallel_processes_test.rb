# frozen_string_literal: true

# Worker processes: what they have of their parent, what comes back, and what stays the parent's own.
require "test_helper"
require "parallel/worker_processes"
require "stringio"
require "support/costs"
require "support/program"
require "tempfile"

class ParallelProcessesTest < Minitest::Test
  include Costs
  include ProgramHelper
  include WorkerProcesses

  # --- what workers have

  def test_the_block_may_use_everything
    seen = Hash.new { |hash, key| hash[key] = [] }
    io = StringIO.new("here")
    results = Parallel.map(NUMBERS, processes: 2) { |n| seen[:all] << n and [n, io.string, seen[:all].include?(n), name] }
    assert_equal (0...200).map { |n| [n, "here", true, name] }, results
    assert_empty seen
  end

  def test_workers_have_no_pipes_of_each_other
    counts = Parallel.map(pack(0.05) * 4, processes: 4) { |seconds| sleep(seconds) && open_files }
    assert_equal [@files + 2] * 4, counts
  end

  def test_a_file_is_read_from_where_it_is
    Tempfile.create("manypack", binmode: true) do |file|
      file.write("\xC1junk", NUMBERS)
      file.rewind
      assert_equal "\xC1j".b, file.read(2)
      file.read(3)
      assert_equal [*0...200], Parallel.map(file, processes: 2) { |n| n }
      assert_predicate file, :eof?
      file.pos = 5 + 148
      file.write("\xC1".b)
      file.pos = 5
      error = assert_raises(Manypack::MalformedFormatError) { Parallel.map(file, processes: 2) { |n| n } }
      assert_equal [138, 148], [error.index, error.offset]
    end
  end

  def test_a_file_that_gets_shorter
    Tempfile.create("manypack", binmode: true) do |file|
      file.write(pack("x" * 50) * 100)
      file.rewind
      gone = ->(_) { file.truncate(0) && sleep(0.01) }
      error = assert_raises(EOFError, RangeError, Manypack::TruncatedError) { Parallel.each(file, map: gone, processes: 1).to_a }
      assert_kind_of Parallel::Error, error
      assert_operator error.index, :>, 0
    end
  end

  def test_a_file_that_is_cut_inside_a_message
    Tempfile.create("manypack", binmode: true) do |file|
      file.write(pack("x" * 50) * 2_000)
      file.rewind
      cut = ->(_) { file.truncate((52 * 3) + 20) && sleep(0.001) }
      error = assert_raises(Manypack::TruncatedError) { Parallel.each(file, map: cut, processes: 1).to_a }
      assert_equal [3, 156, "$"], [error.index, error.offset, error.path.to_s]
    end
  end

  # --- what comes back

  Point = Struct.new(:x) do
    def to_msgpack_ext = [x].pack("c")
    def self.from_msgpack_ext(body) = new(body.unpack1("c"))
  end

  FACTORY = Manypack::Factory.new.tap { |factory| factory.register_type(127, Point) }

  def test_results_are_what_they_were
    results = [nil, :symbol, { id: 1, "id" => [:a, "b"] }, "b\xFF".b, "é", 2.5, Time.at(1, 5, :nsec), Manypack::ExtensionValue.new(3, "x"), 2**64 - 1, [[[]]]]
    results.each { |result| assert_equal [result] * 3, Parallel.map("\x01\x02\x03", processes: 2) { result } }
    assert_equal [[Point.new(5), :x]], Parallel.map("\x05", processes: 1, factory: FACTORY) { |n| [Point.new(n), :x] }
  end

  def test_options_of_unpack_are_not_for_results
    result = Parallel.map(pack({ "a" => 1 }), processes: 1, untrusted: true, max_bytes: 10, symbolize_keys: true, freeze: true) { |map| [map, { "b" => "c" * 100 }] }.first
    assert_equal [{ a: 1 }, { "b" => "c" * 100 }], result
    refute_predicate result, :frozen?
  end

  def test_results_of_any_size_and_depth
    assert_equal [3_000_000, 1], Parallel.map("\x03\x00", processes: 2) { |n| "x" * (n * 1_000_000) }.map(&:size).then { |sizes| [sizes[0], sizes[1] + 1] }
    nested = ->(levels) { (1...levels).reduce([]) { |inner,| [inner] } }
    assert_equal [nested.call(1_000)], Parallel.map("\x00", processes: 1) { nested.call(1_000) }
    error = assert_raises(::TypeError) { Parallel.map("\x00\x01", processes: 1) { |n| n == 1 ? nested.call(1_001) : n } }
    assert_equal [1, 1], [error.index, error.offset]
  end

  def test_a_result_that_cannot_be_packed
    [Object.new, 2**64, [1, { a: -> {} }]].each do |result|
      error = assert_raises(::TypeError) { Parallel.map("\x00\x01\x02", processes: 2) { |n| n == 1 ? result : n } }
      assert_match(/\Athe result cannot be packed for the process that waits for it: .+\z/, error.message)
      assert_equal [1, 1], [error.index, error.offset]
      refute_nil error.cause
    end
  end

  # --- errors

  class Full < StandardError
    attr_reader :limit

    def initialize(limit, extra)
      super("full at #{limit}")
      @limit = limit
      @extra = extra
    end
  end

  class Telling < IOError
    def initialize(list)
      super()
      @list = list
    end

    def message = "#{@list.size} are wrong"
  end

  class Mute < StandardError
    def message = raise("nothing to say")
  end

  def test_errors_as_they_were_raised
    error = raised(Full) { raise Full.new(7, [1]) }
    assert_equal ["full at 7", 7, [1]], [error.message, error.limit, error.instance_variable_get(:@extra)]
    error = raised(KeyError) { {}.fetch(:a) }
    assert_equal :a, error.key
    assert_equal 4, raised(SystemExit) { exit(4) }.status
    assert_equal "uncaught throw :out", catch(:out) { raised(UncaughtThrowError) { throw :out } }.message
    raised(LocalJumpError) { break 1 } # rubocop:disable Lint/UnreachableLoop
    raised(NoMemoryError) { raise NoMemoryError }
    raised(Interrupt) { raise Interrupt }
    raised(SystemStackError) { (deeper = ->(n) { deeper.call(n + 1) + 1 }).call(0) }
  end

  def test_errors_that_marshal_cannot_carry
    error = raised(Full) { raise Full.new(7, -> {}) }
    assert_equal ["full at 7", nil], [error.message, error.limit]
    error = raised(Telling) { raise Telling.new([1, 2, -> {}]) }
    assert_equal "3 are wrong", error.message
    error = raised(IOError) { raise Class.new(IOError), "closed" }
    assert_equal "an error of an anonymous class: closed", error.message
    error = raised(IOError) { raise Object.const_set(:OnlyInTheWorker, Class.new(IOError)), "closed" }
    assert_equal "OnlyInTheWorker: closed", error.message
    assert_equal "#{Mute}, whose message raises RuntimeError", raised(Mute) { raise Mute.new.tap { |mute| mute.instance_variable_set(:@a, -> {}) } }.message
  end

  def test_causes
    error = raised(IOError) do
      Integer("x")
    rescue ArgumentError
      begin
        raise Full.new(1, -> {})
      rescue Full
        raise IOError, "last"
      end
    end
    assert_equal [Full, "full at 1", ArgumentError], [error.cause.class, error.cause.message, error.cause.cause.class]
    assert_nil error.cause.cause.cause
    [error, error.cause, error.cause.cause].each { |one| assert_match(/#{File.basename(__FILE__)}:\d+/, one.backtrace.join("\n")) }
  end

  def test_an_error_that_has_many_causes
    error = assert_raises(IOError) do
      Parallel.map("\x01", processes: 1) do
        600.times.inject(nil) { |cause, i| raise IOError, "no. #{i}", cause: cause rescue $! }.then { |last| raise last } # rubocop:disable Style/RescueModifier
      end
    end
    assert_equal ["no. 599", "no. 598"], [error.message, error.cause.message]
  end

  Text = Class.new(String)
  Item = Struct.new(:id)
  ITEM = Manypack::Record.new(Item, id: Integer).attach

  def test_results_keep_their_class_or_are_refused
    results = [Item.new(1), [{ at: Item.new(2) }], Manypack::Timestamp.new(1, 2), Text.new("a"), Manypack::ExtensionValue.new(1, "a")]
    Parallel.map("\x01", processes: 1) { results }.first.zip(results) { |actual, expected| assert_equal [expected.class, expected], [actual.class, actual] }
    view, = Parallel.map("\x81\xA2id\x03".b, processes: 1, as: :view) { |message| message }
    assert_equal [Manypack::View, { "id" => 3 }], [view.class, view.value]
    { "LazyRecord" => ITEM.lazy, "anonymous" => ITEM }.each do |reason, type|
      error = assert_raises(TypeError) do
        Parallel.map("\x81\xA2id\x03".b, processes: 1, as: type) { |item| reason == "anonymous" ? Class.new(Item).new(1) : item }
      end
      assert_includes error.message, reason
    end
  end

  # The pieces of a Frame are put together once, however many there are.
  def test_a_long_message_of_an_error_takes_linear_time
    Parallel.const_get(:Run) # loads them
    assert_linear(100_000) do |size|
      bytes = StringIO.new.tap { |io| Parallel.const_get(:Frame).write(io, ["m" * size], ["r"]) }.string.b
      lambda do
        unpacker = Manypack::Unpacker.new
        frames = bytes.scan(/.{1,16}/mn).flat_map { |piece| unpacker.feed_each(piece).to_a }
        assert_equal [[["m" * size], ["r"]]], frames
      end
    end
    assert_equal 3_000_000, raised(IOError) { raise IOError, "m" * 3_000_000 }.message.size
  end

  # --- the parent's own

  def test_what_the_parent_does_at_its_end_workers_do_not
    assert_program <<~RUBY, "written\nworker said\n[2, 3]\nonce\nat_exit"
      require "tempfile"
      file = Tempfile.create("manypack")
      at_exit { puts "at_exit" }
      $stdout.sync = false
      print "written\\n"
      file.write("once")
      p Manypack::Parallel.map("\\x01\\x02", processes: 2) { |n| n == 1 && print("worker said\\n"); n + 1 }
      file.close
      puts File.read(file.path)
      File.unlink(file.path)
    RUBY
  end

  def test_signal_handlers_stay_those_of_the_parent
    assert_program <<~RUBY, "[:INT, :TERM]"
      CALLED = []
      %i[INT TERM].each { |name| trap(name) { CALLED << name } }
      Manypack::Parallel.map("\\x01\\x02", processes: 2) { |n| n }
      Manypack::Parallel.each("\\x01\\x02\\x03" * 50, processes: 2, map: ->(n) { n }) { break }
      %i[INT TERM].each { |name| Process.kill(name, Process.pid) && sleep(0.05) }
      p CALLED
    RUBY
  end

  # Of the whole process group, as a terminal does it; and of the parent alone.
  def test_ctrl_c_ends_all
    [-> (pid) { Process.kill(:INT, -pid) }, ->(pid) { Process.kill(:TERM, pid) }, ->(pid) { Process.kill(:KILL, pid) }].each do |signal|
      reader, writer = IO.pipe
      program = 'puts Process.pid; $stdout.flush; Manypack::Parallel.each("\x00\x01".b * 9, processes: 2, map: ->(n) { puts $$; $stdout.flush; sleep }) { }'
      pid = Process.spawn(RbConfig.ruby, "-W0", "-I", LIB, "-r", "manypack", "-e", program, out: writer, err: File::NULL, pgroup: true)
      writer.close
      3.times { reader.gets }
      signal.call(pid)
      Process.wait(pid)
      assert_nil Timeout.timeout(10) { reader.gets } # everybody who could write has ended
    ensure
      reader.close
    end
  end

  def test_a_ruby_without_fork
    assert_program <<~RUBY, "[NotImplementedError, true]\n[1]"
      Process.singleton_class.undef_method(:fork)
      begin
        Manypack::Parallel.map("\\x01", processes: 2) { |n| n }
      rescue NotImplementedError => error
        p [error.class, error.message.include?("processes: needs fork, which #{RUBY_PLATFORM} does not have; use ractors:")]
      end
      p Manypack::Parallel.map("\\x01", processes: 0) { |n| n }
    RUBY
  end

  # Nor what only unpacks: its results have to be unpacked here.
  def test_the_default_never_forks
    assert_program <<~RUBY, "[[2, 3], [1, 2]]"
      Process.singleton_class.prepend(Module.new { def fork = raise("forked") })
      p [Manypack::Parallel.map("\\x01\\x02") { |n| n + 1 }, Manypack::Parallel.each("\\x01\\x02", processes: 2).to_a]
    RUBY
  end

  private

  # What the block raises as the work on message 1 of 3; it comes after the result of message 0.
  def raised(error_class, &block)
    seen = []
    error = assert_raises(error_class) { Parallel.each("\x00\x01\x02", map: ->(n) { n == 1 ? block.call : n }, processes: 2) { |n| seen << n } }
    assert_instance_of error_class, error
    assert_kind_of Parallel::Error, error
    assert_equal [[0], 1, 1], [seen, error.index, error.offset]
    assert_match(/#{File.basename(__FILE__)}:\d+/, error.backtrace.join("\n")) unless error_class == SystemStackError
    error
  end
end

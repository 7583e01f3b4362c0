# frozen_string_literal: true

# Errors of decoding that leave the handlers of ext types: every one has an offset, and it is one of the whole input.
require "test_helper"
require "stringio"
require "support/program"
require_relative "../contract/handler_errors_contract"

# The contract through every front that has ext types.
module HandlerErrorFronts
  FACTORY = HandlerErrorsContract::FACTORY

  # Answers one method of an io alone.
  Partial = Struct.new(:io) { def readpartial(size) = io.readpartial(size) }
  ReadOnly = Struct.new(:io) { def read(size) = io.read(size) }

  FRONTS = {
    Factory: ->(binary) { FACTORY.load(binary) },
    Codec: ->(binary) { FACTORY.codec.unpack(binary) },
    CodecWithLimits: ->(binary) { FACTORY.codec(max_objects: 100_000).unpack(binary) },
    Pool: ->(binary) { FACTORY.pool.load(binary) },
    CodecAndIo: ->(binary) { FACTORY.codec.unpack(StringIO.new(binary)) },
    Feed: ->(binary) { FACTORY.unpacker.feed(binary).read },
    FeedByteByByte: ->(binary) { FACTORY.unpacker.then { |u| binary.each_char { |byte| u.feed_each(byte) { nil } } && nil } },
    IoWithReadpartial: ->(binary) { FACTORY.unpacker(Partial.new(StringIO.new(binary))).read },
    IoWithRead: ->(binary) { FACTORY.unpacker(ReadOnly.new(StringIO.new(binary))).read },
    Each: ->(binary) { FACTORY.unpacker.feed(binary).each { nil } },
    ParallelHere: ->(binary) { Manypack::Parallel.map(binary, factory: FACTORY, ractors: 0) { nil } },
    ParallelInRactors: ->(binary) { Manypack::Parallel.map(binary, factory: FACTORY, ractors: 1) { nil } },
    Ractor: lambda do |binary|
      ractor = ::Ractor.new(binary) { |bytes| FACTORY.load(bytes) rescue $! } # rubocop:disable Style
      raise(ractor.respond_to?(:value) ? ractor.value : ractor.take)
    end
  }.freeze

  FRONTS.each do |name, front|
    const_set(:"#{name}Test", Class.new(Minitest::Test) do
      include HandlerErrorsContract
      define_method(:restore, &front)
    end)
  end
end

class HandlerErrorsTest < Minitest::Test
  include CorePart
  include ProgramHelper

  Boom = Class.new(StandardError)

  def setup
    @factory = Manypack::Factory.new
  end

  # Of DefaultFactory there is one in a process.
  def test_the_contract_by_the_default_factory
    output = run_program(<<~RUBY)
      require "stringio"
      require #{File.expand_path("../contract/handler_errors_contract", __dir__).dump}
      HandlerErrorsContract.register(Manypack::DefaultFactory)
      RESTORE = { "unpack" => ->(input) { Manypack.unpack(input) }, "load with options" => ->(input) { Manypack.load(input, freeze: true) },
                  "unpack an io" => ->(input) { Manypack.unpack(StringIO.new(input)) },
                  "in a Ractor" => ->(input) { raise value(Ractor.new(input) { |bytes| Manypack.unpack(bytes) rescue $! }) } }
      RESTORE.each do |name, restore|
        HandlerErrorsContract::EXPECTED.each do |input, expected|
          actual = HandlerErrorsContract.outcome { restore.call(input) }
          puts name, input.inspect, expected.inspect, actual.inspect unless actual == expected
        end
      end
    RUBY
    assert_empty output
  end

  def test_the_offset_counts_from_the_start_of_a_stream
    unpacker = HandlerErrorsContract::FACTORY.unpacker.feed(bytes("01 92 d4 0a 00 02 d5 01 00 00 03"))
    assert_equal 1, unpacker.read
    assert_equal([2, 6], Array.new(2) { assert_raises(Manypack::MalformedFormatError) { exercise { unpacker.read } }.offset })
    assert_equal 3, unpacker.read
  end

  # Whatever else is to come: a method that makes an object of a body is in the contract.
  def test_the_contract_has_every_handler_that_comes_with_manypack
    by_name = modules_of(Manypack).select { |mod| mod.respond_to?(:from_msgpack_ext) }
    assert_equal [Manypack::Bigint, Manypack::Timestamp], by_name.sort_by(&:name)
    assert_equal [Manypack::Time], modules_of(Manypack).select { |mod| mod.const_defined?(:Unpacker, false) } - [Manypack]
  end

  # All bodies are those of a Symbol.
  def test_no_body_of_a_symbol_is_bad
    @factory.register_type(1, Symbol)
    @factory.register_type(2, Symbol, unpacker: :from_msgpack_ext, optimized_symbols_parsing: true)
    ["", "a", "é", "\xFF", "\0", "\xC3\x28"].each do |body|
      [1, 2].each do |type|
        assert_equal body.b, @factory.load([0xc7, body.bytesize, type].pack("C*") + body.b).name.b
      end
    end
  end

  def test_called_by_hand_a_handler_raises_with_the_offset_0
    { Manypack::Bigint.method(:from_msgpack_ext) => "x\0", Manypack::Timestamp.method(:from_msgpack_ext) => "x", Manypack::Time::Unpacker => "x" }.each do |handler, body|
      error = assert_raises(Manypack::MalformedFormatError) { handler.call(body) }
      assert_equal 0, error.offset
      refute_match(/at byte/, error.message)
    end
  end

  def test_a_decode_error_that_nobody_gave_an_offset_has_0
    classes = modules_of(Manypack).select { |mod| mod.is_a?(Class) && mod < Manypack::DecodeError }
    assert_operator classes.size, :>=, 7
    classes.each { |error_class| assert_equal 0, error_class.new("by hand").offset }
    assert_equal 0, Boom.new.extend(Manypack::DecodeError).offset
  end

  class Own < Manypack::UnpackError
    attr_reader :detail

    def initialize(message, detail)
      super(message)
      @detail = detail
    end
  end

  module Tag; end

  def test_the_error_is_what_the_handler_raised_but_for_its_place
    raised = nil
    register do
      Integer("x")
    rescue ArgumentError
      raised = Own.new("own", [1]).extend(Tag)
      raise raised
    end
    error = exercise { failure("92 01 d4 01 00") }
    assert_kind_of Own, error
    assert_kind_of Tag, error
    assert_equal ["own, at byte 2", 2, [1]], [error.message, error.offset, error.detail]
    assert_instance_of ArgumentError, error.cause
    assert_equal raised.backtrace, error.backtrace
    assert_match(/handler_errors_test\.rb:\d+/, error.backtrace.first)
    assert_equal ["own", 0], [raised.message, raised.offset]
    assert_nil register { raise Own.new("own", 2) }
    assert_nil failure("d4 01 00").cause
  end

  def test_an_error_of_the_surroundings_does_not_become_the_cause
    register { raise Manypack::UnpackError, "inner" }
    raise Boom
  rescue Boom => e
    assert_same e, failure("d4 01 00").cause
  end

  def test_an_object_that_is_raised_again_and_again_stays_as_it_is
    [Own.new("own", 1), Own.new("own", 1).freeze].each do |object|
      register { raise object }
      [0, 3, 300].each do |n|
        error = failure("dc #{format("%04x", n + 1)} #{"01" * n} d4 01 00")
        assert_equal ["own, at byte #{n + 3}", n + 3], [error.message, error.offset]
      end
      assert_equal ["own", 0], [object.message, object.offset]
    end
  end

  def test_the_limit_and_value_of_a_nested_limit_error_stay
    register { |body| Manypack.unpack(body, max_array_size: 1) }
    error = failure("91 d6 01 92 01 02 03")
    assert_equal [Manypack::LimitError, :max_array_size, 2, 1], [error.class, error.limit, error.value, error.offset]
  end

  # Which rescues EOFError at the end of the bytes, and would lose all that follows.
  def test_a_message_that_ends_too_early_inside_a_handler_is_not_the_end_of_the_stream
    register { |body| Manypack.unpack(body) }
    unpacker = @factory.unpacker.feed(bytes("d5 01 91 01 d5 01 92 01 d5 01 91 03"))
    assert_equal [1], unpacker.read
    error = assert_raises(Manypack::MalformedFormatError) { exercise { unpacker.read } }
    assert_equal ["unexpected end of input, at byte 2, in the unpacker of ext type 1, at byte 4", 4], [error.message, error.offset]
    assert_instance_of Manypack::TruncatedError, error.cause
    assert_equal 2, error.cause.offset
    refute_kind_of EOFError, error
    assert_equal [3], unpacker.read
    assert_raises(EOFError) { unpacker.read }
  end

  # One handler's message is in another one's, and so on.
  def test_messages_inside_each_other
    factory = @factory
    factory.register_type(1, Own, packer: nil, unpacker: ->(body) { factory.load(body) })
    error = exercise { failure("92 01 c7 09 01 91 c7 05 01 92 01 91 c1 00") }
    assert_equal "0xc1 is not a MessagePack head byte, at byte 3, in the unpacker of ext type 1, at byte 1, in the unpacker of ext type 1, at byte 2", error.message
    assert_equal 2, error.offset
  end

  # Which leaves the Unpacker over the body to go on with what follows, or to be broken, as everywhere.
  def test_a_handler_that_rescues_an_error_of_its_body_and_reads_on
    messages = []
    @factory.register_type(1, Own, packer: nil, recursive: true, unpacker: lambda do |unpacker|
      unpacker.read
    rescue Manypack::DecodeError => e
      messages << e.message << e.offset
      unpacker.read
    end)
    assert_equal [7, 2], @factory.load(bytes("92 d6 01 d4 05 00 07 02"))
    assert_equal ["ext type 5 is not registered; allow_unknown_ext: true keeps its bytes, at byte 3", 3], messages
    error = failure("91 d5 01 c1 00")
    assert_equal ["0xc1 is not a MessagePack head byte, at byte 3", 3], [error.message, error.offset]
  end

  def test_an_error_of_an_earlier_message_that_a_handler_raises_blames_its_ext
    earlier = assert_raises(Manypack::MalformedFormatError) { Manypack.unpack(bytes("91 91 91 c1")) }
    register { raise earlier }
    assert_equal "0xc1 is not a MessagePack head byte, at byte 3, in the unpacker of ext type 1, at byte 1", failure("91 d4 01 00").message
    assert_equal ["0xc1 is not a MessagePack head byte, at byte 3", 3], [earlier.message, earlier.offset]
  end

  def test_messages_in_every_encoding
    { "\xFF".b => "\xFF, at byte 1", "é" => "é, at byte 1", "\xFF" => "\xFF, at byte 1", "é".encode("ISO-8859-1") => "\xE9, at byte 1" }.each do |words, expected|
      register { raise Own.new(words, 1) }
      assert_equal [expected.b, words.encoding], failure("91 d4 01 00").message.then { |message| [message.b, message.encoding] }
    end
    register { raise Own.new("é".encode("UTF-16LE"), 1) }
    assert_equal "é, at byte 1", failure("91 d4 01 00").message
  end

  # What is no error of decoding is no business of the decoder.
  def test_everything_else_leaves_a_handler_as_it_is
    [Boom.new, SystemExit.new(3), Interrupt.new, NotImplementedError.new, EOFError.new, NoMemoryError.new].each do |object|
      register { raise object }
      assert_same object, assert_raises(object.class) { exercise { @factory.load(bytes("91 d4 01 00")) } }
    end
    register { throw :out, :thrown }
    assert_equal(:thrown, catch(:out) { exercise { @factory.load(bytes("91 d4 01 00")) } })
    register { Thread.exit }
    assert_nil(Thread.new { exercise { @factory.load(bytes("91 d4 01 00")) } }.value)
    register { Thread.current.kill }
    assert_nil(Thread.new { exercise { @factory.load(bytes("91 d4 01 00")) } }.value)
    register { Fiber.yield(:left) }
    fiber = Fiber.new { exercise { @factory.load(bytes("91 d4 01 00")) } }
    assert_equal [:left, [:back]], [fiber.resume, fiber.resume(:back)]
  end

  def test_break_and_return_leave_a_handler
    register { break :broken }
    assert_raises(LocalJumpError) { @factory.load(bytes("91 d4 01 00")) }
    @factory.register_type(1, Own, packer: nil, unpacker: lambda { |_| return :returned })
    assert_equal [:returned], @factory.load(bytes("91 d4 01 00"))
  end

  def test_it_crosses_as_any_error
    error = failure_of_contract
    copy = in_ractor(error) { |e| [e.class, e.message, e.offset] }
    assert_equal [error.class, error.message, error.offset], copy
    again = Marshal.load(Marshal.dump(error))
    assert_equal [error.class, error.message, error.offset], [again.class, again.message, again.offset]
    assert_equal [:@offset], error.instance_variables
  end

  private

  def register(&handler)
    @factory.register_type(1, Own, packer: nil, unpacker: handler)
  end

  def failure(hex)
    assert_raises(Manypack::DecodeError) { @factory.load(bytes(hex)) }
  end

  def failure_of_contract
    assert_raises(Manypack::MalformedFormatError) { HandlerErrorsContract::FACTORY.load(bytes("92 01 d4 0a 00")) }
  end

  def modules_of(mod)
    inner = mod.constants(false).map { |name| mod.const_get(name) }.grep(Module).select { |one| one.name.to_s.start_with?("Manypack::") }
    inner.flat_map { |one| [one, *modules_of(one)] }.uniq
  end
end

# frozen_string_literal: true

# What an io may return, and what is a TypeError: the same for readpartial and read, whoever reads from it.
require "test_helper"
require "stringio"
require "timeout"

class IoAnswersTest < Minitest::Test
  include CorePart

  # Returns the answers one after the other, and then nil for ever; an exception is raised.
  class Script
    def initialize(answers)
      @answers = answers
    end

    private

    def answer
      answer = @answers.shift
      EOFError.equal?(answer) ? raise(answer) : answer
    end
  end

  class Partial < Script
    def readpartial(_size) = answer
  end

  class ReadOnly < Script
    def read(_size) = answer
  end

  SubString = Class.new(String)
  Converts = Struct.new(:to_str)

  # By front, the two objects that an io has.
  FRONTS = {
    "Unpacker#read" => ->(io) { Manypack::Unpacker.new(io).then { |unpacker| [unpacker.read, unpacker.read] } },
    "Unpacker#each" => ->(io) { Manypack::Unpacker.new(io).each.to_a },
    "Unpacker#skip" => ->(io) { Manypack::Unpacker.new(io).then { |unpacker| unpacker.skip || [[1, 2], unpacker.read] } },
    "Unpacker#read_array_header" => ->(io) { Manypack::Unpacker.new(io).then { |u| [Array.new(u.read_array_header) { u.read }, u.read] } },
    "Factory#unpacker" => ->(io) { Manypack::Factory.new.unpacker(io).each.to_a },
    "Codec#unpacker" => ->(io) { Manypack::Codec.new.unpacker(io).each.to_a },
    "Buffer#read" => ->(io) { Manypack::Unpacker.new.feed(Manypack::Buffer.new(io).read).each.to_a },
    "Buffer#read_all" => ->(io) { Manypack::Unpacker.new.feed(Manypack::Buffer.new(io).read_all(4)).each.to_a },
    "Parallel.map here" => ->(io) { Manypack::Parallel.map(io, ractors: 0) { |object| object } },
    "Parallel.map" => ->(io) { Manypack::Parallel.map(io, ractors: 1) { |object| object } },
    "Parallel.each" => ->(io) { Manypack::Parallel.each(io, ractors: 1).to_a },
    "Parallel.filter" => lambda do |io|
      Manypack::Parallel.filter(io, output = StringIO.new("".b), ractors: 1) { |object| object }
      Manypack::Unpacker.new.feed(output.string).each.to_a
    end
  }.freeze

  # These take one object alone: the array.
  SINGLE = {
    "Manypack.unpack" => ->(io) { Manypack.unpack(io) }, "Manypack.load" => ->(io) { Manypack.load(io, symbolize_keys: true) },
    "Factory#load" => ->(io) { Manypack::Factory.new.load(io) }, "Codec#unpack" => ->(io) { Manypack::Codec.new.unpack(io) }
  }.freeze

  # [1, 2] and 3, in two pieces.
  PIECES = {
    "Strings" => ["\x92\x01".b, "\x02\x03".b], "frozen Strings" => ["\x92\x01".b.freeze, "\x02\x03".b.freeze], "UTF-8" => %W[\x92\x01 \x02\x03],
    "UTF-16" => %W[\x92\x01 \x02\x03].map { |piece| piece.dup.force_encoding("UTF-16LE") }, "a subclass" => ["\x92\x01", "\x02\x03"].map { |piece| SubString.new(piece) },
    "what converts" => ["\x92\x01", "\x02\x03"].map { |piece| Converts.new(piece) }
  }.freeze

  ENDS = { "nil" => [nil], "an empty String" => [""], "EOFError" => [EOFError], "what converts to an empty String" => [Converts.new("")] }.freeze

  # And what a TypeError calls it.
  NO_STRINGS = [[42, "Integer"], [:symbol, "Symbol"], [1.5, "Float"], [false, "FalseClass"], [true, "TrueClass"], [["x"], "Array"], [{ 1 => 2 }, "Hash"],
                [Object.new, "Object"], [BasicObject.new, "BasicObject"], [Object, "Class"]].freeze

  METHODS = { Partial => "readpartial", ReadOnly => "read" }.freeze

  def test_every_string_is_read
    PIECES.each do |name, pieces|
      METHODS.each_key do |io|
        FRONTS.each { |front, read| assert_equal [[1, 2], 3], within_time { read.call(io.new(pieces.dup)) }, "#{name} by #{io}, #{front}" }
        SINGLE.each { |front, read| assert_equal [1, 2], within_time { read.call(io.new([pieces.first, "\x02"])) }, "#{name} by #{io}, #{front}" }
      end
    end
  end

  def test_every_end_is_one
    ENDS.each do |name, last|
      METHODS.each_key do |io|
        FRONTS.each { |front, read| assert_equal [[1, 2], 3], within_time { read.call(io.new(["\x92\x01\x02\x03".b, *last])) }, "#{name} by #{io}, #{front}" }
        SINGLE.each do |front, read|
          assert_raises(Manypack::TruncatedError, "#{name} by #{io}, #{front}") { within_time { read.call(io.new(["\x92".b, *last])) } }
        end
      end
    end
  end

  def test_everything_else_is_a_type_error_that_names_it
    NO_STRINGS.each do |answer, name|
      METHODS.each do |io, method|
        FRONTS.merge(SINGLE).each do |front, read|
          [[answer], ["\x92\x01".b, answer]].each do |answers|
            error = assert_raises(TypeError, "#{name} by #{method}, #{front}") { within_time { read.call(io.new(answers.dup)) } }
            assert_equal "#{method} of #{io} must return a String, got #{name}", error.message, front
          end
        end
      end
    end
  end

  def test_an_error_while_memory_is_collected
    METHODS.each do |io, method|
      error = assert_raises(TypeError) { exercise { Manypack.unpack(io.new(["\x92".b, 42])) } }
      assert_equal "#{method} of #{io} must return a String, got Integer", error.message
    end
  end

  def test_a_to_str_that_returns_no_string_is_a_type_error
    METHODS.each_key do |io|
      FRONTS.merge(SINGLE).each do |front, read|
        error = assert_raises(TypeError, front) { within_time { read.call(io.new([Converts.new(5)])) } }
        assert_match(/Converts#to_str gives Integer/, error.message)
      end
    end
  end

  # Raises an error after its bytes, each time.
  class Failing
    def initialize(error, *pieces) = (@error, @pieces = error, pieces)
    def answer = @pieces.shift || raise(@error)
  end

  FAILING = [Class.new(Failing) { def readpartial(_size) = answer }, Class.new(Failing) { def read(_size) = answer }].freeze

  # An EOFError of a subclass says more than that there are no more bytes.
  def test_an_error_of_the_io_comes_out_as_it_is
    [IOError.new("torn"), Errno::ECONNRESET.new, Class.new(EOFError).new("lost"), Interrupt.new].product(FAILING, [[], ["\x92\x01".b]]) do |error, io, pieces|
      FRONTS.merge(SINGLE).reject { |front, _| front.start_with?("Parallel") && error.is_a?(Interrupt) }.each do |front, read|
        assert_same error, assert_raises(error.class, front) { within_time { read.call(io.new(error, *pieces)) } }, front
      end
    end
  end

  def test_the_error_by_which_an_io_ends_is_the_cause
    [EOFError.new("over"), EOFError.new("frozen").freeze].product(FAILING, [[], ["\x92\x01".b]]) do |error, io, pieces|
      SINGLE.merge(FRONTS.slice("Unpacker#read", "Unpacker#skip", "Unpacker#read_array_header")).each do |front, read|
        raised = assert_raises(Manypack::TruncatedError, EOFError, front) { read.call(io.new(error, *pieces)) }
        assert_same error, raised.cause, front
        assert_kind_of Manypack::TruncatedError, raised, front unless FRONTS.key?(front) && (pieces.empty? || front.end_with?("_header")) # between objects
      end
      assert_same error, assert_raises(EOFError) { FRONTS["Buffer#read_all"].call(io.new(error, *pieces)) }
    end
    cut = Manypack::Unpacker.new(FAILING[0].new(EOFError.new("over"), "\x92".b))
    assert_equal "over", assert_raises(Manypack::TruncatedError) { cut.each(strict: true) { nil } }.cause.message
    assert_nil assert_raises(Manypack::TruncatedError) { cut.feed("\x01").tap { |unpacker| unpacker.buffer.clear && unpacker.reset }.full_unpack }.cause&.cause
  end

  # And the results of what was read before are there.
  def test_parallel_hands_over_what_came_before
    METHODS.each_key do |io|
      [0, 1].each do |ractors|
        seen = []
        assert_raises(TypeError) { within_time { Manypack::Parallel.each(io.new(["\x01\x02", 42]), ractors: ractors) { |object| seen << object } } }
        assert_equal [1, 2], seen
      end
    end
  end

  private

  def within_time(&block)
    Timeout.timeout(20, &block)
  end
end

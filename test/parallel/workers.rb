# frozen_string_literal: true

# For tests that call Parallel by each kind of worker: each checks that it leaves no Ractor, Thread or process behind.
require "stringio"
require "support/forks"
require "support/no_ractors"
require "timeout"

module Workers
  include NoRactors

  Parallel = Manypack::Parallel

  # In the caller, in Ractors, in processes.
  WAYS = Forks.without_impossible([{ ractors: 0 }, { ractors: 1 }, { ractors: 3 }, { processes: 0 }, { processes: 1 }, { processes: 3 }]).freeze
  NUMBERS = (0...500).map { |i| Manypack.pack(i) }.join.freeze

  # What the work raises.
  class Refused < StandardError
    attr_reader :number

    def initialize(number)
      @number = number
      super("refused #{number}")
    end
  end

  # An io that has read alone.
  class ReadOnly
    def initialize(binary)
      @io = StringIO.new(binary)
    end

    def read(size)
      @io.read(size)
    end
  end

  def setup
    Timeout.timeout(1) { nil } # has a Thread of its own, which stays
    @threads = Thread.list
  end

  # However a call ended.
  def teardown
    assert_no_ractors
    assert_empty Thread.list - @threads
    assert_raises(Errno::ECHILD) { Process.wait }
  end

  private

  def each_way(&block)
    WAYS.each(&block)
  end

  def each_kind(count, &block)
    Forks.without_impossible([{ ractors: count }, { processes: count }]).each(&block)
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
end

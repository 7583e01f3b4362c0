# frozen_string_literal: true

# Compares the fronts that decode.
require "stringio"
require "zlib"

module Fuzz
  # An io whose readpartial returns pieces of any size.
  class Trickle
    def initialize(bytes, random)
      @io = StringIO.new(bytes)
      @random = random
    end

    def readpartial(size, into = nil)
      bytes = @io.read(@random.rand(1..size.clamp(1, 40)))
      raise EOFError, "end of file reached" unless bytes

      into ? into.replace(bytes) : bytes
    end
  end

  # An io that has only read, which waits for all requested bytes.
  class Exact
    def initialize(bytes, _random)
      @io = StringIO.new(bytes)
    end

    def read(size, into = nil)
      bytes = @io.read(size)
      into && bytes ? into.replace(bytes) : bytes
    end
  end

  # Decodes one message through every front: all outcomes must be the same. The checksum of the message decides on the
  # options and on where it is cut, so that its bytes are enough to repeat the check.
  class Subject
    LIMITING = [Manypack::StackError, Manypack::LimitError].freeze
    LIMITS = %i[max_objects max_map_size max_array_size max_string_bytes max_ext_bytes].freeze
    ITSELF = :itself.to_proc
    SINGLE_BYTES = 700 # longer messages come in pieces of a few bytes

    # How often the first front returned an object or raised each class of error.
    attr_reader :tally

    # meddler:: the Meddler that handlers call
    def initialize(meddler)
      @meddler = meddler
      @tally = Hash.new(0)
      @factory = Manypack::Factory.new
      [@factory, Manypack::DefaultFactory].each do |factory|
        Types.register_tame(factory, Manypack::Bigint)
        Types.register_wild(factory, meddler)
      end
    end

    # Raises Violation if the fronts disagree.
    def check(bytes)
      @bytes = bytes.b.freeze
      @random = Random.new(Zlib.crc32(bytes))
      @options = options
      disturb
      one_shots
      streams
    ensure
      @meddler.forget
    end

    private

    def options
      options = { allow_unknown_ext: @random.rand(2).zero? }
      options[:symbolize_keys] = true if @random.rand(4).zero?
      options[:freeze] = true if @random.rand(4).zero?
      options[:shareable] = true if @random.rand(8).zero?
      options[:timestamp] = true if @random.rand(3).zero?
      options[:max_depth] = @random.rand(1..140) if @random.rand(5).zero?
      options[:max_bytes] = @random.rand(1..200) if @random.rand(10).zero?
      limits(options) if @random.rand(3).zero?
      options
    end

    def limits(options)
      options[:untrusted] = true if @random.rand(3).zero?
      options[:utf8] = :strict if @random.rand(3).zero?
      options[:duplicate_keys] = :error if @random.rand(3).zero?
      LIMITS.each { |limit| options[limit] = @random.rand(1..40) if @random.rand(8).zero? }
    end

    # Runs the collector now and then.
    def disturb
      GC.compact if @random.rand(3000).zero? && GC.respond_to?(:compact)
      @stressed = @bytes.bytesize < 40 && @random.rand(20_000).zero? ? @random.rand(8) : nil # the number of a front
      @front = 0
      @collect = @random.rand(30).zero?
    end

    # A copy of the bytes for a front; sometimes frozen, sometimes not binary.
    def input
      input = @bytes.dup
      input.force_encoding("UTF-8") if @random.rand(4).zero?
      @random.rand(3).zero? ? input.freeze : input
    end

    def agree(expected, actual, name)
      return if Outcome.same?(expected, actual)

      raise Violation, "#{name} with #{@options}:#{Outcome.contrast(actual, expected, "the first front")}"
    end

    # Runs a front and tells the Meddler what it can misuse.
    def front(input, unpacker = nil)
      @meddler.forget
      @meddler.input = input
      @meddler.unpacker = unpacker
      within_input(Outcome.of { stressed { yield input, unpacker } })
    end

    def within_input(outcome)
      error = outcome[2]
      return outcome unless error.is_a?(Manypack::DecodeError) && error.offset > @bytes.bytesize

      raise Violation, "an offset behind the input of #{@bytes.bytesize} bytes: #{error.message}"
    end

    def stressed
      GC.stress = @front == @stressed
      @front += 1
      yield
    ensure
      GC.stress = false
    end

    # --- a message that has to be one object ------------------------------------------------------------

    def one_shots
      expected = front(@bytes) { |input| @factory.load(input, @options) }
      @tally[expected[0] == :error ? expected[2].class.name : expected[0].to_s] += 1
      born_as_asked(expected[2]) if expected[0] == :object
      agree expected, front(input) { |input| @factory.load(input, @options) }, "Factory#load"
      agree expected, front(input) { |input| Manypack.unpack(input, **@options) }, "Manypack.unpack"
      agree expected, front(input) { |input| @factory.pool(1, **@options).load(input) }, "Pool#load"
      agree expected, front(input) { |input| @factory.codec(@options).unpack(input) }, "Codec#unpack"
      return if @options[:max_bytes] # one-shot calls limit the whole input, an Unpacker limits the object

      agree expected, front(input, unpacker) { |input, unpacker| unpacker.feed(input).full_unpack },
            "Unpacker#full_unpack"
      agree_by_io expected, whole_io(Trickle), "Factory#load of an io with readpartial"
      agree_by_io expected, whole_io(Exact), "Factory#load of an io with read"
      by_headers(expected) if expected[0] == :object
    end

    # Extra bytes after the object are an error only if they have been read.
    def agree_by_io(expected, actual, name)
      return if actual[0] == :object && expected[1].include?(" extra bytes ")

      agree no_count(expected), no_count(actual), name
    end

    def no_count(outcome)
      outcome[0] == :error ? [:error, outcome[1].sub(/\d+ extra bytes|has at least \d+ bytes/, "more")] : outcome
    end

    def unpacker(io = nil) = io ? @factory.unpacker(io, @options) : @factory.unpacker(@options)

    def whole_io(io_class)
      front(nil) { @factory.load(io_class.new(@bytes, @random), @options) }
    end

    def born_as_asked(object)
      if @options[:shareable] && !Ractor.shareable?(object)
        raise Violation, "#{object.class} is not shareable with #{@options}"
      end
      return if object.frozen? || !(@options[:freeze] || @options[:shareable])

      raise Violation, "#{object.class} is not frozen with #{@options}" unless object.is_a?(Struct) || object.is_a?(Key)
    end

    # Reads the outermost container by its header, and its contents object by object.
    def by_headers(expected)
      return if @options[:max_depth] || @options[:max_bytes]

      object = expected[2]
      case object
      when Array
        agree expected, front(input) { |input| array_by_header(unpacker.feed(input)) }, "read_array_header"
      when Hash
        return if @options[:symbolize_keys] || @options[:freeze] || @options[:shareable]

        agree expected, front(input) { |input| hash_by_header(unpacker.feed(input)) }, "read_map_header"
      end
    end

    def array_by_header(unpacker)
      Array.new(unpacker.read_array_header) { unpacker.read }
    end

    def hash_by_header(unpacker)
      Array.new(unpacker.read_map_header) { [unpacker.read, unpacker.read] }.to_h
    end

    # --- a message that may be several objects ----------------------------------------------------------

    def streams
      expected = whole_stream
      agree_all expected, pieces { @random.rand(1..60) }, "pieces of up to 60 bytes"
      agree_all expected, pieces { @bytes.bytesize > SINGLE_BYTES ? 7 : 1 }, "byte by byte"
      agree_all expected, io_stream(Trickle), "an io with readpartial"
      agree_all expected, io_stream(Exact), "an io with read"
      skipped(expected)
      cut(expected)
    end

    def agree_all(expected, actual, name)
      expected, actual = before_the_limit(expected, actual) if @options[:max_bytes]
      expected.zip(actual) { |one, other| agree_by_io one, other || ["nothing"], "stream in #{name}" }
      return if actual.size == expected.size

      raise Violation, "stream in #{name} has #{actual.size} outcomes, not #{expected.size}"
    end

    # An object above max_bytes is skipped if it is complete, and ends the stream if it is incomplete. So compares only
    # the outcomes before it.
    def before_the_limit(expected, actual)
      both = [expected, actual]
      same = both.map do |outcomes|
        outcomes.index { |outcome| outcome[2].is_a?(Manypack::LimitError) } || outcomes.size
      end
      both.map { |outcomes| outcomes.take(same.min) }
    end

    # Returns the outcomes of read until the input ends, or until the Unpacker does not know where the next object
    # starts.
    def drain(unpacker, input, outcomes = [])
      loop do
        outcome = front(input, unpacker) { unpacker.read }
        return outcomes if ended?(outcomes, outcome)

        outcomes << outcome
      end
    end

    def ended?(outcomes, outcome)
      return false unless outcome[0] == :error
      return outcomes << outcome if outcome[2].is_a?(EOFError)

      outcomes.last && outcomes.last[2].equal?(outcome[2])
    end

    def whole_stream
      string = input
      drain(unpacker.tap { |unpacker| unpacker.feed(string) }, string)
    end

    # Feeds pieces and takes each object as soon as it is complete.
    def pieces
      unpacker = unpacker()
      outcomes = []
      at = 0
      while at < @bytes.bytesize
        piece = @bytes.byteslice(at, yield)
        at += piece.bytesize
        unpacker.feed(piece)
        collect if @collect
        return outcomes if take(unpacker, piece, outcomes)
      end
      drain(unpacker, nil, outcomes)
    end

    # Collects between two pieces, and allocates new objects in the place of old objects.
    def collect
      return unless @random.rand(4).zero?

      GC.start(full_mark: false)
      Array.new(2000) { "x" * 10 }
    end

    # Takes all complete objects. Returns true if no more can come.
    def take(unpacker, piece, outcomes)
      loop do
        objects = []
        ended = front(piece, unpacker) { unpacker.each { |object| objects << Outcome.of { object } } }
        outcomes.concat(objects)
        return false if ended[0] == :object
        return true if objects.empty? && ended[2] && outcomes.last && outcomes.last[2].equal?(ended[2])

        outcomes << ended
      end
    end

    def io_stream(io_class)
      drain(unpacker(io_class.new(@bytes, @random)), nil)
    end

    # Splits the stream at messages first, and unpacks each message by itself: the outcomes must be the same up to the
    # first error.
    def cut(expected)
      return if @options[:max_bytes]

      objects = []
      ended = front(nil) do
        source = Trickle.new(@bytes, @random)
        Manypack::Parallel.each(source, ractors: 0, map: ITSELF, factory: @factory, **@options) do |object|
          objects << Outcome.of { object }
        end
      end
      agree_all expected.take(objects.size), objects, "messages"
      agree expected[objects.size], ended, "Parallel.each" unless ended[0] == :object && over?(expected[objects.size])
    end

    # Returns true if the stream ends between two objects.
    def over?(outcome)
      outcome[2].instance_of?(EOFError)
    end

    # skip must skip as many objects as read returns or blames, and must end with the same error. A stream that ends
    # inside an object that read blames counts as two outcomes of read.
    def skipped(expected)
      return if @options[:max_bytes] || expected.any? { |outcome| LIMITING.include?(outcome[2].class) }

      unpacker = unpacker().feed(@bytes)
      skipped = 0
      skipped += 1 while (last = Outcome.of { unpacker.skip })[0] == :object
      read = expected.size - 1
      read -= 1 if read.positive? && expected[-2][0] != :object && skipped == read - 1
      return if last[2].instance_of?(expected.last[2].class) && skipped == read

      raise Violation, "#{skipped} objects skipped to #{last[1]}, #{read} read to #{expected.last[1]}"
    end
  end
end

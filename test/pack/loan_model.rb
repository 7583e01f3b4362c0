# frozen_string_literal: true

# The diagram of ext/manypack/buffer/loan.h as a program, and a Packer that is driven through the same steps: three
# Fibers write to one Packer, and each stops wherever user code runs.
require "manypack"

module LoanModel
  # A step is a Fiber's number and one of these.
  STARTS = %i[write lend take flush clear look].freeze # what a Fiber does to the Packer; it may stop inside
  ENDS = %i[return raise throw].freeze                 # how the user code ends that the Fiber has stopped in
  FIBERS = 3

  Boom = Class.new(StandardError)
  ARRAY = "\x91".b
  NUMBER = "\x07".b
  EXT = "\xD4\x01b".b

  # What the diagram says. A loan or take is a Hold; the innermost one that is open counts. Where C compares numbers,
  # this compares objects.
  class Diagram
    # write: the outermost write that the hold belongs to. at: where the bytes of its own write begin, nil before they
    # are in the Buffer. from: where user code begins to write. answer: of the call that flushes.
    Hold = Struct.new(:kind, :write, :at, :from, :answer)
    Routine = Struct.new(:stack)

    def initialize
      @objects = []     # each whole object, or the head of one that is being written
      @holds = []       # open ones, innermost last
      @torn = false
      @due = false      # user code in a loan has called flush
      @unfinished = nil # where the bytes begin of a write that has begun and not ended
      @write = Object.new
      @routines = Array.new(FIBERS) { Routine.new([]) }
    end

    # The steps that are possible now. Of Fibers that have not begun only the first counts: they are alike.
    def steps
      begun = @routines.index { |routine| routine.stack.empty? } || FIBERS
      (0..[begun, FIBERS - 1].min).flat_map { |i| actions(@routines[i]).map { |action| [i, action] } }
    end

    # Returns the answer: :stopped in user code, or what the call that began last returned or raised.
    def step(fiber, action)
      @routine = @routines[fiber]
      case action
      when *STARTS then attempt { __send__(action) }
      when :throw then thrown
      else attempt { finish(@routine.stack.pop, action) }
      end
    end

    # What a look from outside sees at last.
    def bytes = attempt { look && @objects.join }

    # True if no user code runs that may write or keeps others from it.
    def idle? = state == :idle

    private

    def actions(routine) = routine.stack.empty? ? STARTS : STARTS + ENDS

    def attempt
      yield
    rescue StandardError => e
      e.class
    end

    def state
      return :torn if @torn

      @holds.empty? ? :idle : @holds.last.kind
    end

    def refuse = raise("in use")

    # --- who may do what ---------------------------------------------------------------------------------

    def check_append
      refuse if %i[taken torn].include?(state)
      settle
    end

    def check_removal
      check_append
      refuse unless state == :idle
    end

    # A write that began and did not end has failed.
    def settle
      return unless @unfinished

      @objects = @objects.take(@unfinished)
      @unfinished = nil
    end

    # --- what a Fiber starts -----------------------------------------------------------------------------

    def write
      check_append
      @objects.push(NUMBER)
      :written
    end

    def lend
      start_write
      at = @objects.size
      @objects.push(ARRAY)
      @begun_outside = at if state == :idle
      stop(Hold.new(:lent, @write, at, @objects.size))
    end

    def take
      start_write
      stop(Hold.new(:taken, @write))
    end

    def flush
      check_append
      return (@due = true) && :flushed if state == :lent

      check_removal
      flush_now(:flushed)
    end

    def flush_now(answer)
      return answer if @objects.empty?

      @write = Object.new
      stop(Hold.new(:taken, @write, :io, nil, answer))
    end

    def clear
      @torn = false
      check_removal
      @objects = []
      :cleared
    end

    def look
      check_append unless @torn
      @objects.sum(&:bytesize)
    end

    def start_write
      check_append
      @write = Object.new if state == :idle
    end

    def stop(hold)
      @holds.push(hold)
      @routine.stack.push(hold)
      :stopped
    end

    # --- how user code ends ------------------------------------------------------------------------------

    def thrown
      finish(@routine.stack.pop, :throw) until @routine.stack.empty?
      :thrown
    end

    def finish(hold, how)
      given_back = give_back(hold, how)
      raise Boom if how == :raise
      return if how == :throw

      refuse unless given_back
      hold.kind == :lent ? written_by_user_code(hold) : taken_no_more(hold)
    end

    # Returns false if the Buffer belongs to others.
    def give_back(hold, how)
      return false unless @write.equal?(hold.write) && %i[lent taken].include?(state)

      if @holds.last.equal?(hold)
        hand_back(hold, how)
      else
        break_all
        false
      end
    end

    def hand_back(hold, how)
      if hold.kind == :lent
        settle
        @unfinished = hold.at
      end
      @holds.pop
      @torn = true if hold.at == :io && how != :return
      true
    end

    # The Buffer is free at once. All that was written since the outermost loan goes.
    def break_all
      @unfinished = @begun_outside if @holds.any? { |hold| hold.kind == :lent }
      @holds = []
      @write = Object.new
    end

    # User code has to write one object.
    def written_by_user_code(hold)
      raise ArgumentError if @objects.size != hold.from + 1

      @objects = [*@objects.take(hold.at), @objects.drop(hold.at).join]
      written
    end

    def written
      @unfinished = nil
      return :written unless @due && state == :idle

      @due = false
      flush_now(:written)
    end

    def taken_no_more(hold)
      if hold.at == :io
        @objects = []
        hold.answer
      else
        @objects.push(ARRAY + EXT)
        written
      end
    end
  end

  # The real one.
  class Machine
    Ext = Class.new
    Lender = Struct.new(:stop) do
      def to_msgpack(_packer) = stop.call
    end
    Io = Struct.new(:stop) do
      def write(bytes) = stop.call && bytes.bytesize
    end

    def initialize
      stop = -> { serve(:stopped) }
      @packer = Manypack::Packer.new(Io.new(stop))
      @packer.register_type(1, Ext) { stop.call && "b" }
      @lending = [Lender.new(stop)].freeze
      @taking = [Ext.new].freeze
      @fibers = []
    end

    def step(fiber, action)
      (@fibers[fiber] ||= start_fiber).resume(action)
    end

    def bytes
      @packer.to_s
    rescue RuntimeError => e
      e.class
    end

    private

    def start_fiber
      fiber = Fiber.new do
        answer = nil
        answer = catch(:out) { serve(answer) } while true
      end
      fiber.resume
      fiber
    end

    # Does what the Fiber is told until user code ends.
    def serve(answer)
      until ENDS.include?(action = Fiber.yield(answer))
        answer = attempt { __send__(action) }
      end
      leave(action)
    end

    def leave(how)
      case how
      when :raise then raise Boom
      when :throw then throw(:out, :thrown)
      else true
      end
    end

    def attempt
      yield
    rescue Boom, ArgumentError, RuntimeError => e
      [Boom, ArgumentError, RuntimeError].find { |kind| e.is_a?(kind) }
    end

    def write = @packer.write(7) && :written
    def lend = @packer.write(@lending) && :written
    def take = @packer.write(@taking) && :written
    def flush = @packer.flush && :flushed
    def look = @packer.buffer.size

    def clear
      @packer.reset
      :cleared
    end
  end

  module_function

  # Yields each sequence of that many steps, with what both answer, step by step and to a look at last, and whether the
  # Buffer is idle then.
  def each(length, prefix = [], &block)
    diagram = Diagram.new
    answers = prefix.map { |step| diagram.step(*step) }
    return diagram.steps.each { |step| each(length, [*prefix, step], &block) } if prefix.size < length

    machine = Machine.new
    actual = prefix.map { |step| machine.step(*step) }
    yield prefix, [*answers, diagram.bytes], [*actual, machine.bytes], diagram.idle?
  end
end

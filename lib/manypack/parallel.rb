# frozen_string_literal: true

#--
# Manypack::Parallel: spreads one stream of messages over several Ractors or processes.
#++
module Manypack
  # Unpacks a stream of messages and processes them in several workers at once: Ractors or processes. docs/parallel.md
  # says when to use which.
  #
  # A source is a String of bytes, anything with +readpartial+ or +read+, or an Enumerable of Strings that each hold
  # whole messages. Open a file to pass it: a String that names a file raises ArgumentError. It is split at message
  # boundaries, without unpacking anything, and goes to the workers in batches. The first batch has one message; later
  # ones grow until one takes about five milliseconds, to at most 10,000 messages or a megabyte. The number of batches
  # in progress is limited, so memory is too: the source is read no faster than the results are taken. A worker copies
  # no more of a String than its batch, and processes read a File themselves.
  #
  # All three methods take the options of Manypack.unpack and Manypack.pack, and these:
  #
  # ractors:: how many Ractors to start (default: one per processor), but no more than a String has messages. 0 does all
  #           the work in the caller, where a block may use anything. It is the default on Ruby 4.0.4 and 4.0.5, where a
  #           started Ractor can crash the process
  # processes:: how many processes to fork, instead of Ractors. Nothing is forked unless you ask for it
  # ordered:: true for results in the order of the messages, false for results as they are done (default true)
  # on_worker_start:: an object with +call+. Each worker calls it with its number, from 0, before its first message: to
  #                   open connections, for example. For Ractors it has to be shareable
  # codec:: a Codec to unpack with, and for +filter+ to pack with (default: one with the types of DefaultFactory)
  # factory:: a Factory, instead of a codec
  # as:: :view for Views instead of objects, or anything with <code>load(bytes)</code>, as for Unpacker.new; for Ractors
  #      it has to be shareable
  #
  # Any other option raises ArgumentError, and so do ractors and processes together.
  #
  # The code that runs in a Ractor may only use what Ractors can share. A block may use constants whose values are
  # shareable and, on Ruby 4.0, local variables that are shareable and never reassigned. Its +self+ is nil unless it can
  # be shared. Ext handlers have to be shareable; otherwise Ractor::IsolationError names the one that is not. Shareable
  # results come back without a copy, and everything that <code>shareable: true</code> unpacks is shareable. Other
  # results are copied.
  #
  # The code that runs in a process may use everything, as it was when the call began. Its results come back packed,
  # with the ext types of the codec or factory. Symbols stay Symbols, and a Time comes back as the same moment in the
  # local zone. An object with +to_msgpack+ goes through Marshal and keeps its class; if Marshal cannot write it, that
  # raises TypeError. Raises NotImplementedError where Ruby cannot fork.
  #
  # If a message causes an error, the caller gets the same object that was raised in the Ractor, or a copy of the one
  # that was raised in the process. It includes Error, which has the index and offset of the message. If results are
  # ordered, those of all earlier messages come first. A process that is killed raises DeadWorker. However a call ends,
  # it first stops its workers: it waits for each Ractor to finish its current message, and interrupts processes.
  #
  #   bytes = Manypack.pack({"n" => 1}) + Manypack.pack({"n" => 2})
  #   Manypack::Parallel.map(bytes) { |object| object["n"] * 10 } #=> [10, 20]
  #
  #   seen = {}
  #   Manypack::Parallel.map(bytes, processes: 2) { |object| seen[object] = object["n"] } #=> [1, 2]
  module Parallel
    # Run and the files that it needs take longer to load than the rest of Manypack, and most programs never call
    # Parallel. The path is absolute because the load path may have changed by then. Before Ruby 4.0, Run is loaded at
    # once, because any Ractor may be the first to call Parallel: before 3.4 only the main Ractor can load a file, and
    # 3.4 sometimes crashes in constants that a file loaded by another Ractor looks up.
    autoload :Run, File.join(__dir__, "parallel/run")

    private_constant :Splitter, :Stop, :Isolation, :Run

    extend Guesses

    # Returns a hint for other methods of Enumerable.
    def self.guess(name)
      return super unless Enumerable.method_defined?(name)

      "Parallel has map, each and filter: call #{name} on the Array that map returns, or on each(source, map: ...)"
    end
    private_class_method :guess

    OPTIONS = %i[ractors processes ordered on_worker_start codec factory as collect].freeze
    NO_OUTPUT = "no output given: Manypack::Parallel.filter(source, io) { |object| ... } writes to an io"
    private_constant :OPTIONS, :NO_OUTPUT

    # Runs the block in a worker for each message, and returns an Array of its results. The source and the options are
    # described at Parallel. +break+ in the block ends the call with its value, after the results of earlier messages.
    #
    # Raises ArgumentError without a block, for an unknown option, and for the name of a file as the source; TypeError
    # for an unsuitable source, and for a result that cannot be passed between Ractors, or packed in a process;
    # Ractor::IsolationError for a block or an ext handler that Ractors cannot share; NotImplementedError for processes
    # where Ruby cannot fork; DeadWorker if a process ends before its work does; the errors of Manypack.unpack; and
    # whatever the block raises.
    #
    #   bytes = Manypack.pack("a") + Manypack.pack("b")
    #   Manypack::Parallel.map(bytes, ractors: 2) { |object| object.upcase } #=> ["A", "B"]
    def self.map(source, **options, &block)
      Arguments.refuse(ArgumentError.new("no block given")) unless block

      Arguments.check_codec_options(options, *OPTIONS, packs: false)
      results = []
      Run.of(source, block, **options).each { |batch_results| results.concat(batch_results) }
      results
    rescue LocalJumpError => e
      Callable.value_of_break(e)
    end

    # Yields each message, or the result of +map+ for it, to the block. The block runs in the caller, like that of any
    # other +each+, and may break. Returns nil, or an Enumerator without a block.
    #
    # map:: a Proc, a Method or any object with +call+, called by a worker with each object. Without it the objects
    #       themselves are yielded, unpacked in the caller, which is faster than in workers. Only with +ractors+ do
    #       Ractors unpack them; with +ractors+ or +processes+, whatever the number, they are unpacked with
    #       <code>shareable: true</code> unless the options say otherwise. Nothing is forked, because the caller would
    #       have to unpack again what a process sends
    #
    # Raises the errors of Parallel.map.
    #
    #   bytes = Manypack.pack([1, 2]) + Manypack.pack([3])
    #   Manypack::Parallel.each(bytes) { |list| p list.sum }                 # 3, 3
    #   Manypack::Parallel.each(bytes, map: :sum.to_proc) { |sum| p sum }    # 3, 3
    def self.each(source, map: nil, **options, &block)
      Arguments.check_codec_options(options, :map, *OPTIONS, packs: false)
      make = Run.maker(source, map, **(map ? options : without_work(options)))
      return enum_for(:each, source, map: map, **options) unless block

      make.call.each_result(&block)
      nil
    end

    # Runs the block in a worker for each message, and writes to the output what it returns for it: true keeps the
    # message as it is, nil and false leave it out, and any other object is packed in its place. Returns the number of
    # objects written, or the value of +break+ in the block.
    #
    # output:: anything with <code>write</code> or <code><<</code>, except a String; flushed after each batch if it has
    #          +flush+
    #
    # Raises the errors of Parallel.map, TypeError for an unsuitable output, and the errors of Manypack.pack for what
    # the block returns.
    #
    #   # ruby -rmanypack -e 'Manypack::Parallel.filter($stdin, $stdout) { |event| event["level"] > 3 }'
    #   output = StringIO.new("".b)
    #   Manypack::Parallel.filter("\x01\x02\x03", output) { |n| n > 1 } #=> 2
    #   output.string #=> "\x02\x03"
    #
    #   output = StringIO.new("".b)
    #   Manypack::Parallel.filter("\x01\x02\x03", output) { |n| n * 2 if n.odd? } #=> 2
    #   output.string #=> "\x02\x06"
    def self.filter(source, output = (none = true), **options, &block)
      problem = none ? NO_OUTPUT : ("no block given" unless block)
      Arguments.refuse(ArgumentError.new(problem)) if problem

      Arguments.check_codec_options(options, *OPTIONS)
      Arguments.check_sink(output)
      written = 0
      Run.of(source, block, packs: true, **options).each do |count, bytes|
        written += count
        (Buffer.new << bytes).write_to(output) if count > 0 # also if a write takes only a part
        output.flush if output.respond_to?(:flush)
      end
      written
    rescue LocalJumpError => e
      Callable.value_of_break(e)
    end

    # Returns the options for messages that are only unpacked: in the caller, unless workers were asked for. Then their
    # results can cross without a copy.
    def self.without_work(options)
      return { ractors: 0, **options } unless options.key?(:ractors) || options.key?(:processes)

      [nil, :view].include?(options[:as]) ? shared_by_default(options) : options
    end

    # Returns the options with <code>shareable: true</code>, unless they or their Codec say otherwise.
    def self.shared_by_default(options)
      codec = options[:codec] or return { shareable: true, **options }
      { **options, codec: Internal.codec_overlaid(Codec.new(shareable: true), codec) }
    end
    private_class_method :without_work, :shared_by_default
  end
end

require_relative "parallel/error"

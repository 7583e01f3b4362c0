# frozen_string_literal: true

# Manypack::Parallel: one stream of messages, many Ractors.

module Manypack
  # Unpacks a stream of messages and works on them in several Ractors at once.
  #
  # A source is a String, anything with +readpartial+ or +read+, or an Enumerable of Strings that each contain whole
  # messages. It is split at message boundaries without being unpacked, and goes to the Ractors in batches: first of one
  # message, then of as many as take about a millisecond, at most 1,000 messages or 64 KB. The source is read no faster
  # than the results are taken, and few batches are in flight at a time, so memory stays bounded.
  #
  # Code that runs in a Ractor must not depend on objects that Ractors cannot share. A block may use constants that are
  # shareable, and, on Ruby 4.0, local variables that are shareable and never assigned again. Its +self+ is nil unless
  # its original +self+ is shareable. See docs/ractors.md.
  #
  # Shareable results come back without being copied, and <code>shareable: true</code> makes everything that is unpacked
  # shareable. Other results are copied.
  #
  # An error in a message is raised in the caller. It is the same object as in the Ractor, extended by Error, which has
  # index and offset of the message. With +ordered+, the results of all earlier messages come first. However a call
  # ends, it first stops its Ractors and waits for each to finish its current message.
  #
  # All three methods take these options, and those of Manypack.unpack and Manypack.pack:
  #
  # ractors:: how many Ractors; with 0 the work is done in the caller, without restrictions (default: one for each
  #           processor)
  # ordered:: whether results come in the order of the messages, or as soon as they are ready (default: true)
  # codec:: the Codec to unpack with, and for +filter+ to pack with (default: one with the types of DefaultFactory)
  # factory:: a Factory to use instead of a Codec
  #
  # Any other option is an ArgumentError.
  #
  # Handlers of ext types have to be shareable; Ractor::IsolationError names one that is not.
  #
  # @example
  #   bytes = Manypack.pack({"n" => 1}) + Manypack.pack({"n" => 2})
  #   Manypack::Parallel.map(bytes) { |object| object["n"] * 10 } #=> [10, 20]
  module Parallel
    # Run and the files that it needs take longer to load than the rest of Manypack, and most programs never call
    # Parallel. The paths are absolute because the load path may have changed by then. Before Ruby 4.0, Run is loaded at
    # once, because any Ractor may be the first to call Parallel: before 3.4 only the main Ractor can load a file, and
    # 3.4 occasionally crashes in constants that a file loaded by another Ractor looks up.
    autoload :Error, File.join(__dir__, "parallel/error")
    autoload :Run, File.join(__dir__, "parallel/run")
    require_relative "parallel/run" unless defined?(Ractor::Port)

    private_constant :Splitter, :Stop, :Batch, :Isolation, :Run

    OPTIONS = [:ractors, :ordered, :codec, :factory, *Arguments::CODEC_OPTIONS].freeze
    private_constant :OPTIONS

    # Calls the block with each message, in Ractors, and collects what it returns.
    #
    # @param source [String, #readpartial, #read, Enumerable<String>]
    # @param options [Hash] see Parallel
    # @yield [object] in a Ractor
    # @return [Array] one result for each message
    # @raise [ArgumentError] without a block, and for an unknown option
    # @raise [::TypeError] for any other source, and for a result that can be neither shared nor copied
    # @raise [Ractor::IsolationError] for a block or a handler that cannot be shared
    # @raise [DecodeError] as Manypack.unpack, and whatever the block raises
    # @example
    #   bytes = Manypack.pack("a") + Manypack.pack("b")
    #   Manypack::Parallel.map(bytes, ractors: 2) { |object| object.upcase } #=> ["A", "B"]
    def self.map(source, **options, &block)
      raise ArgumentError, "no block given" unless block

      Arguments.check_options(options, OPTIONS)
      results = []
      Run.of(source, block, **options).each { |batch_results| results.concat(batch_results) }
      results
    end

    # Yields each message, or the result of calling +map+ with it, to a block that runs in the caller like that of any
    # other +each+. The block may break.
    #
    # @param source [String, #readpartial, #read, Enumerable<String>]
    # @param map [Proc, Method, #call, nil] called with each object in a Ractor. Without it the objects themselves are
    #   yielded, unpacked with <code>shareable: true</code> unless that is given as false
    # @param options [Hash] see Parallel
    # @yield [result]
    # @return [nil]
    # @return [Enumerator] without a block
    # @raise [::TypeError, ArgumentError, Ractor::IsolationError, DecodeError] as Parallel.map
    # @example
    #   bytes = Manypack.pack([1, 2]) + Manypack.pack([3])
    #   Manypack::Parallel.each(bytes) { |list| p list.sum }                 # 3, 3
    #   Manypack::Parallel.each(bytes, map: :sum.to_proc) { |sum| p sum }    # 3, 3
    def self.each(source, map: nil, **options, &block)
      return enum_for(:each, source, map: map, **options) unless block

      Arguments.check_options(options, [:map, *OPTIONS])
      options = { shareable: true, **options } unless map
      Run.of(source, map, **options).each { |batch_results| batch_results.each(&block) }
      nil
    end

    # Calls the block with each message, in Ractors, packs what it returns, and writes that to output. nil is left out.
    #
    # @param source [String, #readpartial, #read, Enumerable<String>]
    # @param output [#write, #<<] not a String. It is flushed after each batch if it has +flush+
    # @param options [Hash] see Parallel
    # @yield [object] in a Ractor
    # @yieldreturn [Object, nil]
    # @return [Integer] how many objects were written
    # @raise [ArgumentError] without a block, and for an unknown option
    # @raise [::TypeError, Ractor::IsolationError, DecodeError] as Parallel.map; TypeError for any other output
    # @raise [NoMethodError, RangeError, NestingError, EncodingError] as Manypack.pack, for what the block returned
    # @example
    #   # ruby -rmanypack -e 'Manypack::Parallel.filter($stdin, $stdout) { |event| event if event["level"] > 3 }'
    #   output = StringIO.new("".b)
    #   Manypack::Parallel.filter("\x01\x02\x03", output) { |n| n * 2 if n.odd? } #=> 2
    #   output.string #=> "\x02\x06"
    def self.filter(source, output, **options, &block)
      raise ArgumentError, "no block given" unless block

      Arguments.check_options(options, OPTIONS)
      Arguments.check_sink(output)
      written = 0
      writer = output.respond_to?(:write) ? :write : :<<
      Run.of(source, block, packs: true, **options).each do |count, bytes|
        written += count
        output.public_send(writer, bytes) if count > 0
        output.flush if output.respond_to?(:flush)
      end
      written
    end
  end
end

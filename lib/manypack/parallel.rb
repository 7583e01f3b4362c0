# frozen_string_literal: true

# Manypack::Parallel: one stream of messages, many Ractors.

module Manypack
  # Unpacks a stream of messages and works on them in several Ractors at once.
  #
  # A source is a String, anything to read from (+readpartial+ or +read+), or an Enumerable of Strings, each with whole
  # messages. It is cut at message boundaries without unpacking anything, and goes to the Ractors in batches: of one
  # message at first, then of as many as take about a millisecond, 1,000 or 64 KB at most. Only so many batches are
  # under way at once that memory stays bounded: the source is read no faster than the results are taken.
  #
  # What runs in a Ractor must not depend on anything that Ractors cannot share: a block may use constants that are
  # shareable, and, on Ruby 4.0, local variables that are shareable and never assigned again. Its +self+ is nil unless
  # the block's own one can be shared. docs/ractors.md tells more.
  #
  # Results cross back without a copy where they are shareable, as everything is that <code>shareable: true</code>
  # unpacks; others are copied.
  #
  # An error of a message is raised in the caller: the same object as in the Ractor, with Error in it, which tells index
  # and offset of the message. With +ordered+, the results of all messages before it come first. However a call ends, it
  # first stops its Ractors and waits for each to finish the message that it is at.
  #
  # All three methods take these options, and those of Manypack.unpack and Manypack.pack:
  #
  # ractors:: how many; 0 works in the caller, where a block may do everything (default: as many as processors)
  # ordered:: results come in the order of the messages; otherwise as they are done (default true)
  # codec:: a Codec to unpack by, and for +filter+ to pack by (default: one with the types of DefaultFactory)
  # factory:: or a Factory
  #
  # Any other option is an ArgumentError.
  #
  # Handlers of ext types have to be shareable: Ractor::IsolationError names the one that is not.
  #
  # @example
  #   bytes = Manypack.pack({"n" => 1}) + Manypack.pack({"n" => 2})
  #   Manypack::Parallel.map(bytes) { |object| object["n"] * 10 } #=> [10, 20]
  module Parallel
    # Run and all that it needs take longer to load than the rest of Manypack, and most programs never call Parallel.
    # The paths are absolute because the load path may be another one by then. Run is loaded at once before Ruby 4.0,
    # because every Ractor may be the first to call Parallel: before 3.4 only the main Ractor can load a file, and 3.4
    # crashes now and then in constants that a file loaded by another Ractor looks up.
    autoload :Error, File.join(__dir__, "parallel/error")
    autoload :Run, File.join(__dir__, "parallel/run")
    require_relative "parallel/run" unless defined?(Ractor::Port)

    private_constant :Splitter, :Stop, :Batch, :Isolation, :Run

    OPTIONS = [:ractors, :ordered, :codec, :factory, *Arguments::CODEC_OPTIONS].freeze
    private_constant :OPTIONS

    # What the block returns for each message.
    #
    # @param source [String, #readpartial, #read, Enumerable<String>]
    # @param options [Hash] see Parallel
    # @yield [object] in a Ractor
    # @return [Array]
    # @raise [ArgumentError] without a block, and for an unknown option
    # @raise [::TypeError] for a source that is none, and for a result that cannot cross
    # @raise [Ractor::IsolationError] for a block or a handler that cannot cross
    # @raise [DecodeError] as Manypack.unpack, and whatever the block raises
    # @example
    #   bytes = Manypack.pack("a") + Manypack.pack("b")
    #   Manypack::Parallel.map(bytes, ractors: 2) { |object| object.upcase } #=> ["A", "B"]
    def self.map(source, **options, &block)
      raise ArgumentError, "no block given" unless block

      Arguments.check_options(options, OPTIONS)
      results = []
      Run.of(source, block, **options).each { |of_a_batch| results.concat(of_a_batch) }
      results
    end

    # Yields each message, or what +map+ makes of it, to a block that runs in the caller like that of any other +each+.
    # It may break.
    #
    # @param source [String, #readpartial, #read, Enumerable<String>]
    # @param map [Proc, Method, #call, nil] called with each object in a Ractor. Without it the objects themselves are
    #   yielded, and unpacked with <code>shareable: true</code> unless options say otherwise
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
      Run.of(source, map, **options).each { |of_a_batch| of_a_batch.each(&block) }
      nil
    end

    # Packs what the block returns for each message and writes it to output; nothing where that is nil.
    #
    # @param source [String, #readpartial, #read, Enumerable<String>]
    # @param output [#write, #<<] no String; is flushed after each batch if it can be
    # @param options [Hash] see Parallel
    # @yield [object] in a Ractor
    # @yieldreturn [Object, nil]
    # @return [Integer] how many objects were written
    # @raise [ArgumentError] without a block, and for an unknown option
    # @raise [::TypeError, Ractor::IsolationError, DecodeError] as Parallel.map; TypeError for an output that is none
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

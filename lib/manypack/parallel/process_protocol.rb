# frozen_string_literal: true

# What a worker process and its parent send each other through pipes: Frames, with the Results and the CarriedErrors
# in them.

require_relative "worker"

module Manypack
  module Parallel
    # A packed array of values, which need no ext type, and of an Array of bins: some bytes in pieces. An Unpacker reads
    # it.
    module Frame
      # A bin has less than 4 GB.
      MOST_BYTES = 1 << 30

      def self.write(io, values, pieces)
        Packer.new(io).write([values, pieces.flat_map { |piece| bins(piece) }]).flush
      end

      def self.bins(piece)
        0.step(piece.bytesize, MOST_BYTES).map { |at| piece.byteslice(at, MOST_BYTES).b }
      end
      private_class_method :bins
    end

    # Packs results in a worker process with the ext types of the run's codec, and unpacks them in its parent. Symbols
    # are one of these ext types, so that they do not become Strings. Another type is for objects that would come back
    # as something else, such as one with a Record as a Hash: they go through Marshal.
    class Results
      # Options for results. The options of the run are for its messages.
      NO_LIMIT = (1 << 32) - 1
      OPTIONS = { symbolize_keys: false, freeze: false, shareable: false, allow_unknown_ext: true, timestamp: true,
                  compatibility_mode: false, canonical: false, untrusted: false, utf8: :accept, duplicate_keys: :last,
                  max_depth: 1_000, max_bytes: 1 << 60, max_objects: 1 << 60, max_map_size: NO_LIMIT,
                  max_array_size: NO_LIMIT, max_string_bytes: NO_LIMIT, max_ext_bytes: NO_LIMIT }.freeze

      # The head byte of an array whose size has four bytes. All results of a batch are unpacked as one array.
      ARRAY_32 = 0xdd

      # The bytes of a View on its way to the parent, which makes a View of them with the run's codec.
      ViewBytes = Struct.new(:bytes)

      # What can be packed although it has no to_msgpack: subclasses of Ruby's classes, and Manypack's own.
      PACKABLE = [String, Array, Hash, Timestamp, ExtensionValue].freeze

      # Collects the results of a batch, nil included.
      class Collector < Worker::Packed
        # Returns how many results there are, and the pieces of their bytes.
        def to_a
          [@count, @packer.buffer.to_a]
        end

        # Raises an EncodeError, which is a TypeError, for a result that cannot be packed.
        def add(result)
          write(result)
        rescue StandardError, SystemStackError => e
          reason = e.message.lines.first&.chomp # Ruby 3.1 adds the line of code
          error = EncodeError::TypeError.new("the result cannot be packed for the process that waits for it: #{reason}")
          error.instance_variable_set(:@path, e.is_a?(EncodeError) ? e.path : "$")
          raise error
        end
      end

      def initialize(codec)
        @view_codec = codec
        @codec = codec.with(**OPTIONS)
        types = [*@codec.packer.registered_types, *@codec.unpacker.registered_types]
        free = 127.downto(0).to_a - types.map { |type| type[:type] }
        taken = types.any? { |type| type[:type] == Timestamp::TYPE || type[:class] == ::Time }
        @time_type = Timestamp::TYPE unless taken
        @symbol_type, @object_type = [Symbol, Object].map do |klass|
          free.shift unless types.any? { |type| type[:class] == klass }
        end
      end

      # Returns a Collector for one batch.
      def collector
        packer = @codec.with(max_depth: OPTIONS[:max_depth] - 1).packer # the array around them is one level
        packer.register_type(@symbol_type, Symbol, :to_msgpack_ext) if @symbol_type
        packer.register_type(@time_type, ::Time, Time::Packer) if @time_type
        packer.register_type(@object_type, Object) { |object| marshalled(object) } if @object_type
        Collector.new(packer)
      end

      # Returns an Array of the results that a Collector packed.
      def unpack(pieces, count)
        unpacker.feed([ARRAY_32, count].pack("CN"))
        pieces.each { |piece| unpacker.feed(piece) }
        unpacker.read
      end

      private

      def unpacker
        @unpacker ||= @codec.unpacker.tap do |unpacker|
          unpacker.register_type(@symbol_type, Symbol, :from_msgpack_ext) if @symbol_type
          unpacker.register_type(@object_type) { |bytes| restored(bytes) } if @object_type
        end
      end

      # Raises TypeError for an object that Marshal cannot write, and NoMethodError for one that Manypack.pack cannot.
      def marshalled(object)
        return Marshal.dump(ViewBytes.new(object.to_msgpack)) if View === object

        Manypack.pack(object) unless PACKABLE.any? { |klass| klass === object } || object.respond_to?(:to_msgpack)
        Marshal.dump(object)
      end

      def restored(bytes)
        object = Marshal.load(bytes) # rubocop:disable Security/MarshalLoad -- from a process of our own
        object.is_a?(ViewBytes) ? @view_codec.view(object.bytes) : object
      end
    end

    # Takes an exception apart in a worker process and rebuilds it in the parent: by Marshal, with its instance
    # variables, if Marshal can; otherwise without them, by its class or by the first superclass that has a name.
    module CarriedError
      # The most causes that are carried along: code that retries forever and wraps each error in the next makes
      # thousands.
      MOST_CAUSES = 32

      module_function

      # Returns an Array that can be packed.
      def dump(error, causes = MOST_CAUSES)
        names = error.class.ancestors.grep(Class).map { |one| Module.instance_method(:name).bind_call(one) }
        cause = error.cause if causes.positive?
        [marshalled(error), names, message_of(error), error.backtrace, cause && dump(cause, causes - 1)]
      end

      # Returns the exception that dump took apart.
      def load(carried)
        bytes, names, message, backtrace, cause = carried
        error = restored(bytes) || rebuilt(names, message)
        error.set_backtrace(backtrace) if backtrace
        raise error, cause: cause && load(cause)
      rescue Exception => e # rubocop:disable Lint/RescueException -- only raise sets a cause
        e
      end

      def marshalled(error)
        Marshal.dump(error)
      rescue StandardError, SystemStackError
        nil
      end

      def message_of(error)
        error.message.to_s
      rescue StandardError, SystemStackError => e
        "#{error.class}, whose message raises #{e.class}"
      end

      def restored(bytes)
        error = bytes && Marshal.load(bytes) # rubocop:disable Security/MarshalLoad -- from a process of our own
        error if error.is_a?(Exception)
      rescue StandardError, SystemStackError
        nil
      end

      # Replaces the class's own method for the message unless it returns this message: it may need instance variables.
      def rebuilt(names, message)
        known = names.find { |name| exception_class(name) }
        message = "#{names.first || "an error of an anonymous class"}: #{message}" unless known == names.first
        error = exception_class(known).allocate
        Exception.instance_method(:initialize).bind_call(error, message)
        error.define_singleton_method(:message) { message } unless says?(error, message)
        error
      end

      def says?(error, message)
        error.message == message
      rescue StandardError
        false
      end

      def exception_class(name)
        found = name && Object.const_get(name)
        found if found.is_a?(Class) && found <= Exception
      rescue NameError
        nil
      end
    end
    private_constant :Frame, :Results, :CarriedError
  end
end

# frozen_string_literal: true

#--
# ActiveSupport's cache as MessagePack. Only programs that use ActiveSupport require this file.
#++
require "manypack"
require "manypack/active_support/objects"
require "manypack/active_support/types"
require "zlib"

module Manypack
  Library.load("activesupport", file: "active_support", user: "manypack/active_support", at_least: "7.1")

  # MessagePack for the caches of ActiveSupport. <code>require "manypack/active_support"</code> loads it and
  # ActiveSupport.
  module ActiveSupport
    # Registers every type that ActiveSupport::MessagePack knows, with the same numbers and bytes: the types of
    # Factory#register_common, TimeWithZone, TimeZone, Duration, HashWithIndifferentAccess and SafeBuffer. Returns nil.
    #
    # factory:: a Factory that is not frozen
    #
    # Raises the errors of Factory#register_type.
    #
    #   Manypack::ActiveSupport.register_types(factory)
    #   factory.register_type(20, Point, packer: :to_bytes, unpacker: :from_bytes)
    def self.register_types(factory)
      factory.register_common(:symbol, :bigint, :bigdecimal, :rational, :complex, :datetime, :date, :time, :range, :set,
                              :uri, :ipaddr, :pathname, :regexp)
      Types.registrations.each { |type, klass, options| factory.register_type(type, klass, **options) }
      nil
    end

    autoload :DeserializationError, File.join(__dir__, "active_support/deserialization_error")

    # Writes the entries of a cache as MessagePack, and nothing else. Reading an entry cannot create an object of an
    # arbitrary class, as Marshal can.
    #
    # An object is read as it was written, or not written at all: an object whose class has a Record comes back as an
    # object of this class, and writing anything that could not come back is an error. An entry whose class is gone, or
    # whose Record refuses the bytes, is a miss.
    #
    #   config.cache_store = :redis_cache_store, { coder: Manypack::ActiveSupport::CacheCoder.new }
    #
    # It is frozen, and shareable if the handlers of its ext types are.
    class CacheCoder
      # The first byte of a compressed entry, from Zlib. An uncompressed entry begins with the head byte of an array.
      DEFLATED = "\x78"
      private_constant :DEFLATED

      # Creates a CacheCoder.
      #
      # codec:: a Codec with ext types and options; by default, one with the types of ActiveSupport.register_types
      # options:: any of those of Manypack.pack, except +default+, because every object has an ext type, and of
      #           Manypack.unpack; they replace those of the codec
      #
      # Raises ArgumentError for unknown options, and TypeError or RangeError for unsuitable values.
      #
      #   Manypack::ActiveSupport::CacheCoder.new(codec: factory.codec, max_bytes: 10_000_000)
      def initialize(codec: nil, **options)
        Arguments.refuse_option(options, :as, "the entries of a cache, which have a form of their own")
        Arguments.refuse_option(options, :default, "the objects in a cache, which all have an ext type")
        codec ||= Factory.new.tap { |factory| ActiveSupport.register_types(factory) }.codec
        @codec = Objects.added_to(Arguments.codec(codec, options))
        DeserializationError.name # loads it: when bytes are wrong, its file may be out of reach
        freeze
      end

      # Returns the bytes of an entry: a MessagePack array of when it expires, its version and its value.
      #
      # Raises TypeError for a value that would come back as something else: an object with +to_msgpack+ whose class has
      # no Record, a View, a LazyRecord, or an object of a subclass of String, Array or Hash. Raises RecordError
      # for an object that its Record would not load, ArgumentError for an entry that the options of the coder refuse to
      # read, such as one longer than +max_bytes+, and the errors of Manypack.pack.
      #
      #   coder.dump(entry) #=> "\x93\xC0\xC0\xA5value"
      def dump(entry)
        packed = @codec.pack([entry.expires_at, entry.version, entry.value])
        check(packed) unless @codec.options.empty?
        packed
      end

      # Returns the bytes of an entry. They are compressed if there are at least +threshold+ of them and if that makes
      # them fewer. Raises the errors of CacheCoder#dump.
      #
      #   coder.dump_compressed(entry, 1024) #=> "\x93\xC0\xC0\xA5value"
      def dump_compressed(entry, threshold)
        packed = dump(entry)
        return packed if packed.bytesize < threshold

        deflated = Zlib.deflate(packed)
        deflated.bytesize < packed.bytesize ? deflated : packed
      end

      # Returns the entry that dump or dump_compressed wrote. Other bytes, such as those of another coder, raise
      # DeserializationError, which caches treat as a miss.
      #
      #   coder.load(bytes).value #=> "value"
      def load(bytes)
        entry = bytes.start_with?(DEFLATED) ? unpack_deflated(bytes) : @codec.unpack(bytes)
        expires_at, version, value = members(entry)
        ::ActiveSupport::Cache::Entry.new(value, expires_at: expires_at, version: version)
      rescue DecodeError, Zlib::Error => error
        raise DeserializationError, Excerpt.of(error.message)
      end

      private

      # Raises an error for an entry that the options would refuse to read. Without options, all packed entries can be
      # read.
      def check(packed)
        @codec.view(packed, check: true)
      rescue DecodeError => error
        raise EncodeError::ArgumentError, "the entry could not be read: #{error.message}"
      end

      # Inflates piece by piece, so that the limits apply to the inflated bytes, however few the compressed ones are.
      def unpack_deflated(bytes)
        unpacker = @codec.unpacker
        entries = []
        inflate = Zlib::Inflate.new
        inflate.inflate(bytes) do |piece|
          unpacker.feed_each(piece) { |entry| entries.empty? ? entries << entry : refuse }
        end
        inflate.finished? && !unpacker.pending? ? entries.first : refuse
      ensure
        inflate&.close
      end

      def members(entry)
        return entry if entry.is_a?(Array) && entry.size == 3 && (entry[0].nil? || entry[0].is_a?(Float))

        refuse
      end

      def refuse
        raise MalformedFormatError, "not an entry that Manypack has written"
      end
    end
  end
end

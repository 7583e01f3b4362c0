# frozen_string_literal: true

#--
# Streams of whole messages: split into messages, or read from files, which may be compressed.
#++

module Manypack
  # Yields each message of a stream as its bytes, a frozen String, without building anything, and returns nil. Without a
  # block it returns an Enumerator. Memory holds one message and what was read of the next ones.
  #
  # source:: a String of packed messages, or anything with <code>readpartial</code> or <code>read</code>, such as a File
  # as:: :view to yield Views, or anything with <code>load(bytes)</code>, to yield what that returns
  # codec:: a Codec for its options, and for the ext types of Views and Types (default: that of DefaultFactory)
  #
  # The other options are those of Manypack.unpack; they and the codec take precedence over the options of a Type in
  # +as+. Limits apply to each message. Without +as+ nothing is built, so options for objects, such as +symbolize_keys+,
  # raise ArgumentError, and +untrusted+ only sets the limits.
  #
  # It starts an Unpacker, which takes several times as long as unpacking one small message. For a String with a single
  # message, use View.new, or Manypack.unpack with <code>as:</code>.
  #
  # Raises TruncatedError, whose +start+ is the end of the last whole message, if the source ends inside a message;
  # other DecodeErrors if it is not MessagePack; TypeError for an unsuitable source; ArgumentError for the name of a
  # file; and RangeError, TypeError or ArgumentError for invalid or unknown options.
  #
  #   Manypack.split("\x01\x92\x02\x03").to_a #=> ["\x01", "\x92\x02\x03"]
  #   Manypack.split("\x91\x01\x91\x02", as: :view).map { |view| view[0] } #=> [1, 2]
  def self.split(source, *others, as: nil, **options, &block)
    Arguments.check_alone(others)
    string = source.respond_to?(:to_str)
    raise ::TypeError, "expected a String or an IO, got nil" if source.nil?

    Arguments.check_source(source)

    io = source unless string
    unpacker = as ? Files.unpacker(io, as: as, **options) : Files.slicer(io, options) # raises for the options
    return enum_for(:split, source, **(as.nil? ? {} : {as: as}), **options) unless block

    unpacker.feed(source) if string
    unpacker.each(strict: true, &block)
  end

  # Unpacks the only object in a file, and returns it. A file whose name ends in .gz or .zst is decompressed, as by
  # Manypack.foreach.
  #
  # as:: what Manypack.unpack takes as +as+, such as :view or a Record (default: objects)
  # codec:: a Codec with the ext types (default: that of DefaultFactory)
  #
  # The other options are those of Manypack.unpack.
  #
  # Raises the errors of Manypack.unpack, including for bytes that follow the object, what File.open raises, and for
  # compressed files what Manypack.foreach raises.
  #
  #   File.binwrite("config.msgpack", Manypack.pack({"port" => 80}))
  #   Manypack.load_file("config.msgpack", symbolize_keys: true) #=> {port: 80}
  def self.load_file(path, *others, **options)
    Arguments.refuse_block(self, :load_file) if block_given?
    Arguments.check_alone(others)
    Files.unpacker(nil, **options) # raises for the options, before there is a file
    path = Arguments.path_of(path, "Manypack.unpack(io) reads one message of an io")
    Files.unpack(path, options, &:full_unpack)
  end

  # Packs an object into a new file and returns nil. The name decides about compression, as for Packer.open.
  #
  # codec:: a Codec with the ext types (default: that of DefaultFactory)
  #
  # The other options are those of Manypack.pack. Raises the errors of Manypack.pack, before there is a file, what
  # File.open raises, and ArgumentError for a name that ends in .zst.
  #
  #   Manypack.dump_file({"port" => 80}, "config.msgpack")
  #   Manypack.load_file("config.msgpack") #=> {"port" => 80}
  def self.dump_file(object, path, codec: nil, **options)
    Arguments.refuse_block(self, :dump_file) if block_given?
    path = Arguments.check_place(object, path)
    bytes = Arguments.codec(codec, options, unpacks: false).pack(object)
    Files.write(path, false) { |io| io.write(bytes) }
    nil
  end

  # Yields each object in a file and returns nil. Without a block it returns an Enumerator, which opens the file each
  # time. Memory holds one object and a little of the file.
  #
  # A file whose name ends in .gz is decompressed by Ruby's zlib, one whose name ends in .zst by the gem zstd-ruby. The
  # name decides, because a MessagePack stream may begin with any bytes.
  #
  # as:: :view to yield Views, or anything with <code>load(bytes)</code>, to yield what that returns for each message
  # codec:: a Codec with the ext types (default: that of DefaultFactory)
  #
  # The other options are those of Manypack.unpack; limits apply to each object.
  #
  # Raises TruncatedError, whose +start+ is the end of the last whole object, if the file ends inside an object; other
  # DecodeErrors; what File.open raises; RangeError, TypeError or ArgumentError for invalid or unknown options; and for
  # compressed files LoadError, with the line for the Gemfile, if the library is missing, and the library's errors. Only
  # zlib notices that a compressed file was cut off.
  #
  #   File.binwrite("events.msgpack", "\x01\x02\x03")
  #   Manypack.foreach("events.msgpack").sum #=> 6
  def self.foreach(path, *others, **options, &block)
    Arguments.check_alone(others)
    path = Arguments.path_of(path, "Manypack.split(io) and Manypack::Unpacker.new(io).each read an io")
    Files.unpacker(nil, **options) # raises for the options, before there is a file or an Enumerator
    return enum_for(:foreach, path, **options) unless block

    Files.unpack(path, options) { |unpacker| unpacker.each(strict: true, &block) }
  end

  # Opens files by their names, and makes the Unpackers that read them.
  module Files # :nodoc:
    # Deeper than any Packer writes: for checking files, whose messages are skipped and not unpacked.
    MAX_DEPTH = 100_000

    # Returns an Unpacker that reads from an io. Raises ArgumentError for other options, such as those of a Buffer, and
    # TypeError for anything but a Codec.
    def self.unpacker(io, as: nil, collect: nil, codec: nil, **options)
      as = Arguments.collecting(as) if collect
      changed = Arguments.codec(codec, options, :as, packs: false, looks: as) # not those of a Buffer
      Arguments.check_loader(as, options)
      return changed.unpacker(io, as: as) if as.nil? || as == :view || codec

      Unpacker.new(io, as: as, codec: codec, **options)
    end

    # Returns an Unpacker that reads each message as its bytes. Raises the errors of unpacker.
    def self.slicer(io, options)
      return Internal.unpacker_of_bytes(DefaultFactory.codec, io) if options.empty?

      Arguments.check_limits_only(options, "bytes")
      Internal.unpacker_of_bytes(Arguments.codec(options[:codec], options.except(:codec), :as, packs: false), io)
    end

    # Yields an Unpacker that reads a file. Errors about its bytes name the file; those about other bytes, which a block
    # may raise, do not.
    def self.unpack(path, options)
      read(path) do |io|
        unpacker = unpacker(io.is_a?(File) ? io : Named.new(io, path), **options)
        yield unpacker
      rescue DecodeError => error
        raise unless Internal.error_of?(unpacker, error)

        raise error.exception("#{shown(path)}: #{error.message}"), cause: error.cause
      end
    end

    # Returns a path as errors show it.
    def self.shown(path)
      name = path.dup.force_encoding(Encoding::UTF_8)
      name.valid_encoding? ? name : path.dump
    end

    # Yields an io with the bytes of a file, decompressed.
    def self.read(path, &block) = File.open(path, "rb") { |file| decompress(file, path, &block) }

    # Yields the open file, or an io that decompresses it if the name says that it is compressed.
    def self.decompress(file, path)
      compressed = Compressed.reader(path) or return yield(file)
      reader = compressed.new(file)
      ending(-> { reader.close }) { yield reader }
    end

    # Yields an io that writes to a file, compressed if its name says so. Without compression, each write goes to the
    # operating system at once.
    def self.write(path, append)
      compressed = Compressed.writer(path)
      file = File.open(path, append ? "ab" : "wb")
      ending(-> { file.close }) do
        file.sync = true
        next yield(file) unless compressed

        writer = compressed.new(file)
        ending(-> { writer.finish }) { yield writer }
      end
    end

    # Yields, and then calls +last+, however the block ends. An error of +last+ does not replace an error of the block,
    # which matters more.
    def self.ending(last)
      yield
    rescue Exception => error # rubocop:disable Lint/RescueException
      raise
    ensure
      begin
        last.call
      rescue StandardError
        raise unless error
      end
    end

    # Raises TruncatedError if a file ends inside a message, and another DecodeError if it has anything but messages.
    def self.check_whole(path)
      unpack(path, {max_depth: MAX_DEPTH}) { |unpacker| unpacker.skip while true }
    rescue TruncatedError => error
      raise error.exception("#{error.message}; File.truncate(path, error.start) repairs the file"), cause: nil
    rescue EOFError
      nil
    end
  end
  private_constant :Files

  Library.load_on_first_use(Files, Compressed: "#{__dir__}/files/compressed", JSONLines: "#{__dir__}/files/json_lines")
end

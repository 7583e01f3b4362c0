# frozen_string_literal: true

#--
# JSON texts that follow each other in an io. One text in a String is packed by ext/manypack/json/from_json.c.
#++
module Manypack
  # Yields the packed bytes of each JSON text of an io or a file, and returns nil. Without a block it returns an
  # Enumerator. The texts follow each other, on lines of their own (JSON Lines) or not. Memory holds one text and what
  # was read of the next ones; no objects are built.
  #
  # source:: an io, anything with <code>readpartial</code> or <code>read</code>; or the path of a file, which may be
  #          compressed as for Manypack.foreach
  #
  # The options are those of Manypack.from_json; limits apply to each text. Raises the errors of Manypack.from_json:
  # line, column and offset count from the start of the io, and the message says how many texts before it were whole.
  # Those have been yielded. Raises what the io raises, and for a path what Manypack.foreach raises.
  #
  #   log = StringIO.new(%({"id": 1}\n{"id": 2}\n))
  #   Manypack.foreach_json(log).map { |bytes| Manypack.dig(bytes, "id") } #=> [1, 2]
  def self.foreach_json(source, **options, &block)
    codec = Internal.codec_for_json(DefaultFactory.codec, options, false)
    return enum_for(:foreach_json, source, **options) unless block

    JSONTexts.foreach(codec, source, &block)
  end

  class Codec
    # Yields the packed bytes of each JSON text, as Manypack.foreach_json does, with the options and ext types of the
    # codec, which the options change for this call.
    #
    #   codec = Manypack::Codec.new(max_bytes: 1_000)
    #   codec.foreach_json(StringIO.new("[1] [2]")).to_a #=> ["\x91\x01", "\x91\x02"]
    def foreach_json(source, **options, &block)
      codec = Internal.codec_for_json(self, options, false)
      return enum_for(:foreach_json, source, **options) unless block

      JSONTexts.foreach(codec, source, &block)
    end
  end

  class Factory
    # Packs a JSON text with the ext types of the factory, as Manypack.from_json does with its arguments.
    #
    #   factory = Manypack::Factory.new
    #   factory.register_common(:bigint)
    #   factory.load(factory.from_json("18446744073709551616")) #=> 18446744073709551616
    def from_json(source, out = nil, **options)
      codec.from_json(source, out, **options)
    end

    # Returns packed bytes as JSON, as Manypack.to_json does with its arguments.
    #
    #   Manypack::Factory.new.to_json("\x91\x01") #=> "[1]"
    def to_json(source, out = nil, **options)
      codec.to_json(source, out, **options)
    end

    # Yields the packed bytes of each JSON text, as Manypack.foreach_json does, with the ext types of the factory.
    #
    #   Manypack::Factory.new.foreach_json(StringIO.new("1 2")).to_a #=> ["\x01", "\x02"]
    def foreach_json(source, **options, &block)
      codec.foreach_json(source, **options, &block)
    end
  end

  # The JSON texts of an io. It passes what it has read to the extension, and keeps the beginning of an incomplete text.
  # It then searches further bytes for the end of that text before it parses again, so that each byte is parsed at most
  # twice.
  class JSONTexts # :nodoc:
    READ_BYTES = 1 << 16
    NEWLINE = "\n".b.freeze # binary like @rest: for another encoding, Ruby would first scan all bytes of @rest
    private_constant :NEWLINE

    # Yields the bytes of each text of an io, or of the file with that path; if +texts+, yields everything that
    # Internal.json_texts yields.
    def self.foreach(codec, source, texts: false, &block)
      return new(codec, source).each(texts: texts, &block) if Arguments.readable?(source)

      path = Arguments.path_of_json(source, "foreach_json(io) reads an io")
      Files.read(path) { |io| new(codec, io).each(texts: texts, &block) }
    end

    # Writes the bytes of the texts of a source to a Packer or an io, or returns those of its only text.
    def self.pack(codec, source, out)
      text = String.try_convert(source)
      return write(codec.from_json(text), out) if text

      unless Arguments.readable?(source)
        raise ::TypeError, "expected a String or an IO, got #{source.nil? ? "nil" : source.class}"
      end
      return codec.from_json(new(codec, source).read) if out.nil?

      new(codec, source).each_batch { |packed| write(packed, out) }
    end

    def self.write(packed, out)
      return Internal.write_all(out, packed) unless out.is_a?(Packer)

      out.buffer.write(packed)
      out.flush
      nil
    end
    private_class_method :write

    # lines:: true if each line is one text
    def initialize(codec, io, lines: false)
      @codec = codec
      @io = io
      @lines = lines
      @rest = "".b
      @origin = [0, 0, 0, 0]
      @searched = @state = nil # how far the end of an incomplete text was searched for
    end

    # Yields the bytes of each text.
    def each(texts: false, &block)
      run { |last| Internal.json_texts(@codec, @rest, @lines, last, @origin, texts, &block) }
    end

    # Yields the bytes of all texts that one read has completed, as one String. With +odd+, if one of them has a key
    # that starts with $ or is very deep, yields the bytes and the line of each text instead.
    def each_batch(odd: false)
      run do |last|
        done = Internal.json_texts(@codec, @rest, @lines, last, @origin, false)
        if odd && done.pop
          Internal.json_texts(@codec, @rest, @lines, last, @origin, true) { |bytes, line| yield bytes, line }
        else
          yield done.first unless done.first.empty?
        end
        done
      end
    end

    # Returns all bytes of the io, if they are not above max_bytes.
    def read
      most = Internal.max_bytes(@codec)
      nil while @rest.bytesize <= most && read_more? # above that, from_json raises
      @rest
    end

    private

    def run
      before = 0
      while read_more?
        work { yield false } if end_near?(before)
        before = @rest.bytesize
      end
      work { yield true }
      nil
    end

    # Packs the complete texts. If one is wrong, it is found in the second round, after those before it were yielded.
    def work
      done = nil
      until @rest.empty? || done&.zero?
        _, done, @origin = yield
        @rest = @rest.byteslice(done..) unless done.zero?
      end
      @searched = @state = 0
    end

    # True if the current text may be complete or is too long, now that bytes have been read after the first `before`.
    def end_near?(before)
      return @rest.index(NEWLINE, before) if @lines
      return true unless @searched

      found, @searched, @state = Internal.json_end(@rest, @searched, @state)
      found || @rest.bytesize > Internal.max_bytes(@codec)
    end

    def read_more? = Internal.read_more(@io, READ_BYTES, @rest)
  end
  private_constant :JSONTexts

  module Arguments # :nodoc:
    # Called by from_json for a source or a target that the extension does not handle itself.
    def self.json_of(codec, source, out) = JSONTexts.pack(codec, source, out)

    # Returns the packed bytes of a text with each repeated key only once, in its first place and with its last value.
    def self.with_last_keys(bytes, max_depth, compatibility_mode)
      codec = Codec.new(max_depth: max_depth, compatibility_mode: compatibility_mode, allow_unknown_ext: true)
      codec.pack(codec.unpack(bytes))
    end

    # Returns the path of a file as a String, as path_of does. Raises ArgumentError for a JSON text.
    def self.path_of_json(path, instead)
      name = path_of(path, instead)
      return name if !/\A\s*[\[{]/n.match?(name.b) || (!name.include?("\0") && File.exist?(name))

      refuse(ArgumentError.new("there is no file with the name #{Excerpt.of(name.inspect)}: " \
                               "for a text, from_json(text) or load_json(text); for several, StringIO.new(text)"))
    end
  end
end

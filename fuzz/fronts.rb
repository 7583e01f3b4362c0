# frozen_string_literal: true

# Compares all ways to read a message.
require "json"
require "stringio"
require "zlib"
require "manypack/terminal"

module Fuzz
  # On any bytes all fronts agree whether they are taken or refused, and on the value; with the defaults, and untrusted.
  # A View refuses when it is read, so it is read whole. What a splice changes is what a change of the object would.
  # to_json writes what json writes of the object. The terminal's JSON is taken or refused alike, and comes back as the
  # same value; and so is a changed text of it.
  class Fronts
    # Without ext types: others than these compare what handlers do.
    CODECS = [{}, { untrusted: true }, Manypack::Terminal::OPTIONS].map do |options|
      Manypack::Factory.new.codec(allow_unknown_ext: true, **options)
    end.freeze
    JSON_TEXT = Manypack.const_get(:JSONText)
    READS = {
      "Codec#unpack" => ->(bytes, codec) { codec.unpack(bytes) },
      "Unpacker" => ->(bytes, codec) { Manypack::Unpacker.new(codec: codec).feed(bytes).full_unpack },
      "an io" => ->(bytes, codec) { Manypack::Unpacker.new(StringIO.new(bytes), codec: codec).full_unpack },
      "Type" => ->(bytes, codec) { Manypack::Type[Object].with(codec: codec).load(bytes) },
      "as: a Type" => ->(bytes, codec) { Manypack.unpack(bytes, as: Manypack::Type[Object], codec: codec) },
      "View" => ->(bytes, codec) { Manypack.unpack(bytes, as: :view, codec: codec).then { |view| plain(view) } }
    }.freeze

    def self.plain(view) = view.is_a?(Manypack::View) ? view.value : view

    # Raises Violation if two fronts differ.
    def check(bytes)
      return if bytes.empty?

      @bytes = bytes.b.freeze
      CODECS.each do |codec|
        expected = Outcome.of { Manypack.unpack(@bytes, codec: codec) }
        READS.each { |name, read| agree(expected, Outcome.of { read.call(@bytes, codec) }, "#{name} with #{codec}") }
        found_by_path(expected, codec) if expected[0] == :object # it does not look for the end of the bytes
        spliced(expected[2], codec) if expected[0] == :object && expected[2].is_a?(Hash)
      end
      json(CODECS.last)
      written
      styled
    end

    private

    # Refused is refused: which of several reasons is given first, others compare.
    def agree(expected, actual, name)
      return if expected[0] == :object ? Outcome.same?(expected, actual) : actual[0] == expected[0]

      raise Violation, "#{name}:#{Outcome.contrast(actual, expected, "unpacking")}"
    end

    def found_by_path(expected, codec)
      found = Outcome.of { Fronts.plain(Manypack::Path.new("$").to_a(codec.view(@bytes)).first) }
      agree(expected, found, "Path with #{codec}")
    end

    def spliced(hash, codec)
      strict = Outcome.of { codec.with(duplicate_keys: :error).unpack(@bytes) }
      key = hash.keys.grep(String).find { |one| one.encoding == Encoding::UTF_8 && one.valid_encoding? }
      return unless key && strict[0] == :object

      found = Outcome.of { codec.view(@bytes).splice(Manypack::Path.of(key) => [7]).bytes }
      found = Outcome.of { codec.unpack(found[2]) } if found[0] == :object
      agree(Outcome.of { strict[2].merge(key => [7]) }, found, "splice of #{key.inspect}")
    end

    def json(codec)
      expected = Outcome.of { codec.unpack(@bytes) }
      text = Outcome.of { JSON_TEXT.generate(@bytes, 0, @bytes.bytesize, false, false) }
      return if expected[0] == :error # a stream of several, or keys that cannot be in one Hash

      raise Violation, "no JSON of what unpacks: #{text[1]}" unless text[0] == :object
      4.times { |n| parsed(n.zero? ? text[2] : changed(text[2], n)) }
      return if Outcome.of { codec.with(duplicate_keys: :error).unpack(@bytes) }[0] == :error

      back = Manypack::Terminal::FromJSON.pack(::JSON.parse(text[2], max_nesting: false, allow_nan: false))
      agree(one_nan(expected), one_nan(Outcome.of { codec.unpack(back) }), "JSON")
    end

    # The bytes of the message decide on the change.
    def changed(text, number)
      random = Random.new(Zlib.crc32(@bytes) + number)
      at = random.rand(text.bytesize)
      new = ['"', "\\", "\\u00", ",", ":", "[", "}", "1", "e", "\n", "$", "\x80", "\xF4", ""].sample(random: random).b
      (text.byteslice(0, at).b + new + text.byteslice(at + random.rand(3)..).to_s.b).force_encoding("UTF-8")
    end

    # What JSON is packed without building its objects must be what they are packed as.
    def parsed(text)
      packed = Manypack.from_json(text, max_depth: 512)
      expected = Outcome.of { Manypack.pack(::JSON.parse(text, max_nesting: 513), max_depth: 512) }
      return if expected[2] == packed

      raise Violation, "JSON #{text.inspect}:#{Outcome.contrast([:object, packed], expected, "packing")}"
    rescue Manypack::DecodeError
      nil # json takes more, such as text that is not UTF-8
    end

    # What is written as JSON without building objects is what json writes of them, but for the digits of Floats.
    def written
      object = Outcome.of { Manypack.unpack(@bytes, duplicate_keys: :error) }
      return if object[0] == :thrown # by a handler, which to_json does not call

      expected = Outcome.of { read_json(::JSON.generate(object[2], max_nesting: 0)) } if object[0] == :object
      found = Outcome.of { read_json(Manypack.to_json(@bytes)) }
      return if found[2].is_a?(Manypack::UnexpectedTypeError) # json writes keys and bytes of any kind

      agree(expected || object, found, "to_json")
    end

    # With every option that allows something the text is JSON, and says the same in every style.
    def styled
      options = { bin: :hex, ext: :hex, stringify_keys: true, allow_nan: true, allow_duplicate_key: true }
      plain = Outcome.of { read_json(Manypack.to_json(@bytes, **options)) }
      [{ pretty: true }, { ascii_only: true }, { script_safe: true }].each do |style|
        found = Outcome.of { read_json(Manypack.to_json(@bytes, **options, **style)) }
        agree(plain, found, "to_json with #{style}")
      end
    end

    def read_json(text) = ::JSON.parse(text, max_nesting: false, allow_nan: true, allow_duplicate_key: true)

    # JSON has one NaN, floats have many.
    def one_nan(outcome)
      [outcome[0], outcome[1].gsub(/f[7f]ff(?!0{13})\h{13}/, "NaN")]
    end
  end
end

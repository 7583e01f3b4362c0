# frozen_string_literal: true

# Ext types whose body is text: in any encoding, an object comes back equal or is not packed.
require "test_helper"
require "ipaddr"
require "pathname"
require "uri"

class TypeEncodingsTest < Minitest::Test
  FACTORY = Manypack::Factory.new.tap { |factory| factory.register_common(:symbol, :uri, :ipaddr, :pathname, :regexp, :range, :set) }.freeze
  BY_METHODS = Manypack::Factory.new.tap { |factory| factory.register_type(0, Symbol) }.freeze

  TEXTS = ["", "a", "é", "あ", "a é", "[é]", "a/b", "\\/", "\\xff", "\\u00e9", "\xE9", "\xFF", "\x82\xA0", "\xC3", "\u0080"].freeze
  ENCODINGS = %w[UTF-8 US-ASCII BINARY ISO-8859-1 Windows-1252 Windows-31J EUC-JP UTF-16LE UTF-16BE UTF-32LE GB18030 IBM437].freeze

  # Every text in every encoding, and its bytes marked as every encoding.
  STRINGS = TEXTS.product(ENCODINGS).flat_map do |text, encoding|
    converted = text.encode(encoding) rescue nil
    [converted, text.dup.force_encoding(encoding)].compact
  end.freeze

  # The results of the block for the Strings that it does not refuse.
  def self.objects
    STRINGS.filter_map do |string|
      yield string
    rescue EncodingError, ArgumentError, RegexpError, URI::Error
      nil
    end
  end

  def with_no_warnings
    verbose = $VERBOSE
    $VERBOSE = nil
    yield
  ensure
    $VERBOSE = verbose
  end

  # The objects that can be packed, each with the unpacked one.
  def packable(objects, factory = FACTORY)
    with_no_warnings do
      objects.call.filter_map do |object|
        packed = factory.dump([object])
      rescue EncodingError
        nil
      else
        [object, factory.load(packed).first]
      end
    end
  end

  OBJECTS = {
    Symbol => -> { objects(&:to_sym) },
    Pathname => -> { objects { |text| Pathname.new("/tmp/".encode(text.encoding) + text) } },
    URI::HTTP => -> { objects { |text| URI::HTTP.new("http", nil, "example.com", nil, nil, "/" + text, nil, nil, nil) } },
    IPAddr => -> { objects { |text| IPAddr.new("fe80::1%" + text) } }
  }.freeze

  OBJECTS.each do |klass, objects|
    define_method("test_a_#{klass}_comes_back_equal_or_is_refused") do
      pairs = packable(-> { self.class.instance_exec(&objects) })
      assert_operator pairs.size, :>, 10
      pairs.each { |object, back| assert_equal object, back }
    end
  end

  def test_a_symbol_comes_back_equal_or_is_refused_by_the_methods_of_symbol
    pairs = packable(-> { self.class.objects(&:to_sym) }, BY_METHODS)
    assert_operator pairs.size, :>, 10
    pairs.each { |symbol, back| assert_same symbol, back }
  end

  def test_a_hash_keeps_every_symbol
    latin1 = "é".encode("ISO-8859-1").to_sym
    assert_raises(EncodingError) { FACTORY.dump({ latin1 => 1, é: 2 }) }
    assert_raises(EncodingError) { FACTORY.dump(Set[latin1]) }
    assert_raises(EncodingError) { FACTORY.dump(latin1..) }
    assert_raises(EncodingError) { FACTORY.dump("é".b.to_sym) }
    symbols = { "\xFF".b.to_sym => 1, é: 2, a: 3 }
    assert_equal symbols, FACTORY.load(FACTORY.dump(symbols))
  end

  # More than a table of packed Symbols holds, so that some are found there and some are not.
  def test_symbols_that_ruby_calls_ascii_are_refused_if_they_are_not
    symbol = "\xC3\xA9".dup.force_encoding("US-ASCII").to_sym
    2.times { assert_raises(EncodingError) { FACTORY.dump(symbol) } }
    Manypack.pack(symbol)
    assert_raises(EncodingError) { FACTORY.dump(symbol) }
  end

  # Ruby has several Regexps with the same to_s. They match the same.
  def test_a_regexp_comes_back_as_one_that_is_shown_the_same_in_the_same_encoding_or_is_refused
    [0, Regexp::IGNORECASE, Regexp::EXTENDED | Regexp::MULTILINE, Regexp::FIXEDENCODING, Regexp::NOENCODING].each do |options|
      pairs = packable(-> { self.class.objects { |text| Regexp.new(text, options) } })
      assert_operator pairs.size, :>, 3
      pairs.each do |regexp, back|
        assert_equal [regexp.to_s, regexp.encoding, regexp.fixed_encoding?], [back.to_s, back.encoding, back.fixed_encoding?]
      end
    end
  end

  def test_a_regexp_comes_back_with_its_options
    [/a/, /a/i, /a/mix, /a #b
     /x, %r{a/b}, /é/i, /\u00e9/, /\p{L}/, /(?i:a)(?m:b)/, /a|b/, /(?<name>a)/, /a/n, /\xff/n, //, Regexp.union(/a/i, "b")].each do |regexp|
      assert_equal regexp, FACTORY.load(FACTORY.dump(regexp))
    end
    assert_raises(EncodingError) { FACTORY.dump(/a/u) }
    assert_raises(EncodingError) { FACTORY.dump(Regexp.new("é".encode("EUC-JP", "UTF-8", undef: :replace).force_encoding("EUC-JP"), Regexp::FIXEDENCODING)) }
  end

  def test_bodies_of_other_programs_that_are_no_group_are_regexps
    { "a" => /a/, "(?i-mx:a)|(?m-ix:b)" => /(?i-mx:a)|(?m-ix:b)/, "(?i-mx:a)(b)" => /(?i-mx:a)(b)/ }.each do |body, regexp|
      assert_equal regexp, FACTORY.load(Manypack.pack(Manypack::ExtensionValue.new(16, body)))
    end
  end

  # Ruby lists files whose names are not text as such paths.
  def test_a_path_that_is_no_text_comes_back
    path = Pathname.new("/tmp/\xFF")
    assert_equal path, FACTORY.load(FACTORY.dump(path))
  end

  def test_a_refusal_names_the_encoding
    { "é".encode("ISO-8859-1").to_sym => /a Symbol in ISO-8859-1/, Pathname.new("é".encode("ISO-8859-1")) => /a Pathname in ISO-8859-1/,
      /a/u => /a Regexp in UTF-8/ }.each do |object, message|
      assert_match message, assert_raises(EncodingError) { FACTORY.dump(object) }.message
    end
  end
end

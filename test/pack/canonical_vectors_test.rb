# frozen_string_literal: true

# The vectors of the canonical form against docs/canonical.md, by a writer that takes Ruby objects, and by Manypack.
require "test_helper"
require "json"

class CanonicalVectorsTest < Minitest::Test
  VECTORS = JSON.parse(File.read(File.expand_path("../vectors/canonical.json", __dir__), encoding: "UTF-8")).freeze
  WITH_FORM, WITHOUT_FORM = VECTORS.partition { |vector| vector["canonical"] }
  private_constant :VECTORS, :WITH_FORM, :WITHOUT_FORM

  def test_canonical_bytes_are_what_the_rules_make_of_the_value
    WITH_FORM.each do |vector|
      assert_equal vector["canonical"], form(unpack(vector["input"])).unpack1("H*"), vector["about"]
    end
  end

  def test_a_value_is_the_same_in_its_canonical_form
    WITH_FORM.each do |vector|
      input, canonical = unpack(vector["input"]), unpack(vector["canonical"])
      assert_equal form(input), form(canonical), vector["about"]
      assert_equal vector["input"] == vector["canonical"], !vector["why"], vector["about"]
    end
  end

  def test_what_has_no_form_says_why
    assert_operator WITHOUT_FORM.size, :>, 25
    WITHOUT_FORM.each { |vector| assert vector["error"] && vector["why"] && vector["at"], vector["about"] }
  end

  # Also a str that is also a bin in other bytes than ASCII, which a Hash can have.
  def test_the_strict_reader_refuses_what_has_no_form
    WITHOUT_FORM.each do |vector|
      next if vector["about"] == "a str and a bin of the same bytes, not in ASCII"

      assert_raises(Manypack::DecodeError, vector["about"]) do
        unpack(vector["input"], duplicate_keys: :error, utf8: :strict, timestamp: true)
      end
    end
  end

  def test_manypack_agrees_with_every_vector_that_has_a_form
    WITH_FORM.each do |vector|
      input, form = [vector["input"]].pack("H*"), [vector["canonical"]].pack("H*")
      assert_equal form, Manypack.canonicalize(input), vector["about"]
      assert_equal form, Manypack.pack(unpack(vector["input"]), canonical: true), vector["about"]
      assert_equal input == form, Manypack.canonical?(input), vector["about"]
    end
  end

  def test_manypack_refuses_every_vector_without_a_form
    WITHOUT_FORM.each do |vector|
      input = [vector["input"]].pack("H*")
      error = assert_raises(Manypack::DecodeError, vector["about"]) { Manypack.canonicalize(input) }
      assert_includes error.message, vector["error"], vector["about"] unless error.is_a?(Manypack::TruncatedError)
      refute Manypack.canonical?(input), vector["about"]
    end
  end

  private

  def unpack(hex, **options)
    Manypack.unpack([hex].pack("H*"), allow_unknown_ext: true, **options)
  end

  def form(object)
    case object
    when Float then float(object)
    when String then object.encoding == Encoding::BINARY ? Manypack.pack(object) : Manypack.pack(object.encode("UTF-8"))
    when Array then head(object, 0x90, 0xdc) + object.map { |element| form(element) }.join
    when Hash then head(object, 0x80, 0xde) + sorted(object).map { |key, value| form(key) + form(value) }.join
    when Manypack::ExtensionValue then Manypack.pack(Manypack::ExtensionValue.new(object.type, body(object)))
    else Manypack.pack(object)
    end
  end

  def float(number)
    return "\xCA\x7F\xC0\x00\x00".b if number.nan?

    narrow = [number].pack("g")
    narrow.unpack1("g") == number ? "\xCA".b + narrow : [0xcb, number].pack("CG")
  end

  def head(container, fix, wide)
    container.size < 16 ? [fix | container.size].pack("C") : [wide, container.size].pack("Cn")
  end

  def body(ext)
    ext.type == -1 ? Manypack::Timestamp.from_msgpack_ext(ext.payload).to_msgpack_ext : ext.payload
  end

  def sorted(hash)
    hash.sort { |(a, _), (b, _)| order(a, b) }
  end

  TYPES = [NilClass, FalseClass, TrueClass, Integer, Float, String, Manypack::ExtensionValue, Array, Hash].freeze
  private_constant :TYPES

  def order(a, b)
    types = TYPES.index { |type| type === a } <=> TYPES.index { |type| type === b }
    return types unless types.zero?

    case a
    when Integer, Float then a <=> b
    when String then a.b <=> b.b
    when Manypack::ExtensionValue then [a.type, body(a)] <=> [b.type, body(b)]
    when Array then order_of_lists(a, b)
    when Hash then order_of_lists(sorted(a).flatten(1), sorted(b).flatten(1))
    else 0
    end
  end

  def order_of_lists(a, b)
    return a.size <=> b.size unless a.size == b.size

    a.zip(b).map { |x, y| order(x, y) }.find(&:nonzero?) || 0
  end
end

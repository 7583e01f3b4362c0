# frozen_string_literal: true

# What a message says, in the notation that README.md explains, and the differences between languages that a comparison
# forgives.
module Notation
  module_function

  # Returns the notation of an object that Manypack unpacked.
  def of(object)
    case object
    when nil, true, false, Integer then object
    when Float then { "f64" => [object].pack("G").unpack1("H*") }
    when String then { object.encoding == Encoding::BINARY ? "bin" : "str" => object.unpack1("H*") }
    when Array then object.map { |element| of(element) }
    when Hash then { "map" => object.map { |key, value| [of(key), of(value)] } }
    when Manypack::ExtensionValue then { "ext" => [object.type, object.payload.unpack1("H*")] }
    else raise ArgumentError, "no notation of #{object.class}"
    end
  end

  # Returns the notation with each value that has parts changed by the block, inner ones first.
  def change(tree, &block)
    tree = if tree.is_a?(Array) then tree.map { |element| change(element, &block) }
           elsif map?(tree) then { "map" => tree["map"].map { |pair| pair.map { |part| change(part, &block) } } }
           else tree
           end
    yield tree
  end

  # Calls the block with each value, outer ones first.
  def each(tree, &block)
    yield tree
    each_part(tree) { |part| each(part, &block) }
  end

  def each_part(tree, &block)
    if tree.is_a?(Array) then tree.each(&block)
    elsif map?(tree) then tree["map"].each { |pair| pair.each(&block) }
    end
  end

  def map?(tree) = tree.is_a?(Hash) && tree.key?("map")

  # Alike in all languages: a Timestamp is an ext of type -1, which some count as 255; no Float is a float 32 in Ruby; and
  # one NaN is another.
  def common(tree)
    change(tree) do |value|
      next value unless value.is_a?(Hash)

      type, content = value.first
      case type
      when "f32" then f64([content].pack("H*").unpack1("g"))
      when "f64" then content == "NaN" ? value : f64([content].pack("H*").unpack1("G"))
      when "ext" then ext([content[0]].pack("c").unpack1("c"), content[1])
      else value
      end
    end
  end

  def ext(type, payload)
    (time(payload) if type == -1) || { "ext" => [type, payload] }
  end

  def f64(float)
    { "f64" => float.nan? ? "NaN" : [float].pack("G").unpack1("H*") }
  end

  # Returns nil if the payload is not one of a Timestamp.
  def time(payload)
    timestamp = Manypack::Timestamp.from_msgpack_ext([payload].pack("H*"))
    { "time" => [timestamp.sec, timestamp.nsec] }
  rescue Manypack::MalformedFormatError
    nil
  end

  # What a language does not tell apart, as changes that make one of it.
  RULES = {
    bin_is_str: ->(value) { content(value, "bin") ? { "str" => value["bin"] } : value },
    uint64_is_text: ->(value) { value.is_a?(Integer) && value >= 2**63 ? text(value) : value },
    uint64_is_negative: ->(value) { value.is_a?(Integer) && value >= 2**63 ? value - 2**64 : value },
    large_integers_are_floats: ->(value) { value.is_a?(Integer) && value.abs > 2**53 ? value.to_f.to_i : value },
    whole_floats_are_integers: lambda do |value|
      float = content(value, "f64")&.then { |bits| [bits].pack("H*").unpack1("G") unless bits == "NaN" }
      float&.finite? && float == float.to_i ? float.to_i : value
    end,
    integer_keys_are_text: ->(value) { keys(value) { |key| key.is_a?(Integer) ? text(key) : key } },
    digits_as_keys_are_integers: ->(value) { keys(value) { |key| integer(key) || key } },
    empty_maps_are_arrays: ->(value) { value == { "map" => [] } ? [] : value },
    maps_from_0_are_arrays: ->(value) { array(value, 0) || value },
    maps_from_1_are_arrays: ->(value) { array(value, 1) || value },
    maps_have_no_order: ->(value) { map?(value) ? { "map" => value["map"].sort_by(&:to_s) } : value }
  }.freeze

  # Returns the notation without what the rules forgive.
  def normal(tree, rules)
    rules.reduce(common(tree)) { |changed, rule| change(changed, &RULES.fetch(rule)) }
  end

  def content(value, type) = (value[type] if value.is_a?(Hash))

  def text(integer) = { "str" => integer.to_s.unpack1("H*") }

  # Returns the Integer of 64 bits that a str writes as it is always written, or nil.
  def integer(value)
    digits = [content(value, "str") || ""].pack("H*")
    number = digits.to_i
    number if number.to_s == digits && number.between?(-2**63, 2**63 - 1)
  end

  def keys(value)
    map?(value) ? { "map" => value["map"].map { |key, element| [yield(key), element] } } : value
  end

  # Returns the array of a map whose keys count from a number, or nil.
  def array(value, first)
    return unless map?(value)

    elements = value["map"].to_h
    (first...(first + elements.size)).map { |key| elements.fetch(key) { return nil } }
  end

  # What not all languages can carry.
  FEATURES = {
    nil_inside: ->(value) { map?(value) ? value["map"].any? { |pair| pair.include?(nil) } : value.is_a?(Array) && value.include?(nil) },
    nil_keys: ->(value) { key?(value, &:nil?) },
    integer_keys: ->(value) { key?(value) { |key| key.is_a?(Integer) } },
    bin_keys: ->(value) { key?(value) { |key| content(key, "bin") } },
    integer_keys_of_64_bits: ->(value) { key?(value) { |key| key.is_a?(Integer) && !key.between?(-2**31, 2**32 - 1) } },
    integers_below_minus_128: ->(value) { value.is_a?(Integer) && value < -128 },
    float_keys: ->(value) { key?(value) { |key| content(key, "f64") } },
    container_keys: ->(value) { key?(value) { |key| key.is_a?(Array) || map?(key) } },
    ext_keys: ->(value) { key?(value) { |key| content(key, "ext") || content(key, "time") } },
    invalid_text: ->(value) { content(value, "str")&.then { |hex| ![hex].pack("H*").force_encoding("UTF-8").valid_encoding? } },
    ext: ->(value) { content(value, "ext") },
    negative_ext: ->(value) { content(value, "ext")&.first&.negative? },
    bad_timestamps: ->(value) { content(value, "ext")&.first == -1 },
    timestamps: ->(value) { content(value, "time") },
    fractions_of_milliseconds: ->(value) { content(value, "time")&.then { |_, nsec| nsec % 1_000_000 != 0 } },
    years_beyond_275760: ->(value) { content(value, "time")&.then { |sec, _| !sec.between?(-8_640_000_000_000, 8_639_999_999_999) } },
    more_than_30_levels: ->(value) { (value.is_a?(Array) || map?(value)) && depth(value) > 30 }
  }.freeze

  def depth(value)
    deepest = 0
    each_part(value) { |part| deepest = [deepest, depth(part)].max }
    deepest + 1
  end

  def key?(value, &condition) = map?(value) && value["map"].any? { |key, _| condition.call(key) }

  # Whether a message has one of the features.
  def any?(tree, features)
    conditions = FEATURES.fetch_values(*features)
    each(tree) { |value| return true if conditions.any? { |condition| condition.call(value) } } unless conditions.empty?
    false
  end

  # Whether two keys of a map become one.
  def duplicate_keys?(tree)
    each(tree) { |value| return true if map?(value) && value["map"].map(&:first).uniq! }
    false
  end
end

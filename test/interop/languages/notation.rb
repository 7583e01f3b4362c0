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

  # Alike in all languages: a Timestamp is an ext of type -1, no Float is a float 32 in Ruby, and one NaN is another.
  def common(tree)
    change(tree) do |value|
      next value unless value.is_a?(Hash)

      type, content = value.first
      case type
      when "f32" then f64([content].pack("H*").unpack1("g"))
      when "f64" then f64([content].pack("H*").unpack1("G"))
      when "ext" then (time(content[1]) if content[0] == -1) || value
      else value
      end
    end
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
    bin_is_str: ->(value) { value.is_a?(Hash) && value.key?("bin") ? { "str" => value["bin"] } : value },
    whole_floats_are_integers: lambda do |value|
      next value unless value.is_a?(Hash) && value.key?("f64") && value["f64"] != "NaN"

      float = [value["f64"]].pack("H*").unpack1("G")
      float.finite? && float == float.to_i && float.abs < 2**63 ? float.to_i : value
    end,
    large_integers_are_floats: lambda do |value|
      value.is_a?(Integer) && value.abs > 2**53 ? value.to_f.to_i : value
    end,
    maps_have_no_order: ->(value) { map?(value) ? { "map" => value["map"].sort_by(&:to_s) } : value },
    empty_maps_are_arrays: ->(value) { value == { "map" => [] } ? [] : value },
    integer_keys_are_text: lambda do |value|
      next value unless map?(value)

      { "map" => value["map"].map { |key, element| [key.is_a?(Integer) ? { "str" => key.to_s.unpack1("H*") } : key, element] } }
    end
  }.freeze

  # Returns the notation without what the rules forgive.
  def normal(tree, rules)
    rules.reduce(common(tree)) { |changed, rule| change(changed, &RULES.fetch(rule)) }
  end
end

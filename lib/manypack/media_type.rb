# frozen_string_literal: true

#--
# The media types of MessagePack and JSON, for the files that speak HTTP.
#++
module Manypack
  # Names MessagePack and JSON in HTTP.
  module MediaType # :nodoc:
    # The one that IANA registered, and the two that were in use before.
    ALL = %w[application/vnd.msgpack application/msgpack application/x-msgpack].freeze
    REGISTERED = ALL.first

    # Types of vendors are marked as MessagePack by a suffix, as in application/vnd.acme+msgpack.
    SUFFIXED = %r{\A[^/\s]+/[^/\s]+\+msgpack\z}

    JSON = "application/json"
    SUFFIXED_JSON = %r{\A[^/\s]+/[^/\s]+\+json\z}
    private_constant :SUFFIXED_JSON

    # Returns true for the value of a header Content-Type that is application/json or a type with the suffix +json+.
    def self.json?(content_type)
      type = without_parameters(content_type)
      type == JSON || type.match?(SUFFIXED_JSON)
    end

    # Returns true if the value of a header Content-Type, a String or nil, is one of the types. Without types, it
    # returns true for the three types of MessagePack and for types with the suffix.
    def self.of?(content_type, types = nil)
      type = without_parameters(content_type)
      types ? types.include?(type) : ALL.include?(type) || type.match?(SUFFIXED)
    end

    # Checks the argument +content_types+ and returns its names without parameters, a frozen Array, or nil for nil.
    # Raises TypeError unless it is an Array of Strings, and ArgumentError if it is empty.
    def self.list(types)
      return if types.nil?
      unless types.is_a?(Array) && types.all?(String)
        raise ::TypeError, "content_types must be an Array of Strings, got #{types.inspect}"
      end
      raise ArgumentError, "content_types must not be empty" if types.empty?

      types.map { |type| without_parameters(type).freeze }.freeze
    end

    # A media type without its parameters.
    def self.without_parameters(content_type) = content_type.to_s.b[/\A[^;]*/].strip.downcase
    private_class_method :without_parameters
  end
  private_constant :MediaType
end

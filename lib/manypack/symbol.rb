# frozen_string_literal: true

# What Factory#register_type(type, Symbol) calls by default.
class Symbol
  # @param data [String] a name
  # @return [Symbol] of the name as UTF-8, or as BINARY where it is not that
  # @example
  #   Symbol.from_msgpack_ext("ready") #=> :ready
  def self.from_msgpack_ext(data)
    data.dup.force_encoding(Encoding::UTF_8).to_sym
  rescue EncodingError
    data.dup.force_encoding(Encoding::BINARY).to_sym
  end
end

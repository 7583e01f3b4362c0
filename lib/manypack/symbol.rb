# frozen_string_literal: true

# How Factory#register_type(type, Symbol) unpacks unless it is told otherwise. It packs by Symbol#to_msgpack_ext, which
# is in symbol_cache.c.
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

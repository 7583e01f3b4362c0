# frozen_string_literal: true

#--
# Symbol.from_msgpack_ext, which Factory#register_type(type, Symbol) unpacks with by default. Its counterpart,
# Symbol#to_msgpack_ext, is in packed_symbols.c.
#++
class Symbol
  # Returns the Symbol with that name, as UTF-8, or as BINARY if the name is not valid UTF-8.
  #
  #   Symbol.from_msgpack_ext("ready") #=> :ready
  def self.from_msgpack_ext(data)
    data.dup.force_encoding(Encoding::UTF_8).to_sym
  rescue EncodingError
    data.dup.force_encoding(Encoding::BINARY).to_sym
  end
end

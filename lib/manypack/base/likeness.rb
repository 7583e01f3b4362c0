# frozen_string_literal: true

#--
# Recognizes bytes that were passed as a message but are something else, so that errors can say so.
#++
module Manypack
  # The first byte of text and of compressed bytes is a small Integer in MessagePack, so unpacking fails after one byte.
  module Likeness # :nodoc:
    # How many bytes are examined.
    SIZE = 4096

    JSON = /\A\s*(?:\{\s*(?:"|\}\s*\z)|\[[\s"\[{\d\]tfn-].*[\]},]|"[^"]*"\s*\z)/mn
    MARKUP = /\A\s*<[!?a-zA-Z][^<]*>/n
    FILE_NAME = %r{\A(?:\.{0,2}/|[A-Za-z]:[\\/])?[\w .~/\\-]{1,1024}\.[A-Za-z]\w{1,9}\z}n
    # In an absolute path, each part must begin with a lower-case letter, because Base64 may begin with "/", too.
    ABSOLUTE = %r{\A(?:~|\.{1,2})?(?:/[a-z][\w.-]*)+/?\z}n
    # Text that must be a path: as a message, it would be a series of small Integers.
    PATH = %r{\A(?:~|\.{1,2})/[[:print:]]+\z|\A/[[:print:]]{2,}\z|\A[[:print:]]+\.(?:msgpack|mpk?|gz|zst)\z}
    HEXADECIMAL = /\A(?:(?:[0-9a-f]{2}){4,}|(?:[0-9A-F]{2}){4,})\s*\z/n
    BASE64 = %r{\A(?:(?:[A-Za-z0-9+/]{4}\s?){2,}(?:[A-Za-z0-9+/]{2,3})?|
                    (?:[A-Za-z0-9+/]{4}\s?)+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=))\s*\z}nx
    URL_SAFE = /\A(?:[\w-]{4}){2,}(?:[\w-]{2}(?:==)?|[\w-]{3}=?)?\s*\z/n

    # Each pattern matches the whole input, or its first SIZE bytes. A few small Integers in a row match none of them.
    PATTERNS = {
      /\A\x1f\x8b\x08/n => "gzip: decompress it by Zlib.gunzip, or use Manypack.load_file for a file",
      /\A\x28\xb5\x2f\xfd/n => "Zstandard: decompress it, or use Manypack.load_file for a file",
      JSON => "JSON: use load_json of a Record or Type, Manypack.from_json, or JSON.parse",
      MARKUP => "HTML or XML, as an error page is",
      FILE_NAME => "a file name: use Manypack.load_file",
      ABSOLUTE => "a file name: use Manypack.load_file",
      HEXADECIMAL => "hexadecimal digits: use [text].pack(\"H*\")",
      BASE64 => "Base64: use text.unpack1(\"m\")",
      URL_SAFE => "Base64: use text.tr(\"-_\", \"+/\").unpack1(\"m\")"
    }.freeze

    # Returns true for a String that is the name of a file, by its form or because there is such a file.
    def self.file_name?(string)
      return false if string.bytesize > SIZE || !string.valid_encoding?
      return true if FILE_NAME.match?(string.b)

      string = string.encode(Encoding::UTF_8)
      PATH.match?(string) || (string.match?(/\A[[:print:]]+\z/) && File.file?(string))
    rescue EncodingError
      false
    end

    # Returns the end of an error message, which names what the bytes look like, or an empty String.
    def self.of(bytes)
      start = bytes.byteslice(0, SIZE).b
      _, likeness = PATTERNS.find { |pattern, _| pattern.match?(start) }
      likeness ? "; the input looks like #{likeness}" : ""
    end
  end
  private_constant :Likeness
end

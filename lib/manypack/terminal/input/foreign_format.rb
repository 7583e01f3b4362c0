# frozen_string_literal: true

# Recognizes inputs that are not MessagePack by their first bytes. Nearly all bytes are MessagePack, so a text of 133
# characters would be 133 messages.
module Manypack
  module Terminal
    module ForeignFormat
      # How many bytes are looked at.
      BYTES = 4096

      # The format, and the pattern at the start of its files.
      MAGIC = {
        "gzip" => /\A\x1f\x8b\x08[\x00-\x1f]/n, "zstd" => /\A\x28\xb5\x2f\xfd/n, "xz" => /\A\xfd7zXZ\x00/n,
        "bzip2" => /\ABZh[1-9](?:1AY&SY|\x17rE8P\x90)/n,
        "LZ4" => /\A\x04\x22\x4d\x18/n, "zip" => /\APK(?:\x03\x04|\x05\x06)/n,
        "a Git LFS pointer" => %r{\Aversion https://git-lfs}n, "PDF" => /\A%PDF-/n, "PNG" => /\A\x89PNG\r\n\x1a\n/n,
        "JPEG" => /\A\xff\xd8\xff[\xc0-\xfe]/n, "GIF" => /\AGIF8[79]a/n,
        "an SQLite database" => /\ASQLite format 3\x00/n,
        "an ELF program" => /\A\x7fELF[\x01\x02][\x01\x02]\x01/n,
        "Parquet" => /\APAR1/n, "Arrow" => /\AARROW1\x00\x00/n,
        "Avro" => /\AObj\x01/n, "CBOR" => /\A\xd9\xd9\xf7/n, "HDF5" => /\A\x89HDF\r\n\x1a\n/n,
        "a pickle of Python" => /\A\x80[\x04\x05]\x95.{5}\x00{3}/mn, "Ruby's Marshal" => /\A\x04\x08[\[{I"o:cmSUC}]./mn,
        "UTF-16" => /\A(?:\xff\xfe(?:[\t\n\r -~]\x00){2}|\xfe\xff(?:\x00[\t\n\r -~]){2})/n
      }.freeze

      JSON = /\A(?:\xef\xbb\xbf)?\s*(?:\{\s*(?:"|\}\s*\z)|\[\s*(?:["{\[\]\d-]|true|false|null))/n

      # Fewer bytes of text may well be small Integers.
      LEAST_TEXT = 4

      # Text of so many bytes may end inside a character, because more follows. Shorter text is a whole input.
      LEAST_PIECE = 64

      module_function

      # Returns the name of the format, or nil for what may be MessagePack.
      def of(bytes)
        bytes = bytes.byteslice(0, BYTES)
        name, = MAGIC.find { |_, pattern| bytes.match?(pattern) }
        name || (text_format(bytes) if text?(bytes))
      end

      def text_format(bytes)
        return "JSON" if bytes.match?(JSON)

        "text" if bytes.bytesize >= LEAST_TEXT && bytes.dup.force_encoding(Encoding::UTF_8).scrub.match?(/[[:alnum:]]/)
      end

      # Returns true for UTF-8 without control characters except white space and escapes for colours. The last character
      # may be cut off.
      def text?(bytes)
        text = bytes.dup.force_encoding(Encoding::UTF_8)
        text = cut(text) if bytes.bytesize >= LEAST_PIECE
        text.valid_encoding? && !text.match?(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f-\u009f]/)
      end

      def cut(text)
        (0..3).map { |n| text.byteslice(0, text.bytesize - n) }.find(&:valid_encoding?) || text
      end
    end
  end
end

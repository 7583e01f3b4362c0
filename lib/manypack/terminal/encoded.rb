# frozen_string_literal: true

# Bytes that were written as hexadecimal digits or base64, read as the bytes that they stand for.
module Manypack
  module Terminal
    class Encoded
      include Pushback

      # What is left out, such as white space and the marks of a dump; what digits have to look like; how many of them
      # are decoded together; and how.
      Form = Struct.new(:noise, :digits, :group, :decode)

      FORMS = {
        "hex" => Form.new(/\\x|0x|[\s,:"']/in, /\A(?:\h\h)*\z/n, 2, ->(text) { [text].pack("H*") }),
        "base64" => Form.new(/\s/n, %r{\A(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2,3}={0,2})?\z}n, 4,
                             ->(text) { text.tr("-_", "+/").unpack1("m") })
      }.freeze

      def initialize(io, name)
        @io = io
        @name = name
        @form = FORMS.fetch(name)
        @text = "".b
        @decoded = 0
      end

      # Raises Fault; its offset is the number of bytes that could be decoded.
      def next_bytes(size)
        bytes = "".b
        until @ended || !bytes.empty?
          complete = read(size)
          bytes = decode(complete)
        end
        raise EOFError if bytes.empty?

        @decoded += bytes.bytesize
        bytes
      end

      private

      # Appends a chunk, and returns how many bytes of the text are complete: 0 or a backslash may begin a mark.
      def read(size)
        @text << @io.readpartial(size)
        @text.match?(/[\\0]\z/n) ? @text.bytesize - 1 : @text.bytesize
      rescue EOFError
        @ended = true
        @text.bytesize
      end

      def decode(complete)
        digits = @text.byteslice(0, complete).gsub(@form.noise, "")
        whole = @ended ? digits.bytesize : digits.bytesize / @form.group * @form.group
        @text = digits.byteslice(whole..) << @text.byteslice(complete..)
        decoded(digits.byteslice(0, whole))
      end

      def decoded(digits)
        raise Fault.new(@decoded, "what follows this byte is no #{@name}") unless digits.match?(@form.digits)

        @form.decode.call(digits)
      end
    end
  end
end

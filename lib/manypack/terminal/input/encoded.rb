# frozen_string_literal: true

# Bytes that were written as hexadecimal digits or base64, read as the bytes that they stand for.
module Manypack
  module Terminal
    class Encoded
      include Pushback

      # How to decode text: noise to leave out, such as white space and the marks of a dump; the pattern of digits; how
      # many digits are decoded together; and the function that decodes them.
      Form = Struct.new(:noise, :digits, :group, :decode)

      FORMS = {
        "hex" => Form.new(/\\x|0x|[\s,:"']/in, /\A(?:\h\h)*/n, 2, ->(text) { [text].pack("H*") }),
        "base64" => Form.new(/\s/n, %r{\A(?:[\w+/-]{4}|[\w+/-]{2}==|[\w+/-]{3}=)*(?:[\w+/-]{2,3}=?\z)?}n, 4,
                             ->(text) { text.tr("-_", "+/").scan(/[^=]+=*/n).map { |part| part.unpack1("m") }.join })
      }.freeze

      # How a line of od, xxd or hexdump starts: an offset, and then digits. Digits alone seldom start with zero bytes.
      DUMP = /\A\s*(?:(?:0x)?\h{4,16}:[ \t]|(?:0x)?(?:0000\h{2,12}|0\h{6})[ \t]+\S)/n

      # This much of a line shows whether it starts with an offset.
      LINE_START = 24

      def initialize(io, name)
        @io = io
        @name = name
        @form = FORMS.fetch(name)
        @text = "".b
        @decoded = 0
        @fault = nil
      end

      # Raises Fault after all bytes that could be decoded; its offset is their number. After EOFError there may be
      # more, in a file that is followed.
      def next_bytes(size)
        @ended = false
        refuse_dump(size) unless @checked
        bytes = decode(complete)
        bytes = decode(read(size)) until @ended || @fault || !bytes.empty?
        raise @fault || EOFError if bytes.empty?

        bytes
      end

      private

      # Raises Refused.
      def refuse_dump(size)
        @checked = true
        return unless @name == "hex"

        read(size) until @ended || @text.bytesize >= LINE_START || @text.match?(/\S[ \t]*\r?\n/n)
        raise Refused, "it has offsets, as of od, xxd or hexdump; xxd -p writes digits alone" if @text.match?(DUMP)
      end

      # Appends a chunk, and returns how many bytes of the text are complete: 0 or a backslash may begin a mark.
      def read(size)
        @text << @io.readpartial(size)
        complete
      rescue EOFError
        @ended = true
        complete
      end

      def complete = @text.match?(/[\\0]\z/n) && !@ended ? @text.bytesize - 1 : @text.bytesize

      def decode(complete)
        digits = @text.byteslice(0, complete).gsub(@form.noise, "")
        whole = @ended ? digits.bytesize : digits.bytesize / @form.group * @form.group
        @text = digits.byteslice(whole..) << @text.byteslice(complete..)
        decoded(digits.byteslice(0, whole))
      end

      def decoded(digits)
        right = digits[@form.digits]
        bytes = @form.decode.call(right)
        @decoded += bytes.bytesize
        @fault = Fault.new(@decoded, "what follows this byte is no #{@name}") if right.bytesize < digits.bytesize
        bytes
      end
    end
  end
end

# frozen_string_literal: true

# Unpacker#each over a file, or over a String that is fed.

require "zlib"
require_relative "../operation"

class ReadStream < Operation
  # @param name [String]
  # @param source [Symbol] :file or :string
  def initialize(name, source)
    super(name)
    @source = source
  end

  def supported?(contender)
    contender.respond_to?(:unpacker)
  end

  def argument(contender, stream)
    @source == :file ? stream.file(contender) : stream.bytes(contender)
  end

  def units(stream)
    stream.count
  end

  def repeat(contender, argument, times)
    times.times { each(contender, argument) { |message| message } }
  end

  def check(contender, stream)
    few = stream.first(1_000)
    read = []
    each(contender, argument(contender, few)) { |message| read << message }
    bytes = few.bytes(contender)
    { bytes: bytes.bytesize.fdiv(few.count), same: Zlib.crc32(bytes) } if read.inspect == few.to_a.inspect
  end

  private

  def each(contender, argument, &block)
    if @source == :file
      File.open(argument, "rb") { |file| contender.unpacker(file).each(&block) }
    else
      contender.unpacker.feed(argument).each(&block)
    end
  end
end

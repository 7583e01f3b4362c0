# frozen_string_literal: true

# Packer#write to an IO, with a flush after every message or with one at the end.

require "stringio"
require "zlib"
require_relative "../operation"

class WriteStream < Operation
  # @param name [String]
  # @param flush [Symbol] :each or :end
  # @yieldreturn [IO] a new one
  def initialize(name, flush:, &open)
    super(name)
    @flush = flush
    @open = open
  end

  def supported?(contender)
    contender.respond_to?(:packer)
  end

  def argument(_contender, stream)
    stream
  end

  def units(stream)
    stream.count
  end

  def repeat(contender, stream, times)
    times.times do
      io = @open.call
      write(contender, stream, io)
      io.close
    end
  end

  def check(contender, stream)
    few = stream.first(1_000)
    io = StringIO.new(String.new)
    write(contender, few, io)
    { bytes: io.string.bytesize.fdiv(few.count), same: Zlib.crc32(io.string) } if io.string == few.bytes(contender)
  end

  private

  def write(contender, stream, io)
    packer = contender.packer(io)
    if @flush == :each
      stream.each { |message| packer.write(message).flush }
    else
      stream.each { |message| packer.write(message) }
      packer.flush
    end
  end
end

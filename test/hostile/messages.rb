# frozen_string_literal: true

# Messages to attack with, an honest one, and how much memory a process took: for tests and for the programs they run.
require "manypack"

module HostileMessages
  NAN = "\xCB\x7F\xF8\0\0\0\0\0\0".b.freeze

  # What the body of a recursive ext becomes.
  Wrapped = Struct.new(:content)

  module_function

  # An array of rows as services send them, of that many bytes or a little more.
  def honest(bytesize)
    row = { "id" => 70_000, "name" => "a name of some length", "tags" => %w[red green], "score" => 1.5, "ok" => true }
    Manypack.pack([row] * ((bytesize / Manypack.pack(row).bytesize) + 1))
  end

  # A map32 of those keys, packed already, each with nil.
  def map_of(keys)
    ["\xDF".b, [keys.size].pack("N"), *keys.flat_map { |key| [key, "\xC0".b] }].join
  end

  # An array32 of so many times the same bytes.
  def array_of(element, count)
    "\xDD".b + [count].pack("N") + (element.b * count)
  end

  # An ext of type 1 around the bytes, with the shortest head that does.
  def ext(body)
    "\xC9".b + [body.bytesize].pack("N") + "\x01".b + body
  end

  # A Factory whose ext type 1 is recursive: one object in each body.
  def recursive_factory
    Manypack::Factory.new.tap do |factory|
      factory.register_type(1, Wrapped, packer: ->(wrapped, packer) { packer.write(wrapped.content) },
                                        unpacker: ->(body) { Wrapped.new(body.read) }, recursive: true)
    end
  end

  # What the block returns, or the class of what it raises.
  def outcome
    yield
  rescue StandardError, SystemStackError => e
    e.class
  end
end

module PeakMemory
  module_function

  # How far the block takes the memory of this process above what it had, in bytes. What it returns counts.
  def peak_growth
    GC.start
    File.write("/proc/self/clear_refs", "5")
    before = kilobytes("VmRSS")
    kept = yield
    growth = kilobytes("VmHWM") - before
    kept.nil?
    [growth, 0].max * 1024
  end

  def kilobytes(name)
    File.read("/proc/self/status")[/^#{name}:\s+(\d+)/, 1].to_i
  end
end

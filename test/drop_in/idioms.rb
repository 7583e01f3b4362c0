# frozen_string_literal: true

# What programs do with the msgpack gem: its README, documentation and specs, Rails, Bootsnap, Fluentd and other users of
# it. Each idiom runs in a process with the msgpack gem and in one with the drop-in, both by
#   ruby -r LIBRARY idioms.rb
# which writes a Hash of outcomes by name: texts, in which what differs from run to run is left out.
require "stringio"
require "tmpdir"
require "set"
require "yaml"
require "bigdecimal"
require "date"

OUTCOMES = {}

# The text of a value, or the class of what the block raises.
def idiom(name)
  raise "#{name} is there twice" if OUTCOMES.key?(name)

  OUTCOMES[name] =
    begin
      yield.inspect.gsub(/0x\h+/, "0x").gsub(%r{(?:/[^\s/:>"]+)+:\d+}, "FILE")
    rescue Exception => e
      "raises #{e.class}"
    end
end

# The class of what a block raises, or what it returns.
def outcome
  yield
rescue Exception => e
  e.class
end

def reads(unpacker, count)
  Array.new(count) { outcome { unpacker.read } }
end

# --- objects that the idioms use ---

class Own
  attr_reader :a

  def initialize(a) = @a = a
  def to_msgpack(packer = nil) = packer ? packer.write_map_header(1).write("a").write(@a) : MessagePack.pack(self)
end

class Ext
  attr_reader :a

  def initialize(a) = @a = a
  def ==(other) = other.is_a?(Ext) && a == other.a
  def to_msgpack_ext = [@a].pack("N")
  def self.from_msgpack_ext(data) = new(data.unpack1("N"))
  def inspect = "#<Ext #{a}>"
end

class SubExt < Ext; end
class Text < String; end
class List < Array; end
class Table < Hash; end
Held = Struct.new(:value)
module Mixed; end

# An io with readpartial, whose pieces come one by one; then it raises.
class Pieces
  def initialize(*pieces, last: EOFError.new("gone")) = (@pieces, @last = pieces, last)
  def readpartial(_size, buffer = nil) = piece.then { |bytes| buffer ? buffer.replace(bytes) : bytes }
  def piece = @pieces.shift || raise(@last)
end

# An io with read alone.
class Reader < Pieces
  undef_method :readpartial

  def read(size, buffer = nil)
    bytes = @pieces.join.slice!(0, size)
    @pieces = [@pieces.join[bytes.size..]]
    bytes.empty? ? nil : (buffer || +"").replace(bytes)
  end
end

# Sinks.
class Appends
  attr_reader :bytes

  def initialize = @bytes = "".b
  def <<(bytes) = @bytes.concat(bytes) && self
end

class Writes < Appends
  undef_method :<<
  def write(bytes) = @bytes.concat(bytes) && bytes.bytesize
end

def ext_factory
  MessagePack::Factory.new.tap { |factory| factory.register_type(1, Ext) }
end

def recursive_factory
  MessagePack::Factory.new.tap do |factory|
    factory.register_type(2, Held, packer: ->(held, packer) { packer.write(held.value) }, unpacker: ->(unpacker) { Held.new(unpacker.read) },
                                   recursive: true)
  end
end

def big_factory
  require "msgpack/bigint"
  MessagePack::Factory.new.tap do |factory|
    factory.register_type(3, Integer, packer: MessagePack::Bigint.method(:to_msgpack_ext), unpacker: MessagePack::Bigint.method(:from_msgpack_ext),
                                      oversized_integer_extension: true)
  end
end

def time_factory
  MessagePack::Factory.new.tap do |factory|
    factory.register_type(-1, Time, packer: MessagePack::Time::Packer, unpacker: MessagePack::Time::Unpacker)
  end
end

def nested(levels) = levels.times.inject(nil) { |inner, _| [inner] }
def cycle = [].tap { |array| array << array }

SAMPLE = { "nil" => nil, "yes" => [true, false], "n" => [0, -1, 127, 128, -32, -33, 255, 256, 65_536, -2**31, 2**63, -2**63, 2**64 - 1],
           "f" => [1.5, -0.0, Float::INFINITY], "s" => ["", "é", "x" * 40, "\xFF".b], "sym" => :sym, 1 => { [1] => 2 } }.freeze

%w[packing unpacking packer unpacker factory pool buffer values more].each { |part| load(File.join(__dir__, "idioms", "#{part}.rb")) }
$stdout.binmode.write(Marshal.dump(OUTCOMES))

# frozen_string_literal: true

# What a program registers on DefaultFactory does not depend on the order in which its files are loaded: all that got no
# Codec know the types of the moment, whenever they were made; a Codec knows what it was given.
require "test_helper"
require "support/program"

class OrderOfFilesTest < Minitest::Test
  include ProgramHelper

  # What exists before the type is registered.
  BEFORE = <<~'RUBY'
    require "stringio"
    Point = Struct.new(:x)
    Held = Struct.new(:k)
    HELD = Manypack::Record.new(Held, k: Object)
    POINTS = Manypack::Record.new(Held, k: Point)
    Event = Manypack::Record.define(k: Point)
    ANY = Manypack::Type[Object]
    PATH = Manypack::Path.new("$.k")
    NEW = Manypack::Codec.new
    DEFAULT = Manypack::DefaultFactory.codec
    GIVEN = HELD.with(codec: NEW)
    LAZY = HELD.lazy
    STRICT = POINTS.with(untrusted: true)
    BYTES = "\x81\xA1k\xD4\x07\x05".b.freeze
    FILE = File.join(Dir.mktmpdir("order"), "k.msgpack")
    File.binwrite(FILE, BYTES)
  RUBY

  REGISTER = <<~'RUBY'
    Manypack::DefaultFactory.register_type(7, Point, packer: :pack_x, unpacker: :unpack_x)
  RUBY
  METHODS = <<~'RUBY'
    class Point
      def pack_x = x.chr
      def self.unpack_x(body) = new(body.ord)
    end
  RUBY

  # Each reads Point.new(5) from BYTES.
  READING = {
    "unpack" => 'Manypack.unpack(BYTES)["k"]', "unpack of an io" => 'Manypack.unpack(StringIO.new(BYTES))["k"]', "View" => 'Manypack::View.new(BYTES)["k"]',
    "dig" => 'Manypack.dig(BYTES, "k")', "Unpacker" => 'Manypack::Unpacker.new.feed(BYTES).read["k"]', "load_file" => 'Manypack.load_file(FILE)["k"]',
    "foreach" => 'Manypack.foreach(FILE).first["k"]', "split" => 'Manypack.split(BYTES, as: :view).first["k"]', "Parallel" => 'Manypack::Parallel.map(BYTES, ractors: 0) { |map| map["k"] }[0]',
    "processes" => 'Manypack::Parallel.map(BYTES, processes: 1) { |map| map["k"] }[0]', "DefaultFactory" => 'Manypack::DefaultFactory.load(BYTES)["k"]',
    "a Path made before" => "PATH.first(BYTES)", "a Type made before" => 'ANY.load(BYTES)["k"]', "a Record made before" => "HELD.load(BYTES).k",
    "a Record of the class, made before" => "POINTS.load(BYTES).k", "its options" => "STRICT.load(BYTES).k", "a class made before" => "Event.load(BYTES).k",
    "a lazy Record made before" => "LAZY.load(BYTES).k", "View#as" => "Manypack::View.new(BYTES).as(HELD).k", "unpack as" => "Manypack.unpack(BYTES, as: POINTS).k",
    "split as" => "Manypack.split(BYTES, as: HELD).first.k", "Parallel as" => "Manypack::Parallel.map(BYTES, as: HELD, ractors: 0, &:k)[0]",
    "a Type around it" => "Manypack::Type[[HELD]].load([0x91].pack('C') + BYTES)[0].k", "valid?" => "STRICT.valid?(BYTES) && Point.new(5)",
    "in a Ractor" => "value(Ractor.new { POINTS.load(BYTES).k })"
  }.freeze

  # Each packs Held.new(Point.new(5)) or the Hash, to BYTES.
  WRITING = {
    "pack" => 'Manypack.pack({ "k" => Point.new(5) })', "Packer" => 'Manypack::Packer.new.write({ "k" => Point.new(5) }).to_s',
    "canonical" => 'Manypack.pack({ "k" => Point.new(5) }, canonical: true)', "dump_file" => 'Manypack.dump_file({ "k" => Point.new(5) }, FILE) || File.binread(FILE)',
    "a Type made before" => 'ANY.dump({ "k" => Point.new(5) })', "a Record made before" => "HELD.dump(Held.new(Point.new(5)))",
    "a Record of the class, made before" => "POINTS.dump(Held.new(Point.new(5)))", "a class made before" => "Event.new(k: Point.new(5)).dump",
    "an attached class" => "Manypack.pack(Event.new(k: Point.new(5)))"
  }.freeze

  # Each was given its types before.
  OWN = { "a Codec" => "NEW.unpack(BYTES)", "the codec of DefaultFactory" => "DEFAULT.unpack(BYTES)", "a Record with a Codec" => "GIVEN.load(BYTES).k" }.freeze

  def test_the_order_of_making_and_registering_does_not_matter
    checks = READING.map { |name, code| check(name, code, "Point.new(5)") } + WRITING.map { |name, code| check(name, code, "BYTES") }
    own = OWN.map { |name, code| check(name, "begin; #{code}; rescue Manypack::UnknownExtTypeError => e; e.class; end", "Manypack::UnknownExtTypeError") }
    start = "require 'tmpdir'\nWarning[:experimental] = false\n"
    assert_equal "", run_program("#{start}#{BEFORE}#{METHODS}HASH = POINTS.hash\n#{REGISTER}#{checks.join}#{own.join}#{check("hash", "POINTS.hash", "HASH")}#{check("==", "POINTS", "Manypack::Record.new(Held, k: Point)")}")
    assert_equal "", run_program("#{start}#{BEFORE.sub("HELD =", "#{METHODS}#{REGISTER}HELD =")}#{checks.join}")
  end

  # Types that are registered one after the other are all known, and another Ractor knows them, too.
  def test_several_registrations
    assert_equal "[:a, 5]", run_program(<<~'RUBY')
      A = Struct.new(:a)
      LIST = Manypack::Type[[Object]]
      LIST.load("\x90")
      Manypack::DefaultFactory.register_type(1, A, packer: ->(_) { "" }, unpacker: ->(_) { :a })
      LIST.load("\x91\xC7\x00\x01".b)
      Manypack::DefaultFactory.register_type(2, Range, packer: ->(_) { "" }, unpacker: ->(body) { body.ord })
      GC.start
      print LIST.load("\x92\xC7\x00\x01\xD4\x02\x05".b)
    RUBY
  end

  private

  def check(name, code, expected)
    "found = begin; #{code}; rescue StandardError, ScriptError => e; e; end\nputs '#{name}: ' + found.inspect unless found == #{expected}\n"
  end
end

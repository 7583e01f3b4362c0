# frozen_string_literal: true

# What is no io is refused where it is given, by every method and in every Ractor; a String most of all, which answers <<.
# With the drop-in loaded it is what the msgpack gem makes of it.
require "test_helper"
require "stringio"
require "support/program"
require "support/signatures"

class WrongIoTest < Minitest::Test
  include ProgramHelper

  WRITING = {
    "Manypack.pack" => ["Manypack.pack(1, GIVEN)", "Manypack.pack(1, GIVEN, {})", "Manypack.pack(1, GIVEN, max_depth: 5)"],
    "Manypack.dump" => ["Manypack.dump(1, GIVEN)"],
    "Manypack::Packer#initialize" => ["Manypack::Packer.new(GIVEN)", "Manypack::Packer.new(GIVEN, {})", "Class.new(Manypack::Packer).new(GIVEN)"],
    "Manypack::Packer#write_to" => ["Manypack::Packer.new.write_to(GIVEN)", "Manypack::Packer.new.write(1).write_to(GIVEN)"],
    "Manypack::Buffer#write_to" => ["Manypack::Buffer.new.write_to(GIVEN)", '(Manypack::Buffer.new << "a").write_to(GIVEN)'],
    "Manypack::Codec#pack" => ["Manypack::Codec.new.pack(1, GIVEN)"],
    "Manypack::Codec#dump" => ["Manypack::Codec.new.dump(1, GIVEN)"],
    "Manypack::Codec#packer" => ["Manypack::Codec.new.packer(GIVEN)"],
    "Manypack::Factory#pack" => ["Manypack::Factory.new.pack(1, GIVEN)", "Manypack::DefaultFactory.pack(1, GIVEN, {})"],
    "Manypack::Factory#dump" => ["Manypack::Factory.new.dump(1, GIVEN)"],
    "Manypack::Factory#packer" => ["Manypack::Factory.new.packer(GIVEN)"],
    "Manypack::View#to_msgpack" => ['Manypack::View.new("\x90").to_msgpack(GIVEN)'],
    "Manypack::LazyRecord#to_msgpack" => ['Manypack::Record.define(id: Integer).record.lazy.load("\x81\xA2id\x01").to_msgpack(GIVEN)'],
    "Manypack.to_json" => ['Manypack.to_json("\x01", GIVEN)'],
    "Manypack.from_json" => ['Manypack.from_json("1", GIVEN)', 'Manypack.from_json(StringIO.new("1"), GIVEN)'],
    "Manypack::Codec#to_json" => ['Manypack::Codec.new.to_json("\x01", GIVEN)'],
    "Manypack::Codec#from_json" => ['Manypack::Codec.new.from_json("1", GIVEN)'],
    "Manypack::Factory#to_json" => ['Manypack::Factory.new.to_json("\x01", GIVEN)'],
    "Manypack::Factory#from_json" => ['Manypack::Factory.new.from_json("1", GIVEN)'],
    "Manypack::Parallel.filter" => ['Manypack::Parallel.filter("\x01", GIVEN, ractors: 0) { |n| n }']
  }.freeze

  READING = {
    "Manypack::Unpacker#initialize" => ["Manypack::Unpacker.new(GIVEN)", "Manypack::Unpacker.new(GIVEN, {})", "Class.new(Manypack::Unpacker).new(GIVEN)"],
    "Manypack::Codec#unpacker" => ["Manypack::Codec.new.unpacker(GIVEN)"],
    "Manypack::Factory#unpacker" => ["Manypack::Factory.new.unpacker(GIVEN)"]
  }.freeze

  EITHER = { "Manypack::Buffer#initialize" => ["Manypack::Buffer.new(GIVEN)", "Manypack::Buffer.new(GIVEN, {})"] }.freeze

  # Of a class of its own each, which can do one thing.
  module Ios
    Nothing = Class.new
    Reader = Class.new { def read(*) = nil }
    PartialReader = Class.new { def readpartial(*) = raise(EOFError) }
    Writer = Class.new { def write(bytes) = bytes.bytesize }

    # As a Pathname, whose read and write open the file anew each time.
    Path = Class.new do
      def to_path = "file.msgpack"
      def read(*) = "\x01"
      def write(bytes) = bytes.bytesize
    end
    Appender = Class.new { def <<(bytes) = self }
    WritingString = Class.new(String) { def write(bytes) = bytes.bytesize }
  end

  STRINGS = ['"file.msgpack"', '""', '"x".b', 'Class.new(String).new("x")'].freeze
  NOTHING = ["WrongIoTest::Ios::Nothing.new", "WrongIoTest::Ios::Path.new", ":path", "5.5", "Object"].freeze
  READERS = ["WrongIoTest::Ios::Reader.new", "WrongIoTest::Ios::PartialReader.new"].freeze
  WRITERS = ["WrongIoTest::Ios::Writer.new", "WrongIoTest::Ios::Appender.new", '[].dup', 'WrongIoTest::Ios::WritingString.new("x")'].freeze
  BOTH = ['StringIO.new("".b)', "$stdin", "Manypack::Buffer.new", "nil"].freeze

  # For each piece of code the message of its TypeError.
  module Outcomes
    def self.of(codes)
      codes.map do |code|
        eval(code)
        "nothing raised"
      rescue TypeError => e
        e.message
      end
    end
  end

  def test_every_method_that_takes_an_io_is_here
    here = WRITING.keys + READING.keys + EITHER.keys
    assert_empty methods_that_take_an_io - here
    assert_empty here - methods_that_take_an_io
  end

  def test_a_string_is_no_io
    assert_outcomes codes(WRITING, STRINGS), /\Aexpected an IO, got a String: pass File.open\(path, "wb"\) or a StringIO\z/
    assert_outcomes codes(READING, STRINGS), /\Aexpected an IO, got a String: unpack bytes by Unpacker.new.feed\(bytes\), or pass File.open/
    assert_outcomes codes(EITHER, STRINGS), /\Aexpected an IO, got a String: append bytes by Buffer.new << bytes, or pass File.open/
  end

  def test_what_cannot_do_it_is_no_io
    assert_outcomes codes(WRITING, NOTHING + READERS), /\Aexpected an IO that responds to write or <<, got \S+\z/
    assert_outcomes codes(READING, NOTHING + WRITERS.first(3)), /\Aexpected an IO that responds to readpartial or read, got \S+\z/
    assert_outcomes codes(EITHER, NOTHING), /\Aexpected an IO that responds to readpartial, read, write or <<, got \S+\z/
  end

  # It would be read from its start for ever. The msgpack gem refuses it, too, where it reads.
  def test_a_pathname_is_no_source_under_either_name
    path = "require 'pathname'; path = Pathname.new('Gemfile')"
    [["", "Manypack"], ["require 'manypack/drop_in'", "MessagePack"]].each do |load, name|
      assert_program <<~RUBY, "TypeError TypeError TypeError"
        #{load}
        #{path}
        works = [-> { #{name}.unpack(path) }, -> { #{name}::Unpacker.new(path) }, -> { Manypack::Parallel.map(path) { |object| object } }]
        print works.map { |work| work.call && "nothing" rescue $!.class }.join(" ")
      RUBY
    end
  end

  def test_what_can_do_it_is_an_io
    optional, needed = codes(WRITING, WRITERS + BOTH - ["$stdin"]).partition { |code| !code.match?(/(?:write_to|filter).*nil/) }
    assert_outcomes optional, /\Anothing raised\z/
    assert_outcomes needed, /\Aexpected an IO that responds to write or <<, got NilClass\z/
    assert_outcomes codes(READING, READERS + BOTH), /\Anothing raised\z/
    assert_outcomes codes(EITHER, READERS + WRITERS + BOTH), /\Anothing raised\z/
  end

  def test_it_is_the_same_in_another_ractor
    here = codes(WRITING, STRINGS + NOTHING + WRITERS) + codes(READING, STRINGS + NOTHING + READERS) + codes(EITHER, STRINGS + WRITERS)
    assert_equal Outcomes.of(here), in_ractor(here) { |given| Outcomes.of(given) }
  end

  def test_nothing_is_written_or_called_before_it_is_refused
    called = false
    opaque = Object.new
    opaque.define_singleton_method(:to_msgpack) { |packer| (called = true) && packer.write(1) }
    path = +"file.msgpack"
    assert_raises(TypeError) { Manypack.pack(opaque, path) }
    refute called
    assert_equal "file.msgpack", path
    packer = Manypack::Packer.new.write(1)
    assert_raises(TypeError) { packer.write_to(path) }
    assert_equal "\x01", packer.to_s
  end

  def test_to_msgpack_of_core_classes_refuses_them_too
    assert_program 'require "manypack/core_ext"; 1.to_msgpack("x") rescue puts $!.message', 'expected an IO, got a String: pass File.open(path, "wb") or a StringIO'
  end

  # What the msgpack gem makes of it; each is asked in a process of its own.
  AS_THE_GEM_DOES = [
    'MessagePack.pack(1, (s = "a".b)).inspect + s', 'MessagePack.dump([1], (s = "a".b), {}).inspect + s', '1.to_msgpack(s = "a".b).inspect + s',
    'MessagePack::Packer.new(s = "a".b).write(1).flush; s', 'MessagePack::Factory.new.dump(1, (s = "a".b)).inspect + s',
    'MessagePack::Factory.new.packer(s = "a".b).write(1).flush; s', 'MessagePack::Buffer.new("a").size', 'MessagePack::Unpacker.new("a").feed("\x01").read',
    'MessagePack::Unpacker.new("a").read', "MessagePack::Unpacker.new(Object.new).read", 'MessagePack::Unpacker.new(Object.new).feed("\x01").read',
    "MessagePack::Packer.new(Object.new).write(1).size", "MessagePack::Packer.new(Object.new).write(1).flush", "MessagePack.pack(1, Object.new)",
    "MessagePack::Factory.new.unpacker(:path).read", "MessagePack.load(nil)", "MessagePack.unpack(nil)"
  ].freeze

  def test_with_the_drop_in_it_is_as_the_msgpack_gem_does
    tell = "puts(#{AS_THE_GEM_DOES.inspect}.map { |code| eval(code).inspect rescue ($!.is_a?(EOFError) ? EOFError : $!.class).name })"
    theirs = output_of({ "RUBYOPT" => nil, "RUBYLIB" => nil }, RbConfig.ruby, "-I", $LOAD_PATH.grep(/msgpack-1/).join(":"), "-r", "msgpack", stdin_data: tell).chomp
    assert_equal AS_THE_GEM_DOES.size, theirs.lines.size
    assert_equal theirs, run_program("require 'manypack/drop_in'; #{tell}")
    assert_equal theirs, run_program("require 'manypack/drop_in'; value(Ractor.new { #{tell} })")
  end

  def test_what_is_manypacks_own_refuses_them_beside_the_drop_in
    own = ['Manypack.pack(1, "x")', 'Manypack::Packer.new.write_to("x")', 'Manypack::Buffer.new.write_to("x")', 'Manypack::Codec.new.pack(1, "x")', 'Manypack::Codec.new.unpacker("x")', 'Manypack::Parallel.filter("", "x") {}']
    refused = run_program("require 'manypack/drop_in'; puts(#{own.inspect}.map { |code| eval(code) rescue $!.class })")
    assert_equal ["TypeError"] * own.size, refused.lines(chomp: true)
  end

  private

  def codes(ways, given)
    ways.values.flatten.flat_map { |way| given.map { |object| way.gsub("GIVEN", object) } }
  end

  def assert_outcomes(codes, expected)
    Outcomes.of(codes).zip(codes) { |message, code| assert_match expected, message, code }
  end

  # By the signatures: those with what is written to, or read from by more than one call. foreach_json takes a path, too.
  def methods_that_take_an_io
    found = Signatures.methods { |type| type.match?(/\bsink\b|_PartialReader/) } - ["Manypack::CoreExt#to_msgpack"]
    found.grep_v(/\bforeach_json\z/)
  end
end

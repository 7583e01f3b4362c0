# frozen_string_literal: true

# What takes a String of packed bytes takes an io, too, or says what to do with one.
require "test_helper"
require "stringio"
require "support/signatures"
require "tmpdir"

class IoForBytesTest < Minitest::Test
  User = Manypack::Record.define(id: Integer)
  BYTES = Manypack.pack({ "id" => 1 })

  # Every public method that takes packed bytes.
  DOORS = {
    "Manypack.canonical?" => ->(given) { Manypack.canonical?(given) }, "Manypack.canonicalize" => ->(given) { Manypack.canonicalize(given) },
    "Manypack.dig" => ->(given) { Manypack.dig(given, "id", max_depth: 5) },
    "Manypack::Unpacker#<<" => ->(given) { Manypack::Unpacker.new << given }, "Manypack::Unpacker#feed" => ->(given) { Manypack::Unpacker.new.feed(given) },
    "Manypack::Unpacker#feed_reference" => ->(given) { Manypack::Unpacker.new.feed_reference(given) },
    "Manypack::Unpacker#feed_each" => ->(given) { Manypack::Unpacker.new.feed_each(given) { nil } },
    "Manypack::Buffer#<<" => ->(given) { Manypack::Buffer.new << given }, "Manypack::Buffer#write" => ->(given) { Manypack::Buffer.new.write(given) },
    "Manypack::View.new" => ->(given) { Manypack::View.new(given, check: true) }, "Manypack::Codec#view" => ->(given) { Manypack::Codec.new.view(given) },
    "Manypack::Path::All#read" => ->(given) { Manypack::Path.all(id: "$.id").read(given) },
    "Manypack::Type#load" => ->(given) { User.record.load(given) }, "Manypack::Type#valid?" => ->(given) { Manypack::Type[Object].valid?(given, max_depth: 5) },
    "Manypack::_RecordClass#load" => ->(given) { User.load(given) }, "Manypack::_RecordClass#valid?" => ->(given) { User.valid?(given) }
  }.freeze

  # Every method that reads an io itself, which the TypeError of the others names.
  READERS = [->(io) { Manypack.unpack(io) }, ->(io) { Manypack.unpack(io, as: User) }, ->(io) { Manypack.unpack(io, as: :view) }, ->(io) { Manypack::Unpacker.new(io).read },
             ->(io) { Manypack::Factory.new.load(io) }, ->(io) { Manypack::Codec.new.load(io) }, ->(io) { Manypack::Factory.new.pool(1).load(io) },
             ->(io) { Manypack.split(io).first }, ->(io) { Manypack::Path.new("$").first(io) }, ->(io) { Manypack::Parallel.map(io, ractors: 0) { 1 } }].freeze

  def test_every_method_that_takes_bytes_is_here
    expected = Signatures.methods { |type| type.match?(/\A\((?:string bytes|\(?string \| View\)? source)/) }
    assert_equal expected.sort, DOORS.keys.sort
  end

  def test_an_io_is_refused_with_what_reads_it
    ios.each do |io|
      DOORS.each do |name, call|
        error = assert_raises(TypeError, name) { call.call(io) }
        assert_equal "expected a String of packed bytes, got #{io.class}: pass io.read, or use Manypack.unpack(io), as: :view or a Record, or " \
                     "Manypack::Unpacker.new(io)", error.message, name
      end
    end
    DOORS.to_a.product([{ "id" => 1 }, [1]]) do |(name, call), object|
      error = assert_raises(TypeError, name) { call.call(object) }
      assert_equal "expected a String of packed bytes, got #{object.class}: Manypack.pack makes one of it", error.message, name
    end
    [Manypack.method(:unpack), Manypack::Codec.new.method(:load), Manypack::Factory.new.method(:load)].each do |unpack|
      assert_equal "expected a String or an IO, got Array: Manypack.pack makes a String of it", assert_raises(TypeError) { unpack.call([1]) }.message
    end
    assert_match(/\Ano implicit conversion of Integer into String/, assert_raises(TypeError) { Manypack::View.new(1) }.message)
    assert_equal [1, 1], [Manypack.dig(Class.new { def to_str = BYTES }.new, "id"), User.load(Class.new { def to_str = BYTES }.new).id]
  end

  def test_what_reads_it
    ios.each { |io| READERS.each { |read| assert read.call(io.tap(&:rewind)) } }
  end

  # What has a place for options says what to do with an io there.
  def test_a_record_writes_to_no_io
    user = User.new(id: 1)
    [-> { User.record.dump(user, StringIO.new) }, -> { User.record.load(BYTES, StringIO.new) }, -> { User.load(BYTES, StringIO.new) }, -> { Manypack::Type[Object].valid?(BYTES, StringIO.new) }].each do |call|
      assert_equal "expected options, got StringIO; io.write(record.dump(object)) writes to an io, and Manypack.unpack(io, as: record) reads from one",
                   assert_raises(TypeError, &call).message
    end
  end

  # to_msgpack takes what Manypack.pack takes after the object.
  def test_to_msgpack_takes_a_packer_an_io_and_options
    lazy = User.record.lazy.load(BYTES)
    [Manypack::View.new(BYTES), User.new(id: 1), lazy].each do |object|
      assert_equal [BYTES, BYTES, BYTES], [object.to_msgpack, object.to_msgpack(canonical: true), object.to_msgpack(Manypack::Packer.new).to_s], object.class
      assert_nil object.to_msgpack(io = StringIO.new("".b))
      assert_equal BYTES, io.string
      assert_raises(ArgumentError) { object.to_msgpack(cannonical: true) }
    end
    unsorted = Manypack::View.new("\x82\xA1b\x01\xA1a\x02")
    assert_equal Manypack.canonicalize(unsorted.bytes), unsorted.to_msgpack(canonical: true)
  end

  def teardown
    @files&.each(&:close)
    @folders&.each { |folder| FileUtils.rm_r(folder) }
  end

  private

  def ios
    File.binwrite(path = "#{Dir.mktmpdir.tap { |folder| (@folders ||= []) << folder }}/message.msgpack", BYTES)
    @files = [*@files, File.open(path, "rb")]
    [StringIO.new(BYTES), @files.last]
  end
end

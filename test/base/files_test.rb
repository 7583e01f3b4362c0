# frozen_string_literal: true

# Streams of messages, sliced, and in files: read in constant memory, repaired after a crash, compressed.
require "test_helper"
require "stringio"
require "tmpdir"
require "zlib"
require "support/program"

class FilesTest < Minitest::Test
  include ProgramHelper

  OBJECTS = [{ "id" => 1 }, [2, "two"], nil, "l" * 70_000, 2**40, "end"].freeze
  MESSAGES = OBJECTS.map { |object| Manypack.pack(object) }.freeze
  STREAM = MESSAGES.join.freeze
  NAMES = %w[log.msgpack log.msgpack.gz].freeze

  # An object with a path, as Pathname is.
  Named = Struct.new(:to_path)

  def setup
    @dir = Dir.mktmpdir
  end

  def teardown
    FileUtils.remove_entry(@dir)
  end

  def test_split_yields_the_bytes_of_each_message
    exact = Struct.new(:io) { def read(size) = io.read(size) }
    [STREAM, STREAM.dup, Struct.new(:to_str).new(STREAM), StringIO.new(STREAM), exact.new(StringIO.new(STREAM)), File.open(write("log", STREAM), "rb")].each do |source|
      messages = []
      assert_nil(Manypack.split(source) { |bytes| messages << bytes })
      assert_equal MESSAGES, messages
      assert(messages.all? { |bytes| bytes.frozen? && bytes.encoding == Encoding::BINARY })
    end
    assert_equal MESSAGES, Manypack.split(STREAM).to_a
    assert_equal [], Manypack.split("").to_a
  end

  def test_split_builds_nothing
    factory = Manypack::Factory.new
    assert_equal ["\xD4\x63a".b, "\xA1\xFF".b], Manypack.split("\xD4\x63a\xA1\xFF".b).to_a
    assert_equal OBJECTS, Manypack.split(STREAM, as: :view).map(&:value)
    assert_equal [1], Manypack.split(STREAM, as: :view, symbolize_keys: true).first(1).map { |view| view[:id] }
    assert_equal OBJECTS, Manypack.split(STREAM, as: factory).to_a
  end

  Point = Struct.new(:x)

  def test_the_types_of_a_codec
    factory = Manypack::Factory.new
    factory.register_type(7, Point, packer: ->(point) { point.x.chr }, unpacker: ->(body) { Point.new(body.ord) })
    codec = factory.codec(symbolize_keys: true)
    path = File.join(@dir, "points")
    Manypack::Packer.open(path, codec: codec) { |packer| packer.write({ "at" => Point.new(1) }) }
    assert_equal({ at: Point.new(1) }, Manypack.load_file(path, codec: codec))
    assert_equal({ "at" => Point.new(1) }, Manypack.load_file(path, codec: codec, symbolize_keys: false))
    assert_equal [{ at: Point.new(1) }], Manypack.foreach(path, codec: codec).to_a
    assert_equal [Point.new(1)], Manypack.split(File.binread(path), codec: codec, as: :view).map { |view| view[:at] }
  end

  def test_an_enumerator_has_the_types_that_are_registered_when_it_runs
    program = <<~'RUBY'
      Point = Struct.new(:x)
      later = [Manypack.foreach(ENV["LOG"]), Manypack.split("\xD4\x07\x01".b, as: :view).lazy.map(&:value)]
      Manypack::DefaultFactory.register_type(7, Point, packer: ->(point) { point.x.chr }, unpacker: ->(body) { Point.new(body.ord) })
      p later.map(&:to_a)
    RUBY
    assert_program program, "[[#<struct Point x=1>], [#<struct Point x=1>]]", "LOG" => write("log", "\xD4\x07\x01".b)
  end

  def test_a_codec_is_one
    path = write("log", "\x01")
    [5, Manypack::Factory.new].each do |codec|
      assert_raises(::TypeError) { Manypack.load_file(path, codec: codec) }
      assert_raises(::TypeError) { Manypack.foreach(path, codec: codec).to_a }
      assert_raises(::TypeError) { Manypack.split("\x01", codec: codec).to_a }
      assert_raises(::TypeError) { Manypack::Packer.open(path, codec: codec) { nil } }
    end
    assert_equal "\x01", File.binread(path)
  end

  def test_split_and_foreach_raise_where_a_stream_is_cut
    (0...MESSAGES.last.bytesize).each do |cut|
      bytes = MESSAGES.first(3).join + MESSAGES.last.byteslice(0, cut)
      fronts(bytes).each do |name, front|
        seen = []
        error = truncated { front.call { |object| seen << object } }
        assert_equal 3, seen.size, name
        assert_equal [*(MESSAGES.first(3).join.bytesize unless cut.zero?)], [*error&.start], name
      end
    end
  end

  def test_other_errors_have_offsets_in_the_stream
    fronts(MESSAGES.first(2).join + "\x91\xC1".b).each do |name, front|
      assert_equal MESSAGES.first(2).join.bytesize + 1, assert_raises(Manypack::MalformedFormatError, name) { front.call { nil } }.offset
    end
    error = assert_raises(Manypack::LimitError) { Manypack.split(STREAM, max_bytes: 1_000).to_a }
    assert_equal :max_bytes, error.limit
    [nil, 5, Named.new("x")].each { |source| assert_raises(::TypeError) { Manypack.split(source) { nil } } }
  end

  def test_a_file_of_one_object
    object = { "port" => 80, "list" => [1] * 5_000 }
    [write("one", Manypack.pack(object)), write("one.gz", Zlib.gzip(Manypack.pack(object)))].each do |path|
      assert_equal object, Manypack.load_file(path)
      assert_equal 80, Manypack.load_file(Named.new(path), symbolize_keys: true)[:port]
      assert_raises(Manypack::LimitError) { Manypack.load_file(path, max_array_size: 100) }
    end
    assert_equal 0, truncated { Manypack.load_file(write("cut", "\x92\x01")) }.start
    assert_equal 0, truncated { Manypack.load_file(write("empty", "")) }.start
    assert_raises(Manypack::MalformedFormatError) { Manypack.load_file(write("two", "\x01\x02")) }
    assert_raises(Errno::ENOENT) { Manypack.load_file(path("none")) }
  end

  # However much is read at once.
  def test_a_file_of_one_object_has_nothing_after_it
    [1, 32_767, 32_768, 32_769, 65_536, 98_304, 131_072].each do |size|
      object = size < 6 ? 1 : "x" * (size - 5)
      one = size < 6 ? "\x01".b : "\xDB".b + [size - 5].pack("N") + object
      { "msgpack" => :itself, "gz" => Zlib.method(:gzip) }.each do |extension, form|
        form = form.to_proc
        assert_equal object, Manypack.load_file(write("one.#{extension}", form.call(one)))
        ["\x01", "\xC1", "\x92\x01", "x" * 40_000].each do |rest|
          [form.call(one + rest.b), form.call(one) + form.call(rest.b)].each do |bytes|
            error = assert_raises(Manypack::MalformedFormatError, size.to_s) { Manypack.load_file(write("two.#{extension}", bytes)) }
            assert_equal size, error.offset
          end
        end
      end
    end
    assert_equal 1, Manypack.load_file(write("empty_member.gz", Zlib.gzip("\x01") + Zlib.gzip("")))
    assert_raises(Zlib::Error) { Manypack.load_file(write("cut.gz", Zlib.gzip("\x01")[0...-4])) }
  end

  def test_a_file_of_many
    NAMES.each do |name|
      open_packer(name) { |packer| OBJECTS.each { |object| packer.write(object) } }
      assert_equal OBJECTS, Manypack.foreach(path(name)).to_a
      assert_equal 1, Manypack.foreach(Named.new(path(name)), symbolize_keys: true).first[:id]
      assert_equal OBJECTS.first(2), Manypack.foreach(path(name)).lazy.first(2)
      assert_equal OBJECTS, Manypack.foreach(path(name), as: :view).map(&:value)
      assert_nil(Manypack.foreach(path(name)) { nil })
      assert_nil(Manypack.foreach(path(name)) { break })
    end
    assert_equal [], Manypack.foreach(write("empty", "")).to_a
    assert_equal [], Manypack.foreach(write("empty.gz", "")).to_a
  end

  def test_files_are_closed_at_once
    NAMES.each do |name|
      assert_equal 7, open_packer(name) { |packer| packer.write("x") && 7 }
      Manypack.foreach(path(name)) { break }
      Manypack.load_file(path(name))
      assert_raises(IOError) { Manypack.foreach(path(name)) { raise IOError } }
      assert_raises(IOError) { open_packer(name) { raise IOError } }
    end
    open = ObjectSpace.each_object(File).reject(&:closed?).map(&:path)
    assert_empty open.grep(/\A#{@dir}/)
  end

  def test_what_was_written_before_an_error_is_there
    NAMES.each do |name|
      assert_raises(ZeroDivisionError) { open_packer(name) { |packer| packer.write([1]).write([2]).write([1 / 0]) } }
      assert_equal [[1], [2]], Manypack.foreach(path(name)).to_a
    end
  end

  def test_flush_reaches_other_processes
    open_packer("log") do |packer|
      packer.write([1]).flush
      assert_equal [[1]], Manypack.foreach(path("log")).to_a
    end
  end

  def test_append_goes_on_after_the_last_object
    NAMES.each do |name|
      3.times { |i| open_packer(name, append: true) { |packer| packer.write([i]) } }
      assert_equal [[0], [1], [2]], Manypack.foreach(path(name)).to_a
      open_packer(name) { |packer| packer.write(["new"]) }
      assert_equal [["new"]], Manypack.foreach(path(name)).to_a
    end
  end

  def test_append_after_a_crash_at_every_byte
    (0..MESSAGES.last.bytesize).each do |cut|
      whole = MESSAGES.first(2).join
      log = write("log", whole + MESSAGES.last.byteslice(0, cut))
      if cut.between?(1, MESSAGES.last.bytesize - 1)
        error = truncated { open_packer("log", append: true) { flunk } }
        assert_equal whole.bytesize, error.start
        assert_equal whole.bytesize + cut, File.size(log)
        File.truncate(log, error.start)
      end
      open_packer("log", append: true) { |packer| packer.write("after") }
      assert_equal [*OBJECTS.first(2), *("end" if cut == MESSAGES.last.bytesize), "after"], Manypack.foreach(log).to_a
    end
  end

  def test_append_refuses_what_is_no_stream_and_takes_what_is_deep
    write("other", "\x91\xC1".b)
    assert_raises(Manypack::MalformedFormatError) { open_packer("other", append: true) { flunk } }
    write("deep", "#{"\x91" * 400}\x01".b)
    open_packer("deep", append: true) { |packer| packer.write(2) }
    assert_equal "\x01\x02", File.binread(path("deep"))[-2..]
  end

  def test_a_mode_that_contradicts_append_leaves_the_file_alone
    log = write("log", STREAM)
    [["wb", true], ["w", true], ["ab", false], ["a", false]].each do |mode, append|
      error = assert_raises(ArgumentError) { Manypack::Packer.open(log, mode, append: append) { flunk } }
      assert_equal "the mode #{mode.inspect} contradicts append: #{append}: give one of them", error.message
      assert_equal STREAM, File.binread(log)
    end
    [["ab", true], ["a", true], ["ab", nil], [nil, true]].each { |mode, append| Manypack::Packer.open(log, mode, append: append) { |packer| packer << 1 } }
    assert_equal STREAM + ("\x01" * 4), File.binread(log)
    [["wb", false], ["w", false], ["wb", nil], [nil, false], [nil, nil]].each { |mode, append| Manypack::Packer.open(log, mode, append: append) { |packer| packer << 1 } }
    assert_equal "\x01", File.binread(log)
  end

  def test_an_invalid_option_leaves_the_file_alone
    log = write("log", STREAM)
    [{ max_depth: -1 }, { canonical: true }, { max_dept: 5 }, { io_buffer_size: 5 }].each do |options|
      assert_raises(ArgumentError, RangeError) { open_packer("log", **options) { flunk } }
    end
    assert_raises(ArgumentError) { Manypack::Packer.open(log) }
    assert_equal STREAM, File.binread(log)
    open_packer("log", timestamp: true) { |packer| packer.write(Time.at(5)) }
    assert_equal Time.at(5), Manypack.load_file(log, timestamp: true)
  end

  # What is wrong with the file, and no error that the block raises about other bytes.
  def test_an_error_of_a_file_names_the_file
    user = Manypack::Record.define(id: Integer)
    cut, bad, two = write("cut.msgpack", "\x01\x92\x01"), write("bad.msgpack", "\xC1"), write("two.msgpack", "\x01\x02")
    {
      -> { Manypack.foreach(cut) { nil } } => [Manypack::TruncatedError, "#{cut}: unexpected end of input, at byte 3"],
      -> { Manypack.foreach(cut).to_a } => [Manypack::TruncatedError, "#{cut}: unexpected end of input, at byte 3"],
      -> { Manypack.foreach(cut, as: :view).to_a } => [Manypack::TruncatedError, "#{cut}: unexpected end of input, at byte 3"],
      -> { Manypack::Unpacker.open(cut) { |unpacker| 2.times { unpacker.read } } } => [Manypack::TruncatedError, "#{cut}: unexpected end of input, at byte 3"],
      -> { Manypack::Unpacker.open(cut) { |unpacker| unpacker.each { nil } } } => [Manypack::TruncatedError, "#{cut}: unexpected end of input, at byte 3"],
      -> { open_packer("cut.msgpack", append: true) { nil } } => [Manypack::TruncatedError, "#{cut}: unexpected end of input, at byte 3; File.truncate(path, error.start) repairs the file"],
      -> { Manypack.load_file(bad) } => [Manypack::MalformedFormatError, "#{bad}: 0xc1 is not a MessagePack head byte, at byte 0"],
      -> { Manypack.load_file(two, as: :view) } => [Manypack::MalformedFormatError, /\A#{two}: 1 extra bytes/],
      -> { Manypack.load_file(cut, max_array_size: 1).class } => [Manypack::MalformedFormatError, /\A#{cut}: 2 extra/],
      -> { Manypack.foreach(cut, max_array_size: 1) { nil } } => [Manypack::LimitError, /\A#{cut}: max_array_size is 1/],
      -> { Manypack.foreach(two, as: user).to_a } => [Manypack::RecordError, /\A#{two}: expected .*, got Integer 1, at \$, byte 0/],
      -> { Manypack.load_file(write("empty.msgpack", "")) } => [Manypack::TruncatedError, "#{path("empty.msgpack")}: unexpected end of input, at byte 0"],
      -> { Manypack.foreach(write("cut.gz", Zlib.gzip(STREAM)[0..-2])) { nil } } => [Zlib::Error, "#{path("cut.gz")}: unexpected end of file"],
      -> { Manypack.foreach(write("bad.gz", STREAM)) { nil } } => [Zlib::Error, "#{path("bad.gz")}: incorrect header check"],
      -> { Manypack.foreach(two) { Manypack.unpack("\x91") } } => [Manypack::TruncatedError, "unexpected end of input, at byte 1"]
    }.each do |call, (error_class, message)|
      error = assert_raises(error_class, &call)
      assert_instance_of error_class, error unless error.is_a?(Zlib::Error)
      assert_operator message, :===, error.message
      refute_kind_of Manypack::Error, error.cause, "the same error without the file" # the EOFError of the io may be it
    end
    error = assert_raises(Manypack::TruncatedError) { Manypack.foreach(cut) { nil } }
    assert_equal [1, 3], [error.start, error.offset]
    assert_match(/files_test\.rb/, error.backtrace.find { |line| !line.match?(%r{lib/manypack|<internal}) })
    odd = write("caf\xE9.msgpack".b, "\xC1")
    assert_equal "#{odd.dump}: 0xc1 is not a MessagePack head byte, at byte 0", assert_raises(Manypack::MalformedFormatError) { Manypack.load_file(odd) }.message
  end

  def test_a_gzip_file_that_was_cut
    whole = Zlib.gzip(STREAM)
    [1, 10, 30, whole.bytesize - 9, whole.bytesize - 1].each do |size|
      assert_raises(Zlib::Error) { Manypack.foreach(write("cut.gz", whole.byteslice(0, size))) { nil } }
    end
    assert_raises(Zlib::Error) { Manypack.foreach(write("other.gz", STREAM)) { nil } }
    assert_raises(Zlib::Error) { Manypack.foreach(write("more.gz", "#{whole}more")) { nil } }
  end

  def test_gzip_members_of_every_length
    members = (0..60).map { |i| Zlib.gzip(Manypack.pack("x" * i) * i) }
    path = write("members.gz", members.join)
    assert_equal (0..60).sum, Manypack.foreach(path).count
  end

  def test_a_gzip_file_that_grows_a_thousandfold_takes_little_memory
    path = write("bomb.gz", Zlib.gzip("\xDB\x7F\xFF\xFF\xFF".b + "\0" * 20_000_000))
    assert_raises(Manypack::LimitError) { Manypack.load_file(path, untrusted: true) }
    File.open(path, "rb") do |file|
      gzip = Manypack.const_get(:Files)::Gzip.new(file)
      3.times { assert_operator gzip.readpartial(1).bytesize, :<, 1_200_000 }
      gzip.close
    end
  end

  # With a library of the same interface, which holds back all but the first byte until it is asked again.
  def test_zstandard_by_the_gem
    File.write(path("zstd-ruby.rb"), <<~'RUBY')
      module Zstd
        class StreamingDecompress
          def decompress_with_pos(bytes)
            (@held ||= +"") << bytes.tr("\xFF".b, "")
            [@held.slice!(0, 1), bytes.bytesize]
          end
        end
      end
    RUBY
    write("log.zst", "\x01\xFF\xFF\x92\x02\x03".b)
    assert_program "p Manypack.foreach(#{path("log.zst").dump}).to_a", "[1, [2, 3]]", "RUBYLIB" => @dir
  end

  def test_what_is_missing_is_named
    write("log.zst", "")
    assert_program "begin\nManypack.foreach(#{path("log.zst").dump}) { nil }\nrescue LoadError => error\nputs error.message\nend",
                   'a compressed file needs zstd-ruby: add gem "zstd-ruby" to your Gemfile'
    assert_raises(ArgumentError) { open_packer("log.zst") { flunk } }
    assert_equal "", File.binread(path("log.zst"))
  end

  def test_nothing_of_zlib_is_loaded_for_other_files
    assert_program "Manypack.foreach(#{write("log", STREAM).dump}).count.then { |count| p count, defined?(Zlib) }", "6\nnil"
  end

  def test_a_path_over_a_stream
    stream = [{ "user" => { "id" => 1 } }, [], { "user" => { "id" => [2, 3] } }].map { |object| Manypack.pack(object) }.join
    ids = Manypack::Path.new("$.user.id")
    [-> { StringIO.new(stream) }, -> { File.open(write("stream", stream), "rb") }, -> { Manypack::Unpacker.new(StringIO.new(stream), as: :view) },
     -> { Manypack::Unpacker.new(as: :view).feed(stream) }].each do |source|
      first, second = ids.each(source.call).to_a
      assert_equal [1, [2, 3]], [first, second.value]
      assert_equal 1, ids.first(source.call)
      assert_equal 2, ids.to_a(source.call).size
      assert_same(ids, ids.each(source.call) { nil })
    end
    assert_equal [:a], ids.each(StringIO.new("\x81\xA4user\x81\xA2id\x81\xA1a\x01".b), symbolize_keys: true).map(&:keys).flatten
  end

  def test_a_path_over_a_stream_that_ends_too_early_or_of_something_else
    ids = Manypack::Path.new("$.id")
    seen = []
    error = truncated { ids.each(StringIO.new("\x81\xA2id\x01\x81\xA2".b)) { |id| seen << id } }
    assert_equal [[1], 5], [seen, error.start]
    unpacker = Manypack::Unpacker.new(as: :view).feed("\x81\xA2id\x01\x81\xA2".b)
    seen.clear
    error = truncated { ids.each(unpacker) { |id| seen << id } }
    assert_equal [[1], 5, 5], [seen, error.start, unpacker.position]
    assert_equal [2], ids.to_a(unpacker.feed("id\x02"))
    [Manypack::Unpacker.new.feed("\x01"), Manypack::Unpacker.new(as: Manypack::Codec.new).feed("\x01")].each do |other|
      assert_raises(ArgumentError) { ids.each(other) { nil } }
    end
    assert_raises(ArgumentError) { ids.each(unpacker, symbolize_keys: true) { nil } }
    [nil, 5].each { |source| assert_raises(::TypeError) { ids.each(source) { nil } } }
  end

  # An io that a program reads on from: nothing waits for its end.
  def test_messages_come_as_soon_as_they_are_whole
    reader, writer = IO.pipe
    writer.write("\x01\x92\x02".b)
    messages = Manypack.split(reader)
    assert_equal "\x01", messages.next
    writer.write("\x03")
    assert_equal "\x92\x02\x03".b, messages.next
    writer.close
    assert_raises(StopIteration) { messages.next }
  end

  private

  def path(name) = File.join(@dir, name)

  def write(name, bytes)
    path(name).tap { |path| File.binwrite(path, bytes) }
  end

  def open_packer(name, **options, &block)
    Manypack::Packer.open(path(name), **options, &block)
  end

  # Ways to have each message of a stream.
  def fronts(bytes)
    log = write("log", bytes)
    gzip = write("log.gz", Zlib.gzip(bytes))
    { "split" => ->(&block) { Manypack.split(bytes, &block) }, "split of an io" => ->(&block) { Manypack.split(StringIO.new(bytes), &block) },
      "views" => ->(&block) { Manypack.split(bytes, as: :view, &block) }, "foreach" => ->(&block) { Manypack.foreach(log, &block) },
      "foreach of gzip" => ->(&block) { Manypack.foreach(gzip, &block) }, "views of a file" => ->(&block) { Manypack.foreach(log, as: :view, &block) } }
  end
end

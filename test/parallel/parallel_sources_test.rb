# frozen_string_literal: true

# What Parallel reads from: Strings, IOs and lists, no faster than it has to.
require "test_helper"
require "tmpdir"
require "parallel/workers"
require "tempfile"
require "zlib"

class ParallelSourcesTest < Minitest::Test
  include Workers

  def test_the_name_of_a_file_is_not_taken_for_bytes
    Dir.mktmpdir do |folder|
      path = File.join(folder, "events \u00e9.msgpack")
      File.binwrite(path, "\x01\x02")
      [-> { Parallel.map(path) { |n| n } }, -> { Parallel.each(path) { |n| n } }, -> { Parallel.filter(path, StringIO.new) { |n| n } }].each do |call|
        error = assert_raises(ArgumentError, &call)
        assert_includes error.message, "#{path.inspect} is a file name, not packed bytes: pass File.open(#{path.inspect}, \"rb\")"
      end
      assert_equal [1, 2], File.open(path, "rb") { |file| Parallel.map(file, ractors: 0) { |n| n } }
      Dir.chdir(folder) do
        File.write("12", "")
        assert_equal [49, 50], Parallel.map("12".b, ractors: 0) { |n| n }
        assert_equal [49, 51], Parallel.map("13", ractors: 0) { |n| n }
        assert_equal [1], Parallel.map("\x01", ractors: 0) { |n| n }
        assert_equal [0, 1], Parallel.map("\x00\x01", ractors: 0) { |n| n }
      end
    end
  end

  def test_each_of_everything_that_passes_for_a_source
    messages = [1, "two", { "three" => [4.0, nil] }, "l" * 200_000, [[]] * 20, nil].map { |object| pack(object) }
    expected = messages.map { |message| unpack(message) }
    stream = messages.join
    Tempfile.create("manypack", binmode: true) do |file|
      file.write(stream)
      file.flush
      each_way do |workers|
        [stream, stream.dup.freeze, Struct.new(:to_str).new(stream), StringIO.new(stream), ReadOnly.new(stream), piped(stream, 700),
         file.tap(&:rewind), Zlib::GzipReader.new(StringIO.new(Zlib.gzip(stream))), messages, messages.each, messages.each_slice(4).map(&:join),
         ["", *messages, ""]].each do |source|
          assert_equal expected, Parallel.map(source, **workers) { |object| object }, source.class
        end
      end
    end
  end

  def test_what_is_no_source
    [nil, 5, :symbol, Object.new].each do |source|
      assert_raises(::TypeError) { Parallel.map(source) { |object| object } }
    end
    each_way do |workers|
      seen = []
      assert_raises(::TypeError) { Parallel.each(["\x01", 5], **workers) { |object| seen << object } }
      assert_equal [1], seen
    end
  end

  def test_an_empty_source
    each_way do |workers|
      ["", StringIO.new, [], [""], File.open(File::NULL)].each { |source| assert_equal [], Parallel.map(source, **workers) { flunk } }
      assert_equal 0, Parallel.filter("", StringIO.new, **workers) { flunk }
    end
  end

  # Who waits for the answer before the next question must get it.
  def test_results_come_while_the_io_waits_for_more
    each_way do |workers|
      reader, writer = IO.pipe
      writer.write("\x01")
      seen = []
      Timeout.timeout(10) do
        Parallel.each(reader, **workers) do |n|
          seen << n
          n < 5 ? writer.write([n + 1].pack("C")) : writer.close
        end
      end
      assert_equal [1, 2, 3, 4, 5], seen
    ensure
      reader.close
    end
  end

  def test_an_io_that_waits_for_all_that_it_is_asked_for_is_asked_for_no_more_than_a_message
    each_kind(1) do |workers|
      io = ReadOnly.new(pack([1, "four" * 10]) * 2)
      assert_equal [1, "four" * 10], Parallel.each(io, map: ->(object) { object }, **workers).first
      reader, writer = IO.pipe
      writer.write(pack({ "a" => [1, 2] }))
      slow = Struct.new(:io) { def read(size) = io.read(size) }.new(reader)
      Timeout.timeout(10) { assert_equal({ "a" => [1, 2] }, Parallel.each(slow, map: ->(object) { object }, **workers).first) }
    ensure
      [reader, writer].each(&:close)
    end
  end

  def test_the_source_is_read_no_faster_than_results_are_taken
    each_kind(2) do |workers|
      pulled = 0
      endless = Enumerator.new { |out| loop { out << [pulled += 1].pack("xL>").tap { |bytes| bytes.setbyte(0, 0xce) } } }
      Parallel.each(endless, map: ->(n) { n }, **workers) { |n| n > 50 ? break : sleep(0.001) }
      assert_operator pulled, :<, 50_000
      reader, writer = IO.pipe
      written = 0
      thread = Thread.new { loop { written += writer.write("\xDA\x03\xE8".b + ("x" * 1_000)) } }
      Parallel.each(reader, map: ->(text) { text.size }, **workers) { sleep(0.3) && break }
      assert_operator written, :<, 3_000_000
    ensure
      thread.kill.join
      [reader, writer].each(&:close)
    end
  end

  def test_a_list_is_left_as_every_other_each_is
    each_way do |workers|
      left = []
      list = Enumerator.new do |out|
        loop { out << "\x01" }
      ensure
        left << :left
      end
      Parallel.each(list, **workers) { break }
      assert_raises(IOError) { Parallel.each(list, **workers) { raise IOError } }
      assert_equal %i[left left], left
    end
  end

  # In the block of each, where it is the list that calls.
  def test_an_error_of_the_caller_is_not_taken_for_one_of_the_list
    each_way do |workers|
      pulled = 0
      list = Enumerator.new { |out| 100_000.times { pulled += 1 and out << "\x01" } }
      seen = []
      assert_raises(IOError) { Parallel.each(list, **workers) { |n| (seen << n).size == 3 && raise(IOError) } }
      assert_equal [1] * 3, seen
      assert_operator pulled, :<, 100_000
    end
  end
end

# frozen_string_literal: true

# An IO gets the bytes of a Packer as if its own write were called with them, and raises the same errors.
require "test_helper"
require "open3"
require "rbconfig"
require "stringio"
require "tmpdir"

class PlainWriteTest < Minitest::Test
  # Each packs to the same character in ASCII, of which conversions change some; except the last one.
  OBJECTS = [10, 13, 60, 97, "\u00E9"].freeze

  MODES = [["wb"], ["w"], ["wt"], ["a"], ["w+"], ["w:UTF-8"], ["w:ISO-8859-1"], ["wb:UTF-16LE"], ["w:UTF-16BE:UTF-8"],
           ["w", { crlf_newline: true }], ["w", { newline: :crlf }], ["w", { newline: :cr }],
           ["w", { xml: :text }], ["w", { xml: :attr }], ["w", { undef: :replace, external_encoding: "US-ASCII" }]].freeze

  CHANGES = [->(io) { io.set_encoding("UTF-16LE") }, ->(io) { io.set_encoding("UTF-8", "UTF-16BE") }, ->(io) { io.binmode },
             ->(io) { io.set_encoding("UTF-8", nil, crlf_newline: true) }, ->(io) { io.sync = true }, ->(_) {}].freeze

  WAYS = {
    flush: ->(io, objects) { objects.inject(Manypack::Packer.new(io)) { |packer, object| packer.write(object).flush } },
    write_to: ->(io, objects) { objects.inject(Manypack::Packer.new) { |packer, object| packer.write(object).tap { _1.write_to(io) } } },
    buffer: ->(io, objects) { objects.each { |object| (Manypack::Buffer.new(io) << Manypack.pack(object)).flush } }
  }.freeze

  def setup
    @folder = Dir.mktmpdir
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  # Returns what is in the file after the block has written to it, and the class of what it raised.
  def written(mode, change)
    path = File.join(@folder, "file")
    FileUtils.rm_f(path)
    error = nil
    mode, options = mode
    File.open(path, mode, **options.to_h) do |io|
      change.call(io)
      yield io
    rescue EncodingError, ArgumentError => e
      error = e
    end
    [File.binread(path), error.class]
  end

  def test_a_file_converts_messages_as_it_converts_strings
    MODES.product(CHANGES, OBJECTS.combination(1).to_a + OBJECTS.combination(4).to_a).each do |mode, change, objects|
      expected = written(mode, change) { |io| objects.each { |object| io.write(Manypack.pack(object)) } }
      WAYS.each do |name, way|
        assert_equal expected, written(mode, change) { |io| way.call(io, objects) }, "#{name} #{mode} #{objects}"
      end
    end
  end

  # With a write of its own, of which it returns the arguments.
  module Noting
    def write(*strings)
      (@noted ||= []).concat(strings)
      super
    end

    attr_reader :noted
  end

  class NotingFile < File
    include Noting
    def write(*) = super
  end

  def test_a_write_that_was_redefined_is_called
    path = File.join(@folder, "file")
    singleton = File.open(path, "wb").extend(Noting)
    late = File.open(path, "wb")
    packer = Manypack::Packer.new(late).write(1).flush
    late.extend(Noting)
    packer.write(2).flush
    WAYS[:flush].call(singleton, [1, 2])

    assert_equal %W[\x01 \x02], singleton.noted
    assert_equal ["\x02"], late.noted
    WAYS.each_value do |way|
      NotingFile.open(path, "wb") do |io|
        way.call(io, [3, 4])

        assert_equal %W[\x03 \x04], io.noted
      end
    end
  ensure
    [singleton, late].compact.each(&:close)
  end

  # In a process of its own, because it changes StringIO.
  def test_a_write_of_every_string_io_that_was_redefined_may_take_a_part
    script = <<~RUBY
      StringIO.prepend(Module.new { def write(string) = super(string[0, 700]) })
      objects = [1, "a" * 600, "b" * 2_000]
      written = PlainWriteTest::WAYS.map { |_, way| StringIO.new("".b).tap { |io| way.call(io, objects) }.string }
      exit!(written.uniq == [objects.sum("".b) { |object| Manypack.pack(object) }] ? 0 : 1)
    RUBY
    output, status = Open3.capture2e(RbConfig.ruby, *$LOAD_PATH.flat_map { ["-I", _1] }, "-r", File.expand_path(__FILE__), "-e", script)

    assert_predicate status, :success?, output
  end

  def test_an_io_of_two_ends_gets_the_bytes_at_the_right_one
    skip "needs cat" unless Process.respond_to?(:fork)
    WAYS.each_value do |way|
      IO.popen("cat", "r+b") do |io|
        way.call(io, [1, "ab", nil])
        io.close_write

        assert_equal "\x01\xA2ab\xC0".b, io.read
      end
    end
  end

  # The error of a closed IO, of one that cannot be written to, and of a frozen one.
  def test_ios_that_refuse_bytes_raise_what_their_write_raises
    path = File.join(@folder, "file")
    File.write(path, "")
    closed = File.open(path, "wb").tap(&:close)
    [[closed, IOError], [File.open(path, "rb"), IOError], [File.open(path, "wb").freeze, FrozenError], [File.allocate, IOError]].each do |io, error|
      expected = assert_raises(error) { io.write("a") }
      WAYS.each_value { |way| assert_equal expected.message, assert_raises(error) { way.call(io, [1]) }.message }
    end
  end

  def test_an_error_of_the_system_names_the_file_and_leaves_the_packer_to_be_reset
    skip "needs /dev/full" unless File.exist?("/dev/full")
    File.open("/dev/full", "wb") do |io|
      io.sync = true
      packer = Manypack::Packer.new(io).write(1)
      error = assert_raises(Errno::ENOSPC) { packer.flush }

      assert_match(%r{/dev/full}, error.message)
      assert_raises(RuntimeError) { packer.write(2) }
      assert_equal "\x01", packer.to_s
      packer.reset
      packer.write(2)

      assert_equal "\x02", packer.to_s
    end
  end

  def test_a_pipe_without_a_reader
    reader, writer = IO.pipe
    writer.sync = true
    reader.close
    WAYS.each_value { |way| assert_raises(Errno::EPIPE) { way.call(writer, [1]) } }
  ensure
    writer&.close
  end

  # The process ends by SIGPIPE, in silence, also through a copy of its standard output.
  def test_a_standard_output_that_nobody_reads_ends_the_process_in_silence
    skip "needs signals" unless Signal.list["PIPE"] && Process.respond_to?(:fork)
    %w[$stdout $stdout.dup].each do |io|
      script = "io = #{io}; io.sync = true; $stdin.gets; Manypack::Packer.new(io).write(1).flush"
      Open3.popen3(RbConfig.ruby, *$LOAD_PATH.flat_map { ["-I", _1] }, "-rmanypack", "-e", script) do |stdin, stdout, stderr, process|
        stdout.close
        stdin.puts

        assert_empty stderr.read
        assert_equal Signal.list["PIPE"], process.value.termsig
      end
    end
  end

  def test_messages_of_many_sizes
    sizes = [0, 1, 255, 256, 500, 1_018, 1_019, 1_020, 1_021, 1_022, 1_023, 1_024, 1_025, 5_000]
    expected = sizes.map { |size| Manypack.pack("x" * size) }.join
    path = File.join(@folder, "file")
    WAYS.each_value do |way|
      File.open(path, "wb") { |io| way.call(io, sizes.map { "x" * _1 }) }

      assert_equal expected, File.binread(path)
    end
  end

  # A Thread that waits in a full pipe has the Packer in use, and an end of it leaves the Packer to be reset.
  def test_a_short_message_to_a_full_pipe
    reader, writer = IO.pipe
    writer.sync = true
    loop { writer.write_nonblock("x" * 512) }
  rescue IO::WaitWritable
    packer = Manypack::Packer.new(writer).write(1)
    thread = Thread.new { packer.flush }
    thread.report_on_exception = false
    sleep 0.01 until thread.stop?

    assert_match(/in use/, assert_raises(RuntimeError) { packer.to_s }.message)
    thread.kill.join

    assert_equal "\x01", packer.to_s
    assert_match(/interrupted/, assert_raises(RuntimeError) { packer.flush }.message)
  ensure
    reader&.close
    writer&.close
  end
end

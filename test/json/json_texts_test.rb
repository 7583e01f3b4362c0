# frozen_string_literal: true

# JSON texts that follow each other in an io: all are read, whatever pieces they come in, and nothing is written twice
# or by half.
require "test_helper"
require "json"
require "pathname"
require "stringio"
require "tempfile"
require "support/in_file"

class JSONTextsTest < Minitest::Test
  include InFile

  STREAM = "1 2\n[3]{\"a\":\"é\\\"\\u0041\"}\r\n\"]\\\\\" true null\t-1.5e3 [[],{\"b\":[1,2]}] \n"
  OBJECTS = [1, 2, [3], { "a" => "é\"A" }, "]\\", true, nil, -1.5e3, [[], { "b" => [1, 2] }]].freeze

  LINES = Manypack.const_get(:JSONTexts)

  # Returns its bytes in pieces of a size.
  class Pieces
    attr_reader :reads

    def initialize(text, size)
      @io = StringIO.new(text)
      @size = size
      @reads = 0
    end

    def readpartial(_most)
      @reads += 1
      @io.readpartial(@size)
    end
  end

  Readable = Struct.new(:io) do
    def read(size) = io.read(size)
  end

  def objects(source, **options) = Manypack.foreach_json(source, **options).map { |bytes| Manypack.unpack(bytes) }

  def test_pieces_of_any_size
    (1..STREAM.bytesize).each { |size| assert_equal OBJECTS, objects(Pieces.new(STREAM, size)), size }
    assert_equal OBJECTS, objects(StringIO.new(STREAM))
    assert_equal OBJECTS, objects(Readable.new(StringIO.new(STREAM)))
    assert_empty objects(StringIO.new(" \n"))
    assert_nil Manypack.foreach_json(StringIO.new("1")) { nil }
  end

  def test_a_text_that_is_complete_is_yielded_before_more_is_read
    read, write = IO.pipe
    write << "[1]"
    found = Manypack.foreach_json(read)
    assert_equal "\x91\x01".b, found.next
    write << " {\"a\":" << "2}"
    assert_equal Manypack.pack({ "a" => 2 }), found.next
    write << "3 "
    assert_equal "\x03".b, found.next
    write.close
    assert_raises(StopIteration) { found.next }
  end

  def test_a_file_and_a_compressed_file
    in_file(STREAM) { |path| assert_equal OBJECTS, objects(path) }
    assert_raises(Errno::ENOENT) { Manypack.foreach_json("/nonexistent/a.jsonl") { nil } }
    assert_raises(TypeError) { Manypack.foreach_json(1) { nil } }
  end

  def test_a_text_is_no_path
    doors = [->(text) { Manypack.foreach_json(text) { nil } }, ->(text) { Manypack::Type[[Integer]].load_json_file(text) }]
    ['{"a":1}', " [1]\n", "[1]\0", "[#{"1," * 10_000}\xff"].product(doors) do |text, door|
      assert_match(/from_json\(text\).*StringIO.new\(text\)/, assert_raises(ArgumentError, text) { door.(text) }.message)
    end
    Dir.mktmpdir { |folder| Dir.chdir(folder) { File.write("[id].json", "[1]") && assert_equal([[1]], objects("[id].json")) } }
  end

  def test_a_fault_comes_after_all_that_was_whole
    { "1 [2]\n {\"a\":3,}" => [[1, [2]], 'expected a key in quotes, got "}", line 2, column 9, after 2 whole texts', 2, 9, 14],
      "[\"é\"] tru" => [[["é"]], 'expected a value, got "tru", line 1, column 7, after 1 whole text', 1, 7, 7],
      "1 [2" => [[1], "expected a comma or ], got the end of the text, line 1, column 5, after 1 whole text", 1, 5, 4],
      "[}" => [[], 'expected a value, got "}", at $[0], line 1, column 2, after 0 whole texts', 1, 2, 1],
      "1x" => [[], 'expected the end of the text, got "x", line 1, column 2, after 0 whole texts', 1, 2, 1] }.each do |text, expected|
      (1..text.bytesize).each do |size|
        found = []
        error = assert_raises(Manypack::JSONError) { Manypack.foreach_json(Pieces.new(text, size)) { |bytes| found << Manypack.unpack(bytes) } }
        assert_equal expected, [found, error.message, error.line, error.column, error.offset], size
      end
    end
  end

  def test_from_an_io_to_an_io_or_a_packer
    expected = OBJECTS.map { |object| Manypack.pack(object) }.join
    out = StringIO.new("".b)
    assert_nil Manypack.from_json(StringIO.new(STREAM), out)
    assert_equal expected, out.string
    packer = Manypack::Packer.new(out = StringIO.new("".b))
    packer.write(0)
    assert_nil Manypack.from_json(StringIO.new(STREAM), packer)
    assert_equal "\0#{expected}".b, packer.to_s.empty? ? out.string : packer.to_s
    assert_equal "\0\x91\x01".b, Manypack::Packer.new.write(0).tap { |one| Manypack.from_json("[1]", one) }.to_s
  end

  def test_nothing_is_written_of_a_text_that_is_wrong
    out = StringIO.new("".b)
    assert_raises(Manypack::JSONError) { Manypack.from_json("[1,2", out) }
    assert_empty out.string
    error = assert_raises(Manypack::JSONError) { Manypack.from_json(StringIO.new("[1] [2,]"), out) }
    assert_equal ["\x91\x01".b, true], [out.string, error.message.end_with?("after 1 whole text")]
  end

  def test_one_text_of_an_io
    assert_equal "\x91\x01".b, Manypack.from_json(StringIO.new(" [1]\n"))
    assert_raises(Manypack::JSONError) { Manypack.from_json(StringIO.new("1 2")) }
    assert_raises(Manypack::LimitError) { Manypack.from_json(Pieces.new("[#{"1," * 100_000}1]", 1000), max_bytes: 5_000) }
  end

  def test_limits_hold_for_each_text
    assert_equal [[1], [2]], objects(StringIO.new("[1] [2]"), max_bytes: 3)
    endless = Pieces.new("[" + "1," * 1_000_000, 1_000)
    error = assert_raises(Manypack::LimitError) { Manypack.foreach_json(endless, max_bytes: 10_000) { nil } }
    assert_equal :max_bytes, error.limit
    assert_equal ["max_bytes is 10000, but the text has more bytes, line 1, column 10001, after 0 whole texts", 1, 10_001, 10_000, "$"],
                 [error.message, error.line, error.column, error.offset, error.path]
    assert_operator endless.reads, :<, 30
    assert_raises(Manypack::StackError) { Manypack.foreach_json(StringIO.new("[" * 100), untrusted: true) { nil } }
  end

  # Each byte is parsed twice at most, and searched once.
  def test_a_long_text_in_small_pieces_takes_linear_time
    text = "[#{(["\"#{"x" * 90}\""] * 20_000).join(",")}]"
    assert_equal [20_000], objects(Pieces.new(text, 500)).map(&:size)
    assert_equal [1], objects(Pieces.new("1#{" " * 100_000}", 100))
  end

  # Also if each is a line: what was read before is not looked through again for its end, nor to count its lines.
  def test_a_long_line_takes_linear_time
    text = "\"#{"x" * 4_000_000}\""
    each = ->(io, **options) { [].tap { |found| LINES.new(Manypack::Codec.new, io, lines: true).each_batch(**options) { |*answer| found << answer } } }
    assert_equal [[Manypack.pack("x" * 4_000_000)]], each.call(Pieces.new("#{text}\n", 500))
    odd = each.call(StringIO.new("#{text}\n\n#{"{\"$a\":1}\n" * 6_000}"), odd: true)
    assert_equal [1, *3..6_002], odd.map(&:last)
  end

  # White space between texts is let go, and what can be no text is refused before the io ends.
  def test_nothing_is_kept_that_is_no_beginning_of_a_text
    kept = []
    io = Script.new(["[1]", *([" \n"] * 1_000), "2", " "])
    texts = LINES.new(Manypack::Codec.new, io)
    io.define_singleton_method(:readpartial) { |most| super(most).tap { kept << texts.instance_variable_get(:@rest).bytesize } }
    found = []
    texts.each { |bytes| found << Manypack.unpack(bytes) }
    assert_equal [[1], 2], found
    assert_operator kept.max, :<, 5
    [["1", ","], ["tru", "}"], ["[1]", "]", "]"], ["1", "é"], ["1", "\0"], ["\"a\"", ":", ":"]].each do |pieces|
      endless = Script.new([*pieces, *([pieces.last] * 100)])
      assert_raises(Manypack::JSONError) { Manypack.foreach_json(endless) { nil } }
      assert_operator endless.answers.size, :>, 95
    end
  end

  # Each read of a Pathname would begin at the start of the file.
  def test_a_pathname_is_a_path
    Tempfile.create("texts") do |file|
      file.write("[1] [2]")
      file.close
      path = Pathname.new(file.path)
      assert_equal ["\x91\x01".b, "\x91\x02".b], Manypack.foreach_json(path).to_a
      assert_raises(TypeError) { Manypack.from_json(path) }
      assert_raises(TypeError) { Manypack.from_json(path, StringIO.new) }
    end
  end

  # What IoAnswersTest demands of all that read from an io.
  Converts = Struct.new(:to_str)
  Script = Struct.new(:answers) { def readpartial(_most) = answers.shift.then { |answer| answer.is_a?(Exception) ? raise(answer) : answer } }
  READERS = [->(io) { Manypack.foreach_json(io).to_a.join }, ->(io) { Manypack.from_json(io) }, ->(io) { StringIO.new("".b).tap { |out| Manypack.from_json(io, out) }.string }].freeze

  def test_an_io_may_answer_strings_of_any_encoding
    pieces = ["[\"é", "é\"]"]
    ways = [:itself, :b, ->(piece) { piece.dup.force_encoding("UTF-16LE") }, ->(piece) { Converts.new(piece) }, ->(piece) { piece.dup.freeze }].map(&:to_proc)
    ways.product(ways, READERS).each { |one, other, read| assert_equal Manypack.pack(["éé"]), read.call(Script.new([one.call(pieces[0]), other.call(pieces[1])])) }
  end

  def test_an_io_that_answers_no_string_or_raises
    [42, :symbol, false, ["x"], Object].product(READERS, [[], ["[1"]]).each do |answer, read, pieces|
      error = assert_raises(TypeError) { read.call(Script.new([*pieces, answer])) }
      assert_match(/readpartial of .*Script must return a String, got #{answer.class}/, error.message)
    end
    [IOError.new("torn"), Class.new(EOFError).new("lost")].product(READERS, [[], ["[1"]]).each do |raised, read, pieces|
      assert_same raised, assert_raises(raised.class) { read.call(Script.new([*pieces, raised])) }
    end
  end

  def test_codecs_and_factories_have_the_same_doors
    assert_equal ["\x01".b], Manypack::Codec.new.foreach_json(StringIO.new("1")).to_a
    assert_equal ["\x01".b], Manypack::Factory.new.foreach_json(StringIO.new("1")).to_a
    out = StringIO.new("".b)
    assert_nil Manypack::Factory.new.from_json(StringIO.new("1 2"), out)
    assert_equal "\x01\x02".b, out.string
    [Manypack, Manypack::Codec.new, Manypack::Factory.new].each do |door|
      assert_raises(ArgumentError) { door.foreach_json(StringIO.new("1"), pretty: true) }
      assert_raises(ArgumentError) { door.foreach_json(StringIO.new("1"), bogus: true) }
    end
  end

  def test_a_block_may_break_or_read_the_same_io
    io = StringIO.new("1 2 3")
    assert_equal 7, Manypack.foreach_json(io) { |_| break 7 }
    assert_equal [[1], [2]], Manypack.foreach_json(StringIO.new("[1] [2]")).map { |_| GC.start && nil || Manypack.unpack(_) }
  end
end

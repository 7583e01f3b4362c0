# frozen_string_literal: true

# Manypack.to_json from Views, from and to ios, by Codecs, in Ractors, and beside the collector.
require "test_helper"
require "json"
require "stringio"

class ToJSONStreamTest < Minitest::Test
  def test_a_view_and_its_parts_have_json
    view = Manypack::View.new(Manypack.pack({ "a" => [1, { "b" => 2 }], "c" => "x" * 300 }))
    assert_equal JSON.generate({ "a" => [1, { "b" => 2 }], "c" => "x" * 300 }), Manypack.to_json(view)
    assert_equal '[1,{"b":2}]', Manypack.to_json(view["a"])
    error = assert_raises(Manypack::DecodeError) { Manypack.to_json(Manypack::View.new(Manypack.pack({ "a" => ["x".b] }))["a"]) }
    assert_equal ["$[0]", 1], [error.path, error.offset]
  end

  def test_a_codec_carries_the_options
    codec = Manypack::Codec.new(pretty: true, bin: :hex)
    assert_equal "[\n  \"61\"\n]", codec.to_json(Manypack.pack(["a".b]))
    assert_equal '["61"]', codec.to_json(Manypack.pack(["a".b]), pretty: false)
    assert_equal '["YQ=="]', Manypack.to_json(Manypack.pack(["a".b]), codec: codec, pretty: false, bin: :base64)
  end

  def test_one_message_is_written_to_an_io_whole_or_not_at_all
    out = StringIO.new
    assert_nil Manypack.to_json(Manypack.pack([1]), out)
    assert_equal "[1]", out.string
    assert_raises(Manypack::DecodeError) { Manypack.to_json(Manypack.pack([2, "x".b]), out) }
    assert_equal "[1]", out.string
    assert_raises(TypeError) { Manypack.to_json(Manypack.pack([1]), 1) }
  end

  def test_one_message_is_read_from_an_io
    io = StringIO.new(Manypack.pack([1]) + Manypack.pack([2]))
    assert_equal ["[1]", "[2]"], [Manypack.to_json(io), Manypack.to_json(io)]
    assert_raises(EOFError) { Manypack.to_json(io) }
  end

  def test_each_message_of_a_stream_becomes_a_line
    objects = Array.new(3000) { |i| { "id" => i, "text" => "line\n#{i}" * (i % 40) } }
    bytes = objects.map { |object| Manypack.pack(object) }.join
    [StringIO.new(bytes), in_pieces(bytes, 7), in_pieces(bytes, 1000)].each do |source|
      out = StringIO.new
      assert_nil Manypack.to_json(source, out)
      assert_equal objects, out.string.lines.map { |line| JSON.parse(line) }
      assert_equal JSON.generate(objects[7]), out.string.lines[7].chomp
    end
    assert_nil Manypack.to_json(StringIO.new(""), out = StringIO.new)
    assert_equal "", out.string
  end

  def test_an_error_in_a_stream_comes_after_the_whole_lines_and_counts_them
    whole = Manypack.pack([1]) * 2
    { Manypack.pack(["x".b]) => "JSON has no bin", "\x92\x01" => "unexpected end of input", "\xC1" => "0xc1" }.each do |bad, words|
      out = StringIO.new
      error = assert_raises(Manypack::DecodeError) { Manypack.to_json(StringIO.new(whole + bad.b), out) }
      assert_includes error.message, words
      assert_match(/, after 2 whole messages\z/, error.message)
      assert_operator error.offset, :>=, whole.bytesize
      assert_equal "[1]\n[1]\n", out.string
    end
  end

  def test_an_error_after_one_message_counts_one
    error = assert_raises(Manypack::DecodeError) { Manypack.to_json(StringIO.new("\x01\xC1".b), StringIO.new) }
    assert_match(/, after 1 whole message\z/, error.message)
  end

  def test_a_stream_of_any_length_takes_little_memory
    message = Manypack.pack({ "a" => "x" * 1000 })
    sizes = []
    source = Object.new
    left = 2000
    source.define_singleton_method(:read) { |*| (left -= 1).negative? ? nil : message * 4 }
    out = Object.new
    out.define_singleton_method(:write) { |text| text.bytesize.tap { |size| sizes << size } }
    Manypack.to_json(source, out)
    assert_equal 8000 * 1009, sizes.sum
    assert_operator sizes.max, :<, 100_000
  end

  def test_works_in_a_ractor
    bytes = Ractor.make_shareable(Manypack.pack({ "a" => [1.5, "é"] }))
    assert_equal '{"a":[1.5,"é"]}', in_ractor(bytes) { |packed| Manypack.to_json(packed) }
  end

  def test_the_collector_may_run_at_any_time
    object = { "a" => Array.new(300) { |i| [i, i * 0.5, "text #{i}", nil] }, "b" => "é" * 3000 }
    bytes = Manypack.pack(object)
    deep = "\x91".b * 300 + "\x01".b
    GC.stress = true
    texts = [Manypack.to_json(bytes), Manypack.to_json(deep, max_depth: 400), Manypack.to_json(bytes.byteslice(0, 20) && "\x81\x01\x02".b, stringify_keys: true)]
    GC.stress = false
    assert_equal [JSON.generate(object), "#{"[" * 300}1#{"]" * 300}", '{"1":2}'], texts
  ensure
    GC.stress = false
  end

  # Of any bytes that unpack accepts, to_json writes what parses to the same, or says what JSON does not have.
  def test_random_bytes_are_refused_or_parse_to_the_same
    random = Random.new(Integer(ENV.fetch("SEED", "50")))
    written = 0
    20_000.times do
      bytes = random_object(random, 4).then { |packed| random.rand(4).zero? ? spoilt(packed, random) : packed }
      object = begin
        Manypack.unpack(bytes)
      rescue Manypack::DecodeError => error
        assert_raises(Manypack::DecodeError, error.message) { Manypack.to_json(bytes) }
        next
      end
      text = begin
        Manypack.to_json(bytes, stringify_keys: true)
      rescue Manypack::UnexpectedTypeError, Manypack::MalformedFormatError
        next
      end
      written += 1
      assert_equal [JSON.parse(JSON.generate(object))], [JSON.parse(text, allow_duplicate_key: false)]
    end
    assert_operator written, :>, 5_000
  end

  private

  def in_pieces(bytes, size)
    pieces = bytes.b.scan(/.{1,#{size}}/mn)
    Object.new.tap { |io| io.define_singleton_method(:readpartial) { |*| pieces.shift || raise(EOFError) } }
  end

  def random_object(random, depth)
    case random.rand(depth.zero? ? 6 : 8)
    when 0 then Manypack.pack(random.rand(2**random.rand(1..64)))
    when 1 then Manypack.pack(-random.rand(2**random.rand(1..63)))
    when 2 then Manypack.pack([random.rand(2**64)].pack("Q").unpack1("D"))
    when 3 then Manypack.pack(Array.new(random.rand(40)) { [random.rand(0x20..0x3000)].pack("U") }.join)
    when 4 then Manypack.pack([nil, true, false, "", "a\"\\\n"].sample(random: random))
    when 5 then Manypack.pack("k#{random.rand(5)}")
    when 6 then (n = random.rand(16)).then { ["\xDC", n].pack("a1n") + Array.new(n) { random_object(random, depth - 1) }.join }
    else (n = random.rand(12)).then { (0x80 | n).chr.b + Array.new(n) { |i| Manypack.pack("#{"k" * random.rand(30)}#{i}") + random_object(random, depth - 1) }.join }
    end
  end

  def spoilt(packed, random)
    packed.dup.tap { |bytes| bytes.setbyte(random.rand(bytes.bytesize), random.rand(256)) }
  end
end

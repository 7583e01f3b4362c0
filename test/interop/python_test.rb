# frozen_string_literal: true

# The same bytes and the same objects as Python's msgpack (Debian: python3-msgpack).
require "test_helper"
require "open3"
require_relative "random_graph"

class PythonTest < Minitest::Test
  PYTHON = ["python3", "/usr/bin/python3"].find { |python| system(python, "-c", "import msgpack", %i[out err] => File::NULL) }

  # Reads messages, each with its length in front, and writes each as Python packs what it unpacked.
  ECHO = <<~PYTHON
    import sys, struct, msgpack
    data = sys.stdin.buffer.read()
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        message = data[at + 4:at + 4 + size]
        at += 4 + size
        obj = msgpack.unpackb(message, raw=False, strict_map_key=False, unicode_errors="surrogateescape", timestamp=0)
        packed = msgpack.packb(obj, use_bin_type=True, unicode_errors="surrogateescape")
        sys.stdout.buffer.write(struct.pack(">I", len(packed)) + packed)
  PYTHON

  STREAM = <<~PYTHON
    import sys, msgpack
    unpacker = msgpack.Unpacker(raw=False, strict_map_key=False)
    for byte in sys.stdin.buffer.read():
        unpacker.feed(bytes([byte]))
        for obj in unpacker:
            sys.stdout.buffer.write(msgpack.packb(obj))
  PYTHON

  def setup
    skip "Python's msgpack is not installed (Debian: python3-msgpack)" unless PYTHON
  end

  def test_python_reads_what_manypack_packs_and_packs_the_same
    messages = Array.new(2_000) do |i|
      Manypack.pack(RandomGraph.new(Random.new(i), ext: Manypack::ExtensionValue.method(:new)).graph)
    end
    messages.select! { |message| python_can?(message) }
    assert_operator messages.size, :>, 500
    assert_equal messages, echo(messages)
  end

  def test_manypack_reads_what_python_packs
    messages = Array.new(500) { |i| Manypack.pack(RandomGraph.new(Random.new(10_000 + i)).graph) }
    messages.select! { |message| python_can?(message) }
    assert_equal messages.map { |sent| Manypack.unpack(sent) }, echo(messages).map { |received| Manypack.unpack(received) }
  end

  def test_integers_floats_and_lengths_at_every_edge
    edges = RandomGraph::INTEGER_EDGES + RandomGraph::FLOATS
    lengths = [0, 31, 32, 255, 256, 65_535, 65_536].flat_map { |size| ["s" * size, "\xFF".b * size, [nil] * size] }
    messages = (edges + lengths).map { |object| Manypack.pack(object) }
    assert_equal messages, echo(messages)
  end

  def test_timestamps
    messages = [[0, 0], [1, 1], [2**34 - 1, 999_999_999], [2**34, 0], [-1, 5]].map do |sec, nsec|
      Manypack.pack(Manypack::Timestamp.new(sec, nsec), timestamp: true)
    end
    assert_equal messages, echo(messages)
  end

  def test_a_stream_byte_by_byte_through_both
    objects = Array.new(50) { |i| { "id" => i, "list" => [i, [nil, true]], "text" => "é" * i } }
    output, status = Open3.capture2(PYTHON, "-c", STREAM, stdin_data: objects.map { |object| Manypack.pack(object) }.join, binmode: true)
    assert_predicate status, :success?
    unpacker = Manypack::Unpacker.new
    received = []
    output.each_char { |byte| unpacker.feed_each(byte) { |object| received << object } }
    assert_equal objects, received
  end

  private

  # Python has no keys that are arrays or maps, and no ext types below 0. It keeps one of equal keys, such as Ruby's two
  # Strings of one text in different encodings become when they are packed.
  def python_can?(message)
    keys_ok?(Manypack.unpack(message, allow_unknown_ext: true, duplicate_keys: :error))
  rescue Manypack::MalformedFormatError
    false
  end

  def keys_ok?(object)
    case object
    when Hash then object.keys.all? { |key| key.is_a?(String) } && object.values.all? { |value| keys_ok?(value) }
    when Array then object.all? { |element| keys_ok?(element) }
    when Manypack::ExtensionValue then object.type >= 0
    else true
    end
  end

  def echo(messages)
    input = messages.map { |message| [message.bytesize].pack("N") + message }.join
    output, status = Open3.capture2(PYTHON, "-c", ECHO, stdin_data: input, binmode: true)
    assert_predicate status, :success?
    echoed = []
    until output.empty?
      size = output.slice!(0, 4).unpack1("N")
      echoed << output.slice!(0, size)
    end
    echoed
  end
end

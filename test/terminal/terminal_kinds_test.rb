# frozen_string_literal: true

# Files as other programs write them, made anew here: every command reads each of them, and tells the truth about it.
require "test_helper"
require "support/terminal"

class TerminalKindsTest < Minitest::Test
  include TerminalHelper

  EXT = Manypack::ExtensionValue
  RAW = (0..255).to_a.pack("C*").freeze

  # An old raw of 16 bits and more: a str that may hold any bytes.
  def self.raw(bytes)
    [0xda, bytes.bytesize].pack("Cn") + bytes
  end

  def self.stream(*objects)
    objects.map { |object| Manypack.pack(object, timestamp: true) }.join
  end

  # The bytes, and the number of messages.
  KINDS = {
    "an editor's history" => # shada: a type, a time, the number of bytes and an entry
      [[[1, {"generator".b => "nvim".b, "pid".b => 7}], [4, [0, "s/a\\b/\e[m".b, 47]], [8, {"f".b => "/tmp/\xff".b, "l".b => 3}]].flat_map do |type, entry|
        [type, 1_700_000_000, Manypack.pack(entry).bytesize, entry]
      end.then { |objects| stream(*objects) }, 12],
    "a load path cache" => # Bootsnap: bin keys, and Symbols as ext types
      [stream({"/usr/lib/ruby".b => [1_700_000_000, ["a.rb".b, "ü.rb".b], []], "/app/\xe9".b => [0, [], [EXT.new(0, "stable")]]}), 1],
    "transactions of a chain" => # keys and addresses are 32 bytes
      [stream(*Array.new(3) { |i| {"sig" => RAW[i, 64], "txn" => {"amt" => (1 << 64) - 1 - i, "fee" => 1000, "gh" => RAW[100, 32], "rcv" => RAW[200, 32], "type" => "pay"}} }), 3],
    "a model's vocabulary" => # tokens that are no text
      [stream({"\xff\xfe".b => 1, " the".b => 2, "".b => 3, "é".b[0] => 4, "é" => 5}), 1],
    "a table of strings" => [stream({"a b" => 1, "'" => 2, "$" => 3, "$ref" => 4, "" => 5, "a.b" => 6, "\u{2028}" => 7}), 1],
    "weights" => [stream({"dense" => {"kernel" => EXT.new(1, stream([[2, 2], "float32", RAW[0, 16]])), "bias" => [0.0, -0.0, Float::NAN, Float::INFINITY]}}), 1],
    "an array of numpy" => [stream({"nd".b => true, "type".b => "<f8".b, "kind".b => "".b, "shape".b => [2], "data".b => RAW[0, 16]}), 1],
    "chunks of Fluentd" => [stream(["app.log", stream([EXT.new(0, [1_700_000_000, 5].pack("NN")), {"a" => 1}]).b, {"size" => 1}], ["app", EXT.new(0, [1, 2].pack("NN")), {}, {}]), 2],
    "calls of MessagePack-RPC" => [stream([0, 1, "add", [1, 2]], [1, 1, nil, 3], [2, "note", [EXT.new(0, "\x05")]]), 3],
    "a program of the old format" => ["\x82".b + raw("k\xffy".b) + raw("v\0\x9b".b) + raw("a" * 300) + "\xc0".b, 1],
    "rows of a database" => [stream({0 => 67, 1 => 5, -1 => nil}, {0x30 => [[1, EXT.new(1, "\x02\x12\x3c".b), EXT.new(2, RAW[0, 16])]]}, {nil => 1, true => 2, 1.5 => 3}), 3],
    "times in all widths" => [stream(Time.at(0), Time.at(1 << 33, 5, :nsec), Time.at(-1), Time.at(1 << 40), {Time.at(5) => Time.at(6)}), 5],
    "a saved game" => ["\x83\xa1x\xca\x3f\x80\x00\x00\xd9\x01y\xd2\xff\xff\xff\xff\xa1z\xdd\x00\x00\x00\x02\xcf\x00\x00\x00\x00\x00\x00\x00\x01\xdf\x00\x00\x00\x00".b, 1],
    "keys that are alike" => ["\x82\xa1a\x01\xc4\x01a\x02".b + "\x82\xa1a\x01\xa1a\x02".b + "\x82\x91\x01\x02\x81\x01\x02\x03".b, 3]
  }.freeze

  SHOWING = [%w[cat], %w[cat --to pretty], %w[cat --to yaml], %w[cat --to ruby], %w[cat --text], %w[cat --open], %w[cat --hex], %w[inspect], %w[stat], %w[schema],
             ["query", "$..*"], ["query", "--raw", "$..*"], ["query", "--with-path", "$..*"], ["query", "--to", "csv", "$..*"], ["query", "--to", "tsv", "$.*"],
             ["cat", "--path", "$..*"], %w[validate], %w[count]].freeze

  # Each with the way back.
  READ_AGAIN = {%w[cat] => "json", %w[cat --to pretty] => "json", %w[cat --hex] => "json", %w[cat --open] => "json", %w[cat --to yaml] => "yaml"}.freeze

  SAME = [%w[concat], %w[slice], %w[filter -e true], %w[filter --path $], %w[cat --to msgpack], %w[query --to msgpack $]].freeze

  def each_kind
    KINDS.each { |kind, (bytes, count)| files(bytes) { |name| yield kind, name, bytes, count } }
  end

  def test_every_command_reads_them_without_a_complaint
    each_kind do |kind, name, _, count|
      SHOWING.each do |command|
        out, err, status = manypack(*command, name)
        assert_equal ["", 0], [err, status], [kind, command].inspect
        refute_match(/[\x00-\x08\x0b-\x1f\x7f]/n, out.b, [kind, command].inspect) unless command.include?("--raw") || command.include?("csv") || command.include?("tsv")
      end
      assert_equal "#{count}\n", output_of("count", name), kind
      assert_equal count, output_of("cat", name).lines.size, kind
    end
  end

  def test_what_is_shown_is_read_again_as_the_same
    each_kind do |kind, name, bytes, _|
      READ_AGAIN.each do |command, from|
        again = output_of("pack", "--from", from, input: output_of(*command, name))
        files(bytes, again) { |one, two| assert_equal "", output_of("diff", one, two), [kind, command].inspect }
      end
    end
  end

  def test_what_is_written_is_the_same_bytes
    each_kind do |kind, name, bytes, _|
      SAME.each { |command| assert_equal bytes, output_of(*command, name), [kind, command].inspect }
      Dir.mktmpdir do |folder|
        output_of("split", "-n", "1", "--prefix", "#{folder}/", name)
        assert_equal bytes, output_of("concat", *Dir["#{folder}/*"].sort), kind
      end
    end
  end

  # These have no canonical form, which is an error in words.
  NOT_CANONICAL = ["keys that are alike", "a program of the old format"].freeze

  def test_the_canonical_form_is_no_difference
    each_kind do |kind, name, bytes, count|
      assert_equal "", output_of("diff", name, name), kind
      canonical, err, status = manypack("canon", name)
      next assert_equal([1, 1], [status, err.lines.size], kind) if NOT_CANONICAL.include?(kind)

      assert_equal ["", 0], [err, status], kind
      files(bytes, canonical) { |one, two| assert_equal "", output_of("diff", one, two), kind }
      assert_equal "#{count}\n", output_of("count", input: canonical), kind
    end
  end

  def test_a_schema_reads_the_file
    each_kind do |kind, name, bytes, _|
      type = Module.new.tap { |place| place.module_eval(output_of("schema", "--name", "Kind", name).force_encoding("UTF-8")) }.const_get(:KIND)
      Manypack.split(bytes) { |message| type.load(message) }
    rescue Manypack::DecodeError, ArgumentError => e
      flunk "#{kind}: #{e.message}"
    end
  end

  def test_each_byte_has_a_place
    each_kind do |kind, name, bytes, _|
      [0, 1, bytes.bytesize / 2, bytes.bytesize - 1].each do |at|
        out, err, status = manypack("inspect", "--at", at.to_s, name)
        assert_equal ["", 0], [err, status], [kind, at].inspect
        refute_empty out
      end
    end
  end

  # One byte less, one byte more, and a byte that is none of MessagePack.
  def test_a_broken_one_is_told_by_each_command
    each_kind do |kind, _, bytes, _|
      files(bytes[0..-2], bytes + "\xc1".b, bytes + "\x92\x01".b) do |*names|
        names.each do |name|
          (SHOWING + SAME + [%w[canon]]).each do |command|
            _, err, status = manypack(*command, name)
            refute_match(/bug of manypack|\.rb:\d+/, err, [kind, command].inspect)
            assert_equal 1, status, [kind, command, name].inspect
          end
        end
      end
    end
  end

  # Most are written without Ruby, so both ways meet here.
  def test_floats_are_shown_as_to_json_writes_them
    random = Random.new(3)
    floats = [0.0, -0.0, 1.0, -1.0, 100.0, 0.1, 1 / 3.0, 2 / 3.0, 76.9, 0.001, 0.00099999, 0.0001, 99_999_999_999_999.98, 1e14, 1e15, 1e16, 2.0**53,
              9_007_199_254_740_993.0, 5e-324, Float::MAX, Float::EPSILON, Float::NAN, Float::INFINITY, -Float::INFINITY]
    floats += Array.new(20_000) do |i|
      case i % 5
      when 0 then random.rand(180.0) - 90
      when 1 then random.rand.ceil(random.rand(1..16))
      when 2 then random.rand(10**9) / 100.0
      when 3 then random.rand * 10.0**random.rand(-6..18)
      else random.bytes(8).unpack1("G")
      end
    end
    floats += Array.new(80) { |i| 2.0**(i - 20) } + (-4..17).map { |i| 10.0**i }
    floats += floats.last(20_000).flat_map { |float| [float.next_float, float.prev_float] }
    shown = output_of("inspect", input: stream(*floats)).scan(/float64 (\S+)/).flatten
    assert_equal floats.size, shown.size
    floats.zip(shown) { |float, text| assert_equal Manypack.to_json(Manypack.pack(float), allow_nan: true), text }
    finite = floats.select(&:finite?)
    lines = output_of("cat", input: stream(*finite)).lines(chomp: true)
    assert_equal finite.map { |float| Manypack.to_json(Manypack.pack(float)) }, lines
    assert_equal finite, lines.map { |line| Float(line) }
  end
end

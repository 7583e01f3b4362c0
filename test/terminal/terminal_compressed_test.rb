# frozen_string_literal: true

# Compressed files that the program `manypack` reads.
require "test_helper"
require "support/terminal"
require "zlib"

class TerminalCompressedTest < Minitest::Test
  include TerminalHelper

  EVENTS = [{"id" => 1, "name" => "Ada"}, {"id" => 2, "name" => "Matz"}].freeze

  def bytes = stream(*EVENTS)

  # Two members, as of a log that was appended to.
  def gzipped(text = bytes)
    Zlib.gzip(text[0...5]) + Zlib.gzip(text[5..])
  end

  def test_every_command_reads_gzip_as_what_is_in_it
    files(bytes) do |plain|
      files(gzipped, suffix: "msgpack.gz") do |name|
        [%w[cat], %w[cat -n1 --to ruby], %w[validate], %w[validate -u], %w[count], %w[stat], %w[inspect --at 8], %w[slice -s1], %w[concat],
         %w[filter -e it], %w[filter -e it -j2], %w[filter --path $.id=2], %w[query .id], %w[query -j2 .id], %w[canon], %w[schema]].each do |arguments|
          assert_equal output_of(*arguments, plain).gsub(plain, name), output_of(*arguments, name), arguments.inspect
        end
        assert_equal "", output_of("diff", plain, name)
      end
    end
  end

  def test_pack_reads_gzip_by_the_name_that_is_before_it
    {
      "jsonl" => "{\"id\":1,\"name\":\"Ada\"}\n{\"id\":2,\"name\":\"Matz\"}\n", "json" => "{\"id\":1,\n\"name\":\"Ada\"}",
      "yaml" => "id: 1\nname: Ada\n---\nid: 2\nname: Matz\n"
    }.each do |format, text|
      files(gzipped(text), suffix: "#{format}.gz") do |name|
        assert_equal stream(*EVENTS.first(format == "json" ? 1 : 2)), output_of("pack", name), format
      end
    end
    files(gzipped("id,name\n1,Ada\n"), suffix: "csv.gz") do |name|
      assert_equal [stream({"id" => "1", "name" => "Ada"}), "", 0], shell("manypack pack #{name}")
    end
  end

  # The second member is cut: nothing of the last message came out of it.
  def test_a_cut_file_is_a_fault_after_what_came_before_it
    files(Zlib.gzip(stream(EVENTS[0])) + Zlib.gzip(stream(EVENTS[1]))[0...10], suffix: "msgpack.gz") do |name|
      fault = "manypack: #{name}:#{stream(EVENTS[0]).bytesize}: cannot be decompressed after this byte: unexpected end of file\n"
      [["cat"], ["validate"], ["count"], %w[filter -e it], %w[filter -e it -j2], %w[query -j2 .]].each do |arguments|
        out, err, status = manypack(*arguments, name)
        assert_equal [fault, 1], [err, status], arguments.inspect
        assert_equal({"cat" => "{\"id\":1,\"name\":\"Ada\"}\n", "query" => "{\"id\":1,\"name\":\"Ada\"}\n", "count" => "1\n", "filter" => stream(EVENTS[0])}.fetch(arguments[0], ""), out)
      end
    end
  end

  # As gzip itself reads it: tapes and some programs fill blocks.
  def test_zeros_after_a_member_are_padding
    [1, 511, 5000].each do |zeros|
      files(gzipped + "\0" * zeros, gzipped + "\0" * zeros + gzipped, suffix: "gz") do |padded, two|
        assert_equal [bytes, bytes * 2], [output_of("concat", padded), output_of("concat", two)], zeros
      end
    end
  end

  # Junk follows the data, or is in the middle of it.
  def test_what_was_decompressed_comes_before_the_fault
    longer = Random.new(1).bytes(4000).bytes.map { |byte| Manypack.pack(byte) }.join
    broken = Zlib.gzip(longer).tap { |gzip| gzip.setbyte(3000, gzip.getbyte(3000) ^ 0x55) }
    [[bytes, gzipped + "junk", bytes.bytesize..bytes.bytesize], [longer, Zlib.gzip(longer) + "\0\0\0junk", longer.bytesize..longer.bytesize], [longer, broken, 2000..longer.bytesize]].each do |whole, gzip, fault|
      files(gzip, suffix: "gz") do |name|
        [%w[concat], %w[filter -j2 -e true], %w[query -j2 --to msgpack $]].each do |arguments|
          out, err, status = manypack(*arguments, name)
          assert_equal 1, status
          assert_includes fault, err[/\Amanypack: #{name}:(\d+): cannot be decompressed after this byte: incorrect/, 1].to_i
          assert_equal whole.byteslice(0, 2000), out.byteslice(0, 2000), arguments.inspect
        end
      end
    end
  end

  def test_a_line_that_was_cut_with_its_file_is_not_to_blame
    lines = "{\"id\":1,\"name\":\"Ada\"}\n{\"id\":"
    files(Zlib.gzip(lines) + Zlib.gzip("2}")[0...10], suffix: "jsonl.gz") do |name|
      fault = "manypack: #{name}:#{lines.bytesize}: cannot be decompressed after this byte: unexpected end of file\n"
      assert_equal [stream(EVENTS[0]), fault, 1], manypack("pack", name)
    end
  end

  def test_pack_stops_at_a_wrong_line_of_a_long_file
    files(Zlib.gzip("1\n{\n" + ("2\n" * 200_000)), suffix: "jsonl.gz") do |name|
      out, err, status = manypack("pack", name)
      assert_equal [stream(1), 1], [out, status]
      assert_match(/\Amanypack: #{name}:2: /, err)
    end
  end

  def test_what_is_no_gzip_is_a_fault
    files(bytes, suffix: "gz") do |name|
      assert_equal ["", "manypack: #{name}:0: cannot be decompressed after this byte: incorrect header check\n", 1], manypack("cat", name)
    end
  end

  def test_a_library_that_is_missing_is_named
    hidden = "module NoZstd\n  def require(name) = name == 'zstd-ruby' ? ::Kernel.raise(LoadError.new.tap { |e| def e.path = 'zstd-ruby' }) : super\n" \
             "end\nObject.prepend(NoZstd)\n"
    files(hidden, suffix: "rb") do |lib|
      files("", suffix: "zst") do |name|
        message = "manypack: #{name}: a compressed file needs zstd-ruby: add gem \"zstd-ruby\" to your Gemfile\n"
        assert_equal ["", message, 2], manypack("cat", "-r", lib, name)
      end
    end
  end
end

# frozen_string_literal: true

# What the commands refuse to read, and what a file may not do to the terminal.
require "test_helper"
require "support/terminal"
require "zlib"

class TerminalInputTest < Minitest::Test
  include TerminalHelper

  FOREIGN = {
    "JSON" => ["{\"a\":1}\n{\"a\":2}\n", "{}", "[1,2]", " [\n{\"b\": null}]", "\u{feff}{\"a\":1}"],
    "text" => ["a line\n", "id,name\n1,Ada\n", "\e[31mred\e[0m\n", "größer\n", "x" * 5000, "é" * 5000],
    "gzip" => [Zlib.gzip("a" * 100)],
    "a Git LFS pointer" => ["version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"],
    "UTF-16" => ["\u{feff}{\"a\":1}".encode("UTF-16LE"), "\u{feff}text".encode("UTF-16BE")],
    "Ruby's Marshal" => [Marshal.dump({"a" => 1})], "PNG" => ["\x89PNG\r\n\x1a\n\0\0\0\rIHDR".b], "zip" => ["PK\x03\x04\x14\0".b]
  }.freeze

  COMMANDS = [%w[cat], %w[cat --to ruby], %w[cat --path $.a], %w[query .a], %w[query --to csv .a], %w[count], %w[validate], %w[validate --untrusted], %w[stat], %w[inspect], %w[schema],
              %w[canon], %w[concat], %w[slice -n 1], %w[filter -e _1], %w[filter --path $.a]].freeze

  def test_other_formats_are_refused_by_name
    FOREIGN.each do |format, texts|
      texts.each do |text|
        files(text) do |name|
          message = "it looks like #{format}, not like MessagePack; --force reads it all the same\n"
          assert_equal ["", "manypack: #{name}: #{message}", 1], manypack("count", name), text
          assert_equal ["", "manypack: stdin: #{message}", 1], manypack("cat", input: text), text
        end
      end
    end
  end

  def test_every_command_that_reads_messages_refuses_and_can_be_forced
    files("12345\n") do |name|
      COMMANDS.each do |command|
        _, err, status = manypack(*command, name)
        assert_equal [1, "manypack: #{name}: it looks like text, not like MessagePack; --force reads it all the same\n"], [status, err], command
        assert_equal command.join(" ").include?(".a") ? 1 : 0, manypack(*command, "--force", name).last, command # 1: nothing found
      end
      assert_equal 1, manypack("diff", name, name).last
      assert_equal 0, manypack("diff", "--force", name, name).last
    end
  end

  def test_messages_are_no_other_format
    [stream({"a" => "text"}), stream("text"), stream(1, 2, 3, 10), stream(97), stream(97, 98, 10), stream([]), stream({"{\"a\":1}" => 1}), "",
     stream("größer"), stream(9, 10, 13, 32, 32), stream(31, {}), stream(4, 8, 0), stream(-1, -2)].each do |bytes|
      assert_equal 0, manypack("count", input: bytes).last, bytes.dump
      files(bytes) { |name| assert_equal 0, manypack("validate", name).last, bytes }
    end
  end

  # --- where the messages are

  def test_a_header_is_skipped_and_offsets_count_from_the_start_of_the_file
    bytes = "header{}#{stream({"a" => 1}, [2])}".b
    assert_equal "{\"a\":1}\n[2]\n", output_of("cat", "--skip-bytes", "8", input: bytes)
    files(bytes, "#{bytes}".b << "\xc1".b) do |whole, broken|
      assert_equal "{\"a\":1}\n[2]\n", output_of("cat", "--skip-bytes", "8", whole)
      assert_equal "#{whole}: 2 messages, 6 bytes\n", output_of("validate", "--skip-bytes", "8", whole)
      assert_match(/\A {7}8  81  map/, output_of("inspect", "--skip-bytes", "8", whole))
      assert_match(/\A\$\.a\n {6}11  01/, output_of("inspect", "--skip-bytes", "8", "--at", "11", whole))
      [%w[cat], %w[count], %w[validate], %w[inspect], %w[filter -e _1]].each do |command|
        _, err, status = manypack(*command, "--skip-bytes", "8", broken)
        assert_equal [1, "manypack: #{broken}:14: 0xc1 is not a MessagePack head byte"], [status, err[/\A[^,\n]*head byte/]], command
      end
      assert_equal ["", "manypack: #{whole}: it ends before byte 99\n", 1], manypack("cat", "--skip-bytes", "99", whole)
      assert_equal ["", "manypack: stdin: it ends before byte 99\n", 1], manypack("cat", "--skip-bytes", "99", input: "\x01")
    end
    assert_equal 2, manypack("cat", "--skip-bytes=-1").last
  end

  def test_digits_and_base64_are_read_as_their_bytes
    bytes = stream({"a" => [0, "x\\"]}, "y" * 70, 0, [0] * 20)
    ["%s", "0x%s", "%s\n"].each { |form| assert_equal "{\"a\":1}\n", output_of("cat", "--from", "hex", input: form % "81a16101") }
    texts = {"hex" => [bytes.unpack1("H*"), bytes.unpack1("H*").upcase, bytes.unpack("C*").map { |byte| format("%02x ", byte) }.join,
                       bytes.unpack("C*").map { |byte| format("\\x%02X", byte) }.join, bytes.unpack("C*").map { |byte| format("0x%02X, ", byte) }.join],
             "base64" => [[bytes].pack("m"), [bytes].pack("m0"), [bytes].pack("m0").tr("+/", "-_").delete("=")]}
    texts.each do |from, forms|
      forms.each do |text|
        assert_equal bytes, output_of("concat", "--from", from, input: text), text
        next unless text == forms.last

        IO.popen([ENVIRONMENT, *PROGRAM, "concat", "--from", from], "r+b") do |program|
          text.each_char { |char| program.write(char) }
          program.close_write
          assert_equal bytes, program.read, text
        end
      end
    end
    assert_equal ["1\n", "manypack: stdin:1: what follows this byte is no hex\n", 1], manypack("cat", "--from", "hex", input: "010")
    assert_equal ["manypack: stdin:0: what follows this byte is no base64\n", 1], manypack("cat", "--from", "base64", input: "AQ=?").last(2)
    assert_equal ["manypack: stdin:0: what follows this byte is no hex\n", 1], manypack("cat", "--from", "hex", input: "zz").last(2)
  end

  # --- what the user typed

  def test_so_many_bytes_are_skipped_whatever_the_bytes_are_written_in
    bytes = (0..60).map(&:chr).join.b
    [0, 1, 2, 3, 46, 60].each do |n|
      expected = (n..60).map { |number| "#{number}\n" }.join
      files(bytes, Zlib.gzip(bytes), suffix: "msgpack.gz") do |_, zipped|
        assert_equal expected, output_of("cat", "--force", "--skip-bytes", n.to_s, zipped), n
      end
      assert_equal expected, output_of("cat", "--force", "--skip-bytes", n.to_s, input: bytes), n
      {"base64" => [bytes].pack("m"), "hex" => bytes.unpack1("H*")}.each do |from, text|
        assert_equal expected, output_of("cat", "--force", "--from", from, "--skip-bytes", n.to_s, input: text), [n, from]
      end
    end
  end

  def test_what_was_decoded_before_a_wrong_digit_is_shown
    bytes = stream(*0..200)
    many = stream(*[1] * 30_000)
    {"hex" => [["zz", "8", "0"], ->(all) { all.unpack1("H*") }], "base64" => [["?", "\n%%%%"], ->(all) { [all].pack("m0") }]}.each do |from, (wrong, encoded)|
      [bytes, many].product(wrong) do |all, rest|
        out, err, status = manypack("count", "--from", from, input: encoded.call(all) + rest)
        assert_equal [Manypack.split(all).count, "manypack: stdin:#{all.bytesize}: what follows this byte is no #{from}\n", 1], [out.to_i, err, status], [from, rest]
      end
    end
    assert_equal "1\n2\n1\n2\n", output_of("cat", "--from", "base64", input: "AQI=\nAQI=\n") # as two programs write it
  end

  # As od, xxd and hexdump write it; their offsets are no data.
  DUMPS = ["00000000: 81a2 6964 01                             ..id.\n", "00000000: 81 a2 69 64 01  ..id.\n", "0000000 121201 062151 000001\n0000005\n",
           "0000000 81 a2 69 64 01\n0000005\n", "000000 81 a2 69 64 01\n000005\n", "00000000  81 a2 69 64 01  |..id.|\n00000005\n", "00000010  81 a2 69 64 01",
           "0000020 81 a2 69 64 01\n", "0000000 a281 6469 0001\n0000005\n", "0x7ffe0: 0x81\n"].freeze

  def test_a_dump_with_offsets_is_refused
    DUMPS.each do |dump|
      out, err, status = manypack("cat", "--from", "hex", input: dump)
      assert_equal ["", "manypack: stdin: it has offsets, as of od, xxd or hexdump; xxd -p writes digits alone\n", 1], [out, err, status], dump
      assert_equal ["", 1], manypack("cat", "--force", "--from", "hex", input: dump).values_at(0, 2), dump
    end
    ["81a2696401", "81 a2 69 64 01", " 81 a2 69 64 01\n", "81:a2:69:64:01", "0x81 0xa2 0x69 0x64 0x01", "81a26964 01", "{0x81, 0xa2,\n 0x69, 0x64, 0x01".delete("{")].each do |digits|
      assert_equal "{\"id\":1}\n", output_of("cat", "--from", "hex", input: digits), digits
    end
  end

  def test_an_option_that_nobody_declared_is_none
    %w[cat query filter stat].product(%w[-o -x -z -u]).each do |command, option|
      out, err, status = manypack(command, option, ".a")
      assert_equal ["", true, 2], [out, err.start_with?("manypack: #{command}: invalid option: #{option}"), status]
    end
    assert_equal "manypack #{Manypack::VERSION}\n", output_of("cat", "--version")
  end

  def test_a_full_disk_is_said_in_a_line
    [%w[--version], %w[cat --version], %w[cat --help], %w[help]].each do |arguments|
      out, err, status = shell("manypack #{arguments.join(" ")} > /dev/full")
      assert_equal ["", 74], [out, status]
      assert_match(/\Amanypack: No space left on device @ \w+ - <STDOUT>\n\z/, err)
    end
  end

  def test_text_is_refused_wherever_its_first_piece_ends
    text = "{\"a\":\"#{"größe" * 1000}\"}\n"
    files(Zlib.gzip(text), Zlib.gzip(Random.new(1).bytes(3000).unpack1("H*").gsub("a", "ä")), suffix: "msgpack.gz") do |*zipped|
      zipped.each { |name| assert_includes manypack("count", name)[1], "it looks like" }
    end
    files(text) do |name|
      (100..102).each do |size|
        assert_includes shell("(head -c #{size} #{name}; sleep 0.3; tail -c +#{size + 1} #{name}) | manypack count")[1], "it looks like JSON", size
      end
    end
  end

  def test_an_option_given_twice_is_refused
    { %w[cat --path $.a --path $.b] => "--path", %w[cat -n 1 --lines 2] => "--lines", %w[filter -e 1 -e 2] => "--execute", %w[count --force --force] => "--force",
      %w[pack --from json --from csv] => "--from", %w[split -n 1 -n 2] => "--lines", %w[schema --name A1b --name A2b] => "--name" }.each do |arguments, option|
      assert_equal ["", "manypack: #{arguments.first}: #{option} is given twice\n", 2], manypack(*arguments), arguments
    end
  end

  def test_a_wrong_option_or_command_is_told_the_right_one
    { %w[cat --pretty] => "invalid option: --pretty, did you mean --to pretty?", %w[query --csv .a] => "invalid option: --csv, did you mean --to csv?",
      %w[cat --head 3] => "invalid option: --head, did you mean --lines?", %w[query --raw-output .a] => "invalid option: --raw-output, did you mean --raw?",
      %w[cat --form hex] => "invalid option: --form, did you mean --from?", %w[pack --json] => "invalid option: --json, did you mean --from json?",
      %w[cat --where x] => "invalid option: --where, did you mean --path?", %w[cat --output x] => "invalid option: --output; write to a file by > FILE",
      %w[query -c .a] => "invalid option: -c; JSON is compact unless --to pretty is given", %w[count --zzz] => "invalid option: --zzz; --help lists the options",
      %w[cat --to jsn] => "invalid argument: --to jsn; --to takes json, pretty, yaml, ruby, msgpack", %w[cat -t jsn] => "invalid argument: -t jsn; --to takes json, pretty, yaml, ruby, msgpack",
      %w[cat -n x] => "invalid argument: -n x", %w[cat --lines] => "missing argument: --lines", %w[cat --t json] => "ambiguous option: --t",
      ["cat", "--\e[2J"] => "invalid option: --\\u001b[2J; --help lists the options" }.each do |arguments, message|
      assert_equal ["", "manypack: #{arguments.first}: #{message}\n", 2], manypack(*arguments), arguments
    end
    assert_equal ["", "manypack: unknown command filtr, did you mean filter?\n", 2], manypack("filtr")
    assert_equal ["", "manypack: unknown command head; use cat -n N or slice -n N\n", 2], manypack("head", "-n", "3")
    [%w[cat --to csv], %w[cat -t tsv], %w[cat --csv], %w[diff --tsv]].each { |arguments| assert_match(/; manypack query writes csv and tsv, as in manypack query --to csv /, manypack(*arguments)[1]) }
    %w[--limit --head -n].each { |option| assert_match(/invalid option: #{option}; .*\| manypack slice -n N$/, manypack("filter", option, "3")[1]) }
    assert_equal ["", "manypack: unknown command zzz; manypack --help lists them\n", 2], manypack("zzz")
  end

  def test_a_comparison_is_no_path
    ["$.a>=500", "$.a>5", "$.a<5", "$.a==5", "$.a!=5", "$.a=~x", "$.a < 5", "$.a[0].b>c"].each do |text|
      [%w[filter --path], %w[cat --path], %w[query]].each do |command|
        _, err, status = manypack(*command, text, input: stream({"a" => 500}))
        assert_equal [2, true], [status, err.include?("a path has no comparison, as in #{text};")], err
        assert_includes err, "filter --where '@.a >= 1'"
      end
    end
    assert_equal 2, manypack("cat", "--path", "$.a=5").last
    odd = stream({"a>=b" => "=c<"})
    assert_equal odd, output_of("filter", "--path", "$[\"a>=b\"]", input: odd)
    assert_equal odd, output_of("filter", "--path", "$['a>=b']=\"=c<\"", input: odd)
  end

  def test_an_operator_is_no_path_and_what_is_shown_is_one
    { "$.a+1" => '$["a+1"]', ".a-b" => '$["a-b"]', "a*2" => '$["a*2"]', "$.a.b/c" => '$.a["b/c"]', "$.a|b" => '$["a|b"]', "$.a&&b" => '$["a&&b"]' }.each do |text, path|
      [%w[query], %w[cat --path], %w[filter --path]].each do |command|
        assert_equal ["", 2, path], manypack(*command, text).then { |out, err, status| [out, status, err.chomp[/(?<=in quotes: ).*/]] }, [command, text].inspect
      end
    end
    names = [*"!".."~", "\u2028", " ", "\n"].grep(/\W/).map { |char| "a#{char}b" } + ["é", "", "1", "*", "$"]
    message = stream(names.to_h { |name| [name, name] })
    shown = output_of("stat", "--paths", "1000", input: message).force_encoding("UTF-8")[/bytes by path\n.*?\n\n/m].lines.filter_map { |line| line[/(?<=\A  )\$\S.*?(?=  )/] }
    assert_equal names.size, shown.size
    shown.each { |path| assert_equal names.find { |name| Manypack::Path.of(name).to_s == path }, Manypack.unpack(output_of("query", "--to", "msgpack", path, input: message)), path }
    [".*", "*", "..*", "$.*", "$..*", "$.a.*", "$[?@['a-b'] != 1]"].each { |path| assert_equal 0, manypack("query", path, input: stream({"a" => {"b" => 1}})).last, path }
  end

  # --- what a file says

  HOSTILE = "\e[2J\a\nmanypack: fine\r\u007f\u0085\u009b31m"

  def test_names_and_keys_cannot_write_to_the_terminal
    Dir.mktmpdir do |folder|
      name = "#{folder}/#{HOSTILE.delete("/")}"
      File.binwrite(name, "#{stream({HOSTILE => HOSTILE.dup, "b" => {HOSTILE.b => 1}, HOSTILE.to_sym => [HOSTILE]})}".b << "\xc1".b)
      File.binwrite("#{folder}/no text", HOSTILE)
      commands = [%w[cat], %w[cat --to yaml], %w[cat --to ruby], %w[cat --to pretty], %w[count], %w[validate], %w[validate --untrusted], %w[stat], %w[inspect],
                  %w[inspect --at 3], %w[schema], %w[canon --check], ["diff", "#{folder}/no text", "--force"], ["filter", "-e", "raise _1.keys.first"]]
      commands.each do |command|
        out, err, = manypack(*command, name)
        [out, err].each { |text| assert_safe text, command }
        _, err, = manypack(*command, "#{name}.gz")
        assert_safe err, command
        assert_operator err.lines.size, :<, 3
      end
      %w[json yaml csv jsonl].each { |from| assert_safe manypack("pack", "--from", from, "#{folder}/no text")[1], from }
      _, err, status = manypack("cat", "--\e[31m\nmanypack: fine")
      assert_equal 2, status
      assert_safe err, "an option"
      assert_safe manypack("\e[31m\nmanypack: fine")[1], "a command"
    end
  end

  def test_a_name_that_is_no_text_is_escaped
    _, err, status = manypack("cat", "\xff\x9b")
    assert_equal ["manypack: \\xFF\\x9B: No such file or directory\n", 74], [err, status]
    %w[pack].each { |command| assert_equal 74, manypack(command, "\xff.gz.\xff".b).last }
  end

  private

  def assert_safe(text, what)
    text = text.dup.force_encoding("UTF-8")
    assert_predicate text, :valid_encoding?, what
    refute_match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/, text, what.to_s)
    refute_match(/^manypack: fine/, text, what.to_s)
  end

  def test_no_handler_of_the_program_is_called_for_an_ext_in_a_key
    assert_program <<~'RUBY', "82d4016201a16202"
      Manypack::DefaultFactory.register_type(1, Class.new, unpacker: ->(_) { raise "called" })
      require "manypack/terminal"
      key = "$msgpack:" + ["\xD4\x01b".b].pack("m0")
      puts Manypack::Terminal::FromJSON.pack({ key => 1, "b" => 2 }).unpack1("H*")
    RUBY
  end
end

# frozen_string_literal: true

# The program `manypack` at the terminal: cat, pack, validate and inspect, and what all commands do alike.
require "test_helper"
require "interop/random_graph"
require "json"
require "open3"
require "support/terminal"
require "timeout"

class TerminalTest < Minitest::Test
  include TerminalHelper

  ODD = {
    "bin" => "b".b, "nan" => Float::NAN, "far" => -Float::INFINITY, 5 => nil, nil => 1.5, [1] => 2, "\xff".b => 3,
    "$x" => {"$y" => "\"\\\n\u0001é"}, "big" => (2**64) - 1, "small" => -(2**63), "zero" => -0.0, "empty" => [[], {}, ""],
    "time" => Manypack::Timestamp.new(1_700_000_000, 500_000_000), "ext" => Manypack::ExtensionValue.new(5, "abc"),
    "str" => "\xff", "$5" => "text", "$bin" => 1, "old" => Manypack::Timestamp.new(-1, 1), "late" => Manypack::Timestamp.new(2**40, 0)
  }.freeze

  # --- cat

  def test_cat_says_what_json_has_not_got
    lines = output_of("cat", input: stream(ODD)).force_encoding("UTF-8")
    assert_equal <<~'JSON', lines
      {"bin":{"$bin":"Yg=="},"nan":{"$float":"NaN"},"far":{"$float":"-Infinity"},"$5":null,"$null":1.5,"$msgpack:kQE=":2,"$msgpack:xAH/":3,"$$x":{"$$y":"\"\\\n\u0001é"},"big":18446744073709551615,"small":-9223372036854775808,"zero":-0.0,"empty":[[],{},""],"time":{"$timestamp":"2023-11-14T22:13:20.5Z"},"ext":{"$ext":[5,"YWJj"]},"str":{"$str":"/w=="},"$$5":"text","$$bin":1,"old":{"$timestamp":"1969-12-31T23:59:59.000000001Z"},"late":{"$ext":[-1,"AAAAAAAAAQAAAAAA"]}}
    JSON
  end

  def test_what_cat_says_can_be_turned_around
    bytes = stream(ODD, *ODD.values, *ODD.keys.map { |key| {key => key} })
    %w[json pretty yaml].each do |format|
      text = output_of("cat", "--to", format, input: format == "pretty" ? stream(ODD) : bytes)
      from = {"json" => "jsonl", "pretty" => "json", "yaml" => "yaml"}.fetch(format)
      assert_equal format == "pretty" ? stream(ODD) : bytes, output_of("pack", "--from", from, input: text), format
    end
    assert_equal bytes, output_of("pack", input: output_of("cat", "--hex", input: bytes))
  end

  def test_random_documents_survive_the_way_to_json_and_back
    graphs = RandomGraph.new(Random.new(18), ext: Manypack::ExtensionValue.method(:new))
    bytes = Array.new(300) { Manypack.pack(graphs.graph) }.join
    back = output_of("pack", input: output_of("cat", input: bytes))
    objects = ->(packed) { Manypack::Unpacker.new(allow_unknown_ext: true).feed(packed).each.to_a }
    assert_equal objects.(bytes), objects.(back)
  end

  def test_every_line_of_cat_is_json
    graphs = RandomGraph.new(Random.new(19), ext: Manypack::ExtensionValue.method(:new))
    lines = output_of("cat", input: Array.new(100) { Manypack.pack(graphs.graph) }.join).lines
    assert_equal 100, lines.size
    lines.each { |line| JSON.parse(line, max_nesting: false, allow_duplicate_key: true) }
  end

  def test_cat_reads_several_files_and_stdin
    files(stream(1, "a"), stream([2])) do |one, two|
      assert_equal "1\n\"a\"\nnull\n[2]\n", output_of("cat", one, "-", two, input: stream(nil))
    end
  end

  def test_cat_shows_the_first_messages_and_what_a_path_finds
    bytes = stream({"users" => [{"name" => "Ada"}, {"id" => 1}]}, {"users" => [{"name" => {"first" => "Matz"}}]}, 3)
    assert_equal "\"Ada\"\n{\"first\":\"Matz\"}\n", output_of("cat", "--path", "$.users[*].name", input: bytes)
    assert_equal "\"Ada\"\n", output_of("cat", "-n1", "--path", "$.users[*].name", input: bytes)
    assert_equal stream({"users" => [{"name" => "Ada"}, {"id" => 1}]}), output_of("cat", "-n1", "--to", "msgpack", input: bytes)
    assert_equal "", output_of("cat", "-n0", input: bytes)
  end

  def test_cat_to_ruby_uses_the_ext_types_of_a_library
    files("Point = Struct.new(:x) { def self.from_msgpack_ext(body) = new(body.ord); def to_msgpack_ext = x.chr }\n" \
          "Manypack::DefaultFactory.register_type(1, Point)\n", suffix: "rb") do |lib|
      assert_equal "#<struct Point x=7>\n", output_of("cat", "--to", "ruby", "-r", lib, input: "\xd4\x01\x07".b)
    end
  end

  def test_follow_waits_for_more_and_for_the_rest_of_a_message
    Timeout.timeout(20) do
      files(stream("first", "second")[0..-3]) do |name|
        IO.popen([ENVIRONMENT, *PROGRAM, "cat", "--follow", name]) do |out|
          assert_equal "\"first\"", out.gets.chomp
          File.open(name, "ab") { |file| file.write("nd", stream([3])) }
          assert_equal ["\"second\"", "[3]"], [out.gets.chomp, out.gets.chomp]
          Process.kill("INT", out.pid)
        end
      end
    end
  end

  # --- pack

  def test_pack_reads_json_and_yaml
    assert_equal stream({"id" => 1}, [2.5]), output_of("pack", input: "{\"id\": 1}\n\n[2.5]\n")
    assert_equal stream([1, {"a" => nil}]), output_of("pack", "--from", "json", input: "[1,\n{\"a\":\nnull}]")
    assert_equal stream({"a" => [1]}, {"b" => "2026-11-23"}), output_of("pack", "--from", "yaml", input: "a: [1]\n---\nb: 2026-11-23\n")
  end

  def test_pack_reads_as_many_levels_as_cat_writes
    ["\x01", "\x90", "\x80", "\xC4\x01\xFF"].each do |innermost|
      bytes = ("\x91".b * 512) + innermost.b
      %w[json yaml].each { |format| assert_equal bytes, output_of("pack", "--from", format, input: output_of("cat", "--to", format, input: bytes)) }
      assert_match(/too deep/, manypack("cat", input: "\x91".b + bytes)[1])
    end
    assert_match(/deep/, manypack("pack", input: "#{"[" * 514}#{"]" * 514}")[1])
  end

  def test_pack_reads_csv
    packed = [stream({"id" => "7", "name" => "Ada"}), "", 0]
    assert_equal packed, shell("printf 'id,name\\n7,Ada\\n' | manypack pack --from csv")
    assert_equal ["", 1], shell("printf 'a\\n\\xff\\n' | manypack pack --from csv 2>/dev/null").values_at(0, 2)
    assert_equal packed, shell("printf '\\xef\\xbb\\xbfid,name\\n7,Ada\\n' | manypack pack --from csv")
    files("\u{feff}id,name\n7,Ada\n", suffix: "csv") { |name| assert_equal packed, shell("manypack pack #{name}") }
  end

  def test_pack_loses_no_cell_of_csv
    { "id,name\n7,Ada\n8,Grace,x\n" => "stdin:3: 3 cells, but 2 column names",
      "id,id\n7,8\n" => "stdin:1: two columns are called id",
      "id,name\n7,Ada\n8,\"Grace\r\nHopper\"\n9,\xff\n" => "stdin:5: invalid byte sequence in UTF-8",
      "id,name\n7,Ada\n\n8,\"Grace\n" => "stdin:4: Unclosed quoted field",
      "id,name\xff\n7,Ada\n" => "stdin:1: invalid byte sequence in UTF-8" }.each do |csv, message|
      files(csv, suffix: "csv") do |name|
        out, _, status = shell("manypack pack --from csv < #{name} 2>&1")

        assert_equal 1, status
        assert_includes out, message
        assert_includes out, Manypack.pack({ "id" => "7", "name" => "Ada" }) unless message.start_with?("stdin:1")
      end
    end
  end

  def test_comments_and_directives_are_no_yaml_documents
    assert_equal stream({"a" => 1}, {"b" => 2}), output_of("pack", "--from", "yaml", input: "%YAML 1.1\n# one\n---\na: 1\n--- # two\nb: 2\n")
    assert_equal stream(nil, 1), output_of("pack", "--from", "yaml", input: "---\n\n---\n1\n...\n# end\n")
    assert_equal "", output_of("pack", "--from", "yaml", input: "# nothing\n\n")
  end

  def test_what_follows_the_end_of_a_yaml_document_is_another_one
    assert_equal stream({"a" => 1}, {"b" => 2}, 3), output_of("pack", "--from", "yaml", input: "a: 1\n...\nb: 2\n...\n# no\n--- 3\n")
  end

  def test_each_command_reads_what_pack_writes
    deep = output_of("pack", input: "#{"[" * 500}#{"]" * 500}\n2\n")
    %w[count cat concat validate stat inspect filter].each do |command|
      _, err, status = manypack(command, *(["-e", "it"] if command == "filter"), input: deep)
      assert_equal ["", 0], [err.sub(/\Astdin: 2 messages.*\n\z/, ""), status], command
    end
  end

  def test_arguments_and_names_are_utf8_in_the_locale_c
    bytes = stream({"name" => "Zo\u00eb", "gr\u00f6\u00dfe" => 1}, {"name" => "A"})
    chosen = stream({"name" => "Zo\u00eb", "gr\u00f6\u00dfe" => 1})
    Dir.mktmpdir do |folder|
      File.binwrite("#{folder}/z\u00e4.msgpack", bytes)
      File.binwrite("#{folder}/broken \u00e4.msgpack", "\x81\xa7gr\u00f6\u00dfe\xc1".b)
      line = "export LC_ALL=C LANG=C; cd #{folder}; "
      ["filter -e '_1[\"name\"] == \"Zo\u00eb\" ? _1 : nil'", "slice --where '$.name=Zo\u00eb'", "slice --where '$.gr\u00f6\u00dfe'"].each do |command|
        assert_equal [chosen, "", 0], shell("#{line}manypack #{command} z\u00e4.msgpack"), command
      end
      _, err, status = shell("#{line}manypack cat 'broken \u00e4.msgpack'")
      assert_equal [1, true], [status, err.b.start_with?("manypack: broken \u00e4.msgpack:9: ".b)], err
    end
  end

  def test_a_live_pipe_is_read_no_further_than_asked
    {"cat" => "1\n", "slice" => "\x01"}.each do |command, written|
      IO.popen([ENVIRONMENT, *PROGRAM, command, "-n", "1"], "r+b") do |program|
        program.write("\x01")
        assert_equal written, Timeout.timeout(20) { program.read }
      end
    end
  end

  def test_text_that_is_no_utf8_is_a_fault
    out, err, status = manypack("pack", "--from", "yaml", input: "a: \xff\n")
    assert_equal ["", 1, 1], [out, err.lines.size, status]
  end

  def test_without_the_gem_csv_it_says_what_to_install
    no_csv = "module NoCSV\n  def require(name) = name == 'csv' ? Kernel.raise(LoadError.new.tap { |e| def e.path = 'csv' }) : super\n" \
             "end\nObject.prepend(NoCSV)\n"
    files(no_csv, suffix: "rb") do |lib|
      _, err, status = manypack("pack", "--from", "csv", "-r", lib, input: "a\n1\n")
      assert_equal ["manypack: pack: CSV needs the gem csv: gem install csv, or gem \"csv\" in your Gemfile\n", 2], [err, status]
    end
  end

  def test_pack_leaves_alone_what_only_looks_like_one_of_ours
    text = "{\"$ref\":\"#/a\"}\n{\"$bin\":1}\n{\"$bin\":\"no base64!\"}\n{\"$bin\":\"Yg==\",\"more\":1}\n{\"$ext\":[300,\"\"]}\n"
    assert_equal stream(*text.lines.map { |line| JSON.parse(line) }), output_of("pack", input: text)
  end

  def test_pack_has_the_limit_on_keys_with_equal_hashes
    heads = ["\x91", "\xDC\0\1", "\xDD\0\0\0\1"].map(&:b) # of one array in three encodings
    nans = heads.repeated_permutation(2).map { |outer, inner| outer + inner + pack(Float::NAN) }
    json = ->(count) { JSON.generate(nans.first(count).to_h { |nan| ["$msgpack:#{[nan].pack("m0")}", 1] }) }
    assert_equal 4, Manypack.unpack(output_of("pack", input: json.call(4))).size
    output, messages, code = manypack("pack", input: json.call(9))
    assert_equal ["", 1], [output, code]
    assert_match(/\Amanypack: stdin:1: max_same_hash is 4,/, messages)
  end

  def test_pack_names_the_line_that_is_wrong_and_packs_those_before_it
    out, err, status = manypack("pack", input: "1\n{\"a\n3\n")
    assert_equal [stream(1), 1], [out, status]
    assert_match(/\Amanypack: stdin:2: .+/, err)
  end

  # Most are packed without building anything, in pieces that end anywhere.
  def test_lines_stay_in_order_and_keep_their_numbers
    lines = Array.new(500) do |i|
      ["{\"id\":#{i},\"text\":\"#{"é" * i}\"}", "{\"$bin\":\"#{[i.to_s].pack("m0")}\"}", "", "{\"$ref\":1,\"a\":#{i}}", " #{i}.5 "][i % 5]
    end
    objects = lines.each_with_index.map { |line, i| i % 5 == 1 ? i.to_s.b : JSON.parse(line, allow_duplicate_key: true) unless line.empty? }
    assert_equal stream(*objects.compact), output_of("pack", input: "#{lines.join("\r\n")}\n")
    out, err, = manypack("pack", input: "#{lines.join("\n")}\n18446744073709551616\n1\n")
    assert_equal [stream(*objects.compact), "manypack: stdin:501: "], [out, err[/\A.*?:\d+: /]]
  end

  def test_a_line_is_packed_when_it_comes
    IO.popen([ENVIRONMENT, *PROGRAM, "pack"], "r+b") do |program|
      [1, [2]].each do |object|
        program.puts(JSON.generate(object))
        assert_equal stream(object), Timeout.timeout(20) { program.readpartial(10) }
      end
    end
  end

  def test_pack_does_not_build_objects_that_yaml_asks_for
    out, err, status = manypack("pack", "--from", "yaml", input: "--- !ruby/object:OpenStruct {}\n")
    assert_equal ["", 1], [out, status]
    assert_match(/\Amanypack: stdin:1: .*is not supported/, err)
  end

  # --- validate

  def test_validate_counts_what_is_fine
    files(stream(1, "a"), "") do |one, empty|
      assert_equal "#{one}: 2 messages, 3 bytes\n#{empty}: 0 messages, 0 bytes\n", output_of("validate", one, empty)
      assert_equal "", output_of("validate", "--quiet", one)
    end
  end

  def test_a_broken_file_is_reported_at_its_byte_and_what_came_before_came_out
    whole = stream({"n" => 1}, [2])
    cut = stream({"a" => [1, {"b" => "hello"}]})
    {
      cut[0..-3] => "#{whole.bytesize + 8}: incomplete str: got 3 of 5 bytes, at $.a[1].b",
      "\x81\xa1a\x92\x01\xc1\x01".b => "#{whole.bytesize + 5}: 0xc1 is not a MessagePack head byte, at $.a[1]",
      "\x92\x01".b => "#{whole.bytesize + 2}: unexpected end of input, at $[1]"
    }.each do |rest, message|
      files(whole + rest) do |name|
        %w[validate cat].each do |command|
          out, err, status = manypack(command, name)
          assert_equal ["manypack: #{name}:#{message}, in the message at byte #{whole.bytesize}\n", 1], [err, status]
          assert_equal "{\"n\":1}\n[2]\n", out if command == "cat"
        end
      end
    end
  end

  def test_what_only_shows_when_a_message_is_unpacked_is_a_fault_as_well
    files(stream(1, [2]) + "\x91\xc7\x05\xff12345".b) do |name|
      [["schema"], %w[cat --to ruby], ["canon"], %w[filter -e it]].each do |arguments|
        out, err, status = manypack(*arguments, name)
        assert_equal 1, status
        assert_match(/\Amanypack: #{name}:[34]: a timestamp must have 4, 8 or 12 bytes, got 5[^\n]*\n\z/, err)
        assert_equal "1\n[2]\n", out if arguments[0] == "cat"
      end
    end
  end

  # In a later read than the first, and with a message that began in the one before.
  def test_offsets_count_from_the_start_of_the_input
    bytes = stream(["x" * 700_000]) * 3
    out, err, status = manypack("validate", input: bytes + "\x93\x01\xc1".b)
    assert_equal ["", "manypack: stdin:#{bytes.bytesize + 2}: 0xc1 is not a MessagePack head byte, at $[1], in the message at byte #{bytes.bytesize}\n", 1], [out, err, status]
  end

  def test_untrusted_input_is_checked_for_more
    bytes = stream("\xff", {"a" => 1}) + "\x82\xa1a\x01\xa1a\x02".b
    assert_equal "stdin: 3 messages, 13 bytes\n", output_of("validate", input: bytes)
    _, err, status = manypack("validate", "--untrusted", input: bytes)
    assert_equal ["manypack: stdin:0: a str is not valid UTF-8, at $\n", 1], [err, status]
    out, err, = manypack("validate", "--untrusted", "--keep-going", input: bytes)
    assert_equal 2, err.lines.size
    assert_equal "stdin: 1 message, 13 bytes, 2 refused\n", out
  end

  # --- inspect

  def test_inspect_shows_a_tree_of_heads
    assert_equal <<-TREE, output_of("inspect", input: stream({"id" => [-1, 1.5, nil]}, "x".b))
       0  81  map of 1 pair
       1  a2    key str of 2 bytes: "id"
       4  93    array of 3 elements
       5  ff      fixint -1
       6  cb      float64 1.5
      15  c0      nil
      16  c4  bin of 1 byte: 78
    TREE
  end

  def test_inspect_knows_every_head_byte
    values = [0, 127, 128, 255, 256, 65_535, 65_536, 2**32, (2**64) - 1, -1, -32, -33, -128, -129, -32_769, -(2**31) - 1, -(2**63),
              nil, true, false, 0.5, "", "a" * 32, "a" * 256, "a" * 65_536, "b".b, ("b" * 256).b, ("b" * 65_536).b, [], [1] * 16,
              [1] * 65_536, {}, (0..15).to_h { |i| [i, i] }, *[1, 2, 3, 4, 8, 16, 17, 256, 65_536].map { |n| Manypack::ExtensionValue.new(-3, "e" * n) }]
    bytes = stream(*values) + "\xca\x3f\x00\x00\x00".b
    out = output_of("inspect", input: bytes)
    assert_equal values.flatten.size + values.grep(Array).size + 32 + 1, out.lines.size
    assert_includes out, "ext of 3 bytes: type -3, 65 65 65"
    assert_includes out, "int64 -9223372036854775808"
    assert_includes out, "float32 0.5"
  end

  def test_inspect_shows_broken_input_up_to_where_it_breaks
    out, err, status = manypack("inspect", input: stream([1, "hello"])[0..-3])
    assert_equal [3, 1], [out.lines.size, status]
    assert_includes out, "str of 5 bytes: \"hel\""
    assert_equal "manypack: stdin:2: incomplete str: got 3 of 5 bytes, at $[1], in the message at byte 0\n", err
  end

  def test_inspect_finds_what_is_at_an_offset
    bytes = stream(1, {"a" => [1, {"b" => "hello"}]})
    assert_equal "$.a[1]\n       6  81  map of 1 pair\n       7  a1    key str of 1 byte: \"b\"\n       9  a5    str of 5 bytes: \"hello\"\n",
                 output_of("inspect", "--at", "6", input: bytes)
    assert_match(/\A\$\.a\[1\]\.b\n/, output_of("inspect", "--at", "12", input: bytes))
    assert_equal ["", "manypack: stdin: there is no byte 99\n", 1], manypack("inspect", "--at", "99", input: bytes)
  end

  # --- alike

  def test_exit_codes
    assert_equal 2, manypack.last
    assert_equal 2, manypack("nonsense").last
    assert_equal 2, manypack("cat", "--nonsense").last
    assert_equal 2, manypack("cat", "--path", "users[").last
    out, err, status = manypack("cat", "/nowhere.msgpack", "-", input: stream(1))
    assert_equal ["1\n", "manypack: /nowhere.msgpack: No such file or directory\n", 74], [out, err, status]
    assert_equal 74, manypack("validate", "/").last
  end

  def test_a_full_disk_is_a_failure
    assert_equal ["", "manypack: <STDOUT>: No space left on device\n", 74], shell("printf '\\x01' | manypack cat >/dev/full")
  end

  def test_every_command_tells_the_version
    assert_equal ["manypack #{Manypack::VERSION}\n" * 2, "", 0], shell("manypack --version; manypack cat --version")
  end

  def test_help_has_options_and_examples
    assert_includes output_of("--help"), "validate"
    output_of("--help").scan(/^  (\w+) /) { |(name)| assert_match(/^Usage: manypack #{name} .*^Examples:\n  \S/m, output_of(name, "--help")) }
  end

  def test_a_closed_pipe_is_silent
    assert_equal ["121\n", "", 0], shell("yes | manypack cat --force | head -1")
    assert_equal ["{\"id\":1}\n", "", 0], shell("yes '{\"id\":1}' | manypack pack | manypack cat | head -1")
  end

  def test_an_interrupt_is_silent_and_leaves_whole_messages
    Timeout.timeout(20) do
      out, writer = IO.pipe
      pid = spawn(ENVIRONMENT, "yes '[\"a line\"]' | exec #{SHELL} pack", out: writer, err: writer, pgroup: true)
      writer.close
      bytes = out.readpartial(100_000).b
      Process.kill("INT", -pid)
      bytes << out.read.b
      Process.wait(pid)
      assert_equal ["a line"], Manypack::Unpacker.new.feed(bytes).each.to_a.uniq.flatten
      assert_equal 0, bytes.bytesize % Manypack.pack(["a line"]).bytesize
    end
  end

  def test_memory_is_flat
    peak = "at_exit { $stderr.print File.read('/proc/self/status')[/VmHWM:\\s*(\\d+)/, 1] }"
    files(peak, suffix: "rb") do |lib|
      {"validate" => 100_000_000, "cat" => 10_000_000}.each do |command, bytes|
        _, err, status = shell("head -c #{bytes} /dev/zero | manypack #{command} -r #{lib} >/dev/null")
        assert_equal 0, status
        assert_operator err.to_i, :<, 150_000, "KB of memory for #{bytes} bytes"
      end
    end
  end

  # 200,000 elements 480 arrays deep, whose text is nearly 200 MB because of its indentation.
  def test_memory_is_flat_where_the_text_is_much_longer_than_the_message
    peak = "at_exit { $stderr.print File.read('/proc/self/status')[/VmHWM:\\s*(\\d+)/, 1] }"
    deep = ("\x91" * 480).b + [0xdd, 200_000].pack("CN") + ("\x01" * 200_000).b
    files(peak, suffix: "rb") do |lib|
      files(deep) do |name|
        ["cat --to pretty", "inspect", "query --to pretty '$'", "cat --to yaml"].each do |command|
          _, err, status = shell("manypack #{command} -r #{lib} #{name} >/dev/null")
          assert_equal 0, status
          assert_operator err.to_i, :<, 150_000, "KB of memory for #{command}"
        end
      end
    end
  end

  def test_the_deepest_messages_are_shown_by_each_command
    deepest = ("\x91" * 511).b + "\x90".b
    [%w[cat], %w[cat --to pretty], %w[cat --path $], %w[query $], %w[query --to csv $], %w[query --raw $], %w[query --with-path $[0]], %w[inspect], %w[stat], %w[schema],
     %w[validate], %w[canon], %w[slice --where $], %w[filter --path $], %w[count]].each { |arguments| refute_empty output_of(*arguments, input: deepest), arguments.inspect }
  end

  def test_the_library_loads_nothing_of_it
    loaded = "require 'manypack'; puts $LOADED_FEATURES.grep(/terminal|optparse|(?<!manypack.)json\\.rb/), Manypack.const_defined?(:Terminal)"
    out, = Open3.capture2(ENVIRONMENT, RbConfig.ruby, "-I", "#{ROOT}/lib", "-e", loaded)
    assert_equal "false\n", out
  end
end

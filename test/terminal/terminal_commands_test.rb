# frozen_string_literal: true

# The commands of the program `manypack` that choose, count and compare messages.
require "test_helper"
require "open3"
require "support/terminal"
require "timeout"

class TerminalCommandsTest < Minitest::Test
  include TerminalHelper

  ORDER = {"id" => 1, "type" => "order", "user" => {"name" => "Ada"}}.freeze
  LOG = {"type" => "log/x", "id" => 2, "level" => 1.5, "user" => {"name" => "Matz", "first visit" => nil}}.freeze
  LAST = {"id" => 3, "type" => "order", "user" => {"name" => "Ada"}, "tags" => ["a", "b"]}.freeze

  def events = stream(ORDER, LOG, LAST)
  def cut = events[0..-2]
  def cut_message = "#{events.bytesize - 2}: incomplete"

  # --- query

  def test_query_writes_what_a_path_finds
    assert_equal %("Ada"\n"Matz"\n"Ada"\n), output_of("query", "$.user.name", input: events)
    [".user.name", "user.name"].each { |path| assert_equal output_of("query", "$.user.name", input: events), output_of("query", path, input: events) }
    assert_equal output_of("cat", input: events), output_of("query", ".", input: events)
    assert_equal output_of("cat", input: events), output_of("unpack", input: events)
    assert_equal stream("order", "order"), output_of("query", "--to", "msgpack", "$[?@ == 'order']", input: events)
    assert_equal %({"path":"$['tags'][1]","value":"b"}\n), output_of("query", "--with-path", "$.tags[1]", input: events)
    assert_equal %("Ada"\n), output_of("query", "-n", "1", "$..name", input: events)
    assert_equal "Ada\nMatz\nAda\n", output_of("query", "--raw", "$..name", input: events)
    assert_equal "1.5\n[\"a\",\"b\"]\n", output_of("query", "--raw", "$['level','tags']", input: events)
  end

  # The path of each value has the long key.
  def test_query_with_path_limits_the_bytes_of_paths
    input = stream({"k" * 100_000 => [nil] * 200})
    out, err, status = manypack("query", "--with-path", "$.*[*]", input: input)
    assert_equal ["", 1], [out, status]
    assert_match(/\Amanypack: stdin:0: max_bytes is 1048576, but the input has paths of at least 168\d+ bytes, more than 16 times as many/, err)
    assert_equal 200, output_of("query", "--with-path", "--max-bytes", "1500000", "$.*[*]", input: input).lines.size
    assert_match "max_bytes is 7, but the input has at least", manypack("query", "--with-path", "--max-bytes", "7", "$.*[*]", input: input)[1]
    large = stream([1] * 70_000)
    assert_equal 70_000, output_of("query", "--with-path", "$[*]", input: large).lines.size
  end

  def test_query_writes_rows
    assert_equal "1,order\n2,log/x\n3,order\n", output_of("query", "--to", "csv", "$['id','type']", input: events)
    odd = stream({"a" => ["x,y", 'say "hi"', "two\nlines", nil, true, 1.5, [1], "b".b], "b" => {"c" => "t\tab", "d" => "back\\slash"}})
    assert_equal %("x,y","say ""hi""","two\nlines",,true,1.5,[1],"{""$bin"":""Yg==""}"\n), output_of("query", "--to", "csv", ".a", input: odd)
    assert_equal "t\\tab\tback\\\\slash\n", output_of("query", "--to", "tsv", ".b", input: odd)
  end

  def test_query_of_a_broken_stream_writes_what_comes_before_the_fault
    bad = stream(ORDER) + "\x81\xa4user\xc1".b + stream(LAST)
    [[%w[query .user.name], %("Ada"\n)], [%w[cat --path .user.name], %("Ada"\n)], [%w[filter --path .user.name=Ada], stream(ORDER)]].each do |arguments, expected|
      out, err, status = manypack(*arguments, input: bad)
      assert_equal [expected, 1], [out, status], arguments.join(" ")
      assert_match(/\Amanypack: stdin:\d+: /, err)
    end
    invalid = stream({"user" => {"name" => 1}}) + "\x82\xa4user\xc0\xa1t\xc7\x0c\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\0".b
    assert_equal ["1\n", 0], manypack("query", "..name", input: invalid).values_at(0, 2)
  end

  # Many reads, the last of them cut, and a message whose text is long.
  def test_many_cores_write_the_same
    message = ORDER.merge("text" => "é\n,\t" * 50, "bytes" => "\xff".b * 9)
    deep = Array.new(3000) { |i| {"name" => i} }
    5.times { deep = [deep] }
    files(stream(*Array.new(600) { |i| message.merge("id" => i) }, {"user" => deep}, message), stream(message) * 300 + cut) do |one, two|
      [%w[.user], %w[--to csv $["id","text"]], %w[--to tsv $.*], %w[--to msgpack $..*], %w[--with-path $..name], %w[--raw .text], %w[--to pretty $..user]].each do |arguments|
        [[one], [two], [two, one]].each do |names|
          assert_equal manypack("query", *arguments, *names), manypack("query", "-j", "2", *arguments, *names), [arguments, names].inspect
        end
        assert_equal manypack("query", *arguments, input: File.binread(two)), manypack("query", "-j2", *arguments, input: File.binread(two))
        header = ["--skip-bytes", stream(message).bytesize.to_s]
        assert_equal manypack("query", *header, *arguments, two), manypack("query", "-j2", *header, *arguments, two)
      end
      assert_equal shell("(head -c0; ruby -e 'STDIN.sysread(#{stream(message).bytesize})'; manypack query .id) < #{two}"),
                   shell("(head -c0; ruby -e 'STDIN.sysread(#{stream(message).bytesize})'; manypack query -j2 .id) < #{two}")
      assert_equal ["0\n", "", 0], shell("manypack query -j 2 .id #{one} | head -n 1")
    end
  end

  # An invalid timestamp is found by the search only.
  def test_a_fault_in_one_of_many_cores_comes_after_what_is_before_it
    late = "\x81\xa1t\xc7\x0c\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\0".b
    files(stream(*Array.new(9000) { |i| {"t" => i} }) + late + stream(*Array.new(9000) { |i| {"t" => i} })) do |name|
      one, many = [[], %w[-j 2]].map { |jobs| manypack("query", *jobs, "--to", "csv", "$[?@ >= 0]", name) }
      assert_equal one, many
    end
  end

  def test_what_the_code_of_filter_prints_is_no_message
    [[], %w[-j 2], ["--path", "$.id"]].each do |options|
      out, err, status = manypack("filter", *options, "-e", "puts _1['id']; p :seen; $stdout.write('end'); true", input: stream({"id" => 1}))
      assert_equal [stream({"id" => 1}), "1\n:seen\nend", 0], [out, err, status], options
    end
  end

  # What is found comes out while the input is silent.
  def test_many_cores_hold_nothing_back
    [%w[query -j3 .id], %w[query .id], %w[filter -j3 -e it["id"]]].each do |arguments|
      IO.popen([ENVIRONMENT, *PROGRAM, *arguments], "r+b") do |program|
        program.sync = true
        12.times do |id|
          program.write(stream({"id" => id}))
          expected = arguments[0] == "query" ? "#{id}\n" : stream(id)
          assert_equal expected, Timeout.timeout(60) { program.read(expected.bytesize) }, arguments.inspect
        end
      end
    end
  end

  def test_a_worker_that_is_killed_is_no_bug_of_the_program
    die = "Manypack::Terminal::ManyCores.prepend(Module.new { def longer(_, packed, _) = packed.include?('stop') ? Process.kill(:KILL, Process.pid) : super })"
    message = stream({"id" => "go"})
    files(message * 40_000 + stream({"id" => "stop"}) + message * 40_000, die, suffix: "rb") do |name, lib|
      filter = ["filter", "-j2", "-e", "it['id'] == 'go' || Process.kill(:KILL, Process.pid)"] if RUBY_VERSION < "4.1" # then it has Ractors
      [["query", "-j2", "-r", lib, ".id"], *[filter].compact].each do |arguments|
        out, err, status = manypack(*arguments, name)
        assert_equal 1, status, err
        assert_match(/\Amanypack: #{name}:\d+: worker process \d+ was killed by SIGKILL/, err)
        offset = err[/:(\d+):/, 1].to_i
        assert_includes (message.bytesize..message.bytesize * 40_000), offset
        assert_equal offset / message.bytesize, out.bytesize / (arguments[0] == "query" ? 5 : message.bytesize)
        refute_match(/messages \d/, err) if arguments[0] == "query"
      end
    end
  end

  def test_schema_of_nothing_that_was_read_is_nothing
    ["{\"a\": 1}", "\xc1".b, "\x92\x01".b].each do |bytes|
      out, err, status = manypack("schema", input: bytes)
      assert_equal ["", 1, 1], [out, err.lines.size, status], bytes.inspect
    end
    out, _, status = manypack("schema", input: stream({"id" => 1}) + "\xc1".b)
    assert_equal [true, 1], [out.include?("id: Integer"), status]
    assert_equal "MESSAGE = Manypack::Type[Object]\n", output_of("schema")
  end

  def test_schema_reads_deep_messages
    [128, 129, 500].each do |depth|
      message = "\x81\xa1a".b * (depth - 1) + "\x91\x05".b
      ruby = output_of("schema", input: message)
      assert_equal depth > 128, ruby.include?("max_depth: #{depth}")
      object = Module.new.module_eval("#{ruby}\nMESSAGE").load(message)
      (depth - 1).times { object = object.a }
      assert_equal [5], object
    end
  end

  def test_one_byte_is_no_bytes
    [%w[stat], %w[validate], %w[validate -u], %w[validate -u --skip-bytes 1]].each do |arguments|
      assert_match(/\Astdin: 1 message, 1 byte$/, output_of(*arguments, input: "\x01" * (arguments.size > 2 ? 2 : 1)), arguments.inspect)
      assert_match(/\Astdin: 2 messages, 2 bytes$/, output_of(*arguments.first(2), input: "\x01\x02"), arguments.inspect)
    end
  end

  def test_wrong_use_of_query
    [["query"], ["query", "$["], ["query", ".a==1"], %w[query --raw --to csv .a], %w[query -n -1 .a], %w[query -j 0 .a], %w[query -j 2 -n 1 .a]].each { |arguments| assert_equal 2, manypack(*arguments).last, arguments.join(" ") }
  end

  # A path with an absolute part in a condition keeps nothing of the message before.
  def test_conditions_about_the_message_itself
    input = stream({"max" => 2, "list" => [1, 2, 3]}, {"max" => 1, "list" => [1, 2, 3]}, {"list" => [1]})
    assert_equal "3\n2\n3\n", output_of("query", "$.list[?@ > $.max]", input: input)
    assert_equal "3\n2\n3\n", output_of("query", "$.list[?@ > $.max]", "-n", "9", input: input)
  end

  def test_a_scalar_selects_numbers_of_any_width_and_containers_by_their_bytes
    wide = "\x81\xa1n\xcd\x00\x05".b
    assert_equal wide + stream({"n" => 5}), output_of("filter", "--path", ".n=5", input: wide + stream({"n" => 5}, {"n" => 6}, {"n" => 5.0}, {}))
    assert_equal stream({"n" => nil}), output_of("filter", "--path", ".n=null", input: stream({"n" => nil}, {"n" => 1}, {}))
    assert_equal stream({"n" => [1]}), output_of("filter", "--path", ".n=[1]", input: stream({"n" => [1]}, {"n" => [2]}))
    assert_equal stream({"n" => 0}, {"n" => ""}), output_of("filter", "--path", ".n", input: stream({"n" => 0}, {"n" => ""}, {"n" => nil}, {"n" => false}, {}))
  end

  # --- stat

  def test_stat_counts_types_paths_depths_and_sizes
    assert_equal <<~TEXT, output_of("stat", input: stream({"a" => [1, 2]}, {"a" => [], "b" => "x" * 40})).force_encoding("UTF-8")
      stdin: 2 messages, 54 bytes

      types
        str     4  ████████████████████████████████████████
        array   2  ████████████████████
        fixint  2  ████████████████████
        map     2  ████████████████████

      bytes by path
        $       54  ████████████████████████████████████████
        $.b     42  ███████████████████████████████
        $.a      4  ██
        $.a[*]   2  █

      depth
        1  1  ████████████████████████████████████████
        2  1  ████████████████████████████████████████

      size
        4 to 7    1  ████████████████████████████████████████
        8 to 15   0
        16 to 31  0
        32 to 63  1  ████████████████████████████████████████
    TEXT
  end

  def test_stat_tells_of_what_came_before_a_fault
    out, err, status = manypack("stat", "--paths", "1", input: cut)
    assert_equal ["stdin: 2 messages, #{stream(ORDER, LOG).bytesize} bytes\n", 1], [out.lines.first, status]
    assert_includes err, cut_message
  end

  # --- count, concat

  def test_count
    files(events, stream(1)) do |one, two|
      assert_equal "3\n", output_of("count", one)
      assert_equal "3 #{one}\n1 #{two}\n4 total\n", output_of("count", one, two)
    end
    assert_equal ["2\n", 1], manypack("count", input: cut).values_at(0, 2)
  end

  def test_concat_takes_what_is_whole
    files(events, cut) do |one, broken|
      out, err, status = manypack("concat", one, broken, one)
      assert_equal [events + stream(ORDER, LOG) + events, 1], [out, status]
      assert_includes err, "#{broken}:#{cut_message}"
    end
  end

  # --- slice

  def test_slice_by_number_size_and_value
    assert_equal stream(LOG), output_of("slice", "--skip", "1", "-n", "1", input: events)
    assert_equal stream(ORDER, LOG), output_of("slice", "--max-bytes", stream(ORDER, LOG).bytesize.to_s, input: events)
    assert_equal stream(ORDER, LAST), output_of("slice", "--where", "$.type=order", input: events)
    assert_equal stream(LAST), output_of("slice", "--where", "$.id=3", input: events)
    assert_equal stream(LAST), output_of("slice", "--where", '$.tags=["a","b"]', input: events)
    assert_equal stream(LOG), output_of("slice", "--where", "$.level", input: events)
    assert_equal ["", "", 1], manypack("slice", "--where", '$.user["first visit"]', input: events)
    assert_equal stream(LOG), output_of("slice", "--where", '$.user["first visit"]=null', input: events)
  end

  # --- split

  def test_split_by_number_and_size
    Dir.mktmpdir do |folder|
      names = output_of("split", "-n", "2", "--prefix", "#{folder}/n-", input: events).lines(chomp: true)
      assert_equal ["#{folder}/n-0000.msgpack", "#{folder}/n-0001.msgpack"], names
      assert_equal([stream(ORDER, LOG), stream(LAST)], names.map { |name| File.binread(name) })
      names = output_of("split", "-b", "60", "--prefix", "#{folder}/b-", input: events).lines(chomp: true)
      assert_equal([ORDER, LOG, LAST].map { |one| stream(one) }, names.map { |name| File.binread(name) })
    end
  end

  def test_split_by_value_names_files_after_it_and_never_overwrites
    Dir.mktmpdir do |folder|
      arguments = ["split", "--by", "$.type", "--prefix", "#{folder}/"]
      assert_equal "#{folder}/order.msgpack\n#{folder}/log%2Fx.msgpack\n", output_of(*arguments, input: events)
      assert_equal stream(ORDER, LAST), File.binread("#{folder}/order.msgpack")
      _, err, status = manypack(*arguments, input: events)
      assert_equal ["manypack: #{folder}/order.msgpack: File exists\n", 74], [err, status]
    end
  end

  def test_split_tells_strings_from_what_they_look_like
    values = [1, "1", nil, "null", "nullable", -1.5, "-1.5", [], "[]", '"1"', "%", "\xff", "\xff".b, "", "a-b_c.d"]
    Dir.mktmpdir do |folder|
      names = output_of("split", "--by", "$", "--prefix", "#{folder}/", input: stream(*values) * 2).lines(chomp: true)
      assert_equal(values.map { |value| stream(value) * 2 }, names.map { |name| File.binread(name) })
      assert_includes names, "#{folder}/a-b_c.d.msgpack"
    end
  end

  def test_split_by_many_values_keeps_few_files_open
    Dir.mktmpdir do |folder|
      out, err, status = shell("ulimit -n 90; manypack split --force --by '$' --prefix #{folder}/ <<<#{"{1..200}"}; " \
                               "for i in {1..200} {1..200}; do printf \"\\\\xcd\\\\x01\\\\x$(printf %02x $i)\"; done | " \
                               "manypack split --by '$' --prefix #{folder}/many-")
      assert_equal ["", 0], [err, status]
      assert_equal 200, out.lines.grep(/many-/).size
      assert_equal "\xcd\x01\xc8".b * 2, File.binread("#{folder}/many-456.msgpack")
    end
  end

  # --- diff

  def test_diff_tells_what_differs_by_path
    changed = LAST.merge("user" => {"name" => "Grace", 5 => nil}, "tags" => ["a"])
    files(events, stream(ORDER.to_a.reverse.to_h, LOG, changed, "more")) do |one, two|
      out, err, status = manypack("diff", one, two)
      assert_equal ["", 1], [err, status]
      assert_equal <<~TEXT, out
        message 2
        - $.user.name: "Ada"
        + $.user.name: "Grace"
        + $.user[5]: null
        - $.tags[1]: "b"
        message 3
        + $: "more"
      TEXT
      assert_equal ["", "", 1], manypack("diff", "--quiet", one, two)
    end
  end

  def test_diff_names_the_file_that_is_broken
    files(events, cut) do |whole, broken|
      [[whole, broken], [broken, whole]].each do |names|
        out, err, status = manypack("diff", *names)
        assert_equal ["", 1], [out, status]
        assert_match(/\Amanypack: #{broken}:#{cut_message}[^\n]*\n\z/, err)
      end
    end
  end

  def test_what_is_equal_has_no_difference
    files(stream({"a" => 1, "b" => [2]}), "\x82\xa1b\xdc\x00\x01\xcd\x00\x02\xa1a\xcc\x01".b) do |one, two|
      assert_equal "", output_of("diff", one, two)
    end
    files(stream("a", 1, Float::NAN), stream("a".b, 1.0, Float::NAN)) do |one, two|
      assert_equal "message 0\n- $: \"a\"\n+ $: {\"$bin\":\"YQ==\"}\nmessage 1\n- $: 1\n+ $: 1.0\n", manypack("diff", one, two).first
    end
    assert_equal 2, manypack("diff", "one").last
  end

  # --- canon

  def test_canon_writes_and_checks_the_canonical_form
    bytes = stream({"b" => 1, "a" => 2}, 1)
    form = output_of("canon", input: bytes)
    assert_equal Manypack.pack({"a" => 2, "b" => 1}, canonical: true) + "\x01", form
    assert_equal "", output_of("canon", "--check", input: form)
    assert_equal ["", "manypack: stdin:0: not canonical\n", 1], manypack("canon", "--check", input: bytes)
    assert_equal ["\x01", 1], manypack("canon", input: "\x01\x82\xa1a\x01\xa1a\x02".b).values_at(0, 2)
  end

  # What only unpacking finds, in the last of the messages; the first two are shown once.
  def test_what_was_found_before_a_fault_is_shown_once
    late = "\x81\xa1x\xd7\xff\xff\xff\xff\xff\x00\x00\x00\x00".b # a timestamp with too many nanoseconds
    input = stream({"x" => "a"}, {"x" => "b"})
    [[], %w[-j2], %w[-n4]].each do |options|
      out, err, status = manypack("query", "--to", "ruby", *options, "$.x", input: input + late)
      assert_equal ["\"a\"\n\"b\"\n", 1], [out, status], options
      assert_match(/\Amanypack: stdin:#{input.bytesize}: .*timestamp/, err, options)
    end
    nan = stream((1..300).to_h { |i| [[Float::NAN] * i, i] })
    [%w[csv], %w[tsv -j2], %w[csv -n5], %w[ruby -j2]].each do |options|
      out, err, status = manypack("query", "--to", *options, "$", input: stream("a") + nan)
      assert_includes ["", "manypack: stdin:2: "], err[0, 18], options
      assert_equal "a", out.delete("\"")[0], options
      assert_operator status, :<=, 1, options
    end
  end

  def test_a_value_that_no_message_can_have_is_refused
    [["slice", "--where"], ["filter", "--path"]].each do |command|
      assert_equal ["", "manypack: #{command[0]}: $.id=18446744073709551616: the value has more than the 64 bits of an Integer\n", 2],
                   manypack(*command, "$.id=18446744073709551616", input: events)
    end
    assert_equal 2, manypack("stat", "--paths", "-1", input: events).last
  end

  # --- filter

  def test_filter_writes_what_the_code_returns
    assert_equal stream(1, 3), output_of("filter", "-e", '_1["id"] if _1["type"] == "order"', input: events)
    assert_equal stream("Ada", "Matz", "Ada"), output_of("filter", "-e", 'it["user"]["name"]', "-j", "2", input: events)
    assert_equal stream(1, 3), output_of("filter", "-e", 'return if it["type"] != "order"; it["id"]', input: events)
    time = Manypack::Timestamp.new(5, 7)
    ext = Manypack::ExtensionValue.new(3, "abc")
    assert_equal stream([time, ext]), output_of("filter", "-e", "it", input: stream([time, ext]))
  end

  def test_filter_selects_by_a_path
    assert_equal stream(ORDER, LAST), output_of("filter", "--path", "$.user.name=Ada", input: events)
    assert_equal stream(3), output_of("filter", "--path", "$.tags", "-e", '_1["id"]', input: events)
  end

  def test_filter_names_the_message_that_fails
    out, err, status = manypack("filter", "-e", 'it["level"] * 2', input: stream(LOG, ORDER))
    assert_equal [stream(3.0), 1], [out, status]
    assert_match(/\Amanypack: stdin:#{stream(LOG).bytesize}: undefined method .* \(NoMethodError\)\n\z/, err)
    out, err, status = manypack("filter", "-e", 'it["id"]', input: cut)
    assert_equal [stream(1, 2), 1], [out, status]
    assert_includes err, cut_message
    assert_equal stream([2, 4]), output_of("filter", "-e", 'it["a"].map { |n| n * 2 }', input: stream({"a" => [1, 2]}))
    ['it["a"].map { _1 * 2 }', '_1["a"].map { |n| n * 2 }', 'it["a"].map { |n| n * "_1".size }'].each do |code|
      assert_equal stream([2, 4]), output_of("filter", "-e", code, input: stream({"a" => [1, 2]})), code
    end
    assert_equal stream([1, 2]), output_of("filter", "-e", 'it["a"].map { it }', input: stream({"a" => [1, 2]})) if RUBY_VERSION >= "3.4"
    assert_equal stream(7, 7), output_of("filter", "-e", "7", input: stream(1, 2))
  end

  def test_filter_names_the_message_whatever_the_code_raises
    ["raise NotImplementedError", 'eval("1+")', "load '/no/such/library'", "def f(x) = f(x); f(1)"].each do |code|
      [[], %w[-j2], %w[--path $]].each do |options|
        next if options == %w[-j2] && !Process.respond_to?(:fork)

        out, err, status = manypack("filter", "-e", "it['id'] == 1 || (#{code})", *options, input: stream({"id" => 1}, {"id" => 2}))
        assert_equal [stream({"id" => 1}), 1], [out, status], [code, options]
        assert_match(/\Amanypack: stdin:5: .*Error\)\n\z/, err, [code, options])
      end
    end
  end

  def test_a_library_that_cannot_be_loaded_is_named
    ["def (", "no_such_method", "raise 'no'"].each do |code|
      files(code, suffix: "rb") do |name|
        out, err, status = manypack("cat", "-r", name, input: stream(1))
        assert_equal ["", 2], [out, status], code
        assert_match(/\Amanypack: cat: -r #{name}: .*Error\)\n\z/, err, code)
      end
    end
  end

  def test_filter_says_what_is_wrong_with_the_code
    ["it +", "[1", "it)", "it\n(it"].each do |code|
      out, err, status = manypack("filter", "-e", code)
      assert_equal ["", 2], [out, status], code
      assert_match(/\Amanypack: filter: code:[123]: .*expect.*$/, err, code)
    end
  end

  def test_options_without_effect_are_refused
    { %w[cat --to ruby --hex] => "cat: --hex is for text, not for --to ruby", %w[cat --to msgpack --open] => "cat: --open is for text, not for --to msgpack",
      %w[query --max-bytes 9 .] => "query: --max-bytes is for --with-path", %w[query -w --max-bytes 0 .] => "query: --max-bytes must be 1 or more",
      %w[query -R -w .] => "query: --raw writes values, and --with-path writes maps of both", %w[validate -k] => "validate: --keep-going needs --untrusted" }.each do |arguments, message|
      out, err, status = manypack(*arguments, input: stream(1))
      assert_equal ["", 2], [out, status], arguments
      assert_includes err, "manypack: #{message}\n"
    end
  end

  # --- schema

  def test_schema_infers_a_record
    assert_equal <<~RUBY, output_of("schema", "--name", "Event", input: events)
      EventUser = Struct.new(:name, :first_visit)
      EVENT_USER = Manypack::Record.new(EventUser, name: String, first_visit: nil)
        .with(keys: {first_visit: "first visit"}, defaults: {first_visit: nil})

      Event = Struct.new(:id, :type, :user, :level, :tags)
      EVENT = Manypack::Record.new(Event,
        id: Integer,
        type: String,
        user: EVENT_USER,
        level: Manypack::Type[Float, nil],
        tags: Manypack::Type[[String], nil])
        .with(defaults: {level: nil, tags: nil})
    RUBY
  end

  def test_schema_knows_maps_from_values_to_values_and_other_messages
    assert_equal "MESSAGE = Manypack::Type[{Integer => [Float]}]\n", output_of("schema", input: stream({1 => [1.5], 2 => []}))
    assert_equal "MESSAGE = Manypack::Type[[Manypack::Type[Integer, String]]]\n", output_of("schema", input: stream([1, "a"], []))
    names = (1..300).to_h { |i| ["name#{i}", i] }
    assert_equal "MESSAGE = Manypack::Type[{String => Integer}]\n", output_of("schema", input: stream(names))
    assert_match(/at: Time\).*timestamp: true/m, output_of("schema", input: stream({"at" => Manypack::Timestamp.new(1, 1)})))
  end

  # Keys that are named after classes of Ruby, its words, one letter or nothing; maps and arrays of all kinds.
  def test_what_schema_writes_can_be_loaded
    keys = %w[String string STRING Data env time a class end hash method self Größe 1st 1 keys if] + ["", "a b", "a-b", "\xff", "$x"]
    {
      "nested" => [keys.to_h { |key| [key, {"x" => 1}] }, keys.to_h { |key| [key, {"x" => {key => [nil, {key => 2}]}}] }],
      "named as it is" => [{"message" => {"message" => {"message part" => {"z" => 1}}}}],
      "no record" => [[{"a" => 1}], [{"a" => [{"b" => 2}]}]], "of two kinds" => [1, {"a" => 1}, [2]], "nothing" => [],
      "odd maps" => [{"empty" => {}, "float" => {1.5 => 1}, "nil" => {nil => 1}, "mixed" => {1 => 1, "a" => 2}, "int" => {1 => {"a" => 1}}}],
      "bin keys" => [{"a".b => 1}, {"a" => nil, "größe".b => 2}], "bytes as keys" => [{"\xff".b => 1}, {"\xff" => {"\xfe".b => [1]}}],
      "exts" => [{"e" => Manypack::ExtensionValue.new(5, "x"), "in" => {"e" => [Manypack::ExtensionValue.new(6, "")]}}, {"e" => 1}],
      "ext keys" => [{Manypack::ExtensionValue.new(5, "x") => 1, [1, [Manypack::ExtensionValue.new(7, "")]] => 2}], "bare exts" => [Manypack::ExtensionValue.new(5, "x"), 1],
      "times" => [{"time" => Manypack::Timestamp.new(1, 1)}], "all kinds" => [[nil, true, 1, 1.5, "s", "b".b, [1], {}]]
    }.each do |name, messages|
      type = Module.new.tap { |folder| folder.module_eval(output_of("schema", input: stream(*messages)).force_encoding("UTF-8")) }.const_get(:MESSAGE)
      messages.each { |message| type.load(stream(message)) }
    rescue StandardError => e
      flunk "#{name}: #{e.full_message}"
    end
  end

  def test_schema_names_no_two_members_alike
    bytes = stream({"é" => 1, "ü" => 2, "" => 3, "a b" => 4, "a_b" => 5, "field_" => 6})
    members = output_of("schema", input: bytes)[/Struct.new\((.*)\)/, 1].split(", ")
    assert_equal members.uniq, members
    assert_equal 6, members.size
  end

  def test_schema_reads_a_message_that_has_a_key_twice
    ["\x82\xa1a\x01\xa1a\xa1b", "\x82\xa1a\x01\xc4\x01a\xa1b"].map(&:b).each do |bytes|
      type = Module.new.tap { |folder| folder.module_eval(output_of("schema", input: bytes)) }.const_get(:MESSAGE)
      assert_includes [1, "b"], type.load(bytes).a
    end
  end

  def test_the_class_of_a_schema_has_another_name_than_its_record
    assert_equal 2, manypack("schema", "--name", "EVENT").last
  end

  # --- completion and man page

  def test_bash_completes_commands_options_and_their_values
    script = output_of("completion", "bash")
    complete = lambda do |*words|
      before, word = words.last(2)
      program = "#{script}\nCOMP_WORDS=(#{words.join(" ")}); COMP_CWORD=#{words.size - 1}\n" \
                "_manypack manypack '#{word}' '#{before}'; echo \"${COMPREPLY[@]}\""
      out, err, status = shell(program)
      assert_equal ["", 0], [err, status]
      out.chomp
    end
    assert_equal "validate", complete.("manypack", "val")
    assert_equal "--untrusted", complete.("manypack", "validate", "--u")
    assert_equal "yaml", complete.("manypack", "cat", "--to", "y")
    assert_equal "", complete.("manypack", "cat", "events.m")
  end

  def test_zsh_knows_every_command
    script = output_of("completion", "zsh")
    assert_match(/\A#compdef manypack\n/, script)
    output_of("--help").scan(/^  (\w+) /) { |(name)| assert_match(/^    #{name}\) .*--help/, script) }
    assert_equal 2, manypack("completion", "fish").last
  end

  def test_the_man_page_is_what_its_generator_writes
    page, status = Open3.capture2(RbConfig.ruby, "-I", "#{ROOT}/lib", "#{ROOT}/tools/gen_man.rb")
    assert_predicate status, :success?
    assert_equal page.b, File.binread("#{ROOT}/man/manypack.1")
  end
end

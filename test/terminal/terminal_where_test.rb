# frozen_string_literal: true

# Conditions about messages at the terminal, what is said instead of finding nothing, and the exit code for that.
require "test_helper"
require "support/terminal"

class TerminalWhereTest < Minitest::Test
  include TerminalHelper

  MESSAGES = [{"id" => 1, "type" => "order", "total" => 9.5}, {"id" => 2, "type" => "visit", "tags" => ["new"]},
              {"id" => 3, "type" => "order", "total" => 100}, [1, 2], 5, nil].freeze

  # Conditions, and the indices of the messages of which they are true.
  CONDITIONS = {
    '@.type == "order" && @.total > 99' => [2], "@.total" => [0, 2], "!@.total" => [1, 3, 4, 5], "@[1] == 2" => [3], "@ == 5" => [4],
    "(@.id == 1 || @.id == 2) && !@.tags" => [0], 'search(@.type, "^v")' => [1], "length(@) == 2" => [3], "$.id >= 2" => [1, 2],
    "@.tags[?@ == 'new']" => [1], "@ == null" => [5], "$.id == 3 || @..*" => [0, 1, 2, 3], " @.id==1 " => [0]
  }.freeze

  def test_an_option_finds_the_first_of_equal_keys
    twice = "\x84\xA1a\x01\xA1b\x02\xA1a\x03\xA1c\x04".b
    values = [%w[query .a], %w[cat --path .a], %w[query -n1 .a]]
    chosen = [%w[filter --where @.a==1], %w[filter --path .a=1], %w[slice --where .a=1]]
    values.each { |command| assert_equal %W[3\n 1\n], [[], %w[--first-key]].map { |option| output_of(*command, *option, input: twice) }, command }
    chosen.each { |command| assert_equal ["", twice], [[], %w[--first-key]].map { |option| manypack(*command, *option, input: twice).first }, command }
    assert_equal %W[0\n 1\n], [[], %w[--first-key]].map { |option| manypack("count", "--where", "@.a == 1", *option, input: twice).first }
    assert_equal %({"path":"$['a']","value":1}\n), output_of("query", "--first-key", "--with-path", ".a", input: twice)
    Dir.mktmpdir { |folder| assert_equal "#{folder}/1.msgpack\n", output_of("split", "--by", ".a", "--first-key", "--prefix", "#{folder}/", input: twice) }
    [%w[count], %w[filter -e true], %w[split -n 1], %w[cat]].each do |command|
      assert_equal ["", "manypack: #{command[0]}: --first-key is for paths and conditions\n", 2], manypack(*command, "--first-key", input: twice)
    end
  end

  def test_a_condition_is_about_the_message_at_every_command
    CONDITIONS.each do |condition, indices|
      chosen = stream(*MESSAGES.values_at(*indices))
      [[], %w[-e true]].each { |code| assert_equal chosen, output_of("filter", "--where", condition, *code, input: stream(*MESSAGES)), condition }
      assert_equal chosen, output_of("slice", "--where", condition, input: stream(*MESSAGES)), condition
      assert_equal "#{indices.size}\n", output_of("count", "--where", condition, input: stream(*MESSAGES)), condition
      Dir.mktmpdir do |folder|
        manypack("split", "--by", condition, "--prefix", "#{folder}/", input: stream(*MESSAGES))
        assert_equal chosen, File.binread("#{folder}/true.msgpack"), condition
      end
    end
  end

  def test_a_path_with_a_value_selects_as_before
    assert_equal stream(MESSAGES[1]), output_of("filter", "--where", "$.type=visit", input: stream(*MESSAGES))
    assert_equal "2\n", output_of("count", "--where", ".total", input: stream(*MESSAGES))
    assert_equal "1\n", output_of("count", "--where", '.tags=["new"]', input: stream(*MESSAGES))
  end

  def test_a_wrong_condition_is_shown_with_a_mark
    { "@.a ==" => 6, '@.type = "order"' => 7, "$.a == order" => 7, "@.a && " => 7, "length(@)" => 0, "@.a == 1 @.b" => 9 }.each do |condition, column|
      %w[filter slice count].each do |command|
        out, err, status = manypack(command, "--where", condition)
        assert_equal ["", 2, "  #{condition}\n", "  #{" " * column}^\n"], [out, status, *err.lines.last(2)], condition
      end
    end
  end

  def test_a_fault_comes_after_what_was_chosen_before_it
    out, err, status = manypack("filter", "--where", "@.id", input: stream(MESSAGES[0]) + "\xc1".b)
    assert_equal [stream(MESSAGES[0]), true, 1], [out, err.include?("stdin:#{stream(MESSAGES[0]).bytesize}: "), status]
  end

  def test_nothing_found_is_an_exit_code_as_that_of_grep
    [%w[query .no], %w[cat --path $.no], %w[filter --where @.no], %w[filter --path .no], %w[filter -e false], %w[slice --where @.no], %w[query --to csv .no],
     %w[query -j2 .no]].each { |arguments| assert_equal ["", "", 1], manypack(*arguments, input: stream(*MESSAGES)), arguments }
    assert_equal ["0\n", "", 1], manypack("count", "--where", "@.no", input: stream(*MESSAGES))
    [%w[query .id], %w[filter -e true], %w[slice -n 0], %w[slice --where @.id]].each { |arguments| assert_equal 0, manypack(*arguments, input: stream(*MESSAGES)).last, arguments }
    assert_equal ["0\n", "", 0], manypack("count")
  end

  def test_a_path_that_tests_the_values_of_maps_and_finds_nothing_is_told_what_tests_the_maps
    [%w[query], %w[cat --path], %w[filter --path], %w[slice --where], %w[count --where]].each do |command|
      _, err, status = manypack(*command, '$[?@.type=="order"]', input: stream(MESSAGES[0]))
      assert_equal [1, "manypack: nothing found: in $[?@.type == \"order\"], @ is each value of a message; filter --where '@.type == \"order\"' tests the message\n"], [status, err]
    end
    assert_equal ["", 1], manypack("query", '$[?@.type=="order"]', input: stream([1])).last(2)
    assert_equal ["", 0], manypack("query", '$[?@=="order"]', input: stream(MESSAGES[0])).last(2)
  end

  def test_questions_of_jq_are_no_keys
    [".user, .id", "{id: .id}", ".a?", ".a|.b", ".a | length", "select(.a)", ".a, .b", ".[]", "[.id]", ".a[]", "map(.x)", ".a;.b", "@.a", "@", ".a == 1", ".a // 1"].each do |question|
      [%w[query], %w[cat --path]].each do |command|
        out, err, status = manypack(*command, question, input: stream(*MESSAGES))
        assert_equal ["", 2], [out, status], question
        refute_empty err
      end
    end
  end

  def test_query_without_a_path_is_told_from_a_file
    files(stream(*MESSAGES)) do |name|
      [[name], [name, name], ["no.msgpack"], ["no.msgpack.gz", name]].each do |arguments|
        out, err, status = manypack("query", *arguments)
        assert_equal ["", "manypack: query: needs a path first, and #{arguments[0]} is a file\n", 2], [out, err, status]
      end
    end
  end

  def test_split_tells_a_missing_value_from_nil
    Dir.mktmpdir do |folder|
      names = output_of("split", "--by", "$.a", "--prefix", "#{folder}/", input: stream({"a" => nil}, {}, {"a" => "missing"}, 5)).lines(chomp: true)
      assert_equal(%w[null ~missing missing], names.map { |name| File.basename(name, ".msgpack") })
      assert_equal stream({}, 5), File.binread(names[1])
    end
  end
end

# frozen_string_literal: true

# What `manypack query` writes as CSV and TSV: cells never move to another column, and `pack` reads the same again.
require "test_helper"
require "csv"
require "support/terminal"

class TerminalRowsTest < Minitest::Test
  include TerminalHelper

  TIME = Manypack::Timestamp.new(1_700_000_000, 500_000_000)
  MESSAGES = [{"id" => 1, "type" => "a,b", "total" => 1.5}, {"type" => "say \"hi\"", "id" => 2, "tags" => ["x", {"y" => 1}]}, {"id" => 3, "total" => TIME, "tags" => {}},
              {"total" => nil, "type" => "two\nlines"}, {}].freeze

  def csv_of(*arguments, messages: MESSAGES)
    output_of("query", "--to", "csv", *arguments, input: stream(*messages)).force_encoding("UTF-8")
  end

  def test_a_missing_value_is_an_empty_cell_and_a_container_a_cell
    rows = [["1", "1.5", "a,b", nil], ["2", nil, "say \"hi\"", '["x",{"y":1}]'], ["3", "2023-11-14T22:13:20.5Z", nil, "{}"], [nil, nil, "two\nlines", nil], [nil] * 4]
    path = "$['id','total','type','tags']"
    assert_equal rows, CSV.parse(csv_of(path))
    assert_equal [%w[id total type tags], *rows], CSV.parse(csv_of("--header", path))
    assert_equal csv_of("--header", path), csv_of("--header", "-j2", path)
    assert_equal csv_of("--header", path), csv_of("--header", "-n9", path)
    assert_equal rows[1], CSV.parse(csv_of("$[*]['id','total','type','tags']", messages: [MESSAGES]))[1]
    assert_equal [["2", nil]], CSV.parse(csv_of("$[?@.type == 'say \"hi\"']['id','total']", messages: [MESSAGES]))
    assert_equal "1\t\\n\n\tx\n", output_of("query", "--to", "tsv", "$['a',1]", input: stream({"a" => 1, 1 => "\n"}, {1 => "x"}))
  end

  def test_what_is_written_with_a_header_is_read_again
    expected = MESSAGES.first(4).map { |message| %w[id type].to_h { |name| [name, message[name]&.to_s] } }
    assert_equal stream(*expected), output_of("pack", "--from", "csv", input: csv_of("--header", "$['id','type']", messages: MESSAGES.first(4)))
  end

  def test_one_name_is_a_column_if_there_is_a_header
    assert_equal "id\n1\n2\n3\n\"\"\n\"\"\n", csv_of("-H", ".id")
    assert_equal "1\n2\n3\n", csv_of(".id")
  end

  def test_the_first_map_names_the_columns
    maps = [{"a" => 1, "b" => 2}, {"b" => 3}, {"b" => 5, "a" => [4]}]
    assert_equal "1,2\n,3\n[4],5\n", csv_of("$", messages: maps)
    assert_equal "a,b\n1,2\n,3\n[4],5\n", csv_of("-H", "$[*]", messages: [maps])
    out, err, status = manypack("query", "--to", "csv", "-H", "$", input: stream(*maps, {"c" => 1}, {"a" => 1}))
    assert_equal ["a,b\n1,2\n,3\n[4],5\n", 1], [out, status]
    assert_includes err, "no column c; name the columns"
  end

  def test_a_container_beside_other_values_is_a_cell
    assert_equal "2,\"[\"\"x\"\"]\"\n", csv_of("$.*", messages: [{"id" => 2, "tags" => ["x"]}])
    assert_equal "1,2\n3\n", csv_of("$[*]", messages: [[[1, 2], [3]]])
  end

  def test_a_header_needs_names
    assert_equal 1, manypack("query", "--to", "csv", "-H", "$[*]", input: stream([1, 2])).last
    assert_equal 2, manypack("query", "-H", ".id").last
    assert_equal "path,value\n$['a'],1\n", csv_of("-H", "-w", ".a", messages: [{"a" => 1}])
  end

  def test_of_a_key_twice_the_last_is_the_cell
    assert_equal "2,\n", output_of("query", "--to", "csv", "$['a','b']", input: "\x82\xa1a\x01\xa1a\x02".b)
  end
end

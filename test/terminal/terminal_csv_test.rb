# frozen_string_literal: true

# manypack pack of CSV with line ends of every kind, and of CSV and YAML that come piece by piece.
require "test_helper"
require "csv"
require "support/terminal"
require "timeout"
require "manypack/terminal"

class TerminalCSVTest < Minitest::Test
  include TerminalHelper

  ENDS = ["\n", "\r\n", "\r"].freeze
  RECORDS = Manypack::Terminal.const_get(:CSVRecords)

  # Gives pieces of a size, as a pipe may.
  Pieces = Struct.new(:text, :size) do
    def readpartial(_) = text.slice!(0, size).tap { |piece| raise EOFError if piece.empty? }
  end

  def records(text, size)
    [].tap { |all| RECORDS.new(Pieces.new(text.b, size)).each { |some| all.concat(some) } }
  end

  def test_line_ends_may_be_mixed
    ENDS.product(ENDS, ENDS).each do |header, first, second|
      packed = stream({"id" => "7", "name" => "Ada"}, {"id" => "8", "name" => nil})
      assert_equal packed, output_of("pack", "--from", "csv", input: "id,name#{header}7,Ada#{first}8,#{second}"), [header, first, second].inspect
    end
  end

  def test_line_ends_in_quotes_belong_to_the_cell
    ENDS.each do |inside|
      text = "id,name\r\n7,\"Ada#{inside}\"\"L\"\"\"\n8,\"\"\n"
      assert_equal stream({"id" => "7", "name" => "Ada#{inside}\"L\""}, {"id" => "8", "name" => ""}), output_of("pack", "--from", "csv", input: text)
    end
  end

  # However the bytes come, a record is what CSV makes of the text if all line ends are alike.
  def test_records_are_those_of_the_gem_in_pieces_of_every_size
    cells = ["", "a", "é", "\"\"", "\"a\nb\"", "\"\"\"\"", "\"a,\"\"b\"\"\"", "\"\r\n\"", "\"\r\""]
    random = Random.new(5)
    100.times do
      rows = Array.new(random.rand(1..5)) { Array.new(random.rand(2..4)) { cells.sample(random: random) }.join(",") }
      expected = rows.map { |row| CSV.parse_line(row.b, row_sep: "\n") }
      1.upto(9) do |size|
        found = records(rows.map { |row| row + ENDS.sample(random: random) }.join, size)
        assert_equal rows.map(&:b), found
        assert_equal expected, CSV.parse(found.join("\n") << "\n", row_sep: "\n")
      end
      assert_equal rows.map(&:b), records(rows.join("\n"), 3), "without the last line end"
    end
  end

  def test_an_error_has_the_line_where_its_record_begins
    { "id\r\n1\n\"a\rb\"\r2\"\n3\n" => [5, %w[1 a\rb]], "id\n1\n\"2\n3\n" => [3, %w[1]], "id\r1\r\"2\"x\r3\r" => [3, %w[1]],
      "id\n1\na\"\"b\n3\n" => [3, %w[1]] }.each do |text, (line, before)|
      out, err, status = manypack("pack", "--from", "csv", input: text)
      assert_equal [stream(*before.map { |id| {"id" => id.gsub("\\r", "\r")} }), 1], [out, status], text
      assert_match(/\Amanypack: stdin:#{line}: /, err)
    end
  end

  def test_a_quote_in_a_cell_without_quotes_ends_with_its_line
    lines = ["a\"\"b", "a\"b", "x,a\"\"", "a\"\"\"", "\"a\"b\"\"c", "1,2"]
    lines.each { |line| assert_raises(CSV::MalformedCSVError) { CSV.parse_line(line) } unless line == "1,2" }
    1.upto(5) { |size| assert_equal lines, records(lines.join("\n"), size) }
  end

  def test_a_row_is_packed_when_its_line_is_there
    by_pieces("csv", "id,name\n" => [], "7,Ada\n" => [{"id" => "7", "name" => "Ada"}], "8,\"Grace" => [], " H\"\r\n" => [{"id" => "8", "name" => "Grace H"}],
                     "9,Lin\r" => [{"id" => "9", "name" => "Lin"}], "\n10,x\n" => [{"id" => "10", "name" => "x"}])
  end

  def test_a_yaml_document_is_packed_when_its_end_is_there
    by_pieces("yaml", "a: 1\n" => [], "---\n" => [{"a" => 1}], "- 2\n...\n" => [[2]], "# none\n--- 3\n" => [], "--- 4\n...\n" => [3, 4])
  end

  # Writes each text, and expects these messages before the next one is written.
  def by_pieces(format, pieces)
    IO.popen([ENVIRONMENT, *PROGRAM, "pack", "--from", format], "r+b") do |program|
      pieces.each do |text, messages|
        program.write(text)
        expected = stream(*messages)
        assert_equal expected, Timeout.timeout(60) { program.read(expected.bytesize) || "" }, text unless messages.empty?
      end
      program.close_write
      assert_equal "", program.read
    end
  end
end

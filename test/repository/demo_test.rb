# frozen_string_literal: true

# bin/demo as a newcomer meets it: help before anything is set up, a file of theirs, and a line for what is wrong with it.
require "test_helper"
require "json"
require "open3"
require "rbconfig"
require "stringio"
require "tmpdir"
require_relative "../../benchmark/support/demo_screen"

class DemoTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  DEMO = [RbConfig.ruby, "-W0", "-I", File.join(ROOT, "lib"), File.join(ROOT, "benchmark/demo.rb")].freeze

  def test_help_answers_where_nothing_is_installed
    output, status = Open3.capture2e({}, "/bin/bash", File.join(ROOT, "bin/demo"), "file.json", "--help",
                                     unsetenv_others: true)
    assert_predicate status, :success?
    assert_match(/\AUsage: bin\/demo .*\[FILE.json/, output)
    File.read(File.join(ROOT, "benchmark/demo.rb")).scan(/options.on\("(--\w+ \w+)"/).flatten.each do |option|
      assert_includes output, option
    end
  end

  def test_a_file_is_measured_and_a_pipe_gets_text_only
    output, status = demo("--time", "0.05", json("{\"ids\": [1, 2.5, null], \"name\": \"\u{e9}\"}"))
    assert_predicate status, :success?, output
    refute_match(/[^[:print:]\n]/, output)
    assert_match(/TruncatedError: .*at byte 635$/, output)
    assert_match(/^│ mine\.json │ Manypack/, output)
    assert_match(/msgpack \S+ takes \S+ times as long as Manypack/, output)
  end

  def test_what_is_wrong_with_a_file_is_one_line
    {
      File.join(folder, "missing.json") => /cannot read .*missing\.json: No such file or directory/,
      folder => /cannot read .*: Is a directory/,
      json("") => /.*mine\.json is empty/,
      json("{\"a\": ") => /.*mine\.json is not JSON: .*line 1/,
      json("\"\xff\"".b) => /.*mine\.json is not UTF-8/,
      json("[#{1 << 70}]") => /MessagePack cannot carry mine\.json: .*\$\[0\]/
    }.each { |file, problem| assert_problem(problem, file) }
    assert_problem(/invalid option: --loud/, "--loud")
  end

  class Terminal < StringIO
    def tty? = true
    def winsize = [25, 90]
  end

  def test_a_terminal_gets_colours_unless_it_wants_none
    assert_equal "\e[1mA heading\e[0m\n", heading({ "TERM" => "xterm" })
    assert_equal "A heading\n", heading({ "TERM" => "xterm", "NO_COLOR" => "1" })
    assert_equal "A heading\n", heading({ "TERM" => "dumb" })
  end

  def test_lines_are_broken_where_the_terminal_ends
    terminal = Terminal.new
    DemoScreen.new(terminal).lines("=> ", (["word"] * 40).join(" "))
    first, *others = terminal.string.lines(chomp: true)
    assert_equal "=> #{(["word"] * 17).join(" ")}", first
    assert_equal ["   #{(["word"] * 17).join(" ")}", "   #{(["word"] * 6).join(" ")}"], others
  end

  def teardown
    FileUtils.remove_entry(@folder) if @folder
  end

  private

  def folder
    @folder ||= Dir.mktmpdir
  end

  # The path of a file that has this.
  def json(bytes)
    folder = Dir.mktmpdir(nil, self.folder)
    File.join(folder, "mine.json").tap { |path| File.binwrite(path, bytes) }
  end

  def demo(*arguments)
    output, status = Open3.capture2e({ "LC_ALL" => "C.UTF-8" }, *DEMO, *arguments)
    [output.force_encoding(Encoding::UTF_8), status]
  end

  def assert_problem(problem, *arguments)
    output, status = demo(*arguments)
    assert_equal 1, status.exitstatus, output
    assert_equal 1, output.lines.size, output
    assert_match(/\Abin\/demo: #{problem}/, output)
  end

  def heading(environment)
    terminal = Terminal.new
    DemoScreen.new(terminal, environment).heading("A heading")
    terminal.string
  end
end

# frozen_string_literal: true

# Every example of docs/terminal.md, in one folder and in the order of the page: a command after $, and what it prints.
# Ruby 3.4 shows Hashes in another way than those before.
require "test_helper"
require "support/terminal"

class TerminalDocsTest < Minitest::Test
  include TerminalHelper

  PAGE = "#{ROOT}/docs/terminal.md"

  # Commands and what the page says that they print.
  def examples
    blocks = File.read(PAGE, encoding: "UTF-8").scan(/^```console\n(.*?)^```$/m).flatten
    blocks.flat_map { |block| block.scan(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/) }
  end

  def test_the_examples_print_what_the_page_says
    assert_operator examples.size, :>, 20
    Dir.mktmpdir do |folder|
      File.write("#{folder}/events.jsonl", examples.first.last)
      marked = examples.map { |command, _| "#{command}\nprintf '\\0'" }.join("\n")
      out, = shell("cd #{folder}; exec 2>&1\n#{marked}")
      printed = out.force_encoding("UTF-8").split("\0")
      examples.zip(printed) { |(command, expected), got| assert_equal expected, got.to_s.gsub('"=>', '" => '), command }
    end
  end
end

# frozen_string_literal: true

# Every example of the documentation, as a program of its own, but for those of integrations.
require "test_helper"
require "support/examples"
require "support/program"

class DocsTest < Minitest::Test
  include ProgramHelper

  def test_there_are_examples
    assert_operator Examples::ALONE.size, :>, 5
  end

  # So that they are of one machine and one commit, and change with it.
  def test_the_figures_of_the_front_page_are_those_that_the_benchmarks_printed
    said, printed = %w[README.md docs/performance.md].map { |page| figures(page) }
    assert_operator said.size, :>=, 4
    assert_empty said - printed
  end

  # Without strict:, a file that was cut off looks like one that ends there.
  def test_no_recipe_reads_a_stream_without_saying_whether_it_may_end_inside_an_object
    lines = Dir.glob("{README.md,docs/*.md,examples/**/*.rb}", base: Examples::ROOT).flat_map do |path|
      File.readlines(File.join(Examples::ROOT, path), encoding: "UTF-8").map { |line| "#{path}: #{line.strip}" }
    end
    assert_operator lines.grep(/unpacker.*\.each\(strict: true\)/i).size, :>=, 4
    assert_empty lines.grep(/unpacker\S*(?:\(.*\))?\.each\b(?!\()/i)
  end

  # The guides have room for the rest.
  def test_the_front_page_is_short
    assert_operator File.foreach(File.join(Examples::ROOT, "README.md")).count, :<=, 120
  end

  def test_the_guides_and_the_changes_are_short
    words = ->(path) { File.read(path, encoding: "UTF-8").split.size }
    guides = Dir.glob(File.join(Examples::ROOT, "docs/*.md"))
    assert_operator guides.size, :<=, 16
    assert_operator guides.sum(&words), :<=, 28_000
    assert_operator words.call(File.join(Examples::ROOT, "CHANGELOG.md")), :<=, 1_100
  end

  Examples::ALONE.each do |place, lines|
    define_method("test_the_example_at_#{place}") { assert_program Examples.program(place, lines), "" }
  end

  private

  def figures(page)
    File.read(File.join(Examples::ROOT, page), encoding: "UTF-8").scan(/(?<![\d.])\d+\.\d\d(?!\.?\d)/)
  end
end

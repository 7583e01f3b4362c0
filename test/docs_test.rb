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

  Examples::ALONE.each do |place, lines|
    define_method("test_the_example_at_#{place}") { assert_program Examples.program(place, lines), "" }
  end
end

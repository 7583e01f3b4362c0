# frozen_string_literal: true

# The examples of the documentation that need a library.
require "test_helper"
require "support/examples"
require "support/program"

class IntegrationDocsTest < Minitest::Test
  include ProgramHelper

  def test_there_are_examples
    assert_operator Examples::WITH_A_LIBRARY.size, :>, 1
  end

  Examples::WITH_A_LIBRARY.each do |place, lines|
    define_method("test_the_example_at_#{place}") do
      # With the gems of this test, whose warnings are not ours.
      assert_program "$VERBOSE = false\n#{Examples.program(place, lines)}", "", ENV.slice("RUBYOPT", "RUBYLIB")
    end
  end
end

# frozen_string_literal: true

# The functions of Ruby that the extension calls are there when it is loaded, and not only when one is called first: a
# missing one ends the process. What linking finds says little, as a static library of Ruby has what the program hides.
require "test_helper"
require "support/program"

class SymbolsTest < Minitest::Test
  include ProgramHelper

  def test_every_function_is_there
    assert_program("print Manypack::VERSION", Manypack::VERSION, { "LD_BIND_NOW" => "1" })
  end
end

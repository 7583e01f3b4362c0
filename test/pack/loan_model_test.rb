# frozen_string_literal: true

# Who may use a Buffer: a Packer answers as the diagram of loan.h says, whatever three Fibers do to it in turn.
# `rake test:loan` takes five steps, the suite four.
require "test_helper"
require "pack/loan_model"

class LoanModelTest < Minitest::Test
  STEPS = Integer(ENV.fetch("MANYPACK_STEPS", 4))
  SEQUENCES = { 3 => 639, 4 => 8_592, 5 => 124_704 }.freeze

  def test_a_packer_answers_as_the_diagram_says_whatever_three_fibers_do_to_it
    sequences = 0
    LoanModel.each(STEPS) do |steps, expected, actual|
      sequences += 1
      flunk "#{steps}: #{actual}, the diagram says #{expected}" if actual != expected
    end
    assert_equal SEQUENCES.fetch(STEPS), sequences
  end

  def test_an_idle_packer_has_whole_objects_whatever_was_left_or_raised
    whole = 0
    LoanModel.each(3) do |steps, _, actual, idle|
      next unless idle && actual.last.is_a?(String)

      whole += 1
      rest = Manypack::Unpacker.new(allow_unknown_ext: true).feed(actual.last).each.to_a
      assert_equal actual.last, rest.map { |object| Manypack.pack(object) }.join, steps.inspect
    end
    assert_operator whole, :>, 100
  end
end

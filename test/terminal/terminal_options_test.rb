# frozen_string_literal: true

# The limits of Manypack.unpack that the program takes as options: each has its effect, or is refused.
require "test_helper"
require "support/terminal"
require "manypack/terminal"
require_relative "../contract/matrix_test"

class TerminalOptionsTest < Minitest::Test
  include TerminalHelper

  # For each limit a value, and a message that only the limit refuses.
  LIMITED = MatrixTest::PROBES.select { |name, _| name.start_with?("max_") }.freeze

  def flag(name) = "--#{name.to_s.tr("_", "-")}"

  def test_validate_takes_every_limit_of_unpacking
    help = output_of("validate", "--help")
    assert_equal LIMITED.keys.map { |name| flag(name) }.sort, help.scan(/--max-[a-z-]+/).uniq.sort
  end

  LIMITED.each do |name, (value, message)|
    define_method("test_validate_#{name}_has_its_effect_on_untrusted_input_and_is_refused_elsewhere") do
      assert_equal 0, manypack("validate", "--untrusted", input: message)[2]
      out, err, status = manypack("validate", "--untrusted", flag(name), value.to_s, input: message)
      assert_equal [1, ""], [status, out]
      assert_match(name == :max_depth ? /deep/ : /#{name} is #{value}/, err)
      assert_match(/limits need --untrusted/, manypack("validate", flag(name), value.to_s, input: message)[1])
    end
  end
end

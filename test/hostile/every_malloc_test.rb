# frozen_string_literal: true

# Every allocation fails once, also those that Ruby makes while it serves the extension: see every_malloc.rb.
#
# MANYPACK_FAULTS=all, or rake test:faults   each allocation of each operation, not only some of them
require "test_helper"
require "open3"
require "rbconfig"
require "support/malloc_counter"

class EveryMallocTest < Minitest::Test
  PROGRAM = File.join(__dir__, "every_malloc.rb")
  SOME = 100

  def test_after_any_allocation_that_failed_all_is_as_it_was
    skip "only glibc's malloc is known" unless RUBY_PLATFORM.match?(/-linux(-gnu)?\z/)
    skip "the sanitizers have a malloc of their own" if ENV["LD_PRELOAD"].to_s.include?("asan")
    failing = SideExtension.new("failing_malloc", File.join(__dir__, "failing_malloc.c")).path
    environment = { "LD_PRELOAD" => "#{MallocCounter::LIBRARY.path} #{failing}", "RUBYOPT" => nil }
    step = ENV["MANYPACK_FAULTS"] == "all" ? 1 : SOME
    flags = step == 1 ? ["-w"] : []
    output, status = Open3.capture2e(environment, RbConfig.ruby, "--disable-gems", *flags, "-Ilib", PROGRAM, step.to_s)
    puts output if step == 1
    assert_predicate status, :success?, output
    assert_empty output.lines.grep_v(/\A[^,]+: \d+ points/)
  end
end

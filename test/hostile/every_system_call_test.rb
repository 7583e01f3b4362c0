# frozen_string_literal: true

# Each system call of a run of Parallel in processes fails once, in the parent or in a worker, or the process is killed
# there: the run ends, with all results or with an error after the first of them, and leaves no process, Thread or open
# file; if its parent was killed, its workers end by themselves. See every_system_call.rb.
#
# MANYPACK_FAULTS=all, or rake test:faults   each call of each run, not only some of one
require "test_helper"
require "open3"
require "rbconfig"
require_relative "../../benchmark/support/side_extension"

class EverySystemCallTest < Minitest::Test
  PROGRAM = File.join(__dir__, "every_system_call.rb")
  LINUX = RUBY_PLATFORM.match?(/-linux(-gnu)?\z/)

  def test_after_any_system_call_that_failed_a_run_has_ended_and_the_next_one_works
    skip "only Linux with glibc is known" unless LINUX
    skip "the sanitizers' own library has to be the first" if ENV["LD_PRELOAD"].to_s.include?("asan")
    library = SideExtension.new("failing_system", File.join(__dir__, "failing_system.c"), libraries: %w[dl]).path
    all = ENV["MANYPACK_FAULTS"] == "all"
    command = [RbConfig.ruby, "--disable-gems", "-w", "-Ilib", PROGRAM, *(all ? ["1"] : ["300", "a break"])]
    output, status = Open3.capture2e({ "LD_PRELOAD" => library, "RUBYOPT" => nil }, *command)
    puts output if all
    assert_predicate status, :success?, output
    assert_empty output.lines.grep_v(/\A[^,]+: \d+ points/)
  end

  # All that is written goes to a device that is full.
  def test_a_filter_whose_output_is_full
    skip "there is no /dev/full" unless File.exist?("/dev/full")
    [{ ractors: 0 }, { ractors: 2 }, { processes: 2 }].each do |workers|
      next if workers.key?(:processes) && !Process.respond_to?(:fork)

      File.open("/dev/full", "wb") do |full|
        full.sync = true
        assert_raises(Errno::ENOSPC) { Manypack::Parallel.filter("\x01" * 9, full, **workers) { |object| object } }
      end
    end
  end
end

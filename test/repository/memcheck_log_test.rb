# frozen_string_literal: true

# What tools/memcheck.rb holds against us in a log of Valgrind, and what is Ruby's own business.
require "test_helper"
require_relative "../../tools/memcheck"

class MemcheckLogTest < Minitest::Test
  RUBY = "??? (in /usr/lib/libruby.so.3.1.2)"
  MALLOC = "malloc (in /usr/libexec/valgrind/vgpreload_memcheck.so)"

  def test_memory_that_our_code_asked_for_and_lost_counts
    assert_equal 1, faults(lost(MALLOC, RUBY, "mp_string_cache_new (string_cache.c:9)", RUBY)).size
  end

  def test_memory_of_an_object_that_ruby_made_for_us_does_not
    assert_empty faults(lost(MALLOC, RUBY, RUBY, "mp_ext_new (ext.c:176)", RUBY))
  end

  def test_what_the_collector_asks_for_while_we_mark_does_not
    assert_empty faults(lost(MALLOC, RUBY, "mp_string_cache_mark (string_cache.c:24)", "ractor_mark (ractor.c:13)", RUBY))
  end

  def test_an_access_counts_when_our_code_makes_it
    assert_equal 1, faults(record("Invalid read of size 8", "mp_string_cache_mark (string_cache.c:24)", RUBY)).size
    assert_empty faults(record("Invalid read of size 8", RUBY, "mp_ext_new (ext.c:176)"))
  end

  private

  def faults(record) = MemcheckLog.new(record).ours

  def lost(*frames) = record("4,008 bytes in 1 blocks are definitely lost in loss record 31,774 of 32,365", *frames)

  def record(heading, *frames)
    lines = frames.each_with_index.map { |frame, i| "==7==    #{i.zero? ? "at" : "by"} 0x48417B4: #{frame}\n" }
    "==7== #{heading}\n#{lines.join}==7==\n"
  end
end

# frozen_string_literal: true

# What it costs to handle bytes, in CPU time and memory, and how that grows or compares.
require "objspace"

module Costs
  # How often a work is measured at most. The first reads of many megabytes pay for new pages, some of them several times.
  RUNS = 10

  # Eight times as much takes about eight times as long, and not sixty-four times. The block prepares work of a size and
  # returns it as a Proc.
  def assert_linear(size, &prepare)
    small, large = [size, size * 8].map(&prepare)
    assert_linear_seconds("of #{size} eight times, and of eight times as much",
                          -> { without_collection { cpu_seconds { 8.times { small.call } } } },
                          -> { without_collection { cpu_seconds(&large) } })
  end

  # What a collection costs depends on all else that the process holds, and one would come to the larger work only.
  def without_collection
    GC.start
    GC.disable
    yield
  ensure
    GC.enable
  end

  # One large work takes about as long as many small ones that are together as large: with the same number of objects,
  # both pay alike for new pages. Each Proc does its work and returns the CPU seconds. The least of some runs counts, as a
  # busy machine only ever adds.
  def assert_linear_seconds(what, small, large)
    least = [Float::INFINITY] * 2
    linear = RUNS.times.any? do
      least = least.zip([small.call, large.call]).map(&:min)
      least.last < least.first * 3
    end
    assert linear, "CPU seconds #{what} are #{least}"
  end

  def cpu_seconds
    start = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    yield
    Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - start
  end

  # Bytes that the block allocates, whether it keeps them or not.
  def allocated_bytes
    GC.start
    GC.disable
    before = GC.stat
    yield
    after = GC.stat
    after[:malloc_increase_bytes] - before[:malloc_increase_bytes] + ((after[:total_allocated_objects] - before[:total_allocated_objects]) * 40)
  ensure
    GC.enable
  end

  # Kilobytes that the process has in memory. Without a child process where that is possible: a sanitizer in the
  # environment would be in the child too.
  def resident
    status = "/proc/self/status"
    Integer(File.exist?(status) ? File.read(status)[/^VmRSS:\s+(\d+)/, 1] : `ps -o rss= -p #{Process.pid}`)
  end

  # Bytes of an object and of all that it refers to, but for classes and what belongs to the process.
  def reachable_size(root)
    GC.start
    seen = {}.compare_by_identity
    open = [root]
    until open.empty?
      object = open.pop
      next if seen[object] || object.is_a?(Module) || object.is_a?(Manypack::Codec) || object.is_a?(ObjectSpace::InternalObjectWrapper)

      seen[object] = ObjectSpace.memsize_of(object)
      open.concat(ObjectSpace.reachable_objects_from(object) || [])
    end
    seen.each_value.sum
  end
end

# frozen_string_literal: true

# What it costs to handle bytes, in CPU time and memory, and how that grows or compares.
require "objspace"

module Costs
  # Twice as much takes about twice as long, and not four times; of some attempts one is enough, for the noise.
  def assert_linear(size, &work)
    attempts = []
    4.times do
      attempts << [cpu_seconds { work.call(size) }, cpu_seconds { work.call(size * 2) }]
      break if attempts.last[1] < attempts.last[0] * 3
    end
    assert_operator attempts.last[1], :<, attempts.last[0] * 3, attempts.inspect
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

# frozen_string_literal: true

# What the kernel says of this process's memory, in bytes. Linux.
module ProcessMemory
  module_function

  # @return [Integer] resident now
  def resident
    field("VmRSS")
  end

  # @return [Integer] most that was resident
  def peak
    field("VmHWM")
  end

  # @api private
  def field(name)
    File.read("/proc/self/status")[/^#{name}:\s+(\d+)/, 1].to_i * 1024
  end
end

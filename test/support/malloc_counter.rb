# frozen_string_literal: true

# The memory of a process: what the kernel says of it, the malloc it runs with, and what it mallocs. Linux.

require "rbconfig"
require_relative "../support/side_extension"

# What the kernel says of this process's memory, in bytes.
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
  rescue SystemCallError
    0
  end
end

# The mallocs that a process may run with, as environments.
module Allocators
  JEMALLOC = Dir["/usr/lib/*/libjemalloc.so.2", "/usr/lib*/libjemalloc.so.2"].first

  # @return [Hash{String => Hash{String => String}}] by name; without jemalloc only what is there
  def self.all
    return { "glibc" => {} } unless JEMALLOC

    { "glibc" => {}, "jemalloc, decay 10 s" => jemalloc(10_000), "jemalloc, decay 1 s" => jemalloc(1_000) }
  end

  # @api private
  def self.jemalloc(dirty_decay_ms)
    { "LD_PRELOAD" => JEMALLOC, "MALLOC_CONF" => "dirty_decay_ms:#{dirty_decay_ms}" }
  end
end

# Builds malloc_count.c for this Ruby, for programs to run under it.
#
# @example In the program that runs under it
#   MallocCount.watch($LOADED_FEATURES.grep(/manypack\.so/).first)
#   MallocCount.count { Manypack.pack([1]) } #=> [0, 0, 0, 0]
module MallocCounter
  LIBRARY = SideExtension.new("malloc_count", "memory/malloc_count.c", libraries: %w[dl pthread])

  module_function

  # @return [Boolean] whether a library can be preloaded here
  def possible?
    RbConfig::CONFIG["host_os"].start_with?("linux")
  end

  # @return [Hash{String => String}] the environment of a program that runs under it; what else is preloaded comes after
  def environment
    { "LD_PRELOAD" => [LIBRARY.path, ENV.fetch("LD_PRELOAD", nil)].compact.join(" "),
      "ASAN_OPTIONS" => [ENV.fetch("ASAN_OPTIONS", nil), "verify_asan_link_order=0"].compact.join(":") }
  end

  # In the program that runs under it: makes MallocCount, which counts what an extension mallocs.
  #
  # @param extension [Regexp] matches its file
  def watch(extension)
    require ENV.fetch("LD_PRELOAD").split.first
    MallocCount.watch($LOADED_FEATURES.grep(extension).first.to_s)
  end
end

# frozen_string_literal: true

# Builds malloc_count.c for this Ruby, for programs to run under it. Linux.
#
# In the program that runs under it:
#
#   MallocCount.watch($LOADED_FEATURES.grep(/manypack\.so/).first)
#   MallocCount.count { Manypack.pack([1]) } #=> [0, 0, 0, 0]

require "rbconfig"
require_relative "../../benchmark/support/side_extension"

module MallocCounter
  LIBRARY = SideExtension.new("malloc_count", File.join(__dir__, "malloc_count.c"), libraries: %w[dl pthread])

  module_function

  # Returns whether a library can be preloaded here.
  def possible?
    RbConfig::CONFIG["host_os"].start_with?("linux")
  end

  # Returns the environment of a program that runs under it; what else is preloaded comes after.
  def environment
    { "LD_PRELOAD" => [LIBRARY.path, ENV.fetch("LD_PRELOAD", nil)].compact.join(" "),
      "ASAN_OPTIONS" => [ENV.fetch("ASAN_OPTIONS", nil), "verify_asan_link_order=0"].compact.join(":") }
  end
end

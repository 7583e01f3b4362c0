# frozen_string_literal: true

# Builds the malloc counter for this Ruby and runs programs under it.
# Linux and the like, where a library can be preloaded.
#
# @example In the program that runs under it
#   MallocCount.watch($LOADED_FEATURES.grep(/manypack\.so/).first)
#   MallocCount.count { Manypack.pack([1]) } #=> [0, 0, 0, 0]

require "fileutils"
require "open3"
require "rbconfig"

module MallocCounter
  SOURCE = File.expand_path("malloc_count.c", __dir__)
  FOLDER = File.expand_path("../../tmp/malloc_count", __dir__)

  module_function

  # @return [Boolean] whether this machine has what it takes
  def possible?
    RbConfig::CONFIG["host_os"].start_with?("linux")
  end

  # @return [String] the library, built if it is not there or older than its source
  def library
    path = File.join(FOLDER, "#{RUBY_ENGINE}-#{RUBY_VERSION}", "malloc_count.so")
    build(path) unless File.exist?(path) && File.mtime(path) > File.mtime(SOURCE)
    path
  end

  # @return [Hash{String => String}] the environment of a program that runs under it; what else is preloaded comes after
  def environment
    { "LD_PRELOAD" => [library, ENV.fetch("LD_PRELOAD", nil)].compact.join(" "),
      "ASAN_OPTIONS" => [ENV.fetch("ASAN_OPTIONS", nil), "verify_asan_link_order=0"].compact.join(":") }
  end

  # @api private
  def build(path)
    FileUtils.mkdir_p(File.dirname(path))
    headers = RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").map { |folder| "-I#{folder}" }
    built = "#{path}.#{Process.pid}" # of several that build it at the same time each replaces it as a whole
    output, status = Open3.capture2e("cc", "-std=gnu99", "-O2", "-fPIC", "-shared", "-Wl,-z,lazy", *headers, SOURCE,
                                     "-o", built, "-ldl", "-lpthread")
    raise "the malloc counter does not build:\n#{output}" unless status.success?

    File.rename(built, path)
  end
end

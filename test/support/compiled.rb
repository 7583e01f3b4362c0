# frozen_string_literal: true

# Compiles a C file beside a test while the tests run, and loads it: it sees or does what Ruby code cannot.
require "open3"
require "rbconfig"
require "tmpdir"

module Compiled
  # Returns what keeps this machine from it, or nil.
  def self.obstacle(source, *flags)
    return "only Linux with glibc and 64 bits is known" unless RUBY_PLATFORM.match?(/\A(x86_64|aarch64)-linux(-gnu)?\z/)

    Dir.mktmpdir do |folder|
      library = "#{folder}/#{File.basename(source, ".c")}.so"
      output, status = Open3.capture2e(*command(source, library), *flags)
      return "cc cannot compile #{File.basename(source)}: #{output.lines.first}" unless status.success?

      require library
      nil
    end
  rescue SystemCallError => e
    "there is no cc (#{e.message})"
  end

  def self.command(source, library)
    folders = RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir")
    ["cc", "-O1", "-w", "-shared", "-fPIC", *folders.map { |folder| "-I#{folder}" }, "-o", library, source]
  end
end

# frozen_string_literal: true

# An extension of the benchmark or of a test, which is no part of the gem: built when missing or older than its source.
require "fileutils"
require "open3"
require "rbconfig"
require "shellwords"

class SideExtension
  FOLDER = File.expand_path("../../tmp/benchmark/#{RbConfig::CONFIG["arch"]}-#{RUBY_VERSION}", __dir__)
  FLAGS = %w[-O3 -std=gnu99 -Wall -Wextra -Wno-unused-parameter].freeze

  # name:: of the library and of its Init function
  # source:: the path of its C file
  # libraries:: to link with
  def initialize(name, source, libraries: [])
    @library = File.join(FOLDER, "#{name}.#{RbConfig::CONFIG["DLEXT"]}")
    @source = source
    @libraries = libraries
  end

  # Loads it. Raises LoadError if it cannot be built.
  def load
    require path
  end

  # Returns the path of the library, which it builds if need be.
  def path
    build unless fresh?
    @library
  end

  private

  def fresh? = File.exist?(@library) && File.mtime(@source) <= File.mtime(@library)

  # Of several processes that build it at the same time, each replaces it as a whole.
  def build
    FileUtils.mkdir_p(FOLDER)
    built = "#{@library}.#{Process.pid}"
    output, status = Open3.capture2e(*command(built))
    raise LoadError, "#{@source}: #{output}" unless status.success?

    File.rename(built, @library)
  end

  # With Ruby's own flags, as extensions have them.
  def command(target)
    config = RbConfig::CONFIG
    headers = config.values_at("rubyhdrdir", "rubyarchhdrdir").map { |folder| "-I#{folder}" }
    ruby = config.values_at("LDSHARED", "CFLAGS", "CCDLFLAGS").flat_map { |words| Shellwords.split(words) }
    [*ruby, *FLAGS, *headers, @source, "-o", target, *@libraries.map { |one| "-l#{one}" }]
  end
end

# frozen_string_literal: true

# An extension of the benchmark, which is no part of the gem: built when missing or older than its sources.
require "fileutils"
require "open3"
require "rbconfig"
require "shellwords"

class SideExtension
  ROOT = File.expand_path("..", __dir__)
  CORE = File.expand_path("../core", ROOT)
  FOLDER = File.expand_path("../tmp/benchmark/#{RbConfig::CONFIG["arch"]}-#{RUBY_VERSION}", ROOT)
  FLAGS = %W[-O3 -std=gnu99 -Wall -Wextra -Wno-unused-parameter -I#{CORE}].freeze

  # @param name [String] of the library and of its Init function
  # @param sources [String] a pattern of files in benchmark/
  # @param libraries [Array<String>] to link with
  def initialize(name, sources, libraries: [])
    @library = File.join(FOLDER, "#{name}.#{RbConfig::CONFIG["DLEXT"]}")
    @sources = File.join(ROOT, sources)
    @libraries = libraries
  end

  # Loads it, built if need be.
  #
  # @raise [LoadError] when it cannot be built
  def load
    require path
  end

  # @return [String] of the library, built if need be
  # @raise [LoadError] when it cannot be built
  def path
    build unless fresh?
    @library
  end

  private

  def sources
    Dir[@sources]
  end

  def fresh?
    headers = Dir[File.join(File.dirname(@sources), "*.h")]
    File.exist?(@library) && (sources + headers).all? { |path| File.mtime(path) <= File.mtime(@library) }
  end

  # Of several processes that build it at the same time, each replaces it as a whole.
  def build
    FileUtils.mkdir_p(FOLDER)
    built = "#{@library}.#{Process.pid}"
    output, status = Open3.capture2e(*command(built))
    raise LoadError, "#{@sources}: #{output}" unless status.success?

    File.rename(built, @library)
  end

  # With Ruby's own flags, as extensions have them.
  def command(target)
    config = RbConfig::CONFIG
    headers = config.values_at("rubyhdrdir", "rubyarchhdrdir").map { |folder| "-I#{folder}" }
    ruby = config.values_at("LDSHARED", "CFLAGS", "CCDLFLAGS").flat_map { |words| Shellwords.split(words) }
    [*ruby, *FLAGS, *headers, *sources, "-o", target, *@libraries.map { |one| "-l#{one}" }]
  end
end

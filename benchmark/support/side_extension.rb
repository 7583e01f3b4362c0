# frozen_string_literal: true

# An extension in a folder of benchmark/, which is no part of the gem: built when missing or older than its sources.
require "fileutils"
require "open3"
require "rbconfig"

class SideExtension
  # @param name [String] of the folder
  # @param product [String] what its Makefile makes, without the suffix
  def initialize(name, product)
    @source = File.expand_path("../#{name}", __dir__)
    @folder = File.expand_path("../../tmp/#{name}/#{RbConfig::CONFIG["arch"]}-#{RUBY_VERSION}", __dir__)
    @library = File.join(@folder, "#{product}.#{RbConfig::CONFIG["DLEXT"]}")
  end

  # Builds it if need be, and loads it.
  #
  # @raise [LoadError] when it cannot be built
  def load
    build unless fresh?
    require @library
  end

  private

  def fresh?
    sources = Dir[File.join(@source, "*.{c,h,rb}")]
    File.exist?(@library) && sources.all? { |path| File.mtime(path) <= File.mtime(@library) }
  end

  def build
    FileUtils.mkdir_p(@folder)
    [[RbConfig.ruby, File.join(@source, "extconf.rb")], %w[make]].each do |command|
      output, status = Open3.capture2e(*command, chdir: @folder)
      raise LoadError, "#{@source}: #{output}" unless status.success?
    end
  end
end

# frozen_string_literal: true

# Builds the source gem and a precompiled one twice, in different folders, and compares the bytes.
require "tmpdir"
require_relative "gems"
require_relative "native"

module Release
  # Says in sentences which gems have other bytes when they are built again.
  module Reproducible
    module_function

    def complaints
      Dir.mktmpdir do |folder|
        first, second = %w[first second].map { |name| build(File.join(folder, name)) }
        first.zip(second).filter_map do |one, other|
          "#{File.basename(one)} has other bytes when it is built again." unless FileUtils.identical?(one, other)
        end
      end
    end

    # The paths of the gems, one for the Ruby that runs this.
    def build(folder)
      native = Native.new(File.join(folder, "compiled"))
      native.compile_here(RbConfig.ruby)
      gems = Gems.new(folder: folder)
      [gems.build_source, *native.platforms.map { |platform| gems.build_native(native.folder, platform) }]
    end
  end
end

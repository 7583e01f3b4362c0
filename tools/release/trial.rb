# frozen_string_literal: true

# Tries gems: on Rubies of this machine, and in bare root file systems.
require "bundler"
require "fileutils"
require_relative "gems"

module Release
  # Runs tools/release/try.rb, which says what works; raises if something does not.
  module Trial
    TRY = File.join(ROOT, "tools/release/try.rb")

    module_function

    # Installs the gem on a Ruby of this machine, given as a program.
    def here(ruby, gem) = Bundler.with_unbundled_env { system(ruby, TRY, gem, exception: true) }

    # Installs the gem on the Ruby of a root file system that has no compiler.
    def bare(root, gem)
      folder = File.join(root, "root/manypack")
      FileUtils.rm_rf(folder)
      FileUtils.mkdir_p(folder)
      FileUtils.cp([TRY, gem], folder)
      system("bash", File.join(ROOT, ".ci/rootfs.sh"), "run", root, "ruby", "try.rb", File.basename(gem), "--bare",
             exception: true)
    end
  end
end

# frozen_string_literal: true

# Compiles what precompiled gems hold: with Rubies of this machine, and with those of root file systems.
require "bundler"
require "fileutils"
require_relative "gems"

module Release
  # A folder of compiled extensions, as PLATFORM/ABI/manypack.so.
  class Native
    COMPILE = "tools/release/compile.rb"
    ROOTFS = File.join(ROOT, ".ci/rootfs.sh")

    attr_reader :folder

    # folder:: is emptied
    def initialize(folder)
      @folder = folder
      FileUtils.rm_rf(folder)
    end

    # Compiles what is committed with a Ruby of this machine, given as a program.
    def compile_here(ruby)
      Dir.mktmpdir do |tree|
        Gems.new.export(tree)
        Bundler.with_unbundled_env { system(ruby, COMPILE, @folder, chdir: tree, out: File::NULL, exception: true) }
      end
    end

    # Compiles it with the Ruby of a root file system that has a compiler. As in CI, the clone in it is replaced.
    def compile_in(root)
      tree = File.join(root, "root/manypack")
      FileUtils.rm_rf(tree)
      Gems.new.export(tree)
      system("bash", ROOTFS, "run", root, "ruby", COMPILE, "compiled", out: File::NULL, exception: true)
      FileUtils.mkdir_p(@folder)
      FileUtils.cp_r(File.join(tree, "compiled/."), @folder)
    end

    # The platforms that something was compiled for.
    def platforms = Dir.children(@folder).sort
  end
end

# frozen_string_literal: true

# Builds the gems of a release from what is committed, the same bytes each time.
require "English"
require "fileutils"
require "rbconfig"
require "tmpdir"

module Release
  ROOT = File.expand_path("../..", __dir__)

  # The gems that are made of one commit, in a folder.
  class Gems
    # root:: the folder of the repository
    # folder:: where the gems go
    def initialize(root: ROOT, folder: File.join(root, "pkg"))
      @root = root
      @folder = folder
    end

    # Builds the source gem and returns its path.
    def build_source = in_tree { |tree| package(tree) }

    # Builds the gem of a platform from compiled/PLATFORM/ABI/manypack.so and returns its path.
    def build_native(compiled, platform)
      in_tree do |tree|
        Dir[File.join(compiled, platform, "*")].each do |abi|
          folder = File.join(tree, "lib/manypack", File.basename(abi))
          FileUtils.mkdir(folder, mode: 0o755)
          FileUtils.install(File.join(abi, "manypack.so"), folder, mode: 0o755)
        end
        package(tree, platform)
      end
    end

    # Unpacks the commit into a folder; modes and times of the files are not those of the working tree.
    def export(folder)
      FileUtils.mkdir_p(folder)
      tar = ["git", "-C", @root, "-c", "tar.umask=0022", "archive", "HEAD"]
      IO.popen(tar) { |archive| system("tar", "-xp", "-C", folder, in: archive, exception: true) }
      raise "git archive failed" unless $CHILD_STATUS.success?
    end

    private

    def in_tree
      Dir.mktmpdir do |tree|
        export(tree)
        yield tree
      end
    end

    def package(tree, *platform)
      FileUtils.mkdir_p(@folder)
      path = File.join(@folder, ["manypack", version(tree), *platform].join("-") << ".gem")
      environment = { "SOURCE_DATE_EPOCH" => commit_time, "RUBYOPT" => nil }
      program = [RbConfig.ruby, File.join(__dir__, "package.rb")]
      system(environment, *program, path, *platform, chdir: tree, out: File::NULL, exception: true)
      path
    end

    def version(tree) = File.read(File.join(tree, "lib/manypack/version.rb"))[/VERSION = "(.+)"/, 1]

    # In seconds since 1970.
    def commit_time = IO.popen(["git", "-C", @root, "log", "-1", "--format=%ct"], &:read).chomp
  end
end

# frozen_string_literal: true

# rake gem:source   builds the source gem into pkg/, from what is committed
# rake gem:native   builds precompiled gems there with RUBIES="ruby /usr/local/bin/ruby" and with the ruby of each root
#                   file system in ROOTS="/srv/arm64", which has a compiler; .ci/rootfs.sh makes root file systems
# rake gem:try      installs GEM=pkg/... on each of RUBIES, and in each of ROOTS, which has no compiler, and tries it
# rake gem:sbom     writes a bill of materials for each gem in pkg/

# The Rubies that are given; if nothing is, the one that runs rake.
def rubies
  given = ENV.fetch("RUBIES", "").split
  given.empty? && roots.empty? ? [RbConfig.ruby] : given
end

# The root file systems that are given.
def roots = ENV.fetch("ROOTS", "").split

namespace :gem do
  desc "Build the source gem into pkg/, from what is committed"
  task(:source) do
    require_relative "../tools/release/gems"
    puts Release::Gems.new.build_source
  end

  desc "Build precompiled gems into pkg/ with the Rubies of RUBIES and of the root file systems ROOTS"
  task(:native) do
    require_relative "../tools/release/native"
    native = Release::Native.new(File.expand_path("tmp/native"))
    rubies.each { |ruby| native.compile_here(ruby) }
    roots.each { |root| native.compile_in(root) }
    native.platforms.each { |platform| puts Release::Gems.new.build_native(native.folder, platform) }
  end

  desc "Install GEM, or else the source gem, on each of RUBIES and in each of the bare root file systems ROOTS"
  task(:try) do
    require_relative "../tools/release/trial"
    gem = ENV["GEM"] || Release::Gems.new.build_source
    rubies.each { |ruby| Release::Trial.here(ruby, gem) }
    roots.each { |root| Release::Trial.bare(root, gem) }
  end

  desc "Write a bill of materials, in CycloneDX, beside each gem in pkg/"
  task(:sbom) do
    require_relative "../tools/release/sbom"
    Dir["pkg/*.gem"].sort.each { |gem| puts Release::Sbom.new(gem).write }
  end
end

# frozen_string_literal: true

# Packs the tree in the current folder into a gem: ruby tools/release/package.rb FILE.gem [PLATFORM]
# With a platform the gem holds lib/manypack/ABI/manypack.so, one for each Ruby that `rake gem:native` compiled for, and
# installs without a compiler. SOURCE_DATE_EPOCH is the time of everything in it.
require "rubygems/package"

# The Rubies of a precompiled gem are bounds, so there must be none missing between them.
def ruby_bounds(abis)
  versions = abis.map { |abi| abi.split(".").map(&:to_i) }.sort
  versions.each_cons(2) do |before, after|
    next if after == following(before)

    abort "Ruby #{before.join(".")} is followed by #{after.join(".")}: compile for those between, or leave one out."
  end
  [">= #{versions.first.join(".")}", "< #{versions.last[0]}.#{versions.last[1] + 1}.dev"]
end

# 3.4 was the last 3.
def following(version) = version == [3, 4] ? [4, 0] : [version[0], version[1] + 1]

# The C sources stay, as documentation: ri reads the methods written in C from them. ri does without most of the pages,
# which RDoc parses for longer than all the rest of the installation takes.
def precompile(spec, platform)
  extensions = Dir["lib/manypack/[0-9]*/manypack.so"]
  abort "Nothing is compiled for #{platform}." if extensions.empty?

  spec.platform = Gem::Platform.new(platform.split("-")) # older RubyGems forget the C library of a String
  spec.required_rubygems_version = ">= 3.3.22" # and look for the gem under another name
  spec.required_ruby_version = ruby_bounds(extensions.map { |path| path[%r{[\d.]+(?=/manypack.so)}] })
  spec.extra_rdoc_files = ["README.md", *Dir["ext/manypack/**/*.c"]]
  spec.extensions = []
  spec.files += extensions
end

file, platform = ARGV
spec = Gem::Specification.load("manypack.gemspec")
precompile(spec, platform) if platform
Gem::Package.build(spec, false, false, file)

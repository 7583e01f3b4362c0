# frozen_string_literal: true

# Compiles the extension for every machine with the Ruby that runs this, into FOLDER/PLATFORM/ABI/manypack.so:
#   ruby tools/release/compile.rb FOLDER
# Needs that Ruby's headers, a C compiler and make, and no gems. `rake gem:native` runs it.
require "etc"
require "fileutils"
require "open3"
require "rbconfig"
require "tmpdir"

SOURCES = File.expand_path("../..", __dir__)
EXTCONF = File.join(SOURCES, "ext/manypack/extconf.rb")
C_LIBRARY = /\A(libc|libm|libpthread|ld-linux[\w-]*)\.so\.\d+\z/
OLDEST_GLIBC = Gem::Version.new("2.28") # of Debian 10 and RHEL 8

def platform
  "#{RbConfig::CONFIG["host_cpu"]}-linux-#{RbConfig::CONFIG["host_os"][/musl/] || "gnu"}"
end

# Not linked with libruby, which is not there as a file wherever Ruby was built without one, and has another name on each
# system: its symbols are those of the process. Nothing in it depends on the folder that it was built in.
def compile
  make = ["make", "-j#{Etc.nprocessors}", "LIBRUBYARG_SHARED=", "ARCH_FLAG=-ffile-prefix-map=#{SOURCES}=."]
  system(RbConfig.ruby, EXTCONF, exception: true)
  system(*make, exception: true)
  system("strip", "--strip-unneeded", "--remove-section=.note.gnu.build-id", "manypack.so", exception: true)
end

# Stops unless the extension loads wherever there is a C library that is not older than OLDEST_GLIBC.
def check_needs
  needs, status = Open3.capture2("readelf", "--wide", "--dynamic", "--version-info", "manypack.so")
  abort "readelf failed" unless status.success?

  others = needs.scan(/\(NEEDED\).*\[(.+)\]/).flatten.grep_v(C_LIBRARY)
  abort "The extension needs #{others.join(", ")}, which other machines do not have." if others.any?
  newest = needs.scan(/Name: GLIBC_([\d.]+)/).flatten.map { |version| Gem::Version.new(version) }.max
  abort "The extension needs glibc #{newest}, newer than #{OLDEST_GLIBC}." if newest && newest > OLDEST_GLIBC
end

folder = File.join(File.expand_path(ARGV.fetch(0)), platform, RUBY_VERSION[/\d+\.\d+/])
Dir.mktmpdir do |build|
  Dir.chdir(build) do
    compile
    check_needs
    FileUtils.mkdir_p(folder)
    FileUtils.install("manypack.so", folder, mode: 0o755)
  end
end

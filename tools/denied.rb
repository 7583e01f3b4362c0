# frozen_string_literal: true

# Builds the extension as if a probe of extconf.rb had failed, for each probe that succeeds on this Ruby and for all of
# them, and runs test files with it:
#   ruby tools/denied.rb [--together] TEST...   --together: only for all of them
# A probe can fail on a system that has the function, and can find a function that Ruby hides from extensions: the last
# build has none of the functions that compat.h refers to weakly. A warning is an error. `rake test:denied` runs this.
require "etc"
require "fileutils"
require "open3"
require "rbconfig"
require "tmpdir"

class Denied
  ROOT = File.expand_path("..", __dir__)
  COMPAT = File.read(File.join(ROOT, "ext/manypack/base/compat.h"), encoding: "UTF-8")
  WEAK = COMPAT.scan(/__attribute__\(\(weak\)\) VALUE (\w+)/).flatten.freeze
  WEAK_REFERENCES = "MP_WEAK_REFERENCES"

  # Prints what it builds and how the tests end, and exits at the first that fails.
  def self.run(tests, together:) = Dir.mktmpdir { |folder| new(folder, tests, together).run }

  # folder:: where the extension is built
  def initialize(folder, tests, together)
    @folder = folder
    @tests = tests
    @together = together
  end

  def run
    configure
    builds.each do |how, flags|
      puts "The extension #{how}"
      compile(flags)
      puts test[/^\d+ runs, .*/]
    end
  end

  private

  def configure
    command(RbConfig.ruby, File.join(ROOT, "ext/manypack/extconf.rb"), "--enable-werror", chdir: @folder)
    flags = File.read(File.join(@folder, "Makefile"))[/^CPPFLAGS\s*=.*/]
    @probes = flags.scan(/-D((?:HAVE|MP)_\w+)/).flatten & COMPAT.scan(/\w+/) # mkmf gives some another name, too
  end

  # The flags of each build, by a description of what it lacks. A weak reference does not depend on its own probe.
  def builds
    weak = @probes.include?(WEAK_REFERENCES) ? WEAK : []
    asked = @together ? [] : @probes - weak.map { |name| "HAVE_#{name.upcase}" }
    denied = [*asked.map { |probe| [probe] }, @probes].uniq
    builds = denied.to_h { |probes| ["without #{probes.join(", ")}", probes.map { |probe| "-U#{probe}" }] }
    builds["where Ruby hides #{weak.join(", ")}"] = weak.map { |name| "-D#{name}=hidden_#{name}" } if weak.any?
    builds
  end

  # Compiles without optimization, in half the time. The C library's own checks would insist on optimization.
  def compile(flags)
    command("make", "clean", chdir: @folder)
    command("make", "-j#{Etc.nprocessors}", "ARCH_FLAG=-O0 -U_FORTIFY_SOURCE #{flags.join(" ")}", chdir: @folder)
    FileUtils.mkdir_p(File.join(@folder, "manypack")) # Ruby requires manypack/manypack
    FileUtils.mv(Dir[File.join(@folder, "manypack.{so,bundle}")], File.join(@folder, "manypack"))
  end

  def test
    program = "ARGV.each { |test| require File.expand_path(test) }.clear"
    command(RbConfig.ruby, "-w", "-I#{@folder}", "-Ilib", "-Itest", "-e", program, *@tests, chdir: ROOT)
  end

  # Returns the output of the command.
  def command(*words, **options)
    output, status = Open3.capture2e(*words, **options)
    abort output unless status.success?
    output
  end
end

Denied.run(ARGV, together: ARGV.delete("--together")) if $PROGRAM_NAME == __FILE__

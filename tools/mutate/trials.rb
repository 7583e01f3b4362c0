# frozen_string_literal: true

# Tries changes of the source in a copy of the repository, so that nobody else sees them.
require "fileutils"
require "rbconfig"
require "tmpdir"

class Trials
  ROOT = File.expand_path("../..", __dir__)
  SECONDS = 240 # a change that makes a test run for ever, or wait, is noticed, too
  MEMORY = 8 << 30
  LIMITS = {}.freeze # with one of CPU seconds some kernels count these in ticks, too coarse for tests of linear time

  # Yields the trials in a copy, in which the tests have passed without a change.
  def self.in_a_copy
    Dir.mktmpdir do |folder|
      system("cp", "-a", "#{ROOT}/.", folder, exception: true)
      trials = new(folder)
      abort "the tests fail without a change: #{File.read("#{folder}/mutate.log")}" unless trials.prepare && trials.passes?(nil)
      yield trials
    end
  end

  def initialize(folder)
    @folder = folder
  end

  # Returns :killed if a test notices the change, :survives if none does, :impossible if it does not compile.
  def try(place)
    target = File.join(@folder, place.path)
    File.binwrite(target, place.changed)
    return :impossible unless compiles?(place)

    passes?(place) ? :survives : :killed
  ensure
    File.binwrite(target, place.source)
    restore(place)
  end

  private

  def quietly(*command, **options)
    pid = Process.spawn(*command, chdir: @folder, in: File::NULL, %i[out err] => ["#{@folder}/mutate.log", "w"],
                        pgroup: true, rlimit_as: MEMORY, rlimit_core: 0, **self.class::LIMITS, **options)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS
    until (ended = Process.wait2(pid, Process::WNOHANG))
      break if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep 0.02
    end
    ended ? ended[1].success? : false
  ensure
    begin
      Process.kill(:KILL, -pid)
      Process.wait(pid) unless ended
    rescue SystemCallError # all of them have ended
    end
  end

  def restore(_place); end
end

# By the unit tests of the core, and then the replay of the fuzzers' inputs.
class CoreTrials < Trials
  LIMITS = { rlimit_cpu: 10 }.freeze # seconds; the tests need one or two
  # A function that returns what happens to be in a register is no change that a test can notice.
  FLAGS = %w[-std=c99 -O1 -Werror=return-type -I. -DMP_VECTORS="../test/vectors"].freeze

  def prepare
    @core = File.join(@folder, "core")
    sources, fuzzers = %w[SOURCES FUZZ].map { |name| File.read("#{@core}/Makefile")[/^#{name} = ((?:.*\\\n)*.*)$/, 1].scan(%r{[\w/]+\.c}) }
    @parts = { "core" => [*sources, *Dir.glob("test/{main,tapes,*_test}.c", base: @core)],
               "replay" => [*sources, *fuzzers, "fuzz/replay.c"] }
    FileUtils.mkdir_p("#{@core}/build/seeds/mutated")
    compiles?(nil)
  end

  def compiles?(_place) = compile("core")

  def passes?(place)
    seeds = place ? [] : ["build/seeds/mutated"] # the inputs stay those of the source as it is
    quietly("./build/core_mutated", *seeds, chdir: @core) && compile("replay") &&
      quietly("./build/replay_mutated", *inputs, chdir: @core)
  end

  private

  def compile(program) = quietly("cc", *FLAGS, "-o", "build/#{program}_mutated", *@parts[program], chdir: @core)

  def inputs
    @inputs ||= Dir.glob("{build/seeds/mutated/**/*,fuzz/crashes/**/*}", base: @core)
                   .select { |path| File.file?("#{@core}/#{path}") && !path.end_with?("README.md") }
  end
end

# By Ruby tests, until one fails: first those of the folder that was changed, then all that need nothing but this
# process, and last the slow ones of the folder and of contract/.
class RubyTrials < Trials
  RUN = "ARGV.each { |path| require File.expand_path(path) }\n" \
        "Minitest::CompositeReporter.prepend(Module.new { def record(result) = result.passed? || result.skipped? ? super : exit!(1) })"
  SLOW = %r{^require(_relative)? "(support/(program|costs|hostile\w+)|parallel/worker|open3|pty|(\.\./)+)}

  def initialize(folder)
    super
    files = Dir.glob("test/{base,caches,codec,contract,pack,parallel,path,record,stream,unpack,view,whole}/*_test.rb", base: folder)
    @slow, @fast = files.partition { |path| File.read("#{folder}/#{path}", encoding: "UTF-8").match?(SLOW) }
  end

  def passes?(place)
    near, far = @fast.partition { |path| place && path.start_with?("test/#{folder_of(place)}/") }
    slow = @slow.grep(place ? %r{\Atest/(contract|#{folder_of(place)})/} : //).grep_v(%r{/whole/})
    [near, far, *slow.group_by { |path| File.dirname(path) }.values].reject(&:empty?).all? do |files|
      quietly({ "BUNDLE_GEMFILE" => "#{@folder}/Gemfile" }, RbConfig.ruby, "-Ilib", "-Itest", "-rbundler/setup", "-e", RUN, *files)
    end
  end

  private

  def folder_of(place)
    place.path.delete_prefix("ext/").delete_prefix("lib/").split("/")[1].delete_suffix(".rb")
  end
end

# Of the extension, compiled without optimization.
class ExtensionTrials < RubyTrials
  def prepare
    @build = Dir["#{@folder}/tmp/*/manypack/*/Makefile"].map { |path| File.dirname(path) }.first
    FileUtils.rm_f(Dir["#{@build}/*.o"])
    # The Makefile says where the sources are.
    makefile = File.join(@build, "Makefile")
    File.write(makefile, File.read(makefile).gsub(ROOT, @folder))
    compile
  end

  def compiles?(_place) = compile

  private

  def restore(_place) = compile

  def compile
    quietly("make", "-s", "optflags=-O0", "warnflags=-w", chdir: @build) &&
      FileUtils.cp("#{@build}/manypack.so", "#{@folder}/lib/manypack/manypack.so").nil?
  end
end

# Of the Ruby half.
class LibraryTrials < RubyTrials
  def prepare = true

  def compiles?(place)
    !RubyVM::InstructionSequence.compile(place.changed.force_encoding(Encoding::UTF_8)).nil?
  rescue SyntaxError
    false
  end
end

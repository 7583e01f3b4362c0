# frozen_string_literal: true

# Changes one place of the C at a time, and asks whether any test notices:
#   ruby test/mutate.rb core [COUNT [SEED]]   the core, by its own tests and the inputs of its fuzz targets
#   ruby test/mutate.rb ext [COUNT [SEED]]    the extension, by the test files of the folder that was changed
# Works in a copy, tmp/mutate. Survivors go to tmp/mutate/PART.survivors, each as a line to read: a test is missing, or
# the code does more than it has to. `rake mutate[COUNT]` runs the first.
require "fileutils"
require "open3"
require "rbconfig"
require "timeout"

module Mutate
  ROOT = File.expand_path("..", __dir__)
  COPY = File.join(ROOT, "tmp/mutate")

  # What stands in the code, and what it may become.
  CHANGES = [
    [/(?<=\s)<(?=\s)/, "<="], [/(?<=\s)<=(?=\s)/, "<"], [/(?<=\s)>(?=\s)/, ">="], [/(?<=\s)>=(?=\s)/, ">"],
    [/==/, "!="], [/!=/, "=="], [/&&/, "||"], [/\|\|/, "&&"], [/(?<= )\+(?= )/, "-"], [/(?<= )-(?= )/, "+"],
    [/(?<= )\*(?= )/, "+"], [/\+\+/, "--"], [/--/, "++"], [/\+=/, "-="], [/-=/, "+="], [/<<(?!=)/, ">>"], [/>>(?!=)/, "<<"],
    [/(?<= )&(?= )/, "|"], [/(?<= )\|(?= )/, "&"], [/(?<=[ (])!(?=\w)/, ""], [/\btrue\b/, "false"], [/\bfalse\b/, "true"],
    [/(?<![\w.])\d+(?![\w.])/, ->(number) { (number.to_i + 1).to_s }],
    [/(?<![\w.])[1-9]\d*(?![\w.])/, ->(number) { (number.to_i - 1).to_s }],
    [/(?<![\w.])0x\h+(?!\w)/, ->(number) { format("0x%x", number.hex ^ 1) }],
    [/(?<=\bif \()(.*)(?=\) [^{]*;$|\) \{$)/, "0"], [/(?<=\bif \()(.*)(?=\) [^{]*;$|\) \{$)/, "1"],
    [/\A\s+(?!return\b|case\b|default\b|break\b|goto\b|static\b|const\b)[^=(;{}]*[=(+-].*;\z/, ";"]
  ].freeze

  Mutant = Struct.new(:path, :number, :before, :after) do
    def to_s = "#{path}:#{number}: #{before.strip}  =>  #{after.strip}"
  end

  module_function

  # All mutants of a file of C.
  def mutants(path)
    comment = false
    File.readlines(File.join(ROOT, path), encoding: "UTF-8").each.with_index(1).flat_map do |line, number|
      comment = true if line.match?(%r{/\*}) && !line.match?(%r{\*/})
      skipped = comment || line.match?(%r{\A\s*(#|\*|/\*|extern|typedef|MP_STATIC_ASSERT)|\\$})
      comment = false if line.match?(%r{\*/})
      skipped ? [] : changed(path, number, line)
    end
  end

  def changed(path, number, line)
    code, note = line.chomp.split(%r{(?=\s*/\*)}, 2)
    CHANGES.flat_map do |pattern, by|
      code.to_s.to_enum(:scan, pattern).map { Regexp.last_match }.map do |match|
        put = by.is_a?(Proc) ? by.call(match[0]) : by
        Mutant.new(path, number, line, "#{match.pre_match}#{put}#{match.post_match}#{note}\n")
      end
    end.uniq
  end

  # Runs a command in a folder; false if it fails or takes too long, which a mutant may make it.
  def run(folder, *command, seconds: 30)
    Open3.popen2e(*command, chdir: folder, pgroup: true) do |input, output, thread|
      input.close
      reader = Thread.new { output.read }
      reader.report_on_exception = false # it may still read when the pipe is closed
      next reader.join && thread.value.success? if thread.join(seconds)

      Process.kill(:KILL, -thread.pid)
      false
    end
  end

  # The core, in objects of its own, so that a changed .c file is compiled alone.
  class Core
    FLAGS = %w[-std=c99 -O1 -w -I. -DMP_VECTORS="../test/vectors"].freeze
    TARGETS = %w[core_test replay every].freeze

    def initialize
      @folder = File.join(COPY, "core")
      @sources = Dir[File.join(@folder, "*.c")] + Dir[File.join(@folder, "{test,fuzz}/*.c")]
      @sources.reject! { |path| path.match?(%r{fuzz/fuzzer|test/threads}) }
      @objects = @sources.to_h { |path| [path, path.sub(/\.c\z/, ".o")] }
    end

    def paths = Dir["core/*.{c,h}", base: ROOT] - %w[core/platform.h core/wire_table.h core/limit_list.h]

    def prepare = build(@sources) && FileUtils.mkdir_p("#{COPY}/seeds") && passes? || abort("the core's own tests fail")

    # Returns whether the changed code compiles.
    def build_mutant(path)
      source = File.join(COPY, path)
      build(@objects.key?(source) ? [source] : @sources)
    end

    def restore(path) = @objects.key?(File.join(COPY, path)) ? build_mutant(path) : nil

    def passes?
      Mutate.run(@folder, "./core_test", "../seeds") && Mutate.run(@folder, "./replay", *inputs) &&
        Mutate.run(@folder, "./every", "kinds", "3") && Mutate.run(@folder, "./every", "heads")
    end

    private

    def inputs = Dir["#{COPY}/seeds/*"] + Dir["#{@folder}/fuzz/crashes/*/*"]

    def build(sources)
      sources.each_slice((sources.size / 2.0).ceil).map { |part| Thread.new { part.all? { |source| compile(source) } } }
             .all?(&:value) && TARGETS.all? { |target| link(target) }
    end

    def compile(source) = Mutate.run(@folder, "cc", *FLAGS, "-c", "-o", @objects.fetch(source), source)

    def link(target)
      others = TARGETS.map { |name| name == "core_test" ? "main" : name } - [target == "core_test" ? "main" : target]
      parts = @objects.values.reject { |object| others.include?(File.basename(object, ".o")) }
      parts = parts.reject { |object| object.include?(target == "core_test" ? "/fuzz/" : "/test/") }
      Mutate.run(@folder, "cc", "-o", target, *parts)
    end
  end

  # The extension, by the tests of the folder of the changed file and those of all fronts.
  class Extension
    ALWAYS = %w[test/contract/fronts_test.rb test/contract/one_shot_test.rb].freeze
    TESTS = { "buffer" => %w[pack stream], "json" => %w[terminal/json], "base" => %w[base contract] }.freeze

    def paths = Dir["ext/manypack/*/*.{c,h}", base: ROOT] - Dir["ext/manypack/base/{compat,platform}.h", base: ROOT]

    def prepare = compile || abort("the extension does not compile")

    def build_mutant(path)
      @path = path
      compile
    end

    def restore(_path) = nil

    def passes? = tests.all? { |test| Mutate.run(COPY, RbConfig.ruby, "-Ilib", "-Itest", test, seconds: 90) }

    private

    def compile = Mutate.run(COPY, "bundle", "exec", "rake", "compile", seconds: 300)

    def tests
      folder = @path.split("/")[2]
      TESTS.fetch(folder, [folder]).flat_map { |part| Dir["test/#{part}*/*_test.rb", "test/#{part}*_test.rb", base: COPY].sort } + ALWAYS
    end
  end

  def main(part, count, seed)
    FileUtils.rm_rf(COPY)
    FileUtils.mkdir_p(COPY)
    system("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", chdir: ROOT, out: "#{COPY}/.files")
    system("rsync", "-a", "--from0", "--files-from=#{COPY}/.files", "#{ROOT}/", COPY)
    %w[vendor .bundle Gemfile.lock].each { |name| FileUtils.ln_sf(File.join(ROOT, name), COPY) if File.exist?(File.join(ROOT, name)) }
    arena = part == "ext" ? Extension.new : Core.new
    arena.prepare
    all = arena.paths.sort.flat_map { |path| mutants(path) }
    tally(part, all, all.sample(count, random: Random.new(seed)).group_by { |mutant| fate(arena, mutant) }, seed)
  end

  def fate(arena, mutant)
    path = File.join(COPY, mutant.path)
    original = File.read(path, encoding: "UTF-8")
    lines = original.lines
    lines[mutant.number - 1] = mutant.after
    File.write(path, lines.join)
    return :uncompiled unless arena.build_mutant(mutant.path)

    arena.passes? ? :survived.tap { puts mutant } : :noticed
  ensure
    File.write(path, original)
    arena.restore(mutant.path)
  end

  def tally(part, all, fates, seed)
    survived, noticed = %i[survived noticed].map { |fate| fates.fetch(fate, []) }
    File.write("#{COPY}/#{part}.survivors", survived.sort_by { |mutant| [mutant.path, mutant.number] }.join("\n"))
    tried = survived.size + noticed.size
    puts format("%s: %d of %d mutants noticed (%.1f %%), of %d possible; %d more did not compile; seed %d", part,
                noticed.size, tried, 100.0 * noticed.size / [tried, 1].max, all.size, fates.fetch(:uncompiled, []).size, seed)
  end
end

$stdout.sync = true
Mutate.main(ARGV.fetch(0, "core"), Integer(ARGV.fetch(1, 200)), Integer(ARGV.fetch(2, 1)))

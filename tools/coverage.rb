# frozen_string_literal: true

# Runs test files and the core's tests, and says what they reach, by folder:
#   EXT_OPTIONS=--enable-coverage bin/setup && ruby tools/coverage.rb TEST...
# Of C, gcov counts lines and branches, in all processes that end by themselves; of Ruby, its own Coverage does. What no
# test reaches goes to tmp/coverage/missed.txt. `rake coverage` runs this.
require "etc"
require "fileutils"
require "json"
require "open3"
require "rbconfig"

class CoverageTable
  ROOT = File.expand_path("..", __dir__)
  FOLDER = File.join(ROOT, "tmp/coverage")

  def initialize
    @lines = Hash.new { |files, path| files[path] = Hash.new(0) }
    @branches = Hash.new { |files, path| files[path] = Hash.new(0) }
  end

  # Returns whether all tests passed.
  def run(tests)
    FileUtils.rm_rf(FOLDER)
    FileUtils.mkdir_p("#{FOLDER}/ruby")
    passed = run_tests(tests) & run_core
    read_gcov("#{ROOT}/core/build/covered", File.join(ROOT, "core"))
    read_gcov(*Dir["#{ROOT}/tmp/*/manypack/*/"].max_by { |folder| File.mtime(folder) }.then { |folder| [folder, folder] })
    read_ruby
    report
    passed
  end

  private

  # Each in a process of its own, one for each processor at a time: what one reaches counts even if another does not come
  # to its end.
  def run_tests(tests)
    left = Queue.new(tests).close
    failed = []
    threads = Array.new(Etc.nprocessors) do
      Thread.new do
        while (test = left.pop)
          failed << test unless passes?(test)
        end
      end
    end
    threads.each(&:join)
    puts "failed: #{failed.join(" ")}" if failed.any?
    failed.empty?
  end

  def passes?(test)
    counted = { "RUBYOPT" => "-r#{__dir__}/coverage/count", "MANYPACK_COVERAGE" => "#{FOLDER}/ruby" }
    output, status = Open3.capture2e(counted, RbConfig.ruby, "-Ilib", "-Itest", test, chdir: ROOT)
    puts "#{test}: #{output.lines.grep(/ runs, /).first || status}", (output unless status.success?)
    status.success?
  end

  # The core has tests of its own, which `make -C core test` runs too: here in a build with counters.
  def run_core
    system("make", "-s", "-C", "#{ROOT}/core", "coverage", out: File::NULL)
  end

  # An inline function of a header counts in each object: what one of them reaches is reached.
  def read_gcov(objects, directory)
    Dir["#{objects}/**/*.gcda"].each do |path|
      output, = Open3.capture2("gcov", "--json-format", "--stdout", "--branch-probabilities", path, err: File::NULL, chdir: directory)
      output.each_line.flat_map { |text| JSON.parse(text)["files"] }.each do |file|
        source = File.expand_path(file["file"], directory).delete_prefix("#{ROOT}/")
        add_lines(source, file["lines"]) if source.match?(%r{\A(core|ext)/(?!test|fuzz)})
      end
    end
  end

  def add_lines(source, lines)
    lines.each do |line|
      number = line["line_number"]
      @lines[source][number] += line["count"]
      line["branches"].each_with_index { |branch, i| @branches[source][[number, i]] += branch["count"] }
    end
  end

  def read_ruby
    Dir["#{FOLDER}/ruby/*[0-9]"].each do |dump|
      Marshal.load(File.binread(dump)).each do |path, counts| # rubocop:disable Security/MarshalLoad
        source = path.delete_prefix("#{ROOT}/")
        counts[:lines].each.with_index(1) { |count, number| @lines[source][number] += count if count }
        counts[:branches].each { |from, to| to.each { |branch, count| @branches[source][[from[2], from, branch]] += count } }
      end
    end
  end

  def report
    File.write("#{FOLDER}/missed.txt", missed.join("\n"))
    puts table
  end

  # Places that no test reaches: a line, or a way out of a line that is reached.
  def missed
    @lines.keys.sort.flat_map do |path|
      lines = @lines[path].select { |_, count| count.zero? }.keys
      branches = @branches[path].select { |(line, *), count| count.zero? && @lines[path][line].positive? }.keys.map(&:first)
      [*lines.map { |line| [line, "line"] }, *branches.tally.map { |line, n| [line, "#{n} branches"] }].sort
        .map { |line, what| "#{path}:#{line}: #{what}: #{source_line(path, line)}" }
    end
  end

  def source_line(path, line) = File.readlines(File.join(ROOT, path), encoding: "UTF-8")[line - 1].to_s.strip

  def table
    folders = @lines.keys.sort.group_by { |path| path[%r{\A(core|lib|ext/manypack(/\w+(?=/))?)}] }
    rows = folders.map { |folder, paths| row("`#{folder}/`", paths) }
    rows << row("all of `ext/`", @lines.keys.grep(/\Aext/)) << row("all", @lines.keys) if folders.size > 1
    ["| folder | lines | reached | branches | taken |", "|---|--:|--:|--:|--:|", *rows].join("\n") << "\n"
  end

  def row(name, paths)
    "| #{name} | #{share(@lines, paths)} | #{share(@branches, paths)} |"
  end

  def share(counts, paths)
    all = counts.values_at(*paths).compact.flat_map(&:values)
    format("%d | %.1f %%", all.size, all.empty? ? 100 : 100.0 * all.count(&:positive?) / all.size)
  end
end

exit CoverageTable.new.run(ARGV) if $PROGRAM_NAME == __FILE__

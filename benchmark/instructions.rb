# frozen_string_literal: true

# Counts the instructions that operations take, by Valgrind's callgrind. Other programs on the machine do not change the
# counts, and no clock is needed; Ruby's random seed of hashes does, by up to 4 %. The collector does not run.
require "fileutils"
require "json"
require "open3"
require "optparse"
require "rbconfig"
require_relative "support/contender_process"
require_relative "support/contenders"
require_relative "support/recorded_instructions"
require_relative "support/side_extension"
require_relative "support/workload"

# One file of callgrind's: the instructions of one operation of one case, as Instructions::Work described it.
class CallgrindDump
  attr_reader :path, :case_id, :operation

  # How many values and keys the operation goes through.
  attr_reader :objects

  def initialize(path)
    @path = path
    @text = File.read(path)
    request = @text[/^desc: Trigger: Client Request: (.*)$/, 1]
    @case_id, @operation, @times, @objects = JSON.parse(request) if request
  end

  # Returns whether the program asked for this dump; the last one is of the program's end.
  def requested?
    !@times.nil?
  end

  def part
    @text[/^part: (\d+)/, 1].to_i
  end

  # Returns the instructions of one operation for each object.
  def per_object
    @text[/^(?:summary|totals): (\d+)/, 1].to_f / @times / objects
  end

  # library:: such as "manypack.so"
  #
  # Returns how many of them are the library's own.
  def per_object_in(library)
    own_costs(library).to_f / @times / objects
  end

  private

  # A line of costs is the current function's own unless the line before was of a call. Names come once, then numbers.
  def own_costs(library)
    names = {}
    inside = call = false
    @text.each_line.sum do |line|
      called = call
      call = line.start_with?("calls=")
      names[$1] ||= $2 if line =~ /^c?ob=\((\d+)\)(?: (.*))?$/ && $2
      inside = names[$1].to_s.end_with?(library) if line =~ /^ob=\((\d+)\)/
      inside && !called && line =~ /^[-+*\d]\S* (\d+)$/ ? $1.to_i : 0
    end
  end
end

class Instructions
  FOLDER = File.expand_path("../tmp/instructions", __dir__)

  # Returns whether Valgrind and its headers are installed.
  def self.available?
    Open3.capture2e("valgrind", "--version").last.success? && File.exist?("/usr/include/valgrind/callgrind.h")
  rescue SystemCallError
    false
  end

  # Returns the Ruby and the compiler, on which counts depend.
  def self.build
    compiler, = Open3.capture2e("#{RbConfig::CONFIG["CC"].split.first} -dumpfullversion -dumpversion")
    "ruby-#{RUBY_VERSION}p#{RUBY_PATCHLEVEL}-#{RUBY_PLATFORM}-cc-#{compiler.strip}"
  end

  # workload:: the arguments of Workload.new
  def initialize(workload)
    @workload = workload
  end

  # Returns the CallgrindDump of each [case id, operation].
  def count(contender, ids)
    folder = File.join(FOLDER, contender.label.tr(" ", "-"))
    FileUtils.rm_rf(folder)
    FileUtils.mkdir_p(folder)
    callgrind = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no",
                 "--callgrind-out-file=#{File.join(folder, "callgrind.out.%p")}"]
    ContenderProcess.once(contender, Work, ["count", ids], flags: [], under: callgrind, workload: @workload)

    dumps = Dir[File.join(folder, "callgrind.out.*.*")].map { |path| CallgrindDump.new(path) }.select(&:requested?)
    dumps.sort_by(&:part).to_h { |dump| [[dump.case_id, dump.operation], dump] }
  end

  # What the process of a contender answers. It runs under callgrind, which writes a file of counts for each operation
  # of each case, described by both names and by how often it was done.
  class Work
    BYTES = 1_000_000 # to go through: a few repetitions of small things would count what malloc does once in a while

    # workload:: the arguments of Workload.new
    def initialize(contender, workload:)
      SideExtension.new("callgrind", File.join(__dir__, "instructions/callgrind.c")).load
      @contender = contender
      @cases = Workload.new(**workload).cases
    end

    def count(ids)
      work = @cases.fetch_values(*ids).flat_map { |one| operations(one) }
      Callgrind.start
      work.each { |operation, argument, times, description| run(operation, argument, times, description) }
      nil
    end

    private

    def operations(one)
      payload = one.payload
      one.operations.filter_map do |operation|
        check = operation.check(@contender, payload) if operation.supported?(@contender)
        next unless check

        times = operation.repetitions(BYTES, check)
        [operation, operation.argument(@contender, payload), times,
         JSON.generate([one.id, operation.name, times, Payloads.count(payload)])]
      end
    end

    # Does as much once before, so that caches are filled, and so that objects find slots and memory that were used.
    # Luck decides how many new pages of the heap they would need otherwise: up to 3 % for small objects.
    def run(operation, argument, times, description)
      operation.repeat(@contender, argument, times)
      GC.start
      GC.disable
      Callgrind.zero
      operation.repeat(@contender, argument, times)
      Callgrind.dump(description)
      GC.enable
    end
  end
end

# Counts, or records: what rake bench:instructions runs.
if $PROGRAM_NAME == __FILE__
  require "terminal-table"

  options = { data: Workload::REAL, only: nil, record: false }
  OptionParser.new do |parser|
    parser.banner = "Usage: ruby benchmark/instructions.rb [options]\n" \
                    "Without --only: the cases that are recorded. " \
                    "Details of the last run: callgrind_annotate tmp/instructions/..."
    parser.on("--only REGEXP", Regexp, "cases by name") { |only| options[:only] = only }
    parser.on("--data DIR", "a folder of JSON files") { |dir| options[:data] = dir }
    parser.on("--record [REASON]", "record them; with the CHANGELOG's line when they grew") do |reason|
      options[:record] = reason || true
    end
  end.parse!
  abort "Valgrind with its headers is not installed (Debian: valgrind)" unless Instructions.available?

  workload = { data: options[:data], stream: 1_000 }
  ids = options[:only] ? Workload.new(**workload).cases.keys.grep(options[:only]) : RecordedInstructions::CASES
  instructions = Instructions.new(workload)
  counts = instructions.count(Contenders::WithManypack, ids)

  rows = counts.map do |key, dump|
    numbers = [dump.per_object, dump.per_object_in("manypack.so")].map { |number| format("%.1f", number) }
    [*key, *numbers, dump.path.delete_prefix("#{Instructions::FOLDER}/")]
  end
  headings = ["case", "operation", "all", "in manypack.so", "details"]
  puts Terminal::Table.new(title: "#{Instructions.build}: instructions per object", headings: headings, rows: rows)

  recorded = RecordedInstructions.new(Instructions.build)
  if options[:record]
    least = RecordedInstructions.least(instructions) { false }
    reason = options[:record] if options[:record].is_a?(String)
    grown = recorded.exist? ? recorded.grown(least) : []
    abort "give the CHANGELOG's line with --record, because of\n#{grown.join("\n")}" if grown.any? && !reason

    recorded.write(least, reason)
  end
end

# frozen_string_literal: true

# Counts the instructions that operations take, by Valgrind's callgrind. Other programs on the machine do not change the
# counts, and no clock is needed; Ruby's random seed of hashes does, by up to 4 %. The collector does not run.
require "fileutils"
require "json"
require "open3"
require "rbconfig"
require_relative "callgrind_dump"

class Instructions
  FOLDER = File.expand_path("../../tmp/instructions", __dir__)

  # Callgrind did not do it.
  class Failed < StandardError
  end

  # @return [Boolean] whether Valgrind with its headers is there
  def self.available?
    Open3.capture2e("valgrind", "--version").last.success? && File.exist?("/usr/include/valgrind/callgrind.h")
  rescue SystemCallError
    false
  end

  # @return [String] the Ruby and the compiler, of which counts depend
  def self.build
    compiler, = Open3.capture2e("#{RbConfig::CONFIG["CC"].split.first} -dumpfullversion -dumpversion")
    "ruby-#{RUBY_VERSION}p#{RUBY_PATCHLEVEL}-#{RUBY_PLATFORM}-cc-#{compiler.strip}"
  end

  # @param workload [Hash] the arguments of Workload.new
  def initialize(workload)
    @workload = workload
  end

  # @param contender [Module] of Contenders
  # @param ids [Array<String>] of cases
  # @return [Hash{Array(String, String) => CallgrindDump}] by case and operation
  # @raise [Failed]
  def count(contender, ids)
    folder = File.join(FOLDER, contender.label.tr(" ", "-"))
    FileUtils.rm_rf(folder)
    FileUtils.mkdir_p(folder)
    output, status = Open3.capture2e(*command(contender, folder), stdin_data: ids.join("\n"))
    raise Failed, output unless status.success?

    dumps = Dir[File.join(folder, "callgrind.out.*.*")].map { |path| CallgrindDump.new(path) }.select(&:requested?)
    dumps.sort_by(&:part).to_h { |dump| [[dump.case_id, dump.operation], dump] }
  end

  private

  def command(contender, folder)
    lib = File.expand_path("../../lib", __dir__)
    child = File.expand_path("instructions_child.rb", __dir__)
    ["valgrind", "--tool=callgrind", "--instr-atstart=no",
     "--callgrind-out-file=#{File.join(folder, "callgrind.out.%p")}",
     RbConfig.ruby, "-W0", "-I#{lib}", child, contender.name.split("::").last, JSON.generate(@workload)]
  end
end

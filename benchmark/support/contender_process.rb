# frozen_string_literal: true

# A contender's process, asked line by line; see child.rb.

require "json"
require "open3"
require "rbconfig"

class Contestant
  # What glibc's malloc learns in a process that has run for long, told to every process: else the first large blocks
  # that happen to be freed decide how much each later one costs.
  MALLOC = { "MALLOC_MMAP_THRESHOLD_" => "33554432", "MALLOC_TRIM_THRESHOLD_" => "67108864" }.freeze

  # @return [String]
  attr_reader :label

  # @return [String, nil]
  attr_reader :version

  # @return [String, nil] what it runs on
  attr_reader :language

  # @return [String, nil] why it does not run
  attr_reader :missing

  # @param contender [Module] of Contenders
  # @param flags [Array<String>] for Ruby
  # @param workload [Hash] the arguments of Workload.new
  # @param groups [Array<String>] of cases that it takes part in
  # @return [Contestant] one that runs on this Ruby
  def self.on_this_ruby(contender, flags, workload, groups)
    lib = File.expand_path("../../lib", __dir__)
    child = File.expand_path("child.rb", __dir__)
    name = contender.name.split("::").last
    new(contender.label, [RbConfig.ruby, "-W0", *flags, "-I#{lib}", child, name, JSON.generate(workload)], groups)
  end

  # @param label [String]
  # @param command [Array<String>]
  # @param groups [Array<String>] of cases that it takes part in
  def initialize(label, command, groups)
    @label = label
    @groups = groups
    @stdin, @stdout, @thread = Open3.popen2("env", *MALLOC.map { |name, value| "#{name}=#{value}" }, *command)
    started = JSON.parse(@stdout.gets || raise("#{label} did not start"))
    @version, @language, @missing = started.values_at("version", "on", "missing")
  end

  # @param group [String] of cases
  # @return [Boolean]
  def takes_part?(group)
    @groups.include?(group)
  end

  # @param request [Array] what JSON can carry
  # @return [Object, nil] the answer
  def ask(*request)
    @stdin.puts JSON.generate(request)
    JSON.parse(@stdout.gets || raise("#{label} died of #{request.inspect}")).first
  end

  # Ends the process.
  def stop
    @stdin.close
    @thread.value
  end
end

# frozen_string_literal: true

# A contender in a process of its own, asked line by line. The measuring program holds one end:
#
#   process = ContenderProcess.of(Contenders::WithJson, Race::Work, workload: { stream: 1_000 })
#   process.ask("time", "messages/plain", "pack", 0.05)  # what Race::Work#time returns
#
# The process holds the other end, ContenderProcess.serve: it loads the contender and says on a line of JSON what it is,
# or what is missing. Then each line is a request, an Array of a method of the work and its arguments, which is answered
# by an Array of the result.

require "json"
require "open3"
require "rbconfig"

class ContenderProcess
  LIB = File.expand_path("../../lib", __dir__)

  # What glibc's malloc learns in a process that has run for long, told to a process from the start: otherwise the first
  # large blocks that happen to be freed decide how much each later one costs.
  SETTLED_MALLOC = { "MALLOC_MMAP_THRESHOLD_" => "33554432", "MALLOC_TRIM_THRESHOLD_" => "67108864" }.freeze

  # It ended before it answered.
  class Died < StandardError
  end

  # @return [String]
  attr_reader :label

  # @return [String, nil]
  attr_reader :version

  # @return [String, nil] what it runs on
  attr_reader :language

  # @return [String, nil] why it does not run
  attr_reader :missing

  # Starts one on this Ruby.
  #
  # @param contender [Module] with label, load and version
  # @param work [Class] what the process does: its methods are what can be asked
  # @param flags [Array<String>] for Ruby
  # @param environment [Hash{String => String}]
  # @param under [Array<String>] a command that runs Ruby
  # @param options [Hash] for work's initialize, beside the contender
  # @return [ContenderProcess]
  def self.of(contender, work, flags: yjit, environment: {}, under: [], **options)
    file = File.expand_path(Object.const_source_location(work.name).first)
    names = [work.name, contender.name]
    command = [*under, RbConfig.ruby, "-W0", *flags, "-I#{LIB}", "-r#{__FILE__}", "-e", "ContenderProcess.serve(*ARGV)",
               file, *names, JSON.generate(options)]
    new(contender.label, command, environment)
  end

  # Starts one for a single request.
  #
  # @return [Object] the answer
  # @raise [Died]
  def self.once(contender, work, request, **how)
    process = of(contender, work, **how)
    raise Died, "#{process.label}: #{process.missing}" if process.missing

    process.ask(*request)
  ensure
    process&.stop
  end

  # The other end: runs in the process.
  #
  # @param file [String] where the work is
  # @param work [String] the class's name
  # @param contender [String] the module's name
  # @param options [String] JSON
  def self.serve(file, work, contender, options)
    Warning[:experimental] = false # Ractors say it in every program
    $stdout.sync = true
    require file
    contender = Object.const_get(contender)
    missing = missing_for(contender) and return puts JSON.generate(missing: missing)

    puts JSON.generate(version: contender.version, on: RUBY_DESCRIPTION)
    answerer = Object.const_get(work).new(contender, **JSON.parse(options, symbolize_names: true))
    while (line = $stdin.gets)
      puts JSON.generate([answerer.public_send(*JSON.parse(line))])
    end
  end

  # @api private
  def self.missing_for(contender)
    contender.load
    nil
  rescue LoadError => error
    error.message
  end

  # @return [Array<String>] the flag, where this Ruby has YJIT
  def self.yjit
    @yjit ||= begin
      _, status = Open3.capture2e(RbConfig.ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?")
      status.success? ? ["--yjit"] : []
    end
  end

  # @param label [String]
  # @param command [Array<String>]
  # @param environment [Hash{String => String}]
  def initialize(label, command, environment = {})
    @label = label
    @stdin, @stdout, @thread = Open3.popen2(environment, *command)
    @version, @language, @missing = read("did not start").values_at(:version, :on, :missing)
  end

  # @param request [Array] a method and its arguments, as JSON can carry them
  # @return [Object, nil] the answer; keys of Hashes are Symbols
  # @raise [Died]
  def ask(*request)
    @stdin.puts JSON.generate(request)
    read("died of #{request.first}").first
  rescue Errno::EPIPE
    raise Died, "#{label} died before #{request.first}"
  end

  # Ends the process.
  #
  # @raise [Died] when it failed
  def stop
    @stdin.close
    @stdout.read
    status = @thread.value
    raise Died, "#{label}: #{status}" unless status.success?
  end

  private

  def read(problem)
    line = @stdout.gets or raise Died, "#{label} #{problem}"
    JSON.parse(line, symbolize_names: true)
  end
end

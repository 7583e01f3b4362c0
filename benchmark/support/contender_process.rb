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

  # language:: what it runs on
  # missing:: why it does not run, or nil
  attr_reader :label, :version, :language, :missing

  # Starts one on this Ruby.
  #
  # contender:: with label, load and version
  # work:: what the process does: its methods are what can be asked
  # flags:: options of Ruby
  # under:: a command that runs Ruby, such as Valgrind
  # options:: what the initialize of work gets beside the contender
  def self.of(contender, work, flags: yjit, environment: {}, under: [], **options)
    file = File.expand_path(Object.const_source_location(work.name).first)
    names = [work.name, contender.name]
    command = [*under, RbConfig.ruby, "-W0", *flags, "-I#{LIB}", "-r#{__FILE__}", "-e", "ContenderProcess.serve(*ARGV)",
               file, *names, JSON.generate(options)]
    new(contender.label, command, environment)
  end

  # Starts one for a single request.
  # Returns the answer.
  # Raises Died if the process ends before it answers.
  def self.once(contender, work, request, **how)
    process = of(contender, work, **how)
    raise Died, "#{process.label}: #{process.missing}" if process.missing

    process.ask(*request)
  ensure
    process&.stop
  end

  # The other end: runs in the process.
  #
  # file:: that defines the work
  # work:: the name of the class
  # contender:: the name of the module
  # options:: as JSON
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

  def self.missing_for(contender)
    contender.load
    nil
  rescue LoadError => error
    error.message
  end

  # Returns the flag for YJIT in an Array, which is empty if this Ruby has no YJIT.
  def self.yjit
    @yjit ||= begin
      _, status = Open3.capture2e(RbConfig.ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?")
      status.success? ? ["--yjit"] : []
    end
  end

  def initialize(label, command, environment = {})
    @label = label
    @stdin, @stdout, @thread = Open3.popen2(environment, *command)
    @version, @language, @missing = read("did not start").values_at(:version, :on, :missing)
  end

  # request:: a method and its arguments, as JSON can carry them
  #
  # Returns the answer; keys of Hashes are Symbols.
  # Raises Died if the process ends before it answers.
  def ask(*request)
    @stdin.puts JSON.generate(request)
    read("died of #{request.first}").first
  rescue Errno::EPIPE
    raise Died, "#{label} died before #{request.first}"
  end

  # Ends the process.
  #
  # Raises Died if it failed.
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

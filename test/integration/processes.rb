# frozen_string_literal: true

# Programs in processes of their own, which a test starts, kills and ends.
require "fileutils"
require "rbconfig"
require "tmpdir"

module Processes
  ROOT = File.expand_path("../..", __dir__)
  PATIENCE = 60 # seconds: far more than anything takes, so only a hang takes that long

  # A running program, whose output goes to a file.
  class Program
    def initialize(command, file)
      @file = file
      input, @input = IO.pipe
      @pid = Process.spawn(*command, chdir: File.dirname(file), in: input, out: file, err: %i[child out])
      input.close
    end

    # What it has printed so far.
    def output
      File.read(@file)
    end

    def running?
      @status ||= Process.wait2(@pid, Process::WNOHANG)&.last
      @status.nil?
    end

    # Asks it to end: its input ends, and it gets SIGTERM. Returns self.
    def stop
      @input.close
      Process.kill(:TERM, @pid) if running?
      self
    end

    # Ends it as a power cut would.
    def kill
      return unless running?

      Process.kill(:KILL, @pid)
      @status = Process.wait2(@pid).last
    end

    def success?
      @status.success?
    end

    def to_s
      "#{@file} #{running? ? "runs" : @status} and has printed:\n#{output.lines.last(40).join}"
    end
  end

  # Starts a Ruby program of this folder.
  def start(path, *arguments)
    start_command([*ruby, File.join(__dir__, path), *arguments.map(&:to_s)])
  end

  def ruby
    [RbConfig.ruby, "-W0", "-I", File.join(ROOT, "lib")]
  end

  # Starts any command in the folder of the test. It is killed when the test ends, if it still runs then.
  def start_command(command)
    programs << Program.new(command, File.join(folder, "output#{programs.size}"))
    programs.last
  end

  # The first line that a program prints.
  def first_line(program)
    wait_until { program.output[/\A.*(?=\n)/] }
  end

  # Waits until a program has ended, which has to be well.
  def finish(program)
    wait_until { !program.running? }
    assert_predicate program, :success?, program
  end

  # What the block returns as soon as that is true. Fails with what the programs say if it never is.
  def wait_until
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
    loop do
      result = yield
      return result if result

      sleep 0.02
      flunk "waited in vain\n#{programs.join("\n")}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
    end
  end

  # A folder of the test's own.
  def folder
    @folder ||= Dir.mktmpdir
  end

  def programs
    @programs ||= []
  end

  def teardown
    super
    programs.each(&:kill)
    FileUtils.rm_rf(folder)
  end
end

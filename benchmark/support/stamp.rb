# frozen_string_literal: true

# Where and when figures were taken.

require "etc"
require "open3"
require "time"

module Stamp
  # @param contestants [Array<Contestant>] who ran
  # @return [Hash{Symbol => Object}]
  def self.now(contestants)
    { ruby: contestants.first.language, cpu: cpu, cores: Etc.nprocessors, commit: commit, time: Time.now.utc.iso8601,
      contenders: contestants.to_h { |contestant| [contestant.label, contestant.version] } }
  end

  # @return [String]
  def self.cpu
    File.foreach("/proc/cpuinfo").grep(/model name/).first.to_s.split(": ").last.to_s.strip
  rescue SystemCallError
    Etc.uname[:machine]
  end

  # @return [String]
  def self.commit
    Open3.capture2("git", "describe", "--always", "--dirty", chdir: __dir__).first.strip
  rescue SystemCallError
    "unknown"
  end
end

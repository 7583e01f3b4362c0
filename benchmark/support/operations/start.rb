# frozen_string_literal: true

# A process that requires the contender and ends.

require "rbconfig"
require_relative "../operation"

class Start < Operation
  # Without Bundler, which RubyGems loads at the start of Ruby when any of these says so.
  ENVIRONMENT = ENV.keys.grep(/\A(RUBYOPT|RUBYLIB|GEM_HOME|GEM_PATH|BUNDLE.*)\z/).to_h { |name| [name, nil] }.freeze

  def initialize
    super("start")
  end

  def supported?(contender)
    contender.respond_to?(:feature)
  end

  # @param flags [Array<String>] for Ruby
  # @return [Array] the command, as spawn takes it
  def argument(contender, flags)
    feature = contender.feature or return [ENVIRONMENT, RbConfig.ruby, *flags, "-e", "0"]

    folders = $LOAD_PATH.map(&:to_s).reject { |folder| Dir[File.join(folder, "#{feature}{,.rb}")].empty? }
    [ENVIRONMENT, RbConfig.ruby, *flags, *folders.map { |folder| "-I#{folder}" }, "-e", "require #{feature.dump}"]
  end

  def repeat(_contender, command, times)
    times.times { raise "#{command.inspect} fails" unless system(*command) }
  end

  # That of the processes that ended.
  def cpu_time
    times = Process.times
    ((times.cutime + times.cstime) * 1e9).round
  end

  def check(contender, flags)
    repeat(contender, argument(contender, flags), 1)
    { bytes: 0, same: nil }
  end
end

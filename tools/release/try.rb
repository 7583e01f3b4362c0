# frozen_string_literal: true

# Installs a gem apart from the source tree, as a user does, with the Ruby that runs this, and tries it:
#   ruby tools/release/try.rb FILE.gem [--bare]
# With --bare the machine must have neither a compiler nor make. Needs no gems.
require "rbconfig"
require "tmpdir"

# In a process of its own, which finds no gem but the installed one and those of Ruby.
ROUND_TRIP = <<~'RUBY'
  document = {"id" => 1 << 40, "text" => "\u00e9", "list" => [nil, true, -1, 1.5]}
  abort "round trip failed" unless Manypack.unpack(Manypack.pack(document)) == document
  extension = $LOADED_FEATURES.grep(/manypack\.so/).first
  abort "not the installed gem" unless extension.start_with?(File.realpath(ENV["GEM_HOME"]))
  print "Manypack #{Manypack::VERSION} packs and unpacks on #{RUBY_DESCRIPTION}"
RUBY

def command?(name)
  ENV.fetch("PATH").split(":").any? { |folder| File.executable?(File.join(folder, name)) }
end

# Returns the seconds that the block takes, and those of them that its child processes were on a processor.
def seconds
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  before = Process.times
  yield
  after = Process.times
  busy = after.cutime + after.cstime - before.cutime - before.cstime
  [Process.clock_gettime(Process::CLOCK_MONOTONIC) - start, busy]
end

path = File.expand_path(ARGV.fetch(0))
tools = %w[cc gcc clang make].select { |name| command?(name) }
abort "This machine is not bare: it has #{tools.join(", ")}." if ARGV.include?("--bare") && tools.any?

Dir.mktmpdir do |home|
  environment = { "GEM_HOME" => home, "GEM_PATH" => home, "RUBYOPT" => nil, "RUBYLIB" => nil }
  gem = File.join(RbConfig::CONFIG["bindir"], "gem")
  install = [RbConfig.ruby, gem, "install", "--local", "--no-document", path]
  times = seconds { system(environment, *install, out: File::NULL, exception: true) }
  system(environment, RbConfig.ruby, "-rmanypack", "-e", ROUND_TRIP, chdir: home, exception: true)
  puts ", #{File.basename(path)} installed in %.1f s, %.1f s of a processor" % times
end

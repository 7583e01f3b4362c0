# frozen_string_literal: true

# Has the whole program `manypack` loaded, with the libraries that commands load when they need them, and forks for each
# call that support/terminal sends: its standard streams, then the arguments. To start Ruby for each call, or to fork the
# large process of all tests, takes several times as long. This process has no Threads, so a fork cannot hang under
# AddressSanitizer: see .ci/run. That each command loads what it needs shows where a shell starts the program, as in the
# examples of docs/terminal.md.
require "socket"
require "manypack/terminal"

Dir["#{__dir__}/../../lib/manypack/terminal/commands/*.rb"].each { |path| require File.expand_path(path) }
Manypack::Terminal.constants.each { |name| Manypack::Terminal.const_get(name) }
%w[csv digest json yaml].each { |library| require library }

calls = UNIXSocket.for_fd($stdin.fileno)
loop do
  streams = Array.new(3) { calls.recv_io.tap { |stream| stream.sync = true } }
  arguments = Marshal.load(calls) # rubocop:disable Security/MarshalLoad -- the test process sends it
  program = fork do
    [$stdin, $stdout, $stderr].zip(streams) { |own, given| own.reopen(given) }
    exit!(Manypack::Terminal.run(arguments))
  rescue Exception => e # rubocop:disable Lint/RescueException
    $stderr.print(e.full_message)
    exit!(70)
  end
  streams.each(&:close)
  Process.wait(program)
  Marshal.dump($?.exitstatus, calls)
rescue SocketError # the test process has ended
  exit!(0)
end

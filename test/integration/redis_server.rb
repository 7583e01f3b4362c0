# frozen_string_literal: true

# A redis-server of the test's own, on a free port. Includes Processes, which ends it.
require "integration/processes"
require "socket"

module RedisServer
  include Processes

  private

  # Returns its URL.
  def start_redis(*options)
    wait_until do # another program may have taken the port meanwhile
      port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
      server = start_command(["redis-server", "--bind", "127.0.0.1", "--port", port.to_s, "--save", "", "--dir", folder, *options])
      wait_until { !server.running? || server.output.include?("Ready to accept connections") }
      "redis://127.0.0.1:#{port}" if server.running?
    end
  end
end

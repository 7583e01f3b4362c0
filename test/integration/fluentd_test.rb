# frozen_string_literal: true

# A real Fluentd on the drop-in: with the programs of docs/queues.md, and beside one on the msgpack gem.
require "test_helper"
require "integration/pages"
require "integration/processes"
require "json"
require "socket"

class FluentdTest < Minitest::Test
  include Pages
  include Processes

  LIBRARIES = { "MessagePack::Factory" => "", "Manypack::Factory" => " -I#{ROOT}/lib -rmanypack/drop_in" }.freeze
  COUNT = 2_000

  def setup
    assert_equal %w[event_time.rb client.rb fluent.conf receiver.rb], write_files_of("docs/queues.md", folder)
  end

  # Killed at once, a Fluentd would leave its worker.
  def teardown
    programs.each(&:stop)
    wait_until { programs.none?(&:running?) }
  ensure
    super
  end

  def test_the_programs_of_the_page_work_with_fluentd
    out = free_port
    receiver = start_command([{ "OUT_PORT" => out.to_s }, *ruby, "receiver.rb"])
    first_line(receiver)
    port = start_fluentd("Manypack::Factory", File.join(folder, "fluent.conf"), out)
    client = start_command([{ "IN_PORT" => port.to_s }, *ruby, "client.rb"])
    finish(client)
    assert_equal "#{{ "ack" => "1" }.inspect}\n", client.output
    wait_until { errors.size == 1 }
    send_events(port)
    wait_until { errors.size == 1 + (COUNT / 10) }
    assert_equal [{ "level" => "error", "message" => "disk full" }, *events.map(&:last).select { |record| record["level"] == "error" }], errors.map(&:last)
    assert_equal events.first.first, errors[1].first
  end

  LIBRARIES.keys.permutation(2) do |sender, receiver|
    define_method("test_fluentd_on_#{receiver}_gets_what_fluentd_on_#{sender}_sends") do
      collector = start_fluentd(receiver, File.join(__dir__, "fluentd/collector.conf"))
      output = programs.last
      send_events(start_fluentd(sender, File.join(folder, "fluent.conf"), collector))
      lines = wait_until { output.output.scan(/^\{.*\}$/).then { |found| found if found.size >= COUNT } }
      assert_equal events.map { |time, record| record.merge("tag" => "app", "time" => time.strftime("%s.%N")) }, lines.map { |line| JSON.parse(line) }
    end
  end

  private

  def events
    @events ||= Array.new(COUNT) do |id|
      [Time.at(1_800_000_000 + id, id, :nsec), { "id" => id, "level" => (id % 10).zero? ? "error" : "info", "text" => "é\n#{id}", "list" => [1.5, nil, { "a" => -id }] }]
    end
  end

  # The events that receiver.rb has written.
  def errors
    codec.unpacker(File.open(File.join(folder, "errors.msgpack"), "rb")).each.to_a
  end

  def codec
    @codec ||= Manypack::Factory.new.tap do |factory|
      factory.register_type(0, Time, packer: ->(time) { [time.to_i, time.nsec].pack("N2") }, unpacker: ->(body) { Time.at(*body.unpack("N2"), :nsec) })
    end.codec
  end

  # In pieces as a network makes them: they end anywhere.
  def send_events(port)
    message = codec.pack(["app", events.map { |event| codec.pack(event) }.join, { "chunk" => "all" }])
    TCPSocket.open("127.0.0.1", port) do |socket|
      0.step(message.bytesize - 1, 10_007) { |start| socket.write(message.byteslice(start, 10_007)) }
      assert_equal({ "ack" => "all" }, codec.unpacker(socket).read)
    end
  end

  # Returns the port of a Fluentd that has this library for MessagePack.
  def start_fluentd(library, conf, out = nil)
    wait_until do # another program may have taken the port meanwhile
      port = free_port
      env = { "IN_PORT" => port.to_s, "OUT_PORT" => out.to_s, "RUBYOPT" => "#{ENV.fetch("RUBYOPT", "")}#{LIBRARIES.fetch(library)}" }
      fluentd = start_command([env, RbConfig.ruby, "-W0", "-S", "fluentd", "--config", conf, "--inline-config", announcing])
      wait_until { !fluentd.running? || fluentd.output.include?("#0 fluentd worker is now running") }
      assert_includes fluentd.output, library if fluentd.running?
      port if fluentd.running?
    end
  end

  # The configuration is in the log.
  def announcing
    "<system>\n  process_name \"\#{defined?(Manypack) ? Manypack::Factory : MessagePack::Factory}\"\n</system>"
  end

  def free_port
    TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
  end
end

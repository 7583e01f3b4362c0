# frozen_string_literal: true

# How Ruby tells that a Ractor has ended differs between 4.0 and 4.1, and may again: a run ends all the same.
require "test_helper"
require "support/program"

class RactorMonitorTest < Minitest::Test
  include ProgramHelper

  # Has Ruby send something else when a Ractor has ended.
  MONITOR = <<~'RUBY'
    require "timeout"

    class Ractor
      alias own_monitor monitor
      def monitor(port)
        own = Port.new
        own_monitor(own)
        Thread.new(self) do |ractor|
          status = own.receive.then { |message| message.is_a?(Array) ? message.last : message }
          port.send(MESSAGE[ractor, status])
        end
      end
    end

    def outcome(source = (0...500).map { |n| Manypack.pack(n) }.join, &block)
      Timeout.timeout(20) { Manypack::Parallel.map(source, ractors: 2, &block).sum }
    rescue Ractor::Error => e
      [e.class, e.message[/\A.* know|.*/]]
    end
  RUBY

  ENDS = {
    "as 4.0 does" => "->(_, status) { status }", "as 4.1 does" => "->(ractor, status) { [ractor, status] }"
  }.freeze

  UNKNOWN = { "nil" => "->(*) {}", "a Hash" => "->(*) { { status: :exited } }", "other words" => "->(*) { :ended }", "more" => "->(ractor, status) { [ractor, status, 0] }" }.freeze

  if defined?(Ractor::Port)
    ENDS.each do |name, message|
      define_method("test_ruby_tells_#{name}".tr(" .", "_")) do
        assert_program("MESSAGE = #{message}\n#{MONITOR}p outcome { |n| n * 2 }", "249500")
        assert_program("MESSAGE = #{message}\n#{MONITOR}p outcome { |n| n == 3 ? Thread.exit : n }", '[Ractor::Error, "the work on a message ended its Ractor"]')
      end
    end

    def test_an_unknown_message_ends_the_run_with_an_error
      UNKNOWN.each_value do |message|
        program = "MESSAGE = #{message}\n#{MONITOR}p outcome { |n| n == 3 ? Thread.exit : n }"
        assert_program(program, '[Ractor::Error, "a Ractor sent what Manypack::Parallel does not know"]')
      end
    end
  end
end

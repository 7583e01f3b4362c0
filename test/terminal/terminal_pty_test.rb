# frozen_string_literal: true

# The program `manypack` on a real terminal. If none can be opened, as in a chroot without /dev/pts, this says that it did
# not run.
require "test_helper"
require "pty"
require "support/terminal"
require "timeout"

class TerminalPtyTest < Minitest::Test
  include TerminalHelper

  # The reason why this machine cannot open a terminal, or nil.
  OBSTACLE = begin
    PTY.open { nil }
  rescue SystemCallError, RuntimeError => e
    e.message
  end

  # In a folder with a file of messages: yields what has been shown so far, again and again, and returns all of it.
  def shown(line)
    Dir.mktmpdir do |folder|
      File.binwrite("#{folder}/events.msgpack", Manypack.pack("id" => 1) * 1000)
      gem = Gem::Specification.find_by_name("ruby-progressbar").full_require_paths.first
      program = "manypack() { #{RbConfig.ruby} -W0 -I #{gem} -I #{ROOT}/lib #{ROOT}/exe/manypack \"$@\"; }"
      on_terminal("cd #{folder}; stty cols 60; #{program}\n#{line}") { |text| yield text, folder }
    end
  end

  def on_terminal(line)
    text = +""
    Timeout.timeout(120) do
      PTY.spawn(ENVIRONMENT.merge("TERM" => "xterm"), "bash", "-c", line) do |out, _, pid|
        yield text << out.readpartial(10_000) while true
      rescue Errno::EIO, EOFError
        Process.wait(pid)
      end
    end
    text
  end

  if OBSTACLE
    warn "NOT RUN: #{File.basename(__FILE__)}: no terminal can be opened here (#{OBSTACLE})"
  else
    def test_a_file_that_takes_long_has_a_bar_which_vanishes
      wait = "sleep(0.01) until File.exist?(\"seen\"); it"
      text = shown("manypack filter -e '#{wait}' events.msgpack > out") do |so_far, folder|
        File.write("#{folder}/seen", "") if so_far.include?("100%")
      end
      assert_match(/\revents.msgpack \|=+\| 100% \S+: \S+\r(.*\r)? {60}\r\z/, text)
      refute_match(/[\e\n]/, text) # no colours, and one line
    end

    # A line feed would let a file forge a message of the program.
    def test_a_raw_string_is_one_line_on_a_terminal_only
      evil = "a\nmanypack: forged\e[31m\a\x7f\u0080\u009b\u202e"
      line = "printf '#{Manypack.pack([evil, 1]).unpack1("H*")}' | manypack query --from hex --raw '$[*]'"
      assert_equal "a\\nmanypack: forged\\u001b[31m\\u0007\\u007f\\u0080\\u009b\\u202e\r\n1\r\n", shown(line) { nil }.force_encoding("UTF-8")
      %w[csv tsv].each { |to| assert_equal "a\\nmanypack: forged\\u001b[31m\\u0007\\u007f\\u0080\\u009b\\u202e\r\n", shown(line.sub("--raw '$[*]'", "--to #{to} '$[0]'")) { nil }.force_encoding("UTF-8") }
      assert_equal "#{evil}\n1\n", output_of("query", "--raw", "$[*]", input: Manypack.pack([evil, 1])).force_encoding("UTF-8")
    end
  end
end

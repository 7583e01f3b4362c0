# frozen_string_literal: true

# The progress bar of the program `manypack`, on a terminal.
require "test_helper"
require "pty"
require "support/terminal"
require "timeout"
require "zlib"

class TerminalProgressTest < Minitest::Test
  include TerminalHelper

  # What the program uses of ruby-progressbar. It says what it is told.
  STAND_IN = <<~'RUBY'
    class ProgressBar
      def self.create(**options) = new(options)

      def initialize(options)
        @options = options
      end

      def progress=(bytes)
        @options[:output].print("(#{@options[:title]} #{bytes}/#{@options[:total]})")
        $drawn = true
      end

      def clear = @options[:output].print("(cleared)")
    end
  RUBY

  # Does not wait a second, and says when there is to be a bar.
  HASTE = <<~RUBY
    Manypack::Terminal::Progress.send(:remove_const, :PATIENCE)
    Manypack::Terminal::Progress::PATIENCE = 0
    Manypack::Terminal::Progress.singleton_class.prepend(Module.new { def new(*) = super.tap { $stderr.print("(bar)") } })
  RUBY

  BYTES = Manypack.pack("id" => 1) * 1000

  # In a folder with a file of messages and a gem: all that a terminal shows of a line of the shell.
  def shown(line, gem: STAND_IN, load_path: ".")
    Dir.mktmpdir do |folder|
      {"ruby-progressbar.rb" => gem, "haste.rb" => HASTE, "events.msgpack" => BYTES,
       "events.msgpack.gz" => Zlib.gzip(BYTES)}.each { |name, text| File.binwrite("#{folder}/#{name}", text) }
      program = "manypack() { #{RbConfig.ruby} -W0 -I #{load_path} -I #{ROOT}/lib #{ROOT}/exe/manypack \"$@\"; }"
      on_terminal("cd #{folder}; stty cols 60; #{program}\n#{line}") { |text| yield text, folder if block_given? }
    end
  end

  # Yields what has been shown so far, again and again, and returns all of it.
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

  def test_a_file_that_takes_long_has_a_bar_which_vanishes
    assert_match(%r{\A(\(events.msgpack #{BYTES.bytesize}/#{BYTES.bytesize}\))+\(cleared\)\z},
                 shown("manypack filter -e 'sleep(0.01) until $drawn; it' events.msgpack > out"))
  end

  def test_messages_do_not_run_into_the_bar
    text = shown("manypack filter -r ./haste -e 'sleep(0.01) until $drawn; fail \"no\"' events.msgpack > out")
    assert_includes text, ")(cleared)manypack: events.msgpack:0: no (RuntimeError)\r\n"
  end

  def test_a_short_file_has_none
    assert_equal "", shown("manypack concat events.msgpack > out")
  end

  def test_it_does_without_the_gem
    text = shown("manypack filter -r ./haste -e 'sleep(0.01) until Thread.list.one?; it' events.msgpack > out", gem: "raise LoadError, 'none'")
    assert_equal "(bar)", text
  end

  def test_the_end_may_come_while_the_gem_is_loading
    text = shown("manypack filter -r ./haste -e 'sleep(0.01) until $loading; it' events.msgpack > out",
                 gem: "$loading = true; sleep(0.3)\n#{STAND_IN}")
    assert_equal "(bar)", text
  end

  def test_only_what_leaves_the_terminal_alone_has_one
    has_one = {
      "concat events.msgpack > out" => true, "concat < events.msgpack > out" => true, "concat events.msgpack.gz > out" => true,
      "validate -q events.msgpack" => true, "canon --check events.msgpack" => true,
      "filter -e nil events.msgpack" => false, "filter -e nil events.msgpack | cat" => false,
      "concat events.msgpack > out 2> messages" => false, "cat --follow -n 1 events.msgpack > out" => false
    }
    script = has_one.keys.map { |line| "manypack #{line.sub(" ", " -r ./haste ")}; echo" }
    text = shown("#{script.join("\n")}\nTERM=dumb #{script[0]}\ncat events.msgpack | #{script[0].sub("events.msgpack", "")}")
    assert_equal has_one.values + [false, false], text.lines.map { |line| line.include?("(bar)") }, text
  end

  def test_the_real_bar
    gem = Gem::Specification.find_by_name("ruby-progressbar").full_require_paths.first
    wait = "sleep(0.01) until File.exist?(\"seen\"); it"
    text = shown("manypack filter -e '#{wait}' events.msgpack > out", load_path: gem) do |so_far, folder|
      File.write("#{folder}/seen", "") if so_far.include?("100%")
    end
    assert_match(/\revents.msgpack \|=+\| 100% \S+: \S+\r(.*\r)? {60}\r\z/, text)
    refute_match(/[\e\n]/, text) # no colours, and one line
  end
end

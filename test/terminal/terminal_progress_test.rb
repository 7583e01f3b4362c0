# frozen_string_literal: true

# When the program `manypack` shows a progress bar and colours on a terminal, and how the bar ends. This terminal is a pipe
# that says it is one; terminal_pty_test.rb has a real one.
require "test_helper"
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

  # The pipe is a terminal, whichever of the standard streams it is.
  TERMINAL = <<~'RUBY'
    class IO
      def tty? = stat.pipe? && stat.ino == Integer(ENV.fetch("TERMINAL"))
      alias isatty tty?
    end
  RUBY

  # All that the terminal shows of a line of the shell, in a folder with a file of messages and a gem.
  def shown(line, gem: STAND_IN)
    Dir.mktmpdir do |folder|
      {"ruby-progressbar.rb" => gem, "haste.rb" => HASTE, "terminal.rb" => TERMINAL, "events.msgpack" => BYTES,
       "events.msgpack.gz" => Zlib.gzip(BYTES)}.each { |name, text| File.binwrite("#{folder}/#{name}", text) }
      program = "manypack() { #{RbConfig.ruby} -W0 -I . -r ./terminal -I #{ROOT}/lib #{ROOT}/exe/manypack \"$@\"; }"
      on_terminal("cd #{folder}; #{program}\n#{line}")
    end
  end

  def on_terminal(line)
    IO.pipe do |terminal, screen|
      environment = ENVIRONMENT.merge("TERM" => "xterm", "TERMINAL" => screen.stat.ino.to_s)
      pid = spawn(environment, "bash", "-c", line, in: File::NULL, out: screen, err: screen)
      screen.close
      Timeout.timeout(120) { terminal.read }
    ensure
      Process.wait(pid) if pid
    end
  end

  def test_a_file_that_takes_long_has_a_bar_which_vanishes
    assert_match(%r{\A(\(events.msgpack #{BYTES.bytesize}/#{BYTES.bytesize}\))+\(cleared\)\z},
                 shown("manypack filter -e 'sleep(0.01) until $drawn; it' events.msgpack > out"))
  end

  def test_messages_do_not_run_into_the_bar
    text = shown("manypack filter -r ./haste -e 'sleep(0.01) until $drawn; fail \"no\"' events.msgpack > out")
    assert_includes text, ")(cleared)manypack: events.msgpack:0: no (RuntimeError)\n"
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
      "filter -e nil events.msgpack | cat" => false,
      "concat events.msgpack > out 2> messages" => false, "cat --follow -n 1 events.msgpack > out" => false
    }
    script = has_one.keys.map { |line| "manypack #{line.sub(" ", " -r ./haste ")}; echo" }
    text = shown("#{script.join("\n")}\nTERM=dumb #{script[0]}\ncat events.msgpack | #{script[0].sub("events.msgpack", "")}")
    assert_equal has_one.values + [false, false], text.lines.map { |line| line.include?("(bar)") }, text
  end

  def test_colours_are_for_a_terminal
    inspect = "printf '\\x01' | manypack inspect"
    lines = shown("#{inspect}; #{inspect} | cat; NO_COLOR=1; export NO_COLOR; #{inspect}").lines
    assert_equal [true, false, false], lines.map { |line| line.include?("\e[") }, lines
  end
end

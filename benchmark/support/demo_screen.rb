# frozen_string_literal: true

# Where the demo prints: a terminal of some width, in colour unless NO_COLOR says otherwise, or a pipe, which gets text
# only.

require "io/console"
require "ruby-progressbar"

class DemoScreen
  COLORS = { bold: 1, red: 31, green: 32 }.freeze
  WIDTHS = (80..120).freeze

  # In columns.
  attr_reader :width

  def initialize(output, environment = ENV)
    @output = output
    @terminal = output.tty?
    @coloured = @terminal && environment.fetch("NO_COLOR", "").empty? && environment.fetch("TERM", "") != "dumb"
    @width = (@terminal ? output.winsize.last : WIDTHS.min).clamp(WIDTHS)
  end

  # Returns whether block characters can be shown.
  def blocks?
    Encoding.default_external == Encoding::UTF_8
  end

  def heading(text)
    @output.puts paint(text, :bold)
  end

  # Text behind a mark, and further lines of it below each other.
  def lines(mark, text, color = nil)
    text = text.encode(Encoding.default_external, invalid: :replace, undef: :replace)
    fill(text, @width - mark.size).each_line.with_index do |line, i|
      @output.puts (i.zero? ? mark : " " * mark.size) + paint(line.chomp, color)
    end
  end

  # Sentences, broken between words.
  def prose(text)
    @output.puts fill(text, @width), ""
  end

  def blank
    @output.puts
  end

  def puts(text)
    @output.puts text
  end

  def paint(text, color)
    @coloured && color ? "\e[#{COLORS.fetch(color)}m#{text}\e[0m" : text
  end

  # Yields something to call after each of so many steps, which moves a bar where there is a terminal.
  def progress(title, steps)
    bar = bar_of(title, steps) if @terminal
    yield -> { bar&.increment }
  ensure
    bar&.clear
  end

  private

  def bar_of(title, steps)
    ProgressBar.create(total: steps, title: title, format: "%t |%B| %e", output: @output, length: @width,
                       autofinish: false) # finished, it could not be cleared
  end

  def fill(text, width)
    text.gsub(/(.{1,#{width}})(?: +|$\n?)/, "\\1\n")
  end
end

# frozen_string_literal: true

# Where the demo prints: a terminal of some width, in colour unless NO_COLOR says otherwise, or a pipe, which gets text
# only.

require "io/console"
require "ruby-progressbar"
require "stringio"

class DemoScreen
  COLORS = { bold: 1, red: 31, green: 32 }.freeze
  WIDTHS = (80..120).freeze

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

  def puts(*texts) = @output.puts(*texts)

  def paint(text, color)
    @coloured && color ? "\e[#{COLORS.fetch(color)}m#{text}\e[0m" : text
  end

  # Yields a bar to increment after each of so many steps, which shows on a terminal only.
  def progress(title, steps)
    bar = ProgressBar.create(total: steps, title: title, format: "%t |%B| %e", length: @width,
                             output: @terminal ? @output : StringIO.new, autofinish: false) # it can be cleared
    yield bar
  ensure
    bar&.clear
  end

  private

  def fill(text, width)
    text.gsub(/(.{1,#{width}})(?: +|$\n?)/, "\\1\n")
  end
end

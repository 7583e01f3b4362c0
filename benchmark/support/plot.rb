# frozen_string_literal: true

# An SVG by gnuplot (Debian: gnuplot-nox). A library has one colour in all of them.

require "fileutils"
require "open3"
require_relative "results"

class Plot
  # By label; a series belongs to the library whose label its name begins with.
  COLOURS = {
    "Manypack" => "#c0392b", "msgpack pool" => "#1f4e8c", "msgpack" => "#5b9bd5", "JSON" => "#f0a030",
    "oj" => "#8e6bbf", "Marshal" => "#7f6a58", "cbor" => "#58a55c", "protobuf" => "#e377c2",
    "read instead" => "#e8998d", "nosj" => "#3b3b98", "Manypack Hashes" => "#f2c1ba", "Manypack by hand" => "#6b1d14"
  }.freeze

  # Returns the colour of the library that a series belongs to, or nil.
  def self.colour(name)
    COLOURS[COLOURS.keys.select { |label| name.start_with?(label) }.max_by(&:size)]
  end

  # title:: what it shows, and which direction is better
  def initialize(path, title)
    @path = path
    @title = title
  end

  # Horizontal bars from 0 on, each with its value at its end.
  #
  # groups:: for each heading, which may be nil, the label, the value and the colour of each bar
  def bars(groups)
    rows = groups.flat_map { |heading, bars| [*heading, *bars] }
    headings, bars = rows.each_with_index.partition { |row, _| row.is_a?(String) }
    longest = bars.map { |(_, value, _), _| value }.max
    table = bars.map { |(label, value, colour), i| "#{value} #{-i} #{colour.delete("#").hex} #{quoted(label)}" }
    draw(480, 56 + 24 * rows.size, [<<~STYLE, *headings.map { |text, i| heading(text, i) }, block(0, table), <<~PLOT])
      set style fill solid noborder
      set border 2
      set ytics scale 0 noenhanced
      set yrange [#{0.5 - rows.size}:0.5]
      set xrange [0:#{1.1 * longest}]
      unset xtics
      unset key
    STYLE
      plot $table0 using 1:2:(0):1:($2-0.38):($2+0.38):3:ytic(4) with boxxyerror linecolor rgb variable, \\
           $table0 using 1:2:(sprintf("%.2f", $1)) with labels left offset 0.6,0
    PLOT
  end

  private

  # Above the bars that follow.
  def heading(text, row)
    "set label #{quoted(text)} at 0,#{-row - 0.1} left offset 0.6,0 font 'sans-serif:Bold,12'"
  end

  def block(number, lines)
    "$table#{number} << END\n#{lines.join("\n")}\nEND"
  end

  def draw(width, height, commands)
    FileUtils.mkdir_p(File.dirname(@path))
    output, status = Open3.capture2e("gnuplot", stdin_data: <<~GNUPLOT)
      set terminal svg size #{width},#{height} font "sans-serif,12" background "white"
      set output #{quoted(@path)}
      set title #{quoted(@title)} noenhanced
      set key below noenhanced
      set xtics noenhanced nomirror
      set ytics nomirror
      #{commands.compact.join("\n")}
    GNUPLOT
    raise "gnuplot: #{output}" unless status.success?
  end

  def quoted(text)
    %("#{text.to_s.delete('"\\\\')}")
  end
end

# frozen_string_literal: true

# An SVG by gnuplot (Debian: gnuplot-nox). A library has one colour in all of them.

require "fileutils"
require "open3"
require_relative "results"

class Plot
  # By label; a series belongs to the library whose label its name begins with.
  COLOURS = {
    "Manypack" => "#c0392b", "msgpack pool" => "#1f4e8c", "msgpack" => "#5b9bd5", "JSON" => "#f0a030",
    "oj" => "#8e6bbf", "Marshal" => "#7f6a58", "cbor" => "#58a55c", "bson" => "#a3c14a", "protobuf" => "#e377c2",
    "read instead" => "#e8998d", "nosj" => "#3b3b98", "Oj::Doc" => "#c39bd3",
    "Manypack Hashes" => "#f2c1ba", "Manypack by hand" => "#6b1d14"
  }.freeze
  OTHER_COLOURS = %w[#bbbbbb #777777 #444444].freeze # of what is no library
  MARKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000].freeze # of a logarithmic axis
  FLATTENED = 5 # times the median bar: from there on, the longest bar leaves too little room for the others

  # Returns the colour of the library that a series belongs to, or nil.
  def self.colour(name)
    COLOURS[COLOURS.keys.select { |label| name.start_with?(label) }.max_by(&:size)]
  end

  # title:: what it shows, and which direction is better
  # y:: the unit of the y axis
  def initialize(path, title:, y:)
    @path = path
    @title = title
    @y = y
  end

  # Bars side by side that stand on 1, with a whisker from the lowest to the highest value. Where one is so long that it
  # would flatten the others, the axis is logarithmic.
  #
  # series:: the names
  # rows:: for each label on the x axis, the median, the lowest and the highest value of each series
  def ratios(series, rows)
    medians = rows.values.flatten(1).compact.map(&:first)
    return logarithmic(series, rows) if medians.max > FLATTENED * Statistics.median(medians)

    histogram(series, rows, "set yrange [0:*]\n#{line_at(1)}")
  end

  # Lines, from 0 on.
  #
  # series:: the points of each name
  # marks:: the labels of the x axis at 0, 1, 2, ...
  def lines(series, marks)
    tables = series.values.map.with_index { |table, i| block(i, table.map { |point| point.join(" ") }) }
    styles = styles(series.keys)
    with = "linespoints pointtype 7 pointsize 0.5"
    curves = series.keys.map.with_index { |name, i| "$table#{i} using 1:2 with #{with} #{styles[i]} #{titled(name)}" }
    ticks = "set xtics (#{marks.map.with_index { |mark, i| "#{quoted(mark)} #{i}" }.join(", ")})"
    draw(860, ["set yrange [0:*]", "set xrange [0:*] noextend", ticks, *tables, "plot #{curves.join(", ")}"])
  end

  private

  def logarithmic(series, rows)
    @y = "#{@y}, logarithmic"
    marks = MARKS.map { |mark| "#{quoted(mark)} #{Math.log10(mark)}" }
    logs = rows.transform_values { |cells| cells.map { |cell| cell&.map { |value| Math.log10(value) } } }
    lowest = [0, *logs.values.flatten.compact].min
    histogram(series, logs, "set yrange [#{lowest}:*]\nset ytics (#{marks.join(", ")})\n#{line_at(0)}")
  end

  def line_at(y)
    "set arrow from graph 0, first #{y} to graph 1, first #{y} nohead front linecolor rgb \"#333333\""
  end

  def histogram(series, rows, axis)
    table = rows.map { |label, cells| [quoted(label), *cells.flat_map { |cell| cell || %w[- - -] }].join(" ") }
    styles = styles(series)
    curves = series.map.with_index do |name, i|
      "$table0 using #{3 * i + 2}:#{3 * i + 3}:#{3 * i + 4}:xtic(1) #{styles[i]} #{titled(name)}"
    end
    group = 30 + 16 * series.size
    tilt = "set xtics rotate by -20" if rows.keys.map(&:size).max * 8 > group
    draw(260 + rows.size * group, [<<~STYLE, tilt, axis, block(0, table), "plot #{curves.join(", ")}"])
      set style data histograms
      set style histogram errorbars gap 1 linewidth 0.7
      set style fill solid 0.9 noborder
      set errorbars 0.6 linecolor rgb "#333333"
      set boxwidth 0.92
      set xtics scale 0
    STYLE
  end

  # One colour for a library, one dash for each of its series.
  def styles(series)
    seen = Hash.new(0)
    others = OTHER_COLOURS.cycle
    series.map do |name|
      colour = Plot.colour(name) || others.next
      "linecolor rgb #{quoted(colour)} linewidth 1.6 dashtype #{seen[colour] += 1}"
    end
  end

  def block(number, lines)
    "$table#{number} << END\n#{lines.join("\n")}\nEND"
  end

  def draw(width, commands)
    FileUtils.mkdir_p(File.dirname(@path))
    output, status = Open3.capture2e("gnuplot", stdin_data: <<~GNUPLOT)
      set terminal svg size #{width.clamp(640, 1400)},400 font "sans-serif,12" background "white"
      set output #{quoted(@path)}
      set title #{quoted(@title)} noenhanced
      set ylabel #{quoted(@y)}
      set key below noenhanced
      set xtics noenhanced nomirror
      set ytics nomirror
      set grid ytics linecolor rgb "#dddddd"
      set border 3
      set datafile missing "-"
      #{commands.compact.join("\n")}
    GNUPLOT
    raise "gnuplot: #{output}" unless status.success?
  end

  def titled(name)
    "title #{quoted(name)}"
  end

  def quoted(text)
    %("#{text.to_s.delete('"\\\\')}")
  end
end

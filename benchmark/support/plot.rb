# frozen_string_literal: true

# An SVG by gnuplot (Debian: gnuplot-nox).
require "open3"

class Plot
  COLOURS = %w[#c0392b #2c6fbb #7fb2e5 #f0a030 #8e6bbf #58a55c #888888 #d4a5a5 #4db6ac].freeze

  # @param title [String]
  # @param y_label [String]
  # @param series [Array<String>] names
  # @param rows [Hash{String => Array<Array(Float, Float, Float), nil>}] for each label on the x axis: for each series
  #   the median, the lowest and the highest value
  def initialize(title:, y_label:, series:, rows:)
    @title = title
    @y_label = y_label
    @series = series
    @rows = rows
  end

  # Bars side by side, with a whisker from the lowest to the highest round and a line at 1.
  #
  # @param path [String]
  def bars(path)
    draw(path, <<~GNUPLOT, "using #{bar_columns}:xtic(1)")
      set style data histograms
      set style histogram errorbars gap 1 lw 0.7
      set style fill solid 0.9 noborder
      set errorbars 0.6 lc rgb "#333333"
      set arrow from graph 0, first 1 to graph 1, first 1 nohead front lc rgb "#333333" dt 3
      set boxwidth 0.92
      set yrange [0:*]
      set ytics nomirror
    GNUPLOT
  end

  # Lines over the x axis.
  #
  # @param path [String]
  def lines(path)
    draw(path, <<~GNUPLOT, "using 0:%<median>d:xtic(1)")
      set style data linespoints
      set pointsize 0.6
      set yrange [0:*]
      set xrange [-0.3:#{@rows.size - 0.7}]
      set ytics nomirror
    GNUPLOT
  end

  private

  def bar_columns
    "%<median>d:%<low>d:%<high>d"
  end

  def draw(path, style, columns)
    output, status = Open3.capture2e("gnuplot", stdin_data: script(path, style, columns))
    raise "gnuplot: #{output}" unless status.success?
  end

  def script(path, style, columns)
    width = [260 + @rows.size * (30 + 16 * @series.size), 1400].min.clamp(640, 1400)
    <<~GNUPLOT
      set terminal svg size #{width},360 font "sans-serif,12" background "white"
      set output #{quoted(path)}
      set title #{quoted(@title)}
      set ylabel #{quoted(@y_label)}
      set key outside right top noenhanced
      set xtics noenhanced rotate by -20 nomirror
      set grid ytics lc rgb "#dddddd"
      set border 3
      set datafile missing "-"
      #{style}
      $data << END
      #{data}
      END
      plot #{@series.each_index.map { |index| curve(index, columns) }.join(", ")}
    GNUPLOT
  end

  def data
    @rows.map { |label, cells| [quoted(label), *cells.flat_map { |cell| cell || %w[- - -] }].join(" ") }.join("\n")
  end

  def curve(index, columns)
    numbers = { median: 2 + 3 * index, low: 3 + 3 * index, high: 4 + 3 * index }
    "$data #{format(columns, numbers)} title #{quoted(@series[index])} lc rgb #{quoted(COLOURS[index])}"
  end

  def quoted(text)
    %("#{text.to_s.delete('"\\\\')}")
  end
end

# frozen_string_literal: true

# SVG plots by gnuplot.

require "fileutils"
require "open3"

module Plot
  SETTINGS = <<~SETTINGS
    set terminal svg size 860,470 dynamic font "sans-serif,13" background rgb "white"
    set grid ytics linecolor rgb "#dddddd"
    set border 3 linecolor rgb "#666666"
    set tics nomirror
    set key below
    set linetype 1 linecolor rgb "#c0392b"
    set linetype 2 linecolor rgb "#2e6da4"
    set linetype 3 linecolor rgb "#7f8c8d"
    set linetype 4 linecolor rgb "#e59866"
    set linetype 5 linecolor rgb "#85c1e9"
    set linetype 6 linecolor rgb "#27ae60"
    set linetype 7 linecolor rgb "#8e44ad"
  SETTINGS

  module_function

  # @return [Boolean]
  def possible?
    @possible ||= !Open3.capture2e("gnuplot", "--version").nil?
  rescue SystemCallError
    false
  end

  # @param path [String] of the SVG
  # @param labels [Hash{Symbol => String}] title, x, y
  # @param series [Hash{String => Array<Array(Numeric, Numeric)>}] points by name
  def lines(path, labels, series)
    plots = series.keys.map { |name| "'-' using 1:2 with lines linewidth 1.6 title #{quote(name)}" }
    tables = series.values.map { |points| points.map { |point| point.join(" ") } }
    draw(path, labels, "set yrange [0:*]\nset xrange [0:*] noextend\nplot #{plots.join(", ")}", tables)
  end

  # @param groups [Hash{String => Array<Numeric>}] bars by group
  # @param names [Array<String>] of the bars in each group
  def bars(path, labels, groups, names)
    rows = groups.map { |group, values| "#{quote(group)} #{values.join(" ")}" }
    style = "set yrange [0:*]\nset style data histogram\nset style histogram clustered gap 1\n" \
            "set style fill solid 0.9 noborder\nset boxwidth 0.9"
    plots = names.each_index.map { |i| "'-' using #{i + 2}:xtic(1) title #{quote(names[i])}" }
    draw(path, labels, "#{style}\nplot #{plots.join(", ")}", Array.new(names.size, rows))
  end

  # @api private
  def draw(path, labels, commands, tables)
    FileUtils.mkdir_p(File.dirname(path))
    script = [SETTINGS, "set output #{quote(path)}", "set title #{quote(labels[:title])}",
              "set xlabel #{quote(labels[:x].to_s)}", "set ylabel #{quote(labels[:y])}",
              commands, *tables.map { |table| "#{table.join("\n")}\ne" }].join("\n")
    output, status = Open3.capture2e("gnuplot", stdin_data: "#{script}\n")
    raise "gnuplot: #{output}" unless status.success?
  end

  # @api private
  def quote(text)
    "\"#{text.gsub(/["\\_]/) { |character| "\\#{character}" }}\""
  end
end

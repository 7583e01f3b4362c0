# frozen_string_literal: true

# A picture of horizontal bars, as SVG.

require "erb"

module Bars
  WIDTH = 480
  LABELS = 130 # where the bars begin
  LONGEST = 290
  ROW = 22

  module_function

  # title:: what it shows, and which direction is better
  # groups:: for each heading the label, the value and the colour of each bar
  def svg(title, groups)
    longest = groups.values.flatten(1).map { |_, value, _| value }.max
    rows = groups.flat_map { |heading, bars| [[heading], *bars] }
    shapes = rows.each_with_index.flat_map { |row, i| row(60 + i * ROW, longest, *row) }
    size = [WIDTH, 60 + rows.size * ROW]
    <<~SVG
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 #{size.join(" ")}" width="#{WIDTH}"
           font-family="sans-serif" font-size="12">
      <rect width="100%" height="100%" fill="white"/>
      #{[text(WIDTH / 2, 24, title, "middle"), *shapes].join("\n")}
      </svg>
    SVG
  end

  def row(line, longest, label, value = nil, colour = nil)
    return text(LABELS, line, label, "start", "bold") unless value

    length = (value / longest * LONGEST).round
    [text(LABELS - 8, line, label, "end"), text(LABELS + length + 6, line, format("%.2f", value), "start"),
     %(<rect x="#{LABELS}" y="#{line - 13}" width="#{length}" height="17" fill="#{colour}"/>)]
  end

  def text(left, line, text, anchor, weight = "normal")
    %(<text x="#{left}" y="#{line}" text-anchor="#{anchor}" font-weight="#{weight}">#{ERB::Util.h(text)}</text>)
  end
end

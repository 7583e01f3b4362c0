# frozen_string_literal: true

# Tables and numbers as the report writes them.
module Markdown
  module_function

  # @param headings [Array<String>]
  # @param rows [Array<Array<String>>]
  # @return [String]
  def table(headings, rows)
    lines = [headings, ["---", *Array.new(headings.size - 1, "---:")], *rows]
    lines.map { |cells| "| #{cells.join(" | ")} |" }.join("\n")
  end

  # @param nanoseconds [Float]
  # @return [String]
  def time(nanoseconds)
    return format("%.3g ns", nanoseconds) if nanoseconds < 1_000
    return format("%.3g µs", nanoseconds / 1e3) if nanoseconds < 1e6

    format("%.3g ms", nanoseconds / 1e6)
  end

  # @param measurement [Measurement]
  # @return [String] empty where there are no bytes
  def megabytes(measurement)
    return "" if measurement.bytes.zero?

    count((measurement.bytes / measurement.median * 1e3).round)
  end

  # @param spread [Statistics::Spread, nil]
  # @return [String]
  def spread(spread)
    spread ? format("%.2f (%.2f–%.2f)", *spread) : ""
  end

  # @param number [Integer]
  # @return [String]
  def count(number)
    number.to_s.gsub(/(?<=\d)(?=(?:\d{3})+\z)/, ",")
  end
end

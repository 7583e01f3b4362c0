# frozen_string_literal: true

# Medians and means.
module Statistics
  # Median, lowest and highest of several rounds.
  Spread = Struct.new(:median, :low, :high)

  module_function

  # @param numbers [Array<Float>]
  # @return [Float]
  def median(numbers)
    sorted = numbers.sort
    (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2.0
  end

  # @param numbers [Array<Float>]
  # @return [Spread]
  def spread(numbers)
    Spread.new(median(numbers), *numbers.minmax)
  end

  # @param numbers [Array<Float>]
  # @return [Float]
  def geometric_mean(numbers)
    Math.exp(numbers.sum { |number| Math.log(number) } / numbers.size)
  end
end

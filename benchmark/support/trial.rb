# frozen_string_literal: true

# One document through one contender: whether it comes back equal, its size, and how long each way takes.

require_relative "stopwatch"

class Trial
  # @return [Module] see Contenders
  attr_reader :contender

  # @return [StandardError, nil] why the contender cannot carry the document
  attr_reader :error

  # @return [Integer, nil] bytes
  attr_reader :size

  # @return [Float, nil] seconds for one document
  attr_reader :pack_time, :unpack_time

  # @param contender [Module]
  # @param document [Object]
  def initialize(contender, document)
    @contender = contender
    @document = document
    @bytes = contender.pack(document)
    @size = @bytes.bytesize
    @equal = contender.unpack(@bytes) == document
  rescue StandardError => error
    @error = error
  end

  # @return [Boolean] whether what comes back is what went in
  def faithful?
    @equal ? true : false
  end

  # Measures, if the contender can carry the document.
  #
  # @param budget [Float] seconds
  # @return [self]
  def run(budget)
    if faithful?
      @pack_time = Stopwatch.median(budget / 2) { @contender.pack(@document) }
      @unpack_time = Stopwatch.median(budget / 2) { @contender.unpack(@bytes) }
    end
    self
  end

  # @return [Float, nil] seconds there and back
  def round_trip
    @pack_time && @pack_time + @unpack_time
  end
end

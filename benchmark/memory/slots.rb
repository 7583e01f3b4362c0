# frozen_string_literal: true

# Slots of decoded documents.

require "terminal-table"
require_relative "children"

class Slots
  TITLE = "Decoded documents"

  # @param inputs [Inputs]
  def initialize(inputs)
    @inputs = inputs
  end

  # @return [Hash] rows
  def measure
    rows = Peers::ALL.flat_map do |peer|
      measured = Children.run("slots", peer, input: @inputs.file(peer))
      @inputs.objects.keys.zip(measured).map { |name, row| row_of(name, peer, **row) }
    end
    { rows: rows }
  end

  # @param result [Hash] of measure
  # @return [Array<Terminal::Table>]
  def tables(result)
    rows = result[:rows]
    sizes = rows.first[:slots].keys
    counts = rows.map { |row| [row[:document], row[:peer], *row[:slots].values, row[:slots].values.sum] }
    shares = rows.map { |row| [row[:document], row[:peer], *CLASSES.map { |name| share(row[:classes][name]) }] }
    [Terminal::Table.new(title: "#{TITLE}: objects by slot size",
                         headings: ["document", "", *sizes, "all"], rows: counts),
     Terminal::Table.new(title: "#{TITLE}: in their slot, of those whose size allows it",
                         headings: ["document", "", *CLASSES], rows: shares)]
  end

  CLASSES = %i[String Array Hash].freeze

  private

  # With Symbols for keys, as it is when it was saved and is read again.
  def row_of(name, peer, slots:, classes:)
    { document: name, peer: peer.label, slots: slots, classes: classes.transform_keys(&:to_sym) }
  end

  def share(classes)
    return "-" unless classes && classes[:fitting] > 0

    format("%.2f %% of %d", classes[:embedded] * 100.0 / classes[:fitting], classes[:fitting])
  end
end

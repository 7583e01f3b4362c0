# frozen_string_literal: true

# What the demo prints: tables of sizes and speeds, then bars.

require "terminal-table"

class DemoReport
  BAR_WIDTH = 40

  # @param results [Hash{String => Array<Trial>}] the trials of each document
  # @param races [Array<RactorRace>]
  # @param ractors [Integer] how many the races had
  def initialize(results, races, ractors)
    @results = results
    @races = races
    @ractors = ractors
  end

  # @return [String]
  def to_s
    [trial_table, *notes, *(["", race_table] if @races.any?), "", bars].join("\n")
  end

  private

  def trial_table
    table = Terminal::Table.new(headings: ["document", "format", "bytes", "pack/s", "unpack/s", "equal"])
    @results.each_with_index do |(name, trials), index|
      table.add_separator unless index.zero?
      trials.each_with_index { |trial, row| table.add_row([row.zero? ? name : "", *trial_cells(trial)]) }
    end
    (2..4).each { |column| table.align_column(column, :right) }
    table
  end

  def trial_cells(trial)
    return [trial.contender.label, "-", "-", "-", "-"] if trial.error
    return [trial.contender.label, number(trial.size), "-", "-", "NO"] unless trial.faithful?

    [trial.contender.label, number(trial.size), number(1 / trial.pack_time), number(1 / trial.unpack_time), "yes"]
  end

  def notes
    notes = @results.flat_map { |name, trials| trials.select(&:error).map { |trial| note(name, trial) } }
    notes.empty? ? [] : ["", *notes]
  end

  def note(name, trial)
    "- #{trial.contender.label} cannot carry #{name}: #{trial.error.message.lines.first.to_s.scrub("?").strip[0, 60]}"
  end

  def race_table
    headings = ["passes/s over all that every format can carry", "1 Ractor", "#{@ractors} Ractors", "gain"]
    table = Terminal::Table.new(headings: headings, rows: @races.map { |race| race_cells(race) })
    (1..3).each { |column| table.align_column(column, :right) }
    table
  end

  def race_cells(race)
    return [race.contender.label, race.error, "-", "-"] if race.error

    [race.contender.label, number(race.alone), number(race.together), format("%.2fx", race.together / race.alone)]
  end

  def bars
    lines = @results.flat_map { |name, trials| [name, *trial_bars(trials)] }
    ["Round trips a second (longer is faster)", *lines].join("\n")
  end

  def trial_bars(trials)
    measured = trials.select(&:round_trip)
    fastest = measured.map(&:round_trip).min
    measured.map do |trial|
      share = fastest / trial.round_trip
      bar = block * (share * BAR_WIDTH).ceil
      format("  %-9s %-#{BAR_WIDTH}s %s", trial.contender.label, bar, number(1 / trial.round_trip))
    end
  end

  def block
    Encoding.default_external == Encoding::UTF_8 ? "█" : "#"
  end

  # Three significant digits and thousands separated: more would be noise.
  def number(value)
    return value.to_s.gsub(/(?<=\d)(?=(?:\d{3})+\z)/, ",") if value.is_a?(Integer)
    return format("%.1f", value) if value < 100

    number(value.round(2 - Math.log10(value).floor).to_i)
  end
end

# frozen_string_literal: true

# What the demo measured: bars of how much longer others take, and one sentence.

require "terminal-table"
require_relative "results"

class DemoReport
  LONGEST = 8 # times Manypack's time; what takes longer has a bar that is cut
  BAR = 2     # characters for Manypack's time
  LONG_NAME = 20

  # results:: the trials of each document, Manypack's first
  def initialize(results, screen)
    @results = results
    @screen = screen
  end

  def table
    table = Terminal::Table.new(headings: ["document", "", "bytes", *Trial::WAYS], style: { border: border })
    @results.each_with_index do |(name, trials), index|
      table.add_separator unless index.zero?
      trials.each_with_index { |trial, row| table.add_row([row.zero? ? short(name) : "", *cells(trial, trials.first)]) }
    end
    table.align_column(2, :right)
    table
  end

  # Returns sentences on what has no bar, and why.
  def notes
    failed = @results.flat_map { |name, trials| trials.select(&:error).map { |trial| [name, trial] } }
    failed.group_by { |_, trial| "#{trial.contender.label} cannot carry" }.map do |what, all|
      reason = all.first.last.error.message.lines.first.to_s.scrub("?").strip
      "#{what} #{all.map(&:first).join(", ")}: #{reason[0, 80]}."
    end
  end

  def sentence
    contenders = @results.values.first.drop(1).map(&:contender)
    first, *others = contenders.map { |contender| [contender, *mean_ratios(contender)] }.select { |_, ratio| ratio }
    return "Nobody else can carry this." unless first

    name, unpack, pack = first
    rest = others.map { |contender, *ratios| ", #{named(contender)} #{ratios.join(" and ")} times" }.join
    "#{named(name)} takes #{unpack} times as long as Manypack to unpack and #{pack} times as long to pack#{rest} " \
      "(geometric means of what each can carry)."
  end

  private

  def short(name)
    name.size > LONG_NAME ? "...#{name[3 - LONG_NAME..]}" : name
  end

  def border
    @screen.blocks? ? :unicode : :ascii
  end

  def cells(trial, ours)
    label = trial.contender.label
    return [label, "-", "-", "-"] if trial.error
    return [label, Figures.count(trial.size), "not equal", "not equal"] unless trial.faithful?

    [label, Figures.count(trial.size), *Trial::WAYS.map { |way| cell(trial, ours, way) }]
  end

  def cell(trial, ours, way)
    return "#{@screen.paint(bar(1), :green)} #{duration(trial.time(way))}" if trial.equal?(ours)

    ratio = trial.time(way) / ours.time(way)
    "#{bar(ratio)} #{significant(ratio)}x"
  end

  def bar(ratio)
    bar = (@screen.blocks? ? "█" : "#") * [([ratio, LONGEST].min * BAR).round, 1].max
    ratio > LONGEST ? bar + (@screen.blocks? ? "▶" : ">") : bar
  end

  def mean_ratios(contender)
    pairs = @results.values.filter_map do |ours, *others|
      theirs = others.find { |trial| trial.contender == contender }
      [theirs, ours] if theirs.faithful?
    end
    return if pairs.empty?

    Trial::WAYS.map do |way|
      significant(Statistics.geometric_mean(pairs.map { |theirs, ours| theirs.time(way) / ours.time(way) }))
    end
  end

  def named(contender)
    "#{contender.label} #{contender.version}"
  end

  def duration(seconds)
    time = Figures.time(seconds * 1e9)
    @screen.blocks? ? time : time.tr("µ", "u")
  end

  # More digits would be noise.
  def significant(value)
    format(value < 10 ? "%.1f" : "%.0f", value)
  end
end

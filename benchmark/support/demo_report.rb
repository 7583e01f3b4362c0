# frozen_string_literal: true

# What the demo measured: bars of how much longer others take, and one sentence.

require "terminal-table"
require_relative "results"

class DemoReport
  EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"].freeze
  LONGEST = 8 # times Manypack's time; what takes longer has a bar that is cut
  LONG_NAME = 20
  UNITS = { "s" => 1, "ms" => 1e3, "µs" => 1e6, "ns" => 1e9 }.freeze
  NOISY = 0.1

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

  # Returns a sentence if the figures cannot be trusted, or nil.
  def warning
    noise = Statistics.median(measured.product(Trial::WAYS).map { |trial, way| trial.noise(way) })
    return if noise < NOISY

    "This machine is busy: repeated timings of the same work differ by #{(noise * 100).round} %, so these figures " \
      "are rough."
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

  def measured
    @results.values.flatten.select(&:faithful?)
  end

  # As wide as the screen lets them be: the rest is borders, numbers and names.
  def bar_width
    names = ["document", *@results.keys.map { |name| short(name) }].map(&:size).max
    labels = @results.values.flatten.map { |trial| trial.contender.label.size }.max
    ((@screen.width - 16 - names - labels - sizes.max - 2 * 8) / 2).clamp(8, 30)
  end

  def short(name)
    name.size > LONG_NAME ? "...#{name[3 - LONG_NAME..]}" : name
  end

  def sizes
    ["bytes", *@results.values.flatten.map { |trial| number(trial.size) }].map(&:size)
  end

  def border
    @screen.blocks? ? :unicode : :ascii
  end

  def cells(trial, ours)
    label = trial.contender.label
    return [label, "-", "-", "-"] if trial.error
    return [label, number(trial.size), "not equal", "not equal"] unless trial.faithful?

    [label, number(trial.size), *Trial::WAYS.map { |way| cell(trial, ours, way) }]
  end

  def cell(trial, ours, way)
    return "#{@screen.paint(bar(1), :green)} #{duration(trial.time(way))}" if trial.equal?(ours)

    ratio = trial.time(way) / ours.time(way)
    "#{bar(ratio)} #{significant(ratio)}x"
  end

  def bar(ratio)
    eighths = ([ratio, LONGEST].min * bar_width * 8 / LONGEST).round
    bar = @screen.blocks? ? "█" * (eighths / 8) + EIGHTHS[eighths % 8] : "#" * [(eighths / 8.0).round, 1].max
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
    unit, scale = UNITS.find { |_, one| seconds * one >= 1 } || UNITS.to_a.last
    "#{significant(seconds * scale)} #{@screen.blocks? ? unit : unit.tr("µ", "u")}"
  end

  # More digits would be noise.
  def significant(value)
    format(value < 10 ? "%.1f" : "%.0f", value)
  end

  def number(value)
    value.to_s.gsub(/(?<=\d)(?=(?:\d{3})+\z)/, ",")
  end
end

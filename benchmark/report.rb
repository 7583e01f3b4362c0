# frozen_string_literal: true

# Writes docs/performance.md and its pictures from the results of bench.rb and from the recorded counts of instructions.
# With --pictures it only draws the pictures anew, from the results that the page shows.
require "erb"
require "fileutils"
require_relative "support/plot"
require_relative "support/recorded_instructions"
require_relative "support/results"
require_relative "support/workload"

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

# The page of the newest Ruby's results, the other Rubies' beside it.
class Report
  TEMPLATE = File.expand_path("support/report.md.erb", __dir__)
  PICTURES = "performance" # folder beside the page

  # What the groups of cases are called on the page, in this order.
  GROUPS = {
    "documents" => "Real documents", "classics" => "The data sets of 2012", "messages" => "Messages",
    "sizes" => "Sizes", "mutations" => "One percent changed", "ext types" => "Ext types",
    "pools" => "As Rails calls it", "streams" => "Streams", "skip" => "Skipping",
    Workload::LOOKS => "Looking into a document",
    Workload::RECORDS => "Objects of a program's classes", "start" => "Loading",
    Workload::LANGUAGES => "Across languages"
  }.freeze

  OPERATIONS = {
    "restore" => "Factory#load", "dump" => "Factory#dump", "skip" => "Unpacker#skip",
    "look" => "a few values of a document",
    "deserialize" => "pool.unpacker with feed_reference, read, full_unpack",
    "serialize" => "pool.packer with write(128), write, full_pack",
    "start" => "a process that requires the library and ends",
    "to objects" => "bytes to objects", "lazily" => "bytes to lazy objects, unread",
    "lazily, three of 11 fields" => "bytes to lazy objects, three of 11 fields read",
    "from objects" => "objects to bytes",
    "unpack_registering" => "unpack, by a new Unpacker that registers the type",
    "pack_registering" => "pack, by a new Packer that registers the type"
  }.freeze

  # @param results [Array<Results>] the first is what the page is about
  # @param folder [String] docs
  def initialize(results, folder)
    @results, *@other_rubies = results
    @folder = folder
  end

  # @return [void]
  def write
    FileUtils.mkdir_p(File.join(@folder, PICTURES))
    File.write(path, ERB.new(File.read(TEMPLATE), trim_mode: "-").result(binding))
  end

  # Draws the pictures anew and puts their titles on the page, which otherwise stays as it is.
  #
  # @return [void]
  def redraw
    page = File.read(path)
    pictures.each { |picture| page.sub!(/!\[[^\]]*\]#{Regexp.escape(picture[/\([^()]*\)\z/])}/) { picture } }
    File.write(path, page)
  end

  private

  def path
    File.join(@folder, "performance.md")
  end

  # @return [Array<String>] Markdown of all
  def pictures
    tables = groups.keys.flat_map { |group| operations(group).map { |operation| [group, operation] } }
    tables.select { |table| picture?(*table) }.map { |table| picture(*table) } +
      operations(Workload::GROWTH).map { |operation| growth_picture(operation) }
  end

  def stamp
    @results.stamp
  end

  def title(operation)
    OPERATIONS.fetch(operation, operation)
  end

  def groups
    GROUPS.select { |group, _| @results.tables.map(&:first).include?(group) }
  end

  def operations(group)
    @results.tables.select { |name, _| name == group }.map(&:last)
  end

  # Manypack's time, then how many times as long the others take.
  def table(group, operation)
    floor, contenders = @results.others(group, operation).partition { |one| one == Results::FLOOR }
    own = @results.cases(group, operation).to_h { |name| [name, @results.find(group, operation, name)] }
    speeds = own.transform_values { |measurement| [Markdown.megabytes(measurement)] }
    speeds.transform_values!(&:clear) if speeds.values.flatten.all?("")
    rows = own.map do |name, measurement|
      [name, Markdown.time(measurement.median), *speeds[name], *floor.map { over_floor(group, operation, name) },
       *contenders.map { |contender| Markdown.spread(@results.ratio(group, operation, name, contender)) }]
    end
    headings = ["", Results::BASE, *speeds.values[0].map { "MB/s" }, *floor.map { "/ floor" }, *contenders]
    rows << means(group, operation, floor, contenders, headings.size) if rows.size > 1
    Markdown.table(headings, rows)
  end

  # On the right of the columns that have none.
  def means(group, operation, floor, contenders, columns)
    cells = floor.map { |name| 1 / @results.mean_ratio(group, operation, name) }
    cells += contenders.map { |contender| @results.mean_ratio(group, operation, contender) }
    ["geometric mean", *[""] * (columns - cells.size - 1), *cells.map { |cell| format("**%.2f**", cell) }]
  end

  def over_floor(group, operation, name)
    ratio = @results.ratio(group, operation, name, Results::FLOOR)
    ratio ? format("%.2f", 1 / ratio.median) : ""
  end

  # Bars of how many times as long the others take; returns the picture's Markdown.
  def picture(group, operation)
    contenders = contenders_of(group, operation)
    rows = @results.cases(group, operation).to_h do |name|
      [name, contenders.map { |one| @results.ratio(group, operation, name, one)&.to_a }]
    end
    title = "#{title(operation)}: how many times longer than Manypack (taller is slower)"
    draw("#{group}-#{operation}", title, "times Manypack's time") { |plot| plot.ratios(contenders, rows) }
  end

  def contenders_of(group, operation)
    @results.others(group, operation) - [Results::FLOOR]
  end

  # Where there are several bars.
  def picture?(group, operation)
    contenders_of(group, operation).any? && @results.cases(group, operation).size > 1
  end

  # Nanoseconds of an object by the document's size, with the collector's work and without.
  def growth_picture(operation)
    names = @results.cases(Workload::GROWTH, operation)
    series = { "Manypack" => :cpu, "Manypack, without the collector" => :work }.transform_values do |clock|
      names.map.with_index do |name, i|
        own = @results.find(Workload::GROWTH, operation, name)
        [i, Statistics.median(own.public_send(clock)) / own.objects]
      end
    end
    title = "#{operation}: nanoseconds per object, by the document's size (higher is slower)"
    draw("growth-#{operation}", title, "ns") { |plot| plot.lines(series, marks: names, points: true) }
  end

  def draw(name, title, unit)
    file = "#{name.tr(" ,", "-_").gsub(/[^\w-]/, "")}.svg"
    yield Plot.new(File.join(@folder, PICTURES, file), title: title, y: unit)
    "![#{title}](#{PICTURES}/#{file})"
  end

  def growth_table(operation)
    rows = @results.cases(Workload::GROWTH, operation).map do |name|
      own, floor = [Results::BASE, Results::FLOOR].map { |one| @results.find(Workload::GROWTH, operation, name, one) }
      times = [own.cpu, own.work, floor.cpu, floor.work].map { |each| Statistics.median(each) / own.objects }
      [name, Markdown.count(own.objects), *times.map { |time| format("%.1f", time) },
       Markdown.spread(@results.ratio(Workload::GROWTH, operation, name, "msgpack pool"))]
    end
    Markdown.table(["", "objects", "ns per object", "without the collector", "floor", "without the collector",
                    "msgpack pool"], rows)
  end

  # Manypack's time in floors.
  def floors
    texts = %w[unpack pack].map do |operation|
      least = all_ratios(@results, operation, Results::FLOOR).map { |name, ratio| [name, 1 / ratio] }
      farthest = least.max_by(&:last)
      "#{operation} takes **#{format("%.2f", Statistics.geometric_mean(least.map(&:last)))}** floors, " \
        "#{format("%.2f", farthest.last)} at most (#{farthest.first})"
    end
    texts.join("; ")
  end

  # One number for each contender and direction, over all documents, data sets, messages, sizes and mutations, with the
  # least of those.
  def summary
    rows = general_contenders.map do |contender|
      [contender, *%w[unpack pack].flat_map { |operation| mean_and_least(all_ratios(@results, operation, contender)) }]
    end
    Markdown.table(["", "unpack", "least", "pack", "least"], rows)
  end

  def mean_and_least(ratios)
    [format("**%.2f**", Statistics.geometric_mean(ratios.map(&:last))), told(ratios.min_by(&:last))]
  end

  # Where Manypack takes longer than another library, in whatever was measured.
  def losses
    contenders = @results.measurements.map(&:contender).uniq.grep_v(OWN)
    slower = contenders.to_h { |one| [one, every_ratio(one).select { |_, ratio| ratio < 1 }.sort_by(&:last)] }
    slower.reject { |_, cases| cases.empty? }.map do |contender, cases|
      "- #{contender}: #{cases.map { |one| told(one) }.join("; ")}"
    end
  end

  # @return [Array] of case and operation, and median ratio
  def every_ratio(contender)
    measured = @results.measurements.select { |one| one.contender == contender }
    measured.map do |one|
      where = "#{one.group}/#{one.name}: #{title(one.operation)}"
      [where, @results.ratio(one.group, one.operation, one.name, contender).median]
    end
  end

  def told(ratio)
    format("%.2f (%s)", ratio.last, ratio.first)
  end

  # What nobody would use instead.
  OWN = /\A(#{Results::BASE}|read instead|#{Results::FLOOR})\z/.freeze
  private_constant :OWN

  GENERAL = %w[documents classics messages sizes mutations].freeze
  private_constant :GENERAL

  def general_contenders
    all = GENERAL.product(%w[unpack pack]).flat_map { |group, operation| @results.others(group, operation) }
    all.uniq - [Results::FLOOR]
  end

  def all_ratios(results, operation, contender)
    GENERAL.flat_map do |group|
      results.cases(group, operation).map { |name| [name, results.ratio(group, operation, name, contender)&.median] }
    end.select(&:last)
  end

  # The same means on every Ruby, of the cases and the contenders that were measured on all of them.
  def other_rubies
    all = [@results, *@other_rubies]
    contenders = general_contenders.select { |one| all.all? { |results| all_ratios(results, "pack", one).any? } }
    rows = all.flat_map { |results| %w[unpack pack].map { |operation| ruby_row(results, operation, contenders) } }
    Markdown.table(["", "", *contenders], rows)
  end

  def ruby_row(results, operation, contenders)
    cells = contenders.map do |contender|
      common = [@results, *@other_rubies].map { |one| all_ratios(one, operation, contender).map(&:first) }.inject(:&)
      ratios = all_ratios(results, operation, contender).select { |name, _| common.include?(name) }
      format("%.2f", Statistics.geometric_mean(ratios.map(&:last)))
    end
    ruby = results.stamp[:ruby]
    [ruby[/\Aruby \S+/] + (ruby.include?("+YJIT") ? " with YJIT" : ""), operation, *cells]
  end

  def instructions
    recorded = RecordedInstructions.all
    names = recorded.flat_map { |one| one.counts.keys }.uniq
    rows = names.map { |name| [name, *recorded.map { |one| one.counts[name].to_s }] }
    Markdown.table(["", *recorded.map(&:build)], rows)
  end
end

if $PROGRAM_NAME == __FILE__
  docs = File.expand_path("../docs", __dir__)
  shown = File.join(docs, Report::PICTURES, "results.json")
  abort "Usage: ruby benchmark/report.rb [--pictures]" unless [[], ["--pictures"]].include?(ARGV)

  if ARGV.empty?
    paths = Dir[File.join(__dir__, "results", "ruby-*.json")]
    paths = paths.sort_by { |path| Gem::Version.new(path[/ruby-([\d.]+\d)/, 1]) }.reverse
    abort "there are no results: rake bench" if paths.empty?

    Report.new(paths.map { |path| Results.read(path) }, docs).write
    FileUtils.cp(paths.first, shown)
    puts "docs/performance.md, from #{paths.map { |path| File.basename(path) }.join(", ")}"
  else
    Report.new([Results.read(shown)], docs).redraw
  end
end

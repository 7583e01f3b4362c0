# frozen_string_literal: true

# Writes docs/performance.md and its picture from the results of bench.rb. Without new results it writes them anew
# from those that the page shows.
require "erb"
require "fileutils"
require_relative "support/bars"
require_relative "support/race"
require_relative "support/results"
require_relative "support/workload"

# Tables and numbers as the report writes them.
module Markdown
  module_function

  def table(headings, rows)
    lines = [headings, ["---", *Array.new(headings.size - 1, "---:")], *rows]
    lines.map { |cells| "| #{cells.join(" | ")} |" }.join("\n")
  end

  # Returns "" if there are no bytes.
  def megabytes(measurement)
    return "" if measurement.bytes.zero?

    Figures.count((measurement.bytes / measurement.median * 1e3).round)
  end

  # Without a figure where some rounds say faster and some say slower.
  def spread(spread)
    return "" unless spread

    spread.clear? ? format("%.2f", spread.median) : "–"
  end
end

# The page of one Ruby's results.
class Report
  TEMPLATE = File.expand_path("support/report.md.erb", __dir__)
  PICTURES = "performance" # folder beside the page

  # What the groups of cases are called on the page, in this order.
  GROUPS = {
    "documents" => "Real documents", "classics" => "The data sets of 2012", "messages" => "Messages",
    "sizes" => "Sizes", "ext types" => "Ext types",
    "pools" => "As Rails calls it", "streams" => "Streams",
    "calls" => "One call at a time", "skip" => "Skipping",
    "middle" => "Messages that come once", Workload::LOOKS => "Looking into one String again and again",
    Workload::RECORDS => "Objects of a program's classes", Workload::JSON_TEXTS => "JSON", "start" => "Loading"
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
    "from_json" => "JSON to bytes, or to objects", "to_json" => "bytes, or objects, to JSON",
    "load_json" => "JSON to objects of classes", "dump_json" => "objects of classes to JSON",
    "unpack_registering" => "unpack, by a new Unpacker that registers the type",
    "pack_registering" => "pack, by a new Packer that registers the type"
  }.freeze

  # The contenders of the picture, with the names of their gems and their colours.
  SHORT = { "Manypack" => ["Manypack", "#c0392b"], "msgpack pool" => ["msgpack", "#1f4e8c"],
            "JSON" => ["json", "#f0a030"] }.freeze

  # folder:: where the page goes
  def initialize(results, folder)
    @results = results
    @folder = folder
  end

  def write
    FileUtils.mkdir_p(File.join(@folder, PICTURES))
    File.write(path, ERB.new(File.read(TEMPLATE), trim_mode: "-").result(binding))
  end

  private

  def path
    File.join(@folder, "performance.md")
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
    contenders = @results.others(group, operation)
    own = @results.cases(group, operation).to_h { |name| [name, @results.find(group, operation, name)] }
    speeds = own.transform_values { |measurement| [Markdown.megabytes(measurement)] }
    speeds.transform_values!(&:clear) if speeds.values.flatten.all?("")
    rows = own.map do |name, measurement|
      [name, Figures.time(measurement.median), *speeds[name],
       *contenders.map { |one| Markdown.spread(@results.ratio(group, operation, name, one)) }]
    end
    headings = ["", Results::BASE, *speeds.values[0].map { "MB/s" }, *contenders]
    rows << means(group, operation, contenders, headings.size) if rows.size > 1
    Markdown.table(headings, rows)
  end

  # On the right of the columns that have none.
  def means(group, operation, contenders, columns)
    cells = contenders.map { |contender| @results.mean_ratio(group, operation, contender) }
    ["geometric mean", *[""] * (columns - cells.size - 1), *cells.map { |cell| format("**%.2f**", cell) }]
  end

  # The means of the nearest libraries, of each kind that has no table of its own.
  def kinds
    tables = @results.tables.reject { |group, _| OWN_TABLES.include?(group) }
    rows = tables.map do |group, operation|
      others = @results.others(group, operation)
      means = NEAREST.map { |one| format("%.2f", @results.mean_ratio(group, operation, one)) if others.include?(one) }
      ["#{GROUPS.fetch(group, group)}: #{title(operation)}", *means]
    end
    Markdown.table(["", *NEAREST], rows)
  end

  NEAREST = ["msgpack pool", "msgpack", "JSON"].freeze
  OWN_TABLES = ["documents", Workload::LOOKS, Workload::RECORDS].freeze
  private_constant :NEAREST, :OWN_TABLES

  # The picture of the front page: a few bars, for real documents. Returns its Markdown, or nil without those.
  def short_picture
    groups = %w[unpack pack].to_h { |operation| [operation, bars(operation)] }
    return if groups.values.any?(&:empty?)

    title = "Time for real documents, Manypack = 1 (shorter is faster)"
    File.write(File.join(@folder, PICTURES, "in-short.svg"), Bars.svg(title, groups))
    "![#{title}](#{PICTURES}/in-short.svg)"
  end

  # Returns the label, the mean and the colour of each, Manypack first; none if another was not measured.
  def bars(operation)
    others = SHORT.keys.drop(1) & @results.others("documents", operation)
    means = others.map { |one| [one, @results.mean_ratio("documents", operation, one)] }.sort_by(&:last)
    means.unshift([Results::BASE, 1.0]) if means.any?
    means.map do |one, mean|
      gem, colour = SHORT[one]
      [one == Results::BASE ? gem : "#{gem} #{stamp[:contenders][one.to_sym]}", mean, colour]
    end
  end

  # Where Manypack takes longer than another library in every round, in whatever was measured.
  def losses
    contenders = @results.measurements.map(&:contender).uniq.grep_v(OWN)
    slower = contenders.to_h { |one| [one, every_ratio(one).select { |_, ratio| ratio.high < 1 }] }
    slower.reject { |_, cases| cases.empty? }.map do |contender, cases|
      "- #{contender}: #{cases.sort_by { |_, ratio| ratio.median }.map { |one| told(*one) }.join("; ")}"
    end
  end

  # Returns pairs of a case with its operation, and the ratio.
  def every_ratio(contender)
    measured = @results.measurements.select { |one| one.contender == contender }
    measured.map do |one|
      where = "#{one.group}/#{one.name}: #{one.operation}"
      [where, @results.ratio(one.group, one.operation, one.name, contender)]
    end
  end

  def told(name, ratio)
    "#{format("%.2f", ratio.median)} (#{name})"
  end

  # What nobody would use instead.
  OWN = /\A(#{Results::BASE}|read instead)\z/.freeze
  private_constant :OWN
end

if $PROGRAM_NAME == __FILE__
  docs = File.expand_path("../docs", __dir__)
  shown = File.join(docs, Report::PICTURES, "results.json")
  results = Dir[File.join(__dir__, "results", "ruby-*.json")]
  newest = results.max_by { |path| Gem::Version.new(path[/ruby-([\d.]+\d)/, 1]) }
  FileUtils.cp(newest, shown) if newest
  Report.new(Results.read(shown), docs).write
  puts "docs/performance.md, from #{newest || shown}"
end

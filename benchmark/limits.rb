# frozen_string_literal: true

# What limits cost where nothing exceeds them: the documents unpacked by a codec with every limit set, and by that of
# untrusted input with limits as wide, beside one without. ruby --yjit -Ilib benchmark/limits.rb [FOLDER_OF_JSON_FILES]

require "terminal-table"
require_relative "support/results"
require_relative "support/workload"

require "manypack"

class LimitsBenchmark
  ROUNDS = 15
  SECONDS = 0.03

  WIDE = { max_bytes: 1 << 40, max_objects: 1 << 40, max_map_size: 1 << 31, max_array_size: 1 << 31,
           max_string_bytes: 1 << 31, max_ext_bytes: 1 << 31 }.freeze
  CODECS = { "none" => {}, "every limit" => WIDE, "untrusted: true" => { **WIDE, untrusted: true, max_depth: 128 } }
           .transform_values { |options| Manypack::Codec.new(**options) }.freeze

  # @param folder [String, nil] of JSON files; without it look-alikes are unpacked
  def initialize(folder)
    workload = Workload.new(data: folder, stream: 1, largest: 1)
    group = folder ? "documents" : "classics"
    @cases = workload.cases.values.select { |one| one.group == group }
  end

  def run
    rows = @cases.map { |one| [one.name, *ratios(Manypack.pack(one.payload))] }
    means = rows.map { |row| row.drop(1) }.transpose.map { |ratios| Statistics.geometric_mean(ratios) }
    puts table([*rows, :separator, ["geometric mean", *means]])
  end

  private

  # @return [Array<Float>] of each codec, in times of the first
  def ratios(bytes)
    raise "different objects" unless CODECS.values.map { |codec| codec.unpack(bytes) }.uniq.size == 1

    repetitions = [(SECONDS / seconds(CODECS["none"], bytes, 3) * 3).to_i, 1].max
    rounds = Array.new(ROUNDS) do |round|
      CODECS.keys.rotate(round).to_h { |name| [name, seconds(CODECS[name], bytes, repetitions)] }
    end
    CODECS.keys.map { |name| Statistics.median(rounds.map { |times| times[name] / times["none"] }) }
  end

  # @return [Float] of the processor
  def seconds(codec, bytes, times)
    GC.start
    start = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    times.times { codec.unpack(bytes) }
    Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - start
  end

  def table(rows)
    texts = rows.map { |row| row == :separator ? row : [row[0], *row.drop(1).map { |ratio| format("%.3f", ratio) }] }
    Terminal::Table.new(title: "unpack, in times of the codec without limits", headings: ["case", *CODECS.keys],
                        rows: texts)
  end
end

LimitsBenchmark.new(ARGV.first).run

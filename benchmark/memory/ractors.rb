# frozen_string_literal: true

# Memory of each Ractor, of many that have packed and unpacked.

require_relative "../support/contender_process"
require_relative "../support/contenders"
require_relative "../support/plot"
require_relative "process"

class RactorMemory
  TITLE = "Memory of a Ractor"
  COUNTS = [1, 100, 1_000, 10_000].freeze

  # @param quick [Boolean]
  def initialize(quick:)
    @counts = quick ? COUNTS.first(3) : COUNTS
  end

  # @return [Hash] rows of bytes for each Ractor, and what the extension holds for each
  def measure
    rows = @counts.flat_map do |count|
      works.map { |work, one| { ractors: count, work: work, contender: one.label, **each(count, one, work) } }
    end
    { rows: rows, own: own }
  end

  # @param result [Hash] of measure
  # @return [Array<Terminal::Table>]
  def tables(result)
    rows = result[:rows].group_by { |row| row[:ractors] }.map do |count, of_count|
      kilobytes = of_count.map { |row| format("%.1f", row[:each] / 1e3) }
      megabytes = of_count.last(2).map { |row| format("%.0f", row[:with] / 1e6) }
      [count, *kilobytes, *megabytes]
    end
    headings = ["Ractors", *heads, *Contenders::IN_RACTORS.map { |contender| "all MB, #{contender.label}" }]
    [Terminal::Table.new(title: "#{TITLE}, resident KB", headings: headings, rows: rows),
     "Of Manypack's, malloc'ed by its extension: #{result[:own] ? "#{result[:own]} bytes" : "not counted here"}."]
  end

  # @param result [Hash] of measure
  # @param folder [String] where plots go
  def plot(result, folder)
    groups = result[:rows].reject { |row| row[:ractors] == 1 }.group_by { |row| row[:ractors] }
                          .to_h { |count, rows| ["#{count} Ractors", rows.map { |row| row[:each] / 1e3 }] }
    title = "#{TITLE}: what each one adds to the process (shorter is better)"
    Plot.new(File.join(folder, "ractors.svg"), title: title, y: "resident KB").bars(heads, groups)
  end

  private

  def heads
    works.map { |work, contender| work == "unpack, pack" ? "#{contender.label}: #{work}" : work }
  end

  def works
    without = ["nothing", "by hand"].map { |work| [work, Contenders::WithManypack] }
    without + Contenders::IN_RACTORS.map { |contender| ["unpack, pack", contender] }
  end

  def each(count, contender, work)
    result = ContenderProcess.once(contender, Work, ["measure", count, work])
    with, before, after = result.values_at(:with, :before, :after)
    { with: with, each: (with - before) / count, each_collected: (after - before) / count }
  end

  # Counted, not taken from resident memory: blocks of the extension that are there while the Ractors wait.
  def own
    return unless MallocCounter.possible?

    result = ContenderProcess.once(Contenders::WithManypack, Work, ["measure", 100, "unpack, pack"],
                                   environment: MallocCounter.environment)
    result[:own] / 100
  end

  # What the process of a contender answers: what so many Ractors cost that have all packed and unpacked and now wait.
  class Work
    MESSAGE = { "id" => 12_345, "name" => "Ractor", "tags" => %w[small plain], "position" => { "x" => 1.5, "y" => -2 },
                "ok" => true }.freeze
    SIZE = 64 # bytes of it packed, about

    # The objects of it as a literal makes them.
    class_eval "def self.by_hand = #{MESSAGE.inspect}", __FILE__, __LINE__
    def self.packed_by_hand = "x" * SIZE

    # @param contender [Module] of Contenders
    def initialize(contender)
      @contender = contender
      @bytes = contender.pack(MESSAGE).freeze
    end

    # @param ractors [Integer]
    # @param work [String] "nothing", "by hand" or "unpack, pack"
    # @return [Hash{Symbol => Integer}] resident bytes before, with all of them, after a collection, and malloc'ed by
    #   the extension where that is counted
    def measure(ractors, work)
      MallocCounter.watch(%r{/manypack\.so\z}) if ENV["LD_PRELOAD"].to_s.include?("malloc_count")
      @work = work
      one = start
      wait_for([one])
      before = settle
      own = MallocCount.held.last if defined?(MallocCount)
      all = Array.new(ractors) { start }
      wait_for(all)
      with = ProcessMemory.resident
      after = settle
      { before: before, with: with, after: after, own: own && MallocCount.held.last - own }
    end

    private

    def start
      Ractor.new(@contender, @bytes, @work, Ractor.current) do |contender, bytes, work, main|
        kept = Work.work(work, contender, bytes)
        main.send(true)
        Ractor.receive
        kept
      end
    end

    def wait_for(ractors)
      ractors.size.times { Ractor.receive }
    end

    # What a Ractor does before it waits.
    def self.work(work, contender, bytes)
      case work
      when "by hand" then [by_hand, packed_by_hand]
      when "unpack, pack" then contender.unpack(bytes).then { |object| [object, contender.pack(object)] }
      end
    end

    def settle
      3.times { GC.start }
      ProcessMemory.resident
    end
  end
end

# frozen_string_literal: true

# Resident memory of a server over a day, shortened: an hour takes a minute. All contenders live through it at once.

require "terminal-table"
require_relative "allocators"
require_relative "children"
require_relative "day_messages"
require_relative "day_schedule"
require_relative "inputs"
require_relative "messages_file"
require_relative "plot"

class Day
  TITLE = "A server's day"
  HOURS = 10
  GLIBC = "glibc"

  # @param minutes [Float] for all hours
  def initialize(minutes:)
    @hour = minutes * 60.0 / HOURS
  end

  # @return [Hash] samples of each contender
  def measure
    write_messages
    running = contenders.map { |contender| Thread.new { live(**contender) } }
    { hours: HOURS, hour: @hour, held: held, rows: running.map(&:value) }
  end

  # @param result [Hash] of measure
  # @return [Array<Terminal::Table>]
  def tables(result)
    hours = Array.new(result[:hours]) { |i| (i + 1).to_s }
    means = result[:rows].map do |row|
      peak = row[:samples].map(&:last).max
      [row[:name], row[:answered], *megabytes(means(result, row)), *megabytes([peak])]
    end
    collected = result[:rows].map { |row| [row[:name], *megabytes(row[:collected]), growth(row[:collected])] }
    [Terminal::Table.new(title: "#{TITLE}: resident MB, mean of each hour (#{result[:hour].round} s)",
                         headings: ["", "requests", *hours, "peak"], rows: means),
     Terminal::Table.new(title: "#{TITLE}: resident MB at the end of each hour, after a collection",
                         headings: ["", *hours, "hours 6-8 to 8-10"], rows: collected)]
  end

  # @param result [Hash] of measure
  # @param folder [String] where plots go
  def plot(result, folder)
    series = result[:rows].to_h do |row|
      [row[:name], row[:samples].map { |seconds, bytes| [seconds / result[:hour], bytes / 1e6] }]
    end
    labels = { title: "#{TITLE}: the same load every hour", x: "hour", y: "resident MB" }
    Plot.lines(File.join(folder, "day.svg"), labels, series)
  end

  private

  def contenders
    threads = Peers::ALL.map { |peer| { peer: peer, threads: 4, ractors: 0 } }
    ractors = [Peers::Manypack, Peers::Json].map { |peer| { peer: peer, threads: 2, ractors: 2 } }
    under_glibc = (threads + ractors).map { |contender| contender.merge(malloc: GLIBC) }
    under_jemalloc = (threads.first(2) + ractors.first(1)).map do |contender|
      contender.merge(malloc: "jemalloc, decay 1 s")
    end
    under_glibc + under_jemalloc.select { |contender| Allocators.all.key?(contender[:malloc]) }
  end

  def live(peer:, threads:, ractors:, malloc:)
    result = Children.run("day", peer, environment: Allocators.all.fetch(malloc), input: file(peer),
                                       hours: HOURS, hour: @hour, threads: threads, ractors: ractors)
    workers = ractors.zero? ? "#{threads} threads" : "#{threads} threads, #{ractors} Ractors"
    { name: "#{peer.label}, #{workers}, #{malloc[/\w+/]}", peer: peer.label, threads: threads, ractors: ractors,
      malloc: malloc, **result }
  end

  def messages
    @messages ||= DayMessages.all
  end

  def file(peer)
    File.join(Inputs.folder, "day.#{peer.format}")
  end

  def write_messages
    digests = Peers::ALL.map do |peer|
      MessagesFile.write(file(peer), messages.map { |message| peer.pack(message) })
      MessagesFile.digest(MessagesFile.read(file(peer)).map { |bytes| peer.unpack(bytes) })
    end
    raise "not all decode the same" unless digests.uniq == [MessagesFile.digest(messages)]
  end

  # Packed bytes of what is held at a time, on average.
  def held
    sizes = MessagesFile.read(file(Peers::Manypack)).map(&:bytesize)
    requests = Array.new(4) { |worker| DaySchedule.new(@hour, sizes.size, worker).requests }.flatten
    requests.sum { |request| sizes[request.message] * request.hold } / @hour
  end

  def megabytes(numbers)
    numbers.map { |bytes| (bytes / 1e6).round }
  end

  # How much more it is at the end of the last half than at its start.
  def growth(numbers)
    early = numbers[5, 3].sum
    late = numbers.last(3).sum
    format("%+.1f %%", (late - early) * 100.0 / early)
  end

  def means(result, row)
    row[:samples].each_slice(row[:samples].size / result[:hours]).map { |samples| samples.sum(&:last) / samples.size }
  end
end

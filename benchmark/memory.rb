# frozen_string_literal: true

# Resident memory of sustained decoding: processes decode the same documents over and over, and always hold the last few
# results, under each malloc that is here. Linux. bin/bench-memory --help

require "digest"
require "optparse"
require "terminal-table"
require "tmpdir"
require_relative "support/contender_process"
require_relative "support/contenders"
require_relative "support/results"
require_relative "support/workload"

# Packed messages in a file, each behind its length: the process that measures holds nothing but these bytes.
module MessagesFile
  module_function

  def write(path, messages)
    File.open(path, "wb") { |file| messages.each { |message| file << [message.bytesize].pack("N") << message } }
  end

  # Returns the messages, frozen.
  def read(path)
    File.open(path, "rb") do |file|
      messages = []
      while (length = file.read(4))
        messages << file.read(length.unpack1("N")).freeze
      end
      messages
    end
  end

  # Equal objects have the same digest.
  def digest(objects)
    objects.inject(Digest::SHA256.new) { |digest, object| digest << object.inspect }.hexdigest
  end
end

class Sustained
  JEMALLOC = Dir["/usr/lib/*/libjemalloc.so.2", "/usr/lib*/libjemalloc.so.2"].first

  # The environment of a process that runs with each malloc.
  ALLOCATORS = { "glibc" => {},
                 **(JEMALLOC ? { "jemalloc" => { "LD_PRELOAD" => JEMALLOC } } : {}) }.freeze
  COLUMNS = { "live set" => :live, "end" => :end, "peak" => :peak, "after GC" => :after }.freeze

  def initialize(data:, passes:, rounds:)
    @objects = objects(data)
    @passes = passes
    @rounds = rounds
  end

  # Returns the table.
  def run
    Contenders::MEMORY.each(&:load)
    Dir.mktmpdir do |folder|
      Contenders::MEMORY.each { |contender| check(contender, write(contender, folder)) }
      rows = ALLOCATORS.keys.product(Contenders::MEMORY).map do |malloc, contender|
        [malloc, contender.label, *cells(medians(malloc, contender, path(contender, folder)))]
      end
      Terminal::Table.new(title: "Sustained decoding, resident MB", headings: ["malloc", "", *COLUMNS.keys], rows: rows)
    end
  end

  private

  # The real documents or the look-alikes of those of 2012, without Image, which JSON cannot carry; and the two messages
  # that are maps.
  def objects(data)
    cases = Workload.new(data: data, stream: 1).cases.values.group_by(&:group)
    documents = cases["documents"] || cases["classics"].reject { |one| one.name.start_with?("Image") }
    (documents + cases["messages"].first(2)).map(&:payload)
  end

  def path(contender, folder) = File.join(folder, contender.label)

  def write(contender, folder)
    path(contender, folder).tap do |path|
      MessagesFile.write(path, @objects.map { |object| contender.pack(object) })
    end
  end

  def check(contender, path)
    digest = ContenderProcess.once(contender, Work, ["digest"], input: path)
    raise "#{contender.label} decodes something else" unless digest == MessagesFile.digest(@objects)
  end

  def medians(malloc, contender, path)
    environment = ALLOCATORS.fetch(malloc)
    rounds = Array.new(@rounds) do
      ContenderProcess.once(contender, Work, ["measure", @passes], environment: environment, input: path)
    end
    rounds.each { |round| round[:end] = Statistics.median(round[:passes].last(@passes / 4 + 1)) }
    COLUMNS.values.to_h { |name| [name, Statistics.median(rounds.map { |round| round[name] })] }
  end

  def cells(medians) = COLUMNS.values.map { |name| format("%.1f", medians[name] / 1e6) }

  # What the process of a contender answers.
  class Work
    HELD = 24 # results; a server has so many requests at work

    # input:: the path of a MessagesFile
    def initialize(contender, input:)
      @contender = contender
      @messages = MessagesFile.read(input)
      @held = []
      @at = 0
    end

    def digest = MessagesFile.digest(@messages.lazy.map { |message| @contender.unpack(message) })

    # Returns resident bytes: with the live set alone, at the end of each pass over all messages, at the peak, and after
    # a collection and a second's rest.
    def measure(passes)
      HELD.times { |i| hold(@messages[i % @messages.size]) }
      live = settle
      residents = Array.new(passes) do
        @messages.each { |message| hold(message) }
        status("VmRSS")
      end
      { live: live, passes: residents, peak: status("VmHWM"), after: settle }
    end

    private

    def hold(message)
      @held[@at] = @contender.unpack(message)
      @at = (@at + 1) % HELD
    end

    # Collected, and given the time that an allocator takes to return pages.
    def settle
      3.times { GC.start }
      sleep 1
      100.times { +"x" * 1_000 } # jemalloc looks at its clock when it is called
      GC.start
      status("VmRSS")
    end

    def status(field) = File.read("/proc/self/status")[/^#{field}:\s+(\d+)/, 1].to_i * 1024
  end
end

if $PROGRAM_NAME == __FILE__
  options = { data: Workload::REAL, passes: 200, rounds: 3 }
  OptionParser.new do |parser|
    parser.banner = "Usage: bin/bench-memory [options]"
    parser.on("--data DIR", "a folder of JSON files") { |folder| options[:data] = folder }
    parser.on("--rounds N", Integer, "processes for each row (#{options[:rounds]})") { |n| options[:rounds] = n }
    parser.on("--quick", "fewer passes, in one process") { options.update(passes: 15, rounds: 1) }
  end.parse!
  puts "#{RUBY_DESCRIPTION} #{ContenderProcess.yjit.join}, #{Stamp.cpu}, commit #{Stamp.commit}"
  puts Sustained.new(**options).run
end

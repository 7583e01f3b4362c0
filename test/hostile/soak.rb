# frozen_string_literal: true

# A server's day: Threads, Ractors and worker processes that pack and unpack what arrives, half of it damaged on its way.
#   ruby -Ilib test/hostile/soak.rb [MINUTES]
# Samples resident memory and live slots of this process, after a collection, into tmp/soak.csv, and draws both. Fails if
# the last third of the time needs more than a tenth and 8 MB above the third before it.
require "fileutils"
require "manypack"

Warning[:experimental] = false

module Soak
  User = Struct.new(:id, :name, :tags)
  USER = Manypack::Record.new(User, id: Integer, name: String, tags: [String])
  PATH = Manypack::Path.new("$..name")
  SAMPLES = 60 # and as many characters wide is the plot
  ALLOWED = ->(before) { before * 1.1 + 8 }

  # What the server does with each message. Frozen, so that Ractors share it.
  class Work
    def initialize(seed)
      @random = Random.new(seed)
      @packer = Manypack::Packer.new
      @unpacker = Manypack::Unpacker.new(untrusted: true)
    end

    # Raises whatever is no error of Manypack.
    def do_one
      bytes = message
      damage(bytes) if @random.rand(2).zero?
      [-> { read(bytes) }, -> { look(bytes) }, -> { stream(bytes) }].each do |work|
        work.call
      rescue Manypack::Error
        @unpacker.reset
      end
    end

    private

    def message
      user = { "id" => @random.rand(1 << 40), "name" => "n" * @random.rand(200), "tags" => Array.new(@random.rand(8)) { |i| "tag #{i}" } }
      @packer.write({ "users" => [user] * @random.rand(6), @random.bytes(6) => @random.rand }).full_pack.tap { @packer.reset }
    end

    def damage(bytes)
      bytes.setbyte(@random.rand(bytes.bytesize), @random.rand(256))
      bytes.replace(bytes.byteslice(0, @random.rand(bytes.bytesize))) if @random.rand(3).zero?
    end

    def read(bytes)
      tree = Manypack.unpack(bytes, untrusted: true, shareable: @random.rand(4).zero?)
      Manypack.pack(tree)
      Manypack.pack(tree, canonical: true)
    end

    def look(bytes)
      view = Manypack::View.new(bytes)
      PATH.to_a(view)
      users = view["users"]
      USER.load(users[0].bytes) if users.is_a?(Manypack::View) && users[0].is_a?(Manypack::View)
    rescue NoMethodError, IndexError, TypeError
      nil # the damage has made another kind of value of it
    end

    def stream(bytes)
      bytes.each_char.each_slice(50) { |piece| @unpacker.feed_each(piece.join) { |object| object } }
      @unpacker.reset
    end
  end

  module_function

  def run(minutes)
    @until = now + minutes * 60
    threads = Array.new(2) { |i| Thread.new { work_in_thread(i) } }
    threads << Thread.new { work_in_ractors } << Thread.new { work_in_processes }
    samples = sample_until_the_end(minutes * 60.0 / SAMPLES)
    threads.each(&:value)
    write(samples)
    samples
  end

  def work_in_thread(seed)
    work = Work.new(seed)
    work.do_one while now < @until
  end

  # A Ractor ends, and another takes its place, as after a deployment.
  def work_in_ractors
    seed = 100
    while now < @until
      ractor = Ractor.new(seed += 1) { |number| Work.new(number).then { |work| 300.times { work.do_one } } }
      ractor.respond_to?(:value) ? ractor.value : ractor.take
      sleep 0.2
    end
  end

  def work_in_processes
    source = Array.new(500) { |i| Manypack.pack({ "id" => i, "name" => "n" * i }) }.join
    while now < @until
      Manypack::Parallel.each(source, processes: 2, map: ->(message) { message["id"] }) { |id| id }
      sleep 2
    end
  end

  def sample_until_the_end(pause)
    samples = []
    start = now
    while now < @until
      sleep [pause, [@until - now, 0].max].min
      GC.start
      samples << [(now - start).round(1), resident, live]
    end
    samples
  end

  # In MB.
  def resident = File.read("/proc/self/statm").split[1].to_i * 4096 / 1e6

  # Counted, because Ruby 3.1's own count goes wrong where Ractors end.
  def live = ObjectSpace.count_objects.then { |counts| counts[:TOTAL] - counts[:FREE] }

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def write(samples)
    FileUtils.mkdir_p("tmp")
    File.write("tmp/soak.csv", ["seconds,resident MB,live slots", *samples.map { |row| row.join(",") }].join("\n") << "\n")
    puts plot("resident MB", samples.map { |row| row[1] }), plot("live slots", samples.map(&:last))
  end

  # Eight lines high, from 0 on.
  def plot(name, values)
    rows = 8.downto(1).map { |row| values.map { |value| value > values.max * (row - 1) / 8.0 ? "#" : " " }.join }
    ["#{name}, at most #{values.max.round(1)}", *rows.map { |row| "|#{row}" }, "+#{"-" * values.size}", ""].join("\n")
  end

  # What has grown beyond what is allowed, in words.
  def grown(samples)
    middle, last = samples.each_slice((samples.size / 3.0).ceil).to_a.last(2)
    [["resident memory", 1, 1.0], ["live slots", 2, 20_000.0]].filter_map do |name, column, unit|
      before, after = [middle, last].map { |rows| rows.map { |row| row[column] / unit }.max }
      "#{name} grew from #{(before * unit).round} to #{(after * unit).round}" if after > ALLOWED.call(before)
    end
  end
end

if $PROGRAM_NAME == __FILE__
  $stdout.sync = true
  grown = Soak.grown(Soak.run(Float(ARGV.fetch(0, 3))))
  abort grown.join("\n") if grown.any?
  puts "flat: neither grew by more than a tenth and 8 MB (160,000 slots) in the last third"
end

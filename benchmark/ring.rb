# frozen_string_literal: true

# A ring of Ractors that pass messages around, each unpacking, changing and packing what it gets; beside it the same
# with Integers and with Strings that are not packed, and the same of Threads. Each ring is a process of its own.
# An Integer is no object; a message of bytes is one at least, as the Strings are, and Ruby 4.0 collects for all Ractors
# at once: no packed message can get further than the Strings do.

require "json"
require "open3"
require "optparse"
require "rbconfig"
require "terminal-table"
require_relative "support/results"
require_relative "support/stamp"

require "manypack"

class RingBenchmark
  # Native threads of the Ractors, and a main Ractor whose Threads share theirs. Ruby 4.0 gives each Ractor that makes
  # objects a page of 64 KB, and collects garbage when these run out: the large heap has enough of them.
  SETTINGS = {
    "RUBY_MAX_CPU=1" => { "RUBY_MAX_CPU" => "1" }, "RUBY_MAX_CPU=2" => { "RUBY_MAX_CPU" => "2" },
    "RUBY_MAX_CPU=8" => { "RUBY_MAX_CPU" => "8" }, "RUBY_MN_THREADS=1" => { "RUBY_MN_THREADS" => "1" },
    "large heap" => (0..2).to_h { |pool| ["RUBY_GC_HEAP_#{pool}_INIT_SLOTS", "4000000"] }
  }.freeze
  RINGS = %w[OfRactors OfThreads].product(%w[Integers Strings PackedIntegers PackedMaps]).freeze

  # @param options [Hash]
  def initialize(options)
    @options = options
    @settings = SETTINGS.select { |name, _| name.match?(options[:only]) }
    @samples = Hash.new { |samples, key| samples[key] = [] }
    _, yjit = Open3.capture2e(RbConfig.ruby, "--yjit", "-e", "exit RubyVM::YJIT.enabled?")
    @flags = yjit.success? ? ["--yjit"] : []
  end

  def run
    puts "#{RUBY_DESCRIPTION} #{@flags.join}, #{Stamp.cpu}, #{@options[:nodes]} nodes, #{@options[:times]} times around"
    @options[:rounds].times do |round|
      @settings.each_key do |setting|
        RINGS.rotate(round).each { |ring| @samples[[setting, ring]] << measure(setting, ring) }
      end
    end
    puts table
    Results.new(stamp, measurements).write(path)
    puts "measurements: #{path}"
  end

  private

  def measure(setting, ring)
    environment = { "RUBYOPT" => "-W0" }.merge(SETTINGS[setting])
    lib = File.expand_path("../lib", __dir__)
    child = File.expand_path("support/ring_child.rb", __dir__)
    output, status = Open3.capture2(environment, RbConfig.ruby, *@flags, "-I#{lib}", child,
                                    *ring, @options[:nodes].to_s, @options[:times].to_s)
    raise "the ring #{ring.join(" ")} with #{setting} failed" unless status.success?

    $stderr.print "."
    JSON.parse(output, symbolize_names: true)
  end

  def table
    rows = @samples.keys.map do |setting, ring|
      time = median(setting, ring, :pass)
      [setting, name(ring), format("%.2f", time / hops * 1e6), format("%.0f", hops / time),
       format("%.0f %%", 100 * median(setting, [ring.first, "Integers"], :pass) / time),
       format("%.0f %%", 100 * median(setting, ring, :gc) / time),
       format("%.2f", median(setting, ring, :start)), format("%.2f", median(setting, ring, :end)),
       format("%.1f", median(setting, ring, :kilobytes) / nodes)]
    end
    headings = ["", "ring", "us a hop", "hops/s", "of Integers", "collecting", "s to start", "s to end", "KB a node"]
    Terminal::Table.new(headings: headings, rows: rows)
  end

  def name(ring)
    "#{ring.last.sub("Packed", "packed ")} #{ring.first.sub("Of", "of ")}"
  end

  def median(setting, ring, field)
    Statistics.median(@samples[[setting, ring]].map { |sample| sample[field] })
  end

  def hops
    @samples.values.first.first[:hops].to_f
  end

  def nodes
    @options[:nodes]
  end

  def stamp
    { ruby: [RUBY_DESCRIPTION, *@flags].join(" "), cpu: Stamp.cpu, cores: Etc.nprocessors, commit: Stamp.commit,
      time: Time.now.utc.iso8601, nodes: nodes, times: @options[:times], contenders: { Manypack: Manypack::VERSION } }
  end

  # Nanoseconds of a hop.
  def measurements
    @samples.map do |(setting, ring), samples|
      times = { wall: :pass, cpu: :cpu, gc: :gc }.transform_values do |field|
        samples.map { |sample| sample[field] / hops * 1e9 }
      end
      Measurement.new(group: "ring", name: setting, operation: "hop", contender: name(ring),
                      bytes: nil, objects: nil, **times)
    end
  end

  def path
    File.join(__dir__, "results", ["ring", RUBY_VERSION, nodes].join("-") << ".json")
  end
end

options = { nodes: 1_000, times: 100, rounds: 3, only: // }
OptionParser.new do |parser|
  parser.banner = "Usage: bundle exec ruby -Ilib benchmark/ring.rb [options]"
  parser.on("--nodes N", Integer, "of the ring (#{options[:nodes]})") { |nodes| options[:nodes] = nodes }
  parser.on("--times N", Integer, "around it (#{options[:times]})") { |times| options[:times] = times }
  parser.on("--rounds N", Integer, "median of so many (#{options[:rounds]})") { |rounds| options[:rounds] = rounds }
  parser.on("--only REGEXP", Regexp, "settings by name, such as 'MAX_CPU'") { |only| options[:only] = only }
end.parse!
RingBenchmark.new(options).run

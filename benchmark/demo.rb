# frozen_string_literal: true

# What bin/demo runs: packs and unpacks real documents, checks that they come back equal, and shows what it cost beside
# JSON, Marshal and, where the bundle has it, the msgpack gem; then the same in as many Ractors as there are cores.

require "etc"
require "optparse"
require "ruby-progressbar"

require_relative "support/contenders"
require_relative "support/demo_report"
require_relative "support/payloads"
require_relative "support/ractor_race"
require_relative "support/trial"

Warning[:experimental] = false # Ractors say it in every program

# The demo from its arguments to its exit status.
class Demo
  # What is wrong with what the user gave.
  class Problem < StandardError
  end

  RACTOR_SHARE = 0.3 # of the time

  # @param arguments [Array<String>] of the command line
  def initialize(arguments)
    @seed = Payloads::DEFAULT_SEED
    @seconds = 16.0
    @ractors = Etc.nprocessors
    @files = parser.parse(arguments)
  rescue OptionParser::ParseError => error
    raise Problem, "#{error.message} (bin/demo --help tells the options)"
  end

  # @return [Boolean] whether everything came back equal
  def run
    @documents = Ractor.make_shareable(@files.empty? ? Payloads.documents(seed: @seed) : read_files)
    @results = @documents.transform_values do |document|
      Contenders.all.map { |contender| Trial.new(contender, document) }
    end
    check_manypack
    announce
    measure
    puts DemoReport.new(@results, @races, @ractors), "", verdict
    ractors_agree?
  end

  private

  def parser
    OptionParser.new do |options|
      options.banner = "Usage: bin/demo [options] [FILE.json ...]\n" \
                       "Without files: made-up look-alikes of the classic data sets."
      options.on("--seed N", Integer, "of the look-alikes (#{@seed})") { |value| @seed = value }
      options.on("--time SECONDS", Float, "to measure, in all (#{@seconds.to_i})") { |time| @seconds = positive(time) }
      options.on("--ractors N", Integer, "(as many as cores: #{@ractors})") { |value| @ractors = positive(value) }
    end
  end

  def positive(value)
    value.positive? ? value : raise(OptionParser::InvalidArgument, value.to_s)
  end

  def read_files
    @files.to_h { |path| [label(path), read_json(path)] }
  end

  def label(path)
    basename = File.basename(path)
    @files.uniq.count { |other| File.basename(other) == basename } > 1 ? path : basename
  end

  def read_json(path)
    text = File.read(path, encoding: Encoding::UTF_8)
    raise Problem, "#{path} is not UTF-8, so it is not JSON" unless text.valid_encoding?

    JSON.parse(text)
  rescue SystemCallError => error
    raise Problem, "cannot read #{path}: #{error.class.new.message}"
  rescue JSON::ParserError => error
    raise Problem, "#{path} is not JSON: #{error.message.lines.first.to_s.strip.sub(/\A\d+: /, "")[0, 120]}"
  end

  def check_manypack
    @results.each do |name, (ours, *)|
      raise Problem, "MessagePack cannot carry #{name}: #{ours.error.message}" if ours.error
      raise Problem, "#{name} did not come back equal" unless ours.faithful?
    end
  end

  def announce
    puts "#{RUBY_ENGINE} #{RUBY_VERSION} on #{RUBY_PLATFORM}, #{Etc.nprocessors} cores; #{Contenders.versions}"
    puts "made-up documents, seed #{@seed}" if @files.empty?
    puts "The msgpack gem joins after:  bundle config set --local with bench && bin/setup" unless Contenders.msgpack?
    puts
    $stdout.flush
  end

  def measure
    trials = @results.values.flatten
    bar = ProgressBar.create(total: trials.size + Contenders.all.size, output: $stderr, title: "measuring",
                             format: "%t |%B| %c/%C")
    budget = @seconds * (1 - RACTOR_SHARE) / trials.count(&:faithful?)
    trials.each { |trial| trial.run(budget) && bar.increment }
    @races = common.empty? ? [] : Contenders.all.map { |contender| race(contender).tap { bar.increment } }
  end

  # A document that one format cannot carry, or not whole, would make the sums incomparable.
  def common
    @results.select { |_, trials| trials.all?(&:faithful?) }.keys
  end

  def race(contender)
    documents = Ractor.make_shareable(@documents.values_at(*common))
    pass_time = @results.values_at(*common).flatten.select { |trial| trial.contender == contender }.sum(&:round_trip)
    RactorRace.new(contender, documents, @ractors).run(pass_time, @seconds * RACTOR_SHARE / Contenders.all.size)
  end

  def ractors_agree?
    @races.first&.error.nil?
  end

  def verdict
    return "Manypack: everything came back equal, in every Ractor." if ractors_agree?

    "Manypack: FAILED in a Ractor: #{@races.first.error}"
  end
end

begin
  exit Demo.new(ARGV).run
rescue Demo::Problem => problem
  abort "bin/demo: #{problem.message}"
rescue Interrupt
  exit 130
end

# frozen_string_literal: true

# What bin/demo runs: something to look at, then documents packed and unpacked by Manypack and others, which have to
# come back equal before they are measured.

require "etc"
require "json"
require "manypack"
require "open3"
require "optparse"
require "rbconfig"

require_relative "support/contenders"
require_relative "support/demo_report"
require_relative "support/demo_screen"
require_relative "support/payloads"
require_relative "support/results"

Warning[:experimental] = false # Ractors say it in every program

# One document through one contender: whether it comes back equal, its size, and how long each way takes.
class Trial
  # What is measured.
  WAYS = %w[unpack pack].freeze

  # error:: if the contender cannot carry the document, or nil
  # size:: in bytes
  attr_reader :contender, :error, :size

  def initialize(contender, document)
    @contender = contender
    @document = document
    @calls = {}
    @samples = Hash.new { |samples, way| samples[way] = [] }
    @bytes = contender.pack(document)
    @size = @bytes.bytesize
    @equal = contender.unpack(@bytes) == document
  rescue StandardError => error
    @error = error
  end

  # Returns true if what comes back is what went in.
  def faithful? = @equal

  # Warms up, and finds how many calls a sample has.
  #
  # seconds:: how long a sample should take
  def warm_up(way, seconds)
    calls = 1
    calls *= 2 while (taken = run(way, calls)) < seconds
    @calls[way] = [(calls * seconds / taken).round, 1].max
  end

  # Takes one sample.
  def sample(way)
    GC.start # the garbage of whoever was measured before is not this one's cost
    @samples[way] << run(way, @calls.fetch(way)) / @calls.fetch(way)
  end

  # Returns the seconds that the document takes.
  def time(way)
    Statistics.median(@samples.fetch(way))
  end

  private

  # By the processor's clock: that other programs run in between is nobody's cost.
  def run(way, calls)
    contender, document, bytes = @contender, @document, @bytes
    started = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    if way == "pack"
      contender.pack(document) while (calls -= 1) >= 0
    else
      contender.unpack(bytes) while (calls -= 1) >= 0
    end
    Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - started
  end
end

# What the demo lets you look at: lines of Ruby, each printed, then run, then what came of it. A line whose outcome is
# not what Manypack promises fails the demo.
class DemoLook
  LIB = File.expand_path("../lib", __dir__)
  LONG = 50 # bytes of a String that is shown whole

  # Ruby 3 says take for what has been value since 4.0.
  VALUE = Ractor.method_defined?(:value) ? "value" : "take"

  # Headings, each with lines of Ruby and what they have to come to: a value, its class, or the class of an error.
  SCENES = {
    "A line of code, and the way back" => [
      ['bytes = Manypack.pack({"id" => 1, "tags" => ["a", nil, 1.5]})', String],
      ["Manypack.unpack(bytes)", { "id" => 1, "tags" => ["a", nil, 1.5] }]
    ],
    "An attack: 635 bytes that announce 127 nested arrays of 4,294,967,295 elements" => [
      ['attack = "\xDD\xFF\xFF\xFF\xFF".b * 127', String],
      ["Manypack.unpack(attack)", Manypack::TruncatedError],
      ["Manypack.unpack(attack, untrusted: true)", Manypack::LimitError],
      ['Manypack.unpack("\x91".b * 1_000_000)', Manypack::StackError]
    ],
    "In place of the msgpack gem, in a process of its own" => [
      [%q(ruby('require "manypack/drop_in"; p MessagePack::Packer > Manypack::Packer')), "true\n"],
      ["theirs = MessagePack.pack(document) # here it is the msgpack gem", String],
      [%(ours = ruby('require "manypack/drop_in"\nprint MessagePack.pack(MessagePack.load($stdin))', theirs)), String],
      ["ours == theirs", true]
    ],
    "A tree that is born shareable, in a Ractor without a copy" => [
      ["Ractor.shareable?(tree = Manypack.unpack(ours, shareable: true))", true],
      ["Ractor.new(tree) { |given| given.object_id }.#{VALUE} == tree.object_id", true]
    ]
  }.freeze

  def initialize(screen, document)
    @screen = screen
    @binding = context(document)
  end

  # Prints and runs all lines.
  # Returns the lines whose outcome is not what they promise.
  def run
    SCENES.flat_map do |heading, lines|
      @screen.heading(heading)
      broken = lines.reject { |code, promise| keeps?(code, promise) }
      @screen.puts
      broken.map(&:first)
    end
  end

  private

  def keeps?(code, promise)
    @screen.lines("  >> ", code)
    outcome = evaluate(code)
    @screen.lines(*outcome.is_a?(Exception) ? ["  !! ", tell(outcome), :red] : ["  => ", show(outcome)])
    promise === outcome || promise == outcome
  end

  def evaluate(code)
    @binding.eval(code)
  rescue Errno::EPIPE # nobody looks any more
    raise
  rescue StandardError => error
    error
  end

  def tell(error)
    "#{error.class}: #{error.message.lines.first.chomp}"
  end

  def show(object)
    return object.inspect unless object.is_a?(String) && object.bytesize > LONG

    "#{object.byteslice(0, LONG / 4).inspect}... (#{object.bytesize} bytes)"
  end

  # What the lines see: the document, a process of its own, and their own variables.
  def context(document)
    place = Object.new
    place.define_singleton_method(:ruby) do |program, input = ""|
      Open3.capture2(RbConfig.ruby, "-I", LIB, "-e", program, stdin_data: input, binmode: true).first
    end
    place.instance_eval { binding }
  end
end

# The demo from its arguments to its exit status.
class Demo
  # What is wrong with what the user gave.
  class Problem < StandardError
  end

  EQUAL = "All libraries returned equal results."
  ROUNDS = 7
  WARM_UP = 0.2 # of the time

  # arguments:: of the command line
  def initialize(arguments)
    @seed = Payloads::DEFAULT_SEED
    @seconds = 2.5
    @files = parser.parse(arguments)
    @screen = DemoScreen.new($stdout)
  rescue OptionParser::ParseError => error
    raise Problem, "#{error.message} (bin/demo --help lists the options)"
  end

  # Returns true. Raises Problem if something is not as promised.
  def run
    documents = @files.empty? ? Payloads.documents(seed: @seed) : read_files
    @results = documents.transform_values { |document| trials_of(document) }
    check_manypack
    announce
    broken = DemoLook.new(@screen, documents.values.first).run
    raise Problem, "not as promised: #{broken.join(", ")}" if broken.any?

    measure
    report
  end

  private

  # bin/demo tells what they mean.
  def parser
    OptionParser.new do |options|
      options.on("--seed N", Integer) { |value| @seed = value }
      options.on("--time SECONDS", Float) { |value| @seconds = positive(value) }
    end
  end

  def positive(value)
    value.positive? ? value : raise(OptionParser::InvalidArgument, value.to_s)
  end

  def read_files
    @files.to_h { |path| [label(path), read_json(path)] }
  end

  # Names are bytes of no known encoding; tables have to know one.
  def label(path)
    basename = File.basename(path)
    name = @files.uniq.count { |other| File.basename(other) == basename } > 1 ? path : basename
    name.dup.force_encoding(Encoding::UTF_8).scrub("?")
  end

  def read_json(path)
    text = File.read(path, mode: "r:BOM|UTF-8")
    raise Problem, "#{path} is not UTF-8, so it is not JSON" unless text.valid_encoding?
    raise Problem, "#{path} is empty" if text.strip.empty?

    JSON.parse(text, allow_duplicate_key: true)
  rescue SystemCallError => error
    raise Problem, "cannot read #{path}: #{error.class.new.message}"
  rescue JSON::ParserError => error
    raise Problem, "#{path} is not JSON: #{error.message.lines.first.to_s.strip[0, 120]}"
  end

  def trials_of(document)
    Contenders.of_demo.map { |contender| Trial.new(contender, document) }
  end

  def check_manypack
    @results.each do |name, (ours, *)|
      raise Problem, "MessagePack cannot carry #{name}: #{ours.error.message}" if ours.error
      raise Problem, "#{name} did not come back equal" unless ours.faithful?
    end
  end

  def announce
    jit = " with YJIT" if defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?
    @screen.prose "Manypack #{Manypack::VERSION} on #{RUBY_ENGINE} #{RUBY_VERSION}#{jit}, #{RUBY_PLATFORM}, " \
                  "#{Etc.nprocessors} cores"
  end

  # Contenders take turns, so that what else the machine does hits all alike.
  def measure
    @screen.progress("measuring", @results.size * Trial::WAYS.size * ROUNDS) do |bar|
      @results.each_value do |trials|
        able = trials.select(&:faithful?)
        Trial::WAYS.each { |way| race(able, way, @seconds / Trial::WAYS.size / able.size, bar) }
      end
    end
  end

  def race(trials, way, seconds, bar)
    trials.each { |trial| trial.warm_up(way, seconds * (1 - WARM_UP) / ROUNDS) }
    ROUNDS.times do |round|
      trials.rotate(round).each { |trial| trial.sample(way) }
      bar.increment
    end
  end

  def report
    report = DemoReport.new(@results, @screen)
    @screen.heading("How much longer others take (shorter bars are faster)")
    @screen.puts report.table, ""
    ["#{made_up}#{EQUAL}", *report.notes, report.sentence].each { |sentence| @screen.prose(sentence) }
    true
  end

  def made_up
    "The documents are made up (--seed #{@seed}). " if @files.empty?
  end
end

begin
  exit Demo.new(ARGV).run
rescue Demo::Problem => problem
  abort "bin/demo: #{problem.message}"
rescue Errno::EPIPE # as of `bin/demo | head`
  exit! 0
rescue Interrupt
  exit 130
end

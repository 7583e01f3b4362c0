# frozen_string_literal: true

# Runs the specs of the msgpack gem on the drop-in in a Ractor. RSpec itself works in the main Ractor only, so this has as
# much of its language as those specs need: groups are modules, and each example is an object that extends them.
require "manypack/drop_in"
require "objspace"
require "set"
require "stringio"

module PeerSpecs
  Skipped = Class.new(StandardError)
  Differs = Class.new(StandardError)
  CONSTANTS = { Packer: MessagePack::Packer, Unpacker: MessagePack::Unpacker, Buffer: MessagePack::Buffer, Factory: MessagePack::Factory,
                ExtensionValue: MessagePack::ExtensionValue, IS_JRUBY: false, IS_TRUFFLERUBY: false }.freeze
  CONSTANTS.each { |name, value| Object.const_set(name, value) }

  # One file, in the current Ractor.
  class Run
    Frame = Struct.new(:group, :name, :befores, :afters, :described)
    attr_reader :outcomes, :shared

    def initialize
      @frames, @examples, @outcomes, @shared = [], [], {}, {}
    end

    def group(what, block, arguments = [])
      mod = Module.new.extend(Language)
      described = what.is_a?(Module) ? what : @frames.last&.described
      @frames.push(Frame.new(mod, what.to_s, [], [], described))
      mod.module_exec(*arguments, &block)
      @frames.pop
      @examples.each { |frames, name, body| outcomes["#{frames.map(&:name).join(" ")} #{name}"] = run(frames, body) } if @frames.empty?
      @examples = [] if @frames.empty?
    end

    def frame = @frames.last
    def add(name, body) = @examples.push([@frames.dup, name, body])

    private

    # nil, or what went wrong.
    def run(frames, body)
      example = Example.new(frames.last.described)
      frames.each { |frame| example.extend(frame.group) }
      frames.flat_map(&:befores).each { |block| example.instance_exec(&block) }
      example.instance_exec(&body)
      nil
    rescue Skipped
      nil
    rescue StandardError, SystemStackError, ScriptError => e
      "#{e.class}: #{e.message.lines.first}"
    ensure
      frames.flat_map(&:afters).each { |block| example.instance_exec(&block) }
      example.unstub
    end
  end

  # What a group says.
  module Language
    def describe(what, *, &block) = current.group(what, block)
    alias context describe
    def it(name = "", *, &body) = (current.add(name, body) if body)
    alias specify it
    def before(*, &block) = current.frame.befores.push(block)
    def after(*, &block) = current.frame.afters.unshift(block)
    def shared_examples(name, &block) = current.shared[name] = block
    alias shared_examples_for shared_examples
    def it_behaves_like(name, *arguments) = current.group(name, current.shared.fetch(name), arguments)
    def let(name, &block) = define_method(name) { @memo.fetch(name) { @memo[name] = instance_exec(&block) } }

    def subject(name = :subject, &block)
      let(:subject, &block)
      let(name) { subject } unless name == :subject
    end

    private

    def current = Ractor.current[:peer_specs]
  end

  # What an example says.
  class Example
    def initialize(described)
      @memo, @described, @stubs = {}, described, []
    end

    def described_class = @described
    def subject = @memo[:subject] ||= @described.new
    def skip(*) = raise(Skipped)
    alias pending skip

    def stub_const(name, value)
      @stubs.push(name)
      Object.const_set(name, value)
    end

    def unstub = @stubs.each { |name| Object.__send__(:remove_const, name) }
    def is_expected = expect(subject)
    def allow(*) = raise(Skipped)
    def expect(value = nil, &block) = Expectation.new(block || value)

    def eq(value) = Matcher.new { |found| found == value }
    def eql(value) = Matcher.new { |found| found.eql?(value) }
    def equal(value) = Matcher.new { |found| found.equal?(value) }
    alias be_equal equal
    def be(*value) = value.empty? ? Operators.new : equal(*value)
    def be_a(klass) = Matcher.new { |found| found.is_a?(klass) }
    alias be_an be_a
    alias be_kind_of be_a
    def be_instance_of(klass) = Matcher.new { |found| found.instance_of?(klass) }
    def be_truthy = Matcher.new { |found| found }
    def be_falsy = Matcher.new(&:!)
    def be_nil = Matcher.new(&:nil?)
    def be_frozen = Matcher.new(&:frozen?)
    def receive(*) = raise(Skipped)
    def start_with(part) = Matcher.new { |found| found.start_with?(part) }
    def respond_to(name) = Matcher.new { |found| found.respond_to?(name) }
    def change(&block) = Matcher.new { |found| block.call != (found.call && block.call) }

    def raise_error(klass = StandardError, message = nil)
      Matcher.new do |found|
        found.call
        false
      rescue Exception => e
        e.is_a?(klass) && (message.nil? || message === e.message) || raise
      end
    end
  end

  # Asks of a value.
  class Matcher
    def initialize(&question) = @question = question
    def match?(found) = @question.call(found)
    def check(found, wanted) = (match?(found) ? true : false) == wanted || raise(Differs, found.inspect[0, 200])
  end

  # As in: should be > 1.
  class Operators < Matcher
    def initialize = super(&:itself)
    %i[== < > <= >=].each { |name| class_eval("def #{name}(value) = Matcher.new { |found| found #{name} value }", __FILE__, __LINE__) }
  end

  Expectation = Struct.new(:value) do
    def to(matcher) = matcher.check(value, true)
    def not_to(matcher) = matcher.check(value, false)
    alias_method :to_not, :not_to
  end

  # As in: object.should == 1.
  class Compared
    def initialize(value, wanted) = (@value, @wanted = value, wanted)
    def ==(other) = Matcher.new { |found| found == other }.check(@value, @wanted)
  end

  # As the specs call them: on any object.
  module Should
    def should(matcher = nil) = matcher ? matcher.check(self, true) : Compared.new(self, true)
    def should_not(matcher = nil) = matcher ? matcher.check(self, false) : Compared.new(self, false)
  end
  Object.include(Should)

  # By name, nil or what went wrong.
  def self.outcomes(path)
    run = Ractor.current[:peer_specs] = Run.new
    load(path)
    run.outcomes
  rescue Ractor::IsolationError
    {} # a constant of the spec that only the main Ractor may set
  end

  # By name, of all files, in a process of its own: they define constants.
  def self.all(paths)
    reader, writer = IO.pipe(binmode: true)
    fork do
      $stdout.reopen(File::NULL)
      writer.write(Marshal.dump(paths.map { |path| yield(path) }.reduce(:merge)))
      writer.close
      exit!(0)
    end
    writer.close
    Marshal.load(reader.read)
  ensure
    Process.wait
  end
end

$LOAD_PATH << File.join(ARGV.fetch(0), "spec")
$LOADED_FEATURES << "spec_helper.rb"
private def automatic_string_keys_deduplication? = true
private def string_deduplication? = true
private def describe(what, *, &block) = Ractor.current[:peer_specs].group(what, block)

module RSpec
  def self.describe(what, *, &block) = Ractor.current[:peer_specs].group(what, block)
end

Warning[:experimental] = false
paths = Dir[File.join(ARGV.fetch(0), "spec/{,cruby/}*_spec.rb")]
main = PeerSpecs.all(paths) { |path| PeerSpecs.outcomes(path) }
other = PeerSpecs.all(paths) { |path| Ractor.new(path) { |name| PeerSpecs.outcomes(name) }.value }
ran, isolated = main.keys.partition { |name| other.key?(name) && !other[name]&.match?(/\ARactor::|in a different Ractor/) }
different = ran.select { |name| main[name].nil? && other[name] }
different.each { |name| puts "#{name}: #{other[name]}" }
puts "#{ran.size} of #{main.size} examples run in a Ractor, #{different.size} differ from the main one; #{isolated.size} use what Ruby keeps to that"
exit(different.empty? ? 0 : 1)

# frozen_string_literal: true

# Every message that ever broke the fuzzer at the level of Ruby, once more, and some from fixed seeds.
require "test_helper"
require "tmpdir"
require_relative "../../fuzz/harness"
require_relative "../../fuzz/corpus"

class FuzzTest < Minitest::Test
  FIRST_SEED = 0
  MESSAGES = 400

  # In a process of its own: the types that it registers on DefaultFactory are not for the other tests.
  def in_a_process
    reader, writer = IO.pipe(binmode: true)
    child = fork do
      reader.close
      writer.write(Marshal.dump(yield))
      writer.close
      exit!(0)
    end
    writer.close
    output = reader.read
    Process.wait(child)
    assert_predicate $?, :success?
    Marshal.load(output) # rubocop:disable Security/MarshalLoad
  end

  # Paths or seeds of what breaks a promise, with what it said, and the sorts of outcomes that there were.
  def broken(messages)
    in_a_process do
      harness = Fuzz::Harness.new
      violations = messages.filter_map do |name, bytes|
        harness.check(bytes || harness.message(name))
        nil
      rescue StandardError => e
        "#{name}: #{e.class}: #{e.message}"
      end
      [violations, harness.tally.keys.map(&:to_s)]
    end
  end

  def test_what_once_broke_is_mended
    paths = Dir[File.join(Fuzz::CRASHES, "*")].reject { |path| path.end_with?(".md") }
    violations, = broken(paths.map { |path| [path, File.binread(path)] })
    assert_empty violations
  end

  def test_messages_of_fixed_seeds_are_of_every_sort_and_break_nothing
    violations, sorts = broken((FIRST_SEED...FIRST_SEED + MESSAGES).map { |seed| [seed, nil] })
    assert_empty violations
    errors = %w[Truncated MalformedFormat UnknownExtType Stack Limit].map { |name| "Manypack::#{name}Error" }
    ["object", "thrown", "Fuzz::Boom", *errors].each { |sort| assert_includes sorts, sort }
  end

  # Here instead of the counts of a build with --enable-reached.
  def test_the_corpus_goes_on_from_what_reached_something_new
    news = [2, 0, 1, 0, 3]
    messages = Struct.new(:message) { def changed(*from) = "changed #{from.uniq.sort.join(" ")}" }
    Dir.mktmpdir do |folder|
      %w[fst 2nd! third].each { |bytes| Fuzz.keep(bytes, folder) }
      corpus = Fuzz::Corpus.new(->(_) { messages.new("new") }, folder: folder, news: -> { news.shift })
      tried = Array.new(5) { |seed| corpus.message(seed).tap { |bytes| corpus.tried(bytes) } }
      assert_equal %w[fst 2nd! third], tried.first(3)
      assert_empty tried.last(2) - ["new", "changed fst", "changed third", "changed fst third"]
      assert_equal ["fst", "third", tried.last].sort, Dir["#{folder}/*"].map { |path| File.binread(path) }.sort
      assert_equal "3 messages are kept, which took 6 different ways in the extension", corpus.to_s
    end
    plain = Fuzz::Corpus.new(->(seed) { messages.new("new #{seed}") }, news: nil)
    assert_equal ["new 7", nil, false], [plain.message(7), plain.tried("new 7"), plain.guided?]
  end

  def test_fronts_that_disagree_are_seen
    subject = Fuzz::Subject.allocate
    subject.instance_variable_set(:@options, {})
    one, other = ["\x01", "\x02"].map { |bytes| Fuzz::Outcome.of { Manypack.unpack(bytes) } }
    assert_nil subject.send(:agree, one, one, "the same")
    assert_raises(Fuzz::Violation) { subject.send(:agree, one, other, "another") }
  end
end

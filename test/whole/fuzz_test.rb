# frozen_string_literal: true

# Every message that ever broke the fuzzer at the level of Ruby, once more, and some from fixed seeds.
require "test_helper"
require_relative "../../fuzz/harness"

class FuzzTest < Minitest::Test
  FIRST_SEED = 0
  MESSAGES = 400

  # In a process of its own: the types that it registers on DefaultFactory are not for the other tests.
  def in_a_process
    reader, writer = IO.pipe
    child = fork do
      reader.close
      writer.write(yield)
      writer.close
      exit!(0)
    end
    writer.close
    output = reader.read
    Process.wait(child)
    assert_predicate $?, :success?, output
    output
  end

  # Paths or seeds of what breaks a promise, with what it said, a line each.
  def broken(messages)
    in_a_process do
      harness = Fuzz::Harness.new
      messages.filter_map do |name, bytes|
        harness.check(bytes || harness.message(name))
        nil
      rescue StandardError => e
        "#{name}: #{e.class}: #{e.message}"
      end.join("\n")
    end
  end

  def test_what_once_broke_is_mended
    paths = Dir[File.join(Fuzz::CRASHES, "*")].reject { |path| path.end_with?(".md") }
    assert_empty broken(paths.map { |path| [path, File.binread(path)] })
  end

  def test_messages_of_fixed_seeds_break_nothing
    assert_empty broken((FIRST_SEED...FIRST_SEED + MESSAGES).map { |seed| [seed, nil] })
  end

  def test_the_messages_are_of_every_sort
    tally = in_a_process do
      harness = Fuzz::Harness.new
      MESSAGES.times { |seed| harness.check(harness.message(seed)) }
      harness.tally.keys.join(" ")
    end
    errors = %w[Truncated MalformedFormat UnknownExtType Stack Limit].map { |name| "Manypack::#{name}Error" }
    ["object", "thrown", "Fuzz::Boom", *errors].each { |sort| assert_includes tally.split, sort }
  end

  def test_fronts_that_disagree_are_seen
    subject = Fuzz::Subject.allocate
    subject.instance_variable_set(:@options, {})
    one, other = ["\x01", "\x02"].map { |bytes| Fuzz::Outcome.of { Manypack.unpack(bytes) } }
    assert_nil subject.send(:agree, one, one, "the same")
    assert_raises(Fuzz::Violation) { subject.send(:agree, one, other, "another") }
  end
end

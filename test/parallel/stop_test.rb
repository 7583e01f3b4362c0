# frozen_string_literal: true

# What a worker makes of a batch: the messages before the one that is wrong, and none after the Stop is set.
require "test_helper"

class StopTest < Minitest::Test
  include CorePart

  Stop = Manypack::Parallel.const_get(:Stop)

  def test_a_stop_is_set_once_and_every_ractor_sees_it
    stop = exercise { Stop.new }
    assert Ractor.shareable?(stop)
    refute_predicate stop, :set?
    assert_equal [true, false], in_ractor(stop) { |shared| [shared.set, shared.set] }
    assert_predicate stop, :set?
  end

  def test_a_worker_stops_where_it_is_told_to
    stop = Stop.new
    seen = []
    worker = worker(->(object) { seen << object && seen.size == 3 && stop.set }, stop: stop)
    assert_equal [3, nil, 3], exercise { worker.run("\x01" * 10, 0, 10, 0, 0) }.then { |results, failure, passed| [results.size, failure, passed] }
    assert_equal [[], nil, 0], worker.run("\x01" * 10, 0, 10, 0, 0)
  end

  def test_errors_have_their_place_in_the_whole_input
    { "01 92 03" => [Manypack::TruncatedError, 103, "unexpected end of input"], "01 91 c1" => [Manypack::MalformedFormatError, 102, "0xc1 is not a MessagePack head byte"],
      "01 91 91 91 01" => [Manypack::StackError, 103, "containers are nested too deeply for max_depth"], "01 a5 61 62" => [Manypack::TruncatedError, 101, "incomplete str: got 2 of 5 bytes"],
      "01 a9 61 61 61 61 61 61 61 61 61 02" => [Manypack::LimitError, 109, "max_bytes is 8, but the input has at least 10 bytes"],
      "01 92 02 d4 05 00" => [Manypack::UnknownExtTypeError, 103, "ext type 5 is not registered; allow_unknown_ext: true keeps its bytes"] }.each do |input, (error_class, offset, message)|
      batch = bytes("05 #{input}")
      worker = worker(:itself.to_proc, codec: Manypack::Codec.new(max_depth: 2, max_bytes: 8))
      results, failure, passed = exercise { worker.run(batch.freeze, 1, batch.bytesize - 1, 7, 100) }
      assert_equal [error_class, "#{message}, at byte #{offset}", offset], [failure.error.class, failure.error.message, failure.error.offset]
      assert_equal [[1], 1, 8, offset], [results, passed, failure.index, failure.offset]
    end
  end

  def test_an_error_of_the_work_has_the_place_of_its_message
    failure = worker(->(text) { text.size > 1 && raise(KeyError) }).run("\x05\xA1a\xA2bb\xA1c".b, 1, 7, 3, 100)[1]
    assert_equal [KeyError, 4, 102], [failure.error.class, failure.index, failure.offset]
  end

  private

  def worker(work, codec: Manypack::Codec.new, stop: Stop.new)
    Manypack::Parallel.const_get(:Run)
    Manypack::Parallel.const_get(:Worker).new(work, codec, stop, nil, false, nil)
  end
end

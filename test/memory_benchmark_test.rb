# frozen_string_literal: true

# The measurements of bin/bench-memory, each on something small: that they run, and that their figures mean something.
require "test_helper"
require "tmpdir"
require_relative "../benchmark/memory/children"
require_relative "../benchmark/memory/day_messages"
require_relative "../benchmark/memory/day_schedule"
require_relative "../benchmark/memory/malloc_count"
require_relative "../benchmark/memory/inputs"
require_relative "../benchmark/memory/messages_file"
require_relative "../benchmark/memory/slots"

if File.exist?("/proc/self/status")
  class MemoryBenchmarkTest < Minitest::Test
    OBJECTS = [{ "id" => 1, "name" => "n" * 50, "list" => [1, 2.5, nil] }, Array.new(300) { |i| "string #{i}" }].freeze

    def setup
      @folder = Dir.mktmpdir
      @input = File.join(@folder, "input")
      MessagesFile.write(@input, OBJECTS.map { |object| pack(object) })
    end

    def teardown
      FileUtils.remove_entry(@folder)
    end

    def test_what_goes_into_a_file_comes_out
      assert_equal OBJECTS.map { |object| pack(object) }, MessagesFile.read(@input)
    end

    def test_what_is_decoded_is_compared
      expected = [MessagesFile.digest(OBJECTS)] * 2
      assert_equal expected, run_child("check", input: @input, streamed: true)
      refute_equal expected.first, MessagesFile.digest(OBJECTS.reverse)
    end

    def test_sustained_decoding
      result = run_child("sustained", input: @input, passes: 3, how: "stream")
      assert_equal 3, result[:passes].size
      assert_operator result[:live], :>, 5_000_000
      assert_operator result[:peak], :>=, result[:passes].max
    end

    def test_slots
      measured = run_child("slots", input: @input)
      assert_equal({ count: 300, fitting: 300, embedded: 300 }, measured.last[:classes]["String"])
      assert_operator measured.last[:slots].values.sum, :>=, 301
    end

    def test_tables_of_slots_are_the_same_when_their_figures_are_read_again
      File.write(File.join(@folder, "mine.json"), JSON.generate(OBJECTS))
      Peers::ALL.each(&:load)
      slots = Slots.new(Inputs.new(@folder))
      result = slots.measure
      fresh, again = [result, JSON.parse(JSON.generate(result), symbolize_names: true)].map { |one| slots.tables(one).join }
      assert_equal fresh, again
      assert_match(/mine .* Manypack .* 100.00 % of \d+ .* 100.00 % of \d+/, again)
    end

    def test_mallocs
      skip "a library cannot be preloaded here" unless MallocCounter.possible?
      small, large = run_child("mallocs", environment: MallocCounter.environment, objects: [1, "x" * 5_000])
      assert_equal [0, 0, 0, 0], small[:pack]
      assert_operator large[:pack][1], :>=, 5_000
    end

    def test_ractors
      result = run_child("ractors", ractors: 3, work: "unpack, pack")
      assert_operator result[:with], :>, result[:before] - 1_000_000
    end

    def test_a_day
      day = run_child("day", input: @input, hours: 2, hour: 0.5, threads: 1, ractors: 1)
      assert_equal 2 * 60, day[:samples].size
      assert_equal 2 * Array.new(2) { |worker| DaySchedule.new(0.5, 2, worker).requests.size }.sum, day[:answered]
    end

    def test_every_hour_is_the_same
      hours = Array.new(2) { DaySchedule.new(60.0, 36, 1).requests }
      assert_equal(*hours)
      assert_in_delta 60 * DaySchedule::RATE, hours.first.size, 60
      refute_equal hours.first, DaySchedule.new(60.0, 36, 2).requests
    end

    def test_messages_of_the_day_have_all_sizes
      sizes = DayMessages.all.first(20).map { |message| pack(message).bytesize }
      assert_equal sizes.sort, sizes
      assert_in_delta 50, sizes.first, 5
    end

    private

    def run_child(measurement, environment: {}, **arguments)
      Children.run(measurement, Peers::Manypack, environment: environment, **arguments)
    end
  end
end

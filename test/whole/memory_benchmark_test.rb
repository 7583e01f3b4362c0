# frozen_string_literal: true

# The measurements of bin/bench-memory, each on something small: that they run, and that their figures mean something.
require "test_helper"
require "tmpdir"
require "terminal-table"
require_relative "../../benchmark/memory/day"
require_relative "../../benchmark/memory/mallocs"
require_relative "../../benchmark/memory/ractors"
require_relative "../../benchmark/memory/slots"
require_relative "../../benchmark/memory/sustained"

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
      expected = MessagesFile.digest(OBJECTS)
      %w[unpack stream].each { |how| assert_equal expected, ask(Sustained, "digest", input: @input, how: how) }
      refute_equal expected, MessagesFile.digest(OBJECTS.reverse)
    end

    def test_sustained_decoding
      result = ask(Sustained, "measure", 3, input: @input, how: "stream")
      assert_equal 3, result[:passes].size
      assert_operator result[:live], :>, 5_000_000
      assert_operator result[:peak], :>=, result[:passes].max
    end

    def test_slots
      measured = ask(Slots, "slots", @input)
      assert_equal({ count: 300, fitting: 300, embedded: 300 }, measured.last[:classes][:String])
      assert_operator measured.last[:slots].values.sum, :>=, 301
    end

    def test_tables_of_slots_are_the_same_when_their_figures_are_read_again
      File.write(File.join(@folder, "mine.json"), JSON.generate(OBJECTS))
      Contenders::MEMORY.each(&:load)
      slots = Slots.new(Inputs.new(@folder))
      result = slots.measure
      fresh, again = [result, JSON.parse(JSON.generate(result), symbolize_names: true)].map { |one| slots.tables(one).join }
      assert_equal fresh, again
      assert_match(/mine .* Manypack .* 100.00 % of \d+ .* 100.00 % of \d+/, again)
    end

    def test_mallocs
      skip "a library cannot be preloaded here" unless MallocCounter.possible?
      small, large = ask(Mallocs, "count", [1, "x" * 5_000], environment: MallocCounter.environment)
      assert_equal [0, 0, 0, 0], small[:pack]
      assert_operator large[:pack][1], :>=, 5_000
    end

    def test_ractors
      result = ask(RactorMemory, "measure", 3, "unpack, pack")
      assert_operator result[:with], :>, result[:before] - 1_000_000
    end

    def test_a_day
      day = ask(Day, "live", input: @input, hours: 2, hour: 0.5, threads: 1, ractors: 1)
      assert_equal 2 * 60, day[:samples].size
      assert_equal 2 * Array.new(2) { |worker| Day::Schedule.new(0.5, 2, worker).requests.size }.sum, day[:answered]
    end

    def test_every_hour_is_the_same
      hours = Array.new(2) { Day::Schedule.new(60.0, 36, 1).requests }
      assert_equal(*hours)
      assert_in_delta 60 * Day::Schedule::RATE, hours.first.size, 60
      refute_equal hours.first, Day::Schedule.new(60.0, 36, 2).requests
    end

    def test_messages_of_the_day_have_all_sizes
      sizes = Day::Messages.all.first(20).map { |message| pack(message).bytesize }
      assert_equal sizes.sort, sizes
      assert_in_delta 50, sizes.first, 5
    end

    private

    # What the process of a measurement answers.
    def ask(measurement, *request, **how)
      ContenderProcess.once(Contenders::WithManypack, measurement::Work, request, **how)
    end
  end
end

# frozen_string_literal: true

# The measurement of bin/bench-memory, on something small: that it runs, and that its figures mean something.
require "test_helper"
require "tmpdir"
require_relative "../../benchmark/memory"

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
      assert_equal MessagesFile.digest(OBJECTS), ask(Sustained, "digest", input: @input)
      refute_equal MessagesFile.digest(OBJECTS), MessagesFile.digest(OBJECTS.reverse)
    end

    def test_sustained_decoding
      result = ask(Sustained, "measure", 3, input: @input)
      assert_equal 3, result[:passes].size
      assert_operator result[:live], :>, 5_000_000
      assert_operator result[:peak], :>=, result[:passes].max
    end

    private

    # What the process of a measurement answers.
    def ask(measurement, *request, **how)
      ContenderProcess.once(Contenders::WithManypack, measurement::Work, request, **how)
    end
  end
end

# frozen_string_literal: true

# Writers of logs that are killed in the middle of their work: afterwards docs/files.md's repair gives a log that has
# every object that was flushed, and objects in their order only. `rake test:soak` kills a thousand of them, the suite
# a few.
require "test_helper"
require "tmpdir"
require "support/program"

class PowerCutTest < Minitest::Test
  include ProgramHelper

  RUBY_COMMAND = [{ "RUBYOPT" => nil }, RbConfig.ruby, "--disable-gems", "-w", "-I", LIB, "-r", "manypack"].freeze
  CUTS = Integer(ENV.fetch("MANYPACK_CUTS", 20))

  # Goes on with the log, and says on its output up to which number all is flushed.
  WRITER = <<~'RUBY'
    path, seed = ARGV
    random = Random.new(Integer(seed))
    number = Manypack.foreach(path).sum { 1 }
    Manypack::Packer.open(path, append: true) do |packer|
      loop do
        packer.write({ "number" => number, "body" => "x" * random.rand(2) * random.rand(40_000), "end" => number })
        number += 1
        next unless random.rand(4).zero?

        packer.flush
        $stdout.syswrite("#{number}\n")
      end
    end
  RUBY

  # As docs/files.md has it.
  def repair(path)
    Manypack::Packer.open(path, append: true) { |packer| packer }
  rescue Manypack::TruncatedError => error
    File.truncate(path, error.start)
  end

  def test_what_was_flushed_survives_every_kill_and_the_repaired_log_goes_on
    Dir.mktmpdir do |dir|
      path = File.join(dir, "log.msgpack")
      File.binwrite(path, "")
      CUTS.times { |i| assert_repaired(path, killed_after(i % 25 + 1, path, i), i) }
    end
  end

  # The kill cannot be made to fall into a write for sure. So a log is cut at each of its bytes, too.
  def test_a_log_that_is_cut_anywhere_is_repaired_to_the_whole_objects_before_the_cut
    Dir.mktmpdir do |dir|
      path = File.join(dir, "log.msgpack")
      objects = [1, "two", { "three" => [3, nil] }, "é" * 40, { 4 => { 5 => [] } }, [], 2**64 - 1]
      ends = objects.each_with_object([0]) { |object, found| found << found.last + Manypack.pack(object).bytesize }
      whole = objects.map { |object| Manypack.pack(object) }.join
      (0..whole.bytesize).each do |cut|
        File.binwrite(path, whole.byteslice(0, cut))
        repair(path)
        assert_equal ends.select { |at| at <= cut }.last, File.size(path), "cut at #{cut}"
        Manypack::Packer.open(path, append: true) { |packer| packer.write("on") }
        assert_equal [*objects.take(ends.count { |at| at <= cut } - 1), "on"], Manypack.foreach(path).to_a
      end
    end
  end

  private

  # Kills a writer after it has flushed that often. Returns the number up to which it has said that all is flushed.
  def killed_after(flushes, path, seed)
    IO.popen([*RUBY_COMMAND, "-e", WRITER, path, seed.to_s]) do |output|
      said = Array.new(flushes) { output.gets }
      Process.kill(:KILL, output.pid)
      Integer((said.compact + output.readlines).grep(/\n\z/).last)
    end
  end

  def assert_repaired(path, flushed, cut)
    repair(path)
    numbers = Manypack.foreach(path).map do |object|
      assert_equal object["number"], object["end"]
      object["number"]
    end
    assert_equal (0...numbers.size).to_a, numbers, "after kill #{cut}"
    assert_operator numbers.size, :>=, flushed, "after kill #{cut}"
    File.binwrite(path, "") if File.size(path) > 5_000_000
  end
end

# frozen_string_literal: true

# Ruby bug #22072: whoever runs Parallel on a Ruby that has it is told, once, and nobody else.
require "test_helper"
require "support/program"

class RubyBug22072Test < Minitest::Test
  include ProgramHelper

  Manypack::Parallel.const_get(:Run) # which loads it
  BUG = Manypack::Parallel.const_get(:RubyBug22072)

  # The smallest program that shows the bug: it prints 1 or ends in a crash.
  PROBE = <<~RUBY
    Ractor.new {}
    module Settings
      def self.first = @@first
    end
    Settings.class_variable_set(:@@first, 1)
    Settings.class_variable_set(:@@second, 2)
    puts Settings.first
  RUBY

  WARNING = /\AManypack::Parallel starts Ractors, and Ruby [\d.]+ has bug #22072: .*upgrade to Ruby 4\.0\.6\.\n\z/

  # True if this Ruby has the bug.
  def crashes?
    output, status = Open3.capture2e({ "RUBYOPT" => nil }, RbConfig.ruby, "-W0", "-e", PROBE, rlimit_core: 0)
    return false if status.success? && output == "1\n"

    assert_match(/\[BUG\] should have cvar cache entry/, output)
    true
  end

  # Not the other way round: whoever builds a release with the mend in it has the same number.
  def test_a_ruby_that_has_the_bug_is_known
    assert BUG::HERE if crashes?
  end

  def test_parallel_warns_once_on_the_releases_that_have_it_and_on_no_other
    %w[4.0.4 4.0.5].each { |version| assert_match WARNING, warnings(version, THRICE) }
    %w[3.1.2 3.3.8 3.4.11 4.0.0 4.0.3 4.0.6 4.0.10 4.1.0].each { |version| assert_empty warnings(version, THRICE), version }
    assert_empty warnings("4.0.5", THRICE, engine: "truffleruby")
  end

  def test_by_this_ruby_as_it_is
    shown = stderr_of(THRICE)
    BUG::HERE ? assert_match(WARNING, shown) : assert_empty(shown)
  end

  def test_who_starts_no_ractors_is_not_warned
    ["", 'Manypack.unpack("\x01")', 'Manypack::Parallel.map("\x01", ractors: 0) { |n| n }', 'Manypack::Parallel.each("\x01")',
     'Manypack::Parallel.filter("\x01", $stdout, ractors: 0) { nil }'].each { |program| assert_empty warnings("4.0.5", program) }
  end

  # The default works in the caller there: its block may use what no Ractor could, and what no process could give back.
  def test_the_default_starts_no_ractors_on_the_releases_that_have_it
    program = <<~'RUBY'
      seen = []
      before = ObjectSpace.each_object(Ractor).count
      Manypack::Parallel.map("\x01\x02") { |n| seen << n } == [[1, 2]] * 2 && seen == [1, 2] or abort "map: #{seen}"
      Manypack::Parallel.filter("\x03", $stdout) { |n| (seen << n) && nil }
      Manypack::Parallel.each("\x04", map: ->(n) { (seen << n).size }) { |size| seen << size }
      seen == [1, 2, 3, 4, 4] && ObjectSpace.each_object(Ractor).count == before or abort seen.inspect
    RUBY
    %w[4.0.4 4.0.5].each { |version| assert_empty warnings(version, program) }
    refuted = 'seen = []; begin; Manypack::Parallel.map("\x01") { |n| seen << n }; abort; rescue Ractor::IsolationError; end'
    assert_empty warnings("4.0.6", refuted)
  end

  def test_every_way_to_start_them_warns
    ['Manypack::Parallel.map("\x01", ractors: 1) { |n| n }', 'Manypack::Parallel.each("\x01", ractors: 1) { |n| n }', 'Manypack::Parallel.each("\x01", ractors: 1).to_a',
     'Manypack::Parallel.filter("\x01", $stdout, ractors: 1) { nil }'].each { |program| assert_match WARNING, warnings("4.0.5", program) }
  end

  def test_threads_and_ractors_are_warned_once_together
    assert_match WARNING, warnings("4.0.5", <<~'RUBY')
      Array.new(4) { Thread.new { Manypack::Parallel.map("\x01", ractors: 1) { |n| n } } }.each(&:join)
      ractor = Ractor.new { Manypack::Parallel.map("\x01", ractors: 1) { |n| n } }
      ractor.respond_to?(:value) ? ractor.value : ractor.take
    RUBY
    assert_match WARNING, warnings("4.0.5", <<~'RUBY')
      ractor = Ractor.new { Array.new(2) { Manypack::Parallel.map("\x01", ractors: 1) { |n| n } } }
      ractor.respond_to?(:value) ? ractor.value : ractor.take
    RUBY
  end

  def test_who_wants_no_warnings_gets_none
    assert_empty warnings("4.0.5", "$VERBOSE = nil; #{THRICE}")
  end

  private

  THRICE = '3.times { Manypack::Parallel.map("\x01\x02", ractors: 2) { |n| n } }'
  private_constant :THRICE

  # What a program prints to stderr by a Ruby that says that it is another one.
  def warnings(version, program, engine: "ruby")
    stderr_of(program, <<~RUBY)
      %i[RUBY_VERSION RUBY_ENGINE].each { |name| Object.send(:remove_const, name) }
      RUBY_VERSION = #{version.dump}
      RUBY_ENGINE = #{engine.dump}
    RUBY
  end

  def stderr_of(program, before = "")
    _, error, status = Open3.capture3({ "RUBYOPT" => nil }, RbConfig.ruby, "--disable-gems", "-W1", "-W:no-experimental", "-I", LIB, "-e",
                                      "#{before}\nrequire 'manypack'\n#{program}")
    assert_predicate status, :success?, error
    error
  end
end

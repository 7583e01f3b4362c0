# frozen_string_literal: true

# require "manypack" loads what messages and errors need, and the rest comes on first use wherever that is: in any
# Thread, in any Ractor, under any load path.
require "test_helper"
require "tmpdir"
require "zlib"
require "support/program"

class LoadTest < Minitest::Test
  include ProgramHelper

  # Since Ruby 4.0. Before it, all is loaded at once.
  LOADS_IN_EVERY_RACTOR = Ractor.const_defined?(:Port)

  # What a program may do first; each is true.
  FIRST_USES = [
    'Manypack::Parallel.map("\x01\x02", ractors: 2) { |n| n * 2 } == [2, 4]',
    'Manypack::Parallel.map("\x01\x02", ractors: 0) { |n| n * 2 } == [2, 4]',
    'Manypack::Parallel.each("\x91\x01".b).first == [1]',
    'Manypack::Parallel.filter("\x01\x02".b, [], ractors: 1) { |n| n if n > 1 } == 1',
    '(Manypack::Parallel.map("\x01", ractors: 1) { raise } rescue Manypack::Parallel::Error === $!)',
    "Manypack::Parallel::Error.method_defined?(:index)",
    'Manypack::Type[Integer].load("\x01") == 1',
    'Manypack::Record.define(x: Integer).new(x: 1).to_msgpack == "\x81\xA1x\x01".b',
    "(type = Manypack::Type[Integer]) && Manypack::Record.define(x: type).new(x: 1).x == 1",
    "Manypack::LazyRecord.method_defined?(:record)",
    'Manypack::Type[Integer].json_schema["type"] == "integer"', 'Manypack::Type[Integer].to_rbs == "Integer"',
    'Manypack::Type.from_json_schema({"type" => "integer"}).load("\x01") == 1',
    "Manypack::Type[Integer].reads?(Manypack::Type[1..2])", "Manypack::Incompatibility.method_defined?(:path)",
    "Manypack::Type[Integer].incompatibilities(Manypack::Type[Float]).size == 1",
    "Manypack::Factory.new.tap { |factory| factory.register_common(:complex) }.registered_types.size == 1",
    "(Manypack.parse(1) rescue $!.message.include?('Manypack.unpack'))",
    "Manypack::Factory.new.tap { |factory| factory.register_common(:rational) }.registered_types.size == 1",
    'Manypack::Path.new("$.a").first("\x81\xA1a\x05".b) == 5',
    'Manypack::View.new("\x81\xA1a\x05".b).query("a").to_a == [5]',
    'Manypack::View.new("\x81\xA1a\x05".b).splice("a" => 6)["a"] == 6'
  ].freeze

  # The same, where a library of Ruby has to be loaded.
  FIRST_USES_OF_LIBRARIES = [
    "Manypack::Factory.new.tap { |factory| factory.register_common(:date) }.type_registered?(Date)",
    "Manypack::Packer.open('FOLDER/new.gz') { |packer| packer.write(1) } && true",
    "Manypack.load_file('FOLDER/one.gz') == 1"
  ].freeze

  # What the main Ractor may do meanwhile.
  WAITS = [
    "", "sleep(0.001) until done?(ractor)", "Thread.pass until done?(ractor)", "Thread.new { sleep(0.001) until done?(ractor) }.join",
    "IO.select([IO.pipe[0]], nil, nil, 0.001) until done?(ractor)", "Mutex.new.synchronize { sleep(0.001) until done?(ractor) }"
  ].freeze

  def test_require_loads_nothing_that_most_programs_never_use
    loaded = output_of({ "RUBYOPT" => nil }, RbConfig.ruby, "--disable-gems", "-I", LIB, "-r", "manypack", "-e", "puts $LOADED_FEATURES")
    unused = loaded.lines.grep(%r{/(parallel/(?!error)|etc\.|type|(lazy_)?record|zlib|hints/|common_types|path/p|compressed)})
    LOADS_IN_EVERY_RACTOR ? assert_empty(unused) : assert_operator(unused.size, :>, 15)
  end

  def test_a_record_loads_no_schema_before_it_is_asked_for
    loaded = run_program("Manypack::Record.new(Struct.new(:id), id: Integer).load(\"\\x81\\xA2id\\x01\")\nputs $LOADED_FEATURES")
    assert_equal !LOADS_IN_EVERY_RACTOR, loaded.lines.grep(%r{record/.*(json_schema|rbs|description|compat)}).any?
  end

  # A program that forks may want to load everything before.
  def test_a_program_may_require_what_is_loaded_on_first_use
    files = run_program("puts Manypack.constants.filter_map { |name| Manypack.autoload?(name) }.uniq").lines(chomp: true)
    assert_equal LOADS_IN_EVERY_RACTOR, files.any?
    [*files, "manypack/record"].each do |file|
      assert_program "require #{file.dump}\nputs Manypack.constants.map { |name| Manypack.const_get(name) }.size > 20", "true"
    end
  end

  def test_eager_load_leaves_nothing_to_first_use
    assert_program <<~'RUBY', "[nil, [], true]"
      loaded = Manypack.eager_load!
      modules = [Manypack, *Manypack.constants.map { |name| Manypack.const_get(name) }.grep(Module)]
      p [loaded, modules.select { |owner| owner.constants(false).any? { |name| owner.autoload?(name, false) } }, defined?(Zlib) == "constant"]
    RUBY
  end

  def test_only_the_terminal_loads_its_json
    shown = "p %i[JSONText Tally].map { |name| Manypack.const_defined?(name) }"
    assert_program "#{shown}\nrequire 'manypack/terminal'\n#{shown}", "[false, false]\n[true, true]"
  end

  def test_only_the_transport_of_this_ruby_is_loaded
    transport = LOADS_IN_EVERY_RACTOR ? "port" : "pipe"
    assert_program "raise unless #{FIRST_USES.first}\nputs $LOADED_FEATURES.grep(/transport/).map { |path| File.basename(path) }", "#{transport}_transport.rb"
  end

  def test_the_first_use_in_a_ractor
    [*FIRST_USES.product(WAITS.first(1)), *FIRST_USES.first(1).product(WAITS)].uniq.each do |use, wait|
      assert_program <<~RUBY, "true"
        def done?(ractor) = ractor.inspect.end_with?("terminated>")
        ractor = Ractor.new { #{use} }
        #{wait}
        p value(ractor)
      RUBY
    end
  end

  # Before Ruby 3.4 it has to be there.
  def test_the_first_use_of_a_library_in_a_ractor
    Dir.mktmpdir do |folder|
      File.binwrite("#{folder}/one.gz", Zlib.gzip("\x01"))
      FIRST_USES_OF_LIBRARIES.product([true, *([false] if LOADS_IN_EVERY_RACTOR)]).each do |use, there|
        use = use.sub("FOLDER", folder)
        assert_program "#{"require 'date'\nrequire 'zlib'" if there}\np value(Ractor.new { #{use} })", "true"
      end
    end
  end

  def test_the_first_use_in_a_ractor_of_a_class_of_its_own
    assert_program "p value(Class.new(Ractor).new { #{FIRST_USES.first} })", "true"
  end

  # None of them starts a Thread: two Ractors that do can wait for ever on Ruby 3.3, without Manypack just as well.
  def test_the_first_use_in_many_ractors_at_once
    assert_program <<~RUBY, "true"
      ractors = Array.new(8) { |i| Ractor.new(i) { |n| Manypack::Parallel.map(Manypack.pack(n), ractors: 0) { |object| object } } }
      p ractors.map { |ractor| value(ractor) } == Array.new(8) { |i| [i] }
    RUBY
    assert_program <<~RUBY, "true"
      ractors = Array.new(8) { |i| Ractor.new(i) { |n| Manypack::Type[Integer].load(Manypack.pack(n)) } }
      p ractors.map { |ractor| value(ractor) } == [*0...8]
    RUBY
  end

  def test_the_first_use_in_many_threads_at_once
    assert_program <<~RUBY, "true"
      start = Thread::Queue.new
      threads = Array.new(8) do |i|
        Thread.new do
          start.pop
          Manypack::Parallel.map(Manypack.pack(i), ractors: i % 3) { |object| object }
        end
      end
      start.close
      p threads.map(&:value) == Array.new(8) { |i| [i] }
    RUBY
  end

  def test_the_first_ractors_of_many_threads
    assert_program <<~RUBY, "true"
      start = Thread::Queue.new
      threads = Array.new(8) do |i|
        Thread.new do
          start.pop
          Ractor.new(i) { |n| Manypack::Parallel.map(Manypack.pack(n), ractors: 0) { |object| object } }
        end
      end
      start.close
      p threads.map(&:value).map { |ractor| value(ractor) } == Array.new(8) { |i| [i] }
    RUBY
  end

  def test_in_a_ractor_that_runs_already_when_manypack_is_required
    output = output_of(RbConfig.ruby, "-W:no-experimental", "-I", LIB, stdin_data: <<~RUBY)
      ractor = Ractor.new do
        Ractor.receive
        #{FIRST_USES.first}
      end
      require "manypack"
      ractor.send(nil)
      p ractor.respond_to?(:value) ? ractor.value : ractor.take
    RUBY
    assert_equal "true", output.lines.last.chomp # after a warning on some Rubies
  end

  def test_the_first_use_under_another_load_path
    [FIRST_USES.first, "(ractor = Ractor.new { #{FIRST_USES.first} }) && value(ractor)"].each do |use|
      assert_program <<~RUBY, "true"
        require "manypack/drop_in"
        Dir.chdir("/")
        $LOAD_PATH.replace([])
        p #{use}
      RUBY
    end
  end

  def test_what_is_public_is_known_before_it_is_used_and_the_rest_never
    shown = "p Manypack::Parallel.constants.sort, defined?(Manypack::Parallel), defined?(Manypack::Parallel::Error), defined?(Manypack::Parallel::Run)"
    expected = "[:DeadWorker, :Error]\n\"constant\"\n\"constant\"\nnil"
    assert_program shown, expected
    assert_program "Manypack::Parallel.map(\"\") { nil }\n#{shown}", expected
  end

  def test_ractors_are_made_as_without_manypack
    program = <<~RUBY
      made = -> { Ractor.new(1, name: "mine") { |n| [n, Ractor.current.name] } }
      made.call
      ractor = made.call
      p ractor.inspect[/ -:\\d+/], ractor.respond_to?(:value) ? ractor.value : ractor.take
      p((Ractor.new rescue $!.message), Ractor.method(:new).owner.inspect)
    RUBY
    without = output_of(RbConfig.ruby, "-W:no-experimental", stdin_data: program)
    assert_equal without, output_of(RbConfig.ruby, "-W:no-experimental", "-I", LIB, "-r", "manypack", stdin_data: program)
  end
end

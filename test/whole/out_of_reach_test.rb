# frozen_string_literal: true

# A message and an error need nothing but memory: no file of Manypack or of Ruby may be in reach at that moment.
require "test_helper"
require "fileutils"
require "tmpdir"
require "support/program"

class OutOfReachTest < Minitest::Test
  include ProgramHelper

  # What may come first in a program that has required Manypack and has made its Records.
  PRELUDE_OF_USES = <<~'RUBY'
    User = Struct.new(:id)
    USER = Manypack::Record.new(User, id: Integer)
    MAP = Manypack.pack({"id" => "x" * 300}).freeze
    FACTORY = Manypack::Factory.new
    FACTORY.register_common(:rational, :symbol)
    CODEC = FACTORY.codec
  RUBY

  # What needs no file.
  MESSAGES = [
    'Manypack.unpack("\x01\x02")', 'Manypack.unpack("{\"a\": 1}")', 'Manypack.unpack("")', 'Manypack.unpack("\xC1")', 'Manypack.unpack("\x93\x01")',
    'Manypack.unpack("\xD4\x05a")', 'Manypack.unpack("\x91" * 200)', 'Manypack.unpack("\x01", max_bytes: 0)',
    'Manypack.unpack("\x93\x01\x02\x03", max_array_size: 1)', "Manypack.unpack(1)", 'Manypack.unpack("\x01", max_byte: 3)',
    'CODEC.unpack("\xD4\x03a")', "Manypack.pack(Object.new)", "Manypack.pack(1r)", "Manypack.pack(1 << 64)", "Manypack.pack(:a, canonicel: true)",
    "Manypack.pack([[[1]]], max_depth: 2)", 'Manypack.split("\x01\x02").to_a', 'Manypack.split("\x01", as: :view).to_a', 'Manypack.dig(MAP, "id", 0)',
    'Manypack.dig(MAP, "id")', "Manypack::View.new(MAP).keys", "USER.load(MAP)", "USER.lazy.load(MAP).id", 'USER.load("\x81\xA2id\x01")',
    "USER.load(MAP, collect: true)", "USER.dump(User.new(nil))", 'USER.valid?("\x80")', "Manypack::Unpacker.new.feed(MAP).each(strict: true).to_a",
    'Manypack::Unpacker.new.feed("\x92").each(strict: true).to_a', "Manypack::Unpacker.new.feed(MAP).read_array_header",
    "Manypack::Packer.new.write_ext(1, 1)", "Manypack::Parallel::Error", 'Manypack.canonicalize("\x81")'
  ].freeze

  # What needs none after Manypack.eager_load!: paths in text, and errors about calls, which have hints.
  CALLS = [
    'Manypack.unpack("\x01", date: true)', 'Manypack.unpack("\x01", timeout: 1)', "Manypack.dig_many(MAP, '$.id')",
    'Manypack::View.new(MAP, check: true).query("$..id").to_a', 'Manypack::View.new(MAP).query("$[").to_a',
    'Manypack::View.new(MAP).dig_many("$.id")', 'Manypack::View.new(MAP).splice("$.id" => 1).bytes',
    'Manypack::View.new(MAP).splice("$.a.b" => 1).bytes', 'Manypack::Path.new("$[?@ > 1]").to_a("\x92\x01\x02")', "USER.with(check: 1)",
    "Manypack.parse(MAP)", "Manypack::Schema", "Manypack::View::DELETE", "Manypack::View.new(MAP).patch", "Manypack::Parallel.reduce",
    "Manypack::Factory.new.register_common(:dates)", 'Manypack.unpack("\x01") { 1 }', 'Manypack.split("users.json").to_a'
  ].freeze

  # Defines what tells the outcome of each use, an Array of Strings.
  def self.outcomes_of(uses)
    <<~RUBY
      def outcome
        result = yield
        result.inspect
      rescue Exception => error
        "\#{error.class}: \#{error.message.split.join(" ")}"
      end
      def outcomes
        [#{uses.map { |use| "outcome { #{use} }" }.join(",\n")}]
      end
    RUBY
  end

  def usual
    @usual ||= outcomes("puts outcomes")
  end

  # Nothing that Ruby would load with the first error that it shows has been loaded, as on Ruby 4.1.
  RUBY = [RbConfig.ruby, "--disable-did_you_mean", "--disable-error_highlight", "-W0"].freeze
  ENVIRONMENT = { "RUBYOPT" => nil, "RUBYLIB" => nil, "BUNDLER_SETUP" => nil }.freeze # Bundler would load it

  # Each time the library is loaded from a copy, which the program may delete.
  def outcomes(program)
    outcomes_of(MESSAGES, program) + outcomes_of(CALLS, "Manypack.eager_load!\n#{program}")
  end

  def outcomes_of(uses, program, did_you_mean = "did_you_mean")
    Dir.mktmpdir do |folder|
      FileUtils.cp_r(LIB, "#{folder}/lib")
      start = "# encoding: UTF-8\nautoload :DidYouMean, #{did_you_mean.inspect}\nrequire 'manypack'\nLOADED = '#{folder}/lib'\n"
      program = "#{start}#{PRELUDE_OF_USES}#{self.class.outcomes_of(uses)}#{program}"
      output = output_of(ENVIRONMENT, *RUBY, "-I", "#{folder}/lib", stdin_data: program)
      output.gsub(/0x\h+/, "0x0").gsub(folder, "").lines(chomp: true)
    end
  end

  def assert_as_usual(found)
    assert_equal MESSAGES.size + CALLS.size, usual.size
    assert_equal [], found - usual
    assert_equal usual, found
  end

  def test_with_no_file_descriptor_left
    assert_as_usual outcomes(<<~RUBY)
      Process.setrlimit(:NOFILE, 40)
      begin
        kept = []
        loop { kept << File.open(File::NULL) }
      rescue Errno::EMFILE
        found = outcomes
      end
      kept.each(&:close)
      puts found
    RUBY
  end

  DELETED = "require 'fileutils'\nFileUtils.rm_rf(LOADED)\nputs outcomes"

  def test_after_the_library_was_deleted
    assert_as_usual outcomes(DELETED)
  end

  def test_an_error_about_a_call_comes_without_a_hint_where_that_cannot_be_loaded
    calls = ["Manypack.parse(MAP)", "Manypack::Schema", "Manypack::View.new(MAP).patch", "Manypack.unpack('a', timeout: 1)"]
    usually = outcomes_of(calls, "puts outcomes")
    assert_equal calls.size, usually.size
    assert_equal usually.map { |text| text[/\A\w+/] }, outcomes_of(calls, DELETED).map { |text| text[/\A\w+/] }
  end

  def test_in_a_handler_of_a_signal
    assert_as_usual outcomes(<<~RUBY)
      found = nil
      trap(:USR1) { found = outcomes }
      Process.kill(:USR1, Process.pid)
      sleep 0.001 until found
      puts found
    RUBY
  end

  def test_in_a_ractor
    assert_as_usual outcomes(<<~RUBY)
      ractor = Ractor.new { outcomes }
      puts(ractor.respond_to?(:value) ? ractor.value : ractor.take)
    RUBY
  end

  def test_suggestions_are_there_as_long_as_they_can_be_loaded_at_first
    use = 'puts outcome { Manypack.unpack("", max_byte: 1) }[/[^;]*/]'
    assert_equal ["ArgumentError: unknown option max_byte, did you mean max_bytes?"], outcomes_of([], use)
    assert_equal ["ArgumentError: unknown option max_byte"], outcomes_of([], use, "/nowhere/did_you_mean")
  end
end

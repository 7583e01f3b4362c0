# frozen_string_literal: true

# A method of MessagePack's classes that a program redefines takes effect wherever it does with the msgpack gem.
require "test_helper"
require "json"
require "support/forks"
require "support/program"

class RedefinedTest < Minitest::Test
  include ProgramHelper

  TIME_AS_INTEGER = "Module.new { def write(object) = super(object.is_a?(::Time) ? object.to_i : object) }"
  PROGRAM = File.read(File.expand_path("redefinitions.rb", __dir__)).freeze
  THEIRS = Gem::Specification.find_by_name("msgpack").full_require_paths.flat_map { |path| ["-I", path] }.freeze

  def outcomes(*options, library)
    output, status = Open3.capture2e({ "RUBYOPT" => nil, "RUBYLIB" => nil }, RbConfig.ruby, "-r#{library}", *options, stdin_data: PROGRAM)
    assert_predicate status, :success?, output
    JSON.parse(output.lines.last)
  end

  def test_each_redefinition_takes_effect_where_it_does_in_the_msgpack_gem
    skip "needs fork" unless Forks::POSSIBLE
    theirs = outcomes(*THEIRS, "msgpack")
    ours = outcomes("-I", LIB, "manypack/drop_in")
    theirs.each do |redefinition, calls|
      differing = calls.reject { |call, outcome| ours[redefinition][call] == outcome }
      assert_equal differing, ours[redefinition].slice(*differing.keys), redefinition
    end
  end

  def test_a_prepended_write_changes_what_is_packed
    assert_program <<~RUBY, "ok"
      require "manypack/drop_in"
      factory = MessagePack::Factory.new
      pool = factory.pool
      MessagePack::Packer.prepend(#{TIME_AS_INTEGER})
      packed = [MessagePack.pack(Time.at(3)), factory.dump(Time.at(3)), pool.dump(Time.at(3)), factory.pool.dump(Time.at(3))]
      raise packed.inspect unless packed.uniq == ["\x03"]
      puts "ok"
    RUBY
  end

  # The rest of the io is left only if super is the first to read.
  def test_a_prepended_full_unpack_may_read_before_super
    assert_program <<~'RUBY', "ok"
      require "manypack/drop_in"
      require "stringio"
      MessagePack::Unpacker.prepend(Module.new { def full_unpack = [read, super] })
      unpacked = [MessagePack.unpack(StringIO.new("\x01\x02".b)), MessagePack::Factory.new.load(StringIO.new("\x91\x01\x02".b))]
      raise unpacked.inspect unless unpacked == [[1, 2], [[1], 2]]
      puts "ok"
    RUBY
  end

  # As Manypack's own way does, and unlike full_unpack.
  def test_load_leaves_the_rest_in_the_io
    assert_program <<~'RUBY', "ok"
      require "manypack/drop_in"
      MessagePack::Unpacker.prepend(Module.new { def full_unpack = [super] })
      reader, writer = IO.pipe
      writer.write("\x01\x92\x02\x03")
      raise unless MessagePack.load(reader) == [1] && MessagePack::Factory.new.load(reader) == [[2, 3]]
      writer.close
      raise unless (MessagePack.load(reader) rescue $!).instance_of?(EOFError)
      puts "ok"
    RUBY
  end

  def test_options_of_manypack_alone_go_on
    assert_program <<~'RUBY', "ok"
      require "manypack/drop_in"
      MessagePack::Packer.prepend(Module.new)
      raise unless MessagePack.pack({ "b" => 1, "a" => 2 }, canonical: true) == MessagePack.pack({ "a" => 2, "b" => 1 })
      raise unless MessagePack.load("\x91\x01", as: :view)[0] == 1 && MessagePack::Factory.new.pool.load("\x91\x01", as: :view)[0] == 1
      raise unless MessagePack.pack(1..2, codec: Manypack::Factory.new.tap { |one| one.register_type(1, Range, packer: ->(_) { "r" }) }.codec) == "\xD4\x01r".b
      raise unless MessagePack::Factory.new.pool(1, canonical: true).dump({ "b" => 1, "a" => 2 }) == "\x82\xA1a\x02\xA1b\x01".b
      puts "ok"
    RUBY
  end

  def test_every_ractor_calls_what_is_redefined
    assert_program <<~'RUBY', "ok"
      require "manypack/drop_in"
      pool = Ractor.make_shareable(MessagePack::Factory.new.pool(2, symbolize_keys: true))
      MessagePack::Packer.class_eval do
        alias_method :plain_write, :write
        def write(object) = plain_write([object])
      end
      packed = value(Ractor.new(pool) { |one| [MessagePack.pack(1), 1.to_msgpack, one.dump(1), MessagePack::Factory.new.dump(1)] })
      raise packed.inspect unless packed.uniq == ["\x91\x01".b]
      puts "ok"
    RUBY
  end

  def test_without_a_redefined_method_nothing_but_the_result_is_made
    assert_program <<~'RUBY', "1 1 1 1"
      require "manypack/drop_in"
      MessagePack::Packer.class_eval { def write_point(point) = write_array_header(2).write(point.x).write(point.y) }
      Class.new(MessagePack::Packer) { def write(object) = super }
      factory = MessagePack::Factory.new
      pool = factory.pool
      def made
        yield
        before = GC.stat(:total_allocated_objects)
        yield
        GC.stat(:total_allocated_objects) - before
      end
      made { nil }
      puts [made { MessagePack.pack(1) }, made { factory.dump(1) }, made { pool.dump(1) }, made { 1.to_msgpack }].join(" ")
    RUBY
  end
end

# frozen_string_literal: true

# What a reader of the README tries first works, or its error names what does.
require "test_helper"
require "stringio"

class GuessesTest < Minitest::Test
  Point = Struct.new(:x)
  POINT = Manypack::Record.new(Point, x: Integer)
  CODEC = Manypack::Codec.new(symbolize_keys: true)

  def in_a_directory(&block)
    require "tmpdir"
    Dir.mktmpdir { |path| Dir.chdir(path, &block) }
  end

  def test_objects_and_bytes_are_appended
    assert_equal "\x01\xA1a".b, (Manypack::Packer.new << 1 << "a").to_s
    unpacker = Manypack::Unpacker.new << "\x92\x01" << "\x02"
    assert_equal [1, 2], unpacker.read
  end

  def test_files_are_written_and_read
    in_a_directory do
      %w[a.msgpack a.msgpack.gz].each do |path|
        assert_nil Manypack.dump_file({ "id" => 1 }, path)
        assert_equal({ "id" => 1 }, Manypack.load_file(path))
        Manypack::Packer.open(path, "ab") { |packer| packer << { "id" => 2 } }
        assert_equal [1, 2], CODEC.foreach(path).map { |row| row[:id] }
        assert_nil CODEC.foreach(path, as: :view) { |row| assert_equal [:id], row.keys }
        assert_equal [{ id: 1 }, 1], Manypack::Unpacker.open(path, codec: CODEC) { |file| [file.read, file.read_map_header] }
        Manypack::Packer.open(path, "wb") { |packer| packer << { "id" => 3 } }
        assert_equal 3, Manypack::Unpacker.open(path, as: POINT.with(keys: { x: "id" })) { |file| file.read.x }
      end
      assert_raises(Manypack::EncodeError) { Manypack.dump_file(Object.new, "none.msgpack") }
      assert_raises(ArgumentError) { Manypack.dump_file(1, "none.msgpack", symbolize_keys: true) }
      assert_raises(ArgumentError) { Manypack.dump_file(1, "none.msgpack.zst") }
      refute_path_exists "none.msgpack"
      assert_match(/Packer.new\(File.open/, assert_raises(ArgumentError) { Manypack::Packer.open("none.msgpack") }.message)
      assert_match(/"wb" or "ab", got "r"/, assert_raises(ArgumentError) { Manypack::Packer.open("none.msgpack", "r") { nil } }.message)
      assert_match(/Unpacker.new\(File.open/, assert_raises(ArgumentError) { Manypack::Unpacker.open("none.msgpack") }.message)
      assert_raises(Errno::ENOENT) { Manypack::Unpacker.open("none.msgpack") { nil } }
      [-> { CODEC.foreach("a.msgpack", codec: CODEC) }, -> { CODEC.foreach("a.msgpack", max_byte: 1) },
       -> { Manypack::Unpacker.open("a.msgpack", max_byte: 1) { nil } }].each { |call| assert_raises(ArgumentError, &call) }
    end
  end

  def test_the_name_of_a_file_is_no_source_of_bytes
    path = Manypack::Path.new("$.a")
    { "split" => -> { Manypack.split(_1).to_a }, "split as" => -> { Manypack.split(_1, as: :view).to_a },
      "map" => -> { Manypack::Parallel.map(_1, ractors: 0, &:itself) }, "each" => -> { Manypack::Parallel.each(_1, ractors: 0).to_a },
      "filter" => -> { Manypack::Parallel.filter(_1, StringIO.new("".b), ractors: 0, &:itself) },
      "Path#each" => -> { path.each(_1).to_a }, "Path#first" => -> { path.first(_1) }, "Path#count" => -> { path.count(_1) } }
      .each do |name, call|
      ["events.msgpack", "/var/log/a-b/events.msgpack.gz", "./a.mp"].each do |file|
        assert_match(/is a file name, not packed bytes: pass File.open/, assert_raises(ArgumentError, name) { call[file] }.message)
        assert_taken_for_bytes { call[file.b] }
      end
      call["\x01"]
      call[Manypack.pack("a.b")]
    end
  end

  # They begin with a small Integer, and other bytes follow that.
  def assert_taken_for_bytes
    yield
  rescue Manypack::DecodeError => error
    assert_match(/extra bytes/, error.message)
  end

  def test_records_take_options_where_they_load_and_dump
    bytes = Manypack.pack({ "x" => 1 })
    assert_equal Point.new(1), POINT.load(bytes, untrusted: true)
    assert_raises(Manypack::LimitError) { POINT.load(bytes, max_bytes: 2) }
    assert_equal "\x81\xA1x\x01".b, POINT.dump(Point.new(1), canonical: true)
    assert_match(/unknown option untrustd, did you mean untrusted\?/, assert_raises(ArgumentError) { POINT.load(bytes, untrustd: true) }.message)
    assert_predicate Manypack::Record.define(x: Integer).load(bytes, freeze: true), :frozen?
  end

  def test_options_of_other_libraries_name_ours
    { max_nesting: :max_depth, symbolize_names: :symbolize_keys }.each do |theirs, ours|
      error = assert_raises(ArgumentError) { Manypack.unpack("\x01", theirs => true) }
      assert_equal "unknown option #{theirs}, did you mean #{ours}?", error.message
    end
    error = assert_raises(ArgumentError) { Manypack.pack(1, symbolize_names: true) }
    assert_match(/unknown option symbolize_names/, error.message)
    assert_match(/did you mean collect\?/, assert_raises(ArgumentError) { POINT.load("\x80", all_errors: true) }.message)
  end

  def test_a_timestamp_without_its_option_names_the_option
    error = assert_raises(Manypack::UnknownExtTypeError) { Manypack.unpack("\xD6\xFF\0\0\0\1".b) }
    assert_equal "ext type -1 is not registered; timestamp: true unpacks it as a Time, at byte 0", error.message
  end

  def test_methods_for_types_say_how_a_type_is_written
    { optional: 'Type\[String\].or\(nil\)', nullable: 'Type\[String\].or\(nil\)', enum: '\["a", "b"\]', list: '\[String\]',
      map: "String => Integer", one_of: '\["a", "b"\]', any: "Object" }.each do |name, words|
      [Manypack::Type, Manypack::Record].each do |klass|
        error = assert_raises(NoMethodError) { klass.public_send(name, String) }
        assert_match(/undefined method '#{name}' for #{klass}: .*#{words}/, error.message)
        assert_equal [name, klass], [error.name, error.receiver]
      end
    end
    assert_equal :list_all, assert_raises(NoMethodError) { Manypack::Type.list_all(1) }.name
  end

  VIEW = Manypack::View.new(Manypack.pack({ "id" => 1, "tags" => ["a", nil], "next" => nil }))

  # For each call of a method that is not there what its error has to name.
  INSTEAD = {
    -> { Manypack.repair("a.msgpack") } => "File.truncate(path, error.start)", -> { Manypack.tail("a.msgpack") } => "Manypack.foreach(path)",
    -> { Manypack.from_json("{}") } => "Manypack.pack(JSON.parse(text))", -> { Manypack.read("a.msgpack") } => "Manypack.load_file(path)",
    -> { Manypack.append("a.msgpack", 1) } => "Packer.open(path, append: true)", -> { POINT.foreach("a.msgpack") } => "Manypack.foreach(path, as: record)",
    -> { Manypack.decode("\x01") } => "Manypack.unpack(bytes)", -> { Manypack.generate(1) } => "Manypack.pack(object)",
    -> { Manypack.valid?("\x01") } => "Manypack::Type[Object].valid?(bytes)", -> { Manypack.register_type(1, Range) } => "DefaultFactory.register_type",
    -> { Manypack::Parallel.each_slice("\x01", 2) } => "map, each and filter", -> { Manypack::Parallel.sum("\x01") } => "map, each and filter",
    -> { Manypack::Factory.new.merge(Manypack::Factory.new) } => "one Factory", -> { Manypack::Unpacker.new.rewind } => "reset",
    -> { Manypack::Unpacker.new.next } => "read", -> { POINT.errors("\x01") } => "load(bytes, collect: true)",
    -> { POINT.load!("\x01") } => "load(bytes)", -> { Manypack::Type[Integer].validate(1) } => "valid?(bytes)",
    -> { VIEW.slice("id") } => "view.to_h.slice", -> { VIEW.merge({}) } => "splice(path => value)", -> { VIEW.delete("id") } => "View::REMOVED",
    -> { VIEW["tags"].push(1) } => "view.to_a.push", -> { VIEW.id } => 'view["id"]'
  }.freeze

  INSTEAD.each_with_index do |(call, words), number|
    define_method("test_the_error_of_a_method_that_is_not_there_names_another_#{number}_#{words}") do
      assert_includes assert_raises(NoMethodError, &call).message.lines.first, words
    end
  end

  def test_other_methods_that_are_not_there_are_those_of_ruby
    [Manypack, Manypack::Parallel, Manypack::Factory.new, Manypack::Unpacker.new, POINT, VIEW, Manypack::View.new("\x01")].each do |object|
      refute_respond_to object, :zork
      error = assert_raises(NoMethodError) { object.zork }
      assert_equal [:zork, true], [error.name, error.receiver.equal?(object)]
      assert_match(/\Aundefined (?:local variable or )?method .zork. for/, error.message)
    end
  end

  def test_a_class_that_is_not_there_is_named
    { Pool: "Parallel", Schema: "Record", ParseError: "DecodeError", PackError: "EncodeError" }.each do |name, ours|
      error = assert_raises(NameError) { Manypack.const_get(name) }
      assert_match(/\Auninitialized constant Manypack::#{name}: #{ours}/, error.message)
    end
    assert_equal "uninitialized constant Manypack::Zork", assert_raises(NameError) { Manypack::Zork }.message.lines.first.chomp
  end

  def test_a_factory_takes_no_arguments
    assert_match(/\Awrong number of arguments \(given 1, expected 0\); register_common/, assert_raises(ArgumentError) { Manypack::Factory.new(symbols: true) }.message)
  end

  def test_a_record_for_bytes_and_as_many_workers
    assert_match(/did you mean ractors\?/, assert_raises(ArgumentError) { Manypack::Parallel.map("\x01", threads: 2) { 1 } }.message)
    assert_match(/did you mean defaults\?/, assert_raises(ArgumentError) { POINT.with(optional: [:x]) }.message)
  end

  def test_a_map_is_filtered_into_a_hash_as_ruby_does
    hash = VIEW.value
    assert_equal [Hash] * 4, [VIEW.select { true }, VIEW.filter { true }, VIEW.reject { false }, VIEW.compact].map(&:class)
    assert_equal hash.select { |key, _| key > "j" }, VIEW.select { |key, _| key > "j" }
    assert_equal hash.reject { |_, value| value == 1 }, VIEW.reject { |_, value| value == 1 }
    assert_equal [hash.compact, ["a"]], [VIEW.compact, VIEW["tags"].compact]
    assert_equal [["a"], [nil]], [VIEW["tags"].select(&:itself), VIEW["tags"].reject(&:itself)]
    assert_equal hash.select.with_index { |_, i| i == 1 }, VIEW.select.with_index { |_, i| i == 1 }
  end

  def test_all_elements_of_jq_are_named_in_the_error
    assert_match(/: \[\*\] is all of them$/, assert_raises(ArgumentError) { VIEW.query(".tags[]") }.message)
  end
end

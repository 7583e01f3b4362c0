# frozen_string_literal: true

# What a reader of the README tries first works, or its error names what does.
require "test_helper"
require "socket"
require "stringio"
require "pathname"

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
      assert_match(/Packer.new\(File.open\(path, "wb"/, assert_raises(ArgumentError) { Manypack::Packer.open("none.msgpack") }.message)
      assert_match(/Packer.new\(File.open\(path, "ab"/, assert_raises(ArgumentError) { Manypack::Packer.open("none.msgpack", append: true) }.message)
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
        assert_match(/undefined method '#{name}' for #{klass}; .*#{words}/, error.message)
        assert_equal [name, klass], [error.name, error.receiver]
      end
    end
    assert_equal :list_all, assert_raises(NoMethodError) { Manypack::Type.list_all(1) }.name
  end

  VIEW = Manypack::View.new(Manypack.pack({ "id" => 1, "tags" => ["a", nil], "next" => nil }))

  # For each call of a method that is not there what its error has to name.
  INSTEAD = {
    -> { Manypack.repair("a.msgpack") } => "File.truncate(path, error.start)", -> { Manypack.tail("a.msgpack") } => "Manypack.foreach(path)",
    -> { Manypack.read("a.msgpack") } => "Manypack.load_file(path)",
    -> { Manypack.append("a.msgpack", 1) } => "Packer.open(path, append: true)",
    -> { Manypack.decode("\x01") } => "Manypack.unpack(bytes)", -> { Manypack.generate(1) } => "Manypack.pack(object)",
    -> { Manypack.valid?("\x01") } => "Manypack::Type[Object].valid?(bytes)", -> { Manypack.register_type(1, Range) } => "DefaultFactory.register_type",
    -> { Manypack::Parallel.each_slice("\x01", 2) } => "map, each and filter", -> { Manypack::Parallel.sum("\x01") } => "map, each and filter",
    -> { Manypack::Factory.new.merge(Manypack::Factory.new) } => "one Factory", -> { Manypack::Unpacker.new.rewind } => "reset",
    -> { Manypack::Unpacker.new.next } => "read", -> { POINT.errors("\x01") } => "load(bytes, collect: true)",
    -> { POINT.load!("\x01") } => "load(bytes)", -> { Manypack::Type[Integer].validate(1) } => "valid?(bytes)",
    -> { VIEW.slice("id") } => "Manypack.pack(view.to_h.slice(", -> { VIEW.merge({}) } => "; splice(path => value)", -> { VIEW.delete("id") } => "View::REMOVED",
    -> { VIEW["tags"].push(1) } => "view.to_a.push", -> { VIEW.id } => 'view["id"]'
  }.freeze

  LATER = {
    -> { Manypack.count("a.msgpack") } => "Manypack.foreach(path).count", -> { Manypack.each_file("a.msgpack") } => "Manypack.foreach(path)",
    -> { Manypack.save_file(1, "a.msgpack") } => "Manypack.dump_file(object, path)", -> { Manypack.lazy_load("\x01") } => "View.new(bytes)",
    -> { Manypack.safe_load("\x01") } => "untrusted: true", -> { Manypack.configure } => "Codec.new",
    -> { POINT.each_file("a.msgpack") } => "Manypack.foreach(path, as: record)", -> { POINT.where(1) } => "1..10", -> { POINT | nil } => "or(nil)",
    -> { Manypack::View.foreach("a.msgpack") } => "Unpacker.new(io, as: :view)", -> { Manypack::View.each("\x01") } => "as: :view",
    -> { VIEW.diff(VIEW) } => "view == other", -> { VIEW.set("id", 1) } => "splice(path => value)", -> { VIEW.remove("id") } => "View::REMOVED",
    -> { VIEW.merge_patch({}) } => "splice(path => value", -> { VIEW.paths } => "paths(bytes)", -> { VIEW.merge({}) } => "view.to_h.merge does it for a Hash",
    -> { VIEW["tags"].push(1) } => "view.to_a.push does it for an Array", -> { Manypack::Unpacker.new.each_view } => "as: :view",
    -> { Manypack::Unpacker.foreach("a.msgpack") } => "Manypack.foreach(path)", -> { Manypack::Packer.new.push(1) } => "write(object)",
    -> { CODEC.load_file("a.msgpack") } => "Manypack.load_file(..., codec: codec)", -> { CODEC.register_type(1, Range) } => "factory.codec",
    -> { Manypack::Record.attach(Point) } => "Record.new(User, id: Integer).attach", -> { Manypack::Record.lazy(Point) } => ".lazy",
    -> { VIEW.append("tags", 1) } => "View.appended(value)", -> { VIEW["id"] = 1 } => "splice(path => value)", -> { POINT.fields } => "members",
    -> { CODEC.pack_file(1, "a") } => "Manypack.dump_file", -> { Manypack::Path.parse("$.a") } => "Path.new", -> { Manypack::Path.new("$.a").find("\x01") } => "to_a(bytes)",
    -> { Manypack.hexdump("\x01") } => "manypack inspect", -> { Manypack::Record.parse("\x01") } => "USER.load(bytes)",
    -> { Manypack::Record.default(1) } => "with(defaults:", -> { Manypack::Parallel.new } => "Parallel.map(bytes, ractors: 4)",
    -> { Manypack::Timestamp.at(1) } => "Timestamp.new(time.to_i, time.nsec)", -> { error_of { POINT.load("\x01") }.actual } => "got"
  }.freeze

  Sale = Manypack::Record.define(count: 1..)

  RECORDS = {
    -> { Sale.from_hash({}) } => "from(hash)", -> { Sale.parse("{}") } => "load_json(text)", -> { POINT.valid_json?("{}") } => "load_json(text)",
    -> { Sale.schema } => "json_schema", -> { POINT.encode(1) } => "dump_json(object)", -> { POINT.compatible?(POINT) } => "reads?(other)",
    -> { Sale.merge(y: 1) } => "Manypack::Record.define(USER, role: String)", -> { Sale.validate!({}) } => "from(hash)",
    -> { Sale.dump(1) } => "GuessesTest::Sale.record.dump", -> { error_of { Sale.from({}) }.attribute } => "member",
    -> { error_of { Sale.from({}) }.messages } => "errors.map(&:sentence)", -> { error_of { Sale.from({}) }.problem } => "Manypack::Rack.problem(error)",
    -> { Manypack::Type.boolean } => "Type[true, false]", -> { Manypack::Type.date } => "Type.text(Date)", -> { Manypack::Type.union(Sale) } => "Type[A, B]"
  }.freeze

  def self.error_of
    yield
  rescue Manypack::RecordError => error
    error
  end

  INSTEAD.merge(LATER, RECORDS).each_with_index do |(call, words), number|
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
      assert_match(/\Auninitialized constant Manypack::#{name}; (?:use )?Manypack::#{ours}/, error.message)
    end
    assert_equal "uninitialized constant Manypack::Zork", assert_raises(NameError) { Manypack::Zork }.message.lines.first.chomp
  end

  def test_other_classes_that_are_not_there_are_named
    { Raw: '{"user" => Manypack::View.new(bytes)}', Log: "Packer.open(path, append: true)", Writer: "append: true", Types: "Record.new", Limits: "max_bytes:", TimeoutError: "LimitError",
      Assertions: "Manypack.unpack", Testing: "valid?", DepthError: "StackError", EOFError: "TruncatedError" }.each do |name, ours|
      assert_includes assert_raises(NameError) { Manypack.const_get(name, false) }.message, ours
    end
    assert_match(/; Manypack::Type$/, assert_raises(NameError) { Manypack::Record::Type }.message.lines.first)
    assert_equal "uninitialized constant Manypack::Type::Likeness", assert_raises(NameError) { Manypack::Type::Likeness }.message.lines.first.chomp
  end

  # A name that another option or class has is a suggestion; these are sentences.
  def test_an_error_at_a_wrong_door_says_which_is_right
    user = Manypack::Record.define(id: Integer)
    { -> { user.load("\x80", colect: true) } => "did you mean collect?", -> { user.record.load("\x80", collects: true) } => "did you mean collect?",
      -> { Manypack.unpack("\x80", colect: true) } => "load(bytes, collect: true) of a Record", -> { Manypack.foreach("x", collect: true) } => "load(bytes, collect: true) of a Record",
      -> { user.load("\x80", on_error: 1) } => "collect: true", -> { user.record.valid?("\x80", collect: true) } => "load(bytes, collect: true)",
      -> { user.record.with(unknown: :raise).attach } => "has a Record already: keep this one in a constant, and call its load and dump" }.each do |call, words|
      assert_includes assert_raises(ArgumentError, &call).message, words
    end
    [[user], { String => user }, Integer].each do |as|
      [-> { Manypack.unpack("\x90", as: as) }, -> { Manypack.split("\x90", as: as) }, -> { Manypack.foreach("x", as: as) }, -> { Manypack::Unpacker.new(as: as) }].each do |call|
        assert_includes assert_raises(TypeError, &call).message, "Manypack::Type[...] makes one"
      end
    end
    assert_equal [user.new(id: 1)], Manypack.unpack("\x91\x81\xA2id\x01", as: Manypack::Type[[user]])
    assert_includes assert_raises(Manypack::UnknownExtTypeError) { Manypack.unpack("\xD4\x05a") }.message, "allow_unknown_ext: true"
  end

  # Ruby copies an object that it gives to a Ractor, unless Ractors share it; Ruby 4.1 does so by Marshal.
  def test_what_no_ractor_can_copy_says_what_to_do
    new = /create (one there|another one where you need it)/
    { Manypack::View.new("\x90") => /freeze it, or pass its bytes|marshal View#bytes/, Manypack::Packer.new => new, Manypack::Unpacker.new => new,
      Manypack::Buffer.new => new }.each do |object, words|
      [object, [object]].each do |given|
        error = assert_raises(TypeError, Ractor::Error) { Ractor.new(given) { |one| one } }
        assert_match words, (error.cause || error).message
      end
    end
    assert_equal 1, in_ractor(Manypack::View.new("\x91\x01").freeze, &:size)
  end

  def test_options_that_no_method_has_say_what_there_is
    { -> { POINT.with(checks: {}) } => "1..10", -> { POINT.with(timeout: 1) } => "untrusted: true", -> { Manypack::Codec.new(symbols: true) } => "symbolize_keys: true",
      -> { Manypack::Codec.new(bigint: true) } => "register_common(:bigint)", -> { Manypack::Codec.new(types: []) } => "factory.codec",
      -> { Manypack::Codec.new(factory: 1) } => "factory.codec", -> { Manypack.unpack("\x01", lazy: true) } => "as: :view",
      -> { Manypack::Packer.open("a.msgpack", append: true, repair: true) { nil } } => "File.truncate(path, error.start)",
      -> { Manypack::Packer.open("a.msgpack", as: POINT) { nil } } => "record.dump(object)",
      -> { Manypack::Parallel.map("\x01", workers: 2) { 1 } } => "ractors: or processes:", -> { Manypack.foreach("x", on_error: 1) } => "TruncatedError",
      -> { Manypack.foreach("x", jobs: 4) } => "runs its block in the workers", -> { Manypack.unpack("\x01", io: 1) } => "pass it as an argument",
      -> { Manypack.pack(1, date: true) } => "factory.load(bytes) reads", -> { Manypack.pack(1, bigint: true) } => "factory.load(bytes) reads",
      -> { Manypack::Factory.new.register_common(:timestamp) } => ":time a type",
      -> { Manypack.unpack("\x01", record: POINT) } => "did you mean as?", -> { Manypack::Unpacker.new(StringIO.new, record: POINT) } => "did you mean as?",
      -> { Manypack::Parallel.map("\x01", factory: 1, codec: CODEC) { 1 } } => "codec or factory" }.each do |call, words|
      assert_includes assert_raises(ArgumentError, &call).message, words
    end
  end

  # Every front that takes check:, by its other callers.
  def test_check_is_true_or_false
    calls = [->(value) { POINT.with(check: value) }, ->(value) { Manypack::Type[Integer].with(check: value) }, ->(value) { POINT.dump(Point.new(1), check: value) },
             ->(value) { Manypack::View.new("\x90", check: value) }, ->(value) { CODEC.view("\x90", check: value) }, ->(value) { POINT.array.with(check: value) }]
    calls.each do |call|
      [5, "yes", :strict, {}, [], -> { true }, { x: 1..2 }].each do |value|
        error = assert_raises(ArgumentError) { call[value] }
        assert_match(/\Acheck must be true or false, got #{value.class}(: a Range|$)/, error.message)
        assert_equal error.message.include?("a Range"), calls.index(call) != 3 && calls.index(call) != 4, "a View has no ranges"
      end
      [true, false, nil].each { |value| call[value] }
    end
  end

  def test_a_default_is_of_the_type_of_its_member
    { Integer => "str", String => 1, [String] => [1], { String => Integer } => [], 1..3 => 4, %w[a b] => "c", POINT => 1 }.each do |type, default|
      record = Manypack::Record.new(Point, x: type)
      assert_match(/\Athe default of x is of another type: /, assert_raises(ArgumentError, type.inspect) { record.with(defaults: { x: default }) }.message)
      assert_nil record.with(defaults: { x: nil }).load("\x80").x
      assert_equal default, record.with(defaults: { x: -> { default } }).load("\x80").x
    end
    { Integer => 2**63, Float => 1, [String] => [], Object => Object, Time => Time.at(0), Manypack::Type[:self, nil] => nil, POINT => Point.new(1) }.each do |type, default|
      next Manypack::Record.new(Point, x: type).with(defaults: { x: default }) unless default == Object

      Manypack::Record.new(Point, x: type).with(defaults: { x: 1..2 })
    end
  end

  def test_dump_file_takes_the_path_last
    in_a_directory do
      [{ "id" => 1 }, [1], nil, 5, StringIO.new].each do |object|
        assert_match(/expected the path of a file, got #{object.class}: .*dump_file\(object, path\)/, assert_raises(TypeError) { Manypack.dump_file("a.msgpack", object) }.message)
      end
      ["hello", "two words", "a\nb", "a\0", Manypack.pack({ "id" => 1 }), Manypack.pack("\u00e9")].each do |bytes|
        assert_match(/dump_file\(object, path\)/, assert_raises(ArgumentError) { Manypack.dump_file("a.msgpack", bytes) }.message)
      end
      assert_empty Dir.children(".")
      { "hello" => "a.msgpack", "a.msgpack" => "./index", "text" => "index", "b.mp" => "list.msgpack", "\xff".b => "\u00e9.msgpack" }.each do |object, path|
        Manypack.dump_file(object, path)
        assert_equal object, Manypack.load_file(path)
      end
      nested = Struct.new(:to_path).new(Pathname("d.msgpack"))
      [Pathname("c.msgpack"), Pathname("current"), nested, "caf\u00e9".b, "a\nb.mp", "a\nb", "\u00e9\t".b].each do |path|
        Manypack.dump_file("a.msgpack", path) unless path.is_a?(String)
        Manypack.dump_file(1, path)
        assert_equal 1, Manypack.load_file(path)
        assert_equal [1], Manypack.foreach(path).to_a
      end
      ["\x05".b, "\x81\xA1a\x01", "\x81\xA1a\xFF".b, "a\0b", "\x01\x02"].each do |bytes|
        assert_match(/bytes are no path/, assert_raises(ArgumentError) { Manypack.dump_file(1, bytes) }.message)
      end
    end
  end

  class Counted
    attr_reader :id

    @built = 0
    class << self
      attr_accessor :built
    end

    def initialize(id:)
      self.class.built += 1
      raise ArgumentError, "no id" if id == 2

      @id = id
    end

    def self.with_id(id) = allocate.tap { |one| one.instance_variable_set(:@id, id) }
  end

  # Checking a default must have no effect, and an error of the class is not about the type.
  def test_the_check_of_a_default_builds_nothing
    counted = Manypack::Record.ivars(Counted, id: Integer)
    loud = Manypack::Record.new(LoudPoint, x: Integer)
    { counted => Counted.with_id(2), loud => LoudPoint.allocate.tap { |one| one.x = 2 } }.each do |record, object|
      { record => object, [record] => [object], { String => record } => { "a" => object }, record.or(nil) => object,
        Manypack::Type[record, Integer] => object }.each do |type, default|
        with = Manypack::Record.new(Point, x: type).with(defaults: { x: default }).load("\x80")
        refute_nil with.x
        other = type.is_a?(Array) ? [1] : "1"
        assert_raises(ArgumentError) { Manypack::Record.new(Point, x: type).with(defaults: { x: other }) }
      end
    end
    assert_equal [0, 0], [Counted.built, LoudPoint.built]
  end

  class LoudPoint < Struct.new(:x)
    @built = 0
    class << self
      attr_accessor :built
    end

    def initialize(*)
      self.class.built += 1
      raise ArgumentError, "no point"
    end
  end

  def test_files_have_paths_and_one_message_or_many
    in_a_directory do
      Manypack::Packer.open("a.msgpack") { |packer| packer << 1 << 2 }
      error = assert_raises(Manypack::MalformedFormatError) { Manypack.load_file("a.msgpack") }
      assert_equal "a.msgpack: 1 extra bytes after the deserialized object, at byte 1; Manypack.split reads many messages, Manypack.foreach a file of them", error.message
      assert_equal 1, error.offset
      assert_match(/Manypack.split\(io\)/, assert_raises(TypeError) { Manypack.foreach(StringIO.new) }.message)
      assert_match(/Manypack.unpack\(io\)/, assert_raises(TypeError) { Manypack.load_file(StringIO.new) }.message)
      [-> { Manypack.foreach("a.msgpack", POINT) }, -> { Manypack.load_file("a.msgpack", POINT) }, -> { Manypack.split("\x01", POINT) }, -> { CODEC.foreach("a.msgpack", POINT) }]
        .each { |call| assert_match(/given 2, expected 1\); options are keywords: as: USER/, assert_raises(ArgumentError, &call).message) }
      File.binwrite("cut.msgpack", "\x01\x92\x01".b)
      error = assert_raises(Manypack::TruncatedError) { Manypack::Packer.open("cut.msgpack", append: true) { nil } }
      assert_match(/; File.truncate\(path, error.start\) repairs the file\z/, error.message)
      assert_equal [1, 3], [error.start, error.offset]
    end
  end

  def test_what_is_no_type_says_what_is
    { "circle" => '["circle"] is an enum', 5 => "[5] is an enum", /a/ => "pattern: /a/", -> { 1 } => "check(" }.each do |type, words|
      assert_includes assert_raises(ArgumentError) { Manypack::Type[type] }.message, words
      assert_includes assert_raises(ArgumentError) { Manypack::Record.new(Point, x: type) }.message, words
    end
  end

  def test_a_union_takes_a_tag_key_and_tags
    [-> { Manypack::Record.union(POINT, POINT, by: "type") }, -> { Manypack::Record.union(POINT, by: "type") }, -> { Manypack::Record.union("type", POINT, POINT) },
     -> { Manypack::Record.union(by: "type", p: POINT) }, -> { Manypack::Record.union({ "p" => POINT }) }, -> { Manypack::Record.union("type", [POINT]) }].each do |call|
      assert_match(/\Aa union is Record.union\("type", "circle" => CIRCLE/, assert_raises(ArgumentError, &call).message)
    end
  end

  def test_what_cannot_be_packed_or_is_missing_names_what_helps
    require "date"
    assert_match(/register_common\(:date\)/, assert_raises(Manypack::EncodeError) { Manypack.pack(Date.today) }.message)
    assert_match(/register_common\(:datetime\)/, assert_raises(Manypack::EncodeError) { Manypack.pack(DateTime.now) }.message)
    assert_match(/register_common\(:rational\)/, assert_raises(Manypack::EncodeError) { Manypack.pack([1r]) }.message)
    assert_match(/register an ext type for it/, assert_raises(Manypack::EncodeError) { Manypack.pack(Object.new) }.message)
    record = Manypack::Record.new(Point, x: Manypack::Type[String].or(nil))
    assert_match(/\A"x" is missing \(with\(defaults: {x: nil}\) allows that\), at/, assert_raises(Manypack::RecordError) { record.load("\x80") }.message)
    assert_match(/max_depth/, assert_raises(Manypack::StackError) { Manypack.unpack("\x91" * 200) }.message)
  end

  def test_a_path_without_an_ending_is_no_source_of_bytes_either
    in_a_directory do
      File.write("events", "x")
      ["/tmp/mistyped", "./events", "~/logs/events", "../a", "log/J\u00e4nner.msgpack", "events", "two words.mp"].each do |name|
        [-> { Manypack.split(name).to_a }, -> { Manypack::Parallel.map(name, ractors: 0, &:itself) }, -> { Manypack::Path.new("$").first(name) },
         -> { Manypack::Path.new("$").count(name) }].each do |call|
          assert_match(/is a file name, not packed bytes/, assert_raises(ArgumentError, name, &call).message)
        end
      end
    end
    assert_match(/a file name: use Manypack.load_file/, assert_raises(Manypack::MalformedFormatError) { Manypack.unpack("/etc/passwd") }.message)
    ["a", "/", "ab", "0/1"].each { |bytes| assert_equal bytes.bytes, Manypack::Parallel.map(bytes, ractors: 0, &:itself) }
  end

  # The first line of the backtrace is what a program shows, and where a debugger stops.
  def test_errors_about_a_call_begin_where_it_is
    in_a_directory do
      calls = INSTEAD.merge(LATER).keys + [-> { Manypack.zork }, -> { VIEW.zork }, -> { POINT.zork }, -> { Manypack::Log }, -> { Manypack::View::DELETE }, -> { Manypack::Record::Type }, -> { POINT.with(checks: 1) }, -> { POINT.with(check: 1) },
                                           -> { Manypack.load_file("a", max_byte: 1) }, -> { Manypack.split("./a").to_a }, -> { Manypack.foreach("a", POINT) },
                                           -> { Manypack.dump_file("a.mp", {}) }, -> { Manypack::Path.new("$") { 1 } }, -> { Manypack::Codec.new { 1 } }, -> { Manypack.unpack("\x01", codec: 1) },
                                           -> { Manypack.dump_file(1, "x.mp", foo: 1) }, -> { POINT.with(freeze: 1) }, -> { POINT.load("\x80", freeze: 1) }, -> { Manypack::Packer.open("x", freeze: true) { 1 } },
                                           -> { Manypack::Packer.open("x") }, -> { Manypack::Unpacker.open("x") }, -> { Manypack::Packer.open($stdout) { 1 } }, -> { Manypack::Packer.open("x", "r") { 1 } },
                                           -> { Manypack::Path.new("$").to_a("\x80", zzz: 1) }, -> { Manypack::Type[/a/] }, -> { Manypack::Record.new(Point, x: /a/) }, -> { POINT.with(defaults: { x: "1" }) },
                                           -> { Manypack::Record.union(a: POINT) }, -> { Manypack::Record.union("t", a: Integer) }, -> { Manypack::Parallel.filter("x") { 1 } }, -> { Manypack::Parallel.map("x") },
                                           -> { Manypack::Factory.new.register_type(1, Point, record: 1) }, -> { Manypack.foreach("x", bogus: true) }, -> { Manypack::Packer.open("x", canonical: true) { 1 } }, -> { Manypack::Factory.new.pool(1, zzz: 1) }, -> { Manypack::Factory.new.register_common(:zzz) },
                                           -> { Manypack::Path.all(a: "$").read("\x80", zzz: 1) }, -> { Manypack::Parallel.map("\x01", factory: 1) { 1 } }]
      calls.each do |call|
        error = assert_raises(StandardError, &call)
        assert_match(/\A(#{Regexp.escape(__FILE__)}|.*\bin [`'].*Enumerator|<internal)/, error.backtrace.first, error.message)
      end
    end
  end

  def test_options_that_are_listed_are_those_that_are_taken
    fronts = { packing: [->(options) { Manypack::Packer.open("x", **options) { 1 } }, ->(options) { Manypack.dump_file(1, "x", **options) }],
               unpacking: [->(options) { Manypack::Unpacker.open("x", **options) { 1 } }, ->(options) { Manypack.foreach("x", **options) },
                           ->(options) { Manypack::Parallel.map("\x01", **options) { 1 } }] }
    in_a_directory do
      fronts.each do |kind, calls|
        calls.each do |call|
          listed = assert_raises(ArgumentError) { call[{ zork: 1 }] }.message[/known options are (.*)/, 1].split(", ").map(&:to_sym)
          assert_equal %i[timestamp max_depth], listed & %i[timestamp max_depth]
          assert_equal [kind == :packing && call != calls.first, kind == :unpacking], [listed.include?(:canonical), listed.include?(:freeze)]
          assert_empty(listed.select { |name| refused(call, name).match?(/has no effect|unknown option/) })
        end
      end
    end
  end

  def refused(call, option)
    call[{ option => nil }]
    ""
  rescue StandardError => error
    error.message
  end

  # A copy of the hint has to find the constant.
  def test_hints_name_constants_in_full
    hints = Manypack.module_eval("Hints")
    table = hints.module_eval("TABLE")
    texts = table.values.flat_map(&:values)
    ours = Manypack.constants.grep(/\A[A-Z][a-z]/).join("|")
    assert_operator texts.size, :>, 100
    assert_empty(texts.select { |text| text.match?(/(?<![:\w])(?:#{ours})(?:\.\w|::|\[)/) })
    refute_match(/members|lazy|keys:|klass/, %i[fields rename view new default nullable].map { |name| table["Type"][name] }.join)
  end

  def test_a_factory_for_a_codec_is_told_what_makes_one
    factory = Manypack::Factory.new
    [-> { Manypack.unpack("\x01", codec: factory) }, -> { Manypack::Unpacker.new(codec: factory) }, -> { POINT.with(codec: factory) },
     -> { Manypack::View.new("\x01", codec: factory) }, -> { Manypack.load_file("x", codec: factory) }].each do |call|
      assert_match(/Factory \(expected Manypack::Codec\); its codec method makes one/, assert_raises(TypeError, &call).message)
    end
  end

  def test_ruby_suggests_no_other_name_beside_a_hint
    errors = [-> { Manypack.splice(1) }, -> { Manypack::Reader }].map { |call| assert_raises(NameError, &call) }
    errors.each { |error| refute_match(/Did you mean/, error.respond_to?(:detailed_message) ? error.detailed_message : error.message) }
  end

  def test_an_io_for_a_path_is_told_what_reads_it
    [$stdout, $stdin, StringIO.new, 5, nil].each do |io|
      assert_match(/got #{io.class}: Manypack::Packer.new\(io\)/, assert_raises(TypeError) { Manypack::Packer.open(io) { flunk } }.message)
      assert_match(/got #{io.class}: Manypack::Unpacker.new\(io\)/, assert_raises(TypeError) { Manypack::Unpacker.open(io) { flunk } }.message)
    end
    [IO.pipe, UNIXSocket.pair].each do |reader, writer|
      assert_match(/got #{reader.class}: Manypack.split\(io\) and Manypack::Unpacker.new\(io\)/, assert_raises(TypeError) { Manypack.foreach(reader) { nil } }.message)
      assert_match(/got #{reader.class}: Manypack.unpack\(io\)/, assert_raises(TypeError) { Manypack.load_file(reader) }.message)
    ensure
      [reader, writer].each(&:close)
    end
  end

  def test_a_factory_takes_no_arguments
    assert_match(/\Awrong number of arguments \(given 1, expected 0\); register_common/, assert_raises(ArgumentError) { Manypack::Factory.new(symbols: true) }.message)
  end

  def test_a_record_for_bytes_and_as_many_workers
    assert_match(/did you mean ractors\?/, assert_raises(ArgumentError) { Manypack::Parallel.map("\x01", threads: 2) { 1 } }.message)
    assert_match(/\.or\(nil\).*with\(defaults:/, assert_raises(ArgumentError) { POINT.with(optional: [:x]) }.message)
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

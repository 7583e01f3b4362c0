# frozen_string_literal: true

# The coder in the caches of ActiveSupport.
require "test_helper"
require "active_support"
require "active_support/cache"
require "active_support/ordered_hash"
require "active_support/ordered_options"
require "active_support/string_inquirer"
require "active_support/testing/time_helpers"
require "delegate"
require "tmpdir"
require "manypack/active_support"
require "support/program"

class CacheCoderTest < Minitest::Test
  include ProgramHelper
  include ActiveSupport::Testing::TimeHelpers

  CODER = Manypack::ActiveSupport::CacheCoder.new
  ROWS = Array.new(200) { |id| { id: id, name: "row #{id}", at: Time.at(id, 5, :nsec, in: "+02:00") } }.freeze

  def caches
    Dir.mktmpdir do |folder|
      [{}, { compress: true, compress_threshold: 1 }, { compress: false }].each do |options|
        yield ActiveSupport::Cache::MemoryStore.new(coder: CODER, **options)
        yield ActiveSupport::Cache::FileStore.new(folder, coder: CODER, **options).tap(&:clear)
      end
    end
  end

  def test_values_come_back_as_they_were
    zone = ActiveSupport::TimeZone["Berlin"]
    values = [nil, false, 1, "text", "\xFF".b, "a".encode("UTF-16LE").b, :symbol, 1 << 70, { a: [1.5, nil] }, ROWS, Set[1], Date.new(2026),
              zone.local(2026, 7, 1, 12), zone, 3.days + 2.5.hours, { a: 1 }.with_indifferent_access, "<b>".html_safe]
    caches do |cache|
      values.each do |value|
        cache.write("key", value)
        actual = cache.fetch("key") { flunk "a miss" }
        assert_equal [value.class, value.inspect], [actual.class, actual.inspect]
      end
    end
  end

  def test_what_is_read_can_be_changed_without_changing_the_cache
    caches do |cache|
      cache.write("key", ["a"])
      cache.read("key") << "b"
      assert_equal ["a"], cache.read("key")
    end
  end

  def test_entries_expire
    caches do |cache|
      cache.write("hour", 1, expires_in: 3_600)
      cache.write("day", 2, expires_in: 86_400)
      assert_equal [1, 2], [cache.read("hour"), cache.read("day")]
      travel(3_601) { assert_equal [nil, 2], [cache.read("hour"), cache.read("day")] }
    end
  end

  def test_entries_have_a_version
    caches do |cache|
      cache.write("key", 1, version: "v1")
      assert_equal [1, nil, 1], [cache.read("key", version: "v1"), cache.read("key", version: "v2"), cache.read("key")]
    end
  end

  def test_every_operation_of_a_cache
    caches do |cache|
      cache.write_multi({ "a" => 1, "b" => [2] }, expires_in: 60)
      assert_equal({ "a" => 1, "b" => [2] }, cache.read_multi("a", "b", "c"))
      assert_equal({ "a" => 1, "c" => "c" }, cache.fetch_multi("a", "c") { |key| key })
      assert_equal 3, cache.increment("a", 2)
      assert cache.exist?("a")
      assert cache.delete("a")
      refute cache.write("b", 5, unless_exist: true)
      assert_nil cache.fetch("none", skip_nil: true) { nil }
    end
  end

  def test_long_entries_are_compressed
    entry = ActiveSupport::Cache::Entry.new("a" * 5_000, expires_at: 1.5, version: "v")
    assert_operator CODER.dump(entry).bytesize, :>, 5_000
    assert_operator CODER.dump_compressed(entry, 1_024).bytesize, :<, 100
    assert_operator CODER.dump_compressed(entry, 6_000).bytesize, :>, 5_000
    loaded = CODER.load(CODER.dump_compressed(entry, 1_024))
    assert_equal [entry.value, 1.5, "v"], [loaded.value, loaded.expires_at, loaded.version]
    random = ActiveSupport::Cache::Entry.new(Random.new(1).bytes(2_000))
    assert_equal CODER.dump(random), CODER.dump_compressed(random, 1), "what compression makes longer stays as it is"
  end

  def test_options_without_effect_are_refused
    { default: ->(object) { object.to_s }, as: :view }.each do |name, value|
      assert_match(/\A#{name} has no effect on /, assert_raises(ArgumentError) { Manypack::ActiveSupport::CacheCoder.new(name => value) }.message)
    end
  end

  def test_little_that_becomes_much_is_not_read_to_its_end
    coder = Manypack::ActiveSupport::CacheCoder.new(untrusted: true)
    entry = ActiveSupport::Cache::Entry.new("a" * 50_000_000)
    [CODER.dump_compressed(entry, 1), Zlib.deflate("\x93\xC0\xC0\xC0" * 10_000_000)].each do |bomb|
      pieces = 0
      count = TracePoint.new(:c_call) { |event| pieces += 1 if event.method_id == :feed_each }
      count.enable { assert_raises(ActiveSupport::Cache::DeserializationError) { coder.load(bomb) } }
      assert_operator bomb.bytesize, :<, 100_000
      assert_includes 1..100, pieces
    end
    assert_equal 50_000_000, CODER.load(CODER.dump_compressed(entry, 1)).value.size
  end

  def test_what_cannot_be_packed_is_an_error
    caches do |cache|
      [Object.new, Struct.new(:a).new(1), -> {}, { "users" => [Thread.current] }].each do |value|
        assert_match(/undefined method .to_msgpack/, assert_raises(NoMethodError) { cache.write("key", value) }.message)
        assert_raises(NoMethodError) { cache.fetch("key") { value } }
      end
      refute cache.exist?("key")
    end
  end

  User = Manypack::Record.define(id: Integer, any: Object)
  Member = Struct.new(:name)
  Manypack::Record.new(Member, name: String).with(unknown: :raise).attach
  Admin = Class.new(Member)
  Plain = Class.new do
    attr_reader :id

    def ==(other) = other.is_a?(Plain) && id == other.id
  end
  Manypack::Record.ivars(Plain, id: Integer).attach

  def test_an_object_with_a_record_is_the_same_on_a_miss_and_on_a_hit
    user, member, admin = User.new(id: 1, any: { at: Date.new(2026) }), Member.new("Ada"), Admin.new("Bob")
    objects = [user, member, admin, Plain.load(Manypack.pack({ "id" => 1 })), User.new(id: 2, any: [user, { admin => member }, Set[admin]])]
    caches do |cache|
      [*objects, objects, { list: [objects] }, Set[admin], (1..2), { user: user }.with_indifferent_access].each_with_index do |value, i|
        miss, hit = Array.new(2) { cache.fetch("key #{i}") { value } }
        assert_equal [value, value, value.class], [miss, hit, hit.class]
      end
      assert_equal [Admin, Admin], cache.fetch("key 4").any[1..].flat_map { |one| one.is_a?(Hash) ? one.keys : one.to_a }.map(&:class)
    end
  end

  Text = Class.new(String)
  List = Class.new(Array)
  Table = Class.new(Hash)
  Writing = Class.new { def to_msgpack(packer = nil) = packer.write(1) }
  VIEW = Manypack::View.new("\x81\xA1a\x90".b)
  CHANGING = [
    VIEW, VIEW["a"], Member.record.lazy.load(Member.new("Ada").dump), Manypack::Timestamp.new(1, 2), Manypack::ExtensionValue.new(10, "a"), Writing.new,
    Text.new("a"), List[1], Table[1, 2], SimpleDelegator.new(Member.new("Ada")), Class.new(Member).new("Ada"), ActiveSupport::OrderedOptions.new.merge!(a: 1),
    ActiveSupport::StringInquirer.new("production"), ActiveSupport::ArrayInquirer.new(["a"]), ActiveSupport::OrderedHash[1, 2]
  ].freeze

  def test_what_would_come_back_as_something_else_is_a_type_error_that_says_where
    caches do |cache|
      CHANGING.each do |object|
        [object, [[object]], { a: object }, { object => 1 }, User.new(id: 1, any: [object])].each do |value|
          error = assert_raises(TypeError, object.class.to_s) { cache.write("key", value) }
          assert_kind_of Manypack::EncodeError, error
          assert_operator error.path, :start_with?, "$[2]"
        end
      end
      refute cache.exist?("key")
    end
    error = assert_raises(TypeError) { CODER.dump(ActiveSupport::Cache::Entry.new({ list: [VIEW] })) }
    assert_match(/\AManypack::View cannot be cached, at \$\[2\]\.list\[0\]; something else would be read/, error.message)
  end

  # Of a codec of the program, whatever types it has.
  def test_that_holds_for_every_codec
    factory = Manypack::Factory.new.tap { |one| one.register_type(127, Thread, packer: ->(_) { "t" }, unpacker: ->(_) { :thread }) }
    [factory.codec, Manypack::Codec.new(timestamp: true), Manypack::Codec.new(canonical: true, untrusted: true)].each do |codec|
      coder = Manypack::ActiveSupport::CacheCoder.new(codec: codec)
      entry = ActiveSupport::Cache::Entry.new([User.new(id: 1, any: Member.new("a")), { a: :b }])
      assert_equal entry.value, coder.load(coder.dump(entry)).value
      CHANGING.each { |object| assert_raises(TypeError) { coder.dump(ActiveSupport::Cache::Entry.new(object)) } }
    end
    stamps = Manypack::ActiveSupport::CacheCoder.new(codec: Manypack::Codec.new(timestamp: true))
    assert_equal Time.at(1), stamps.load(stamps.dump(ActiveSupport::Cache::Entry.new(Time.at(1)))).value
    handled = Manypack::Factory.new.tap { |one| one.register_type(1, Object, packer: ->(_) { "o" }, unpacker: ->(_) { :object }) }
    own = Manypack::ActiveSupport::CacheCoder.new(codec: handled.codec)
    assert_equal :object, own.load(own.dump(ActiveSupport::Cache::Entry.new(User.new(id: 1, any: 1)))).value
  end

  def test_objects_are_written_and_read_in_another_ractor
    assert_program <<~'RUBY', "Ada", ENV.slice("RUBYOPT", "RUBYLIB")
      $VERBOSE = nil
      require "manypack/active_support"
      User = Manypack::Record.define(id: Integer, any: Object)
      Entry = Struct.new(:value, :expires_at, :version)
      ActiveSupport::Cache::Entry.name # loads it: other Ractors cannot
      ractor = Ractor.new(Manypack::ActiveSupport::CacheCoder.new) do |coder|
        coder.load(coder.dump(Entry.new([User.new(id: 1, any: User.new(id: 2, any: "Ada"))]))).value[0].any.any
      end
      print ractor.respond_to?(:value) ? ractor.value : ractor.take
    RUBY
  end

  # Rails' own serializers, Marshal and the one for MessagePack, which has no fallback for such objects.
  def test_rails_serializers_keep_or_refuse_an_object_too
    assert_program <<~'RUBY', "kept 2, refused 3, kept 3, refused 2", ENV.slice("RUBYOPT", "RUBYLIB")
      $VERBOSE = false
      require "manypack/drop_in"
      require "active_support/all"
      require "active_support/message_pack"
      require "tmpdir"
      User = Manypack::Record.define(id: Integer)
      user = User.new(id: 1)
      objects = [user, Manypack::View.new(user.dump), User.record.lazy.load(user.dump), Manypack::Timestamp.new(1, 2), [1]]
      print [:message_pack, :marshal_7_1].map { |serializer|
        kept = objects.count do |object|
          Dir.mktmpdir do |folder|
            cache = ActiveSupport::Cache::FileStore.new(folder, serializer: serializer)
            cache.write("key", object)
            hit = cache.read("key")
            hit == object && hit.class == object.class or abort "#{object.inspect} became #{hit.inspect}"
          rescue TypeError, ActiveSupport::MessagePack::UnserializableObjectError
            false
          end
        end
        "kept #{kept}, refused #{objects.size - kept}"
      }.join(", ")
    RUBY
  end

  def test_a_class_that_is_gone_or_has_changed_is_a_miss
    Dir.mktmpdir do |folder|
      cache = ActiveSupport::Cache::FileStore.new(folder, coder: CODER)
      self.class.const_set(:Passing, Manypack::Record.define(id: Integer))
      cache.write("key", [before = Passing.new(id: 1)])
      self.class.send(:remove_const, :Passing)
      assert_equal [nil, "anew"], [cache.read("key"), cache.fetch("key", force: false) { "anew" }]
      assert_match(/no constant is that class/, assert_raises(TypeError) { cache.write("other", before) }.message)
      cache.write("key", [self.class.const_set(:Passing, Manypack::Record.define(id: String)).new(id: "1")])
      self.class.send(:remove_const, :Passing)
      self.class.const_set(:Passing, Manypack::Record.define(id: Integer))
      assert_nil cache.read("key")
      assert_raises(TypeError) { cache.write("other", before) }
    ensure
      self.class.send(:remove_const, :Passing)
    end
  end

  # The file of a class that cannot be loaded is a mistake of the program, not a class that is gone.
  def test_an_error_in_the_file_of_a_class_is_no_miss
    Dir.mktmpdir do |folder|
      { "Missing = Missing2" => NameError, "nil.member" => NoMethodError, "Integer + 'a'" => NoMethodError, "1 + 'a'" => TypeError }.each_with_index do |(text, error), i|
        name = "Loaded#{i}"
        self.class.autoload(name, "#{folder}/#{name}.rb")
        File.write("#{folder}/#{name}.rb", text)
        bytes = "\x93\xC0\xC0".b + Manypack.pack(Manypack::ExtensionValue.new(127, Manypack.pack("CacheCoderTest::#{name}") + "\x80".b))
        assert_instance_of error, assert_raises(StandardError) { CODER.load(bytes) }, text
      end
    end
  end

  # Somebody who can write to the cache chooses among classes with a Record.
  def test_bytes_create_objects_of_no_other_class
    body = Manypack.pack({ "name" => "Ada" })
    named = ->(name) { "\x93\xC0\xC0".b + Manypack.pack(Manypack::ExtensionValue.new(127, Manypack.pack(name) + body)) }
    assert_equal Member.new("Ada"), CODER.load(named.call("CacheCoderTest::Member")).value
    ["CacheCoderTest::Nobody", "Object", "Kernel", "String", "Member", "::CacheCoderTest::Member", "CacheCoderTest::Member::String", "CacheCoderTest::VIEW",
     "RUBY_VERSION::Member", "", "a", "A\0", "\xFF", "CacheCoderTest::", 1, nil, :String, [], { "json_class" => "String" }].each do |name|
      assert_raises(ActiveSupport::Cache::DeserializationError, name.inspect) { CODER.load(named.call(name)) }
    end
    assert_raises(ActiveSupport::Cache::DeserializationError) { CODER.load(named.call("CacheCoderTest::Member") + "\xC0".b) }
  end

  def test_whatever_is_written_can_be_read
    (120..130).each do |depth|
      nested = depth.times.inject(1) { |inner| [inner] }
      [nested, User.new(id: 1, any: nested)].each do |value|
        bytes = CODER.dump(ActiveSupport::Cache::Entry.new(value))
        assert_equal value, CODER.load(bytes).value
      rescue Manypack::NestingError
        assert_operator depth, :>, 124
      end
    end
  end

  Tagged = Struct.new(:id) { def self.name = "Fancy" }
  Manypack::Record.new(Tagged, id: Integer).attach
  Natural = Struct.new(:number) do
    def initialize(number)
      raise ArgumentError, "negative" if number.negative?

      super
    end
  end
  Manypack::Record.new(Natural, number: Integer).attach

  # Otherwise each read would be a miss, and nobody would notice.
  def test_an_object_with_a_record_is_read_or_not_written
    nameless = Struct.new(:id).tap { |klass| Manypack::Record.new(klass, id: Integer).attach }
    scoped = Struct.new(:id).tap { |klass| Module.new.const_set(:Scoped, klass) }
    Manypack::Record.new(scoped, id: Integer).attach
    changed = Natural.new(1).tap { |natural| natural.number = -1 }
    { Tagged.new(1) => nil, nameless.new(1) => TypeError, scoped.new(1) => TypeError, User.new(id: "1") => Manypack::RecordError,
      User.new(id: 1, any: [User.new(id: nil)]) => Manypack::RecordError, changed => Manypack::RecordError }.each do |object, error|
      entry = ActiveSupport::Cache::Entry.new([object])
      next assert_equal([object], CODER.load(CODER.dump(entry)).value) unless error

      assert_operator assert_raises(error) { CODER.dump(entry) }.path, :start_with?, "$[2][0]"
    end
  end

  REFUSING = { max_bytes: [50, "a" * 50], max_objects: [5, [1, 2]], max_string_bytes: [5, "aaaaaa"], max_array_size: [4, [1, 2, 3, 4, 5]], max_map_size: [1, { 1 => 2, 2 => 3 }],
               max_ext_bytes: [2, :abc], utf8: [:strict, "\xFF"], duplicate_keys: [:error, {}.compare_by_identity.tap { |twice| 2.times { twice[+"a"] = 1 } }],
               untrusted: [true, "a" * 300_000] }.freeze

  def test_what_the_options_refuse_to_read_is_not_written
    REFUSING.each do |option, (value, object)|
      coder = Manypack::ActiveSupport::CacheCoder.new(option => value)
      error = assert_raises(ArgumentError, option.to_s) { coder.dump(ActiveSupport::Cache::Entry.new(object)) }
      assert_match(/\Athe entry could not be read: /, error.message)
      assert_kind_of Manypack::EncodeError, error
      assert_raises(ArgumentError) { coder.dump_compressed(ActiveSupport::Cache::Entry.new(object), 1) }
      assert_equal 1, coder.load(coder.dump(ActiveSupport::Cache::Entry.new(1))).value
    end
  end

  # Also where a cache has been in use before.
  def test_what_others_have_written_is_a_miss
    ours = CODER.dump(ActiveSupport::Cache::Entry.new([1]))
    foreign = [Marshal.dump(ROWS), "", "5", "\x93\x01\x02\x03", "\x92\xC0\xC0", "\xC1", "\x78", "\x78\x9C", ours.chop, "#{ours}\x01",
               Zlib.deflate("no"), Zlib.deflate(ours * 2), Zlib.deflate("\xC0".b + ours), Zlib.deflate(ours.chop), Zlib.deflate(ours)[0..-2],
               "\x93\xC0\xC0\xC7\x01\x09x", "\x93\xC0\xC0\xC7\x01\x11\x01", "\x93\xC0\xC0\xC7\x02\x0A\x01\x01", "\x93\xC0\xC0\xC7\x01\x08\xC0"]
    foreign.each { |bytes| assert_raises(ActiveSupport::Cache::DeserializationError, bytes.inspect) { CODER.load(bytes.b) } }
    foreign.each { |bytes| assert_kind_of Integer, assert_raises(Manypack::DecodeError) { CODER.load(bytes.b) }.offset }
    assert_equal [4, "$[2][0]"], assert_raises(Manypack::DecodeError) { CODER.load("\x93\xC0\xC0\x91\xC1".b) }.then { |error| [error.offset, error.path] }
    Dir.mktmpdir do |folder|
      [{}, { serializer: :marshal_7_1 }, { compress_threshold: 1 }].each do |options|
        ActiveSupport::Cache::FileStore.new(folder, **options).write("key", ROWS)
        cache = ActiveSupport::Cache::FileStore.new(folder, coder: CODER)
        assert_equal [nil, "anew"], [cache.read("key"), cache.fetch("key") { "anew" }]
        assert_empty cache.tap(&:clear).read_multi("key")
      end
    end
  end

  def test_nothing_is_marshalled
    called = []
    trace = TracePoint.new(:call, :c_call) { |event| called << event.method_id if event.self.equal?(Marshal) }
    trace.enable do
      entry = ActiveSupport::Cache::Entry.new(ROWS, expires_in: 5, version: "ü")
      [CODER.dump(entry), CODER.dump_compressed(entry, 1)].each { |bytes| assert_equal ROWS, CODER.load(bytes).value }
    end
    assert_empty called
  end

  def test_a_codec_brings_ext_types_and_options
    factory = Manypack::Factory.new
    Manypack::ActiveSupport.register_types(factory)
    factory.register_type(20, Thread, packer: ->(_) { "t" }, unpacker: ->(_) { :thread })
    coder = Manypack::ActiveSupport::CacheCoder.new(codec: factory.codec, symbolize_keys: true, max_bytes: 50)
    cache = ActiveSupport::Cache::MemoryStore.new(coder: coder)
    cache.write("key", { "a" => Thread.current })
    assert_equal({ a: :thread }, cache.read("key"))
    assert_raises(ArgumentError) { cache.write("key", "a" * 50) }
    assert_raises(ArgumentError) { Manypack::ActiveSupport::CacheCoder.new(max_byte: 1) }
  end

  def test_misspelt_options_are_told_what_was_meant_and_a_codec_is_one
    assert_equal "unknown option codex, did you mean codec?", assert_raises(ArgumentError) { Manypack::ActiveSupport::CacheCoder.new(codex: 1) }.message
    assert_equal "wrong argument type Integer (expected Manypack::Codec)", assert_raises(TypeError) { Manypack::ActiveSupport::CacheCoder.new(codec: 5) }.message
  end

  # With a file for each key, it does not fill up; whoever uses it calls cleanup.
  def test_a_file_store_is_cleaned_up
    Dir.mktmpdir do |folder|
      cache = ActiveSupport::Cache::FileStore.new(folder, coder: CODER)
      100.times { |i| cache.write("key #{i}", ROWS, expires_in: i.even? ? 60 : 3_600) }
      travel(61) do
        cache.cleanup
        assert_equal 50, Dir.glob("#{folder}/**/*").count { |path| File.file?(path) }
        assert_equal [nil, ROWS], [cache.read("key 0"), cache.read("key 1")]
      end
    end
  end

  # docs/web.md says which Rails breaks, with its own serializer too, and shows other stores.
  def test_a_memory_store_that_fills_up_breaks_in_older_rails_and_the_guide_shows_none
    cache = ActiveSupport::Cache::MemoryStore.new(coder: CODER, size: 10_000)
    begin
      100.times { |i| cache.write("key #{i}", "x" * 1_000) }
      assert_equal ["x" * 1_000, nil], [cache.read("key 99"), cache.read("key 0")]
    rescue NoMethodError => error
      assert_includes error.message, "expired?"
    end
    shown = Dir[File.expand_path("../../{README.md,docs/*.md}", __dir__)].flat_map { |path| File.readlines(path).grep(/coder: /) }
    assert_operator shown.size, :>, 2
    assert_empty shown.grep(/memory_?store/i)
  end

  def test_a_coder_is_shareable
    assert Ractor.shareable?(CODER)
  end
end

# frozen_string_literal: true

# MessagePack as Manypack, each time in a process of its own that does what well-known users of the msgpack gem do.
require "test_helper"
require "bundler"
require "support/program"
require "tmpdir"

class DropInTest < Minitest::Test
  include ProgramHelper

  COMPAT = File.expand_path("../../compat/msgpack", __dir__)

  # Without Bundler, and without the warnings and lib paths of the tests.
  RUBY = [{ "RUBYOPT" => nil, "RUBYLIB" => nil }, RbConfig.ruby, "-W:no-experimental", "-w", "-I", LIB].freeze

  def test_requires_of_the_msgpack_gem_find_it_loaded
    assert_drop_in <<~RUBY
      %w[msgpack msgpack/bigint msgpack/timestamp msgpack/time msgpack/factory msgpack/packer msgpack/unpacker msgpack/buffer
         msgpack/symbol msgpack/core_ext msgpack/version msgpack.rb msgpack/bigint.rb].each do |feature|
        raise feature if require(feature)
      end
      raise unless MessagePack::Bigint && MessagePack::Timestamp && MessagePack::VERSION.start_with?("1.8.")
    RUBY
  end

  def test_requires_are_no_ops_under_a_narrowed_load_path
    assert_drop_in <<~RUBY
      before = $LOAD_PATH.dup
      $LOAD_PATH.replace([Dir.pwd])
      raise if require("msgpack") || require("msgpack/bigint")
      $LOAD_PATH.replace([])
      raise if require("msgpack") || require("msgpack/timestamp")
      $LOAD_PATH.replace(before)
    RUBY
  end

  def test_a_second_require_of_the_drop_in_does_nothing
    assert_drop_in('raise if require("manypack/drop_in")')
  end

  def test_it_refuses_beside_the_msgpack_gem
    { "module MessagePack; class Packer; end; end" => "by other means",
      "$LOADED_FEATURES << '/gems/msgpack-1.8.7/lib/msgpack.rb'; module MessagePack; end" => "/gems/msgpack-1.8.7/lib/msgpack.rb",
      "$LOADED_FEATURES << '/lib/msgpack/msgpack.so'; module MessagePack; end" => "/lib/msgpack/msgpack.so" }.each do |before, named|
      assert_match(/MessagePack is already loaded \(#{Regexp.escape(named)}\)/, refusal(before))
    end
    assert_match(/MessagePack is already defined, and is not a module/, refusal("class MessagePack; end"))
  end

  # A program or a gem may have defined the name before: msgpack-rpc, a gemspec that loads the version of its gem, and
  # the gemspec of the msgpack gem.
  ALREADY_THERE = {
    "nothing" => "",
    "an_empty_module" => "module MessagePack; end",
    "a_module_in_it" => "module MessagePack; module RPC; module Rest; end; class Client; def call = MessagePack.pack(Packer.name); end; end; end",
    "a_version" => "module MessagePack; VERSION = '0.1'; end; $LOADED_FEATURES << '/gems/msgpack-1.8.7/lib/msgpack/version.rb'",
    "an_autoload" => "autoload :MessagePack, 'msgpack'",
    "a_file_of_that_name" => "module MessagePack; end; $LOADED_FEATURES << '/app/lib/formats/msgpack.rb' << '/gems/msgpack-rpc/lib/msgpack/rpc.rb'"
  }.freeze

  ALREADY_THERE.each do |what, before|
    define_method("test_all_of_it_is_there_after_#{what}") do
      assert_equal "ok\n", run_ruby(<<~RUBY)
        #{before}
        there = MessagePack if defined?(MessagePack) && !Object.autoload?(:MessagePack)
        require "manypack/drop_in"
        require "msgpack"
        raise "another module" unless there.nil? || there.equal?(MessagePack)
        MessagePack.constants.each { |name| MessagePack.const_get(name) }
        own = %i[Buffer DefaultFactory Factory Packer Unpacker VERSION]
        shared = MessagePack.constants & Manypack.constants - own
        raise unless shared.size == 11
        shared.each { |name| raise name.to_s unless MessagePack.const_get(name).equal?(Manypack.const_get(name)) }
        %i[Buffer Factory Packer Unpacker].each { |name| raise name.to_s unless Manypack.const_get(name).superclass.equal?(MessagePack.const_get(name)) }
        raise MessagePack::VERSION unless MessagePack::VERSION == "1.8.99" && Manypack::VERSION != "1.8.99"
        Manypack.singleton_methods.each { |name| raise name.to_s unless MessagePack.respond_to?(name) }
        raise unless MessagePack.load(MessagePack.dump({ "a" => [1] }), unknown: 1) == { "a" => [1] }
        raise unless MessagePack.dig(MessagePack.pack({ "a" => 1 }), "a") == 1 && MessagePack.canonical?("\\x01") && MessagePack.split("\\x01").to_a == ["\\x01"]
        module MessagePack
          raise unless unpack(pack(1)) == 1
          class Packer; def added = 5; end
        end
        raise unless Manypack::Packer.new.added == 5
        raise unless Class.new { include MessagePack; def packed = pack(1) }.new.packed == "\\x01"
        MessagePack.singleton_class.prepend(Module.new { def dump(*) = "wrapped" })
        raise unless MessagePack.dump(1) == "wrapped" && Manypack.dump(1) == "\\x01"
        raise unless !defined?(MessagePack::RPC) || MessagePack.unpack(MessagePack::RPC::Client.new.call) == "MessagePack::Packer"
        puts "ok"
      RUBY
    end
  end

  def test_a_class_of_the_msgpack_gem_is_replaced_with_a_warning_and_others_stay
    output = run_ruby(<<~RUBY)
      module MessagePack; Timestamp = 1; Record = 2; View = 3; end
      require "manypack/drop_in"
      p MessagePack::Timestamp, MessagePack::Record, MessagePack::View
    RUBY
    assert_equal "manypack/drop_in replaces MessagePack::Timestamp\nMessagePack::Timestamp\n2\n3\n", output.sub(/^.*warning: /, "")
  end

  def test_every_ractor_has_it
    assert_equal "[1]\n", run_ruby(<<~RUBY)
      module MessagePack; end
      require "manypack/drop_in"
      Warning[:experimental] = false
      ractor = Ractor.new { MessagePack.unpack(MessagePack.pack([1])) }
      p ractor.respond_to?(:value) ? ractor.value : ractor.take
    RUBY
  end

  def test_everything_of_the_msgpack_gem_is_there
    assert_drop_in <<~RUBY
      %i[Buffer Packer Unpacker Factory ExtensionValue CoreExt Timestamp Time TypeError UnpackError MalformedFormatError StackError
         UnexpectedTypeError UnknownExtTypeError Bigint DefaultFactory VERSION].each { |name| MessagePack.const_get(name) }
      MessagePack::DefaultFactory.register_type(1, Rational, packer: :to_s, unpacker: Kernel.method(:Rational))
      Manypack::DefaultFactory.register_type(2, Complex, packer: :to_s, unpacker: Kernel.method(:Complex))
      raise unless MessagePack::DefaultFactory.registered_types == Manypack::DefaultFactory.registered_types
      raise unless Manypack.unpack(MessagePack.pack(1r)) == 1r && MessagePack.unpack(Manypack.pack(1i)) == 1i
      raise unless MessagePack::UnknownExtTypeError < MessagePack::UnpackError
      raise unless MessagePack.load(MessagePack.dump({ "a" => [1] })) == { "a" => [1] }
      raise unless MessagePack.unpack(MessagePack.pack(1)) == 1
      MessagePack.singleton_class.prepend(Module.new { def dump(*) = "wrapped" })
      raise unless MessagePack.dump(1) == "wrapped" && Manypack.dump(1) == "\\x01"
    RUBY
  end

  def test_core_classes_have_to_msgpack
    assert_drop_in <<~RUBY
      objects = [nil, true, false, 1.5, "s", [1], { "k" => 1 }, :sym, 1, 2**64 - 1, MessagePack::ExtensionValue.new(1, "a")]
      objects.each do |object|
        raise object.inspect unless object.to_msgpack == MessagePack.pack(object)
        packer = MessagePack::Packer.new
        raise object.inspect unless object.to_msgpack(packer).equal?(packer) && packer.to_s == MessagePack.pack(object)
        io = StringIO.new("".b)
        raise object.inspect unless object.to_msgpack(io).nil? && io.string == MessagePack.pack(object)
        raise object.inspect unless object.is_a?(MessagePack::CoreExt) && object.respond_to?(:to_msgpack)
      end
      raise unless [1, 2].map(&:to_msgpack).join == "\\x01\\x02"
      begin
        Object.new.to_msgpack
      rescue NoMethodError
        (2**64).to_msgpack rescue $!.is_a?(RangeError) || raise
      end
    RUBY
  end

  def test_core_ext_alone_names_no_message_pack
    assert_equal "\"\\x91\\x01\"\nnil\n", run_ruby('require "manypack/core_ext"; p [1].to_msgpack, defined?(MessagePack)')
    assert_equal "false\nnil\n", run_ruby('require "manypack"; p 1.respond_to?(:to_msgpack), defined?(MessagePack)')
  end

  # As bootsnap keeps its caches.
  def test_a_cache_of_load_paths_and_yaml
    assert_drop_in <<~RUBY
      require "msgpack"
      Dir.mktmpdir do |dir|
        path = File.join(dir, "cache")
        load_cache = lambda do
          File.open(path, "rb") { |io| MessagePack.load(io, freeze: true) }
        rescue MessagePack::MalformedFormatError, MessagePack::UnknownExtTypeError, EOFError => e
          e.class
        end
        File.open(path, "wb") { |io| MessagePack.dump({ "a" => ["b", 1] }, io) }
        raise unless load_cache.call == { "a" => ["b", 1] } && load_cache.call.frozen?
        { "" => EOFError, "\\xC1" => MessagePack::MalformedFormatError, "\\xD4\\x05a" => MessagePack::UnknownExtTypeError }.each do |bytes, error|
          File.binwrite(path, bytes)
          raise error.name unless load_cache.call == error
        end
      end
      factory = MessagePack::Factory.new
      factory.register_type(0x00, Symbol, packer: :to_msgpack_ext, unpacker: ->(p) { p.to_sym })
      factory.register_type(MessagePack::Timestamp::TYPE, Time, packer: MessagePack::Time::Packer, unpacker: MessagePack::Time::Unpacker)
      factory.register_type(0x01, Regexp, packer: ->(r) { MessagePack.dump([r.options, r.source]) },
                                          unpacker: ->(p) { options, source = MessagePack.load(p); Regexp.new(source, options) })
      packer = factory.packer
      packer.pack(false)
      packer.pack({ sym: /x/i, "at" => Time.at(5), nil => [1.5] })
      unpacker = factory.unpacker(symbolize_keys: true)
      unpacker.feed(packer.to_s)
      raise unless unpacker.unpack == false
      raise unless unpacker.unpack == { sym: /x/i, at: Time.at(5), nil => [1.5] }
      begin
        factory.packer.pack(Object.new)
        raise
      rescue NoMethodError
        factory.packer.pack(2**70) rescue $!.is_a?(RangeError) || raise
      end
      raise unless factory.load(factory.dump([1]), nil) == [1] && factory.unpacker(nil)
    RUBY
  end

  # As Rails serializes cache entries and messages.
  def test_a_serializer_with_a_pool_a_signature_and_a_fallback
    assert_drop_in <<~RUBY
      require "msgpack"
      require "msgpack/bigint"
      require "set"
      SafeBuffer = Class.new(String)
      Indifferent = Class.new(Hash)
      class Fallback
        attr_reader :value
        def initialize(value) = @value = value
        def to_msgpack_ext = $serializer.dump({ "value" => value })
        def self.from_msgpack_ext(data) = new($serializer.load(data)["value"])
      end
      $serializer = Class.new do
        def initialize
          @factory = MessagePack::Factory.new
          register(@factory)
          @pool = @factory.freeze.pool(5)
        end

        def register(registry)
          registry.register_type 0, Symbol, packer: :to_msgpack_ext, unpacker: :from_msgpack_ext, optimized_symbols_parsing: true
          registry.register_type 1, Integer, packer: MessagePack::Bigint.method(:to_msgpack_ext),
                                 unpacker: MessagePack::Bigint.method(:from_msgpack_ext), oversized_integer_extension: true
          registry.register_type 3, Rational, packer: :to_s, unpacker: Kernel.method(:Rational)
          registry.register_type 11, Range, packer: method(:write_range), unpacker: method(:read_range), recursive: true
          registry.register_type 12, Set, packer: ->(s, packer) { packer.write(s.to_a) }, unpacker: ->(u) { u.read.to_set }, recursive: true
          registry.register_type 17, Indifferent, packer: ->(h, packer) { packer.write(h.to_h) },
                                 unpacker: ->(u) { Indifferent.new.update(u.read) }, recursive: true
          registry.register_type 18, SafeBuffer, packer: :to_s, unpacker: :new
          registry.register_type 127, Object, recursive: true, packer: method(:write_object), unpacker: method(:read_object)
        end

        def write_range(range, packer) = packer.write([range.begin, range.end, range.exclude_end?])
        def read_range(unpacker) = Range.new(*unpacker.read)
        def write_object(object, packer) = packer.write(object.class.name).write(object.to_msgpack_ext)
        def read_object(unpacker) = Object.const_get(unpacker.read).from_msgpack_ext(unpacker.read)

        def dump(object)
          @pool.packer { |packer| packer.write(128).write(object).full_pack }
        end

        def load(dumped)
          @pool.unpacker do |unpacker|
            unpacker.feed_reference(dumped)
            raise "signature" unless unpacker.read == 128
            unpacker.full_unpack
          end
        end
      end.new
      raise unless $serializer.dump(1).start_with?("\\xCC\\x80".b)
      object = { sym: [2**80, 3r / 2, 1..5, Set[1, :two]], "safe" => SafeBuffer.new("<b>"), "h" => Indifferent.new.update("k" => 1) }
      loaded = $serializer.load($serializer.dump(object))
      raise loaded.inspect unless loaded == object && loaded["safe"].class == SafeBuffer && loaded["h"].class == Indifferent
      raise unless $serializer.load($serializer.dump([Fallback.new([Fallback.new(5)])]))[0].value[0].value == 5
      begin
        $serializer.dump([Object.new])
        raise
      rescue NoMethodError => e
        raise unless e.name == :to_msgpack_ext
      end
    RUBY
  end

  # As fluentd passes events on: ext types by default names, partial chunks, reused unpackers.
  def test_a_forwarder_of_events_in_partial_chunks
    assert_drop_in <<~RUBY
      require "msgpack"
      class EventTime
        attr_reader :sec, :nsec
        def initialize(sec, nsec = 0) = (@sec, @nsec = sec, nsec)
        def to_msgpack(io = nil) = @sec.to_msgpack(io)
        def to_msgpack_ext = [@sec, @nsec].pack("NN")
        def self.from_msgpack_ext(data) = new(*data.unpack("NN"))
        def ==(other) = sec == other.sec && nsec == other.nsec
      end
      factory = MessagePack::Factory.new
      factory.register_type(0, EventTime)
      factory.register_type(MessagePack::Timestamp::TYPE, Time, packer: MessagePack::Time::Packer, unpacker: MessagePack::Time::Unpacker)
      records = (0...20).map { |i| [EventTime.new(i, i), { "message" => "m" * i, "n" => i, "nested" => { "a" => [nil] } }] }
      chunk = records.map { |time, record| factory.packer.write([time, record]).full_pack }.join
      unpacker = factory.unpacker
      [1, 3, 50, 1_000].each do |size|
        got = []
        chunk.b.scan(/.{1,\#{size}}/mn) { |part| unpacker.feed_each(part) { |time, record| got << [time, record] } }
        raise size.to_s unless got == records
        unpacker.reset
      end
      got = []
      factory.unpacker(StringIO.new(chunk)).each { |time, record| got << [time, record] }
      raise unless got == records
      forward = ["tag", chunk, { "size" => 20 }].map(&:to_msgpack)
      raise unless MessagePack.unpack("\\x93".b + forward.join) == ["tag", chunk, { "size" => 20 }]
      raise unless factory.unpacker.feed([1, { "a" => 2 }].to_msgpack).read == [1, { "a" => 2 }]
      packer = factory.packer
      begin
        packer.pack({ "bad" => Object.new }).to_s
      rescue NoMethodError
        packer.clear
      end
      raise unless packer.pack({ "ok" => 1 }).to_s == { "ok" => 1 }.to_msgpack
      raise unless EventTime.new(7).to_msgpack == "\\x07"
    RUBY
  end

  # As datadog encodes traces.
  def test_spans_that_write_themselves_and_chunks_that_are_joined
    assert_drop_in <<~RUBY
      require "msgpack"
      Span = Struct.new(:id, :name, :meta) do
        def to_msgpack(packer = nil)
          packer ||= MessagePack::Packer.new
          packer.write_map_header(3)
          packer.write("id").write(id).write("name").write(name).write("meta")
          meta.to_msgpack(packer)
          packer
        end
      end
      spans = [Span.new(2**63, "web", { "k" => "v" }), Span.new(1, "é", {})]
      encoded = spans.map { |span| MessagePack.pack(span) }
      packer = MessagePack::Packer.new
      packer.write_array_header(2)
      joined = (packer.buffer.to_a + encoded).join
      raise unless MessagePack.unpack(joined) == spans.map { |span| span.to_h.transform_keys(&:to_s) }
      raise unless spans.to_msgpack == joined && spans[0].to_msgpack.to_s == encoded[0]
      raise if MessagePack::VERSION.empty?
    RUBY
  end

  # As paquito builds a codec upon the default factory.
  def test_a_codec_on_the_frozen_default_factory
    assert_drop_in <<~RUBY
      require "msgpack"
      require "set"
      factory = MessagePack::DefaultFactory
      factory.register_type(0, Symbol, { packer: :to_msgpack_ext, unpacker: :from_msgpack_ext, optimized_symbols_parsing: true, code: 0, class: "Symbol", version: 1 })
      factory.register_type(9, Set, { code: 9, packer: ->(set, packer) { packer.write(set.to_a) }, unpacker: ->(unpacker) { unpacker.read.to_set }, recursive: true })
      factory.register_type(10, Set, { code: 10, packer: ->(set) { factory.dump(set.to_a) }, unpacker: ->(body) { factory.load(body).to_set } })
      factory.register_type(127, Object, { packer: ->(object, packer) { raise NoMethodError.new("no \#{object.class}", receiver: object) }, unpacker: nil, recursive: true })
      pool = factory.freeze.pool(3, freeze: true)
      object = [:a, Set[1, Set[:b]], { "k" => nil }]
      raise unless pool.load(pool.dump(object)) == object && factory.load(factory.dump(object), freeze: true).frozen?
      raise unless factory.load("\\xD5\\x09\\x91\\x05".b) == Set[5]
      foreign = Object.new
      begin
        pool.dump([foreign])
        raise
      rescue NoMethodError => e
        raise unless e.receiver.equal?(foreign)
      end
      pool.dump(2**70) rescue $!.is_a?(RangeError) || raise
      [:dump, :load].each { |name| raise unless MessagePack.respond_to?(name) }
      raise unless factory.registered_types.map { |entry| entry[:type] } == [0, 9, 10, 127]
    RUBY
  end

  # As neovim, aerospike, async-bus and td-client do.
  def test_subclasses_patches_and_protocols
    assert_drop_in <<~RUBY
      require "msgpack"
      require "zlib"
      class Object
        def to_msgpack(packer) = packer.pack(to_s)
      end
      class Buffered < MessagePack::Packer
        def value(bytes) = buffer << bytes && self
      end
      raise unless Buffered.new.value("\\x01").write(2).value("\\x03").to_s == "\\x01\\x02\\x03"
      raise unless MessagePack.pack([1..2]) == "\\x91\\xA41..2".b
      Remote = Struct.new(:handle) { def to_msgpack_ext = MessagePack.pack(handle) }
      reader, writer = IO.pipe(binmode: true)
      unpacker = MessagePack::Unpacker.new(reader)
      unpacker.register_type(0) { |data| Remote.new(MessagePack.unpack(data)) }
      packer = MessagePack::Packer.new(writer)
      packer.register_type(0, Remote, :to_msgpack_ext)
      packer.write([0, 1, "method", [Remote.new(5)]]).flush
      raise unless unpacker.read == [0, 1, "method", [Remote.new(5)]]
      wrapper = Class.new(MessagePack::Factory) do
        def initialize(bus)
          super()
          @bus = bus
          register_type(0x00, Remote, recursive: true, packer: ->(object, packer) { packer.write(object.handle) }, unpacker: method(:remote))
        end

        def remote(unpacker) = [@bus, unpacker.read]
      end.new("bus")
      reader, writer = IO.pipe(binmode: true)
      wrapper.packer(writer).write([Remote.new(7)]).flush
      writer.close
      raise unless wrapper.unpacker(reader).each.to_a == [[["bus", 7]]]
      gzip = Zlib::GzipReader.new(StringIO.new(Zlib.gzip("\\x01\\x92\\x02\\x03")))
      raise unless MessagePack::Unpacker.new(gzip).each.to_a == [1, [2, 3]]
    RUBY
  end

  def test_every_door_of_its_own_takes_what_is_true_for_an_option
    assert_drop_in <<~RUBY
      doors = [->(bytes, **o) { MessagePack.unpack(bytes, o) }, ->(bytes, **o) { MessagePack::Unpacker.new(o).feed(bytes).read },
               ->(bytes, **o) { MessagePack::Factory.new.load(bytes, o) }, ->(bytes, **o) { MessagePack::Factory.new.pool(1, **o).load(bytes) },
               ->(bytes, **o) { MessagePack::Factory.new.unpacker(o).feed(bytes).read }]
      doors.each_with_index { |door, i| raise i.to_s unless door.call(Manypack.pack({ "a" => 1 }), symbolize_keys: 1, none: 2) == { a: 1 } }
      begin
        Manypack::Factory.new.pool(1, symbolize_keys: 1)
        raise "taken"
      rescue ArgumentError
        raise unless $!.message == "symbolize_keys must be true or false, got 1"
      end
    RUBY
  end

  # As to_msgpack of many gems asks, and a handler of a recursive ext type may. identity_test.rb has the exact classes.
  def test_every_packer_and_unpacker_is_one_of_message_pack
    assert_drop_in <<~RUBY
      class Asked
        def to_msgpack(packer) = packer.is_a?(MessagePack::Packer) ? packer.write(1) : raise(packer.class.name)
      end
      def MessagePack.asked(factory)
        factory.register_type(5, Range, recursive: true, packer: ->(_, packer) { Asked.new.to_msgpack(packer) },
                                        unpacker: ->(unpacker) { unpacker.is_a?(MessagePack::Unpacker) && unpacker.read })
        factory.load(factory.dump([1..2, Asked.new])) == [1, 1] && factory.packer.is_a?(MessagePack::Packer)
      end
      works = [-> { MessagePack.pack(Asked.new) }, -> { Manypack.pack(Asked.new) }, -> { Manypack::Codec.new.pack(Asked.new) },
               -> { Manypack::Packer.new.write(Asked.new).to_s }, -> { MessagePack::Packer.new.write(Asked.new).to_s }]
      raise unless works.map(&:call).uniq == ["\x01"]
      raise unless [MessagePack, Manypack].all? { |name| MessagePack.asked(name::Factory.new) && MessagePack.asked(name::DefaultFactory.dup) }
      raise unless [MessagePack, Manypack].all? { |name| name::DefaultFactory.is_a?(MessagePack::Factory) }
      raise unless Manypack::Packer.new.buffer.is_a?(MessagePack::Buffer) && MessagePack::Packer.new.buffer.is_a?(MessagePack::Buffer)
    RUBY
  end

  # What is added to MessagePack's class, or put before its methods, is there whichever name made the object.
  def test_changes_of_its_classes_hold_for_those_of_manypack
    assert_drop_in <<~RUBY
      MessagePack::Packer.prepend(Module.new { def write(object) = super(object.is_a?(Range) ? object.to_a : object) })
      class MessagePack::Unpacker
        alias read_as_before read
        def read = [read_as_before]
      end
      raise unless [MessagePack, Manypack].all? { |name| name::Packer.new.write(1..2).to_s == MessagePack.pack([1, 2]) }
      raise unless [MessagePack, Manypack].all? { |name| name::Unpacker.new.feed(MessagePack.pack(1)).read == [1] }
    RUBY
  end

  def test_the_gem_by_the_name_of_msgpack
    program = <<~RUBY
      require "msgpack"
      require "msgpack/bigint"
      raise unless MessagePack.load([1].to_msgpack) == [1] && MessagePack::VERSION == Gem.loaded_specs["msgpack"].version.to_s
      raise unless Manypack::Packer < MessagePack::Packer
      puts "ok"
    RUBY
    Dir.mktmpdir do |dir|
      File.write(File.join(dir, "Gemfile"), <<~RUBY)
        gem "manypack", path: #{File.expand_path("../..", __dir__).dump}
        gem "msgpack", path: #{COMPAT.dump}
      RUBY
      Bundler.with_unbundled_env do
        environment = { "BUNDLE_GEMFILE" => File.join(dir, "Gemfile"), "BUNDLE_APP_CONFIG" => dir, "RUBYOPT" => nil, "RUBYLIB" => nil }
        output_of(environment, RbConfig.ruby, "-S", "bundle", "install", "--local", "--quiet")
        assert_equal "ok\n", output_of(environment, RbConfig.ruby, "-rbundler/setup", "-e", program)
      end
    end
  end

  def test_the_gem_by_the_name_of_msgpack_under_a_narrowed_load_path
    output = run_ruby(<<~RUBY)
      $LOAD_PATH.replace([#{LIB.dump}, #{File.join(COMPAT, "lib").dump}])
      require "msgpack/bigint"
      $LOAD_PATH.replace([])
      p require("msgpack"), MessagePack.pack(1)
    RUBY
    assert_equal "false\n\"\\x01\"\n", output
  end

  private

  def refusal(before)
    output, status = Open3.capture2e(*RUBY, stdin_data: "#{before}\nrequire 'manypack/drop_in'")
    refute_predicate status, :success?
    output
  end

  def assert_drop_in(program)
    assert_equal "ok\n", run_ruby("require 'manypack/drop_in'\nrequire 'stringio'\nrequire 'tmpdir'\n#{program}\nputs 'ok'")
  end

  def run_ruby(program)
    output_of(*RUBY, stdin_data: "# encoding: UTF-8\n#{program}")
  end
end

# frozen_string_literal: true

# One truth about one message: all fronts take it or all refuse it, and those that take it read the same value. The
# messages are random, and so is what breaks them; the seed is always the same.
#
# MANYPACK_MESSAGES=10000   compares more of them than the suite does
require "test_helper"
require "stringio"
require "tmpdir"
require "manypack/terminal"
require "support/hostile_objects"

class AgreementTest < Minitest::Test
  COUNT = Integer(ENV.fetch("MANYPACK_MESSAGES", 400))
  OPTIONS = [{}, { untrusted: true }, { allow_unknown_ext: true, timestamp: true }].freeze

  ANY = Manypack::Type[Object]
  Held = Struct.new(:k)
  HELD = Manypack::Record.new(Held, k: Object)
  WHOLE = Manypack::Path.new("$")
  INNER = Manypack::Path.new("$.k")
  FILE = File.join(Dir.mktmpdir("agreement"), "message.msgpack")
  Minitest.after_run { FileUtils.remove_entry(File.dirname(FILE)) }

  # Fronts that read the one object of a message.
  SINGLE = {
    "unpack as: :view" => ->(bytes, **o) { AgreementTest.built(Manypack.unpack(bytes, as: :view, **o)) },
    "unpack as: a Type" => ->(bytes, **o) { Manypack.unpack(bytes, as: ANY, **o) },
    "View#value" => ->(bytes, **o) { Manypack::View.new(bytes, **o).value },
    "View#value of a frozen one" => ->(bytes, **o) { Manypack::View.new(bytes, **o).freeze.value },
    "View#each" => ->(bytes, **o) { AgreementTest.built(Manypack::View.new(bytes, **o)) },
    "View#bytes" => ->(bytes, **o) { Manypack.unpack(Manypack::View.new(bytes, **o).bytes, **o) },
    "View#as" => ->(bytes, **o) { Manypack::View.new(bytes).as(ANY.with(**o)) },
    "a View packed" => ->(bytes, **o) { Manypack.unpack(Manypack.pack(Manypack::View.new(bytes, **o)), **o) },
    "Codec#unpack" => ->(bytes, **o) { Manypack::Codec.new(**o).unpack(bytes) },
    "Codec#view" => ->(bytes, **o) { Manypack::Codec.new(**o).view(bytes).value },
    "Unpacker#full_unpack" => ->(bytes, **o) { Manypack::Unpacker.new(**o).feed(bytes).full_unpack },
    "load_file" => ->(bytes, **o) { File.binwrite(FILE, bytes) && Manypack.load_file(FILE, **o) },
    "Path#to_a" => ->(bytes, **o) { AgreementTest.built(WHOLE.to_a(bytes, **o)[0]) },
    "Path.all" => ->(bytes, **o) { AgreementTest.built(Manypack::Path.all(a: WHOLE).read(bytes, **o)[:a][0]) },
    "Type#load" => ->(bytes, **o) { ANY.with(**o).load(bytes) }
  }.freeze

  # Fronts that read what a map has under "k".
  INSIDE = {
    "Record#load" => ->(bytes, **o) { HELD.with(**o).load(bytes).k },
    "LazyRecord" => ->(bytes, **o) { HELD.lazy.with(**o).load(bytes).k },
    "dig" => ->(bytes, **o) { AgreementTest.built(Manypack.dig(bytes, "k", **o)) },
    "View#[]" => ->(bytes, **o) { AgreementTest.built(Manypack::View.new(bytes, **o)["k"]) },
    "Path#first" => ->(bytes, **o) { AgreementTest.built(INNER.first(bytes, **o)) }
  }.freeze

  # Fronts that yield the messages of a stream.
  STREAMS = {
    "Unpacker#each" => ->(bytes, **o, &block) { Manypack::Unpacker.new(**o).feed(bytes).each(strict: true, &block) },
    "Unpacker#feed_each byte by byte" => lambda do |bytes, **o, &block|
      unpacker = Manypack::Unpacker.new(**o)
      bytes.each_char { |byte| unpacker.feed_each(byte, &block) }
      unpacker.each(strict: true, &block)
    end,
    "split as: :view" => ->(bytes, **o, &block) { Manypack.split(bytes, as: :view, **o) { |view| block.call(AgreementTest.built(view)) } },
    "split as: a Type" => ->(bytes, **o, &block) { Manypack.split(bytes, as: ANY, **o, &block) },
    "split" => ->(bytes, **o, &block) { Manypack.split(bytes, **o.slice(:untrusted)) { |message| block.call(Manypack.unpack(message, **o)) } },
    "foreach" => ->(bytes, **o, &block) { File.binwrite(FILE, bytes) && Manypack.foreach(FILE, **o, &block) },
    "Parallel.each" => ->(bytes, **o, &block) { Manypack::Parallel.each(bytes, ractors: 0, **o, &block) },
    "Path#each of an io" => ->(bytes, **o, &block) { WHOLE.each(StringIO.new(bytes), **o) { |found| block.call(AgreementTest.built(found)) } }
  }.freeze

  TERMINAL = Manypack::Terminal
  JSON_TEXT = Manypack.const_get(:JSONText)

  # Options under which the program manypack reads.
  TERMINALS = {
    "the terminal's messages" => ->(bytes, **o, &block) { AgreementTest.input(bytes).each_message { |message| block.call(Manypack.unpack(message.to_s, **o)) } },
    "manypack cat" => lambda do |bytes, **o, &block|
      AgreementTest.input(bytes).each_message do |message|
        JSON_TEXT.generate(message.to_s, 0, message.size, false, false, false, false)
        block.call(Manypack.unpack(message.to_s, **o))
      end
    end
  }.freeze

  def self.input(bytes)
    TERMINAL::Input.new(StringIO.new(bytes), "test", force: true)
  end

  # What a View shows, built of all its parts one by one.
  def self.built(part)
    return part unless part.is_a?(Manypack::View)

    case part.type
    when :map then part.each_with_object({}) { |(key, value), made| made[key] = built(value) }
    when :array then part.map { |element| built(element) }
    else part.value
    end
  end

  OPTIONS.each do |options|
    define_method("test_all_fronts_agree_with_unpack_with_#{options.keys.join("_and_")}") do
      taken = compared(SINGLE, options) { |bytes| Manypack.unpack(bytes, **options) }
      assert_operator taken, :>, COUNT / 8
      assert_operator taken, :<, COUNT
    end

    define_method("test_all_looks_at_a_field_agree_with_unpack_with_#{options.keys.join("_and_")}") do
      taken = compared(INSIDE, options, "\x81\xA1k".b) { |bytes| Manypack.unpack(bytes, **options)["k"] }
      assert_operator taken, :>, COUNT / 8
    end

    define_method("test_all_streams_agree_with_unpack_with_#{options.keys.join("_and_")}") do
      streams_compared(STREAMS, options)
    end
  end

  def test_the_terminal_agrees_with_unpack
    streams_compared(TERMINALS, TERMINAL::OPTIONS)
  end

  def test_the_canonical_form_agrees_with_packing_the_value
    options = { allow_unknown_ext: true }
    canonical = 0
    messages.each do |bytes|
      taken, value = outcome { Manypack.unpack(bytes, **options) }
      found = outcome { Manypack::View.new(bytes, **options).canonical? }
      next assert_equal(false, found[0], bytes.inspect) unless taken

      canonical += 1 if (same = canonical(value) == bytes)
      assert_equal [true, packed(same)], found, bytes.inspect
    end
    assert_operator canonical, :>, COUNT / 20
  end

  # Bytes behind the object are refused in the same words wherever the walk comes to its end.
  LONG_MAPS = { "a map" => 8, "a long map" => 512, "a very long map" => 8_000 }.transform_values do |n|
    Manypack.pack(Array.new(n) { |i| ["key#{i}", [1, 2, 3]] }.to_h)
  end
  TRAILING = { "a map" => "\x81\xA1a\x91\x01".b, "an array" => "\x92\xA1a\x81\xA1b\x02".b, "an empty map" => "\x80".b, "an Integer" => "\x01".b,
               "a long map" => LONG_MAPS["a long map"] }.freeze
  READERS = {
    "value" => :value.to_proc, "to_s" => :to_s.to_proc, "bytes" => :bytes.to_proc, "bytesize" => :bytesize.to_proc, "hash" => :hash.to_proc,
    "canonical?" => :canonical?.to_proc, "freeze" => :freeze.to_proc, "detach" => :detach.to_proc, "to_msgpack" => :to_msgpack.to_proc,
    "value(options)" => ->(view) { view.value(symbolize_keys: true) }, "dup" => ->(view) { view.dup.value }, "as" => ->(view) { view.as(ANY) },
    "eql?" => ->(view) { view.eql?(Manypack::View.new("\x01")) }, "pack" => ->(view) { Manypack.pack([view]) },
    "Path $" => ->(view) { AgreementTest.built(WHOLE.first(view)) }
  }.freeze
  CONTAINERS = {
    "to_a" => :to_a.to_proc, "include?" => ->(view) { view.include?(5) }, "each" => ->(view) { view.each { nil } }, "map" => ->(view) { view.map { 1 } }, "count" => :count.to_proc,
    "==" => ->(view) { view == Manypack::View.new("\x01") }, "$[*]" => ->(view) { view.query("$[*]") },
    "$..a" => ->(view) { view.query("$..a") }, "$..[0:1]" => ->(view) { view.query("$..[0:1]") }, "$[?@.a]" => ->(view) { view.query("$[?@.a]") },
    "paths" => ->(view) { Manypack::Path.new("$[*]").paths(view) }, "count of a path" => ->(view) { Manypack::Path.new("$[*]").count(view) },
    "several" => ->(view) { Manypack::Path.all(a: "$[*]", b: "$[0]").read(view) }
  }.freeze
  MAPS = {
    "to_h" => :to_h.to_proc, "keys" => :keys.to_proc, "values" => :values.to_proc, "a pattern of all" => ->(view) { view.deconstruct_keys(nil) },
    "[]" => ->(view) { view["a"] }, "[] of no key" => ->(view) { view["none"] }, "key?" => ->(view) { view.key?("a") }, "dig" => ->(view) { view.dig("a", 0) },
    "fetch" => ->(view) { view.fetch("a", nil) }, "a pattern" => ->(view) { view in { a: _ } }, "$.a" => ->(view) { view.query("$.a") },
    "first" => ->(view) { Manypack::Path.new("$.a").first(view) }, "any?" => ->(view) { Manypack::Path.new("$.a").any?(view) },
    "several names" => ->(view) { Manypack::Path.all(a: "$.a", b: "$.a[0]").read(view) }, "splice" => ->(view) { view.splice("a" => 1) }
  }.freeze

  TRAILING.each do |name, object|
    readers = READERS
    readers = readers.merge(CONTAINERS) unless name == "an Integer"
    readers = readers.merge(MAPS) if name.end_with?("map")

    define_method("test_bytes_behind_#{name}_are_refused_by_what_comes_to_its_end") do
      message = object + "\xC0\xC1".b
      expected = assert_raises(Manypack::MalformedFormatError) { Manypack.unpack(message) }
      readers.each do |reader, read|
        [false, true].each do |looked|
          view = Manypack::View.new(message)
          view.first if looked && view.type == :array
          error = assert_raises(Manypack::MalformedFormatError, reader) { read.call(view) }
          assert_equal [expected.message, expected.offset], [error.message, error.offset], reader
          read.call(Manypack::View.new(object))
        end
      end
    end
  end

  # One View, whose later looks go by an Index and tables of keys. Those that come to the end of the outermost map refuse.
  LONG_MAPS.each do |name, map|
    define_method("test_every_look_into_#{name.tr(" ", "_")}_refuses_bytes_behind_it") do
      more = map + "\xC0".b
      [[map, :last, []], [more, :last, %w[key0 none]], [more, :first, ["none"]], ["\x91".b + more, :last, []]].each do |message, which, refused|
        view = Manypack::View.new(message, duplicate_keys: which)
        view = view[0] if view.type == :array
        3.times { assert_equal refused, %w[key0 none].select { |key| refused? { view[key] } }, which }
      end
    end
  end

  def test_bytes_behind_an_object_are_refused_by_dig_if_it_comes_to_its_end
    message = "\x81\xA1a\x91\x01\xC0".b
    assert_equal Manypack.unpack(message.chop), { "a" => [Manypack.dig(message.chop, "a", 0)] }
    [["a"], ["a", 0], ["b"]].each do |keys|
      error = assert_raises(Manypack::MalformedFormatError) { Manypack.dig(message, *keys) }
      assert_equal [5, "1 extra bytes after the deserialized object, at byte 5; Manypack.split reads many messages, Manypack.foreach a file of them"], [error.offset, error.message]
    end
  end

  # Where the first of equal keys counts, that is where a key is not found.
  def test_bytes_behind_a_map_are_refused_by_paths_of_the_first_key_where_one_alone_comes_to_the_end
    all = [["$.a"], ["$.none"], ["$.a", "$.none"], ["$.none", "$.more"], ["$.b", "$.a"], ["$.c.d", "$.none"], ["$.c.d", "$.c.e"]]
    [Manypack.pack({ "a" => 1, "b" => 2, "c" => { "d" => 3 } }), "\x80".b].product(all).each do |map, texts|
      message = map + "\xC1".b
      several = Manypack::Path.all(**texts.to_h { |text| [text.to_sym, text] })
      alone = texts.any? { |text| refused? { Manypack::Path.new(text).to_a(message, duplicate_keys: :first) } }
      assert_equal alone, refused? { several.read(message, duplicate_keys: :first) }, [map, texts].inspect
    end
  end

  # A look at an element reads nothing behind it.
  def test_a_look_at_an_element_does_not_read_what_follows
    broken = "\x93\x01\x02".b
    assert_equal [1, 2], [Manypack::View.new(broken)[0], Manypack.dig(broken, 1)]
    assert_equal [1, [1]], [Manypack::Path.new("$[0]").first(broken), Manypack::Path.new("$[0]").to_a(broken)]
    assert_equal [1, 2], Manypack::View.new(broken).first(2)
  end

  # A View that belongs to a stream, or to a record of one, ends where the stream says.
  def test_views_of_a_stream_have_their_own_ends
    stream = Manypack.pack({ "k" => [1] }) + Manypack.pack({ "k" => [2] })
    viewed = Manypack::Record.new(Held, k: Manypack::View)
    assert_equal [{ "k" => [1] }, { "k" => [2] }], Manypack.split(stream, as: :view).map { |view| WHOLE.first(view).value }
    assert_equal [[1], [2]], Manypack.split(stream, as: viewed).map { |record| record.k.value(untrusted: true) }
    assert_equal [[1], [2]], Manypack::Parallel.map(stream, as: viewed, ractors: 0) { |record| record.k.to_a }
    assert_equal [{ k: [1] }, { k: [2] }], Manypack.split(stream, as: Manypack::Type[Manypack::View]).map { |view| view.dup.value(symbolize_keys: true) }
  end

  private

  def refused?
    yield
    false
  rescue Manypack::MalformedFormatError
    true
  end

  # The same for each test, and for each run.
  def messages
    random = Random.new(33)
    objects = HostileObjects.new(random)
    Array.new(COUNT) { broken(objects.message(3).to_a.sample(random: random).b, random) }
  end

  # Most are broken, in one way or another.
  def broken(bytes, random)
    case random.rand(6)
    when 0 then bytes.setbyte(random.rand(bytes.bytesize), random.rand(256))
    when 1 then return bytes.byteslice(0, random.rand(bytes.bytesize + 1))
    when 2 then bytes << random.bytes(random.rand(1..3))
    when 3 then return ["\x91".b, "\x81\xA1k".b].sample(random: random) * random.rand(120..130) + bytes if random.rand(8).zero?
    end
    bytes
  end

  # Returns how many messages were taken.
  def compared(fronts, options, before = "", &expected)
    messages.count do |bytes|
      bytes = before + bytes
      wanted = outcome { expected.call(bytes) }
      fronts.each do |name, front|
        assert_equal wanted, outcome { front.call(bytes, **options) }, "#{name} of #{bytes.inspect}, #{options}"
      end
      wanted[0]
    end
  end

  def streams_compared(fronts, options)
    messages.each do |bytes|
      wanted = one_by_one(bytes, options)
      fronts.each do |name, front|
        found = []
        whole, = outcome { front.call(bytes, **options) { |object| found << packed(object) } && nil }
        assert_equal wanted, [whole, *found], "#{name} of #{bytes.inspect}, #{options}"
      end
    end
  end

  # Whether all of a stream is good, and its objects up to the fault: by unpack alone, which says where an object ends.
  def one_by_one(bytes, options)
    found = []
    until bytes.empty?
      begin
        found << packed(Manypack.unpack(bytes, **options))
        break
      rescue Manypack::MalformedFormatError => error
        raise unless error.message.include?("extra bytes")

        found << packed(Manypack.unpack(bytes.byteslice(0, error.offset), **options))
        bytes = bytes.byteslice(error.offset..)
      end
    end
    [true, *found]
  rescue Manypack::DecodeError
    [false, *found]
  end

  # The canonical form of what some bytes hold; nil if it has none.
  def canonical(bytes)
    Manypack.pack(Manypack.unpack(bytes, allow_unknown_ext: true), canonical: true)
  rescue Manypack::EncodeError
    nil
  end

  # Whether a message was taken, and the value in a form in which NaN is equal to itself.
  def outcome
    [true, packed(yield)]
  rescue Manypack::DecodeError, TERMINAL::Fault
    [false, nil]
  end

  def packed(value)
    Manypack.pack(value, timestamp: true, max_depth: 1000)
  end
end

# frozen_string_literal: true

# DecodeError#path says where in the message the offending object is, whoever reads the message.
require "test_helper"
require "support/forks"
require "support/program"
require "objspace"

class ErrorPathTest < Minitest::Test
  include ProgramHelper

  # {"users" => [1, {"first name" => 0xc1}]}
  BROKEN = "\x81\xA5users\x92\x01\x81\xAAfirst name\xC1".b.freeze
  class OwnError < Manypack::RecordError
    def initialize(one, other)
      super("#{one} and #{other}")
      @path = "$.own"
    end
  end

  PLACE = '$.users[1]["first name"]'
  OFFSET = BROKEN.bytesize - 1

  def failure(kind = Manypack::DecodeError, &block) = assert_raises(kind, &block)

  def assert_place(path = PLACE, offset = OFFSET, &block)
    error = failure(&block)
    assert_equal [path, offset], [error.path, error.offset]
    assert_equal path, error.path, "again"
  end

  # --- every front ----------------------------------------------------------------------------------------

  FRONTS = {
    unpack: ->(binary) { Manypack.unpack(binary) },
    unpack_with_options: ->(binary) { Manypack.unpack(binary, symbolize_keys: true, max_objects: 1_000) },
    untrusted: ->(binary) { Manypack.unpack(binary, untrusted: true) },
    codec: ->(binary) { Manypack::Codec.new.unpack(binary) },
    factory: ->(binary) { Manypack::Factory.new.load(binary) },
    pool: ->(binary) { Manypack::Factory.new.pool(1).load(binary) },
    io: ->(binary) { Manypack.unpack(StringIO.new(binary)) },
    feed: ->(binary) { Manypack::Unpacker.new.feed(binary).read },
    feed_each: ->(binary) { Manypack::Unpacker.new.feed_each(binary) { nil } },
    full_unpack: ->(binary) { Manypack::Unpacker.new.feed(binary).full_unpack },
    skip: ->(binary) { Manypack::Unpacker.new.feed(binary).skip },
    view: ->(binary) { Manypack::View.new(binary).bytes },
    view_value: ->(binary) { Manypack::View.new(binary)["users"].value },
    view_check: ->(binary) { Manypack::View.new(binary, check: true) },
    view_freeze: ->(binary) { Manypack::View.new(binary).freeze },
    view_key: ->(binary) { Manypack::View.new(binary)["users"][1]["first name"] },
    path: ->(binary) { Manypack::Path.new("$.users[*]['first name']").to_a(binary) },
    canonicalize: ->(binary) { Manypack.canonicalize(binary) },
    parallel: ->(binary) { Manypack::Parallel.map(binary, ractors: 0) { nil } },
    splice: ->(binary) { Manypack::View.new(binary).splice("x" => 1) }
  }.freeze

  FRONTS.each do |name, front|
    define_method("test_#{name}") { assert_place { front.call(BROKEN) } }

    define_method("test_#{name}_of_a_long_message") do
      long = Manypack.pack("x" * 700)
      binary = bytes("92") + long + BROKEN
      next unless %i[unpack codec factory io feed feed_each skip view view_check canonicalize parallel].include?(name)

      assert_place("$[1]#{PLACE.delete_prefix("$")}", 1 + long.bytesize + OFFSET) { front.call(binary) }
    end
  end

  def test_of_a_later_message
    ["", "x" * 700].each do |text|
      binary = Manypack.pack(text) * 2
      offset = binary.bytesize + OFFSET
      binary << BROKEN
      assert_place(PLACE, offset) { Manypack::Unpacker.new.feed_each(binary) { nil } }
      assert_place(PLACE, offset) { Manypack::Unpacker.new(StringIO.new(binary)).each { nil } }
      assert_place(PLACE, offset) { Manypack::Parallel.map(binary, ractors: 0) { nil } }
    end
  end

  # --- every error ----------------------------------------------------------------------------------------

  # Bytes, options, path.
  ERRORS = [
    ["93 01 c1 02", {}, "$[1]"],
    ["c1", {}, "$"],
    ["", {}, "$"],
    ["92 01", {}, "$[1]"],
    ["92 01 dc 00", {}, "$[1]"],
    ["81 a1 61 a3 78", {}, "$.a"],
    ["81 a3 78", {}, "$"],
    ["81 a1 61 91 91 01", { max_depth: 2 }, "$.a[0]"],
    ["92 01 d4 07 00", {}, "$[1]"],
    ["92 01 d6 ff 3f ff ff ff", { timestamp: true, max_ext_bytes: 3 }, "$[1]"],
    ["92 01 d5 ff 00 00", { timestamp: true }, "$[1]"],
    ["92 01 93 01 02 03", { max_array_size: 2 }, "$[1]"],
    ["92 01 91 a3 61 61 61", { max_string_bytes: 2 }, "$[1][0]"],
    ["92 01 91 91 01", { max_objects: 4 }, "$[1][0]"],
    ["92 01 93 01 02 03", { max_bytes: 4 }, "$[1][1]"],
    ["92 01 a1 ff", { utf8: :strict }, "$[1]"],
    ["92 01 82 a1 61 01 a1 61 02", { duplicate_keys: :error }, "$[1]"],
    ["92 01 81 cb 7f f8 00 00 00 00 00 00 01", { duplicate_keys: :error }, "$[1]"],
    ["92 01 81 a1 ff 01", { symbolize_keys: true }, "$[1]"],
    ["81 a1 61 81 #{"91" * 33} 01 02", {}, "$.a"],
    ["90 90", {}, nil],
    ["92 01 02 c0", {}, nil]
  ].freeze

  ERRORS.each do |hex, options, path|
    define_method("test_#{options.keys.first} of #{hex}") do
      error = failure { Manypack.unpack(bytes(hex), **options) }
      path.nil? ? assert_nil(error.path) : assert_equal(path, error.path)
      next if options[:max_bytes]

      error = failure { Manypack::Codec.new(**options).unpacker.feed(bytes(hex) + "\xC0".b * 300).full_unpack } if path && !hex.empty? && error.class != Manypack::TruncatedError
      assert_equal path, error.path if path
    end
  end

  def test_no_input_has_no_path
    assert_nil failure { Manypack::Timestamp.from_msgpack_ext("x") }.path
    assert_nil Manypack::MalformedFormatError.new("of the user").path
  end

  # --- one after the other ------------------------------------------------------------------------------------

  # A Ractor remembers its last walks, so the order in which places are asked for must not matter.
  PLACES = 40
  LONG = Manypack.pack({ "first" => "x" * 1_500, "rows" => Array.new(PLACES) { |i| [i, { "a" => "x" * i, "b" => { "c" => Time.at(i) } }] } }, timestamp: true).freeze

  def paths_of(views, order)
    order.map { |i| failure { views[i % views.size]["rows"][i][1]["b"]["c"] }.path }
  end

  def test_in_any_order
    views = [LONG, LONG.dup, LONG.b].map { |message| Manypack::View.new(message) }
    expected = ->(order) { order.map { |i| "$.rows[#{i}][1].b.c" } }
    orders = [(0...PLACES).to_a, (0...PLACES).to_a.reverse, (0...PLACES).to_a.shuffle(random: Random.new(1)), [3] * 5]
    orders.each { |order| assert_equal expected.call(order), paths_of(views, order) }
    assert_equal expected.call(orders[2]), paths_of(views.first(1), orders[2])
  end

  def test_when_messages_come_and_go
    300.times do |i|
      key = "k#{i}"
      binary = Manypack.pack({ "pad" => "x" * 2_000, key => 1 }).then { |message| message.byteslice(0..-2) + "\xC1".b }
      assert_equal "$.#{key}", failure { Manypack.unpack(binary) }.path
      GC.start if i % 50 == 49
    end
  end

  # --- every step -----------------------------------------------------------------------------------------

  # A key as it is packed, and the step that it is.
  STEPS = {
    "a" => ".a", "é名" => ".é名", "a-b" => '["a-b"]', "" => '[""]', "a b" => '["a b"]', "a.b" => '["a.b"]', "*" => '["*"]',
    "$x" => '["$x"]', "a\"\\" => '["a\\"\\\\"]', "\"\\" => '["\\"\\\\"]', "\e\n\u007f" => '["\\u001b\\u000a\\u007f"]', 0 => "[0]", -7 => "[-7]",
    (1 << 64) - 1 => "[18446744073709551615]", -(1 << 63) => "[-9223372036854775808]", "x" * 128 => ".#{"x" * 128}",
    "\xFF\x00".b => '["\\xFF\\u0000"]',
    "é\"".b => '["\\xC3\\xA9\\""]', nil => "[nil]", true => "[true]", false => "[false]", 1.5 => "[1.5]", 2.0 => "[2.0]", -0.1 => "[-0.1]",
    1e300 => "[1.0e+300]", 5e-324 => "[5.0e-324]", -Float::INFINITY => "[-Infinity]", "\u0085\u009f" => '["\\u0085\\u009f"]',
    "a\u200e\u2028\u202e\u2066\ufeff" => '["a\\u200e\\u2028\\u202e\\u2066\\ufeff"]', "a\xFF" => '["a\\xFF"]'
  }.freeze
  SHOWN = {
    "x" * 129 => "[\"#{"x" * 128}\"...]", "é#{"é" * 64}" => "[\"#{"é" * 64}\"...]", "a#{"名" * 50}" => "[\"a#{"名" * 42}\"...]",
    Float::NAN => "[float64]", [1] => "[array]", { 1 => 2 } => "[map]", Time.at(1) => "[ext]"
  }.freeze

  def under(key) = bytes("82 01 02") + Manypack.pack(key, timestamp: true) + bytes("91 c1")

  STEPS.each do |key, step|
    define_method("test_a_path_walks_to_#{step[0, 20].dump}_of_#{key.class}_#{key.hash}") do
      binary = under(key)
      path = failure { Manypack.unpack(binary, timestamp: true) }.path
      assert_equal "$#{step}[0]", path
      assert_equal [nil], Manypack::Path.from(path).to_a(binary.sub(/\xC1\z/n, "\xC0".b))
      assert_equal Manypack::Path.from(path), Manypack::Path.from(Manypack::Path.from(path).to_s)
    end
  end

  SHOWN.each do |key, step|
    define_method("test_a_step_that_no_path_has_is_shown_as_#{step[0, 20].dump}") do
      path = failure { Manypack.unpack(under(key), timestamp: true) }.path
      assert_equal "$#{step}[0]", path
      assert_predicate path, :valid_encoding?
      assert_raises(ArgumentError) { Manypack::Path.from(path) }
    end
  end

  # Random objects with odd keys, and 0xc1 in place of one value.
  def odd_key(random)
    case random.rand(9)
    when 0 then random.rand(-300..300)
    when 1 then random.rand * 10**random.rand(-20..20)
    when 2 then [nil, true, false].sample(random: random)
    when 3 then random.bytes(random.rand(1..9))
    when 4 then random.bytes(random.rand(1..9)).force_encoding("UTF-8")
    else Array.new(random.rand(0..5)) { ["a", "é", ".", "[", "\"", "\\", "*", "$", " ", "\n", "\0", "\u0085", "\u202e", "\ufeff", "名"].sample(random: random) }.join
    end
  end

  def odd_object(random, depth)
    return 7 if depth.zero?

    values = Array.new(random.rand(1..4)) { odd_object(random, depth - 1) }
    random.rand(3).zero? ? values : values.to_h { |value| [odd_key(random), value] }
  end

  # The error at an offset; nil if the offset is inside a payload or a key.
  def broken_at(binary, offset)
    Manypack.unpack(binary)
    nil
  rescue Manypack::DecodeError => error
    error if error.offset == offset
  end

  # C writes the paths of errors and Ruby those of Path: each has a table of characters that are not shown as they are.
  def test_a_path_hides_the_characters_that_the_path_of_an_error_hides
    characters = [*0..0x2100, *0xFE00..0xFFFF].map { |number| [number].pack("U") }
    hidden = characters.map do |character|
      error = assert_raises(Manypack::TruncatedError) { Manypack.unpack(Manypack.pack({ character => [1] })[0..-2]) }
      [error.path, Manypack::Path.of(character, 0)].map { |path| !path.to_s.include?(character) }
    end
    assert_equal hidden.map(&:first), hidden.map(&:last)
    assert_operator hidden.count { |error, _| error }, :>, 70
  end

  def test_a_path_finds_the_place_of_every_error
    random = Random.new(31)
    200.times do
      binary = Manypack.pack(odd_object(random, random.rand(1..5)))
      heads = binary.bytesize.times.select { |i| binary.getbyte(i) == 7 }
      offset = heads.sample(random: random)
      broken = binary.dup.tap { |bytes| bytes.setbyte(offset, 0xc1) }
      error = broken_at(broken, offset) or next

      marked = binary.dup.tap { |bytes| bytes.setbyte(offset, 8) }
      found = Manypack::Path.from(error.path).to_a(marked)
      assert_equal [8], found, error.path unless found.first.is_a?(Manypack::View)
    end
  end

  def test_a_str_that_is_no_text
    assert_equal '$["a\xFF"][0]', failure { Manypack.unpack(under("a\xFF")) }.path
  end

  def test_what_is_in_a_key_has_the_path_of_the_map
    assert_equal "$[1]", failure { Manypack.unpack(bytes("92 01 81 92 01 c1 02")) }.path
    assert_equal "$[1]", failure { Manypack.unpack(bytes("92 01 82 c0 c0 d4 05 00 02")) }.path
  end

  # --- size -----------------------------------------------------------------------------------------------

  def test_depth
    deep = "\x91".b * 128 + "\xC1".b
    assert_equal "$#{"[0]" * 128}", failure { Manypack.unpack(deep, max_depth: 128) }.path
    [129, 100_000].each do |depth|
      deep = "\x81\xA1k".b * depth
      assert_equal "$#{".k" * 64}...#{".k" * 64}", failure { Manypack.unpack(deep, max_depth: 100_000) }.path
    end
  end

  def test_long_keys_in_all_levels
    deep = ("\x81\xDA\xFF\xFF".b + "\x01".b * 65_535) * 20
    assert_equal 1 + 20 * (128 * 6 + 7), failure { Manypack.unpack(deep) }.path.size
  end

  def test_a_record_error_shows_a_bounded_path_and_has_it_whole
    record = Manypack::Type[[15.times.inject(Integer) { |type, _| { String => type } }]]
    error = failure(Manypack::RecordError) { record.load(Manypack.pack([15.times.inject("") { |value, _| { "k" * 100 => value } }])) }
    assert_equal "$[0]#{".#{"k" * 100}" * 15}", error.path
    assert_operator error.message.bytesize, :<, 1_000
  end

  # --- what an error keeps --------------------------------------------------------------------------------

  def test_changing_the_source_afterwards_does_not_matter
    ["", "x" * 3000].each do |text|
      source = bytes("92") + Manypack.pack(text) + bytes("c1")
      error = failure { Manypack.unpack(source) }
      source.replace("\x80" * 9000)
      assert_equal "$[1]", error.path
    end
  end

  def test_it_keeps_the_bytes_until_it_is_asked
    source = BROKEN + "x" * 5000
    error = failure { Manypack.unpack(source.freeze) }
    assert_includes ObjectSpace.reachable_objects_from(error), source
    error.path
    refute_includes ObjectSpace.reachable_objects_from(error), source
  end

  def test_raising_copies_nothing
    source = (BROKEN + "x" * 5_000_000).freeze
    failure { Manypack.unpack(source) }
    GC.disable
    before = GC.stat(:malloc_increase_bytes)
    failure { Manypack.unpack(source) }
    assert_operator GC.stat(:malloc_increase_bytes) - before, :<, 1_000_000
  ensure
    GC.enable
  end

  # --- pieces ---------------------------------------------------------------------------------------------

  def test_a_message_in_pieces
    (1...BROKEN.bytesize).each do |i|
      unpacker = Manypack::Unpacker.new.feed(BROKEN.byteslice(0, i))
      assert_includes ["$", nil, "$.users", "$.users[1]", PLACE], failure(Manypack::TruncatedError) { unpacker.read }.path
      error = failure(Manypack::MalformedFormatError) { unpacker.feed(BROKEN.byteslice(i..)).read }
      assert_includes [PLACE, nil], error.path
      assert_equal OFFSET, error.offset
    end
  end

  def test_every_end_of_a_message
    whole = Manypack.pack({ "a" => [1, "text" * 9], "b" => { "c" => nil } })
    whole.bytesize.times do |i|
      error = failure(Manypack::TruncatedError) { Manypack.unpack(whole.byteslice(0, i)) }
      assert_includes ["$", "$.a", "$.a[0]", "$.a[1]", "$.b", "$.b.c"], error.path
    end
  end

  # --- exts -----------------------------------------------------------------------------------------------

  def test_an_error_in_a_handler_has_the_path_of_the_ext
    factory = Manypack::Factory.new
    factory.register_type(1, Class.new, unpacker: ->(_) { Manypack.unpack("\x92\x01\xC1") })
    factory.register_type(2, Class.new, recursive: true, unpacker: ->(u) { u.read })
    factory.register_type(3, Class.new, recursive: true, unpacker: ->(_) { 1 })
    inner = nil
    factory.register_type(4, Class.new, recursive: true, unpacker: ->(u) { u.read rescue raise inner = $! }) # rubocop:disable Style/RescueModifier
    ["d4 01 00", "d5 02 91 c1", "d5 02 92 01", "d4 03 00", "d4 02 c1", "d4 04 c1", "d4 05 c1"].each do |ext|
      [bytes("82 01 02 a1 65 91 #{ext}"), bytes("82 01 d9 ff") + "x" * 255 + bytes("a1 65 91 #{ext}")].each do |binary|
        assert_equal "$.e[0]", failure { factory.load(binary) }.path, ext
        assert_equal "$.e[0]", failure { factory.unpacker.feed(binary).read }.path, ext
      end
    end
    assert_kind_of Manypack::DecodeError, inner
  end

  def test_an_error_inside_a_handler_has_no_path_yet
    seen = []
    factory = Manypack::Factory.new
    factory.register_type(1, Class.new, recursive: true, unpacker: lambda { |u|
      begin
        u.read
      rescue Manypack::DecodeError => e
        seen << e.path
        raise
      end
    })
    assert_equal "$[1]", failure { factory.load(bytes("92 01 d4 01 c1")) }.path
    assert_equal [nil], seen
  end

  # --- crossing -------------------------------------------------------------------------------------------

  def test_frozen_errors_and_copies
    error = failure { Manypack.unpack(BROKEN) }
    assert_equal [PLACE, PLACE], [error.clone.path, error.exception("other").path]
    assert_equal [PLACE, PLACE], [error.freeze.path, error.path]
    assert_equal [:@offset], error.instance_variables
  end

  def test_it_crosses_by_marshal_and_to_ractors
    error = failure { Manypack.unpack(BROKEN) }
    assert_equal PLACE, Marshal.load(Marshal.dump(error)).path
    own = OwnError.new(1, 2)
    assert_equal [OwnError, own.message, "$.own"], Marshal.load(Marshal.dump(own)).then { |copy| [copy.class, copy.message, copy.path] }
    assert_equal PLACE, in_ractor(error, &:path)
    error.path
    assert_equal [PLACE, PLACE], [Marshal.load(Marshal.dump(error)).path, in_ractor(error, &:path)]
    assert_equal PLACE, in_ractor(BROKEN) { |binary|
      begin
        Manypack.unpack(binary)
      rescue Manypack::DecodeError => e
        e.path
      end
    }
  end

  def test_errors_of_parallel_workers_have_a_path_and_not_the_source
    source = (Manypack.pack([1]) * 3 + BROKEN).freeze
    Forks.without_impossible([{ ractors: 0 }, { ractors: 1 }, { processes: 1 }]).each do |workers|
      error = failure { Manypack::Parallel.map(source, **workers) { nil } }
      refute_includes ObjectSpace.reachable_objects_from(error).grep(String).map(&:bytesize), source.bytesize
      assert_equal [PLACE, 6 + OFFSET], [error.path, error.offset]
      error = failure { Manypack::Parallel.map("\x01", **workers) { Manypack.unpack("\x91\xC1") } }
      assert_equal "$[0]", error.path
    end
  end

  def test_the_source_may_move
    assert_program <<~'RUBY', "true"
      sources = ["", "x" * 60, "x" * 900].map { |text| "\x92".b + Manypack.pack(text) + "\x91\xC1".b }
      errors = sources.map { |source| Manypack.unpack(source) rescue $! }
      errors += sources.map { |source| Manypack::Unpacker.new.feed(source).read rescue $! }
      sources.clear
      GC.compact
      p errors.map(&:path).uniq == ["$[1][0]"]
    RUBY
  end
end

# frozen_string_literal: true

# SECURITY.md promises time that is linear in the message: every public method of a View, a LazyRecord, a Type and a
# Path, called once, takes about eight times as long for a message eight times as large.
require "test_helper"
require "support/costs"
require "json"
require "set"

class LinearTimeTest < Minitest::Test
  include Costs

  View = Manypack::View
  Path = Manypack::Path
  Type = Manypack::Type
  NAN = "\xCB\x7F\xF8\0\0\0\0\0\0".b
  DEPTH = { max_depth: 100_000 }.freeze
  SIZE = 500

  # In CPU seconds. A quadratic method takes longer at eight times the size.
  NO_MATTER = 0.01

  MAP = ->(count, pairs) { "\xDF".b + [count].pack("N") + pairs }
  PACK = Manypack.method(:pack)

  # Messages of a size, each hard for some method.
  SHAPES = {
    numbers: ->(n) { PACK.call(Array.new(n) { |i| i }) },
    strings: ->(n) { PACK.call(Array.new(n) { |i| "s#{i}" }) },
    rows: ->(n) { PACK.call(Array.new(n) { |i| { "a" => i, "b" => [i] } }) },
    long_rows: ->(n) { PACK.call(Array.new(n / 8) { |i| { "a" => i, "b" => "x" * 90 } }) },
    wide_map: ->(n) { PACK.call(Array.new(n) { |i| ["k#{i}", { "a" => i }] }.to_h) },
    integer_keys: ->(n) { PACK.call(Array.new(n) { |i| [i * 1_000, [i]] }.to_h) },
    container_keys: ->(n) { MAP.call(n, Array.new(n) { |i| "\x91".b + PACK.call(i) + "\x01".b }.join) },
    equal_keys: ->(n) { MAP.call(n, "\xA1a\x81\xA1b\x01".b * n) },
    equal_integers: ->(n) { MAP.call(n, "\x05\x01".b * n) },
    nan_keys: ->(n) { MAP.call(n, (NAN + "\x01".b) * n) },
    nans: ->(n) { "\xDD".b + [n].pack("N") + NAN * n },
    deep_arrays: ->(n) { "\x91".b * n + "\x01".b },
    deep_maps: ->(n) { "\x81\xA1a".b * n + "\x01".b },
    long_key: ->(n) { PACK.call({ "k" * n * 20 => 1, "a" => 2 }) },
    cut: ->(n) { PACK.call(Array.new(n) { |i| { "a" => i } }).byteslice(0..-2) },
    bad_end: ->(n) { MAP.call(n, "\xA1a\x91\x01".b * (n - 1) + "\xA1a\xC1".b) }
  }.freeze

  OPTIONS = [{}, { check: true, duplicate_keys: :last }, { freeze: true }].freeze

  ROW = Manypack::Record.new(Struct.new(:a, :b), a: Object, b: Object).with(**DEPTH)
  ANY = Type[Object].with(**DEPTH)
  VIEWS = Type[[View]].with(**DEPTH)
  RECORD = Manypack::Record.new(Struct.new(:a, :v), a: Object, v: View).with(**DEPTH)

  # A call for each class and method. It takes the object, and the bytes of the message.
  PLAIN = ->(name) { ->(object, _) { object.public_send(name) } }
  YIELDING = ->(name, *arguments) { ->(object, _) { object.public_send(name, *arguments) { |element| element } } }
  NOTHING = ->(name, *arguments) { ->(object, _) { object.public_send(name, *arguments) { nil } } }

  DEEP = /(?:\x91|\x81\xA1a){99}/n.freeze

  VIEW = {
    "[]": [->(v, _) { v[-1] }, ->(v, _) { v["zz"] }, ->(v, _) { v[[7]] }, ->(v, _) { v[Float::NAN] }, ->(v, _) { v[{ [7] => 1 }] }],
    dig: [->(v, _) { v.dig(*["a"] * 2_000) }, ->(v, _) { v.dig(*[0] * 2_000) }, ->(v, _) { v.dig(-1, "a") }],
    key?: [->(v, _) { v.key?("zz") }, ->(v, _) { v.key?([7]) }], fetch: [->(v, _) { v.fetch("zz", 1) }, ->(v, _) { v.fetch(-1) }],
    include?: [->(v, _) { v.include?("zz") }, ->(v, _) { v.include?(v) }, ->(v, _) { v.include?(Float::NAN) }],
    member?: [->(v, _) { v.member?("zz") }],
    values_at: [->(v, _) { v.values_at("a", "zz") }, ->(v, _) { v.values_at(-1, 0) }, ->(v, _) { v.values_at(*v.keys) }],
    dig_many: [->(v, _) { v.dig_many("a.b", ["zz"], "$[-1].a") }],
    query: [->(v, _) { v.query("$[*].a") }, ->(v, _) { v.query("$[*][*]") { nil } }, ->(v, _) { v.query("$[-1]") },
            ->(v, _) { v.query(["a"] * 500) }, ->(v, _) { v.query([:*] * 500) }],
    as: [->(v, _) { v.as(ROW) }, ->(v, _) { v.as(VIEWS) }, ->(v, _) { v.as(VIEWS.with(freeze: true)) }, ->(v, _) { v.as(ANY) }],
    splice: [->(v, _) { v.splice("a" => 1, "zz" => View::REMOVED) }, ->(v, _) { v.splice("[0]" => 1) },
             ->(v, _) { v.splice(v.size.times.to_a.reverse.to_h { |i| [[i], 5] }) }, ->(v, _) { v.splice(Array.new(v.size) { |i| [["k#{i}"], View::REMOVED] }.reverse.to_h) },
             ->(v, _) { v.splice(v.size.times.to_h { |i| [[-1 - i], View.inserted(i)] }) }, ->(v, _) { v.splice(v.size.times.to_h { |i| [["n#{i}", "x"], View.with_parents(i)] }) },
             ->(v, _) { v.splice("$[*].a" => 1) }, ->(v, _) { v.splice("$[*]" => :itself.to_proc) }, ->(v, _) { v.splice("a" => View.renamed("zz")) },
             ->(v, _) { v.splice(["a"] * 2_000 => View::REMOVED) }, ->(v, _) { v.splice([0] * 2_000 => View.with_parents(1)) },
             ->(v, _) { v.splice(40.times.to_h { |i| [[*["n"] * (v.size / 20), i], View.with_parents(i)] }) }],
    to_msgpack: [PLAIN[:to_msgpack], ->(v, _) { Manypack.pack([v]) }], encode_with: [->(v, _) { v.respond_to?(:encode_with) }],
    "==": [->(v, b) { v == View.new(b.dup, **DEPTH) }, ->(v, _) { v == [] }, ->(v, _) { v == {} }], eql?: [->(v, b) { v.eql?(View.new(b.dup, **DEPTH)) }],
    last: [->(v, _) { v.last(2) rescue nil }], to_hash: [PLAIN[:to_hash]], to_s: [->(v, b) { v.to_s unless DEEP.match?(b) }],
    deconstruct_keys: [->(v, _) { v.deconstruct_keys(nil) }, ->(v, _) { v.deconstruct_keys(%i[a zz]) }],
    respond_to?: [->(v, _) { v.respond_to?(:deconstruct) }], clone: [->(v, _) { v.clone(freeze: true) }],
    codec: [PLAIN[:codec]], freeze: [->(v, _) { v.dup.freeze }], to_json: [->(v, _) { v.to_json(max_nesting: 0) }], as_json: [->(v, _) { v.as_json rescue nil }],
    to_h: [PLAIN[:to_h], ->(v, _) { v.to_h { |e| [e, 1] } }], to_set: [PLAIN[:to_set]], uniq: [PLAIN[:uniq], YIELDING[:uniq]],
    tally: [PLAIN[:tally]], group_by: [YIELDING[:group_by]], zip: [->(v, _) { v.zip(v) }],
    each_slice: [NOTHING[:each_slice, 2]], each_cons: [NOTHING[:each_cons, 2]], each_with_object: [NOTHING[:each_with_object, []]],
    first: [->(v, _) { v.first(3) }], take: [->(v, _) { v.take(3) }], drop: [->(v, _) { v.drop(3) }], cycle: [NOTHING[:cycle, 1]],
    inject: [->(v, _) { v.inject { |a, _| a } }], reduce: [->(v, _) { v.reduce { |a, _| a } }], sum: [->(v, _) { v.sum { 1 } }],
    grep: [->(v, _) { v.grep(View) }], grep_v: [->(v, _) { v.grep_v(View) }], find_index: [->(v, _) { v.find_index(v) }],
    **%i[min_by max_by minmax_by sort_by].to_h { |name| [name, [->(v, _) { v.public_send(name, &:hash) }]] },
    **%i[min max minmax sort].to_h { |name| [name, [->(v, _) { v.public_send(name) { 0 } }]] },
    chain: [->(v, _) { v.chain(v).to_a }], lazy: [->(v, _) { v.lazy.map(&:itself).to_a }], chunk: [->(v, _) { v.chunk { 1 }.to_a }],
    **%i[slice_before slice_after].to_h { |name| [name, [->(v, _) { v.public_send(name) { true }.to_a }]] },
    **%i[chunk_while slice_when].to_h { |name| [name, [->(v, _) { v.public_send(name) { true }.to_a }]] },
    **%i[each each_pair each_entry each_with_index reverse_each map flat_map collect collect_concat select filter filter_map reject
         partition find find_all detect take_while drop_while].to_h { |name| [name, [NOTHING[name]]] },
    **%i[all? any? none? one? count size length empty? type value bytes bytesize canonical? offset hash dup detach inspect keys values
         to_ary to_a entries deconstruct compact].to_h { |name| [name, [PLAIN[name]]] }
  }.freeze

  LAZY = {
    "[]": [->(l, _) { l[:v] }], deconstruct_keys: [->(l, _) { l.deconstruct_keys(nil) }, ->(l, _) { l.deconstruct_keys([:a]) }],
    "==": [->(l, b) { l == RECORD.lazy.load(b.dup) }], to_msgpack: [PLAIN[:to_msgpack]],
    to_json: [->(l, _) { l.to_json(max_nesting: 0) }], as_json: [->(l, _) { l.as_json rescue nil }],
    inspect: [->(l, b) { l.inspect unless DEEP.match?(b) }], # each level of Ruby's own copies what is inside of it
    eql?: [->(l, b) { l.eql?(RECORD.lazy.load(b.dup)) }], encode_with: [->(l, _) { l.respond_to?(:encode_with) }],
    **%i[to_h load bytes record dup clone hash].to_h { |name| [name, [PLAIN[name]]] }
  }.freeze

  AS_JSON = { bin: :hex, ext: :hex, stringify_keys: true, allow_nan: true, allow_duplicate_key: true, **DEPTH }.freeze

  TYPE = {
    check?: [PLAIN[:check?]], attach: [->(t, _) { t.attach rescue nil }], view: [->(t, b) { t.view(Manypack.unpack(b, **DEPTH)) }],
    load: [->(t, b) { t.load(b) }, ->(t, b) { t.load(b, collect: true) }], valid?: [->(t, b) { t.valid?(b) }],
    dump: [->(t, b) { t.dump(Manypack.unpack(b, **DEPTH)) }, ->(t, b) { t.dump(Manypack.unpack(b, **DEPTH), check: true) }],
    from: [->(t, b) { t.from(Manypack.unpack(b, **DEPTH), **DEPTH) }, ->(t, b) { t.from(Manypack.unpack(b, **DEPTH), lax: true, collect: true) }],
    to_h: [->(t, b) { t.to_h(Manypack.unpack(b, **DEPTH)) rescue nil }],
    load_json: [->(t, b) { t.load_json(Manypack.to_json(b, **AS_JSON), **DEPTH) rescue nil }],
    load_json_file: [->(t, b) { Tempfile.create { |file| file.write(Manypack.to_json(b, **AS_JSON)) && file.close || t.load_json_file(file.path, **DEPTH) } rescue nil }],
    foreach: [->(t, b) { Tempfile.create("many") { |f| f.tap { |io| io.binmode.write(b) }.flush && t.foreach(f.path).to_a } }],
    foreach_json: [->(t, b) { t.foreach_json(StringIO.new(Manypack.to_json(b, **AS_JSON)), **DEPTH).to_a rescue nil }],
    dump_json: [->(t, b) { t.dump_json(Manypack.unpack(b, **DEPTH), **AS_JSON) rescue nil }],
    "==": [->(t, _) { t == t.with(freeze: true) }], eql?: [->(t, _) { t.eql?(t.with(freeze: true)) }], "===": [->(t, b) { t === Manypack.unpack(b, **DEPTH) }], or: [->(t, _) { t.or(nil) }], check: [->(t, b) { t.check("x") { true }.load(b) }],
    reads?: [->(t, _) { t.reads?(t) }], incompatibilities: [->(t, _) { t.incompatibilities(t) }],
    **%i[with spec codec inspect hash json_schema description to_rbs].to_h { |name| [name, [PLAIN[name]]] }
  }.freeze

  PATHS = [Path.new("$[*].a"), Path.new("$[*][*]"), Path.new("$.a[0]"), Path.new("$[-1].zz"), Path.of(*["a"] * 300), Path.new("$..a"), Path.new("$..[?@.a==1]"), Path.new("$..a..b"),
           Path.new("$..[0,-1]"), Path.new("$..*[::-1]")].freeze
  PATH = {
    each: [->(p, b) { p.each(b, **DEPTH) { nil } }, ->(p, b) { p.each(StringIO.new(b), **DEPTH) { nil } }],
    first: [->(p, b) { p.first(b, **DEPTH) }, ->(p, b) { p.first(b, duplicate_keys: :last, **DEPTH) }],
    to_a: [->(p, b) { p.to_a(b, **DEPTH) }, ->(p, b) { p.to_a(b, freeze: true, **DEPTH) }],
    count: [->(p, b) { p.count(b, **DEPTH) }], any?: [->(p, b) { p.any?(b, **DEPTH) }],
    # The places of all that .. finds are as long together as a message is large and deep.
    **%i[paths each_with_path].to_h { |name| [name, [->(p, b) { p.public_send(name, b, **DEPTH).to_a unless p.to_s.include?("..") }]] },
    "==": [->(p, _) { p == PATHS[0] }], eql?: [->(p, _) { p.eql?(PATHS[0]) }],
    encode_with: [->(p, _) { p.respond_to?(:encode_with) }],
    **%i[steps max_looks all? to_s inspect hash].to_h { |name| [name, [PLAIN[name]]] }
  }.freeze

  # For each class its probes, and the objects that they are called on for a message.
  CLASSES = {
    View => [VIEW, ->(bytes) { OPTIONS.map { |options| View.new(bytes, **DEPTH, **options) rescue nil } }],
    Manypack::LazyRecord => [LAZY, ->(bytes) { [RECORD.lazy, RECORD.lazy.with(freeze: true)].map { |record| record.load(bytes) rescue nil } }],
    Type => [TYPE, ->(_) { [ANY, VIEWS, VIEWS.with(freeze: true), Type[{ String => Object }].with(**DEPTH), RECORD, Type[[RECORD]].with(**DEPTH)] }],
    Path => [PATH, ->(_) { PATHS }]
  }.freeze

  # The methods that a class defines or has from Enumerable.
  def self.methods_of(klass)
    own = klass.public_instance_methods(false)
    own |= Enumerable.public_instance_methods.select { |name| klass.public_instance_method(name).owner == Enumerable } if klass.include?(Enumerable)
    own.grep_v(/\A__/)
  end

  def test_every_public_method_has_a_probe
    CLASSES.each { |klass, (probes, _)| assert_empty self.class.methods_of(klass) - probes.keys, klass }
  end

  CLASSES.each do |klass, (probes, objects)|
    (probes.keys & methods_of(klass)).each do |name|
      define_method("test_#{klass.name[/\w+\z/]}_#{name}_takes_linear_time") do
        SHAPES.each do |shape, message|
          small, large = [SIZE, SIZE * 8].map { |size| message.call(wrapped?(klass) ? size / 2 : size) }.map { |bytes| wrapped?(klass) ? wrap(bytes) : bytes }
          probes[name].each_with_index do |probe, i|
            objects.call(small).each_index { |which| assert_linear_probe("#{name} #{i} of #{which}, #{shape}", probe, objects, which, small, large) }
          end
        end
      end
    end
  end

  # What a program writes grows, too: types of n members, Records, tags, literals, names and levels.
  NAMES = ->(n) { Array.new(n) { |i| :"m#{i}" } }
  RECORD_OF = ->(types) { Manypack::Record.new(Struct.new(*types.keys), **types) }
  SCHEMAS = {
    members: ->(n) { RECORD_OF.call(NAMES.call(n).to_h { |name| [name, Integer] }) },
    defaults: ->(n) { RECORD_OF.call(NAMES.call(n).to_h { |name| [name, Integer] }).with(defaults: NAMES.call(n).to_h { |name| [name, 1] }) },
    aliases: ->(n) { RECORD_OF.call(NAMES.call(n).to_h { |name| [name, Integer] }).with(keys: NAMES.call(n).to_h { |name| [name, [name.name, "#{name}x"]] }) },
    elements: ->(n) { RECORD_OF.call(NAMES.call(n).to_h { |name| [name, Integer] }).array },
    records: ->(n) { RECORD_OF.call(NAMES.call(n).to_h { |name| [name, RECORD_OF.call({ name => Integer })] }) },
    equal_records: ->(n) { RECORD_OF.call(NAMES.call(n).to_h { |name| [name, RECORD_OF.call({ a: Integer })] }) },
    itself: ->(n) { RECORD_OF.call(NAMES.call(n).to_h { |name| [name, Type[:self, nil]] }) },
    tags: ->(n) { Manypack::Record.union("type", NAMES.call(n).to_h { |name| [name, RECORD_OF.call({ name => Integer })] }) },
    literals: ->(n) { Type[NAMES.call(n)] },
    chain: ->(n) { NAMES.call(n).inject(Integer) { |type, name| RECORD_OF.call({ name => type }) } }
  }.freeze

  SCHEMAS.each do |name, type|
    define_method("test_json_schema_of_#{name}_takes_linear_time") do
      small, large = type.call(50), type.call(400)
      assert_linear_seconds("of the JSON Schema of #{name}, eight times, and of eight times as many,",
                            -> { without_collection { cpu_seconds { 8.times { small.json_schema } } } },
                            -> { without_collection { cpu_seconds { large.json_schema } } })
    end
  end

  SCHEMAS.each do |name, type|
    define_method("test_whether_#{name}_can_be_read_takes_linear_time_to_find_out") do
      small, large = [50, 400].map { |n| Array.new(2) { type.call(n) } }
      assert_linear_seconds("to compare #{name} with themselves, eight times, and of eight times as many,",
                            -> { without_collection { cpu_seconds { 8.times { small[0].reads?(small[1]) } } } },
                            -> { without_collection { cpu_seconds { large[0].reads?(large[1]) } } })
    end
  end

  private

  # A LazyRecord is a map, with the message in two of its fields.
  def wrapped?(klass) = klass == Manypack::LazyRecord

  def wrap(bytes) = "\x82\xA1a".b + bytes + "\xA1v".b + bytes

  def assert_linear_probe(what, probe, objects, which, small, large)
    return pass if seconds_of(probe, [objects.call(large)[which]], large) < NO_MATTER

    assert_linear_seconds("of #{what}, for a message eight times, and one eight times as large,",
                          -> { without_collection { seconds_of(probe, Array.new(8) { objects.call(small)[which] }, small) } },
                          -> { without_collection { seconds_of(probe, [objects.call(large)[which]], large) } })
  end

  # A refusal has to take linear time, too.
  def seconds_of(probe, objects, bytes)
    cpu_seconds { objects.each { |object| taken_or_refused(probe, object, bytes) if object } }
  end

  def taken_or_refused(probe, object, bytes)
    probe.call(object, bytes)
  rescue NoMethodError
    raise # there is no such method, and nothing took time
  rescue StandardError
    nil
  end
end

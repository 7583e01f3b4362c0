# frozen_string_literal: true

# Each option at each front: it has its effect there, or the front refuses it. The options come from the table of the
# extension, so a new one fails here until it has a probe.
require "test_helper"
require "support/program"
require "support/public_methods"
require_relative "option_probes"

class MatrixTest < Minitest::Test
  include OptionProbes
  extend OptionProbes
  include ProgramHelper

  ARGUMENTS = Manypack.module_eval("Arguments")
  UNPACKING = ARGUMENTS::UNPACKING_OPTIONS
  PACKING = ARGUMENTS::PACKING_OPTIONS
  FROM_JSON = ARGUMENTS::FROM_JSON_OPTIONS
  TO_JSON = ARGUMENTS::TO_JSON_OPTIONS

  # For each option of packing a value, and an object to which it makes a difference.
  PACKED = { timestamp: [true, Time.at(1)], max_depth: [1, [[1]]], compatibility_mode: [true, "a" * 40],
             canonical: [true, { "b" => 1, "a" => 2 }], default: [->(object) { [object.class.name] }, Object.new] }.freeze

  PATH = Manypack::Path.new("$.k")

  # Calls that decode a message. The last argument is options.
  DECODING = {
    "unpack" => ->(bytes, **o) { Manypack.unpack(bytes, **o) },
    "unpack of an io" => ->(bytes, **o) { Manypack.unpack(StringIO.new(bytes), **o) },
    "load" => ->(bytes, **o) { Manypack.load(bytes, **o) },
    "Unpacker.new" => ->(bytes, **o) { Manypack::Unpacker.new(**o).feed(bytes).read },
    "Unpacker.new of an io" => ->(bytes, **o) { Manypack::Unpacker.new(StringIO.new(bytes), **o).read },
    "Unpacker.new as: :view" => ->(bytes, **o) { Manypack::Unpacker.new(as: :view, **o).feed(bytes).read["k"] },
    "Codec.new" => ->(bytes, **o) { Manypack::Codec.new(**o).unpack(bytes) },
    "Codec#unpack" => ->(bytes, **o) { CODEC.unpack(bytes, **o) },
    "Codec#load" => ->(bytes, **o) { CODEC.load(bytes, **o) },
    "Codec#with" => ->(bytes, **o) { CODEC.with(**o).unpack(bytes) },
    "Codec#view of a Codec#with" => ->(bytes, **o) { CODEC.with(**o).view(bytes).value },
    "Codec#view" => ->(bytes, **o) { CODEC.view(bytes, **o).value },
    "Codec#unpacker" => ->(bytes, **o) { CODEC.unpacker(o).feed(bytes).read },
    "Factory#load" => ->(bytes, **o) { Manypack::Factory.new.load(bytes, **o) },
    "Factory#codec" => ->(bytes, **o) { Manypack::Factory.new.codec(**o).unpack(bytes) },
    "Factory#unpacker" => ->(bytes, **o) { Manypack::Factory.new.unpacker(o).feed(bytes).read },
    "Factory#pool" => ->(bytes, **o) { Manypack::Factory.new.pool(1, **o).load(bytes) },
    "View.new" => ->(bytes, **o) { Manypack::View.new(bytes, **o).value },
    "dig" => ->(bytes, **o) { whole(Manypack.dig(bytes, "k", **o) || Manypack.dig(bytes, :k, **o)) },
    "Path#first" => ->(bytes, **o) { whole(PATH.first(bytes, **o)) },
    "Path#to_a of an io" => ->(bytes, **o) { PATH.to_a(StringIO.new(bytes), **o).map { |part| whole(part) }.first },
    "Path#each" => ->(bytes, **o) { PATH.each(bytes, **o).map { |part| whole(part) }.first },
    "Path#each_with_path" => ->(bytes, **o) { PATH.each_with_path(bytes, **o).map { |part, _| whole(part) }.first },
    "Path#paths" => ->(bytes, **o) { seeing { |path| path.paths(bytes, **o) } },
    "Path#count" => ->(bytes, **o) { seeing { |path| path.count(bytes, **o) } },
    "Path#any?" => ->(bytes, **o) { seeing { |path| path.any?(bytes, **o) } },
    "Path::All#read" => ->(bytes, **o) { whole(Manypack::Path.all(k: PATH).read(bytes, **o)[:k].first) },
    "View#value" => ->(bytes, **o) { Manypack::View.new(bytes).value(**o) },
    "View#to_h" => ->(bytes, **o) { Manypack::View.new(bytes).to_h(**o) },
    "View#to_a" => ->(bytes, **o) { Manypack::View.new(bytes).to_a(**o).to_h { |key, part| [key, whole(part)] } },
    "Factory#unpack" => ->(bytes, **o) { Manypack::Factory.new.unpack(bytes, **o) },
    "Codec#foreach" => ->(bytes, codec: CODEC, **o) { in_file(bytes) { |path| codec.foreach(path, **o).first } },
    "Unpacker.open" => ->(bytes, **o) { in_file(bytes) { |path| Manypack::Unpacker.open(path, **o, &:read) } },
    "split as: :view" => ->(bytes, **o) { Manypack.split(bytes, as: :view, **o).first["k"] },
    "foreach" => ->(bytes, **o) { in_file(bytes) { |path| Manypack.foreach(path, **o).first } },
    "load_file" => ->(bytes, **o) { in_file(bytes) { |path| Manypack.load_file(path, **o) } },
    "Type#foreach" => ->(bytes, **o) { in_file(bytes) { |path| ANY.foreach(path, **o).first } },
    "Type#with" => ->(bytes, **o) { ANY.with(**o).load(bytes) },
    "Type#load" => ->(bytes, **o) { ANY.load(bytes, **o) },
    "Type#valid?" => ->(bytes, **o) { [ANY.valid?(bytes, **o), ANY.load(bytes, **o)].last },
    "Type#load of a Record" => ->(bytes, **o) { HELD.load(bytes, **o).k },
    "Record#with" => ->(bytes, **o) { HELD.with(**o).load(bytes).k },
    "Parallel.map" => ->(bytes, **o) { Manypack::Parallel.map(bytes, ractors: 0, **o, &:itself).first },
    "Parallel.each" => ->(bytes, **o) { Manypack::Parallel.each(bytes, **o).first },
    "Parallel.filter" => ->(bytes, **o) { Manypack::Parallel.filter(bytes, $filtered = StringIO.new("".b), ractors: 0, **o) { |object| described(object) } && $filtered.string }
  }.freeze

  # Fronts of decoding that also pack, or make something that does.
  BOTH = ["Codec.new", "Codec#with", "Codec#view of a Codec#with", "Factory#codec", "Factory#pool", "Type#with", "Record#with", "Parallel.filter"].freeze

  ENCODING = {
    "pack" => ->(object, **o) { Manypack.pack(object, **o) },
    "dump" => ->(object, **o) { Manypack.dump(object, **o) },
    "pack to an io" => ->(object, **o) { StringIO.new("".b).tap { |io| Manypack.pack(object, io, **o) }.string },
    "Packer.new" => ->(object, **o) { Manypack::Packer.new(**o).write(object).to_s },
    "Packer.open" => ->(object, **o) { in_file("") { |path| Manypack::Packer.open(path, **o) { |packer| packer.write(object) } && File.binread(path) } },
    "dump_file" => ->(object, **o) { in_file("") { |path| Manypack.dump_file(object, path, **o) || File.binread(path) } },
    "Codec.new" => ->(object, **o) { Manypack::Codec.new(**o).pack(object) },
    "Codec#with" => ->(object, **o) { CODEC.with(**o).pack(object) },
    "Factory#codec" => ->(object, **o) { Manypack::Factory.new.codec(**o).pack(object) },
    "Factory#pack" => ->(object, **o) { Manypack::Factory.new.pack(object, **o) },
    "Codec#pack" => ->(object, **o) { CODEC.pack(object, **o) },
    "Codec#dump" => ->(object, **o) { CODEC.dump(object, **o) },
    "Codec#packer" => ->(object, **o) { CODEC.packer(o).write(object).to_s },
    "Factory#dump" => ->(object, **o) { Manypack::Factory.new.dump(object, **o) },
    "Factory#packer" => ->(object, **o) { Manypack::Factory.new.packer(o).write(object).to_s },
    "Factory#pool" => ->(object, **o) { Manypack::Factory.new.pool(1, **o).dump(object) },
    "Type#with" => ->(object, **o) { ANY.with(**o).dump(object) },
    "Type#dump" => ->(object, **o) { ANY.dump(object, **o) },
    "Type#dump of a Record" => ->(object, **o) { HELD.dump(Held.new(object), **o) },
    "Record#with" => ->(object, **o) { HELD.with(**o).dump(Held.new(object)) }
  }.freeze

  # For each option of reading JSON a value, and a text to which it makes a difference.
  TEXTS = { allow_nan: [true, "[NaN]"], allow_duplicate_key: [true, '{"a":1,"a":2}'], max_depth: [1, "[[1]]"], max_bytes: [2, "[1]"],
            max_objects: [3, "[1,2,3]"], max_map_size: [1, '{"a":1,"b":2}'], max_array_size: [1, "[1,2]"], max_string_bytes: [1, '"é"'],
            max_ext_bytes: [8, (2**70).to_s], untrusted: [true, "[" * 40 + "1" + "]" * 40], compatibility_mode: [true, "\"#{"x" * 40}\""],
            canonical: [true, '{"b":1,"a":2}'] }.freeze

  BIGNUMS = Manypack::Factory.new.tap { |factory| factory.register_common(:bigint) }

  READING_JSON = {
    "from_json" => ->(text, codec: BIGNUMS.codec, **o) { Manypack.from_json(text, codec: codec, **o) },
    "from_json of an io" => ->(text, codec: BIGNUMS.codec, **o) { Manypack.from_json(StringIO.new(text), codec: codec, **o) },
    "foreach_json" => ->(text, codec: BIGNUMS.codec, **o) { Manypack.foreach_json(StringIO.new(text), codec: codec, **o).first },
    "Codec#from_json" => ->(text, **o) { BIGNUMS.codec.from_json(text, **o) },
    "Codec#foreach_json" => ->(text, **o) { BIGNUMS.codec.foreach_json(StringIO.new(text), **o).first },
    "Codec#with" => ->(text, **o) { BIGNUMS.codec.with(**o).from_json(text) },
    "Factory#codec" => ->(text, **o) { BIGNUMS.codec(**o).from_json(text) },
    "Factory#from_json" => ->(text, **o) { BIGNUMS.from_json(text, **o) },
    "Factory#foreach_json" => ->(text, **o) { BIGNUMS.foreach_json(StringIO.new(text), **o).first }
  }.freeze

  # For each option of writing JSON a value, and an object to whose text it makes a difference.
  JSONS = { allow_nan: [true, Float::NAN], allow_duplicate_key: [true, "\x82\xA1a\x01\xA1a\x02"], max_depth: [1, [[1]]], max_bytes: [2, [1, 2]],
            max_objects: [3, [1, 2, 3]], max_map_size: [1, { "a" => 1, "b" => 2 }], max_array_size: [1, [1, 2]], max_string_bytes: [1, "é"],
            max_ext_bytes: [8, Manypack::Timestamp.new(-1, 0)], untrusted: [true, Array.new(40).inject(1) { |inner, _| [inner] }],
            timestamp: [true, Manypack::Timestamp.new(1, 0)], ascii_only: [true, "é"], script_safe: [true, "/"], pretty: [true, [1]],
            stringify_keys: [true, { 1 => 2 }], bin: [:hex, "a".b], ext: [:base64, Manypack::ExtensionValue.new(1, "a")] }.freeze

  WRITING_JSON = {
    "to_json" => ->(bytes, **o) { Manypack.to_json(bytes, **o) },
    "to_json of an io" => ->(bytes, **o) { Manypack.to_json(StringIO.new(bytes), **o) },
    "to_json to an io" => ->(bytes, **o) { StringIO.new.tap { |out| Manypack.to_json(StringIO.new(bytes), out, **o) }.string },
    "Codec#to_json" => ->(bytes, **o) { Manypack::Codec.new.to_json(bytes, **o) },
    "Codec#with" => ->(bytes, **o) { Manypack::Codec.new.with(**o).to_json(bytes) },
    "Factory#to_json" => ->(bytes, **o) { Manypack::Factory.new.to_json(bytes, **o) }
  }.freeze

  # Public methods with optional arguments that take none of these options, and a call of each, which says so.
  REFUSING = {
    "Unpacker#each" => ->(**o) { Manypack::Unpacker.new.each(**o) { nil } },
    "Type.[]" => ->(**o) { Manypack::Type[Object, **o] },
    "Type.new" => ->(**o) { Manypack::Type.new([:any], **o) }, "Buffer#read" => ->(**o) { Manypack::Buffer.new.read(1, **o) },
    "Buffer#read_all" => ->(**o) { Manypack::Buffer.new.read_all(0, **o) }, "Buffer.new" => ->(**o) { Manypack::Buffer.new(**o) },
    "LazyRecord#clone" => ->(**o) { HELD.lazy.load("\x81\xA1k\x01").clone(**o) }, "View#clone" => ->(**o) { Manypack::View.new("\x90").clone(**o) },
    "View#dig" => ->(**o) { Manypack::View.new("\x80").dig("a", **o) }, "Record.union" => ->(**o) { Manypack::Record.union("t", **o) },
    "Factory#register_type" => ->(**o) { Manypack::Factory.new.register_type(1, Held, packer: :to_s, unpacker: nil, **o) },
    "Record.new" => ->(**o) { Manypack::Record.new(Held, k: Object, **o) }, "Factory.new" => ->(**o) { Manypack::Factory.new(**o) },
    "Factory::Pool.new" => ->(**o) { Manypack::Factory::Pool.new(CODEC, **o) }, "Factory::Pool#load" => ->(**o) { Manypack::Factory.new.pool.load("\x80", **o) }, "Timestamp.new" => ->(**o) { Manypack::Timestamp.new(1, 2, **o) },
    "View#as" => ->(**o) { Manypack::View.new("\x80").as(HELD, **o) },
    "Path.new" => ->(**o) { Manypack::Path.new("$", **o) }, "Path::All.new" => ->(**o) { Manypack::Path::All.new({}, **o) },
    "Path::Function.new" => ->(**o) { Manypack::Path::Function.new(**o) { nil } }
  }.freeze

  # Methods whose keywords are members, whatever their names, a method that Ruby itself calls, and Type#from, which takes
  # no bytes: record_from_test.rb has its options.
  NO_OPTIONS = ["Type#from", "Type.via", "Incompatibility.new", "Record.define", "Record.ivars", "Parallel::Error#detailed_message", "View#respond_to?", "View#values_at"].freeze

  # Fronts that take a Codec beside the options; a Codec, a Factory and its Pool have one.
  def self.taking_a_codec(fronts)
    fronts.reject { |name, _| name.match?(/\A(?:Codec|Factory)/) }
  end

  def test_every_option_has_a_probe
    assert_equal UNPACKING.sort, PROBES.keys.sort
    assert_equal PACKING.sort, PACKED.keys.sort
    assert_equal FROM_JSON.sort, TEXTS.keys.sort
    assert_equal TO_JSON.sort, JSONS.keys.sort
    assert_equal ARGUMENTS::CODEC_OPTIONS.sort, (UNPACKING | PACKING | FROM_JSON | TO_JSON).sort
  end

  # A method that may take options: its last argument is optional, or one of its keywords is.
  def self.takes_options?(method)
    return method.arity.negative? unless method.source_location

    method.arity.negative? && method.parameters.any? { |kind, name| kind.start_with?("key") || name == :options }
  end

  def test_every_public_method_with_options_has_a_row
    names = PublicMethods.without_integrations.values_at(:methods, :constructors).flatten.uniq
    taking = names.select do |name|
      owner, separator, method = name.rpartition(/[#.](?!.*[#.])/)
      owner = Object.const_get(owner)
      self.class.takes_options?(separator == "#" ? owner.instance_method(method) : owner.method(method))
    end
    rows = [*DECODING.keys, *ENCODING.keys, *READING_JSON.keys, *WRITING_JSON.keys, *LOADING_JSON.keys, *DUMPING_JSON.keys].map { |name| name[/\A[^ ]+/] } + REFUSING.keys + NO_OPTIONS
    rows = rows.map { |name| name.match?(/\A[a-z]/) ? "Manypack.#{name}" : "Manypack::#{name}" }.uniq
    assert_equal taking.sort, (rows).sort
  end

  READING_JSON.each do |name, front|
    define_method("test_#{name}_takes_every_option_of_reading_json_and_no_other") do
      TEXTS.each { |option, (value, text)| refute_equal outcome(front, text), outcome(front, text, option => value), option }
      next if name.match?(/with|#codec/) # a Codec takes all

      (ARGUMENTS::CODEC_OPTIONS - FROM_JSON).each do |option|
        error = assert_raises(ArgumentError, option.to_s) { front.call("[1]", option => PROBES[option]&.first || true) }
        assert_match(/\A#{option} has no effect on from_json: it is an option of Manypack\.\w+ and of a Codec\z/, error.message)
      end
    end
  end

  WRITING_JSON.each do |name, front|
    define_method("test_#{name}_takes_every_option_of_writing_json_and_no_other") do
      JSONS.each do |option, (value, object)|
        bytes = option == :allow_duplicate_key ? object.b : Manypack.pack(object, timestamp: true)
        others = option == :max_ext_bytes ? { timestamp: true } : {}
        refute_equal outcome(front, bytes, **others), outcome(front, bytes, option => value, **others), option
      end
      next if name.match?(/with/) # a Codec takes all

      (ARGUMENTS::CODEC_OPTIONS - TO_JSON).each do |option|
        error = assert_raises(ArgumentError, option.to_s) { front.call("\x91\x01".b, option => PROBES[option]&.first || true) }
        assert_match(/\A#{option} has no effect on to_json: it is an option of Manypack\.\w+ and of a Codec\z/, error.message)
      end
    end
  end

  # A Type loads a text, and writes one, by way of bytes: it takes the options of both steps that the result can show.
  OF_NUMBERS = ANY.with(codec: BIGNUMS.codec)
  LOADING_JSON = {
    "Type#load_json" => ->(text, **o) { OF_NUMBERS.load_json(text, **o) },
    "Type#load_json_file" => ->(text, **o) { in_file(text) { |path| OF_NUMBERS.load_json_file(path, **o) } },
    "Type#foreach_json" => ->(text, **o) { OF_NUMBERS.foreach_json(StringIO.new(text), **o).first }
  }.freeze
  DUMPING_JSON = { "Type#dump_json" => ->(object, **o) { ANY.dump_json(object, timestamp: true, **o) } }.freeze

  LOADING_JSON.each do |name, front|
    define_method("test_#{name}_takes_options_of_reading_json_and_of_loading_and_no_other") do
      taken = TEXTS.except(:canonical, :compatibility_mode)
      taken.merge(symbolize_keys: [true, '{"a":1}']).each do |option, (value, text)|
        refute_equal outcome(front, text), outcome(front, text, option => value), option
      end
      assert_predicate front.call('["a"]', freeze: true), :frozen?
      (ARGUMENTS::CODEC_OPTIONS - taken.keys - UNPACKING).each do |option|
        error = assert_raises(ArgumentError, option.to_s) { front.call("[1]", option => PROBES[option]&.first || true) }
        assert_match(/\A#{option} has no effect on (?:fore|lo)ad?\w*_json: /, error.message)
      end
    end
  end

  DUMPING_JSON.each do |name, front|
    define_method("test_#{name}_takes_options_of_writing_json_and_no_other") do
      JSONS.except(:allow_duplicate_key, :timestamp).each do |option, (value, object)|
        refute_equal outcome(front, object), outcome(front, object, option => value), option
      end
      (ARGUMENTS::CODEC_OPTIONS - TO_JSON - PACKING).each do |option|
        error = assert_raises(ArgumentError, option.to_s) { front.call([1], option => PROBES[option]&.first || true) }
        assert_match(/\A#{option} has no effect on dump_json: /, error.message)
      end
    end
  end

  REFUSING.each do |name, call|
    define_method("test_#{name}_refuses_options_that_it_does_not_have") do
      (ARGUMENTS::CODEC_OPTIONS - (name.end_with?("clone") ? [:freeze] : [])).each do |option|
        assert_raises(ArgumentError, TypeError, option.to_s) { call.call(option => PROBES[option]&.first || true) }
      end
    end
  end

  # Loads a message as its bytes.
  Bytes = Module.new { def self.load(bytes) = bytes }

  # Fronts that take an object with `load`, which the options of what is built cannot reach, and all that takes a Codec.
  LOADING = {
    "unpack" => ->(bytes, **o) { Manypack.unpack(bytes, **o) },
    "unpack of an io" => ->(bytes, **o) { Manypack.unpack(StringIO.new(bytes), **o) },
    "Unpacker.new" => ->(bytes, **o) { Manypack::Unpacker.new(**o).feed(bytes).read },
    "Unpacker.open" => ->(bytes, **o) { in_file(bytes) { |path| Manypack::Unpacker.open(path, **o, &:read) } },
    "split" => ->(bytes, **o) { Manypack.split(bytes, **o).first },
    "foreach" => ->(bytes, **o) { in_file(bytes) { |path| Manypack.foreach(path, **o).first } },
    "load_file" => ->(bytes, **o) { in_file(bytes) { |path| Manypack.load_file(path, **o) } },
    "Parallel.map" => ->(bytes, **o) { Manypack::Parallel.map(bytes, ractors: 0, **o, &:itself).first },
    "Parallel.each" => ->(bytes, **o) { Manypack::Parallel.each(bytes, **o, ractors: 0).first },
    "Codec#unpack" => ->(bytes, codec: CODEC, **o) { codec.unpack(bytes, **o) },
    "Codec#unpacker" => ->(bytes, codec: CODEC, **o) { codec.unpacker(o).feed(bytes).read },
    "Codec#foreach" => ->(bytes, codec: CODEC, **o) { in_file(bytes) { |path| codec.foreach(path, **o).first } }
  }.freeze

  LOADING.each do |name, front|
    define_method("test_options_reach_the_bytes_that_something_else_loads_or_are_refused_by_#{name}") do
      PROBES.each do |option, (value, bytes)|
        [{}, { codec: CODEC }].each do |codec|
          assert_equal bytes, front.call(bytes, as: Bytes, **codec)
          error = assert_raises(ArgumentError, Manypack::DecodeError, option.to_s) { front.call(bytes, as: Bytes, **codec, option => value) }
          next unless error.is_a?(ArgumentError)

          assert_equal "#{option} has no effect on what #{Bytes.inspect} loads: it is an option of Manypack.unpack, and of as: :view", error.message
        end
      end
    end
  end

  DECODING.each do |name, front|
    define_method("test_every_option_of_unpacking_has_its_effect_on_#{name}") do
      PROBES.each do |option, (value, bytes)|
        refute_equal outcome(front, bytes), outcome(front, bytes, option => value), option
      end
    end

    define_method("test_options_of_packing_are_refused_by_#{name}") do
      (PACKING - UNPACKING).each do |option|
        given = { option => PACKED.fetch(option)[0] }
        next assert(front.call(PROBES[:symbolize_keys][1], **given)) if BOTH.include?(name)

        error = assert_raises(ArgumentError, option.to_s) { front.call(PROBES[:symbolize_keys][1], **given) }
        assert_equal "#{option} has no effect on unpacking: it is an option of Manypack.pack and of a Codec", error.message
      end
    end
  end

  ENCODING.each do |name, front|
    define_method("test_every_option_of_packing_has_its_effect_on_#{name}") do
      PACKED.each do |option, (value, object)|
        refute_equal outcome(front, object), outcome(front, object, option => value), option
      end
    end

    define_method("test_options_of_unpacking_are_refused_by_#{name}") do
      (UNPACKING - PACKING).each do |option|
        value = PROBES[option][0]
        next assert(front.call(1, option => value)) if BOTH.include?(name)

        error = assert_raises(ArgumentError, option.to_s) { front.call(1, option => value) }
        assert_equal "#{option} has no effect on packing: it is an option of Manypack.unpack and of a Codec", error.message
      end
    end
  end

  taking_a_codec(DECODING).each do |name, front|
    define_method("test_#{name}_takes_a_codec_and_options_beside_it") do
      assert_same_outcomes(PROBES, front)
      bytes = PROBES[:symbolize_keys][1]
      codec = Manypack::Codec.new(symbolize_keys: true, max_bytes: 2)
      assert_equal outcome(front, bytes, symbolize_keys: true), outcome(front, bytes, codec: codec, max_bytes: 100)
      assert_equal outcome(front, bytes, symbolize_keys: true), outcome(front, bytes, max_bytes: 100, codec: codec)
      assert_equal outcome(front, bytes), outcome(front, bytes, codec: nil)
      assert_raises(TypeError) { front.call(bytes, codec: 5) }
    end
  end

  taking_a_codec(ENCODING).each do |name, front|
    define_method("test_#{name}_takes_a_codec_and_options_beside_it_for_packing") do
      assert_same_outcomes(PACKED, front)
      assert_equal outcome(front, 1), outcome(front, 1, codec: nil)
      assert_raises(TypeError) { front.call(1, codec: 5) }
    end
  end

  STREAMS.merge(SINGLE).each do |name, front|
    LOADERS.each do |loader, as|
      define_method("test_every_option_holds_for_#{loader}_that_#{name}_loads") do
        PROBES.each do |option, (value, bytes)|
          expected = outcome(->(message) { as.is_a?(Class) ? as.record.with(option => value).load(message) : as.with(option => value).load(message) }, bytes)
          assert_equal without_place(expected), without_place(outcome(front, bytes, as: as, option => value)), option
          next if name == "Codec#unpacker"

          assert_equal without_place(expected), without_place(outcome(front, bytes, as: as, codec: Manypack::Codec.new(option => value))), option
        end
      end
    end
  end

  def test_a_class_that_has_a_record_is_a_type_everywhere
    bytes = Manypack.pack({ "k" => 1 })
    assert_equal Event.new(k: 1), Manypack::View.new(bytes).as(Event)
    assert_equal [Event.new(k: 1)], Manypack::Type[[Event]].load(Manypack.pack([{ "k" => 1 }]))
    assert_raises(TypeError) { Manypack::View.new(bytes).as(String) }
  end

  def test_what_is_no_type_takes_limits_only
    loader = Object.new
    def loader.load(bytes) = bytes.bytesize
    assert_equal [2], Manypack.split("\x91\x01", as: loader, max_bytes: 5).to_a
    assert_raises(Manypack::LimitError) { Manypack.split("\x91\x01", as: loader, max_bytes: 1).to_a }
    assert_raises(ArgumentError) { Manypack.split("\x91\x01", as: loader, freeze: true).to_a }
  end

  def test_split_into_bytes_takes_limits_and_refuses_the_rest
    PROBES.each do |option, (value, bytes)|
      split = ->(message, **o) { Manypack.split(message, **o).to_a }
      if option.match?(/max|untrusted/)
        refute_equal outcome(split, bytes), outcome(split, bytes, option => value), option
      else
        assert_match(/has no effect on bytes/, assert_raises(ArgumentError) { split.call(bytes, option => value) }.message)
      end
    end
  end

  def test_what_checks_what_it_dumps_takes_options_of_unpacking
    assert_raises(Manypack::LimitError) { ANY.dump([1], check: true, max_bytes: 1) }
    assert_raises(Manypack::LimitError) { HELD.with(check: true).dump(Held.new([1]), max_bytes: 1) }
    assert_raises(ArgumentError) { HELD.with(check: true).dump(Held.new([1]), check: false, max_bytes: 1) }
    error = assert_raises(ArgumentError) { ANY.load("\x01", check: true) }
    assert_equal "check has no effect on unpacking: it is an option of Type#dump and Type#with", error.message
  end

  # A flag that is neither true nor false is a mistake: it would mean true.
  def test_flags_are_true_or_false
    ARGUMENTS::CODEC_OPTIONS.each do |option|
      [:foo, 5, "false", []].each do |value|
        next if value == 5 && option.match?(/max/)

        assert_raises(ArgumentError, TypeError, "#{option}: #{value.inspect}") { Manypack::Codec.new(option => value) }
      end
      assert Manypack::Codec.new(option => nil)
    end
    assert_equal "timestamp must be true or false, got :foo", assert_raises(ArgumentError) { Manypack::Codec.new(timestamp: :foo) }.message
  end

  # x.with(codec:) loses nothing that was asked for before, and what the Codec says counts.
  def test_a_record_keeps_its_options_when_it_gets_a_codec
    [HELD, ANY].each do |type|
      codec = type.with(untrusted: true, freeze: true).with(codec: Manypack::Codec.new(max_bytes: 5, freeze: false)).codec
      assert_equal({ untrusted: true, max_bytes: 5, freeze: false }, codec.options)
      assert_equal({ max_bytes: 7 }, type.with(codec: Manypack::Codec.new(max_bytes: 5), max_bytes: 7).codec.options)
    end
  end

  def test_options_of_a_codec_make_an_equal_codec
    codec = Manypack::Codec.new(symbolize_keys: true, untrusted: true, max_bytes: 10)
    assert_equal({ symbolize_keys: true, untrusted: true, max_bytes: 10 }, codec.options)
    assert_equal codec, Manypack::Codec.new(**codec.options)
  end

  def test_a_packer_and_an_unpacker_know_the_types_of_the_default_factory
    output = run_program(<<~'RUBY')
      Point = Struct.new(:x)
      Manypack::DefaultFactory.register_type(7, Point, packer: ->(point) { point.x.chr }, unpacker: ->(body) { Point.new(body.ord) })
      print Manypack::Unpacker.new.feed(Manypack::Packer.new.write(Point.new(1)).to_s).read.x
    RUBY
    assert_equal "1", output
  end

  def test_a_hash_in_braces_is_a_key_of_dig
    bytes = Manypack.pack({ { "untrusted" => true } => 1 })
    assert_equal 1, Manypack.dig(bytes, { "untrusted" => true })
    assert_raises(ArgumentError) { Manypack.dig(bytes, untrusted: true) }
  end

  def self.whole(part)
    part.is_a?(Manypack::View) ? part.value : part
  end

  # What a condition sees of the message, and what the path finds.
  def self.seeing
    seen = []
    sees = Manypack::Path::Function.new(:value, returns: :logical) { |part| seen << described(part) }
    [yield(Manypack::Path.new("$[?sees(@)]", functions: { sees: sees })), *seen]
  end

  private

  def assert_same_outcomes(probes, front)
    probes.each do |option, (value, argument)|
      next if option == :canonical && outcome(front, argument, canonical: true).include?("Packer cannot")

      assert_equal outcome(front, argument, option => value), outcome(front, argument, codec: Manypack::Codec.new(option => value)), option
    end
  end
end

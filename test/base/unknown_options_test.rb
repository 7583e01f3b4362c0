# frozen_string_literal: true

# A misspelt option is an error by every method that takes options, in every Ractor; as MessagePack it is ignored.
require "test_helper"
require "stringio"
require "support/program"
require "support/signatures"

class UnknownOptionsTest < Minitest::Test
  include ProgramHelper

  # Ways to call each method with OPTIONS.
  WAYS = {
    "Manypack.pack" => ["Manypack.pack(1, OPTIONS)", "Manypack.pack(1, **OPTIONS)", "Manypack.pack(1, nil, OPTIONS)", "Manypack.pack(1, StringIO.new, **OPTIONS)"],
    "Manypack.dump" => ["Manypack.dump(1, OPTIONS)", "Manypack.dump(1, nil, **OPTIONS)"],
    "Manypack.unpack" => ['Manypack.unpack("\x01", OPTIONS)', 'Manypack.unpack("\x01", **OPTIONS)', 'Manypack.unpack(StringIO.new("\x01"), OPTIONS)'],
    "Manypack.load" => ['Manypack.load("\x01", OPTIONS)', 'Manypack.load("\x01", **OPTIONS)'],
    "Manypack.split" => ['Manypack.split("\x01", **OPTIONS) { nil }', 'Manypack.split("\x01", **OPTIONS).to_a'],
    "Manypack.to_json" => ['Manypack.to_json("\x01", **OPTIONS)', 'Manypack.to_json(StringIO.new("\x01"), **OPTIONS)'],
    "Manypack::Codec#to_json" => ['CODEC.to_json("\x01", **OPTIONS)'],
    "Manypack::Factory#to_json" => ['FACTORY.to_json("\x01", **OPTIONS)'],
    "Manypack.from_json" => ['Manypack.from_json("1", **OPTIONS)', 'Manypack.from_json(StringIO.new("1"), **OPTIONS)'],
    "Manypack.foreach_json" => ["Manypack.foreach_json(File::NULL, **OPTIONS) { nil }", "Manypack.foreach_json(File::NULL, **OPTIONS).to_a"],
    "Manypack::Codec#from_json" => ['CODEC.from_json("1", **OPTIONS)'],
    "Manypack::Codec#foreach_json" => ["CODEC.foreach_json(File::NULL, **OPTIONS) { nil }", "CODEC.foreach_json(File::NULL, **OPTIONS).to_a"],
    "Manypack::Factory#from_json" => ['FACTORY.from_json("1", **OPTIONS)'],
    "Manypack::Factory#foreach_json" => ["FACTORY.foreach_json(File::NULL, **OPTIONS) { nil }", "FACTORY.foreach_json(File::NULL, **OPTIONS).to_a"],
    "Manypack.load_file" => ["Manypack.load_file(File::NULL, **OPTIONS) rescue (raise unless $!.is_a?(EOFError))"],
    "Manypack.foreach" => ["Manypack.foreach(File::NULL, **OPTIONS) { nil }", "Manypack.foreach(File::NULL, **OPTIONS).to_a"],
    "Manypack::Packer.open" => ["Manypack::Packer.open(File::NULL, **OPTIONS) { nil }", "Manypack::Packer.open(File::NULL, append: true, **OPTIONS) { nil }"],
    "Manypack::Packer#initialize" => ["Manypack::Packer.new(OPTIONS)", "Manypack::Packer.new(**OPTIONS)", "Manypack::Packer.new(StringIO.new, OPTIONS)", "Class.new(Manypack::Packer).new(nil, OPTIONS)"],
    "Manypack::Unpacker#initialize" => ["Manypack::Unpacker.new(OPTIONS)", "Manypack::Unpacker.new(**OPTIONS)", "Manypack::Unpacker.new(StringIO.new, OPTIONS)", "Class.new(Manypack::Unpacker).new(nil, OPTIONS)"],
    "Manypack::Buffer#initialize" => ["Manypack::Buffer.new(OPTIONS)", "Manypack::Buffer.new(**OPTIONS)", "Manypack::Buffer.new(StringIO.new, OPTIONS)"],
    "Manypack::Codec.new" => ["Manypack::Codec.new(OPTIONS)", "Manypack::Codec.new(**OPTIONS)"],
    "Manypack::Codec#with" => ["CODEC.with(**OPTIONS)"],
    "Manypack::Codec#pack" => ["CODEC.pack(1, **OPTIONS)", "CODEC.pack(1, StringIO.new, OPTIONS)"],
    "Manypack::Codec#dump" => ["CODEC.dump(1, **OPTIONS)"],
    "Manypack::Codec#unpack" => ['CODEC.unpack("\x01", **OPTIONS)', 'CODEC.unpack(StringIO.new("\x01"), OPTIONS)'],
    "Manypack::Codec#load" => ['CODEC.load("\x01", **OPTIONS)'],
    "Manypack.dig" => ['Manypack.dig("\x81\x01\x02", 1, **OPTIONS)'],
    "Manypack::Codec#packer" => ["CODEC.packer(OPTIONS)", "CODEC.packer(nil, OPTIONS)"],
    "Manypack::Codec#unpacker" => ["CODEC.unpacker(OPTIONS)", "CODEC.unpacker(nil, OPTIONS)"],
    "Manypack::View.new" => ['Manypack::View.new("\x01", **OPTIONS)', 'Manypack::View.new("\x01", check: true, **OPTIONS)'],
    "Manypack.dump_file" => ["Manypack.dump_file(1, File::NULL, **OPTIONS)"],
    "Manypack::Unpacker.open" => ["Manypack::Unpacker.open(File::NULL, **OPTIONS) { nil }"],
    "Manypack::Codec#foreach" => ["CODEC.foreach(File::NULL, **OPTIONS) { nil }", "CODEC.foreach(File::NULL, **OPTIONS).to_a"],
    "Manypack::View#value" => ['Manypack::View.new("\x90").value(**OPTIONS)'],
    "Manypack::View#to_h" => ['Manypack::View.new("\x80").to_h(**OPTIONS)'],
    "Manypack::View#to_a" => ['Manypack::View.new("\x90").to_a(**OPTIONS)'],
    "Manypack::Type#load" => ['Manypack::Type[Integer].load("\x01", **OPTIONS)'],
    "Manypack::Type#dump" => ["Manypack::Type[Integer].dump(1, **OPTIONS)"],
    "Manypack::Type#from" => ["Manypack::Type[Integer].from(1, **OPTIONS)"],
    "Manypack::Type#load_json" => ['Manypack::Type[Integer].load_json("1", **OPTIONS)'],
    "Manypack::Type#load_json_file" => ['(Manypack::Type[Integer].load_json_file(File::NULL, **OPTIONS) rescue $!.respond_to?(:line) || raise)'],
    "Manypack::Type#foreach" => ["Manypack::Type[Integer].foreach(File::NULL, **OPTIONS) { nil }", "Manypack::Type[Integer].foreach(File::NULL, **OPTIONS).to_a"],
    "Manypack::Type#foreach_json" => ["Manypack::Type[Integer].foreach_json(File::NULL, **OPTIONS) { nil }", "Manypack::Type[Integer].foreach_json(File::NULL, **OPTIONS).to_a"],
    "Manypack::Type#dump_json" => ["Manypack::Type[Integer].dump_json(1, **OPTIONS)"],
    "Manypack::Type#valid?" => ['Manypack::Type[Integer].valid?("\x01", **OPTIONS)'],
    "Manypack::Codec#view" => ['CODEC.view("\x01", **OPTIONS)', 'CODEC.view("\x01", check: true, **OPTIONS)'],
    "Manypack::View#to_msgpack" => ['Manypack::View.new("\x01").to_msgpack(**OPTIONS)'],
    "Manypack::LazyRecord#to_msgpack" => ['Manypack::Record.define(id: Integer).record.lazy.load("\x81\xA2id\x01").to_msgpack(**OPTIONS)'],
    "Manypack::Type#with" => ["Manypack::Type[Integer].with(**OPTIONS)"],
    "Manypack::Record#with" => ["Manypack::Record.new(Struct.new(:a), a: Integer).with(**OPTIONS)"],
    "Manypack::Path#each" => ['PATH.each("\x01", **OPTIONS) { nil }', 'PATH.each("\x01", **OPTIONS).to_a'],
    "Manypack::Path#each_with_path" => ['PATH.each_with_path("\x01", **OPTIONS) { nil }', 'PATH.each_with_path("\x01", **OPTIONS).to_a'],
    "Manypack::Path#paths" => ['PATH.paths("\x01", **OPTIONS)'],
    "Manypack::Path#count" => ['PATH.count("\x01", **OPTIONS)'],
    "Manypack::Path#any?" => ['PATH.any?("\x01", **OPTIONS)'],
    "Manypack::Path::All#read" => ['Manypack::Path.all({ a: "$" }).read("\x01", **OPTIONS)'],
    "Manypack::Path#first" => ['PATH.first("\x01", **OPTIONS)'],
    "Manypack::Path#to_a" => ['PATH.to_a("\x01", **OPTIONS)'],
    "Manypack::Factory#codec" => ["FACTORY.codec(OPTIONS)", "FACTORY.codec(**OPTIONS)"],
    "Manypack::Factory#dump" => ["FACTORY.dump(1, OPTIONS)", "FACTORY.dump(1, StringIO.new, OPTIONS)", "Manypack::DefaultFactory.dump(1, OPTIONS)"],
    "Manypack::Factory#pack" => ["FACTORY.pack(1, OPTIONS)", "FACTORY.pack(1, nil, OPTIONS)"],
    "Manypack::Factory#load" => ['FACTORY.load("\x01", OPTIONS)', 'FACTORY.load("\x01", **OPTIONS)', 'Manypack::DefaultFactory.load("\x01", OPTIONS)'],
    "Manypack::Factory#unpack" => ['FACTORY.unpack("\x01", OPTIONS)', 'FACTORY.unpack("\x01", **OPTIONS)'],
    "Manypack::Factory#packer" => ["FACTORY.packer(OPTIONS)", "FACTORY.packer(StringIO.new, OPTIONS)"],
    "Manypack::Factory#unpacker" => ["FACTORY.unpacker(OPTIONS)", "FACTORY.unpacker(StringIO.new, OPTIONS)"],
    "Manypack::Factory#pool" => ["FACTORY.pool(1, **OPTIONS)"],
    "Manypack::Factory#register_type" => ["FACTORY.register_type(1, Range, { packer: :to_s }.merge(OPTIONS))", "FACTORY.register_type(1, Range, packer: :to_s, **OPTIONS)"],
    "Manypack::Parallel.map" => ['Manypack::Parallel.map("\x01", ractors: 0, **OPTIONS) { |n| n }', 'Manypack::Parallel.map("\x01", ractors: 0, codec: CODEC, **OPTIONS) { |n| n }'],
    "Manypack::Parallel.each" => ['Manypack::Parallel.each("\x01", ractors: 0, **OPTIONS) { |n| n }', 'Manypack::Parallel.each("\x01", ractors: 0, **OPTIONS).first'],
    "Manypack::Parallel.filter" => ['Manypack::Parallel.filter("\x01", StringIO.new("".b), ractors: 0, **OPTIONS) { |n| n }']
  }.freeze
  # The methods that return an Enumerator without a block, which is not there yet when they are called with OPTIONS.
  ENUMERATORS = WAYS.filter_map { |method, ways| ways.filter_map { |way| [method, way[/\A(.+)\.(?:to_a|first)\z/, 1]] if way.match?(/OPTIONS\)\.(?:to_a|first)\z/) }.first }.to_h
  NAMES = { "FACTORY" => "Manypack::Factory.new", "CODEC" => "Manypack::Codec.new", "PATH" => 'Manypack::Path.new("$")' }.freeze

  # A known option, where max_depth is not.
  KNOWN = { "Manypack::Buffer#initialize" => { io_buffer_size: 2_048 }, "Manypack::Factory#register_type" => { recursive: true } }.freeze

  # Under the name MessagePack, too, these take Manypack's options only.
  OWN = /\AManypack::(?:Codec|Parallel|View|Path|Type|Record|LazyRecord)\b|\AManypack::(?:Packer|Unpacker)\.open\z|\AManypack::Factory#(?:codec|from_json|foreach_json|to_json)\z/

  # Those that the msgpack gem does not have under the name MessagePack either.
  NEW = %w[Manypack.dig Manypack.split Manypack.load_file Manypack.dump_file Manypack.foreach Manypack.from_json Manypack.foreach_json
           Manypack.to_json].freeze

  # For each piece of code the message of its ArgumentError; here, in a Ractor and in a program.
  OUTCOMES = <<~'RUBY'
    module Outcomes
      def self.of(codes)
        codes.map do |code|
          eval(code)
          "nothing raised"
        rescue ArgumentError => e
          e.message
        end
      end
    end
  RUBY
  eval(OUTCOMES)

  def test_every_method_that_takes_options_is_here
    taking = methods_that_take_options
    assert_operator taking.size, :>, 15
    assert_empty taking - WAYS.keys
    assert_empty WAYS.keys - taking
  end

  def test_a_known_option_is_taken_by_every_method
    each_way { |_, way, known| assert_equal "nothing raised", outcome(way, known), way }
  end

  def test_a_misspelt_option_is_refused_by_every_method
    each_way { |_, way, known| assert_equal refusal(known), outcome(way, misspelt(known)), way }
  end

  def test_an_enumerator_is_made_only_with_options_that_it_will_take
    assert_equal methods_that_take_options { |type| type.include?("Enumerator[") }.sort, ENUMERATORS.keys.sort
    ENUMERATORS.each_value do |way|
      { { max_dept: 5 } => ArgumentError, { canonical: true } => ArgumentError, { max_depth: -1 } => RangeError, { freeze: 5 } => ArgumentError,
        { codec: 5 } => TypeError, { codec: "Manypack::Codec.new", max_dept: 5 } => ArgumentError }.each do |options, error|
        next if way.match?(/CODEC|FACTORY/) && options.key?(:codec)
        next if way.include?("json") && options.key?(:canonical) # what it writes may be canonical

        called = code(way, options).sub('"Manypack::Codec.new"', "Manypack::Codec.new")
        assert_raises(error, called) { eval(called) }
      end
      assert_kind_of Enumerator, eval(code(way, { max_depth: 5 }))
    end
    codes = ENUMERATORS.values.map { |way| code(way, { max_dept: 5 }) }
    assert_equal [refusal({ max_depth: 5 })], in_ractor(codes) { |given| Outcomes.of(given) }.uniq
  end

  def test_other_arguments_are_refused_before_there_is_an_enumerator
    view = Manypack::View.new("\x90")
    [-> { Manypack.split("\x01", symbolize_keys: true) }, -> { Manypack.split("none.msgpack") }, -> { Manypack::Path.new("$").each(view, max_depth: 5) },
     -> { Manypack::Path.new("$").each_with_path(Manypack::Unpacker.new, max_depth: 5) }, -> { Manypack::Path.new("$").each("none.msgpack") },
     -> { Manypack::Path.new("$").each(StringIO.new, max_dept: 5) }, -> { Manypack::Parallel.each("", ractors: 1, processes: 1) },
     -> { Manypack::Parallel.each("", ractors: -1) }, -> { Manypack::Parallel.each("none.msgpack") }].each { |call| assert_raises(ArgumentError, &call) }
    [-> { Manypack.split(nil) }, -> { Manypack.split("", as: 5) }, -> { Manypack::Path.new("$").each(5) }, -> { Manypack::Parallel.each("", as: 5) },
     -> { Manypack::Parallel.each("", map: 5) }].each { |call| assert_raises(TypeError, &call) }
  end

  # Nothing is read before the Enumerator is used, nor is anything kept from one use to the next.
  def test_an_enumerator_reads_nothing_before_it_is_used
    io = StringIO.new("\x01\x02")
    made = [Manypack.split(io), Manypack::Path.new("$").each(io), Manypack::Path.new("$").each_with_path(io), Manypack::Parallel.each(io, map: :itself.to_proc, ractors: 0)]
    assert_equal 0, io.pos
    made.each { |enumerator| assert_equal 2, enumerator.count.tap { io.rewind } }
    made.each { |enumerator| assert_equal 2, enumerator.count.tap { io.rewind } }
  end

  def test_a_misspelt_option_is_refused_in_another_ractor
    ways = expected = nil
    each_way do |_, way, known|
      (ways ||= []) << code(way, misspelt(known))
      (expected ||= []) << refusal(known)
    end
    assert_equal expected, in_ractor(ways) { |codes| Outcomes.of(codes) }
  end

  def test_a_string_is_no_name_of_an_option
    each_way do |_, way, known|
      name = known.keys.first
      assert_equal "unknown option \"#{name}\", options are Symbols: #{name}:", outcome(way, { name.to_s => 5 }), way
    end
  end

  def test_the_options_of_a_buffer_are_known_where_there_is_one
    sizes = { io_buffer_size: 2_048, read_reference_threshold: 300, write_reference_threshold: 300 }
    with, without = WAYS.keys.partition { |method| method.match?(/#(?:initialize|packer|unpacker)\z/) }
    assert_equal 7, with.size
    with.each { |method| WAYS[method].each { |way| assert_equal "nothing raised", outcome(way, sizes), way } }
    without.each { |method| WAYS[method].each { |way| assert_match(/\Aunknown options io_buffer_size, /, outcome(way, sizes), way) } }
  end

  def test_all_unknown_options_are_named
    message = outcome("Manypack.unpack(1, OPTIONS)", { max_byte: 1, symbolize_key: 2, zzz: 3, "freeze" => 4, 5 => 6 })
    assert_equal 'unknown options max_byte, symbolize_key, zzz, "freeze", 5, options are Symbols: max_bytes:, symbolize_keys:, freeze:', message
    assert_equal "unknown options max_byte, zzz, did you mean max_bytes?", outcome("Manypack.pack(1, OPTIONS)", { max_byte: 1, zzz: 2 })
  end

  def test_what_is_like_no_option_is_told_which_there_are
    assert_equal "unknown option zzz; known options are io_buffer_size, read_reference_threshold, write_reference_threshold",
                 outcome("Manypack::Buffer.new(OPTIONS)", { zzz: nil })
    assert_match(/known options are packer, unpacker, recursive.*record\z/, outcome("FACTORY.register_type(1, Range, OPTIONS)", { zzz: 1 }))
    assert_match(/known options are map, ractors, processes, ordered, on_worker_start, codec, factory, as, collect, symbolize_keys/, outcome('Manypack::Parallel.each("", **OPTIONS) {}', { zzz: 1 }))
    assert_match(/known options are codec, check, .*symbolize_keys/, outcome("Manypack::Type[Integer].with(**OPTIONS)", { zzz: 1 }))
    assert_match(/unknown option packs;/, outcome('Manypack::Parallel.map("", **OPTIONS) {}', { packs: true }))
  end

  # Wherever as: is unknown, the error has what reads by a Record and what packs by it.
  def test_as_is_told_where_it_belongs_in_both_directions
    WAYS.each_value do |ways|
      message = outcome(ways.first, { as: :view })
      next unless message.start_with?("unknown option as")

      ["Manypack.unpack", "record.load(bytes)", "view.as(record)", "record.dump(object)", "record.load_json(text)"].each { |words| assert_includes message, words, ways.first }
    end
    ['Manypack.dig("", 0, **OPTIONS)', 'Manypack::View.new("", **OPTIONS)', "Manypack.pack(1, OPTIONS)"].each { |way| assert_match(/\Aunknown option as; as: is an option of/, outcome(way, { as: :view })) }
  end

  def test_options_of_a_method_of_its_own_are_suggested_too
    record = "Manypack::Record.new(Struct.new(:a), a: Integer)"
    { "#{record}.with(**OPTIONS)" => %i[unknwon defalts keyz codex], "Manypack::Type[Integer].with(**OPTIONS)" => %i[codex],
      "Manypack::Packer.open(File::NULL, **OPTIONS) { nil }" => %i[apend],
      "FACTORY.register_type(1, Range, OPTIONS)" => %i[recrd] }.each do |way, misspelt|
      misspelt.each { |name| assert_match(/did you mean (unknown|defaults|keys|codec|append|record)\?/, outcome(way, { name => nil }), way) }
    end
  end

  def test_a_codec_is_one
    ["Manypack::Type[Integer].with(codec: 5)", "Manypack::Type[Integer].with(codec: 5, freeze: true)",
     "Manypack::Record.new(Struct.new(:a), a: Integer).with(codec: 5, freeze: true)",
     'Manypack::Parallel.map("\x01", ractors: 0, codec: 5) { |n| n }',
     'Manypack::Parallel.each("\x01", ractors: 1, codec: 5).to_a'].each do |code|
      error = assert_raises(TypeError, code) { eval(code) }
      assert_equal "wrong argument type Integer (expected Manypack::Codec)", error.message
    end
  end

  def test_keys_of_any_kind_are_named
    ["\xFF", "\xFF".b, "é".encode("UTF-16LE"), "", "\xFF".b.to_sym, :"a b", nil, 1.5, [:max_bytes], Object].each do |key|
      assert_raises(ArgumentError, key.inspect) { Manypack.unpack("\x01", { key => 1, max_byte: 2, "é": 3 }) }
    end
  end

  def test_an_unknown_option_changes_nothing
    factory = Manypack::Factory.new
    assert_raises(ArgumentError) { factory.register_type(1, Range, packer: :to_s, unpackr: :new) }
    assert_empty factory.registered_types
    io = StringIO.new("".b)
    assert_raises(ArgumentError) { Manypack.pack(1, io, max_byte: 1) }
    assert_empty io.string
  end

  def test_known_options_are_listed_without_did_you_mean
    program = 'Manypack.unpack("\x01", max_byte: 5) rescue print($!.message, defined?(DidYouMean).inspect)'
    assert_match(/\Aunknown option max_byte; known options are symbolize_keys, .*duplicate_keys, codec, asnil\z/, run_program(program, "RUBYOPT" => "--disable-did_you_mean"))
  end

  def test_message_pack_and_its_classes_ignore_them_and_manypack_never_does
    each_in_drop_in do |method, way, known, message|
      lenient = way.include?("MessagePack") && !method.match?(OWN) && !NEW.include?(method)
      assert_equal lenient ? "nothing raised" : refusal(known), message, way
    end
  end

  # What programs written for the msgpack gem do.
  def test_programs_that_pass_more_than_the_msgpack_gem_knows
    assert_equal "ok", run_program(<<~'RUBY')
      require "manypack/drop_in"
      require "stringio"
      def MessagePack.work
        raise unless MessagePack.load("\x81\xA1a\x01".b, freeze: true, foo: 1, "bar" => 2).frozen?
        raise unless MessagePack.pack({ a: 1 }, { foo: 1, key_cache: true }) == "\x81\xA1a\x01".b
        raise unless MessagePack.dump(1, StringIO.new, foo: 1).nil?
        factory = MessagePack::Factory.new
        factory.register_type(2, Rational, { packer: :to_s, unpacker: Kernel.method(:Rational), code: 1, class: Rational, version: [1] })
        pool = factory.freeze.pool(2, freeze: true, foo: 1, io_buffer_size: 5_000)
        raise unless pool.load(pool.dump([1r])) == [1r] && pool.load(pool.dump(["a"])).frozen?
        raise unless factory.load(factory.dump([1r], foo: 1), freeze: true, foo: 1).frozen?
        raise unless factory.unpacker(symbolize_keys: true, foo: 1).feed("\x81\xA1a\x01".b).read == { a: 1 }
        raise unless factory.packer(StringIO.new, foo: 1).write(1r)
        raise unless MessagePack::Buffer.new(foo: 1) << "a"
        :done
      end
      raise unless MessagePack.work == :done && value(Ractor.new { MessagePack.work }) == :done
      puts "ok"
    RUBY
  end

  private

  def each_way
    WAYS.each { |method, ways| ways.each { |way| yield method, way, KNOWN.fetch(method, { max_depth: 5 }) } }
  end

  # Both Ractors, and both names where that makes a difference.
  def each_in_drop_in
    ways = []
    each_way do |method, way, known|
      ways << [method, way, known]
      shared = way.gsub(/\bManypack\b(?!::(?:Codec|Parallel|View|Path|Type|Record|LazyRecord)\b)/, "MessagePack")
      ways << [method, shared, known] if shared != way
    end
    program = <<~RUBY
      require "manypack/drop_in"
      require "stringio"
      codes = #{ways.map { |_, way, known| code(way, misspelt(known)) }.inspect}
      #{OUTCOMES}
      puts Outcomes.of(codes), value(Ractor.new(codes) { |given| Outcomes.of(given) })
    RUBY
    messages = run_program(program).lines(chomp: true)
    assert_equal ways.size * 2, messages.size
    (ways * 2).zip(messages) { |(method, way, known), message| yield method, way, known, message }
  end

  def misspelt(known)
    known.to_h { |name, value| [name.to_s.chop.to_sym, value] }
  end

  def refusal(known)
    "unknown option #{misspelt(known).keys.first}, did you mean #{known.keys.first}?"
  end

  def code(way, options)
    way.gsub(/\b(#{NAMES.keys.join("|")})\b/, NAMES).gsub("OPTIONS", "(#{options.inspect})")
  end

  def outcome(way, options)
    Outcomes.of([code(way, options)]).first
  end

  # By the signatures: those with options, or with keywords of any name.
  # Their keywords are members of a class, tags, or the types of a map.
  RECORDS = %w[Manypack::Record.new Manypack::Record.ivars Manypack::Record.define Manypack::Record.union Manypack::Type.[] Manypack::_RecordClass#new].freeze

  def methods_that_take_options(&of_type)
    all = Signatures.methods do |type|
      type.match?(/options\b|\*\*|max_depth|io_buffer_size|recursive/) && (!of_type || of_type.call(type))
    end
    all - ["Manypack::Parallel::Error#detailed_message", "Manypack::Factory::Pool#initialize"] - RECORDS
  end
end

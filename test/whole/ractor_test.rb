# frozen_string_literal: true

# Every public method in a Ractor, and configurations that every Ractor may have.
require "test_helper"
require "json"
require "stringio"
require "set" # which only the main Ractor of Ruby 3.1 can load
require "support/program"
require "support/public_methods"

class RactorTest < Minitest::Test
  include ProgramHelper

  # For each public method a piece of Ruby that is true; it runs in a Ractor of its own.
  PROGRAMS = {
    "Manypack.pack" => 'Manypack.pack([1, "a", { b: Time.at(0) }], timestamp: true).bytesize == 13',
    "Manypack.dump" => 'Manypack.dump([1]) == "\x91\x01".b',
    "Manypack.unpack" => 'Manypack.unpack("\x81\xA1a\x01".b, symbolize_keys: true) == { a: 1 }',
    "Manypack.load" => 'Manypack.load(StringIO.new("\x91\x01".b)) == [1]',
    "Manypack.canonical?" => 'Manypack.canonical?("\x82\xA1a\x01\xA1b\x02".b) && !Manypack.canonical?("\x82\xA1b\x02\xA1a\x01".b)',
    "Manypack.canonicalize" => 'Manypack.canonicalize("\x82\xA1b\x02\xA1a\x01".b) == "\x82\xA1a\x01\xA1b\x02".b',
    "Manypack.from_json" => 'Manypack.from_json("[1]") == "\x91\x01".b',
    "Manypack.to_json" => 'Manypack.to_json("\x91\x01".b) == "[1]" && Manypack.to_json(StringIO.new("\x01".b), StringIO.new).nil?',
    "Manypack::Codec#to_json" => 'Manypack::Codec.new.to_json("\x91\x01".b) == "[1]"',
    "Manypack.foreach_json" => 'Manypack.foreach_json(StringIO.new("1 2")).to_a == ["\x01", "\x02"]',
    "Manypack::Codec#from_json" => 'Manypack::Codec.new.from_json("[1]") == "\x91\x01".b',
    "Manypack::Codec#foreach_json" => 'Manypack::Codec.new.foreach_json(StringIO.new("1 2")).to_a == ["\x01", "\x02"]',
    "Manypack::DecodeError#line" => '(Manypack.from_json("\n[") rescue $!.line == 2)',
    "Manypack::DecodeError#column" => '(Manypack.from_json("\n[") rescue $!.column == 2)',
    "Manypack.split" => 'Manypack.split("\x01\x91\x02".b).to_a == ["\x01", "\x91\x02".b]',
    "Manypack.load_file" => '(Manypack.load_file(File::NULL) rescue $!.start == 0)',
    "Manypack.foreach" => "Manypack.foreach(File::NULL).to_a == []",
    "Manypack.dig" => 'Manypack.dig("\x81\xA1a\x91\x05".b, "a", 0) == 5',
    "Manypack::Codec#view" => 'Manypack::Codec.new.view("\x91\x05".b)[0] == 5',
    "Manypack::View.new" => 'Manypack::View.new("\x91\x05".b, symbolize_keys: true).size == 1',
    "Manypack::View#last" => 'VIEW["a"].last == 6 && VIEW["a"].last(2) == [5, 6]',
    "Manypack::View#to_hash" => '{ **VIEW } == { "a" => [5, 6] }',
    "Manypack::View#to_a" => 'VIEW["a"].to_a(freeze: true) == [5, 6]',
    "Manypack::View#to_s" => 'VIEW["a"].to_s == "[5, 6]"',
    "Manypack::Error#encode_with" => "RECORD_ERROR.respond_to?(:encode_with)",
    "Manypack::View#encode_with" => "VIEW.respond_to?(:encode_with)",
    "Manypack.eager_load!" => "Manypack.eager_load!.nil?",
    "Manypack.dump_file" => "Manypack.dump_file([5], File::NULL).nil?",
    "Manypack::Codec#foreach" => "Manypack::Codec.new.foreach(File::NULL).to_a == []",
    "Manypack::Unpacker#<<" => '(UNPACKER << "\x05".b).read == 5',
    "Manypack::Unpacker.open" => "Manypack::Unpacker.open(File::NULL) { |unpacker| unpacker.to_a } == []",
    "Manypack::Packer#is_a?" => "PACKER.is_a?(Manypack::Packer)",
    "Manypack::Packer#<<" => "(PACKER << 1 << 2).to_s.bytesize == 2",
    "Manypack::Type#===" => "TYPE === [5] && !(TYPE === 5)",
    "Manypack::Record#copies?" => "RECORD.with(defaults: { a: 5 }).copies?(:a) == false",
    "Manypack::LazyRecord#dup" => "LAZY.then { |lazy| lazy.dup.equal?(lazy) }",
    "Manypack::LazyRecord#clone" => "LAZY.then { |lazy| lazy.clone.equal?(lazy) }",
    "Manypack::LazyRecord#eql?" => "LAZY.then { |lazy| lazy.eql?(lazy.record.load(lazy.bytes)) }",
    "Manypack::LazyRecord#hash" => "LAZY.then { |lazy| lazy.hash == lazy.record.load(lazy.bytes).hash }",
    "Manypack::LazyRecord#encode_with" => "LAZY.respond_to?(:encode_with)",
    "Manypack::Path#encode_with" => "PATH.respond_to?(:encode_with)",
    "Manypack::Path::All#==" => "Manypack::Path.all({ a: PATH }) == Manypack::Path.all({ a: PATH })",
    "Manypack::Path::All#eql?" => "Manypack::Path.all({ a: PATH }).eql?(Manypack::Path.all({ a: PATH }))",
    "Manypack::Path::All#hash" => "Manypack::Path.all({ a: PATH }).hash == Manypack::Path.all({ a: PATH }).hash",
    "Manypack::Path::All#inspect" => 'Manypack::Path.all({ a: PATH }).inspect.include?("$.a[*]")',
    "Manypack::Timestamp#<=>" => "(Manypack::Timestamp.new(5, 6) <=> Manypack::Timestamp.new(5, 7)) == -1",
    "Manypack::Timestamp#inspect" => "Manypack::Timestamp.new(5, 6).inspect.is_a?(String)",
    "Manypack::Timestamp#init_with" => "Manypack::Timestamp.new(5, 6).respond_to?(:init_with)",
    "Manypack::Timestamp#encode_with" => "Manypack::Timestamp.new(5, 6).respond_to?(:encode_with)",
    "Manypack::Timestamp#to_json" => "Manypack::Timestamp.new(5, 0).to_json == '\"1970-01-01T00:00:05Z\"'",
    "Manypack::Timestamp#as_json" => "Manypack::Timestamp.new(5, 0).as_json == '1970-01-01T00:00:05Z'",
    "Manypack::Timestamp#to_time" => "Manypack::Timestamp.new(5, 6).to_time == Time.at(5, 6, :nsec)",
    "Manypack::Timestamp.now" => "Manypack::Timestamp.now.sec > 1_700_000_000",
    "Manypack::View#[]" => 'VIEW["a"][-1] == 6',
    "Manypack::View#dig" => 'VIEW.dig("a", 0) == 5',
    "Manypack::View#dig_many" => 'VIEW.dig_many("$.a[1]", ["a", 0]) == [6, 5]',
    "Manypack::View#fetch" => 'VIEW.fetch("z", 7) == 7',
    "Manypack::View#key?" => 'VIEW.key?("a") == true',
    "Manypack::View#include?" => 'VIEW.include?("a") && VIEW["a"].include?(5)',
    "Manypack::View#member?" => 'VIEW.member?("a") == true',
    "Manypack::View#keys" => 'VIEW.keys == ["a"]',
    "Manypack::View#values" => 'VIEW.values.first == VIEW["a"]',
    "Manypack::View#values_at" => 'VIEW["a"].values_at(0, -1) == [5, 6]',
    "Manypack::View#to_ary" => '(one, two = VIEW["a"]) && [one, two] == [5, 6]',
    "Manypack::View#dup" => "VIEW.dup == VIEW",
    "Manypack::View#clone" => "VIEW.freeze.clone.frozen?",
    "Manypack::View#size" => "VIEW.size == 1",
    "Manypack::View#length" => "VIEW.length == 1",
    "Manypack::View#empty?" => "VIEW.empty? == false",
    "Manypack::View#type" => "VIEW.type == :map",
    "Manypack::View#each" => 'VIEW["a"].each.to_a == [5, 6]',
    "Manypack::View#each_pair" => 'VIEW.each_pair.to_a.flatten.first == "a"',
    "Manypack::View#to_set" => 'VIEW["a"].to_set.size == 2', "Manypack::View#uniq" => 'VIEW["a"].uniq == [5, 6]',
    "Manypack::View#select" => 'VIEW.select { true }.keys == ["a"]', "Manypack::View#filter" => 'VIEW.filter { false } == {}',
    "Manypack::View#reject" => 'VIEW["a"].reject { |n| n > 5 } == [5]', "Manypack::View#compact" => 'VIEW.compact.keys == ["a"]',
    "Manypack::View#tally" => 'VIEW["a"].tally == { 5 => 1, 6 => 1 }',
    "Manypack::View#group_by" => 'VIEW["a"].group_by(&:odd?) == { true => [5], false => [6] }',
    "Manypack::View#to_h" => 'VIEW.to_h.keys == ["a"]',
    "Manypack::View#query" => 'VIEW.query("$.a[*]") == [5, 6]',
    "Manypack::View#value" => 'VIEW.value == { "a" => [5, 6] }',
    "Manypack::View#to_json" => 'VIEW["a"].to_json == "[5,6]"',
    "Manypack::View#as_json" => "VIEW.respond_to?(:as_json)",
    "Manypack::View#bytes" => 'VIEW["a"].bytes == "\x92\x05\x06".b',
    "Manypack::View#bytesize" => 'VIEW["a"].bytesize == 3',
    "Manypack::View#canonical?" => "VIEW.canonical? == true",
    "Manypack::View#offset" => 'VIEW["a"].offset == 3',
    "Manypack::View#splice" => 'VIEW.splice("a[0]" => 7, "$.a[1:]" => 7.method(:+)).value == { "a" => [7, 13] }',
    "Manypack::View.inserted" => 'VIEW.splice("a[0]" => Manypack::View.inserted(1)).value == { "a" => [1, 5, 6] }',
    "Manypack::View.appended" => 'VIEW.splice("a" => Manypack::View.appended(7)).value == { "a" => [5, 6, 7] }',
    "Manypack::View.renamed" => 'VIEW.splice("a" => Manypack::View.renamed("b")).value == { "b" => [5, 6] }',
    "Manypack::View.with_parents" => 'VIEW.splice("b.c" => Manypack::View.with_parents(1))["b"].value == { "c" => 1 }',
    "Manypack::View#detach" => 'VIEW["a"].detach.offset == 0',
    "Manypack::View#freeze" => "Ractor.shareable?(VIEW.freeze)",
    "Manypack::View#==" => "VIEW == VIEW.detach",
    "Manypack::View#eql?" => "VIEW.eql?(VIEW.detach)",
    "Manypack::View#codec" => "VIEW.codec == Manypack::DefaultFactory.codec",
    "Manypack::View#hash" => "VIEW.hash == VIEW.detach.hash",
    "Manypack::View#inspect" => 'VIEW.inspect == "#<Manypack::View map of 1 at byte 0>"',
    "Manypack::View#to_msgpack" => "Manypack.pack([VIEW]).bytesize == 7",
    "Manypack::View#deconstruct" => '(VIEW["a"] in [5, Integer]) == true',
    "Manypack::View#deconstruct_keys" => "(VIEW in {a: [5, *]}) == true",
    "Manypack::View#respond_to?" => "VIEW.respond_to?(:deconstruct) == false",
    "Manypack::Path.of" => 'Manypack::Path.of("a", 0).to_s == "$.a[0]"',
    "Manypack::Path.from" => 'Manypack::Path.from("a[*]") == PATH',
    "Manypack::Path#max_looks" => "PATH.max_looks == Manypack::Path::MAX_LOOKS",
    "Manypack::Path#each_with_path" => %q(PATH.each_with_path(VIEW).first == [5, "$['a'][0]"]),
    "Manypack::Path#paths" => %q(Manypack::Path.new("$..[?@ > 5]").paths(VIEW) == ["$['a'][1]"]),
    "Manypack::Path#count" => "PATH.count(VIEW) == 2",
    "Manypack::Path#any?" => "PATH.any?(VIEW) == true",
    "Manypack::Path.all" => "Manypack::Path.all({ a: PATH }).read(VIEW) == { a: [5, 6] }",
    "Manypack::Path::All#read" => "Manypack::Path.all({ a: PATH }).read(VIEW.bytes) == { a: [5, 6] }",
    "Manypack::Path::All#to_h" => "Manypack::Path.all({ a: PATH }).to_h == { a: PATH }",
    "Manypack::Path::Function#call" => "Manypack::Path::Function.new(:value) { |n| n + 1 }.call(1) == 2",
    "Manypack::Path::Function#takes" => "Manypack::Path::Function.new(:value) { |n| n }.takes == [:value]",
    "Manypack::Path::Function#returns" => "Manypack::Path::Function.new(:value) { |n| n }.returns == :value",
    "Manypack::Path#steps" => 'PATH.steps == ["a", :*]',
    "Manypack::Path#all?" => "PATH.all? == true",
    "Manypack::Path#each" => "PATH.each(VIEW).to_a == [5, 6]",
    "Manypack::Path#first" => "PATH.first(VIEW) == 5",
    "Manypack::Path#to_a" => "PATH.to_a(VIEW.bytes) == [5, 6]",
    "Manypack::Path#to_s" => 'PATH.to_s == "$.a[*]"',
    "Manypack::Path#inspect" => 'PATH.inspect == "#<Manypack::Path $.a[*]>"',
    "Manypack::Path#==" => 'PATH == Manypack::Path.new("$.a.*")',
    "Manypack::Path#eql?" => 'PATH.eql?(Manypack::Path.new("$.a.*"))',
    "Manypack::Path#hash" => 'PATH.hash == Manypack::Path.new("$.a.*").hash',
    "Manypack::DecodeError#path" => '(Manypack.unpack("\x91\xC1".b) rescue $!.path == "$[0]")',
    "Manypack::DecodeError#offset" => '(Manypack.unpack("\xC1".b) rescue $!.offset == 0)',
    "Manypack::TruncatedError#start" => '(Manypack::Unpacker.new.feed("\x01\x92".b).each(strict: true) { nil } rescue $!.start == 1)',
    "Manypack::LimitError#limit" => '(Manypack.unpack("\x91\x01", max_bytes: 1) rescue $!.limit == :max_bytes)',
    "Manypack::LimitError#value" => '(Manypack.unpack("\x91\x01", max_bytes: 1) rescue $!.value == 2)',
    "Manypack::ExtensionValue#type" => 'Manypack.unpack("\xD4\x05a".b, allow_unknown_ext: true).type == 5',
    "Manypack::ExtensionValue#type=" => 'Manypack.pack(Manypack::ExtensionValue.new(1, "a").tap { |ext| ext.type = 5 }) == "\xD4\x05a".b',
    "Manypack::ExtensionValue#payload" => 'Manypack.unpack("\xD4\x05a".b, allow_unknown_ext: true).payload == "a"',
    "Manypack::ExtensionValue#payload=" => 'Manypack.pack(Manypack::ExtensionValue.new(5, "").tap { |ext| ext.payload = "a" }) == "\xD4\x05a".b',

    "Manypack::Packer.open" => "Manypack::Packer.open(File::NULL) { |packer| packer.write(1).size } == 1",
    "Manypack::Packer#write" => "PACKER.write([1]).to_s.bytesize == 2",
    "Manypack::Packer#pack" => "PACKER.pack([1]).to_s.bytesize == 2",
    "Manypack::Packer#write_nil" => 'PACKER.write_nil.to_s == "\xC0".b',
    "Manypack::Packer#write_true" => 'PACKER.write_true.to_s == "\xC3".b',
    "Manypack::Packer#write_false" => 'PACKER.write_false.to_s == "\xC2".b',
    "Manypack::Packer#write_int" => 'PACKER.write_int(5).to_s == "\x05"',
    "Manypack::Packer#write_float" => "PACKER.write_float(1.5).size == 9",
    "Manypack::Packer#write_float32" => "PACKER.write_float32(1.5).size == 5",
    "Manypack::Packer#write_string" => 'PACKER.write_string("é").size == 3',
    "Manypack::Packer#write_bin" => 'PACKER.write_bin("e").size == 3',
    "Manypack::Packer#write_array" => "PACKER.write_array([1]).size == 2",
    "Manypack::Packer#write_hash" => "PACKER.write_hash({ 1 => 2 }).size == 3",
    "Manypack::Packer#write_symbol" => "PACKER.write_symbol(:a).size == 2",
    "Manypack::Packer#write_array_header" => "PACKER.write_array_header(20).size == 3",
    "Manypack::Packer#write_map_header" => "PACKER.write_map_header(20).size == 3",
    "Manypack::Packer#write_bin_header" => "PACKER.write_bin_header(20).size == 2",
    "Manypack::Packer#write_ext" => 'PACKER.write_ext(1, "a").size == 3',
    "Manypack::Packer#write_extension" => 'PACKER.write_extension(Manypack::ExtensionValue.new(1, "a")).size == 3',
    "Manypack::Packer#full_pack" => 'PACKER.write(1).full_pack == "\x01"',
    "Manypack::Packer#flush" => 'StringIO.new("".b).then { |io| Manypack::Packer.new(io).write(1).flush && io.string == "\x01" }',
    "Manypack::Packer#write_to" => 'PACKER.write(1).write_to(StringIO.new("".b)) == 1',
    "Manypack::Packer#reset" => "PACKER.write(1).reset.nil?",
    "Manypack::Packer#clear" => "PACKER.write(1).clear.nil?",
    "Manypack::Packer#size" => "PACKER.size == 0",
    "Manypack::Packer#empty?" => "PACKER.empty?",
    "Manypack::Packer#to_s" => 'PACKER.write(1).to_s == "\x01"',
    "Manypack::Packer#to_str" => 'PACKER.write(1).to_str == "\x01"',
    "Manypack::Packer#to_a" => 'PACKER.write("l" * 600_000).to_a.join.bytesize == 600_005',
    "Manypack::Packer#buffer" => 'PACKER.write(1).buffer.read == "\x01"',
    "Manypack::Packer#compatibility_mode?" => "Manypack::Packer.new(compatibility_mode: true).compatibility_mode?",
    "Manypack::Packer#register_type" => 'PACKER.tap { |packer| packer.register_type(1, Range) { |range| range.to_s } }.write(1..2).size == 6',
    "Manypack::Packer#registered_types" => "PACKER.registered_types == []",
    "Manypack::Packer#type_registered?" => "!PACKER.type_registered?(1)",

    "Manypack::Unpacker#feed" => 'UNPACKER.feed("\x01").read == 1',
    "Manypack::Unpacker#feed_reference" => 'UNPACKER.feed_reference("\x01" * 1_000).read == 1',
    "Manypack::Unpacker#read" => 'Manypack::Unpacker.new(StringIO.new("\x92\x01\x02".b)).read == [1, 2]',
    "Manypack::Unpacker#unpack" => 'UNPACKER.feed("\x01").unpack == 1',
    "Manypack::Unpacker#full_unpack" => 'UNPACKER.feed("\x01").full_unpack == 1',
    "Manypack::Unpacker#each" => 'UNPACKER.feed("\x01\x02\x92").each.to_a == [1, 2]',
    "Manypack::Unpacker#feed_each" => 'UNPACKER.feed_each("\x01\x02").to_a == [1, 2]',
    "Manypack::Unpacker#position" => 'UNPACKER.feed("\x01\x92".b).tap(&:first).position == 1',
    "Manypack::Unpacker#pending?" => 'UNPACKER.feed("\x01\x92".b).tap(&:to_a).pending?',
    "Manypack::Unpacker#skip" => 'UNPACKER.feed("\x92\x01\x02\x03".b).then { |unpacker| unpacker.skip || unpacker.read == 3 }',
    "Manypack::Unpacker#skip_nil" => 'UNPACKER.feed("\xC0".b).skip_nil',
    "Manypack::Unpacker#read_array_header" => 'UNPACKER.feed("\x92".b).read_array_header == 2',
    "Manypack::Unpacker#read_map_header" => 'UNPACKER.feed("\x82".b).read_map_header == 2',
    "Manypack::Unpacker#reset" => 'UNPACKER.feed("\x92".b).reset.nil?',
    "Manypack::Unpacker#buffer" => 'UNPACKER.feed("\x92".b).buffer.size == 1',
    "Manypack::Unpacker#symbolize_keys?" => "Manypack::Unpacker.new(symbolize_keys: true).symbolize_keys?",
    "Manypack::Unpacker#freeze?" => "Manypack::Unpacker.new(freeze: true).freeze?",
    "Manypack::Unpacker#allow_unknown_ext?" => "Manypack::Unpacker.new(allow_unknown_ext: true).allow_unknown_ext?",
    "Manypack::Unpacker#register_type" => 'UNPACKER.tap { |unpacker| unpacker.register_type(1, &:upcase) }.feed("\xD4\x01a".b).read == "A"',
    "Manypack::Unpacker#registered_types" => "UNPACKER.registered_types == []",
    "Manypack::Unpacker#type_registered?" => "!UNPACKER.type_registered?(Range)",

    "Manypack::Buffer#write" => 'BUFFER.write("abc") == 3',
    "Manypack::Buffer#<<" => '(BUFFER << "abc").size == 3',
    "Manypack::Buffer#read" => '(BUFFER << "abc").read(2) == "ab"',
    "Manypack::Buffer#read_all" => '(BUFFER << "abc").read_all(3) == "abc"',
    "Manypack::Buffer#skip" => '(BUFFER << "abc").skip(2) == 2',
    "Manypack::Buffer#skip_all" => '(BUFFER << "abc").skip_all(2).size == 1',
    "Manypack::Buffer#clear" => "BUFFER.clear.nil?",
    "Manypack::Buffer#size" => "BUFFER.size == 0",
    "Manypack::Buffer#empty?" => "BUFFER.empty?",
    "Manypack::Buffer#io" => "BUFFER.io.nil?",
    "Manypack::Buffer#flush" => 'StringIO.new("".b).then { |io| (Manypack::Buffer.new(io) << "a").flush && io.string == "a" }',
    "Manypack::Buffer#close" => 'StringIO.new("".b).then { |io| Manypack::Buffer.new(io).close || io.closed? }',
    "Manypack::Buffer#write_to" => '(BUFFER << "abc").write_to(StringIO.new("".b)) == 3',
    "Manypack::Buffer#to_s" => '(BUFFER << "abc").to_s == "abc"',
    "Manypack::Buffer#to_str" => '(BUFFER << "abc").to_str == "abc"',
    "Manypack::Buffer#to_a" => '(BUFFER << "abc").to_a == ["abc"]',

    "Manypack::Type.[]" => "Manypack::Type[Integer, nil].load(\"\\x05\") == 5",
    "Manypack::Type#or" => "Manypack::Type[Integer].or(nil).load(\"\\xC0\".b).nil?",
    "Manypack::Type#check" => "Manypack::Type[Integer].check('odd') { |n| n.odd? }.load(\"\\x05\") == 5",
    "Manypack::Type.text" => "Manypack::Type.text(Symbol).load(\"\\xA1a\") == :a",
    "Manypack::Type.bytes" => "Manypack::Type.bytes.load(\"\\xC4\\x01a\".b) == \"a\"",
    "Manypack::Type.tuple" => "Manypack::Type.tuple(Integer, nil).load(\"\\x92\\x05\\xC0\".b) == [5, nil]",
    "Manypack::Type.uuid" => "!Manypack::Type.uuid.valid?(\"\\xA1a\".b)",
    "Manypack::Type.set" => "Manypack::Type.set(Integer).load(\"\\x91\\x05\".b).to_a == [5]",
    "Manypack::Type.via" => "Manypack::Type.via(String, Integer, load: ->(n) { n.to_s }).load(\"\\x05\") == '5'",
    "Manypack::Type#load" => "TYPE.load(\"\\x91\\x05\".b) == [5]",
    "Manypack::Type#dump" => "TYPE.dump([5]) == \"\\x91\\x05\".b",
    "Manypack::Type#from" => "TYPE.from(['5'], lax: true) == [5]",
    "Manypack::Type#to_h" => "Manypack::Type[{ String => Integer }].to_h({ 'a' => 5 }) == { a: 5 }",
    "Manypack::Type#load_json_file" => '(Manypack::Type[Object].load_json_file(File::NULL) rescue $!.offset == 0)',
    "Manypack::Type#load_json" => "TYPE.load_json('[5]') == [5]",
    "Manypack::Type.recursive" => "Manypack::Type.recursive { |list| Manypack::Type[nil, [list]] }.load(\"\\x91\\xC0\") == [nil]",
    "Manypack::Type#foreach" => "TYPE.foreach(File::NULL).to_a == []",
    "Manypack::Type#foreach_json" => "TYPE.foreach_json(StringIO.new('[5] [6]')).to_a == [[5], [6]]",
    "Manypack::Type#dump_json" => "TYPE.dump_json([5]) == '[5]'",
    "Manypack::Type#view" => "TYPE.view([5]) == [5]",
    "Manypack::Type#valid?" => "!TYPE.valid?(\"\\x05\")",
    "Manypack::Type#with" => "Ractor.shareable?(TYPE.with(untrusted: true))",
    "Manypack::Type#spec" => "TYPE.spec == [:list, [:integer, nil]]",
    "Manypack::Type#codec" => "TYPE.codec.is_a?(Manypack::Codec)",
    "Manypack::Type#check?" => "!TYPE.check?",
    "Manypack::Type#to_rbs" => 'TYPE.to_rbs == "Array[Integer]"',
    "Manypack::Type.from_json_schema" => 'Manypack::Type.from_json_schema({"type" => "array", "items" => {"type" => "integer"}}) == TYPE',
    "Manypack::Type#description" => 'TYPE.description["nodes"].size == 2',
    "Manypack::Type#reads?" => "TYPE.reads?(Manypack::Type[[1..2]])",
    "Manypack::Type#incompatibilities" => "Manypack::Type[[1..2]].incompatibilities(TYPE)[0].path == '$[*]'",
    **%w[== eql?].to_h { |name| ["Manypack::Incompatibility##{name}", "Array.new(2) { Manypack::Type[[1..2]].incompatibilities(TYPE)[0] }.reduce(:#{name})"] },
    "Manypack::Incompatibility#hash" => "Manypack::Type[[1..2]].incompatibilities(TYPE)[0].hash.is_a?(Integer)",
    **%w[path reason example to_s].to_h { |name| ["Manypack::Incompatibility##{name}", "Manypack::Type[[1..2]].incompatibilities(TYPE)[0].#{name}.is_a?(String)"] },
    "Manypack::Type#json_schema" => 'TYPE.json_schema["type"] == "array"',
    "Manypack::Type#inspect" => "TYPE.inspect.is_a?(String)",
    "Manypack::Type#==" => "TYPE == Manypack::Type[[Integer]]",
    "Manypack::Type#eql?" => "TYPE.eql?(Manypack::Type[[Integer]])",
    "Manypack::Type#hash" => "TYPE.hash == Manypack::Type[[Integer]].hash",
    "Manypack::Record.new" => "Ractor.shareable?(RECORD)",
    "Manypack::Record.ivars" => "Manypack::Record.ivars(Class.new, a: Integer).load(\"\\x81\\xA1a\\x05\".b).instance_variables == [:@a]",
    "Manypack::Record.define" => "Manypack::Record.define(a: Integer).load(\"\\x81\\xA1a\\x05\".b).a == 5",
    "Manypack::Record.union" => 'Manypack::Record.union("t", "a" => RECORD).load("\x82\xA1t\xA1a\xA1a\x05".b).a == 5',
    "Manypack::Record#klass" => "RECORD.klass < Struct",
    "Manypack::Record#members" => "RECORD.members == [:a]",
    "Manypack::Record#types" => "RECORD.types == { a: Manypack::Type[Integer] }",
    "Manypack::Record#keys" => 'RECORD.keys == { a: ["a"] }',
    "Manypack::Record#defaults" => "RECORD.defaults == {}",
    "Manypack::Record#unknown" => "RECORD.unknown == :skip",
    "Manypack::Record#form" => "RECORD.form == :map",
    "Manypack::Record#build" => "RECORD.build == :struct",
    "Manypack::Record#lazy_class" => "RECORD.lazy.lazy_class < Manypack::LazyRecord",
    "Manypack::Record#optional?" => "!RECORD.optional?(:a)",
    "Manypack::Record#inherited_by" => "RECORD.then { |record| record.inherited_by(Class.new(record.klass)).klass < record.klass }",
    "Manypack::Record#array" => "RECORD.array.load(\"\\x91\\x05\".b).a == 5",
    "Manypack::Record#lazy" => "RECORD.lazy.load(\"\\x81\\xA1a\\x05\".b).a == 5",
    "Manypack::Record#with" => "RECORD.with(defaults: { a: 6 }).load(\"\\x80\".b).a == 6",
    "Manypack::Type#attach" => "RECORD.then { |record| Manypack::Record.union('t', 'a' => record).attach && " \
                               "Manypack.unpack(record.klass.new(5).to_msgpack) == { 't' => 'a', 'a' => 5 } }",
    "Manypack::Record#attach" => "RECORD.attach.klass.load(\"\\x81\\xA1a\\x05\".b).a == 5",
    "Manypack::Record#named?" => "!RECORD.named?(:Point)",
    "Manypack::Record#inspect" => "RECORD.inspect.is_a?(String)",
    "Manypack::RecordError#path" => 'RECORD_ERROR.path == "$.a"',
    "Manypack::RecordError#errors" => "RECORD_ERROR.errors.size == 1",
    "Manypack::RecordError#record" => "RECORD_ERROR.record.is_a?(Manypack::Record)",
    "Manypack::RecordError#code" => "RECORD_ERROR.code == :type",
    "Manypack::RecordError#expected" => 'RECORD_ERROR.expected == "an integer"',
    "Manypack::RecordError#got" => 'RECORD_ERROR.got == "null"',
    "Manypack::RecordError#pointer" => 'RECORD_ERROR.pointer == "/a"',
    "Manypack::RecordError#sentence" => 'RECORD_ERROR.sentence == "a must be an integer, is null"',
    "Manypack::RecordError#details" => "RECORD_ERROR.details.size == 1",
    "Manypack::RecordError#member" => "RECORD_ERROR.member == :a",
    "Manypack::RecordError#field" => "RECORD_ERROR.field == :a",
    "Manypack::LazyRecord#[]" => "LAZY[:a] == 5",
    "Manypack::LazyRecord#to_h" => "LAZY.to_h == { a: 5 }",
    "Manypack::LazyRecord#to_json" => 'LAZY.to_json == "{\"a\":5}"',
    "Manypack::LazyRecord#as_json" => "LAZY.respond_to?(:as_json)",
    "Manypack::LazyRecord#load" => "LAZY.load.a == 5",
    "Manypack::LazyRecord#==" => "LAZY.then { |lazy| lazy == lazy.record.load(lazy.bytes) }",
    "Manypack::LazyRecord#record" => "LAZY.record.form == :lazy",
    "Manypack::LazyRecord#bytes" => "LAZY.bytes.bytesize == 4",
    "Manypack::LazyRecord#to_msgpack" => "LAZY.to_msgpack == LAZY.bytes",
    "Manypack::LazyRecord#deconstruct_keys" => "LAZY.deconstruct_keys([:a]) == { a: 5 }",
    "Manypack::LazyRecord#inspect" => "LAZY.inspect.is_a?(String)",
    "Manypack::View#as" => "VIEW.as(Manypack::Type[{ String => [Integer] }]) == { \"a\" => [5, 6] }",

    "Manypack::Codec.new" => "Manypack::Codec.new(freeze: true).frozen?",
    "Manypack::Codec#with" => "Ractor.shareable?(Manypack::Codec.new.with(freeze: true))",
    "Manypack::EncodeError#path" => 'begin; Manypack.pack([Object.new]); rescue Manypack::EncodeError => e; e.path == "$[0]"; end',
    "Manypack::Codec#options" => "Manypack::Codec.new(freeze: true).options == { freeze: true }",
    "Manypack::Codec#pack" => 'Manypack::Codec.new.pack(1) == "\x01"',
    "Manypack::Codec#dump" => 'Manypack::Codec.new.dump(1) == "\x01"',
    "Manypack::Codec#unpack" => 'Manypack::Codec.new.unpack("\x01") == 1',
    "Manypack::Codec#load" => 'Manypack::Codec.new.load("\x01") == 1',
    "Manypack::Codec#inspect" => 'Manypack::Codec.new(max_bytes: 5).inspect == "#<Manypack::Codec max_bytes: 5>"',
    "Manypack::Codec#==" => "Manypack::Codec.new(freeze: true) == Manypack::Codec.new(freeze: true)",
    "Manypack::Codec#eql?" => "!Manypack::Codec.new.eql?(Manypack::Codec.new(freeze: true))",
    "Manypack::Codec#hash" => "Manypack::Codec.new.hash == Manypack::DefaultFactory.codec.hash",
    "Manypack::Codec#packer" => 'Manypack::Codec.new.packer.write(1).to_s == "\x01"',
    "Manypack::Codec#unpacker" => 'Manypack::Codec.new.unpacker.feed("\x01").read == 1',

    "Manypack::Factory#register_type" => 'FACTORY.dump(1..2) == "\xD4\x01r".b',
    "Manypack::Factory#register_common" => "FACTORY.tap { |factory| factory.register_common(:rational) }.type_registered?(Rational)",
    "Manypack::Factory#registered_types" => "FACTORY.registered_types.size == 1",
    "Manypack::Factory#type_registered?" => "FACTORY.type_registered?(Range)",
    "Manypack::Factory#from_json" => 'FACTORY.from_json("[1]") == "\x91\x01".b',
    "Manypack::Factory#to_json" => 'FACTORY.to_json("\x91\x01".b) == "[1]"',
    "Manypack::Factory#foreach_json" => 'FACTORY.foreach_json(StringIO.new("1 2")).to_a == ["\x01", "\x02"]',
    "Manypack::Factory#dump" => "FACTORY.dump([1..2]).bytesize == 4",
    "Manypack::Factory#pack" => "FACTORY.pack([1..2]).bytesize == 4",
    "Manypack::Factory#load" => 'FACTORY.load("\xD4\x01r".b) == "r"',
    "Manypack::Factory#unpack" => 'FACTORY.unpack("\xD4\x01r".b) == "r"',
    "Manypack::Factory#packer" => "FACTORY.packer.write(1..2).size == 3",
    "Manypack::Factory#unpacker" => 'FACTORY.unpacker.feed("\xD4\x01r".b).read == "r"',
    "Manypack::Factory#inspect" => 'FACTORY.inspect == "#<Manypack::Factory types: {1 => Range}>"',
    "Manypack::Factory#freeze" => "Ractor.shareable?(Manypack::Factory.new.freeze)",
    "Manypack::Factory#pool" => "FACTORY.pool(2, freeze: true).frozen?",
    "Manypack::Factory#codec" => 'FACTORY.codec(freeze: true).load("\xD4\x01r".b).frozen?',
    "Manypack::Factory::Pool#dump" => "FACTORY.pool.dump(1..2).bytesize == 3",
    "Manypack::Factory::Pool#load" => 'FACTORY.pool.load("\xD4\x01r".b) == "r"',
    "Manypack::Factory::Pool#packer" => "FACTORY.pool.packer { |packer| packer.write(1..2).size } == 3",
    "Manypack::Factory::Pool#unpacker" => 'FACTORY.pool.unpacker { |unpacker| unpacker.feed("\x01").read } == 1',

    "Manypack::Parallel.map" => 'Manypack::Parallel.map("\x01\x02", ractors: 2) { |n| n * 2 } == [2, 4]',
    "Manypack::Parallel.each" => 'Manypack::Parallel.each("\x91\x01".b, ractors: 1).first == [1]',
    "Manypack::Parallel.filter" => 'StringIO.new("".b).then { |io| Manypack::Parallel.filter("\x01\x02", io, ractors: 1) { |n| n if n > 1 } == 1 && io.string == "\x02" }',
    "Manypack::Parallel::Error#index" => '(Manypack::Parallel.map("\x01\x02", ractors: 1) { |n| raise if n == 2 } rescue $!.index == 1)',
    "Manypack::Parallel::Error#offset" => '(Manypack::Parallel.map("\x01\x02", ractors: 1) { |n| raise if n == 2 } rescue $!.offset == 1)',
    "Manypack::Parallel::Error#detailed_message" => '(Manypack::Parallel.map("\x01", ractors: 1) { raise } rescue $!.detailed_message.end_with?("in message 0, at byte 0"))',

    "Manypack::Timestamp.from_msgpack_ext" => 'Manypack::Timestamp.from_msgpack_ext("\0\0\0\x05").sec == 5',
    "Manypack::Timestamp.to_msgpack_ext" => 'Manypack::Timestamp.to_msgpack_ext(5, 0) == "\0\0\0\x05"',
    "Manypack::Timestamp#to_msgpack_ext" => 'Manypack::Timestamp.new(5, 0).to_msgpack_ext == "\0\0\0\x05"',
    "Manypack::Timestamp#sec" => "Manypack::Timestamp.new(5, 6).sec == 5",
    "Manypack::Timestamp#nsec" => "Manypack::Timestamp.new(5, 6).nsec == 6",
    "Manypack::Timestamp#==" => "Manypack::Timestamp.new(5, 6) == Manypack::Timestamp.new(5, 6)",
    "Manypack::Timestamp#eql?" => "Manypack::Timestamp.new(5, 6).eql?(Manypack::Timestamp.new(5, 6))",
    "Manypack::Timestamp#hash" => "Manypack::Timestamp.new(5, 6).hash == Manypack::Timestamp.new(5, 6).hash",
    "Manypack::Bigint.to_msgpack_ext" => "Manypack::Bigint.to_msgpack_ext(2**70).bytesize == 13",
    "Manypack::Bigint.from_msgpack_ext" => "Manypack::Bigint.from_msgpack_ext(Manypack::Bigint.to_msgpack_ext(-(2**70))) == -(2**70)"
  }.freeze

  # What the names in the programs stand for.
  NAMES = {
    "TYPE" => "Manypack::Type[[Integer]]", "RECORD" => "Manypack::Record.new(Struct.new(:a), a: Integer)",
    "RECORD_ERROR" => '(Manypack::Record.new(Struct.new(:a), a: Integer).load("\x81\xA1a\xC0".b) rescue $!)',
    "LAZY" => 'Manypack::Record.new(Struct.new(:a), a: Integer).lazy.load("\x81\xA1a\x05".b)',
    "PACKER" => "Manypack::Packer.new", "UNPACKER" => "Manypack::Unpacker.new", "BUFFER" => "Manypack::Buffer.new",
    "VIEW" => 'Manypack::View.new("\x81\xA1a\x92\x05\x06".b)', "PATH" => 'Manypack::Path.new("$.a[*]")',
    "FACTORY" => 'Manypack::Factory.new.tap { |factory| factory.register_type(1, Range, packer: ->(_) { "r" }, unpacker: ->(body) { body }) }'
  }.freeze

  PROGRAMS.each do |method, program|
    define_method("test_#{method}_in_a_ractor") do
      source = program.gsub(/\b(#{NAMES.keys.join("|")})\b/, NAMES)
      assert_same true, in_ractor(source) { |code| eval(code) }, program
    end
  end

  # The collector of Ruby 4.1 checks it: every Ractor has a heap of its own.
  if GC.stat.key?(:global_gc_count)
    def test_no_public_method_leaves_a_reference_to_what_belongs_to_another_ractor
      programs = PROGRAMS.values.map { |program| program.gsub(/\b(#{NAMES.keys.join("|")})\b/, NAMES) }
      assert_program <<~RUBY, "ok"
        require "json"
        require "stringio"
        seen = []
        Manypack::DefaultFactory.register_type(1, Rational, packer: ->(number) { seen << number && "r" }, unpacker: ->(body) { seen << body })
        programs = #{programs.inspect}
        ractor = Ractor.new(programs) do |all|
          all.each { |program| eval(program) rescue nil }
          GC.verify_internal_consistency
        end
        ractor.join
        GC.verify_internal_consistency
        puts "ok"
      RUBY
    end
  end

  def test_every_public_method_has_a_program
    methods = PublicMethods.without_integrations[:methods]
    assert_empty methods.uniq - PROGRAMS.keys
    assert_empty PROGRAMS.keys - methods
  end

  # Also private ones, whose names only the source tells. The command line runs in the main Ractor.
  def test_every_constant_can_be_read_in_every_ractor
    sources = Dir[File.expand_path("../../lib/**/*.rb", __dir__)].map { |path| File.read(path, encoding: "UTF-8") }
    names = sources.flat_map { |source| source.scan(/^ +([A-Z][A-Z0-9_]+) =/).flatten }.uniq
    modules = ObjectSpace.each_object(Module).select { |one| Module.instance_method(:name).bind_call(one)&.match?(/\AManypack(?!::Terminal)/) }
    constants = modules.flat_map { |one| names.filter_map { |name| [one, name] if one.const_defined?(name, false) } }
    assert_operator constants.size, :>, 100
    assert_empty(constants.reject { |one, name| Ractor.shareable?(one.const_get(name, false)) })
  end

  Point = Struct.new(:x) do
    def to_msgpack_ext = [x].pack("c")
    def self.from_msgpack_ext(body) = new(body.unpack1("c"))
  end

  FACTORY = Manypack::Factory.new.tap do |factory|
    factory.register_type(1, Point)
    factory.register_type(2, Integer, packer: Manypack::Bigint.method(:to_msgpack_ext),
                                      unpacker: Manypack::Bigint.method(:from_msgpack_ext), oversized_integer_extension: true)
    factory.register_type(-1, Time, packer: Manypack::Time::Packer, unpacker: Manypack::Time::Unpacker)
    factory.register_type(0, Symbol, packer: :to_msgpack_ext, unpacker: :from_msgpack_ext, optimized_symbols_parsing: true)
  end.freeze
  POOL = FACTORY.pool(2)
  CODEC = FACTORY.codec(shareable: true)
  OBJECT = Ractor.make_shareable([Point.new(5), 2**70, Time.at(1, 2, :nsec), { key: "v" }])

  def test_a_frozen_factory_a_codec_and_a_pool_are_for_every_ractor
    [FACTORY, CODEC, POOL, Manypack::DefaultFactory, FACTORY.dup.freeze].each { |object| assert Ractor.shareable?(object), object.inspect }
    refute Ractor.shareable?(Manypack::Factory.new)
    outcomes = Array.new(3) do
      Ractor.new do
        [FACTORY.load(FACTORY.dump(OBJECT)), POOL.load(POOL.dump(OBJECT)), CODEC.load(CODEC.dump(OBJECT)),
         FACTORY.unpacker.feed(FACTORY.packer.write(OBJECT).to_s).read]
      end
    end.map { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take }
    assert_equal [[OBJECT] * 4] * 3, outcomes
  end

  def test_a_factory_with_a_handler_that_is_not_for_sharing_is_neither
    factory = Manypack::Factory.new
    seen = []
    factory.register_type(1, Point, packer: ->(point) { seen << point && "p" }, unpacker: nil)
    refute Ractor.shareable?(factory.freeze)
    refute Ractor.shareable?(factory.codec)
    refute Ractor.shareable?(factory.pool)
    assert_raises(StandardError) { Ractor.make_shareable(factory) }
    assert_equal "d4 01 70", hex(factory.dump(Point.new(1)))
  end

  def test_shareable_trees_by_every_way_to_decode
    packed = FACTORY.dump(OBJECT)
    [CODEC.load(packed), FACTORY.load(packed, shareable: true), FACTORY.pool(1, shareable: true).load(packed),
     FACTORY.unpacker(shareable: true).feed(packed).read, FACTORY.unpacker(StringIO.new(packed), shareable: true).read,
     packed.each_char.inject(FACTORY.unpacker(shareable: true)) { |unpacker, byte| unpacker.feed(byte) }.each.first].each do |tree|
      assert_equal OBJECT, tree
      assert Ractor.shareable?(tree)
      assert(tree.all? { |object| Ractor.shareable?(object) && object.frozen? })
      assert Ractor.shareable?(tree.last["key".to_sym])
    end
  end

  def test_a_shareable_tree_passes_to_a_ractor_as_it_is
    tree = CODEC.load(FACTORY.dump(OBJECT))
    assert_equal tree.object_id, in_ractor(tree, &:object_id)
  end

  def test_a_codec_that_passes_through_a_ractor_stays_itself
    codec = in_ractor { Manypack::Codec.new(symbolize_keys: true) }
    assert_equal({ a: 1 }, codec.load("\x81\xA1a\x01".b))
  end

  # Of DefaultFactory there is one in a process.
  def test_shareable_types_of_the_default_factory_work_in_ractors
    assert_program <<~RUBY, "ok"
      Point = Struct.new(:x) do
        def to_msgpack_ext = [x].pack("c")
        def self.from_msgpack_ext(body) = new(body.unpack1("c"))
      end
      Manypack::DefaultFactory.register_type(1, Point)
      Manypack::DefaultFactory.register_type(-1, Time, packer: Manypack::Time::Packer, unpacker: Manypack::Time::Unpacker)
      ractor = Ractor.new do
        object = [Point.new(5), Time.at(5)]
        [Manypack.unpack(Manypack.pack(object)) == object, Manypack::DefaultFactory.load(Manypack::DefaultFactory.dump(object)) == object,
         Manypack::Codec.new(freeze: true).load(Manypack.pack(object)) == object, Manypack::DefaultFactory.pool.load(Manypack.pack(object)) == object]
      end
      puts "ok" if value(ractor).all?
    RUBY
  end

  def test_types_registered_while_a_ractor_runs_are_seen_by_it
    assert_program <<~RUBY, "ok"
      Point = Struct.new(:x) { def to_msgpack_ext = "p" }
      ractor = Ractor.new do
        Ractor.receive
        Manypack.pack(Point.new(1))
      end
      Manypack::DefaultFactory.register_type(1, Point, packer: :to_msgpack_ext)
      ractor.send(nil)
      puts "ok" if value(ractor) == "\\xD4\\x01p".b
    RUBY
  end

  # However a Ractor comes by the handler.
  WAYS = [
    'Manypack.unpack("\xD4\x01a".b)', "Manypack.pack(1..2)", 'Manypack::DefaultFactory.load("\xD4\x01a".b)', "Manypack::DefaultFactory.dump(1..2)",
    'Manypack::Codec.new(freeze: true).load("\xD4\x01a".b)', 'Manypack::DefaultFactory.codec(freeze: true).load("\xD4\x01a".b)',
    "Manypack::DefaultFactory.packer.write(1..2)", 'Manypack::DefaultFactory.pool(1, freeze: true).load("\xD4\x01a".b)',
    'Manypack::DefaultFactory.dup.tap { |factory| factory.register_type(2, Set, packer: :to_s) }.load("\xD4\x01a".b)',
    'Manypack::DefaultFactory.unpacker.tap { |unpacker| unpacker.register_type(2) { nil } }.feed("\xD4\x01a".b).read',
    "Manypack::DefaultFactory.packer.tap { |packer| packer.register_type(2, Complex) { nil } }.write(1..2)"
  ].freeze

  def test_handlers_of_the_default_factory_that_are_not_for_sharing_stay_in_the_main_ractor
    assert_program <<~RUBY, "ok"
      require "set"
      seen = []
      Manypack::DefaultFactory.register_type(1, Range, packer: ->(range) { seen << range && "r" }, unpacker: ->(body) { seen << body && body })
      ways = #{WAYS.inspect}
      messages = ways.map do |way|
        value(Ractor.new(way) do |code|
          eval(code) && "nothing raised"
        rescue Ractor::IsolationError => e
          e.message
        end)
      end
      messages.zip(ways) do |message, way|
        puts way, message unless message.match?(/ext type 1 for Range .*Ractor.make_shareable/)
      end
      ways.each { |way| eval(way) }
      puts "ok" if seen.size == ways.size && value(Ractor.new { Manypack.unpack("\\x91\\x01") }) == [1]
    RUBY
  end

  def test_types_are_registered_on_the_default_factory_in_the_main_ractor_alone
    assert_program <<~RUBY, "ok"
      ractor = Ractor.new do
        Manypack::DefaultFactory.register_type(1, Range, packer: :to_s, unpacker: nil)
      rescue Ractor::IsolationError => e
        copy = Manypack::DefaultFactory.dup
        copy.register_type(1, Range, packer: :to_s, unpacker: nil)
        copy.dump(1..2) && e.message
      end
      puts "ok" if value(ractor).include?("main Ractor") && !Manypack::DefaultFactory.type_registered?(1)
    RUBY
  end

  def test_ractors_at_work_and_a_sound_heap_at_the_end
    assert_program <<~RUBY, "ok"
      Point = Struct.new(:x) do
        def to_msgpack_ext = [x].pack("c")
        def self.from_msgpack_ext(body) = new(body.unpack1("c"))
      end
      FACTORY = Manypack::Factory.new.tap { |factory| factory.register_type(1, Point) }.freeze
      ractors = Array.new(4) do |i|
        Ractor.new(i) do |number|
          last = nil
          100.times do |round|
            object = { "n" => number, "list" => [Point.new(round), "x" * 2_000, 2**64 - 1, 1e300], "k\#{round}" => nil }
            unpacker = FACTORY.unpacker(shareable: round.even?)
            FACTORY.dump(object).each_char.each_slice(500) { |part| unpacker.feed_each(part.join) { |read| last = read } }
            raise unless last == object
            begin
              unpacker.feed("\\xC1".b).read
            rescue Manypack::MalformedFormatError
              GC.start if round % 25 == 0
            end
          end
          last
        end
      end
      results = ractors.map { |ractor| value(ractor) }
      GC.verify_internal_consistency
      GC.compact if GC.respond_to?(:compact)
      GC.verify_internal_consistency
      puts "ok" if results.map { |result| result["n"] } == [0, 1, 2, 3]
    RUBY
  end

  def test_a_sound_heap
    20.times { FACTORY.unpacker.feed(FACTORY.packer.write([OBJECT] * 100).to_s).each { nil } }
    in_ractor { FACTORY.load(FACTORY.dump([OBJECT] * 100), shareable: true) }
    assert_nil GC.verify_internal_consistency
  end
end

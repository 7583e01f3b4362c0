# frozen_string_literal: true

# A block is called, or refused by an error that says what takes one. Methods that only answer ignore it, as Ruby's do.
require "test_helper"
require "stringio"
require "tmpdir"
require "support/public_methods"

class BlocksTest < Minitest::Test
  Point = Struct.new(:x)
  POINT = Manypack::Record.new(Point, x: Integer)
  BYTES = Manypack.pack({ "x" => 1 }).freeze
  CODEC = Manypack::Codec.new
  PATH = Manypack::Path.new("$.x")

  def self.view = Manypack::View.new(BYTES)
  def self.unpacker = Manypack::Unpacker.new
  def self.factory = Manypack::Factory.new

  # Methods that call a block.
  CALLED = %w[.foreach .foreach_json Type.recursive Type#foreach Type#foreach_json Type#check Codec#foreach_json Factory#foreach_json .split Packer.open Codec#foreach Unpacker.open Unpacker#each Unpacker#feed_each Unpacker#register_type
              Packer#register_type Factory::Pool#packer Factory::Pool#unpacker Parallel.map Parallel.each Parallel.filter Record.define
              Path#each Path#each_with_path Path::Function#call Path::Function.new View#each View#each_pair View#fetch View#query View#select View#filter
              View#reject View#uniq View#tally View#group_by View#to_set View#to_h View#include? View#member?].freeze

  # Methods that refuse a block: for each a call with one.
  REFUSED = {
    ".unpack" => ->(&b) { Manypack.unpack(BYTES, symbolize_keys: true, &b) }, ".load" => ->(&b) { Manypack.load(BYTES, freeze: true, &b) },
    ".pack" => ->(&b) { Manypack.pack(1, canonical: true, &b) }, ".dump" => ->(&b) { Manypack.dump(1, canonical: true, &b) },
    ".to_json" => ->(&b) { Manypack.to_json("1", max_depth: 1, &b) }, "Codec#to_json" => ->(&b) { CODEC.to_json("1", max_depth: 1, &b) },
    ".from_json" => ->(&b) { Manypack.from_json("1", max_depth: 1, &b) }, "Codec#from_json" => ->(&b) { CODEC.from_json("1", max_depth: 1, &b) },
    ".load_file" => ->(&b) { Manypack.load_file("none.msgpack", &b) }, ".dump_file" => ->(&b) { Manypack.dump_file(1, "none.msgpack", &b) },
    "Codec.new" => ->(&b) { Manypack::Codec.new(&b) }, "Codec#with" => ->(&b) { CODEC.with(freeze: true, &b) },
    "Codec#unpack" => ->(&b) { CODEC.unpack(BYTES, freeze: true, &b) }, "Codec#load" => ->(&b) { CODEC.load(BYTES, freeze: true, &b) },
    "Codec#pack" => ->(&b) { CODEC.pack(1, canonical: true, &b) }, "Codec#dump" => ->(&b) { CODEC.dump(1, canonical: true, &b) },
    "Codec#packer" => ->(&b) { CODEC.packer(&b) }, "Codec#unpacker" => ->(&b) { CODEC.unpacker(&b) }, "Codec#view" => ->(&b) { CODEC.view(BYTES, &b) },
    "Packer.new" => ->(&b) { Manypack::Packer.new(StringIO.new, &b) }, "Unpacker.new" => ->(&b) { Manypack::Unpacker.new(StringIO.new, &b) },
    "Unpacker#feed" => ->(&b) { unpacker.feed(BYTES, &b) }, "Unpacker#feed_reference" => ->(&b) { unpacker.feed_reference(BYTES, &b) },
    "Unpacker#full_unpack" => ->(&b) { unpacker.feed(BYTES).full_unpack(&b) },
    "Factory.new" => ->(&b) { Manypack::Factory.new(&b) }, "Factory#packer" => ->(&b) { factory.packer(&b) }, "Factory#unpacker" => ->(&b) { factory.unpacker(&b) },
    "Factory#register_type" => ->(&b) { factory.register_type(1, Range, packer: :to_s, &b) }, "Factory#pool" => ->(&b) { factory.pool(&b) },
    "Factory#register_common" => ->(&b) { factory.register_common(:symbol, &b) },
    "View.new" => ->(&b) { Manypack::View.new(BYTES, &b) }, "View#splice" => ->(&b) { view.splice({ "x" => 2 }, &b) },
    "View#dig_many" => ->(&b) { view.dig_many("x", &b) }, "View#as" => ->(&b) { view.as(POINT, &b) },
    "Record.new" => ->(&b) { Manypack::Record.new(Point, x: Integer, &b) }, "Record.ivars" => ->(&b) { Manypack::Record.ivars(Object, x: Integer, &b) },
    "Record.union" => ->(&b) { Manypack::Record.union("type", { "p" => POINT }, &b) }, "Record#with" => ->(&b) { POINT.with(&b) },
    "Type.[]" => ->(&b) { Manypack::Type.[](String, &b) }, "Type#or" => ->(&b) { POINT.or(nil, &b) }, "Type#with" => ->(&b) { Manypack::Type[Integer].with(&b) },
    **{ text: [], bytes: [], uuid: [], tuple: [Integer], set: [Integer] }.to_h { |name, types| ["Type.#{name}", ->(&b) { Manypack::Type.public_send(name, *types, &b) }] },
    "Type.via" => ->(&b) { Manypack::Type.via(String, String, load: :to_s.to_proc, &b) },
    "Type#load" => ->(&b) { POINT.load(BYTES, &b) }, "Type#dump" => ->(&b) { POINT.dump(Point.new(1), &b) }, "Type#valid?" => ->(&b) { POINT.valid?(BYTES, &b) },
    "Type#load_json" => ->(&b) { POINT.load_json(%({"x":1}), &b) }, "Type#load_json_file" => ->(&b) { b ? POINT.load_json_file("none.json", &b) : nil }, "Type#dump_json" => ->(&b) { POINT.dump_json(Point.new(1), &b) },
    "Type#view" => ->(&b) { POINT.view(Point.new(1), &b) }, "Type#from" => ->(&b) { POINT.from({ x: 1 }, &b) },
    "Type#to_h" => ->(&b) { POINT.to_h(Point.new(1), &b) },
    "Path.new" => ->(&b) { Manypack::Path.new("$.x", &b) }, "Path#to_a" => ->(&b) { PATH.to_a(BYTES, &b) }, "Path#paths" => ->(&b) { PATH.paths(BYTES, &b) },
    "Path#first" => ->(&b) { PATH.first(BYTES, &b) }, "Path#count" => ->(&b) { PATH.count(BYTES, &b) }, "Path#any?" => ->(&b) { PATH.any?(BYTES, &b) }
  }.freeze

  # Methods that ignore it: those that answer a question about an object, and those where a check would cost as much as
  # what they do. One of the four first lines of REFUSED without an option is among them.
  IGNORED = %w[
    .canonical? .dig .canonicalize .eager_load! Factory#from_json Factory#to_json Factory#pack Factory#unpack Factory#load Factory#dump Factory#codec Factory#freeze Factory#inspect
    Factory#registered_types Factory#type_registered? Factory::Pool.new Factory::Pool#load Factory::Pool#dump
    Codec#inspect Codec#== Codec#options Codec#eql? Codec#hash
    Packer#reset Packer#write_to Packer#full_pack Packer#compatibility_mode? Packer#to_str Packer#<< Packer#write_nil Packer#write_true
    Packer#to_a Packer#to_s Packer#pack Packer#write_false Packer#write_int Packer#write_float Packer#write_float32 Packer#write_string
    Packer#write_bin Packer#write_array Packer#write_hash Packer#empty? Packer#write_array_header Packer#write_bin_header
    Packer#write_symbol Packer#write_extension Packer#write_ext Packer#registered_types Packer#type_registered? Packer#clear Packer#buffer
    Packer#write Packer#write_map_header Packer#flush Packer#size Packer#is_a?
    Unpacker#reset Unpacker#<< Unpacker#unpack Unpacker#skip Unpacker#position Unpacker#pending? Unpacker#skip_nil Unpacker#read
    Unpacker#read_array_header Unpacker#read_map_header Unpacker#symbolize_keys? Unpacker#freeze? Unpacker#allow_unknown_ext?
    Unpacker#registered_types Unpacker#type_registered? Unpacker#buffer
    EncodeError#path DecodeError#offset DecodeError#path DecodeError#line DecodeError#column LimitError#value LimitError#limit TruncatedError#start
    RecordError#path RecordError#errors RecordError#record RecordError#member RecordError#field RecordError#code RecordError#expected RecordError#got
    RecordError#pointer RecordError#sentence RecordError#details Parallel::Error#offset Parallel::Error#index
    Parallel::Error#detailed_message ExtensionValue#payload ExtensionValue#type= ExtensionValue#payload= ExtensionValue#type
    Bigint.to_msgpack_ext Bigint.from_msgpack_ext Timestamp.new Timestamp#nsec Timestamp#<=> Timestamp#== Timestamp#inspect Timestamp#sec
    Error#encode_with Timestamp#init_with Timestamp#to_msgpack_ext Timestamp#to_json Timestamp#as_json Timestamp#to_time Timestamp#eql? Timestamp#encode_with Timestamp#hash Timestamp.now
    Timestamp.from_msgpack_ext Timestamp.to_msgpack_ext
    Buffer.new Buffer#read_all Buffer#skip_all Buffer#clear Buffer#<< Buffer#to_str Buffer#read Buffer#to_a Buffer#write Buffer#io Buffer#to_s
    Buffer#write_to Buffer#size Buffer#empty? Buffer#skip Buffer#close Buffer#flush
    Record#klass Record#form Record#build Record#lazy_class Record#types Record#members Record#optional? Record#copies? Record#array
    Record#inherited_by Record#named? Type#spec Type#attach Record#attach Record#lazy Record#unknown Record#defaults Record#inspect Record#keys
    Type.new Type#to_rbs Type#== Type#=== Type#eql? Type#check? Type#codec Type#json_schema Type.from_json_schema Type#description Type#reads? Type#incompatibilities Incompatibility.new Incompatibility#to_s Incompatibility#== Incompatibility#eql? Incompatibility#hash Incompatibility#path Incompatibility#reason Incompatibility#example Type#inspect Type#hash
    Path#== Path#max_looks Path#steps Path#to_s Path#eql? Path#encode_with Path#all? Path#inspect Path#hash Path.from Path.all Path.of
    Path::All.new Path::All#== Path::All#eql? Path::All#read Path::All#to_h Path::All#inspect Path::All#hash Path::Function#takes
    Path::Function#returns
    View#to_msgpack View#deconstruct_keys View#dup View#to_json View#as_json View#== View#detach View#[] View#compact View#empty?
    View#eql? View#respond_to? View#bytesize View#offset View#canonical? View#freeze View#inspect View#length View#size View#last
    View#bytes View#type View#to_ary View#to_hash View#to_a View#to_s View#values_at View#value View#encode_with View#deconstruct
    View#codec View#clone View#dig View#keys View#values View#key? View#hash View.inserted View.appended View.renamed View.with_parents
    LazyRecord#to_msgpack LazyRecord#deconstruct_keys LazyRecord#dup LazyRecord#record LazyRecord#to_json LazyRecord#as_json LazyRecord#==
    LazyRecord#[] LazyRecord#eql? LazyRecord#encode_with LazyRecord#to_h LazyRecord#load LazyRecord#inspect LazyRecord#clone LazyRecord#bytes
    LazyRecord#hash
  ].freeze

  def test_every_public_method_calls_a_block_refuses_it_or_only_answers
    public_methods = PublicMethods.without_integrations.values_at(:methods, :constructors).flatten.map { |name| name.delete_prefix("Manypack").delete_prefix("::") }
    listed = CALLED + REFUSED.keys + IGNORED
    assert_equal public_methods.uniq.sort, listed.sort
  end

  REFUSED.each do |name, call|
    define_method("test_#{name}_refuses_a_block") do
      called = name.start_with?(".") ? "Manypack#{name}" : name
      called = called.sub("Type#", "Record#") if name.start_with?("Type#") && name != "Type#with"
      error = assert_raises(ArgumentError) { call.call { flunk } }
      assert_match(/\A#{Regexp.escape(called)} takes no block(: .{10,})?\z/, error.message)
      call.call if name !~ /_file/
      refute_path_exists "none.msgpack"
    end
  end

  def test_the_error_names_what_takes_one
    { "View.new" => "Manypack.split(bytes, as: :view) { |view|", "Unpacker#feed" => "feed_each(bytes) { |object|", "Type#load" => "Manypack.split(bytes, as:",
      ".load_file" => "Manypack.foreach(path) {", "Record.new" => "Record.define(", "Packer.new" => "Packer.open(path) {" }.each do |name, words|
      assert_includes assert_raises(ArgumentError) { REFUSED[name].call { flunk } }.message, words
    end
  end

  def test_every_hint_is_of_a_method_that_refuses
    called = REFUSED.keys.map { |name| name.start_with?(".") ? "Manypack#{name}" : name }
    hinted = Manypack.module_eval("Hints").module_eval("TABLE")[:block].keys.map { |name| name.name.sub(/\ARecord#(?=load|or)/, "Type#") }
    assert_empty hinted - called
  end

  Attached = Manypack::Record.define(x: Integer)

  def test_a_class_with_a_record_refuses_a_block_too
    assert_match(/Record#load takes no block/, assert_raises(ArgumentError) { Attached.load(BYTES) { flunk } }.message)
  end

  Reader = Class.new(Manypack::Unpacker) { def initialize(io) = super }

  def test_the_initialize_of_a_subclass_may_pass_its_block_on
    assert_equal 1, Reader.new(StringIO.new("\x01")) { flunk }.read
  end

  # A library may be named after ours, and a class may have a name of its own.
  def test_classes_of_others_take_the_blocks_that_they_pass_on
    extra = Class.new(Manypack::Factory) { def initialize(&block) = super }
    Object.const_set(:ManypackExtra, Module.new).const_set(:Factory, extra)
    assert_kind_of Manypack::Factory, extra.new { flunk }
    named = Class.new(Manypack::Factory) { def self.name = "Manypack::Factory" }
    assert_kind_of Manypack::Factory, named.new { flunk }
    assert_kind_of Manypack::Factory, Class.new(Manypack::Factory) { def self.name(_) = nil }.new { flunk }
  ensure
    Object.send(:remove_const, :ManypackExtra)
  end

  def test_messagepack_ignores_a_block_as_the_msgpack_gem_does
    program = 'require "manypack/drop_in"; MessagePack.unpack("\x01", freeze: true) { 1 }; MessagePack::Unpacker.new.feed("\x01") { 1 }.full_unpack { 1 }; ' \
              'MessagePack::Packer.new(StringIO.new) { 1 }; MessagePack::Factory.new { 1 }.packer { 1 }; MessagePack::Factory.new.register_type(1, Range, packer: :to_s) { 1 }; print "ok"'
    output, = Open3.capture2e(RbConfig.ruby, "-Ilib", "-rstringio", "-e", program)
    assert_equal "ok", output
  end
end

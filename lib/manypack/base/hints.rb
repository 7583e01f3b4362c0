# frozen_string_literal: true

#--
# What methods, classes and options are called here that other libraries have by another name, or not at all. A row
# stays if people have tried its names, and its text told them what to write.
#++
module Manypack
  # The texts by which errors name ours.
  module Hints # :nodoc:
    # Returns a Hash of names and hints, from one of names with spaces between them and hints.
    def self.table(hints)
      hints.flat_map { |names, hint| names.split.map { |name| [name.to_sym, hint] } }.to_h
    end
    private_class_method :table

    REPAIR = "rescue the Manypack::TruncatedError of Manypack.foreach(path), then File.truncate(path, error.start)"
    FILES = "Manypack.foreach(path) { |object| ... } reads a file, Manypack::Unpacker.new(io).each any io, and " \
            "Manypack::Packer.open(path) writes a file"
    RECORD = "Manypack::Record.new(User, id: Integer), or Manypack::Record.define(id: Integer)"
    TYPES = "a registered class is an ext type: types are registered on a Factory, and factory.codec makes a Codec"
    CHANGES = "splice(path => value) returns a changed View"
    COMPARES = "view == other compares, and `manypack diff` shows where two files differ"
    READS_A_FILE = "Manypack.foreach(path, as: record), and Manypack.load_file(path, as: record) for one message"
    CHECKS = "a Range such as 1..10 bounds numbers, an enum such as [\"a\", \"b\"] lists what may be there, and an " \
             "initialize of the class can refuse others"
    NIL_OR_MISSING = "Manypack::Type[String].or(nil) is a type that may be nil, and with(defaults: {member: value}) " \
                     "lets a member be missing"
    ENUM = "an enum is an Array of literals, such as [\"a\", \"b\"]"
    STRICT = "with(unknown: :raise) refuses unknown keys"
    private_constant :REPAIR, :FILES, :RECORD, :TYPES, :CHANGES, :COMPARES, :READS_A_FILE, :CHECKS, :NIL_OR_MISSING,
                     :ENUM, :STRICT

    # By class, or by class and a dot for methods of the class itself.
    METHODS = {
      "Manypack." => table(
        "encode generate serialize" => "Manypack.pack(object) returns bytes",
        "decode parse deserialize" => "Manypack.unpack(bytes) returns the object",
        "safe_load safe_unpack" => "Manypack.unpack(bytes, untrusted: true) reads what strangers sent",
        "read read_file" => "Manypack.load_file(path) reads one message, and Manypack.foreach(path) many",
        "write write_file save save_file" =>
          "Manypack.dump_file(object, path) writes one message, and Manypack::Packer.open(path) many",
        "open each stream each_file each_message" => FILES,
        "load_all unpack_all load_stream" =>
          "Manypack.split(bytes, as: :view), Manypack::Unpacker.new.feed(bytes).each and Manypack.foreach(path) " \
          "read many messages",
        "append log" => "Manypack::Packer.open(path, append: true) { |packer| packer.write(object) }",
        "count size head tail" => "Manypack.foreach(path).count counts messages, and .first(10) takes the first",
        "hexdump pretty stat" => "`manypack inspect`, `manypack cat` and `manypack stat` show bytes at the terminal",
        "repair truncate" => REPAIR,
        "valid? validate" => "Manypack::Type[Object].valid?(bytes), or Manypack::View.new(bytes, check: true)",
        "query search path" => "Manypack::Path.new(path).to_a(bytes), or Manypack::View.new(bytes).query(path)",
        "fetch get" => "Manypack.dig(bytes, key, index, ...)",
        "view lazy lazy_load" =>
          "Manypack::View.new(bytes) builds what you ask for, and so does what Record#lazy loads",
        "splice patch merge update" => "Manypack::View.new(bytes).splice(path => value).bytes",
        "map parallel pmap" => "Manypack::Parallel.map(bytes) { |object| ... }, each and filter",
        "register register_type" => "Manypack::DefaultFactory.register_type(number, klass, ...)",
        "configure config options" => "a Codec holds options: keep Manypack::Codec.new(option: value) in a constant",
        "record define schema struct" => RECORD,
        "from_json" => "Manypack.pack(JSON.parse(text))",
        "to_json" => "require \"json\", and Manypack::View.new(bytes).to_json",
        "to_msgpack" => "Manypack.pack(object); require \"manypack/core_ext\" gives every core class to_msgpack"
      ),
      "Factory" => table(
        "merge" => "register the types of both on one Factory", "types" => "registered_types",
        "register add_type" => "register_type(number, klass, ...)",
        "with options" => "codec(option: value) makes a Codec with options"
      ),
      "Unpacker" => table(
        "rewind seek" => "rewind the io, or seek in it, then call reset",
        "next parse load decode" => "read returns the next object",
        "eof?" => "each(strict: true) ends at the end; read raises an EOFError there, which is a TruncatedError if " \
                  "an object had begun",
        "close" => "close the io", "pos tell offset" => "position",
        "each_view" => "Manypack::Unpacker.new(io, as: :view).each { |view| ... }",
        "each_object" => "each { |object| ... }",
        "dup clone" => "create another one, with the same options: an Unpacker has one input"
      ),
      "Unpacker." => table("foreach each read load" => "Manypack.foreach(path), or Manypack::Unpacker.new(io).each"),
      "Packer" => table(
        "push append add" => "write(object), or packer << object", "write_str" => "write_string(string)",
        "write_map" => "write(object), or write_map_header(count) and each key and value",
        "close finish" => "flush, and close the io; Manypack::Packer.open(path) { |packer| ... } does both",
        "string bytes" => "to_s",
        "dup clone" => "create another one, with the same options; to_s returns the bytes of this one"
      ),
      "Codec" => table(
        "register register_type register_common" => TYPES,
        "pack_file save_file write_file" => "Manypack.dump_file(object, path, codec: codec)",
        "load_file" => "Manypack.load_file(..., codec: codec)", "dump_file" => "Manypack.dump_file(..., codec: codec)",
        "split dig" => "Manypack.split(..., codec: codec) and Manypack.dig(..., codec: codec)",
        "encode generate" => "pack(object)", "decode parse" => "unpack(bytes)", "merge" => "with(option: value)"
      ),
      "View" => table(
        "set update store put replace with change merge! transform patch apply merge_patch []=" => CHANGES,
        "append insert prepend" => "splice(path => Manypack::View.appended(value)) returns a View with it, and " \
                                   "Manypack::View.inserted puts it before an index",
        "remove delete delete_if except! unset" => "splice(path => Manypack::View::REMOVED) returns a View without it",
        "get" => "dig(key, index, ...) or view[key]", "diff changes compare" => COMPARES,
        "paths" => "Manypack::Path.new(\"$..*\").paths(bytes) lists paths, and each_with_path yields values with them",
        "unpack object decode to_object load" => "value builds the object", "to_struct" => "as(type)",
        "path search at" => "query(path) finds all values, and dig(key, index, ...) one",
        "raw data source to_bytes pack dump" => "bytes", "valid? validate" => "Manypack::View.new(bytes, check: true)"
      ),
      "View." => table(
        "each foreach open load parse read from" => "Manypack.foreach(path, as: :view), Manypack.split(bytes, as: " \
          ":view) and Manypack::Unpacker.new(io, as: :view).each yield a View of each message",
        "remove deleted delete removed" => "REMOVED is what View#splice removes",
        "append" => "Manypack::View.appended(value, ...)", "insert" => "Manypack::View.inserted(value, ...)"
      ),
      "Type." => table(
        "optional nullable maybe" => NIL_OR_MISSING, "enum one_of literal" => ENUM,
        "list array" => "a list is [String]", "map hash_of" => "a map is {String => Integer}",
        "any anything" => "anything is Object",
        "any_of or" => "one of several types is Manypack::Type[String, Integer]",
        "union" => "Manypack::Record.union(\"type\", \"a\" => A, \"b\" => B) tells Records apart by a tag, and " \
                   "Manypack::Type[String, Integer] is one of several types",
        "boolean bool" => "Manypack::Type[true, false]",
        "string integer float" => "a type is a class: String, Integer",
        "range" => "a range is 1..10", "attach" => "Manypack::Record.new(User, id: Integer).attach",
        "lazy" => "Manypack::Record.new(User, id: Integer).lazy", "strict" => STRICT,
        "default defaults" => "Manypack::Record.new(User, id: Integer).with(defaults: {id: 0})",
        "of from struct data create schema" => RECORD, "foreach load_file open" => READS_A_FILE,
        "parse load decode" =>
          "load(bytes) of a Record: USER = Manypack::Record.new(User, id: Integer), and USER.load(bytes)"
      ),
      "Type" => table(
        "enum one_of" => ENUM, "| union any_of" => "or(other) is one of two types, and or(nil) may be nil",
        "errors" => "load(bytes, collect: true) raises a RecordError with all errors: rescue it, and ask it for errors",
        "validate" => "valid?(bytes) tells, and load(bytes) raises a RecordError",
        "validate! load!" => "load(bytes) raises a RecordError",
        "foreach each_file load_file" => READS_A_FILE,
        "parse unpack decode" => "load(bytes)", "pack encode" => "dump(object)",
        "each split load_all" =>
          "Manypack.foreach(path, as: record), Manypack::Unpacker.new(io, as: record).each and " \
          "Manypack.split(bytes, as: record)",
        "nullable optional" => "or(nil) may be nil", "where check constrained in min max length format" => CHECKS,
        "list array_of" => "Manypack::Type[[type]]", "to_json_schema schema" => "json_schema"
      ),
      "Record" => table(
        "fields attributes" => "members and types list them", "new from_hash" => "klass.new makes an object",
        "nullable optional" => NIL_OR_MISSING, "default" => "with(defaults: {member: value})", "strict" => STRICT,
        "rename" => "with(keys: {member: \"key\"})"
      ),
      "Timestamp." => table(
        "at from_time from parse" =>
          "Manypack::Timestamp.new(time.to_i, time.nsec), or pack the Time itself; both need timestamp: true"
      ),
      "Path" => table(
        "find find_all match values call query" =>
          "to_a(bytes) finds all values, first(bytes) one, and each(bytes) { |value| ... } yields them"
      ),
      "Path." => table("[] parse compile" => "Manypack::Path.new(\"$.a.b\"), and its to_a(bytes)"),
      "Parallel." => table(
        "new pool run start" => "Manypack::Parallel.map(bytes, ractors: 4) { |object| ... } needs no object"
      ),
      "RecordError" => table(
        "expected actual got" => "the message says what was expected and what is there; path and field, where",
        "key member" => "field"
      )
    }

    CONSTANTS = table(
      "Pool ThreadPool Workers" => "Manypack::Parallel.map(bytes, ractors: 4)",
      "Schema Struct Model" => "use Manypack::Record",
      "Log Logger" => "use Manypack::Packer.open(path, append: true)",
      "Stream Reader Decoder Parser" =>
        "use Manypack::Unpacker, or Manypack.foreach(path) for a file; to repair one, #{REPAIR}",
      "Writer Encoder" => "use Manypack::Packer, or Manypack::Packer.open(path, append: true) to add to a file",
      "Types Enum Optional Union List" =>
        "types are classes and literals, as in Manypack::Record.new(User, id: Integer, tags: [String]), and " \
        "Manypack::Type[...]",
      "Lazy Document" => "Manypack::View, or what Record#lazy loads", "Query JSONPath Pointer" => "use Manypack::Path",
      "Config Configuration Options" => "use Manypack::Codec", "Patch Diff" => "View#splice changes bytes",
      "Limits Limit Untrusted" => "limits are options, such as max_bytes: 1_000_000 and untrusted: true",
      "Assertions Testing TestHelper Minitest RSpec" =>
        "a test compares Manypack.unpack(bytes), or asks record.valid?(bytes)",
      "Raw Packed RawValue" =>
        "a View packs as its own bytes: Manypack.pack({\"user\" => Manypack::View.new(bytes)})",
      "Ext ExtType Extension" => "Factory#register_type, and Manypack::ExtensionValue",
      "EncodingError PackError DumpError" => "use Manypack::EncodeError",
      "DecodingError ParseError ParserError LoadError FormatError" => "use Manypack::DecodeError",
      "ValidationError SchemaError" => "use Manypack::RecordError",
      "EOFError" => "use Manypack::TruncatedError; at the end of a stream, read raises Ruby's EOFError",
      "DepthError TooDeepError" => "use Manypack::StackError for bytes and Manypack::NestingError for objects",
      "SizeError TooLargeError" => "use Manypack::LimitError",
      "TimeoutError" => "untrusted: true and limits such as max_objects: bound the time, and raise a LimitError",
      "Rack" => "require \"manypack/rack\"", "Rails" => "require \"manypack/rails\"",
      "Karafka" => "require \"manypack/karafka\"", "Faraday" => "require \"manypack/faraday\""
    )

    OPTIONS = table(
      "checks validate validates where constraints" => CHECKS, "optional nullable" => NIL_OR_MISSING,
      "all_errors" => "did you mean collect? It reports all errors",
      "collect" => "load(bytes, collect: true) of a Record or Type reports all errors of a message",
      "on_error skip resync" =>
        "an error ends the call: rescue it; load(bytes, collect: true) of a Record reports all errors of a message, " \
        "and of a stream that is cut the start of the Manypack::TruncatedError is the end of the last whole message",
      "sync fsync autoflush" => "packer.flush writes what has been packed", "repair" => REPAIR,
      "processes ractors threads jobs" =>
        "Manypack::Parallel.map(File.open(path, \"rb\"), processes: 4) { |object| ... } runs its block in the " \
        "workers, and Manypack::Parallel.each(source, map: ...) yields what they return",
      "workers concurrency" => "ractors: or processes: of Parallel say how many workers there are",
      "timeout deadline" => "untrusted: true and limits such as max_bytes: and max_objects: bound the time",
      "symbols symbol" =>
        "symbolize_keys: true makes keys Symbols, and register_common(:symbol) on a Factory keeps all",
      "bigint bignum" => "register_common(:bigint) on a Factory packs larger Integers by factory.dump(object), and " \
                         "factory.load(bytes) reads them",
      "types ext_types extensions factory" => TYPES,
      "lazy" => "as: :view reads a View, and record.lazy makes a Record of LazyRecords",
      "as record" =>
        "as: is an option of Manypack.unpack, load_file, foreach and split, of Manypack::Parallel and of " \
        "Manypack::Unpacker.new; record.load(bytes) and view.as(record) read by a Record, record.dump(object) packs " \
        "by it, and after record.attach all packing does",
      "strict" => "unknown: :raise refuses unknown keys of a Record; utf8: :strict and duplicate_keys: :error are " \
                  "strict about bytes",
      "limit limits" => "untrusted: true sets all limits, and max_bytes: and others one",
      "encoding" => "a str is UTF-8; utf8: :strict refuses a str that is not",
      "sort_keys" => "canonical: true sorts keys",
      "io path file" => "pass it as an argument", "required" => "every member without a default value is required",
      "batch_size chunk_size" => "batches grow to as many messages as take five milliseconds",
      "compress gzip" => "the name of a file decides: one that ends in .gz is compressed"
    )

    # What to call with a block instead of a method that takes none.
    BLOCKS = {
      "Manypack.load_file" => "Manypack.foreach(path) { |object| ... } yields each message",
      "Manypack.dump_file" => "Manypack::Packer.open(path) { |packer| ... } writes many messages",
      "Factory.new" => "call register_type(number, klass, packer: ..., unpacker: ...) on the new Factory",
      "Factory#register_type" => "the options packer: and unpacker: take Procs",
      "Unpacker#feed" => "feed_each(bytes) { |object| ... } yields each object",
      "Unpacker#full_unpack" => "each { |object| ... } yields every object",
      "View#splice" => "a Proc is a value of the Hash, as in splice(path => ->(value) { ... })",
      **%w[Manypack.unpack Codec#unpack Type#load Record#load View.new Codec#view].to_h do |name|
        [name, "Manypack.split(bytes, as: :view) { |view| ... } yields every message; as: takes a type, too"]
      end,
      **%w[Packer.new Codec#packer Factory#packer].to_h do |name|
        [name, "Manypack::Packer.open(path) { |packer| ... }, or write to the new Packer"]
      end,
      **%w[Unpacker.new Codec#unpacker Factory#unpacker].to_h do |name|
        [name, "Manypack::Unpacker.new(io).each { |object| ... }"]
      end,
      **%w[Record.new Record.ivars Record.union].to_h do |name|
        [name, "Manypack::Record.define(id: Integer) { ... } defines a class with methods"]
      end,
      **%w[Type.[] Type#with Record#with].to_h { |name| [name, CHECKS] },
      **%w[Path.new Path#first Path#count Path#to_a].to_h do |name|
        [name, "each(bytes) { |value| ... } of the Path yields what it finds, and without a block is Enumerable"]
      end
    }
    [METHODS, CONSTANTS, OPTIONS, BLOCKS].each { |table| Ractor.make_shareable(table) }

    # Returns the hint for a method that an object does not have, or nil. A class has the hints of its ancestors.
    def self.method(receiver, name)
      owner = receiver.is_a?(Module) ? receiver : receiver.class
      kind = "." if owner.equal?(receiver)
      owner.ancestors.each do |ancestor|
        full = Module.instance_method(:name).bind_call(ancestor) # a class may define a name of its own
        hint = METHODS.dig("#{full&.delete_prefix("Manypack::")}#{kind}", name)
        return hint if hint
      end
      nil
    end
  end
  private_constant :Hints
end

# frozen_string_literal: true

#--
# Hints for names of methods, classes and options that other libraries have: what they are called here, or what to use
# instead. A name is here if somebody has tried it: test/contract/guesses_test.rb tries them.
#++
module Manypack
  module Hints
    REPAIR = "rescue the Manypack::TruncatedError of Manypack.foreach(path), then File.truncate(path, error.start)"
    TYPES = "a registered class is an ext type: types are registered on a Factory, and factory.codec makes a Codec"
    CHECKS = "a Range such as 1..10 bounds numbers, length: and pattern: of Manypack::Type[String, length: 1..20] " \
             "text, and check(\"must ...\") { |value| ... } of a type or a Record asks a block"
    NIL_OR_MISSING = "Manypack::Type[String].or(nil) is a type that may be nil, and with(defaults: {member: value}) " \
                     "lets a member be missing"
    ENUM = "an enum is an Array of literals, such as [\"a\", \"b\"]"
    READS_A_FILE = "Manypack.foreach(path, as: record), and Manypack.load_file(path, as: record) for one message"
    SPLITS = "Manypack.split(bytes, as: :view) { |view| ... } yields every message; as: takes a type, too"
    WRITES = "Manypack::Packer.open(path) { |packer| ... }, or write to the new Packer"
    READS = "Manypack::Unpacker.new(io).each { |object| ... }"
    private_constant :REPAIR, :TYPES, :CHECKS, :NIL_OR_MISSING, :ENUM, :READS_A_FILE, :SPLITS, :WRITES, :READS

    # Hints by owner and names, with several names in one String. The owner is a class, for its instance methods; a
    # class and a dot, for its class methods; :constant or :option. Under :block are methods that take no block.
    TABLE = {
      "Manypack." => {
        "encode generate serialize" => "Manypack.pack(object) returns bytes",
        "decode parse deserialize" => "Manypack.unpack(bytes) returns the object",
        "safe_load" => "Manypack.unpack(bytes, untrusted: true) reads what strangers sent",
        "read read_file" => "Manypack.load_file(path) reads one message, and Manypack.foreach(path) many",
        "write write_file save_file" =>
          "Manypack.dump_file(object, path) writes one message, and Manypack::Packer.open(path) many",
        "open each each_file" =>
          "Manypack.foreach(path) { |object| ... } reads a file, Manypack::Unpacker.new(io).each any io, and " \
          "Manypack::Packer.open(path) writes a file",
        "append" => "Manypack::Packer.open(path, append: true) { |packer| packer.write(object) }",
        "count head tail" => "Manypack.foreach(path).count counts messages, and .first(10) takes the first",
        "hexdump" => "`manypack inspect`, `manypack cat` and `manypack stat` show bytes at the terminal",
        "repair" => REPAIR,
        "valid? validate" => "Manypack::Type[Object].valid?(bytes), or Manypack::View.new(bytes, check: true)",
        "query" => "Manypack::Path.new(path).to_a(bytes), or Manypack::View.new(bytes).query(path)",
        "lazy_load" => "Manypack::View.new(bytes) builds what you ask for, and so does what Record#lazy loads",
        "splice" => "Manypack::View.new(bytes).splice(path => value).bytes",
        "map" => "Manypack::Parallel.map(bytes) { |object| ... }, each and filter",
        "register register_type" => "Manypack::DefaultFactory.register_type(number, klass, ...)",
        "configure" => "a Codec holds options: keep Manypack::Codec.new(option: value) in a constant",
        "to_msgpack" => "Manypack.pack(object); require \"manypack/core_ext\" gives every core class to_msgpack"
      },
      "Factory" => {
        "merge" => "register the types of both on one Factory",
        "register" => "register_type(number, klass, ...)"
      },
      "Unpacker" => {
        "rewind seek" => "rewind the io, or seek in it, then call reset",
        "next decode" => "read returns the next object",
        "each_view" => "Manypack::Unpacker.new(io, as: :view).each { |view| ... }",
        "dup clone" => "create another one, with the same options: an Unpacker has one input"
      },
      "Unpacker." => { "foreach" => "Manypack.foreach(path), or Manypack::Unpacker.new(io).each" },
      "Packer" => {
        "push append" => "write(object), or packer << object",
        "close" => "flush, and close the io; Manypack::Packer.open(path) { |packer| ... } does both",
        "dup clone" => "create another one, with the same options; to_s returns the bytes of this one"
      },
      "Codec" => {
        "register register_type" => TYPES,
        "pack_file dump_file" => "Manypack.dump_file(object, path, codec: codec)",
        "load_file" => "Manypack.load_file(..., codec: codec)"
      },
      "View" => {
        "set update merge! merge_patch patch []=" => "splice(path => value) returns a changed View",
        "append insert" => "splice(path => Manypack::View.appended(value)) returns a View with it, and " \
                           "Manypack::View.inserted puts it before an index",
        "remove delete" => "splice(path => Manypack::View::REMOVED) returns a View without it",
        "diff" => "view == other compares, and `manypack diff` shows where two files differ",
        "paths" => "Manypack::Path.new(\"$..*\").paths(bytes) lists paths, and each_with_path yields values with them",
        "unpack" => "value builds the object"
      },
      "View." => {
        "each foreach" => "Manypack.foreach(path, as: :view), Manypack.split(bytes, as: :view) and " \
                          "Manypack::Unpacker.new(io, as: :view).each yield a View of each message"
      },
      "Type." => {
        "optional nullable nilable maybe" => NIL_OR_MISSING, "enum one_of literal" => ENUM,
        "list array" => "a list is [String]", "boolean bool" => "a boolean is Manypack::Type[true, false]",
        "union" => "Manypack::Type[A, B] is any of several types, and Manypack::Record.union(\"type\", ...) has a tag",
        "date time datetime decimal uri url symbol" =>
          "Manypack::Type.text(Date) is text that says a Date; so are Time, BigDecimal, URI, Symbol and IPAddr",
        "map" => "a map is {String => Integer}", "any" => "anything is Object",
        "attach" => "Manypack::Record.new(User, id: Integer).attach",
        "lazy" => "Manypack::Record.new(User, id: Integer).lazy",
        "default" => "Manypack::Record.new(User, id: Integer).with(defaults: {id: 0})",
        "create struct" => "Manypack::Record.new(User, id: Integer), or Manypack::Record.define(id: Integer)",
        "foreach" => READS_A_FILE,
        "parse load" => "load(bytes) of a Record: USER = Manypack::Record.new(User, id: Integer), and USER.load(bytes)"
      },
      "Type" => {
        "enum one_of" => ENUM, "|" => "or(other) is one of two types, and or(nil) may be nil",
        "errors" => "load(bytes, collect: true) raises a RecordError with all errors: rescue it, and ask it for errors",
        "validate" => "valid?(bytes) tells, and load(bytes) raises a RecordError",
        "validate!" => "load(bytes), load_json(text) and from(hash) raise a RecordError",
        "valid_json? parse from_json parse_json" => "load_json(text) makes the object of JSON, or raises a RecordError",
        "from_hash from_h" => "from(hash) makes the object of a Hash, and from(hash, lax: true) of one of text",
        "decode unpack" => "load(bytes) and load_json(text) make the object",
        "encode pack generate" => "dump(object) writes MessagePack, and dump_json(object) JSON",
        "schema to_json_schema" => "json_schema describes it", "compatible?" => "reads?(other)",
        "load!" => "load(bytes) raises a RecordError", "each_file" => READS_A_FILE,
        "nullable optional" => "or(nil) may be nil", "where" => CHECKS
      },
      "Record" => {
        "merge extends" => "Manypack::Record.define(USER, role: String) extends a Record",
        "fields" => "members and types list them", "nullable optional" => NIL_OR_MISSING
      },
      "Timestamp." => {
        "at" => "Manypack::Timestamp.new(time.to_i, time.nsec), or pack the Time itself; both need timestamp: true"
      },
      "Path" => {
        "find" => "to_a(bytes) finds all values, first(bytes) one, and each(bytes) { |value| ... } yields them"
      },
      "Path." => { "parse" => "Manypack::Path.new(\"$.a.b\"), and its to_a(bytes)" },
      "Parallel." => { "new" => "Manypack::Parallel.map(bytes, ractors: 4) { |object| ... } needs no object" },
      "RecordError" => {
        "actual received" => "got says in words what is there, and expected what should be",
        "attribute" => "member is its name, and details have it of each error",
        "messages full_messages sentences" => "errors.map(&:sentence), or the message: in details",
        "to_h as_json" => "details has a Hash of each error", "problem" => "Manypack::Rack.problem(error)"
      },

      :constant => {
        "Pool" => "Manypack::Parallel.map(bytes, ractors: 4)", "Schema" => "use Manypack::Record",
        "Log" => "use Manypack::Packer.open(path, append: true)",
        "Reader" => "use Manypack::Unpacker, or Manypack.foreach(path) for a file; to repair one, #{REPAIR}",
        "Writer" => "use Manypack::Packer, or Manypack::Packer.open(path, append: true) to add to a file",
        "Types" => "types are classes and literals, as in Manypack::Record.new(User, id: Integer, tags: [String]), " \
                   "and Manypack::Type[...]",
        "Limits" => "limits are options, such as max_bytes: 1_000_000 and untrusted: true",
        "Assertions Testing" => "a test compares Manypack.unpack(bytes), or asks record.valid?(bytes)",
        "Raw" => "a View packs as its own bytes: Manypack.pack({\"user\" => Manypack::View.new(bytes)})",
        "PackError" => "use Manypack::EncodeError", "ParseError" => "use Manypack::DecodeError",
        "EOFError" => "use Manypack::TruncatedError; at the end of a stream, read raises Ruby's EOFError",
        "DepthError" => "use Manypack::StackError for bytes and Manypack::NestingError for objects",
        "TimeoutError" => "untrusted: true and limits such as max_objects: bound the time, and raise a LimitError",
        "Rack" => "require \"manypack/rack\"", "Rails" => "require \"manypack/rails\"",
        "Karafka" => "require \"manypack/karafka\"", "Faraday" => "require \"manypack/faraday\""
      },

      :option => {
        "checks where validate" => CHECKS, "optional nullable" => NIL_OR_MISSING,
        "read_only" => "did you mean dump_only? Its members are written and never read",
        "write_only" => "did you mean load_only? Its members are read and never written",
        "required" => "a member is required unless it has a default",
        "lax" => "from(hash, lax: true) of a Record or Type reads what is text",
        "coerce cast convert" => "did you mean lax? from(hash, lax: true) reads what is text",
        "all_errors" => "did you mean collect? It reports all errors",
        "collect" => "load(bytes, collect: true) of a Record or Type reports all errors of a message",
        "on_error" =>
          "an error ends the call: rescue it; load(bytes, collect: true) of a Record reports all errors of a " \
          "message, and of a stream that is cut the start of the Manypack::TruncatedError is the end of the last " \
          "whole message",
        "repair" => REPAIR,
        "processes ractors threads jobs" =>
          "Manypack::Parallel.map(File.open(path, \"rb\"), processes: 4) { |object| ... } runs its block in the " \
          "workers, and Manypack::Parallel.each(source, map: ...) yields what they return",
        "workers" => "ractors: or processes: of Parallel say how many workers there are",
        "timeout" => "untrusted: true and limits such as max_bytes: and max_objects: bound the time",
        "symbols" => "symbolize_keys: true makes keys Symbols, and register_common(:symbol) on a Factory keeps all",
        "bigint" => "register_common(:bigint) on a Factory packs larger Integers by factory.dump(object), and " \
                    "factory.load(bytes) reads them",
        "types factory" => TYPES, "lazy" => "as: :view reads a View, and record.lazy makes a Record of LazyRecords",
        "as record" =>
          "as: is an option of Manypack.unpack, load_file, foreach and split, of Manypack::Parallel and of " \
          "Manypack::Unpacker.new; record.load(bytes) and view.as(record) read by a Record, record.dump(object) " \
          "packs by it, and after record.attach all packing does; record.load_json(text) and record.foreach_json(io) " \
          "read JSON",
        "strict" => "unknown: :raise refuses unknown keys of a Record; utf8: :strict and duplicate_keys: :error are " \
                    "strict about bytes",
        "io path file" => "pass it as an argument"
      },

      :block => {
        "Manypack.load_file" => "Manypack.foreach(path) { |object| ... } yields each message",
        "Manypack.dump_file" => "Manypack::Packer.open(path) { |packer| ... } writes many messages",
        "Factory.new" => "call register_type(number, klass, packer: ..., unpacker: ...) on the new Factory",
        "Factory#register_type" => "the options packer: and unpacker: take Procs",
        "Unpacker#feed" => "feed_each(bytes) { |object| ... } yields each object",
        "Unpacker#full_unpack" => "each { |object| ... } yields every object",
        "View#splice" => "a Proc is a value of the Hash, as in splice(path => ->(value) { ... })",
        "Manypack.unpack Codec#unpack Type#load Record#load View.new Codec#view" => SPLITS,
        "Packer.new Codec#packer Factory#packer" => WRITES, "Unpacker.new Codec#unpacker Factory#unpacker" => READS,
        "Record.new Record.ivars Record.union" =>
          "Manypack::Record.define(id: Integer) { ... } defines a class with methods",
        "Type.[] Type#with Record#with" => CHECKS,
        "Path.new Path#first Path#count Path#to_a" =>
          "each(bytes) { |value| ... } of the Path yields what it finds, and without a block is Enumerable"
      }
    }.transform_values do |rows|
      rows.flat_map { |names, hint| names.split.map { |name| [name.to_sym, hint] } }.to_h
    end
    Ractor.make_shareable(TABLE)
  end
end

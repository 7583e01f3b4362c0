# frozen_string_literal: true

#--
# What methods, classes and options are called here that other libraries have by another name, or not at all.
#++
module Manypack
  # The texts by which errors name ours.
  module Hints # :nodoc:
    # Returns a Hash of names and hints, from one of names, or lists of them, and hints.
    def self.table(hints)
      Ractor.make_shareable(hints.flat_map { |names, hint| [*names].map { |name| [name, hint] } }.to_h)
    end
    private_class_method :table

    # --- methods ---

    REPAIR = "rescue the Manypack::TruncatedError of Manypack.foreach(path), then File.truncate(path, error.start)"
    private_constant :REPAIR

    MODULE = table({
      %i[encode generate serialize marshal] => "Manypack.pack(object) returns bytes",
      %i[decode parse deserialize unmarshal] => "Manypack.unpack(bytes) returns the object",
      %i[safe_load safe_unpack unpack_untrusted try_unpack] =>
        "Manypack.unpack(bytes, untrusted: true) reads what strangers sent, and raises a DecodeError",
      %i[read read_file unpack_file] => "Manypack.load_file(path) reads one message, and Manypack.foreach(path) many",
      %i[write write_file save save_file pack_file] =>
        "Manypack.dump_file(object, path) writes one message, and Manypack::Packer.open(path) many",
      %i[open file each stream each_message each_file each_line load_stream] =>
        "Manypack.foreach(path) { |object| ... } reads a file, Manypack::Unpacker.new(io).each any io, " \
        "Manypack::Unpacker.new.feed(bytes).each bytes, and Manypack::Packer.open(path) writes a file",
      %i[load_all unpack_all decode_all unpack_many load_many] =>
        "Manypack.split(bytes, as: :view), Manypack::Unpacker.new.feed(bytes).each and Manypack.foreach(path) " \
        "read many messages",
      %i[pack_all dump_all pack_many] => "Manypack::Packer.new.write(one).write(other).to_s packs many messages",
      %i[append log] => "Manypack::Packer.open(path, append: true) { |packer| packer.write(object) }",
      %i[diff compare] =>
        "Manypack::View.new(one) == Manypack::View.new(other) compares, and `manypack diff` shows where two " \
        "files differ",
      %i[count size length] => "Manypack.foreach(path).count counts messages, as `manypack count` does",
      %i[hexdump pretty pretty_print inspect_bytes show] => "`manypack inspect` and `manypack cat` show bytes",
      version: "Manypack::VERSION", to_msgpack: "Manypack.pack(object); require \"manypack/core_ext\" gives " \
                                                "every core class to_msgpack",
      %i[stat stats] => "`manypack stat` counts types, keys and bytes at the terminal",
      %i[head tail] => "Manypack.foreach(path) is Enumerable from the start of a file: foreach(path).first(10)",
      %i[repair truncate recover] =>
        REPAIR,
      %i[valid? validate] => "Manypack::Type[Object].valid?(bytes), or Manypack::View.new(bytes, check: true)",
      %i[query search select path jsonpath] =>
        "Manypack::Path.new(path).to_a(bytes), or Manypack::View.new(bytes).query(path)",
      %i[fetch get dig_many] =>
        "Manypack.dig(bytes, key, index, ...), or Manypack::View.new(bytes).dig_many(path, ...)",
      %i[view lazy lazy_load lazy_unpack] =>
        "Manypack::View.new(bytes) builds what you ask for, and so does what Record#lazy loads",
      %i[splice patch merge update set] => "Manypack::View.new(bytes).splice(path => value).bytes",
      %i[canonical sign digest checksum] =>
        "Manypack.pack(object, canonical: true) writes the same bytes for the same value: sign or hash those",
      %i[map parallel parallel_map pmap filter] => "Manypack::Parallel.map(bytes) { |object| ... }, each and filter",
      %i[register register_type register_ext] => "Manypack::DefaultFactory.register_type(number, klass, ...)",
      %i[register_common] => "Manypack::DefaultFactory.register_common(:date, ...)",
      %i[packer] => "Manypack::Packer.new(io)", %i[unpacker] => "Manypack::Unpacker.new(io)",
      %i[codec with] => "Manypack::Codec.new(option: value)", %i[factory] => "Manypack::Factory.new",
      %i[default_factory] => "Manypack::DefaultFactory",
      %i[configure config configuration setup options default_options] =>
        "a Codec holds options: keep Manypack::Codec.new(option: value) in a constant",
      %i[record define schema struct] =>
        "Manypack::Record.new(User, id: Integer), or Manypack::Record.define(id: Integer)",
      %i[from_json] => "Manypack.pack(JSON.parse(text))",
      %i[to_json] => "require \"json\", and Manypack::View.new(bytes).to_json"
    })

    FACTORY = table({
      merge: "register the types of both on one Factory",
      %i[register add_type register_class register_ext register_types add] => "register_type(number, klass, ...)",
      %i[register_record] => "register_type(number, klass, record: RECORD)",
      types: "registered_types", %i[with options build to_codec] => "codec(option: value) makes a Codec with options",
      %i[view foreach split] => "codec.view(bytes), and codec.foreach(path)"
    })

    UNPACKER = table({
      %i[dup clone] => "create another one, with the same options: an Unpacker has one input",
      rewind: "rewind the io, then call reset", seek: "seek in the io, then call reset",
      %i[next parse load decode shift read_object read_message] => "read returns the next object",
      eof?: "each(strict: true) ends at the end; read raises an EOFError there, which is a TruncatedError if an " \
            "object had begun",
      close: "close the io",
      %i[each_view views] => "Manypack::Unpacker.new(io, as: :view).each { |view| ... }",
      %i[each_object each_message each_value] => "each { |object| ... }", %i[pos tell offset] => "position"
    })

    UNPACKER_CLASS = table({
      %i[foreach each read load] => "Manypack.foreach(path), or Manypack::Unpacker.new(io).each",
      %i[feed split parse] => "Manypack::Unpacker.new.feed(bytes), or Manypack.split(bytes)"
    })

    PACKER = table({
      %i[dup clone] => "create another one, with the same options; to_s returns the bytes of this one",
      %i[push append add emit write_all] => "write(object), or packer << object",
      %i[write_str] => "write_string(string)", %i[write_integer] => "write_int(integer)",
      %i[write_map write_object] => "write(object), or write_map_header(count) and each key and value",
      %i[close finish] => "flush, and close the io; Manypack::Packer.open(path) { |packer| ... } does both",
      %i[string bytes result] => "to_s", %i[bytesize length] => "size"
    })

    CODEC = table({
      %i[register register_type register_common] =>
        "types are registered on a Factory, and factory.codec makes a Codec",
      %i[pack_file save_file write_file] => "Manypack.dump_file(object, path, codec: codec)",
      %i[read_file unpack_file] => "Manypack.load_file(path, codec: codec)",
      %i[encode generate serialize] => "pack(object)", %i[decode parse deserialize] => "unpack(bytes)",
      %i[merge update] => "with(option: value)", %i[each split] => "Manypack.split(bytes, as: :view, codec: codec)",
      %i[open] => "Manypack::Packer.open(path, codec: codec), and foreach(path)"
    })

    VIEW = table({
      %i[set update store put add replace with change merge! transform []=] =>
        "splice(path => value) returns a changed View",
      %i[append push_to insert prepend] =>
        "splice(path => Manypack::View.appended(value)) returns a View with it, and Manypack::View.inserted puts it " \
        "before an index",
      %i[get] => "dig(key, index, ...) or view[key]", %i[canonicalize] => "Manypack.canonicalize(view.bytes)",
      %i[to_struct to_record] => "as(type)",
      %i[remove delete except! unset] => "splice(path => Manypack::View::REMOVED) returns a View without it",
      %i[diff changes compare difference] =>
        "view == other compares, and `manypack diff` shows where two files differ",
      %i[merge_patch patch apply] => "splice(path => value, other => Manypack::View::REMOVED) changes a View",
      %i[paths each_path] =>
        "Manypack::Path.new(\"$..*\").paths(bytes) lists paths, and each_with_path yields values with them",
      %i[unpack object decode to_object load] => "value builds the object", %i[path find_path search jsonpath at] =>
        "query(path) finds all values, and dig(key, index, ...) one",
      %i[raw data source to_bytes to_bin pack dump] => "bytes",
      %i[valid? validate] => "Manypack::View.new(bytes, check: true)"
    })

    VIEW_CLASS = table({
      %i[each foreach open stream load parse read from views] =>
        "Manypack.foreach(path, as: :view), Manypack.split(bytes, as: :view) and " \
        "Manypack::Unpacker.new(io, as: :view).each yield a View of each message",
      %i[remove deleted delete removed] => "REMOVED is what View#splice removes",
      %i[insert] => "Manypack::View.inserted(value, ...)", %i[append] => "Manypack::View.appended(value, ...)",
      %i[rename] => "Manypack::View.renamed(key)"
    })

    READS_A_FILE = "Manypack.foreach(path, as: record), and Manypack.load_file(path, as: record) for one message"
    CHECKS = "a Range such as 1..10 bounds numbers, an enum such as [\"a\", \"b\"] lists what may be there, and an " \
             "initialize of the class can refuse others"
    NIL_OR_MISSING = "Manypack::Type[String].or(nil) is a type that may be nil, and with(defaults: {member: value}) " \
                     "lets a member be missing"
    private_constant :READS_A_FILE, :CHECKS, :NIL_OR_MISSING

    TYPES = table({
      %i[optional nullable nilable maybe] => NIL_OR_MISSING,
      %i[enum one_of literal] => 'an enum is an Array of literals, such as ["a", "b"]',
      %i[list array array_of] => "a list is [String]",
      %i[map hash_of] => "a map is {String => Integer}", %i[any anything] => "anything is Object",
      %i[any_of or] => "one of several types is Manypack::Type[String, Integer]",
      %i[union tagged] => "Manypack::Record.union(\"type\", \"a\" => A, \"b\" => B) tells Records apart by a tag, " \
                          "and Manypack::Type[String, Integer] is one of several types",
      %i[boolean bool] => "Manypack::Type[true, false]",
      %i[string integer float] => "a type is a class: String, Integer",
      %i[range min max between] => "a range is 1..10",
      %i[attach] => "Manypack::Record.new(User, id: Integer).attach",
      %i[lazy] => "Manypack::Record.new(User, id: Integer).lazy",
      %i[default defaults] => "Manypack::Record.new(User, id: Integer).with(defaults: {id: 0})",
      %i[strict] => "with(unknown: :raise) refuses unknown keys",
      %i[of for from struct data create build schema] =>
        "Manypack::Record.new(User, id: Integer), or Manypack::Record.define(id: Integer)",
      %i[foreach each_file load_file open] => READS_A_FILE, %i[parse load decode unpack] =>
        "load(bytes) of a Record: USER = Manypack::Record.new(User, id: Integer), and USER.load(bytes)"
    })

    TYPE = table({
      %i[enum one_of literal] => 'an enum is an Array of literals, such as ["a", "b"]',
      %i[| union any_of] => "or(other) is one of two types, and or(nil) may be nil",
      errors: "load(bytes, collect: true) raises a RecordError with all errors: rescue it, and ask it for errors",
      validate: "valid?(bytes) tells, and load(bytes) raises a RecordError",
      %i[validate! load!] => "load(bytes) raises a RecordError",
      %i[foreach each_file load_file read_file open] => READS_A_FILE,
      %i[each split load_all load_many stream] =>
        "Manypack.foreach(path, as: record), Manypack::Unpacker.new(io, as: record).each and " \
        "Manypack.split(bytes, as: record)",
      %i[dump_file save_file write] =>
        "Manypack.dump_file(object, path) writes an object whose class has an attached Record",
      %i[parse unpack decode from_bytes] => "load(bytes)", %i[pack encode serialize to_bytes] => "dump(object)",
      %i[nullable optional nilable] => "or(nil) may be nil",
      %i[where check constraint constrained refine matching in min max size min_size max_size length format gt gteq lt
         lteq filled] => CHECKS,
      %i[list many array_of] => "Manypack::Type[[type]]",
      %i[to_json_schema schema] => "json_schema"
    })

    # What only Records have.
    RECORD = table({
      %i[fields attributes] => "members and types list them", %i[new from_hash] => "klass.new makes an object",
      %i[nullable optional nilable] => NIL_OR_MISSING,
      %i[default] => "with(defaults: {member: value})",
      %i[strict] => "with(unknown: :raise) refuses unknown keys",
      %i[rename] => "with(keys: {member: \"key\"})"
    })

    TIMESTAMP = table({
      %i[at from_time from parse of] =>
        "Manypack::Timestamp.new(time.to_i, time.nsec), or pack the Time itself; both need timestamp: true"
    })

    PATH = table({
      %i[find find_all match values call on evaluate query search select] =>
        "to_a(bytes) finds all values, first(bytes) one, and each(bytes) { |value| ... } yields them"
    })

    PATH_CLASS = table({
      %i[[] parse compile query] => "Manypack::Path.new(\"$.a.b\"), and its to_a(bytes)"
    })

    RECORD_ERROR = table({
      %i[expected actual got value] => "the message says what was expected and what is there; path and field, where",
      %i[key member name] => "field"
    })

    # --- constants ---

    CONSTANTS = table({
      %i[Pool ThreadPool Workers Worker] => "Manypack::Parallel.map(bytes, ractors: 4)",
      %i[Schema Struct Model Base Serializer Attributes] => "use Manypack::Record",
      %i[Cache] => "a cache keeps packed Strings; for Rails there is manypack/active_support",
      %i[Store Storage Files] => "Manypack.dump_file(object, path) and Manypack.load_file(path)",
      %i[Log Logger LogWriter Appender] => "use Manypack::Packer.open(path, append: true)",
      %i[LogReader FileReader Stream Reader Decoder Parser StreamReader] =>
        "use Manypack::Unpacker, or Manypack.foreach(path) for a file; to repair one, #{REPAIR}",
      %i[Writer Encoder FileWriter] =>
        "use Manypack::Packer, or Manypack::Packer.open(path, append: true) to add to a file",
      %i[Types Enum Optional Union List Any Maybe] =>
        "types are classes and literals, as in Manypack::Record.new(User, id: Integer, tags: [String]), and " \
        "Manypack::Type[...]",
      %i[Lazy LazyView Message Document] => "Manypack::View, or what Record#lazy loads",
      %i[Query JSONPath JsonPath Pointer] => "use Manypack::Path", %i[Patch Diff] => "View#splice changes bytes",
      %i[Config Configuration Options Settings] => "use Manypack::Codec",
      %i[Limits Limit Untrusted] => "limits are options, such as max_bytes: 1_000_000 and untrusted: true",
      %i[Assertions Testing TestHelper TestHelpers Matchers Minitest RSpec Test] =>
        "a test compares Manypack.unpack(bytes), or asks record.valid?(bytes)",
      %i[Raw Packed RawValue Embedded Fragment] =>
        "a View packs as its own bytes: Manypack.pack({\"user\" => Manypack::View.new(bytes)})",
      %i[Ext ExtType Extension ExtensionType Registry] => "Factory#register_type, and Manypack::ExtensionValue",
      %i[Canonical] => "Manypack.pack(object, canonical: true)",
      %i[EncodingError PackError DumpError SerializationError] => "use Manypack::EncodeError",
      %i[DecodingError ParseError ParserError LoadError FormatError InvalidError] => "use Manypack::DecodeError",
      %i[ValidationError SchemaError TypeMismatchError] => "use Manypack::RecordError",
      %i[EOFError IncompleteError UnexpectedEndError] =>
        "use Manypack::TruncatedError; at the end of a stream, read raises Ruby's EOFError",
      %i[DepthError TooDeepError RecursionError] =>
        "use Manypack::StackError for bytes and Manypack::NestingError for objects",
      %i[SizeError TooLargeError TooBigError LimitExceeded] => "use Manypack::LimitError",
      %i[TimeoutError Timeout] =>
        "untrusted: true and limits such as max_objects: bound the time, and raise a LimitError",
      Rack: "require \"manypack/rack\"", Rails: "require \"manypack/rails\"", Karafka: "require \"manypack/karafka\"",
      Faraday: "require \"manypack/faraday\"", Redis: "Redis stores the Strings that Manypack.pack returns"
    })

    # --- options ---

    # What there is in place of options that no method has.
    OPTIONS = table({
      %i[checks validate validates validations where constraints rules] => CHECKS,
      all_errors: "did you mean collect? It reports all errors",
      %i[sync fsync autoflush buffer] => "packer.flush writes what has been packed",
      %i[processes ractors threads jobs] =>
        "Manypack::Parallel.map(File.open(path, \"rb\"), processes: 4) { |object| ... } runs its block in the " \
        "workers, and Manypack::Parallel.each(source, map: ...) yields what they return",
      %i[workers pool_size concurrency] => "ractors: or processes: of Parallel say how many workers there are",
      repair: REPAIR,
      %i[collect] => "load(bytes, collect: true) of a Record or Type reports all errors of a message",
      %i[on_error] =>
        "an error ends the call: rescue it; load(bytes, collect: true) of a Record reports all errors of a message, " \
        "and of a stream that is cut the start of the Manypack::TruncatedError is the end of the last whole message",
      %i[skip resync] =>
        "nothing is skipped: rescue the error; the start of a Manypack::TruncatedError is the end of the last " \
        "whole message",
      %i[timeout deadline] => "untrusted: true and limits such as max_bytes: and max_objects: bound the time",
      %i[symbols symbol] =>
        "symbolize_keys: true makes keys Symbols, and register_common(:symbol) on a Factory keeps all",
      %i[bigint bigints bignum] =>
        "register_common(:bigint) on a Factory packs larger Integers by factory.dump(object), and " \
        "factory.load(bytes) reads them",
      %i[types type_map ext_types extensions factory] =>
        "types are registered on a Factory, and factory.codec makes a Codec",
      %i[lazy] => "as: :view reads a View, and record.lazy makes a Record of LazyRecords",
      %i[as record] =>
        "as: is an option of Manypack.unpack, load_file, foreach and split, of Manypack::Parallel and of " \
        "Manypack::Unpacker.new; record.load(bytes) and view.as(record) read by a Record, record.dump(object) packs " \
        "by it, and after record.attach all packing does",
      %i[strict] =>
        "unknown: :raise refuses unknown keys of a Record; utf8: :strict and duplicate_keys: :error are strict " \
        "about bytes",
      %i[optional nullable nilable] => NIL_OR_MISSING,
      %i[limit limits safe] => "untrusted: true sets all limits, and max_bytes: and others one",
      %i[encoding] => "a str is UTF-8; utf8: :strict refuses a str that is not",
      %i[sort_keys sorted] => "canonical: true sorts keys", %i[io path file] => "pass it as an argument",
      %i[required] => "every member without a default value is required",
      %i[batch_size chunk_size slice] => "batches grow to as many messages as take five milliseconds",
      %i[compress gzip zstd] => "the name of a file decides: one that ends in .gz is compressed"
    })

    # --- blocks ---

    # What to call with a block instead of a method that takes none.
    BLOCKS = table({
      %w[Manypack.unpack Manypack.load Codec#unpack Codec#load] =>
        "Manypack.split(bytes) { |bytes| ... } yields each message, with as: :view or a Record",
      %w[Manypack.load_file] => "Manypack.foreach(path) { |object| ... } yields each message",
      %w[Manypack.dump_file] => "Manypack::Packer.open(path) { |packer| ... } writes many messages",
      %w[Codec.new Codec#with] => "types are registered on a Factory, and factory.codec makes a Codec with them",
      %w[Factory.new] => "call register_type(number, klass, packer: ..., unpacker: ...) on the new Factory",
      %w[Factory#register_type] => "the options packer: and unpacker: take Procs",
      %w[Factory#pool] => "packer { |packer| ... } and unpacker { |unpacker| ... } of the Pool take one",
      %w[Packer.new Codec#packer Factory#packer] =>
        "Manypack::Packer.open(path) { |packer| ... }, or write to the new Packer",
      %w[Unpacker.new Codec#unpacker Factory#unpacker] => "Manypack::Unpacker.new(io).each { |object| ... }",
      %w[Unpacker#feed Unpacker#feed_reference] => "feed_each(bytes) { |object| ... } yields each object",
      %w[Unpacker#full_unpack] => "each { |object| ... } yields every object",
      %w[View.new Codec#view] => "each { |element| ... } of the View yields its elements, and " \
                                 "Manypack.split(bytes, as: :view) { |view| ... } every message",
      %w[View#splice] => "a Proc is a value of the Hash, as in splice(path => ->(value) { ... })",
      %w[View#dig_many View#as] => "query(path) { |value| ... } yields all that it finds",
      %w[Record.new Record.ivars Record.union] =>
        "Manypack::Record.define(id: Integer) { ... } defines a class with methods",
      %w[Type.[] Type#or Type#with Record#with Record#or] => CHECKS,
      %w[Type#load Record#load] => "Manypack.split(bytes, as: type) { |object| ... } yields each message",
      %w[Path.new Path#first Path#count Path#any? Path#paths Path#to_a] =>
        "each(bytes) { |value| ... } of the Path yields what it finds, and each(bytes) without a block is Enumerable"
    })
  end
  private_constant :Hints
end

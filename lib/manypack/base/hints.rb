# frozen_string_literal: true

#--
# What methods and classes are called here that other libraries have by another name.
#++
module Manypack
  # The texts by which errors name ours; the first such error loads them.
  module Hints # :nodoc:
    # Returns a Hash of names and hints, from one of names, or lists of them, and hints.
    def self.table(hints)
      Ractor.make_shareable(hints.flat_map { |names, hint| [*names].map { |name| [name, hint] } }.to_h)
    end
    private_class_method :table

    MODULE = table({
      %i[encode generate serialize marshal] => "Manypack.pack(object) returns bytes",
      %i[decode parse deserialize unmarshal] => "Manypack.unpack(bytes) returns the object",
      %i[read read_file] => "Manypack.load_file(path) reads one message, and Manypack.foreach(path) many",
      %i[write write_file save] => "Manypack.dump_file(object, path) writes one message, and Packer.open(path) many",
      %i[open file each stream each_message] =>
        "Manypack.foreach(path) and Unpacker.open(path) read a file, Packer.open(path) writes one, and " \
        "Manypack.split(bytes) reads bytes",
      %i[append] => "Packer.open(path, append: true) { |packer| packer.write(object) }",
      %i[diff] => "View.new(one) == View.new(other) compares, and `manypack diff` shows where two files differ",
      %i[head tail] => "Manypack.foreach(path) is Enumerable from the start of a file: foreach(path).first(10)",
      %i[repair truncate recover] =>
        "File.truncate(path, error.start) repairs a file, with the TruncatedError that reading it raises",
      %i[valid? validate] => "Manypack::Type[Object].valid?(bytes), or View.new(bytes, check: true)",
      %i[query search select path] => "Manypack::Path.new(path).to_a(bytes), or View.new(bytes).query(path)",
      %i[view lazy] => "Manypack::View.new(bytes)",
      %i[map parallel] => "Manypack::Parallel.map(bytes) { |object| ... }",
      %i[register register_type] => "Manypack::DefaultFactory.register_type(number, klass, ...)",
      %i[from_json] => "Manypack.pack(JSON.parse(text))", %i[to_json] => "Manypack::View.new(bytes).to_json"
    })

    CONSTANTS = table({
      %i[Pool ThreadPool Workers] => "Parallel.map(bytes, ractors: 4)", %i[Schema Struct Model] => "Record",
      %i[Cache] => "a cache keeps packed Strings; for Rails there is manypack/active_support",
      %i[Log Writer Encoder] => "Packer", %i[Reader Decoder Parser] => "Unpacker",
      %i[EncodingError PackError] => "EncodeError", %i[DecodingError ParseError ParserError] => "DecodeError",
      %i[ValidationError] => "RecordError"
    })

    FACTORY = table({
      merge: "register the types of both on one Factory", register: "register_type(number, klass, ...)",
      add_type: "register_type(number, klass, ...)", register_class: "register_type(number, klass, ...)"
    })

    UNPACKER = table({
      rewind: "rewind the io, then call reset", seek: "seek in the io, then call reset",
      next: "read returns the next object", parse: "read returns the next object",
      eof?: "read raises EOFError at the end, and each ends there", close: "close the io"
    })

    TYPES = table({
      %i[optional nullable maybe] => "a type that has nil is Manypack::Type[String].or(nil); with(defaults: {member: " \
                                     "value}) lets a member be missing",
      %i[enum one_of literal] => 'an enum is ["a", "b"]', %i[list array array_of] => "a list is [String]",
      %i[map hash_of] => "a map is {String => Integer}", %i[any anything] => "anything is Object",
      %i[union any_of] => "one of several types is Manypack::Type[String, Integer]"
    })

    TYPE = table({
      errors: "load(bytes, collect: true) raises a RecordError with all errors: rescue it, and ask it for errors",
      validate: "valid?(bytes) tells, and load(bytes) raises a RecordError",
      validate!: "load(bytes) raises a RecordError", load!: "load(bytes) raises a RecordError",
      foreach: "Manypack.foreach(path, as: record)", each: "Manypack.split(bytes, as: record)",
      load_file: "Manypack.load_file(path, as: record)", parse: "load(bytes)", unpack: "load(bytes)",
      pack: "dump(object)",
      nullable: "or(nil)", optional: "or(nil), and with(defaults: {member: value}) for one that may be missing"
    })
  end
  private_constant :Hints
end

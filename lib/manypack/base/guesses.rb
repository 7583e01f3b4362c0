# frozen_string_literal: true

#--
# What a program may expect by another name: the error says what it is called here.
#++
module Manypack
  # Included in a class, or extended by an object, that has a method guess: it takes the name of a method that is not
  # there, and returns what to do instead, or nil.
  module Guesses # :nodoc:
    MODULE = Ractor.make_shareable({
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
    }.flat_map { |names, hint| names.map { |name| [name, hint] } }.to_h)

    CONSTANTS = Ractor.make_shareable({
      %i[Pool ThreadPool Workers] => "Parallel.map(bytes, ractors: 4)", %i[Schema Struct Model] => "Record",
      %i[Cache] => "a cache keeps packed Strings; for Rails there is manypack/active_support",
      %i[Log Writer Encoder] => "Packer", %i[Reader Decoder Parser] => "Unpacker",
      %i[EncodingError PackError] => "EncodeError", %i[DecodingError ParseError ParserError] => "DecodeError",
      %i[ValidationError] => "RecordError"
    }.flat_map { |names, hint| names.map { |name| [name, hint] } }.to_h)

    FACTORY = Ractor.make_shareable({
      merge: "register the types of both on one Factory", register: "register_type(number, klass, ...)",
      add_type: "register_type(number, klass, ...)", register_class: "register_type(number, klass, ...)"
    })

    UNPACKER = Ractor.make_shareable({
      rewind: "rewind the io, then call reset", seek: "seek in the io, then call reset",
      next: "read returns the next object", parse: "read returns the next object",
      eof?: "read raises EOFError at the end, and each ends there", close: "close the io"
    })

    TYPES = Ractor.make_shareable({
      %i[optional nullable maybe] => "a type that has nil is Manypack::Type[String].or(nil); with(defaults: {member: " \
                                     "value}) lets a member be missing",
      %i[enum one_of literal] => 'an enum is ["a", "b"]', %i[list array array_of] => "a list is [String]",
      %i[map hash_of] => "a map is {String => Integer}", %i[any anything] => "anything is Object",
      %i[union any_of] => "one of several types is Manypack::Type[String, Integer]"
    }.flat_map { |names, hint| names.map { |name| [name, hint] } }.to_h)

    TYPE = Ractor.make_shareable({
      errors: "load(bytes, collect: true) raises a RecordError with all errors: rescue it, and ask it for errors",
      validate: "valid?(bytes) tells, and load(bytes) raises a RecordError",
      validate!: "load(bytes) raises a RecordError", load!: "load(bytes) raises a RecordError",
      foreach: "Manypack.foreach(path, as: record)", each: "Manypack.split(bytes, as: record)",
      load_file: "Manypack.load_file(path, as: record)", parse: "load(bytes)", unpack: "load(bytes)",
      pack: "dump(object)",
      nullable: "or(nil)", optional: "or(nil), and with(defaults: {member: value}) for one that may be missing"
    })

    private

    def method_missing(name, *, **)
      hint = guess(name) or return super

      called = is_a?(Module) ? self : "an instance of #{self.class}"
      raise NoMethodError.new("undefined method '#{name}' for #{called}: #{hint}", name, receiver: self)
    end

    # So that Ruby asks no further when it looks for a conversion.
    def respond_to_missing?(_name, _all)
      false
    end
  end
  private_constant :Guesses

  extend Guesses

  # Names in the error what there is in place of a class of another name.
  def self.const_missing(name)
    hint = Guesses::CONSTANTS[name.to_sym]
    raise NameError.new("uninitialized constant #{self}::#{name}#{": #{hint}" if hint}", name, receiver: self)
  end
  private_class_method :const_missing

  # Returns what to call instead of a method that other libraries have, or nil.
  def self.guess(name)
    Guesses::MODULE[name]
  end
  private_class_method :guess
end

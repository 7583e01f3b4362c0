# frozen_string_literal: true

# A stream that ends inside an object is an error at every front, which says where that object began.
require "test_helper"
require "support/in_file"
require "stringio"

class CutStreamsTest < Minitest::Test
  extend InFile

  WHOLE = Manypack.pack({ "k" => 1 }) * 3
  PATH = Manypack::Path.new("$.k")
  CODEC = Manypack::Codec.new
  FACTORY = Manypack::Factory.new

  STREAMS = {
    "split" => ->(bytes) { Manypack.split(bytes).to_a },
    "split of an io" => ->(bytes) { Manypack.split(StringIO.new(bytes)).to_a },
    "split as: :view" => ->(bytes) { Manypack.split(bytes, as: :view).to_a },
    "split as a Type" => ->(bytes) { Manypack.split(bytes, as: Manypack::Type[Object]).to_a },
    "Unpacker#each" => ->(bytes) { Manypack::Unpacker.new.feed(bytes).each(strict: true) { nil } },
    "Unpacker#each of an io" => ->(bytes) { Manypack::Unpacker.new(StringIO.new(bytes)).each(strict: true).to_a },
    "Unpacker#read" => ->(bytes) { Manypack::Unpacker.new.feed(bytes).then { |unpacker| Array.new(4) { unpacker.read } } },
    "Codec#unpacker" => ->(bytes) { CODEC.unpacker(StringIO.new(bytes)).each(strict: true).to_a },
    "Factory#unpacker" => ->(bytes) { FACTORY.unpacker(StringIO.new(bytes)).each(strict: true).to_a },
    "Path#each" => ->(bytes) { PATH.each(StringIO.new(bytes)) { nil } },
    "Path#each of an Unpacker" => ->(bytes) { PATH.each(Manypack::Unpacker.new(StringIO.new(bytes), as: :view)) { nil } },
    "Path#to_a" => ->(bytes) { PATH.to_a(Manypack::Unpacker.new(as: :view).feed(bytes)) },
    "Path#count" => ->(bytes) { PATH.count(Manypack::Unpacker.new(as: :view).feed(bytes)) },
    "Path#paths" => ->(bytes) { PATH.paths(Manypack::Unpacker.new(as: :view).feed(bytes)) },
    "Path#each_with_path" => ->(bytes) { PATH.each_with_path(Manypack::Unpacker.new(as: :view).feed(bytes)) { nil } },
    "Parallel.map" => ->(bytes) { Manypack::Parallel.map(bytes, ractors: 0) { |object| object } },
    "Parallel.map by processes" => ->(bytes) { Manypack::Parallel.map(bytes, processes: 1) { |object| object } },
    "Parallel.map of an io" => ->(bytes) { Manypack::Parallel.map(StringIO.new(bytes), ractors: 0) { |object| object } },
    "Parallel.each" => ->(bytes) { Manypack::Parallel.each(bytes) { nil } },
    "Parallel.filter" => ->(bytes) { Manypack::Parallel.filter(bytes, StringIO.new("".b), ractors: 0) { true } },
    "foreach" => ->(bytes) { in_file(bytes) { |path| Manypack.foreach(path) { nil } } },
    "foreach as: :view" => ->(bytes) { in_file(bytes) { |path| Manypack.foreach(path, as: :view) { nil } } },
    "Unpacker.open" => ->(bytes) { in_file(bytes) { |path| Manypack::Unpacker.open(path) { |unpacker| unpacker.each { nil } } } },
    "Unpacker.open to_a" => ->(bytes) { in_file(bytes) { |path| Manypack::Unpacker.open(path, &:to_a) } },
    "Codec#foreach" => ->(bytes) { in_file(bytes) { |path| CODEC.foreach(path) { nil } } },
    "Packer.open to append" => ->(bytes) { in_file(bytes) { |path| Manypack::Packer.open(path, append: true) { nil } } }
  }.freeze

  CUTS = { "in a map" => "\x81", "in a key" => "\x81\xA1", "before a value" => "\x81\xA1k", "in a str" => "\x81\xA1k\xA5ab", "in a number" => "\xCD\x01" }
         .transform_values(&:b).freeze

  STREAMS.each do |name, read|
    CUTS.each do |where, rest|
      define_method("test_#{name}_of_a_stream_that_is_cut_#{where}") do
        error = assert_raises(Manypack::TruncatedError, Manypack::Parallel::Error) { read.call(WHOLE + rest) }
        assert_kind_of Manypack::DecodeError, error
        assert_equal WHOLE.bytesize, error.start
      end
    end

    define_method("test_#{name}_of_a_whole_stream") { read.call(name == "Unpacker#read" ? WHOLE + WHOLE : WHOLE) }
  end
end
